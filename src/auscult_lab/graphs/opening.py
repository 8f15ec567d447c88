"""Open a knowledge graph from a file or folder, by its catalogue name, or from the documents of a corpus.

OBO (1.2, 1.4: Disease Ontology, Mondo, HPO, Symptom Ontology and others): `is_a: B` gives (A, is_a, B);
`relationship: r B` gives (A, r, B). In a definition by intersection, the genus (`intersection_of: B`) gives (A, is_a,
B) and a differentia (`intersection_of: r B`) gives (A, r, B), because both apply to everything that the term covers.
Obsolete terms are left out. A relation with an identifier ("RO:0002200") gets the name of its [Typedef]. Entities that
other files describe get their name from the comment after "!".

UMLS Metathesaurus in Rich Release Format (wang2021, section 5.1.4): a row of MRREL.RRF says that CUI2 has the
relationship RELA to CUI1, or where RELA is empty the broader REL: the triple is (CUI2, RELA or REL, CUI1). UMLS states
most relations twice, once in each direction ("isa", "inverse_isa"); both are read. Left out are suppressible rows
(SUPPRESS other than "N") and relations of a concept with itself. Names are read last, from MRCONSO.RRF, of concepts
that are in a relation. Needs a licence of the National Library of Medicine.

Documents: a document about A with a section "Causes" that names B gives (A, causes, B). Entities are the documents'
titles, and relations the normalised headings; headings of few documents become the relation "mentions". Such a graph
can replace Wikidata as open-domain graph (wang2021, section 5.1.4); nobody has checked its relations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from auscult.catalogue import catalogue, data_dir, locate
from auscult.concepts.aspects import document_aspects
from auscult.concepts.obo import is_obsolete, read_stanzas, read_synonyms, unescape
from auscult.concepts.opening import DEFAULT
from auscult.documents import Document
from auscult.errors import ConfigError, DataError
from auscult.files.reading import read_lines, unreadable
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.graphs.graph import (
    KnowledgeGraph,
    Triple,
    entity_id,
    label_relations,
    make_graph,
    name_entities,
    named_entity_id,
)
from auscult_lab.graphs.linking import NgramLinker
from auscult_lab.graphs.triples_tsv import TRIPLES, read_triples
from auscult_lab.graphs.wikidata import SUFFIXES, read_wikidata

NAMES = "MRCONSO.RRF"
"""The file that tells a folder of UMLS."""

_RELATIONS = "MRREL.RRF"
_WIDTHS = {NAMES: 18, _RELATIONS: 16}
# Places of columns in MRCONSO and in MRREL.
_CUI, _LANGUAGE, _TERM_STATUS, _STRING_TYPE, _IS_PREFERRED, _STRING, _NAME_SUPPRESSED = 0, 1, 2, 4, 6, 14, 16
_CUI1, _REL, _CUI2, _RELA, _SOURCE, _SUPPRESSED = 0, 3, 4, 7, 10, 14


def read_umls(folder: Path | str, sources: Collection[str] = ()) -> KnowledgeGraph:
    """Read a folder with MRCONSO.RRF and MRREL.RRF, each plain or gzip-compressed.

    Args:
        folder: Usually `META/` of a release.
        sources: Read only relations of these vocabularies (SAB, "SNOMEDCT_US"); empty for all.

    Raises:
        DataError: A file is absent or malformed (names file and line), or no relation is left.
    """
    folder = Path(folder)
    relations, names = _find(folder, _RELATIONS), _find(folder, NAMES)
    stated = f" that --source {', '.join(sources)} states" if sources else ""
    remedy = "name other vocabularies, or none" if sources else "give the META folder of a UMLS release"
    triples = (
        (f"UMLS:{row[_CUI2]}", row[_RELA] or row[_REL], f"UMLS:{row[_CUI1]}")
        for row in _rows(relations, _WIDTHS[_RELATIONS])
        if row[_SUPPRESSED] == "N" and (not sources or row[_SOURCE] in sources) and row[_CUI1] != row[_CUI2]
    )
    graph = make_graph(triples, {}, sought=f"relations{stated} in {relations}", remedy=remedy)
    return name_entities(graph, _names(names, frozenset(graph.entities)))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{name} or {name}.gz in {folder}", "no such file", "give the META folder of a UMLS release")


def _names(path: Path, wanted: frozenset[str]) -> dict[str, list[str]]:
    """Return English names of wanted concepts: the preferred form of the preferred term, then other preferred forms."""
    ranked: dict[str, dict[str, int]] = {}
    for row in _rows(path, _WIDTHS[NAMES]):
        concept = f"UMLS:{row[_CUI]}"
        if concept in wanted and row[_LANGUAGE] == "ENG" and row[_NAME_SUPPRESSED] == "N":
            rank = (row[_TERM_STATUS] != "P") * 4 + (row[_STRING_TYPE] != "PF") * 2 + (row[_IS_PREFERRED] != "Y")
            strings = ranked.setdefault(concept, {})
            strings[row[_STRING]] = min(rank, strings.get(row[_STRING], rank))
    return {concept: sorted(strings, key=strings.__getitem__) for concept, strings in ranked.items()}


def _rows(path: Path, width: int) -> Iterator[list[str]]:
    for number, line in read_lines(path):
        # Every column ends with a bar, including the last.
        cells = line.split("|")
        if len(cells) != width + 1:
            got = f"{len(cells) - 1} columns"
            raise DataError(f"{width} columns at {path}:{number}", got, "take the file as UMLS publishes it")
        yield cells


# Tag -> allowed numbers of words in its value.
_TAGS = {"is_a": (1,), "relationship": (2,), "intersection_of": (1, 2)}
_Names = dict[str, tuple[str, ...]]


def read_obo_relations(path: Path | str) -> KnowledgeGraph:
    """Read the graph of an OBO file.

    Raises:
        DataError: A line breaks the format, with its number, or no term has a relation.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"an OBO file at {path}", "no such file", "check the path")
    names: _Names = {}
    labels: dict[str, str] = {}
    graph = make_graph(_obo_triples(path, names, labels), names, sought=f"terms with relations in {path}")
    return label_relations(graph, labels)


