"""One question answered by two sources beside each other: a column a source or document, a row an aspect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.errors import QueryError
from auscult.index.fields import SOURCE
from auscult.interfaces import Hit
from auscult.search import Searcher, SearchOptions
from auscult.search.explain import describe
from auscult.search.side_by_side import DOCUMENT, SideBySide, date_of, side_by_side
from auscult.service.caller import Asking, allowed
from auscult.service.page.asking import Asked
from auscult.service.page.chips import chips_of, filters_of
from auscult.service.page.context import context_of, rendered, searcher_for
from auscult.service.page.hits import HitView, view_of
from auscult.service.page.search_page import understand
from auscult.service.page.troubles import no_index
from auscult.service.routes import Stated, audited
from auscult.understanding import Query

router = APIRouter(include_in_schema=False)
_COLUMNS: Final = 2
_MOST: Final = 4
_CHOICES: Final = 100
_HITS: Final = 2


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One cell."""

    word: str
    views: tuple[HitView, ...]


@router.get("/compare")
def compare(request: Request, caller: Asking, state: Stated) -> Response:
    """The columns that an address names, or the two whose passages are found first."""
    parameters = request.query_params.multi_items()
    asked = replace(Asked.of(parameters), path="/compare")
    said = {"question": asked.text, "entity": asked.entity, "aspects": list(asked.aspects)}
    audited(request, "compare", index=asked.index, query=said)
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
        query = understood.query
        table = _table(searcher, query, field, chosen, asked)
        hits = [hit for row in table.answers for cell in row for hit in cell.hits] if table else []
        ids = list(dict.fromkeys(hit.doc_id for hit in hits))
        audited(request, "compare", index=page.index, query=said, doc_ids=ids, result=len(hits))
        values |= {
            "told": describe(query) or asked.text,
            "chips": chips_of(understood, asked, searcher),
            "table": table,
            "columns": [_headed(searcher, field, value) for value in table.values] if table else [],
            "rows": _rows(table, query, asked, page.index) if table else [],
            "choices": _choices(searcher, query, field, table),
        }
    return HTMLResponse(rendered("compare.html", values))


def _table(searcher: Searcher, query: Query, field: str, chosen: tuple[str, ...], asked: Asked) -> SideBySide | None:
    """The columns chosen, else those whose passages are found first; None where there are not two."""
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


def _rows(table: SideBySide, query: Query, asked: Asked, index: str) -> list[tuple[str, list[ShownAnswer]]]:
    return [
        (
            name,
            [
                ShownAnswer(answer.word, tuple(_view(hit, query, asked, index) for hit in answer.hits))
                for answer in answers
            ],
        )
        for name, answers in zip(table.rows, table.answers, strict=True)
    ]


def _view(hit: Hit, query: Query, asked: Asked, index: str) -> HitView:
    return view_of(hit, hit.rank, query, asked, index)


def _headed(searcher: Searcher, field: str, value: str) -> tuple[str, str]:
    """A column's name, and when its document is from."""
    if field != DOCUMENT:
        return value, ""
    row = searcher.index.reader.row_of(value)
    if row is None:
        return value, ""
    record = searcher.index.reader.document_record(row)
    return " \u00b7 ".join(filter(None, (record.title or value, record.source))), date_of(record.metadata)


def _choices(searcher: Searcher, query: Query, field: str, table: SideBySide | None) -> list[tuple[str, str]]:
    """What a column may be: values of the field, or the documents that are found first."""
    if field == DOCUMENT:
        hits = searcher.search(query, 20, SearchOptions(group_by="document"))
        found = {hit.doc_id: " \u00b7 ".join(filter(None, (hit.title or hit.doc_id, hit.source))) for hit in hits}
    else:
        found = {value: value for value in list(searcher.index.counts(field))[:_CHOICES] if value}
    for value in table.values if table else ():
        found.setdefault(value, value)
    return list(found.items())
