"""Tables for people: what a collection knows of names by aspects, and one question answered by two sources."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.errors import QueryError
from auscult.index.fields import SOURCE
from auscult.search import Searcher, SearchOptions
from auscult.search.coverage import Cell, Coverage, cover, entities_named
from auscult.search.explain import describe
from auscult.search.side_by_side import DOCUMENT, SideBySide, date_of, side_by_side
from auscult.service.caller import Asking, allowed
from auscult.service.page.asking import Asked, document_path
from auscult.service.page.chips import chips_of, filters_of
from auscult.service.page.context import context_of, rendered, searcher_for
from auscult.service.page.hits import HitView, view_of
from auscult.service.page.search_page import understand
from auscult.service.page.troubles import no_index
from auscult.service.routes import Stated, audited
from auscult.understanding import Query
from auscult.understanding.understand import Understanding

router = APIRouter(include_in_schema=False)
_MOST_NAMES: Final = 8
_LONGEST: Final = 2_000


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
    given = [value.strip()[:_LONGEST] for name, value in parameters if name == "entity"]
    audited(request, "coverage", index=asked.index, query={"entity": "; ".join(given)})
    allowed(caller, "read", asked.index or None)
    page = context_of(request, state, caller, "coverage", asked.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, asked.index, caller)
    names = list(dict.fromkeys(name[:300] for name in entities_named(searcher, given)))[:_MOST_NAMES]
    if not names and not asked.is_empty:
        # What a question on another page was about.
        with suppress(QueryError):
            names = [name for name in (searcher.understand(asked.query).query.entity,) if name]
    found, trouble = None, ""
    if names:
        try:
            found = cover(searcher, names, asked.aspects)
        except QueryError:
            trouble = "A code among these is not known: write names, or codes such as DOID:2986."
    rows = _coverage_rows(found, page.index) if found else []
    hits = (
        {hit.doc_id for row in found.cells for cell in row for hit in (cell.hit, cell.similar) if hit}
        if found
        else set()
    )
    query = {"entity": "; ".join(names)}
    audited(request, "coverage", index=page.index, query=query, doc_ids=sorted(hits), result=len(rows))
    values = {
        "page": page,
        "asked": asked,
        "names": names,
        "entities": [
            (each.query.entity, each.match.concept.concept_id if each.match else "") for each in found.entities
        ]
        if found
        else [],
        "rows": rows,
        "counts": [(word, found.share(word)) for word in ("answers", "may answer", "no answer")] if found else [],
        "trouble": trouble,
    }
    return HTMLResponse(rendered("coverage.html", values))


def _coverage_rows(found: Coverage, index: str) -> list[Row]:
    """Return rows with what is answered most surely first."""
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


_COLUMNS: Final = 2
_MOST: Final = 4
_CHOICES: Final = 100
_HITS: Final = 2


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One cell."""

    word: str
    views: tuple[HitView, ...]
    similar: tuple[HitView, ...]


@router.get("/compare")
def compare(request: Request, caller: Asking, state: Stated) -> Response:
    """The columns that an address names, or the two whose passages are found first."""
    parameters = request.query_params.multi_items()
    asked = replace(Asked.of(parameters), path="/compare")
    audited(request, "compare", index=asked.index, query=asked.words)
    allowed(caller, "read", asked.index or None)
    page = context_of(request, state, caller, "compare", asked.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, asked.index, caller)
    fields = [each.name for each in filters_of(searcher.index, asked) if not each.is_date and each.name != "file"]
    field = request.query_params.get("by", "")
    if field not in (*fields, DOCUMENT):
        field = SOURCE if SOURCE in fields else DOCUMENT
    chosen = tuple(dict.fromkeys(value for name, value in parameters if name == "v" and value))[:_MOST]
    values: dict[str, Any] = {"page": page, "asked": asked, "fields": fields, "field": field, "by_document": DOCUMENT}
    values |= {"table": None, "columns": [], "choices": [], "told": "", "chips": None, "rows": []}
    if not asked.is_empty:
        understood = understand(searcher, asked)
        query, asked = understood.query, asked.settled(understood)
        table = _table(searcher, query, field, chosen, asked)
        hits = [hit for row in table.answers for cell in row for hit in (*cell.hits, *cell.similar)] if table else []
        rows: list[tuple[str, list[ShownAnswer]]] = []
        for name, answers in zip(table.rows, table.answers, strict=True) if table else ():
            shown = []
            for cell in answers:
                own, similar = (
                    tuple(view_of(hit, hit.rank, query, asked, page.index) for hit in some)
                    for some in (cell.hits, cell.similar)
                )
                shown.append(ShownAnswer(cell.word, own, similar))
            rows.append((name, shown))
        ids = list(dict.fromkeys(hit.doc_id for hit in hits))
        audited(request, "compare", index=page.index, query=asked.words, doc_ids=ids, result=len(hits))
        values |= {
            "told": describe(query) or asked.text,
            "chips": chips_of(understood, asked, searcher),
            "table": table,
            "columns": [_headed(searcher, field, value) for value in table.values] if table else [],
            "rows": rows,
            "choices": _choices(searcher, query, field, table),
        }
    return HTMLResponse(rendered("compare.html", values))


def _table(searcher: Searcher, query: Query, field: str, chosen: tuple[str, ...], asked: Asked) -> SideBySide | None:
    """Return the columns chosen, else those whose passages are found first; None where there are not two."""
    for columns in (chosen, ()) if chosen else ((),):
        try:
            if len(columns) < _COLUMNS:
                first = side_by_side(searcher, query, field, k=1, where=asked.where).values
                columns = (*columns, *(value for value in first if value not in columns))[:_COLUMNS]
            return side_by_side(searcher, query, field, columns, k=_HITS, where=asked.where)
        except QueryError:
            # Columns of another field, which was chosen before, are none of this one.
            continue
    return None


def _headed(searcher: Searcher, field: str, value: str) -> tuple[str, str]:
    """Return a column's name, and when its document is from."""
    if field != DOCUMENT:
        return value, ""
    row = searcher.index.reader.row_of(value)
    if row is None:
        return value, ""
    record = searcher.index.reader.document_record(row)
    return " \u00b7 ".join(filter(None, (record.title or value, record.source))), date_of(record.metadata)


def _choices(searcher: Searcher, query: Query, field: str, table: SideBySide | None) -> list[tuple[str, str]]:
    """Return what a column may be: values of the field, or the documents that are found first."""
    if field == DOCUMENT:
        hits = searcher.search(query, 20, SearchOptions(group_by="document"))
        found = {hit.doc_id: " \u00b7 ".join(filter(None, (hit.title or hit.doc_id, hit.source))) for hit in hits}
    else:
        found = {value: value for value in list(searcher.index.counts(field))[:_CHOICES] if value}
    for value in table.values if table else ():
        found.setdefault(value, value)
    return list(found.items())
