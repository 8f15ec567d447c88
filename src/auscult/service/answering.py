"""Searches as the API answers them: the question understood once, one index or several asked, a page of hits.

A hit says what to highlight, where that stands in the original file, and its reasons in words.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from auscult import schema
from auscult.concepts import Match
from auscult.documents import Original
from auscult.errors import QueryError
from auscult.index import Between, Where
from auscult.interfaces import Hit, SentenceScore
from auscult.search import Findings, Searcher, SearchOptions
from auscult.search.certainty import nothing_here
from auscult.search.marks import excerpt
from auscult.search.partial import LeftOut, ask_what_is_there
from auscult.service import models
from auscult.service.caller import Caller
from auscult.service.errors import Refusal
from auscult.service.state import State
from auscult.understanding import Query
from auscult.understanding.query import unread_words
from auscult.understanding.understand import Understanding


def understood_response(understanding: Understanding) -> schema.Understood:
    """Return an understanding as the API answers it."""
    return schema.Understood(
        entity=understanding.query.entity,
        entities=[
            schema.UnderstoodEntity(
                asked=each.asked,
                concept=concept(each.match) if each.match else None,
                names=list(each.names),
                likelihood=each.likelihood,
            )
            for each in understanding.entities
        ],
        alternatives=[concept(each) for each in understanding.alternatives],
        aspects=list(understanding.query.aspects),
        aspects_read=understanding.aspects_read,
        corrections=[schema.Correction(written=written, read=read) for written, read in understanding.corrections],
        unread=unread(understanding),
        note=understanding.note,
        taken_entity=understanding.taken_entity,
        taken_aspects=list(understanding.taken_aspects),
    )


def concept(match: Match) -> schema.Concept:
    """Return a concept as the API answers it."""
    return schema.Concept(
        code=match.concept.concept_id,
        name=match.concept.name,
        matched=match.matched_name,
        how=match.kind,
        score=match.score,
    )


def unread(understanding: Understanding) -> list[str]:
    """Return the words of a question that name neither its entity nor an aspect."""
    return unread_words(understanding.query, (understanding.asked, *(each.asked for each in understanding.entities)))


_IN_WORDS: Final = {
    "question_text": "the passage has the question's words",
    "question_label": "title or headings have the question's words",
    "question_document": "the passages around it have the question's words",
    "question_together": "the passage has the question's words together",
    "question_sentence": "a sentence has the question's words, or means what it means",
    "question_expansion": "the passage has the question's words, or words that mean the same",
    "entity_document": "the passages around it speak of what was asked about",
    "entity_passage": "the passage speaks of what was asked about",
    "entity_title": "the title names what was asked about",
    "aspect_heading": "the heading names what was asked of it",
    "entity_vector": "the passage means what was asked about",
    "aspect_vector": "the passage means what was asked of it",
    "question_vector": "the passage means what the question means",
}
_READ_AGAIN: Final = "read together with the question, the passage answers"


def hit_response(searcher: Searcher, index: str, row: int, hit: Hit) -> schema.Hit:
    """Return a hit as the API answers it; `row` is its document's."""
    shown = hit.start, hit.end
    if hit.sentences:
        stretch = excerpt(hit.sentences)
        shown = hit.sentences[stretch.start].start, hit.sentences[stretch.stop - 1].end
    original = searcher.index.reader.original_layout(row)
    return schema.Hit(
        rank=hit.rank,
        index=index,
        passage_id=hit.passage_id,
        doc_id=hit.doc_id,
        title=hit.title,
        book=hit.book,
        heading=hit.heading,
        above=list(hit.above),
        file=hit.file,
        place=hit.place,
        source=hit.source,
        url=hit.url,
        date=hit.metadata.get("date", ""),
        metadata=dict(hit.metadata),
        text=hit.text,
        start=hit.start,
        end=hit.end,
        excerpt=shown,
        highlights=[(each.start, each.end) for each in hit.sentences if each.marked],
        sentences=[_sentence(each, original if each.marked else None) for each in hit.sentences],
        score=hit.score,
        probability=hit.probability,
        evidence=[
            schema.Evidence(name=name, words=_IN_WORDS.get(name, _READ_AGAIN), amount=amount)
            for name, amount in sorted(hit.evidence.items(), key=lambda each: -each[1])
        ],
        original=original.media_type if original else None,
    )


