"""The entities of a document's sentences, and what is said of them (grundmann2021, section 3.1).

recognise -> drop placeholders and headings -> give each sentence its own -> mark contexts, sentence by sentence
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from operator import attrgetter

from auscult.concepts.recognition.context import ContextFilter
from auscult.concepts.recognition.entity import Entity, EntityRecognizer
from auscult.concepts.recognition.placeholders import own_headings, placeholders, without
from auscult.documents import Document

_START = attrgetter("start")


def read_entities(
    document: Document, recognizer: EntityRecognizer, context: ContextFilter | None
) -> tuple[tuple[Entity, ...], ...]:
    """All entities of a document with what is said of them, none dropped for its context.

    Args:
        document: Its text is read as a whole.
        recognizer: Finds the entities.
        context: Marks them; None leaves `Entity.contexts` empty.

    Returns:
        For each sentence of `document.sentences` its entities in order, with offsets of the document's text. What
        overlaps a placeholder or the passage's own heading, or reaches over the end of a sentence, is left out.
    """
    found = without(recognizer.recognise(document.text), [*placeholders(document.text), *own_headings(document)])
    found = sorted(found, key=_START)
    rows = []
    for sentence in document.sentences:
        first, behind = (bisect_left(found, place, key=_START) for place in (sentence.start, sentence.end))
        inside = [each for each in found[first:behind] if each.end <= sentence.end]
        if context is not None and inside:
            moved = [replace(e, start=e.start - sentence.start, end=e.end - sentence.start) for e in inside]
            marked = context.mark(document.slice(sentence), moved)
            inside = [replace(e, contexts=m.contexts) for e, m in zip(inside, marked, strict=True)]
        rows.append(tuple(inside))
    return tuple(rows)


__all__ = ["read_entities"]
