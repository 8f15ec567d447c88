"""A search as a service answers it: understood once, asked of one index or several, a page of hits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from auscult.errors import QueryError
from auscult.index import Between, Where
from auscult.interfaces import Hit
from auscult.queries import Query
from auscult.search import Searcher, Understanding
from auscult.search.fusion import DOUBTFUL
from auscult.service import hits, models, understood
from auscult.service.caller import Caller
from auscult.service.errors import Refusal
from auscult.service.state import State

_Found = tuple[str, Searcher, int, Hit]
_NOTHING: Final = "Nothing was found."


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


def search(state: State, caller: Caller, asked: models.SearchRequest) -> models.SearchAnswer:
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
    found = _of_all(searchers, asked, understanding)
    page = found[asked.offset : asked.offset + asked.k]
    return models.SearchAnswer(
        understood=understood.told(understanding),
        hits=[
            hits.told(searcher, index, row, replace(hit, rank=rank))
            for rank, (index, searcher, row, hit) in enumerate(page, start=asked.offset + 1)
        ],
        nothing_here=nothing_here([hit for _, _, _, hit in found]),
        more=len(found) > asked.offset + asked.k,
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


def nothing_here(found: list[Hit]) -> models.NothingHere:
    """Whether, and how, to say that nothing answers."""
    if not found:
        return models.NothingHere(flag=True, sentence=_NOTHING)
    chance = found[0].probability
    if chance is None or chance >= DOUBTFUL:
        return models.NothingHere(flag=False, sentence="")
    sentence = (
        "Nothing here seems to answer this; the nearest follow "
        f"(the chance that the first of these does is {100 * chance:.0f} %)."
    )
    return models.NothingHere(flag=True, sentence=sentence)


def _of_all(
    searchers: Mapping[str, Searcher], asked: models.SearchRequest, understanding: Understanding
) -> list[_Found]:
    """The hits of all indexes up to the page's end and one more, best first; an index that lacks a field has none."""
    found: list[_Found] = []
    refused: list[QueryError] = []
    for name, searcher in searchers.items():
        own = understanding if not found and not refused else understand(searcher, asked)
        try:
            found += [(name, searcher, row, hit) for row, hit in _of_one(searcher, asked, own)]
        except QueryError as error:
            refused.append(error)
    if len(refused) == len(searchers):
        raise refused[0]
    if len(searchers) > 1:
        found.sort(key=lambda each: -each[3].score)
    return found[: asked.offset + asked.k + 1]


def _of_one(searcher: Searcher, asked: models.SearchRequest, understanding: Understanding) -> list[tuple[int, Hit]]:
    return searcher.search_rows(
        understanding.query,
        asked.offset + asked.k + 1,
        group_by=asked.group_by,
        where=conditions(asked.where),
        scoring=asked.score,
        rerank=asked.rerank,
    )
