"""What documents are about, as a knowledge base takes it in."""

from __future__ import annotations

from collections.abc import Iterable

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.index.store import DocumentRecord


def subject(document: Document | DocumentRecord, known: KnowledgeBase) -> Document:
    """What a document is about, without its text, and by its preferred name where the title is a synonym.

    `with_documents` joins a document to a concept by preferred name only; without this, "Heart attack" would stand
    beside "myocardial infarction". Of several concepts with the name, one that shares an identifier is meant.
    """
    named = known.by_name(document.title)
    ids = set(document.entity_ids)
    concept = next((c for c in named if ids & {c.concept_id, *c.xrefs}), named[0] if named else None)
    title = concept.name if concept else document.title
    return Document(document.doc_id, title, "", (), source=document.source, entity_ids=document.entity_ids)


def with_subjects(known: KnowledgeBase, records: Iterable[DocumentRecord]) -> KnowledgeBase:
    """A knowledge base and what some documents are about; itself where they say nothing of it."""
    subjects = [subject(record, known) for record in records if record.entity_ids]
    return known.with_documents(subjects) if subjects else known
