"""What a collection knows of diseases and drugs: aspects down, names across, a word and a link in each cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.errors import QueryError
from auscult.search import Searcher
from auscult.search.coverage import Cell, Coverage, cover
from auscult.service.caller import Asking, allowed
from auscult.service.page.asking import Asked, document_path
from auscult.service.page.context import context_of, rendered, searcher_for
from auscult.service.page.troubles import no_index
from auscult.service.routes import Stated, audited
from auscult.understanding.understand import Understanding

router = APIRouter(include_in_schema=False)
_MOST: Final = 8
_SPLIT: Final = re.compile(r"[;\n\r]+")


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One cell: the word, and where it leads."""

    cell: Cell
    search: str
    passage: str
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """An aspect of every entity."""

    aspect: str
    cells: tuple[ShownCell, ...]


@router.get("/coverage")
def coverage(request: Request, caller: Asking, state: Stated) -> Response:
    """A table for the names of an address, or a field to write some into."""
    parameters = request.query_params.multi_items()
    asked = Asked.of(parameters)
    given = [part.strip()[:300] for name, value in parameters if name == "entity" for part in _SPLIT.split(value)]
    names = list(dict.fromkeys(name for name in given if name))[:_MOST]
    audited(request, "coverage", index=asked.index, query={"entity": "; ".join(names)})
    allowed(caller, "read", asked.index or None)
    page = context_of(request, state, caller, "coverage", asked.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, asked.index, caller)
    if not names and not asked.is_empty:
        names = _named_in(searcher, asked)
    found, trouble = None, ""
    if names:
        try:
            found = cover(searcher, names, asked.aspects)
        except QueryError:
            trouble = "A code among these is not known: write names, or codes such as DOID:2986."
    rows = _rows(found, page.index) if found else []
    hits = {cell.hit.doc_id for row in found.cells for cell in row if cell.hit} if found else set()
    query = {"entity": "; ".join(names)}
    audited(request, "coverage", index=page.index, query=query, doc_ids=sorted(hits), result=len(rows))
    values = {
        "page": page,
        "asked": asked,
        "names": names,
        "entities": [_told(each) for each in found.entities] if found else [],
        "rows": rows,
        "counts": [(word, found.share(word)) for word in ("answered", "perhaps", "not found")] if found else [],
        "trouble": trouble,
    }
    return HTMLResponse(rendered("coverage.html", values))


def _named_in(searcher: Searcher, asked: Asked) -> list[str]:
    """What a question on another page was about."""
    try:
        entity = searcher.understand(asked.query).query.entity
    except QueryError:
        return []
    return [entity] if entity else []


def _told(understood: Understanding) -> tuple[str, str]:
    match = understood.match
    name = understood.query.entity
    return (name, match.concept.concept_id) if match else (name, "")


def _rows(found: Coverage, index: str) -> list[Row]:
    """Rows with what is answered most surely first."""
    rows = []
    for place, aspect in enumerate(found.aspects):
        cells = tuple(
            _shown(row[place], understood, aspect, index)
            for row, understood in zip(found.cells, found.entities, strict=True)
        )
        rows.append(Row(aspect, cells))
    return sorted(rows, key=lambda row: -max(each.cell.probability for each in row.cells))


def _shown(cell: Cell, understood: Understanding, aspect: str, index: str) -> ShownCell:
    entity = understood.match.concept.concept_id if understood.match else understood.query.entity
    asked = Asked(index=index).by_entity(entity, (aspect,))
    hit = cell.hit
    if hit is None:
        return ShownCell(cell, asked.at(), "", "")
    passage = asked.at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id))
    return ShownCell(cell, asked.at(), passage, " \u203a ".join(filter(None, (hit.title or hit.doc_id, hit.heading))))