def _obo_triples(path: Path, names: _Names, labels: dict[str, str]) -> Iterator[Triple]:
    """Yield the triples of a file; `names` and `labels` get the names of its entities and relations."""
    for kind, line_number, stanza in read_stanzas(path):
        if kind not in ("Term", "Typedef"):
            continue
        identifier = next((line.value for line in stanza.get("id", [])), "")
        if not identifier:
            raise DataError(f"an id in the stanza at {path}:{line_number}", "none", "correct or remove that stanza")
        preferred = [unescape(line.value) for line in stanza.get("name", [])]
        if kind == "Typedef":
            labels.update((identifier, "_".join(name.split())) for name in preferred)
        if kind == "Typedef" or is_obsolete(stanza):
            continue
        subject = entity_id(identifier)
        names[subject] = (*preferred, *read_synonyms(path, stanza))
        for tag, number, value, comment in ((name, *line) for name in _TAGS for line in stanza.get(name, [])):
            words = value.split()
            if len(words) not in _TAGS[tag]:
                raise DataError(f"'{tag}: [relation] id' at {path}:{number}", repr(value[:80]), "correct that line")
            target = entity_id(words[-1])
            if comment:
                names.setdefault(target, (comment,))
            yield subject, words[0] if len(words) == 2 else "is_a", target


_FILES = (
    "a table of triples (.tsv, .tsv.gz, .txt) or a folder with triples.tsv.gz, an OBO file (.obo, .obo.gz), a folder "
    f"with {NAMES} and MRREL.RRF, or a Wikidata dump ({', '.join(SUFFIXES)})"
)
"""What `read_graph` takes."""


@dataclass(frozen=True, slots=True)
class Part:
    """Selection of a part of a graph that may be too large to read whole; by default, everything.

    Attributes:
        properties: For Wikidata; see `read_wikidata`.
        roots: For Wikidata; see `read_wikidata`.
        sources: For UMLS; see `read_umls`.
    """

    properties: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def check(self, *taken: str) -> None:
        """Check that the selection uses only attributes of a format.

        Args:
            taken: Attributes of the format.

        Raises:
            ConfigError: Another attribute is used.
        """
        formats = {"properties": "Wikidata", "roots": "Wikidata", "sources": "UMLS"}
        for name, format_ in formats.items():
            if getattr(self, name) and name not in taken:
                raise ConfigError(f"{name} of a graph of {format_} only", "a graph of another format", "leave them out")


WHOLE = Part()
"""No part of a graph, but all of it."""


