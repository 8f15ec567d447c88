"""Answer searches for the API: understand the question, search one index or several, and return a page of hits.

A hit says what to highlight, where that is in the original file, and why it was found, in words.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from auscult import schema
from auscult.concepts import Match
from auscult.documents import Original
from auscult.errors import QueryError
from auscult.index import Between, Where
from auscult.schema import select_fields
from auscult.search import Findings, Searcher, SearchOptions
from auscult.search.certainty import label, nothing_here
from auscult.search.hits import Hit
from auscult.search.marks import excerpt
from auscult.search.partial import LeftOut, ask_what_is_there
from auscult.understanding import Query
from auscult.understanding.saying import unread_words
from auscult.understanding.understand import Understanding
from auscult_service import models
from auscult_service.caller import Caller
from auscult_service.errors import Refusal
from auscult_service.state import State


def understood_response(understanding: Understanding) -> schema.Understood:
    """Convert an understanding to the API's record."""
    return select_fields(
        schema.Understood,
        understanding,
        entity=understanding.query.entity,
        entities=[
            select_fields(
                schema.UnderstoodEntity,
                entity,
                concept=concept(entity.match) if entity.match else None,
                names=list(entity.names),
            )
            for entity in understanding.entities
        ],
        alternatives=[concept(match) for match in understanding.alternatives],
        aspects=list(understanding.query.aspects),
        corrections=[schema.Correction(written=written, read=read) for written, read in understanding.corrections],
        unread=unread(understanding),
        taken_aspects=list(understanding.taken_aspects),
    )


def concept(match: Match) -> schema.Concept:
    """Convert a matched concept to the API's record."""
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
    "denied": "the passage only denies what was searched for",
}
_READ_AGAIN: Final = "read together with the question, the passage answers"


def hit_response(searcher: Searcher, index: str, row: int, hit: Hit) -> schema.Hit:
    """Convert a hit to the API's record; `row` is the row of its document."""
    span = hit.start, hit.end
    if hit.sentences:
        stretch = excerpt(hit.sentences)
        span = hit.sentences[stretch.start].start, hit.sentences[stretch.stop - 1].end
    original = searcher.index.reader.original_layout(row)
    return select_fields(
        schema.Hit,
        hit,
        index=index,
        above=list(hit.above),
        date=hit.metadata.get("date", ""),
        metadata=dict(hit.metadata),
        excerpt=span,
        highlights=[(sentence.start, sentence.end) for sentence in hit.sentences if sentence.marked],
        sentences=[
            select_fields(
                schema.Sentence,
                sentence,
                highlight=sentence.marked,
                assertions=[*sentence.assertions],
                **places_of(original if sentence.marked else None, sentence.start, sentence.end),
            )
            for sentence in hit.sentences
        ],
        evidence=[
            schema.Evidence(name=name, words=_IN_WORDS.get(name, _READ_AGAIN), amount=amount)
            for name, amount in sorted(hit.evidence.items(), key=lambda pair: -pair[1])
        ],
        original=original.media_type if original else None,
    )


def places_of(original: Original | None, start: int, end: int) -> dict[str, Any]:
    """Return where a range of a document's text is in its original file, as fields of an API record.

    Returns:
        `source_ranges`: half-open ranges of characters of the decoded source; empty for a file with pages. `boxes`:
        boxes on the pages; empty for a file without pages.
    """
    if original is None:
        return {"source_ranges": [], "boxes": []}
    boxes = [schema.Box(**box._asdict()) for box in original.boxes(start, end)]
    return {"source_ranges": original.source_ranges(start, end), "boxes": boxes}


class _RankedPassage(NamedTuple):
    """A ranked passage of one index, before it is turned into a hit."""

    name: str
    searcher: Searcher
    findings: Findings
    number: int


def understand(searcher: Searcher, request: models.NextQuestion) -> Understanding:
    """Understand the question of a request.

    Raises:
        Refusal: The request has neither a question nor an entity nor an aspect.
    """
    aspects = tuple(aspect.strip() for aspect in request.aspects if aspect.strip())
    if not (request.question.strip() or request.entity.strip() or aspects):
        remedy = "say what to look for in 'question', or in 'entity' and 'aspects'"
        raise Refusal(422, "nothing_asked", "expected a question, an entity or an aspect, got none", remedy)
    return searcher.understand(
        Query("", request.entity.strip(), aspects, text=request.question.strip()), request.conversation
    )


