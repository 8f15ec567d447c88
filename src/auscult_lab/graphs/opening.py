"""Opening a knowledge graph by path, by catalogue name, or out of a corpus: the one place where it is decided.

A general, open graph read out of documents: where one document's section names what another is about.

A document about A with a section "Causes" that names B gives (A, causes, B). Entities are the documents' titles, and
relations the normalised headings; a heading of few documents is the relation "mentions". It stands for an open-domain
graph (wang2021, section 5.1.4) where Wikidata cannot be had; no relation in it has been checked by a person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from auscult.catalogue import catalogue, data_dir, locate
from auscult.concepts.aspects import document_aspects
from auscult.concepts.opening import DEFAULT
from auscult.documents import Document
from auscult.errors import ConfigError, DataError
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.graphs.graph import KnowledgeGraph, Triple, entity_id, make_graph, named_entity_id
from auscult_lab.graphs.linking import NgramLinker
from auscult_lab.graphs.reading import ACCEPTED as FILES
from auscult_lab.graphs.reading import WHOLE, Part, read_graph

MENTIONS = "mentions"
"""The relation of headings that few documents have, and of sections without one."""

# "Rash (medicine)" is called "Rash" in texts about health; "Rash (album)" is not.
_QUALIFIER = re.compile(
    r"\s*\((anatomy|biology|condition|disease|disorder|drug|immunology|medical|medication|medicine|mood|pathology"
    r"|pharmacology|physiology|psychiatry|psychology|surgery|symptom)\)$",
    re.IGNORECASE,
)


def graph_of_documents(documents: Callable[[], Iterable[Document]], shared_by: int = 10) -> KnowledgeGraph:
    """Read a graph out of documents.

    Args:
        documents: Streams them; called twice, for what they are about and for what they say. Documents without a title
            take no part; those with one title or one identifier are about one entity.
        shared_by: A heading is a relation of its own when so many documents have it.

    Raises:
        DataError: No document names what another is about.
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
    """The id of what a document is about: its first identifier, or else "name:" and its title."""
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


ACCEPTED = f"{FILES}; `{DEFAULT}`; or a corpus (`enwiki`), whose sections give a general graph"
"""What `open_graph` takes, in the words of the command line's help."""

_NAME = re.compile(r"[\w-]{1,64}")


def open_graph(spec: str | Path, part: Part = WHOLE) -> KnowledgeGraph:
    """Open a knowledge graph.

    Args:
        spec: A path that `read_graph` takes; a catalogue name of concepts ("knowledge-base", "symptom-ontology"); or
            that of a corpus ("enwiki"), of whose documents a graph is made (`graph_of_documents`).
        part: What to read of it, where it is of UMLS or Wikidata.

    Raises:
        CorpusMissingError: It is not on this machine; the remedy says where to get it.
        DataError: There is nothing at the path, nothing that holds a graph, or a file is malformed.
        ConfigError: It has no such parts, or is a corpus that models are only measured with.
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