def read_graph(path: Path | str, part: Part = WHOLE) -> KnowledgeGraph:
    """Read a graph. The name of the file, or the content of the folder, decides the format.

    Args:
        path: See `ACCEPTED`.
        part: Selection of a part of UMLS or Wikidata.

    Raises:
        DataError: There is no graph at the path, or it cannot be read or is malformed.
        ConfigError: The format has no such selection.
    """
    path = Path(path)
    name = path.name.removesuffix(".gz")
    try:
        if path.is_dir():
            if any((path / file).is_file() for file in (NAMES, f"{NAMES}.gz")):
                part.check("sources")
                return read_umls(path, part.sources)
            if any((path / file).is_file() for file in TRIPLES):
                part.check()
                return read_triples(path)
            raise DataError(_FILES, f"the folder {path} with none of their files", "name one file in it")
        if not path.is_file():
            raise DataError(_FILES, f"nothing at {path}", "check the path")
        if path.name.endswith(SUFFIXES):
            part.check("properties", "roots")
            return read_wikidata(path, part.properties, part.roots)
        part.check()
        if name.endswith(".obo"):
            return read_obo_relations(path)
        if name.endswith((".tsv", ".txt")):
            return read_triples(path)
    except OSError as error:
        # Listing a folder without permission fails like reading it.
        raise unreadable(path, error) from error
    raise DataError(_FILES, f"a file named {path.name}", "convert it to a table of triples")


MENTIONS = "mentions"
"""The relation of headings that few documents have, and of sections without one."""

# Health texts call "Rash (medicine)" "Rash", but not "Rash (album)".
_QUALIFIER = re.compile(
    r"\s*\((anatomy|biology|condition|disease|disorder|drug|immunology|medical|medication|medicine|mood|pathology"
    r"|pharmacology|physiology|psychiatry|psychology|surgery|symptom)\)$",
    re.IGNORECASE,
)


def graph_of_documents(documents: Callable[[], Iterable[Document]], shared_by: int = 10) -> KnowledgeGraph:
    """Build a graph from documents.

    Args:
        documents: Streams the documents; called twice, for their entities and for their texts. Documents without a
            title are ignored; those with equal titles or identifiers are about the same entity.
        shared_by: Number of documents with a heading from which on it is a relation of its own.

    Raises:
        DataError: No document names the entity of another.
    """
    names: dict[str, tuple[str, ...]] = {}
    headings: Counter[str] = Counter()
    for document in documents():
        if document.title.strip():
            entity = document_entity(document)
            title = document.title.strip()
            names[entity] = tuple(dict.fromkeys((*names.get(entity, ()), title, _QUALIFIER.sub("", title))))
            headings.update({aspect for aspects in document_aspects(document) for aspect in aspects})
    relations = frozenset(heading for heading, count in headings.items() if count >= shared_by)
    linker = NgramLinker(list(names.values()), list(names))
    return make_graph(_triples(documents(), linker, relations), names)


def document_entity(document: Document) -> str:
    """Return the id of a document's entity: its first identifier, or else "name:" and its title."""
    return entity_id(document.entity_ids[0]) if document.entity_ids else named_entity_id(document.title)


def _triples(documents: Iterable[Document], linker: NgramLinker, relations: frozenset[str]) -> Iterator[Triple]:
    for document in documents:
        if not document.title.strip():
            continue
        subject = document_entity(document)
        for passage, aspects in zip(document.passages, document_aspects(document), strict=True):
            kept = dict.fromkeys(aspect if aspect in relations else MENTIONS for aspect in aspects or (MENTIONS,))
            for span in linker.link(document.slice(passage)):
                if span.entity_id != subject:
                    yield from ((subject, relation, span.entity_id) for relation in kept)


ACCEPTED = f"{_FILES}; `{DEFAULT}`; or a corpus (`enwiki`), whose sections give a general graph"
"""What `open_graph` takes, in the words of the command line's help."""

_NAME = re.compile(r"[\w-]{1,64}")


def open_graph(spec: str | Path, part: Part = WHOLE) -> KnowledgeGraph:
    """Open a knowledge graph.

    Args:
        spec: A path that `read_graph` takes; a catalogue name of concepts ("knowledge-base", "symptom-ontology"); or
            that of a corpus ("enwiki"), for a graph of its documents (`graph_of_documents`).
        part: Selection of a part of UMLS or Wikidata.

    Raises:
        CorpusMissingError: It is not on this machine; the remedy says where to get it.
        DataError: There is no graph at the path, or a file is malformed.
        ConfigError: The format has no such selection, or models may not learn from the corpus.
    """
    entry = catalogue().get(str(spec))
    if entry is None and _NAME.fullmatch(str(spec)) and not Path(spec).exists():
        names = ", ".join((DEFAULT, *(name for name, found in catalogue().items() if found.reader)))
        raise DataError(ACCEPTED, f"nothing at {spec}", f"check the path, or name one of {names}")
    if entry is None or Path(spec).exists():
        return read_graph(spec, part)
    part.check()
    if entry.reader:
        if entry.measured_only:
            expected, remedy = "a corpus that models may learn from", "name another one"
            raise ConfigError(expected, f"{spec}, which is only to measure them with", remedy)
        return graph_of_documents(open_corpus(str(spec)).documents)
    place = locate(str(spec))
    return read_graph(data_dir() / "kg" if spec == DEFAULT else place)