def search(state: State, caller: Caller, request: models.SearchRequest) -> schema.SearchAnswer:
    """Answer a search request.

    Raises:
        Refusal: The page is beyond the last hit that is ranked, or the caller may not search an index.
        AuscultError: As for `Searcher.search`.
    """
    begun = time.perf_counter()
    if request.offset + request.k > models.REACH:
        message = f"expected hits among the first {models.REACH} (offset + k), got some beyond"
        raise Refusal(422, "too_far", message, "ask something narrower, or filter")
    names = list(dict.fromkeys(request.indexes)) or [request.index or ""]
    served = [state.served(name or None, caller) for name in names]
    searchers = {index.name: index.opened.seen_by(caller.groups) for index in served}
    ranked, left_out, understanding = _search_all(searchers, request)
    page = ranked[request.offset : request.offset + request.k]
    chances = [passage.findings.probability(passage.number) for passage in ranked]
    unread = next((passage for passage in ranked if passage.findings.is_unread(passage.number)), None)
    nothing = "" if left_out or unread else nothing_here(chances)
    uncertain = bool(nothing) and any(label(chance) == "uncertain" for chance in chances if chance is not None)
    return schema.SearchAnswer(
        understood=understood_response(understanding),
        hits=[
            hit_response(searcher, name, findings.document(number), replace(findings.hit(number), rank=rank))
            for rank, (name, searcher, findings, number) in enumerate(page, start=request.offset + 1)
        ],
        nothing_here=schema.NothingHere(flag=bool(nothing), sentence=nothing, uncertain=uncertain),
        language_note=unread.findings.languages.note if unread else "",
        not_searched=[
            select_fields(schema.NotSearched, missing, index=name, shares=[*missing.shares])
            for name, missing in left_out.items()
        ],
        more=len(ranked) > request.offset + request.k,
        offset=request.offset,
        indexes=list(searchers),
        milliseconds=round(1000 * (time.perf_counter() - begun), 2),
    )


def conditions(where: Mapping[str, models.Condition]) -> Where:
    """Convert the filters of a request to those of an index."""
    return {
        field: Between(value.first, value.last) if isinstance(value, models.Range) else value
        for field, value in where.items()
    }


def _search_all(
    searchers: Mapping[str, Searcher], request: models.SearchRequest
) -> tuple[list[_RankedPassage], dict[str, LeftOut], Understanding]:
    """Search all indexes.

    Returns:
        The passages up to the end of the page and one more, best first. Indexes that lack a field of the filters give
        none. Then the parts that were not searched, by index; and how the first index understands the question.
    """
    number = request.offset + request.k + 1
    where = conditions(request.where)
    options = SearchOptions(
        group_by=request.group_by,
        where=where,
        scoring=request.score,
        rerank=request.rerank,
        assertions=request.assertions,
    )
    ranked: list[_RankedPassage] = []
    refused: list[QueryError] = []
    left_out: dict[str, LeftOut] = {}
    understood: list[Understanding] = []

    def ask(searcher: Searcher) -> tuple[Understanding, Searcher, Findings | QueryError]:
        understanding = understand(searcher, request)
        try:
            return understanding, searcher, searcher.find(understanding.query, number, options)
        except QueryError as error:
            return understanding, searcher, error

    for name, all_shares in searchers.items():
        (understanding, searcher, findings), missing = ask_what_is_there(all_shares, ask)
        understood.append(understanding)
        if isinstance(findings, QueryError):
            refused.append(findings)
            continue
        ranked += [_RankedPassage(name, searcher, findings, place) for place in range(len(findings))]
        if missing is not None:
            left_out[name] = missing
    if len(refused) == len(searchers):
        raise refused[0]
    if len(searchers) > 1:
        ranked.sort(key=lambda passage: -passage.findings.scores[passage.number])
    return ranked[:number], left_out, understood[0]
