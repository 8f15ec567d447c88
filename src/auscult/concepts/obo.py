"""OBO 1.2 and 1.4 files (Disease Ontology, Symptom Ontology, Mondo, HPO) as concepts.

A reader of its own because fastobo, pronto and obonet all stop at stanzas that real releases contain (the
Disease Ontology of June 2016 among them), and because a malformed line has to be named.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from auscult.concepts.concept import Concept, distinct_names
from auscult.concepts.identifiers import normalise_identifier, normalise_identifiers
from auscult.errors import DataError

_QUOTED = re.compile(r'^"((?:[^"\\]|\\.)*)"\s*(.*)$')
_ESCAPE = re.compile(r"\\(.)")
_COMMENT = re.compile(r"(?<!\\) !.*$")
# Licences of these vocabularies restrict copies of their codes.
_RESTRICTED = re.compile(r"^(SNOMED|SCTID|MEDDRA)", re.IGNORECASE)
_SCOPES = frozenset({"EXACT", "NARROW", "RELATED"})

Stanza = dict[str, list[tuple[int, str]]]


def read_obo(path: Path, source: str = "", scopes: Collection[str] = _SCOPES) -> Iterator[Concept]:
    """Stream the live terms of an OBO file.

    Args:
        path: `.obo` or `.obo.gz`.
        source: Name of the vocabulary; by default the `ontology:` line of the header ("doid" is shown as
            "DO").
        scopes: Synonym scopes that count as names. BROAD ones name something wider and are left out.

    Yields:
        Concepts in file order. Obsolete terms are skipped; an `alt_id` becomes a cross-reference.

    Raises:
        DataError: A line or stanza breaks the format; names file, line and reason.
    """
    header: Stanza = defaultdict(list)
    for kind, line_number, stanza in read_stanzas(path):
        if kind == "":
            header = stanza
            continue
        if kind != "Term" or any(value == "true" for _, value in stanza.get("is_obsolete", [])):
            continue
        ontology = next((value for _, value in header.get("ontology", [])), "")
        yield _concept(path, line_number, stanza, source or {"doid": "DO"}.get(ontology, ontology.upper()), scopes)


def read_stanzas(path: Path) -> Iterator[tuple[str, int, Stanza]]:
    """Stream the stanzas of an OBO file.

    Yields:
        (kind, first line, tags) of the header (kind "") and every stanza; of a tag, (line, value) of each occurrence.

    Raises:
        DataError: A line breaks the format; names file, line and reason.
    """
    kind, first, tags = "", 1, defaultdict[str, list[tuple[int, str]]](list)
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                text = line.strip()
                if text.startswith("["):
                    if not text.endswith("]"):
                        raise _malformed(path, number, "a stanza head in brackets", text)
                    yield kind, first, tags
                    kind, first, tags = text[1:-1], number, defaultdict(list)
                elif text and not text.startswith("!"):
                    tag, colon, value = text.partition(":")
                    if not colon or not re.fullmatch(r"[\w-]+", tag):
                        raise _malformed(path, number, "a line 'tag: value'", text)
                    tags[tag].append((number, value.strip()))
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise _malformed(path, number + 1, "UTF-8 text", str(error)) from error
    yield kind, first, tags


def _concept(path: Path, line_number: int, stanza: Stanza, source: str, scopes: Collection[str]) -> Concept:
    ids = stanza.get("id", [])
    names = stanza.get("name", [])
    if len(ids) != 1 or len(names) != 1:
        got = f"{len(ids)} id and {len(names)} name lines"
        raise _malformed(path, line_number, "a term with one id and one name", got)
    name = unescape(names[0][1])
    synonyms = read_synonyms(path, stanza, scopes)
    definitions = [_quoted(path, number, value)[0] for number, value in stanza.get("def", [])]
    xrefs = [value.split(" ")[0] for _, value in stanza.get("xref", []) if not _RESTRICTED.match(value)]
    alternatives = [value for _, value in stanza.get("alt_id", [])]
    parents = [_COMMENT.sub("", value).split(" ")[0] for _, value in stanza.get("is_a", [])]
    return Concept(
        concept_id=normalise_identifier(ids[0][1]) or ids[0][1],
        name=name,
        synonyms=distinct_names(tuple(synonyms), name),
        definition=definitions[0] if definitions else "",
        xrefs=normalise_identifiers([*alternatives, *xrefs]),
        parents=normalise_identifiers(parents),
        source=source,
    )


def read_synonyms(path: Path, stanza: Stanza, scopes: Collection[str] = _SCOPES) -> list[str]:
    """The synonyms of a stanza whose scope counts.

    Raises:
        DataError: A synonym is not in double quotes.
    """
    quoted = (_quoted(path, number, value) for number, value in stanza.get("synonym", []))
    return [text for text, rest in quoted if (rest.split() or ["RELATED"])[0] in scopes]


def _quoted(path: Path, number: int, value: str) -> tuple[str, str]:
    match = _QUOTED.match(value)
    if not match:
        raise _malformed(path, number, "a text in double quotes", value)
    return unescape(match.group(1)).strip(), match.group(2)


def unescape(value: str) -> str:
    """A value without its backslashes."""
    return _ESCAPE.sub(lambda match: {"n": "\n", "t": "\t", "W": " "}.get(match.group(1), match.group(1)), value)


def _malformed(path: Path, number: int, expected: str, got: str) -> DataError:
    return DataError(f"{expected} at {path}:{number}", repr(got[:80]), "correct or remove that line")
