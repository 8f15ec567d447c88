"""A general, open graph read out of documents: where one document's section names what another is about.

A document about A with a section "Causes" that names B gives (A, causes, B). Entities are the documents' titles, and
relations the normalised headings; a heading of few documents is the relation "mentions". It stands for an open-domain
graph (wang2021, section 5.1.4) where Wikidata cannot be had; no relation in it has been checked by a person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from auscult.concepts.aspects import document_aspects
from auscult.documents import Document
from auscult_lab.graphs.graph import KnowledgeGraph, Triple, entity_id, make_graph, named_entity_id
from auscult_lab.graphs.linking import NgramLinker

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
