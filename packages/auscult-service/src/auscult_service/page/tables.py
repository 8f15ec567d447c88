"""Tables of the page: which aspects of which entities are answered, and one question by several sources."""

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
from auscult.search.hits import date_of, display_name
from auscult.search.side_by_side import DOCUMENT, SideBySide, side_by_side
from auscult.understanding import Query
from auscult_service.caller import Asking, check_allowed
from auscult_service.page.asking import PageQuestion, document_path
from auscult_service.page.chips import chips_of, filters_of
from auscult_service.page.context import context_of, searcher_for
from auscult_service.page.hits import STYLES, ShownHit, show_hit
from auscult_service.page.messages import Message, message
from auscult_service.page.search_page import understand
from auscult_service.page.templating import render
from auscult_service.page.troubles import no_index
from auscult_service.page.words import wording_of
from auscult_service.routes import Stated, note_audit

router = APIRouter(include_in_schema=False)
_MOST_NAMES: Final = 8
_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell of the coverage table, with the URLs of its search and its passage."""

    cell: Cell
    search: str
    passage: str
    title: str


@router.get("/coverage")
def coverage(request: Request, caller: Asking, state: Stated) -> Response:
    """Show the coverage table for the names in the URL, or a form for names."""
    parameters = request.query_params.multi_items()
    question = PageQuestion.of(parameters)
    given = [value.strip()[:_LONGEST] for name, value in parameters if name == "entity"]
    note_audit(request, "coverage", index=question.index, query={"entity": "; ".join(given)})
    check_allowed(caller, "read", question.index or None)
    page = context_of(request, state, caller, "coverage", question.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, question.index, caller)
    names = list(dict.fromkeys(name[:300] for name in entities_named(searcher, given)))[:_MOST_NAMES]
    if not names and not question.is_empty:
        # The entity of a question from another page.
        with suppress(QueryError):
            names = [name for name in (searcher.understand(question.query).query.entity,) if name]
    table: Coverage | None = None
    trouble: Message | None = None
    if names:
        try:
            table = cover(searcher, names, question.aspects)
        except QueryError:
            trouble = message("A code among these is not known: write names, or codes such as DOID:2986.")
    rows = _show_rows(table, page.index) if table else []
    hits = (
        {hit.doc_id for row in table.cells for cell in row for hit in (cell.hit, cell.similar) if hit}
        if table
        else set()
    )
    query = {"entity": "; ".join(names)}
    note_audit(request, "coverage", index=page.index, query=query, doc_ids=sorted(hits), result=len(rows))
    values = {
        "page": page,
        "question": question,
        "names": names,
        "entities": [
            (understood.query.entity, understood.match.concept.concept_id if understood.match else "")
            for understood in table.entities
        ]
        if table
        else [],
        "rows": rows,
        "counts": [(shown, table.share(shown), style) for shown, style in STYLES.items()] if table else [],
        "styles": STYLES,
        "trouble": trouble,
    }
    return HTMLResponse(render("coverage.html", values))


def _show_rows(table: Coverage, index: str) -> list[tuple[str, list[ShownCell]]]:
    """Return the rows, each an aspect of all entities, those with the most likely answers first."""
    rows = []
    for place, aspect in enumerate(table.aspects):
        cells = []
        for row, understood in zip(table.cells, table.entities, strict=True):
            entity = understood.match.concept.concept_id if understood.match else understood.query.entity
            question, passage, title = PageQuestion(index=index).by_entity(entity, (aspect,)), "", ""
            if hit := row[place].hit:
                passage = question.at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id))
                title = " \u203a ".join(filter(None, (hit.title or hit.name, hit.heading)))
            cells.append(ShownCell(row[place], question.at(), passage, title))
        rows.append((aspect, cells))
    return sorted(rows, key=lambda row: -max(shown.cell.probability for shown in row[1]))


_COLUMNS: Final = 2
_MOST: Final = 4
_CHOICES: Final = 100
_HITS: Final = 2


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """A cell of the comparison."""

    word: str
    hits: tuple[ShownHit, ...]
    similar: tuple[ShownHit, ...]


@router.get("/compare")
def compare(request: Request, caller: Asking, state: Stated) -> Response:
    """Show the answers side by side, for the columns in the URL or the two with the best passages."""
    parameters = request.query_params.multi_items()
    question = replace(PageQuestion.of(parameters), path="/compare")
    note_audit(request, "compare", index=question.index, query=question.words)
    check_allowed(caller, "read", question.index or None)
    page = context_of(request, state, caller, "compare", question.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, question.index, caller)
    fields = [
        choice.name for choice in filters_of(searcher.index, question) if not choice.is_date and choice.name != "file"
    ]
    field = request.query_params.get("by", "")
    if field not in (*fields, DOCUMENT):
        field = SOURCE if SOURCE in fields else DOCUMENT
    chosen = tuple(dict.fromkeys(value for name, value in parameters if name == "v" and value))[:_MOST]
    values: dict[str, Any] = {
        "page": page,
        "question": question,
        "fields": fields,
        "field": field,
        "by_document": DOCUMENT,
    }
    values |= {"table": None, "columns": [], "choices": [], "wording": "", "chips": None, "rows": []}
    if not question.is_empty:
        understood = understand(searcher, question)
        query, question = understood.query, question.settled(understood)
        table = _compare(searcher, query, field, chosen, question)
        hits = [hit for row in table.answers for cell in row for hit in (*cell.hits, *cell.similar)] if table else []
        rows: list[tuple[str, list[ShownAnswer]]] = []
        for name, answers in zip(table.rows, table.answers, strict=True) if table else ():
            shown_cells = []
            for cell in answers:
                own, similar = (
                    tuple(show_hit(hit, hit.rank, query, question, page.index) for hit in some)
                    for some in (cell.hits, cell.similar)
                )
                shown_cells.append(ShownAnswer(cell.word, own, similar))
            rows.append((name, shown_cells))
        ids = list(dict.fromkeys(hit.doc_id for hit in hits))
        note_audit(request, "compare", index=page.index, query=question.words, doc_ids=ids, result=len(hits))
        values |= {
            "wording": wording_of(query) or question.text,
            "chips": chips_of(understood, question, searcher),
            "table": table,
            "columns": [_name_column(searcher, field, value) for value in table.values] if table else [],
            "rows": rows,
            "choices": _list_choices(searcher, query, field, table),
        }
    return HTMLResponse(render("compare.html", values))


def _compare(
    searcher: Searcher, query: Query, field: str, chosen: tuple[str, ...], question: PageQuestion
) -> SideBySide | None:
    """Return the comparison of the chosen columns, filled up with those of the best passages; None below two."""
    for columns in (chosen, ()) if chosen else ((),):
        try:
            if len(columns) < _COLUMNS:
                first = side_by_side(searcher, query, field, k=1, where=question.where).values
                columns = (*columns, *(value for value in first if value not in columns))[:_COLUMNS]
            return side_by_side(searcher, query, field, columns, k=_HITS, where=question.where)
        except QueryError:
            # The chosen columns may be values of another field.
            continue
    return None


def _name_column(searcher: Searcher, field: str, value: str) -> tuple[str, str]:
    """Return the name of a column and the date of its document."""
    if field != DOCUMENT:
        return value, ""
    row = searcher.index.reader.row_of(value)
    if row is None:
        return value, ""
    record = searcher.index.reader.document_record(row)
    name = display_name(record.title, value, record.metadata.get("file", ""))
    return " \u00b7 ".join(filter(None, (name, record.source))), date_of(record.metadata)


def _list_choices(searcher: Searcher, query: Query, field: str, table: SideBySide | None) -> list[tuple[str, str]]:
    """Return the possible columns: values of the field, or the documents with the best passages."""
    if field == DOCUMENT:
        hits = searcher.search(query, 20, SearchOptions(group_by="document"))
        choices = {hit.doc_id: " \u00b7 ".join(filter(None, (hit.title or hit.name, hit.source))) for hit in hits}
    else:
        choices = {value: value for value in list(searcher.index.counts(field))[:_CHOICES] if value}
    for value in table.values if table else ():
        choices.setdefault(value, value)
    return list(choices.items())
