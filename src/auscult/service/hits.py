"""Hits as they are answered: what to highlight, where that stands in the original, and reasons in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from auscult import schema
from auscult.documents import Original
from auscult.interfaces import Hit, SentenceScore
from auscult.search import Searcher

_HIGHLIGHTED: Final = 2
_EXCERPT: Final = 360
_IN_WORDS: Final = {
    "question_text": "the passage has the question's words",
    "question_label": "title or heading have the question's words",
    "question_document": "the document has the question's words",
    "question_together": "the passage has the question's words together",
    "question_sentence": "a sentence has the question's words, or means what it means",
    "entity_document": "the document speaks of what was asked about",
    "entity_passage": "the passage speaks of what was asked about",
    "entity_title": "the title names what was asked about",
    "aspect_heading": "the heading names what was asked of it",
    "entity_vector": "the passage means what was asked about",
    "aspect_vector": "the passage means what was asked of it",
    "question_vector": "the passage means what the question means",
}
_READ_AGAIN: Final = "read together with the question, the passage answers"


def told(searcher: Searcher, index: str, row: int, hit: Hit) -> schema.Hit:
    """A hit as it is answered.

    Args:
        searcher: That found it.
        index: Its name.
        row: Of the hit's document.
        hit: With its sentences' scores.
    """
    scores = [each.score for each in hit.sentences]
    best = set(sorted(range(len(scores)), key=lambda number: -scores[number])[:_HIGHLIGHTED])
    original = searcher.index.reader.original_layout(row)
    return schema.Hit(
        rank=hit.rank,
        index=index,
        passage_id=hit.passage_id,
        doc_id=hit.doc_id,
        title=hit.title,
        heading=hit.heading,
        above=list(hit.above),
        source=hit.source,
        url=hit.url,
        date=hit.metadata.get("date", ""),
        metadata=dict(hit.metadata),
        text=hit.text,
        start=hit.start,
        end=hit.end,
        excerpt=_excerpt(hit),
        highlights=[(hit.sentences[number].start, hit.sentences[number].end) for number in sorted(best)],
        sentences=[
            _sentence(each, original if number in best else None, highlight=number in best)
            for number, each in enumerate(hit.sentences)
        ],
        score=hit.score,
        probability=hit.probability,
        evidence=[
            schema.Evidence(name=name, words=_IN_WORDS.get(name, _READ_AGAIN), amount=amount)
            for name, amount in sorted(hit.evidence.items(), key=lambda each: -each[1])
        ],
        original=original.media_type if original else None,
    )


def _sentence(sentence: SentenceScore, original: Original | None, *, highlight: bool) -> schema.Sentence:
    start, end = sentence.start, sentence.end
    places = places_of(original, start, end) if original else _NOWHERE
    return schema.Sentence(
        start=start,
        end=end,
        text=sentence.text,
        score=sentence.score,
        entity_score=sentence.entity_score,
        aspect_score=sentence.aspect_score,
        highlight=highlight,
        source_ranges=places.source_ranges,
        boxes=places.boxes,
    )


class Places(NamedTuple):
    """Where something stands in the file that a document was read from.

    Attributes:
        source_ranges: Of the decoded source, half-open; none where it has pages.
        boxes: On its pages; none where it has none.
    """

    source_ranges: list[tuple[int, int]]
    boxes: list[schema.Box]


def places_of(original: Original | None, start: int, end: int) -> Places:
    """Where characters of a document's text stand in its original."""
    if original is None:
        return _NOWHERE
    boxes = [schema.Box(**box._asdict()) for box in original.boxes(start, end)]
    return Places(original.source_ranges(start, end), boxes)


_NOWHERE: Final = Places([], [])


def _excerpt(hit: Hit) -> tuple[int, int]:
    """The stretch of sentences around the best one: of the document's text."""
    if not hit.sentences:
        return hit.start, hit.end
    stretch = best_stretch([each.score for each in hit.sentences], [each.end - each.start for each in hit.sentences])
    return hit.sentences[stretch.start].start, hit.sentences[stretch.stop - 1].end


def best_stretch(scores: Sequence[float], lengths: Sequence[int], least: int = _EXCERPT) -> range:
    """Consecutive sentences from the best on, growing to the better side until there are enough letters."""
    first = max(range(len(scores)), key=lambda number: scores[number])
    last = first + 1
    length = lengths[first]
    while length < least and last - first < len(scores):
        if last == len(scores) or (first > 0 and scores[first - 1] > scores[last]):
            first -= 1
            length += lengths[first]
        else:
            length += lengths[last]
            last += 1
    return range(first, last)