def _sentence(sentence: SentenceScore, original: Original | None) -> schema.Sentence:
    start, end = sentence.start, sentence.end
    places = places_of(original, start, end) if original else _NOWHERE
    return schema.Sentence(
        start=start,
        end=end,
        text=sentence.text,
        score=sentence.score,
        entity_score=sentence.entity_score,
        aspect_score=sentence.aspect_score,
        highlight=sentence.marked,
        assertions=[*sentence.assertions],
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
    """Return where characters of a document's text stand in its original."""
    if original is None:
        return _NOWHERE
    boxes = [schema.Box(**box._asdict()) for box in original.boxes(start, end)]
    return Places(original.source_ranges(start, end), boxes)


_NOWHERE: Final = Places([], [])


class _Found(NamedTuple):
    """A passage of one of the indexes, before a hit is made of it."""

    name: str
    searcher: Searcher
    findings: Findings
    number: int


def understand(searcher: Searcher, asked: models.NextQuestion) -> Understanding:
    """Read what was asked.

    Raises:
        Refusal: Nothing was.
    """
    aspects = tuple(aspect.strip() for aspect in asked.aspects if aspect.strip())
    if not (asked.question.strip() or asked.entity.strip() or aspects):
        remedy = "say what to look for in 'question', or in 'entity' and 'aspects'"
        raise Refusal(422, "nothing_asked", "expected a question, an entity or an aspect, got none", remedy)
    return searcher.understand(
        Query("", asked.entity.strip(), aspects, text=asked.question.strip()), asked.conversation
    )


def search(state: State, caller: Caller, asked: models.SearchRequest) -> schema.SearchAnswer:
    """Answer a search.

    Raises:
        Refusal: It cannot be answered.
        AuscultError: See `Searcher.search`.
    """
    begun = time.perf_counter()
    if asked.offset + asked.k > models.REACH:
        message = f"expected hits among the first {models.REACH} (offset + k), got some beyond"
        raise Refusal(422, "too_far", message, "ask something narrower, or filter")
    names = list(dict.fromkeys(asked.indexes)) or [asked.index or ""]
    served = [state.served(name or None, caller) for name in names]
    searchers = {each.name: each.opened.seen_by(caller.groups) for each in served}
    ranked, left_out, understanding = _of_all(searchers, asked)
    page = ranked[asked.offset : asked.offset + asked.k]
    nothing = "" if left_out else nothing_here([each.findings.probability(each.number) for each in ranked])
    return schema.SearchAnswer(
        understood=understood_response(understanding),
        hits=[
            hit_response(searcher, name, found.document(number), replace(found.hit(number), rank=rank))
            for rank, (name, searcher, found, number) in enumerate(page, start=asked.offset + 1)
        ],
        nothing_here=schema.NothingHere(flag=bool(nothing), sentence=nothing),
        not_searched=[not_searched(name, each) for name, each in left_out.items()],
        more=len(ranked) > asked.offset + asked.k,
        offset=asked.offset,
        indexes=list(searchers),
        milliseconds=round(1000 * (time.perf_counter() - begun), 2),
    )


def not_searched(index: str, left_out: LeftOut) -> schema.NotSearched:
    """Return what was left out of an index as the API answers it."""
    return schema.NotSearched(
        index=index,
        shares=[*left_out.shares],
        of_shares=left_out.of_shares,
        documents=left_out.documents,
        of_documents=left_out.of_documents,
        sentence=left_out.sentence,
    )


def conditions(where: Mapping[str, models.Condition]) -> Where:
    """Return filters as an index takes them."""
    return {
        field: Between(value.first, value.last) if isinstance(value, models.Range) else value
        for field, value in where.items()
    }


def _of_all(
    searchers: Mapping[str, Searcher], asked: models.SearchRequest
) -> tuple[list[_Found], dict[str, LeftOut], Understanding]:
    """Search all indexes.

    Returns:
        Hits up to the page's end and one more, best first, none of an index that lacks a field; by index what was not
        searched; and how the first index understands what was asked.
    """
    number = asked.offset + asked.k + 1
    where = conditions(asked.where)
    options = SearchOptions(
        group_by=asked.group_by,
        where=where,
        scoring=asked.score,
        rerank=asked.rerank,
        assertions=asked.assertions,
    )
    found: list[_Found] = []
    refused: list[QueryError] = []
    left_out: dict[str, LeftOut] = {}
    understood: list[Understanding] = []

    def ask(searcher: Searcher) -> tuple[Understanding, Searcher, Findings | QueryError]:
        own = understand(searcher, asked)
        try:
            return own, searcher, searcher.find(own.query, number, options)
        except QueryError as error:
            return own, searcher, error

    for name, every in searchers.items():
        (own, searcher, findings), missing = ask_what_is_there(every, ask)
        understood.append(own)
        if isinstance(findings, QueryError):
            refused.append(findings)
            continue
        found += [_Found(name, searcher, findings, place) for place in range(len(findings))]
        if missing is not None:
            left_out[name] = missing
    if len(refused) == len(searchers):
        raise refused[0]
    if len(searchers) > 1:
        found.sort(key=lambda each: -each.findings.scores[each.number])
    return found[:number], left_out, understood[0]
