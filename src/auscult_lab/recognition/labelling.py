"""Find the entities of a document's sentences and their contexts (grundmann2021, section 3.1).

recognise -> drop placeholders and headings -> assign entities to sentences -> mark contexts, sentence by sentence

Placeholders are marks left by de-identification. Neither they nor a passage's own heading mention an entity.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from auscult.concepts.context import find_contexts
from auscult.documents import Document, Passage
from auscult_lab.recognition.entity import Covered, Entity, EntityRecognizer

_START = attrgetter("start")
_PLACEHOLDER = re.compile(
    r"""
      \[\*\*.{0,200}?\*\*\]                       # MIMIC-III: [**2101-3-4**], [**Hospital1 18**]
    | _{3,}                                       # MIMIC-IV: ___
    | \[[A-Z][A-Z0-9]+(?:[ _-][A-Z0-9]+)*\]       # [REDACTED], [PATIENT NAME]
    | <{1,2}/?[A-Z][A-Z0-9]+(?:[ _-][A-Z0-9]+)*>{1,2}  # <DATE>, <<NAME>>
    | \b[X]{3,}\b | \*{3,}                        # XXXX, ***
    """,
    re.VERBOSE | re.DOTALL,
)
_BEFORE_HEADING = re.compile(r"\s*(?:\(?(?:\d{1,2}|[IVX]{1,4}|[A-Z])[.)]\s+)?")

Span = tuple[int, int]


def read_entities(
    document: Document, recognizer: EntityRecognizer, *, with_contexts: bool = True
) -> tuple[tuple[Entity, ...], ...]:
    """Return all entities of a document with their contexts; none is dropped because of its context.

    Args:
        document: The document, whose text is read as a whole.
        recognizer: Recogniser of the entities.
        with_contexts: Whether to mark their contexts. False leaves `Entity.contexts` empty.

    Returns:
        For each sentence of `document.sentences` its entities in order, with offsets in the document's text. Entities
        that overlap a placeholder, the passage's own heading or the end of a sentence are left out.
    """
    entities = without(recognizer.recognise(document.text), [*placeholders(document.text), *own_headings(document)])
    entities = sorted(entities, key=_START)
    rows = []
    for sentence in document.sentences:
        first, behind = (bisect_left(entities, place, key=_START) for place in (sentence.start, sentence.end))
        inside = [entity for entity in entities[first:behind] if entity.end <= sentence.end]
        if with_contexts and inside:
            spans = [(entity.start - sentence.start, entity.end - sentence.start) for entity in inside]
            contexts = find_contexts(document.slice(sentence), spans)
            inside = [replace(entity, contexts=found) for entity, found in zip(inside, contexts, strict=True)]
        rows.append(tuple(inside))
    return tuple(rows)


def placeholders(text: str) -> list[Span]:
    """Return half-open ranges of de-identification marks, in order."""
    return [match.span() for match in _PLACEHOLDER.finditer(text)]


def own_headings(document: Document) -> list[Span]:
    """Return the ranges of headings that are repeated at the beginning of their passage.

    Most corpora give sections without it. If a text has it, its words are the topic of the passage, not a mention
    ("Allergies: penicillin").
    """
    return [span for passage in document.passages if (span := _own_heading(document.text, passage))]


def without(entities: Iterable[Entity], spans: Sequence[Span]) -> list[Entity]:
    """Return the entities that overlap none of the ranges."""
    covered = Covered(spans)
    return [entity for entity in entities if not covered.touches(entity.start, entity.end)]


def _own_heading(text: str, passage: Passage) -> Span | None:
    heading = passage.heading.strip().rstrip(":").rstrip()
    begin = _BEFORE_HEADING.match(text, passage.start, passage.end)
    at = begin.end() if begin else passage.start
    end = at + len(heading)
    if not heading or end > passage.end or text[at:end].casefold() != heading.casefold():
        return None
    # A sentence may begin with the same word; only a heading is followed by a colon, a dash or the end of the line.
    follows = text[end : passage.end].lstrip(" \t")[:1]
    return (at, end) if follows in ("", ":", "-", "\u2013", "\n", "\r") else None
