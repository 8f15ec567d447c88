"""What evaluation must know of a passage besides its text: whose it is, and its labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auscult.documents import Document
from auscult.understanding import Query


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """One passage's labels.

    Attributes:
        title: Of its document.
        source: Of its document.
        aspect: The corpus' aspect label, or the lower-cased heading where it has none.
        entity_ids: Of its document.
    """

    passage_id: str
    doc_id: str
    title: str
    source: str
    aspect: str
    entity_ids: tuple[str, ...]


def read_passages(documents: Iterable[Document]) -> dict[str, PassageRecord]:
    """passage_id -> its record, for every passage of a collection."""
    return {
        passage.passage_id: PassageRecord(
            passage.passage_id,
            document.doc_id,
            document.title,
            document.source,
            passage.aspect or passage.heading.lower(),
            document.entity_ids,
        )
        for document in documents
        for passage in document.passages
    }


def same_name(first: str, second: str) -> bool:
    """Whether two names are alike but for case, punctuation and spacing."""
    return _plain(first) == _plain(second) != ""


def is_about(passage: PassageRecord, query: Query, true: Sequence[PassageRecord] = ()) -> bool:
    """Whether a passage's document is about the query's entity.

    Args:
        passage: The passage.
        query: What was asked.
        true: The query's true answers. What their documents are about is the query's entity too, which
            matters for queries that name several identifiers or gather documents under several names.

    Returns:
        True for the query's identifier, its name, or the document or title of a true answer.
    """
    if query.entity_id and query.entity_id in passage.entity_ids:
        return True
    if same_name(passage.title, query.entity):
        return True
    return any(passage.doc_id == each.doc_id or same_name(passage.title, each.title) for each in true)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().lower()
