"""Labels from running text: for each sentence of a document, the entities that it is about (grundmann2021, 3.1).

    recognise (passage by passage) -> drop placeholders and headings -> mark contexts (sentence by sentence) -> keep

The paper names negated mentions as a main source of its errors ("no nausea or vomiting" was labelled nausea, section
5.3); here they are no labels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from auscult.concepts.names import normalise_name
from auscult.concepts.recognition.context import ContextFilter
from auscult.concepts.recognition.entity import Context, Entity, EntityRecognizer
from auscult.concepts.recognition.placeholders import own_headings, placeholders, without
from auscult.documents import Document, Passage

NO_LABELS: frozenset[Context] = frozenset({"negated", "family", "hypothetical"})
"""Contexts in which an entity is no label by default.

What the patient had is what a section on the history is asked for, and what the patient may have is what an assessment
is asked for: both remain. Pass more contexts to be stricter.
"""


class SentenceEntity(NamedTuple):
    """An entity as a label.

    Attributes:
        key: Its identifier in the knowledge base, or "name:" and its normalised name where it has none.
        name: The words as they stand in the sentence.
    """

    key: str
    name: str


def read_entities(
    document: Document, recognizer: EntityRecognizer, context: ContextFilter | None
) -> tuple[tuple[Entity, ...], ...]:
    """All entities of a document with what is said of them, none dropped for its context.

    Args:
        document: Its passages are read one by one.
        recognizer: Finds the entities.
        context: Marks them; None leaves `Entity.contexts` empty.

    Returns:
        For each sentence of `document.sentences` its entities in order, with offsets of the document's text. What
        overlaps a placeholder or the passage's own heading, or reaches over the end of a sentence, is left out.
    """
    spans = [*placeholders(document.text), *own_headings(document)]
    passages = [passage for passage in document.passages if passage.sentences]
    found = recognizer.recognise_many(document.slice(passage) for passage in passages)
    rows: list[tuple[Entity, ...]] = []
    for passage, entities in zip(passages, found, strict=True):
        moved = [replace(e, start=e.start + passage.start, end=e.end + passage.start) for e in entities]
        rows.extend(_by_sentence(document, passage, without(moved, spans) if spans else moved, context))
    return tuple(rows)


def label_passages(
    document: Document,
    recognizer: EntityRecognizer,
    context: ContextFilter | None,
    *,
    dropped: frozenset[Context] = NO_LABELS,
) -> tuple[tuple[SentenceEntity, ...], ...]:
    """For each sentence of a document, the entities that label it, no two with one key.

    Args:
        document: To label.
        recognizer: Finds the entities.
        context: Tells which of them are negated and so on; None takes every mention for a label.
        dropped: Contexts in which an entity is no label. Under a heading that speaks of the family ("Family
            history") relatives' diseases are what the passage is about, and remain.

    Returns:
        As long as `document.sentences`: what `LabelledDocument.mentions` of `auscult.training.labels` holds.
    """
    rows = iter(read_entities(document, recognizer, context))
    labels: list[tuple[SentenceEntity, ...]] = []
    for passage in document.passages:
        here = dropped - {"family"} if "family" in passage.heading.lower() else dropped
        labels.extend(_labels(next(rows), here) for _ in passage.sentences)
    return tuple(labels)


def _by_sentence(
    document: Document, passage: Passage, entities: list[Entity], context: ContextFilter | None
) -> Iterator[tuple[Entity, ...]]:
    starts = [sentence.start for sentence in passage.sentences]
    rows: list[list[Entity]] = [[] for _ in starts]
    for entity in entities:
        row = bisect_right(starts, entity.start) - 1
        if row >= 0 and entity.end <= passage.sentences[row].end:
            rows[row].append(entity)
    for sentence, row_entities in zip(passage.sentences, rows, strict=True):
        if context is None or not row_entities:
            yield tuple(row_entities)
            continue
        at = sentence.start
        own = [replace(entity, start=entity.start - at, end=entity.end - at) for entity in row_entities]
        marked = context.mark(document.slice(sentence), own)
        yield tuple(replace(e, contexts=m.contexts) for e, m in zip(row_entities, marked, strict=True))


def _labels(entities: tuple[Entity, ...], dropped: frozenset[Context]) -> tuple[SentenceEntity, ...]:
    labels: dict[str, SentenceEntity] = {}
    for entity in entities:
        key = entity.concept_id or f"name:{normalise_name(entity.name)}"
        if key != "name:" and not entity.contexts & dropped:
            labels.setdefault(key, SentenceEntity(key, entity.name))
    return tuple(labels.values())


__all__ = ["NO_LABELS", "SentenceEntity", "label_passages", "read_entities"]
