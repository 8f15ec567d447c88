"""Read concepts from OBO 1.2 and 1.4 files (Disease Ontology, Symptom Ontology, Mondo, HPO).

The package has its own reader because fastobo, pronto and obonet all fail on stanzas of real releases (such as the
Disease Ontology of June 2016), and because errors have to name the malformed line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from auscult.concepts.concept import Concept, distinct_names
from auscult.concepts.identifiers import normalise_identifier, normalise_identifiers
from auscult.errors import DataError
from auscult.files.reading import read_lines

_TEXT = r'(?:[^"\\]|\\.)*'
_QUOTED = re.compile(rf'^"({_TEXT})"\s*(.*)$')
_ESCAPE = re.compile(r"\\(.)")
_QUOTE = rf'"{_TEXT}"'
_MODIFIERS = rf"\{{(?:[^{{}}\"=]+=(?:{_QUOTE}|[^\"}}])*)?\}}\s*"
# Modifiers and comments at the end of a line, and the same characters escaped or within quotes.
_MARK = re.compile(rf"\\.|{_QUOTE}|(?=[{{!])(?P<trailing>(?:{_MODIFIERS})?(?:(?<!\S)!(?P<comment>.*))?$)")
# The licences of these vocabularies restrict copying their codes.
_RESTRICTED = re.compile(r"^(SNOMED|SCTID|MEDDRA)", re.IGNORECASE)
_SCOPES = frozenset({"EXACT", "NARROW", "RELATED"})


class Occurrence(NamedTuple):
    """A tag's value, still with its escapes.

    Attributes:
        line: Number of its line.
        value: The value without modifiers and comment.
        comment: The comment after "!".
    """

    line: int
    value: str
    comment: str


Stanza = dict[str, list[Occurrence]]


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
        if kind != "Term" or is_obsolete(stanza):
            continue
        ontology = next((each.value for each in header.get("ontology", [])), "")
        yield _build_concept(
            path, line_number, stanza, source or {"doid": "DO"}.get(ontology, ontology.upper()), scopes
        )


def read_stanzas(path: Path) -> Iterator[tuple[str, int, Stanza]]:
    """Stream the stanzas of an OBO file.

    Yields:
        (kind, first line, tags) of the header (kind "") and every stanza; of a tag, each occurrence.

    Raises:
        DataError: The file cannot be read, or a line breaks the format; names file, line and reason.
    """
    kind, first = "", 1
    tags: Stanza = defaultdict(list)
    for number, line in _whole_lines(path):
        text, comment = _cut_trailing(line)
        if text.startswith("["):
            if not text.endswith("]"):
                raise _malformed(path, number, "a stanza head in brackets", text)
            yield kind, first, tags
            kind, first, tags = text[1:-1], number, defaultdict(list)
        elif text:
            tag, colon, value = text.partition(":")
            if not colon or not re.fullmatch(r"[\w-]+", tag):
                raise _malformed(path, number, "a line 'tag: value'", text)
            tags[tag].append(Occurrence(number, value.strip(), comment))
    yield kind, first, tags


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield stripped lines with their numbers; lines continued with a backslash are joined under the first number."""
    first, begun = 0, ""
    for number, line in read_lines(path):
        # The joint has a blank already, so the next line's own blanks are removed.
        text = begun + (line.strip() if begun[-1:] in ("", " ") else line.rstrip())
        first = first if begun else number
        # An unescaped backslash at the end; comments are not continued.
        backslashes = len(text) - len(text.rstrip("\\"))
        begun = text[:-1] if backslashes % 2 == 1 and not text.startswith("!") else ""
        if not begun:
            yield first, text
    if begun:
        yield first, begun.rstrip()


def _cut_trailing(text: str) -> tuple[str, str]:
    """Return a line without the modifiers and the comment at its end, and the comment."""
    if "!" not in text and not text.endswith("}"):
        return text, ""
    for mark in _MARK.finditer(text):
        if mark["trailing"] is not None:
            return text[: mark.start()].rstrip(), (mark["comment"] or "").strip()
    return text, ""


def _build_concept(path: Path, line_number: int, stanza: Stanza, source: str, scopes: Collection[str]) -> Concept:
    ids = stanza.get("id", [])
    names = stanza.get("name", [])
    if len(ids) != 1 or len(names) != 1:
        got = f"{len(ids)} id and {len(names)} name lines"
        raise _malformed(path, line_number, "a term with one id and one name", got)
    name = unescape(names[0].value)
    synonyms = read_synonyms(path, stanza, scopes)
    definitions = [_parse_quoted(path, each)[0] for each in stanza.get("def", [])]
    xrefs = [each.value.split(" ")[0] for each in stanza.get("xref", []) if not _RESTRICTED.match(each.value)]
    alternatives = [each.value for each in stanza.get("alt_id", [])]
    parents = [each.value.split(" ")[0] for each in stanza.get("is_a", [])]
    return Concept(
        concept_id=normalise_identifier(ids[0].value) or ids[0].value,
        name=name,
        synonyms=distinct_names(tuple(synonyms), name),
        definition=definitions[0] if definitions else "",
        xrefs=normalise_identifiers([*alternatives, *xrefs]),
        parents=normalise_identifiers(parents),
        source=source,
    )


def read_synonyms(path: Path, stanza: Stanza, scopes: Collection[str] = _SCOPES) -> list[str]:
    """Return the synonyms of a stanza that have one of the scopes.

    Raises:
        DataError: A synonym is not in double quotes.
    """
    quoted = (_parse_quoted(path, each) for each in stanza.get("synonym", []))
    return [text for text, rest in quoted if (rest.split() or ["RELATED"])[0] in scopes]


def is_obsolete(stanza: Stanza) -> bool:
    """Return whether a stanza is marked as obsolete."""
    return any(each.value == "true" for each in stanza.get("is_obsolete", []))


def _parse_quoted(path: Path, occurrence: Occurrence) -> tuple[str, str]:
    match = _QUOTED.match(occurrence.value)
    if not match:
        raise _malformed(path, occurrence.line, "a text in double quotes", occurrence.value)
    return unescape(match.group(1)).strip(), match.group(2)


def unescape(value: str) -> str:
    """Return a value without escapes."""
    return _ESCAPE.sub(lambda match: {"n": "\n", "t": "\t", "W": " "}.get(match.group(1), match.group(1)), value)


def _malformed(path: Path, number: int, expected: str, got: str) -> DataError:
    return DataError(f"{expected} at {path}:{number}", repr(got[:80]), "correct or remove that line")
