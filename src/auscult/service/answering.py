"""A search as a service answers it: understood once, asked of one index or several, a page of hits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from auscult import schema
from auscult.errors import QueryError
from auscult.index import Between, Where
from auscult.search import Findings, Searcher, SearchOptions
from auscult.search.fusion import DOUBTFUL
from auscult.service import hits, models, understood
from auscult.service.caller import Caller
from auscult.service.errors import Refusal
from auscult.service.state import State
from auscult.understanding import Query
from auscult.understanding.understand import Understanding

_NOTHING: Final = "Nothing was found."


class _Found(NamedTuple):
    """A passage of one of the indexes, before a hit is made of it."""

    name: str
    searcher: Searcher
    findings: Findings
    number: int


def understand(searcher: Searcher, asked: models.Question) -> Understanding:
    """Read what was asked.

    Raises:
        Refusal: Nothing was.
    """
    aspects = tuple(aspect.strip() for aspect in asked.aspects if aspect.strip())
    if not (asked.question.strip() or asked.entity.strip() or aspects):
        remedy = "say what to look for in 'question', or in 'entity' and 'aspects'"
        raise Refusal(422, "nothing_asked", "expected a question, an entity or an aspect, got none", remedy)
    return searcher.understand(Query("", asked.entity.strip(), aspects, text=asked.question.strip()))


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
    understanding = understand(next(iter(searchers.values())), asked)
    ranked = _of_all(searchers, asked, understanding)
    page = ranked[asked.offset : asked.offset + asked.k]
    chance = ranked[0].findings.probability(ranked[0].number) if ranked else None
    return schema.SearchAnswer(
        understood=understood.told(understanding),
        hits=[
            hits.told(searcher, name, found.document(number), replace(found.hit(number), rank=rank))
            for rank, (name, searcher, found, number) in enumerate(page, start=asked.offset + 1)
        ],
        nothing_here=nothing_here(found=bool(ranked), chance=chance),
        more=len(ranked) > asked.offset + asked.k,
        offset=asked.offset,
        indexes=list(searchers),
        milliseconds=round(1000 * (time.perf_counter() - begun), 2),
    )


def conditions(where: Mapping[str, models.Condition]) -> Where:
    """Filters as an index takes them."""
    return {
        field: Between(value.first, value.last) if isinstance(value, models.Range) else value
        for field, value in where.items()
    }


def nothing_here(*, found: bool, chance: float | None) -> schema.NothingHere:
    """Whether, and how, to say that nothing answers: by the chance that the first hit does, where it is known."""
    if not found:
        return schema.NothingHere(flag=True, sentence=_NOTHING)
    if chance is None or chance >= DOUBTFUL:
        return schema.NothingHere(flag=False, sentence="")
    sentence = (
        "Nothing here seems to answer this; the nearest follow "
        f"(the chance that the first of these does is {100 * chance:.0f} %)."
    )
    return schema.NothingHere(flag=True, sentence=sentence)


def _of_all(
    searchers: Mapping[str, Searcher], asked: models.SearchRequest, understanding: Understanding
) -> list[_Found]:
    """The hits of all indexes up to the page's end and one more, best first; an index that lacks a field has none."""
    found: list[_Found] = []
    refused: list[QueryError] = []
    for name, searcher in searchers.items():
        own = understanding if not found and not refused else understand(searcher, asked)
        try:
            findings = _of_one(searcher, asked, own)
            found += [_Found(name, searcher, findings, number) for number in range(len(findings))]
        except QueryError as error:
            refused.append(error)
    if len(refused) == len(searchers):
        raise refused[0]
    if len(searchers) > 1:
        found.sort(key=lambda each: -each.findings.scores[each.number])
    return found[: asked.offset + asked.k + 1]


def _of_one(searcher: Searcher, asked: models.SearchRequest, understanding: Understanding) -> Findings:
    return searcher.find(
        understanding.query,
        asked.offset + asked.k + 1,
        SearchOptions(group_by=asked.group_by, where=conditions(asked.where), scoring=asked.score, rerank=asked.rerank),
    )
