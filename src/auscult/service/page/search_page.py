"""The page of hits, and the one before anything is asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.errors import QueryError
from auscult.search import Findings, Searcher, SearchOptions
from auscult.search.explain import describe
from auscult.service.answering import nothing_here
from auscult.service.caller import Asking, allowed
from auscult.service.page.asking import FURTHEST, PER_PAGE, Asked
from auscult.service.page.chips import Choice, chips_of
from auscult.service.page.context import PageContext, context_of, searcher_for
from auscult.service.page.filters import filters_of
from auscult.service.page.hits import grouped, view_of
from auscult.service.page.rendering import rendered
from auscult.service.page.troubles import no_index
from auscult.service.routes.answers import Stated, audited
from auscult.understanding.aspect_words import question_about
from auscult.understanding.understand import Understanding

router = APIRouter(include_in_schema=False)
_EXAMPLES: Final = ("symptoms", "treatment", "information", "causes", "side effects", "diagnosis")
_LOOKED_AT: Final = 60
_KEPT: WeakKeyDictionary[Searcher, tuple[str, ...]] = WeakKeyDictionary()


@router.get("/")
def front(request: Request, caller: Asking, state: Stated) -> Response:
    """The box, and below it what answers what was asked."""
    asked = Asked.of(request.query_params.multi_items())
    allowed(caller, "read")
    page = context_of(request, state, caller, "search", asked.index)
    if not page.may_ask:
        return no_index(page)
    said = {"question": asked.text, "entity": asked.entity, "aspects": list(asked.aspects)}
    if not asked.is_empty:
        audited(request, "search", index=asked.index or page.index, query=said)
    searcher = searcher_for(state, asked.index, caller)
    page = replace(page, counts=searcher.index.manifest.counts)
    if asked.is_empty:
        return HTMLResponse(_home(page, asked, searcher, "q" in request.query_params))
    begun = time.perf_counter()
    understood = understand(searcher, asked)
    found = find(searcher, understood, asked, asked.start + PER_PAGE + 1)
    number = len(found) if found else 0
    shown = [found.hit(each) for each in range(asked.start, min(number, asked.start + PER_PAGE))] if found else []
    took = round(1000 * (time.perf_counter() - begun))
    audited(
        request, "search", index=page.index, query=said, result=len(shown),
        doc_ids=list(dict.fromkeys(hit.doc_id for hit in shown)),
    )  # fmt: skip
    views = [
        view_of(hit, number, understood.query, asked, page.index, searcher.knowledge_base)
        for number, hit in enumerate(shown, asked.start + 1)
    ]
    chance = found.probability(0) if found else None
    nothing = nothing_here(found=bool(found), chance=chance) if not asked.start else None
    values: dict[str, Any] = {
        "page": page,
        "asked": asked,
        "query": understood.query,
        "told": asked.text if not asked.by_parts else describe(understood.query),
        "chips": chips_of(understood, asked, searcher),
        "views": grouped(views),
        "nothing": nothing.sentence if nothing else "",
        "more": number > asked.start + PER_PAGE <= FURTHEST,
        "per_page": PER_PAGE,
        "filters": filters_of(searcher.index, asked),
        "coverage": asked.at("/coverage", "", ("entity", understood.query.entity)) if understood.query.entity else "",
        "took": took,
    }
    return HTMLResponse(rendered("search.html", values))


def understand(searcher: Searcher, asked: Asked) -> Understanding:
    """How an address is understood.

    Raises:
        QueryError: It names an identifier that is not known.
    """
    return Understanding(asked.query) if asked.as_words else searcher.understand(asked.query)


def find(searcher: Searcher, understood: Understanding, asked: Asked, number: int) -> Findings | None:
    """The first passages of an address; None where its filters name what no document has."""
    try:
        return searcher.find(understood.query, number, SearchOptions(where=asked.where))
    except QueryError:
        if not asked.filtered:
            raise
        return None


def _home(page: PageContext, asked: Asked, searcher: Searcher, submitted: bool) -> str:
    counts = searcher.index.manifest.counts
    figures = [("documents", counts.documents), ("passages", counts.passages), ("sentences", counts.sentences)]
    return rendered(
        "home.html",
        {
            "page": page,
            "asked": asked,
            "examples": examples(searcher, asked),
            "figures": figures,
            "notice": "Nothing was asked yet: write a question, or the name of a disease or drug." if submitted else "",
        },
    )


def examples(searcher: Searcher, asked: Asked) -> list[Choice]:
    """Questions that documents of the index answer: about titles far apart in it, each about another aspect."""
    if searcher not in _KEPT:
        _KEPT[searcher] = tuple(_questions(searcher)) or tuple(_titles(searcher))
    return [Choice(question, "", asked.in_words(question).at()) for question in _KEPT[searcher]]


def _questions(searcher: Searcher) -> Iterator[str]:
    reader, resolver = searcher.index.reader, searcher.parser.resolver
    rows = reader.documents
    seen: set[str] = set()
    for number, aspect in enumerate(_EXAMPLES):
        for row in rows[len(rows) * (2 * number + 1) // (2 * len(_EXAMPLES)) :][:_LOOKED_AT].tolist():
            title = reader.document_record(row).title
            if not 3 <= len(title) <= 40 or title in seen:
                continue
            headings = " ".join(reader.passage(passage).heading.casefold() for passage in reader.passages_of(row))
            if aspect in headings and resolver.resolve(title, limit=1, fuzzy=False):
                seen.add(title)
                yield question_about(aspect, title)
                break


def _titles(searcher: Searcher, number: int = 4) -> list[str]:
    reader = searcher.index.reader
    titles = (reader.document_record(row).title for row in reader.documents[:50].tolist())
    return [title for title in dict.fromkeys(titles) if title][:number]
