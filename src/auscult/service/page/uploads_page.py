"""Adding documents: files are dropped or chosen, and a page follows what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from auscult.service import models
from auscult.service.caller import Asking, allowed
from auscult.service.errors import Refusal
from auscult.service.jobs import ENDED
from auscult.service.page.asking import Asked, document_path
from auscult.service.page.context import context_of
from auscult.service.page.rendering import rendered
from auscult.service.routes import uploads
from auscult.service.routes.answers import Stated, adapter_of

router = APIRouter(include_in_schema=False)
_SHOWN = 50


@router.get("/add")
def form(request: Request, caller: Asking, state: Stated, index: str = "") -> Response:
    """Where files are chosen, or dropped."""
    allowed(caller, "write", index or None)
    page = context_of(request, state, caller, "add", index)
    groups = sorted(caller.groups) if caller.groups is not None else []
    limits = state.settings.limits
    values = {
        "page": page,
        "asked": Asked(index=index),
        "groups": groups,
        "most": limits.files,
        "megabytes": limits.upload // 1_000_000,
        "notice": "",
    }
    return HTMLResponse(rendered("add.html", values))


@router.post("/add")
def add(
    request: Request,
    caller: Asking,
    state: Stated,
    files: Annotated[list[UploadFile] | None, File()] = None,
    index: Annotated[str, Form(max_length=64)] = "",
    access: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Take files on, as the API does, and show what becomes of them."""
    named = [file for file in files or [] if file.filename]
    if not named:
        raise Refusal(422, "no_files", "no file was chosen", "go back and choose one, or drop some on the page")
    answer = uploads.upload(request, caller, state, named, index or None, access)
    return RedirectResponse(f"/jobs/{answer.headers['Location'].rpartition('/')[2]}", 303)


@router.get("/jobs")
def jobs(request: Request, caller: Asking, state: Stated) -> Response:
    """Uploads and what became of them, the last one first."""
    listed = adapter_of(models.JobList).validate_json(bytes(uploads.jobs(request, caller, state).body)).jobs
    page = context_of(request, state, caller, "jobs")
    values = {"page": page, "asked": Asked(), "jobs": listed[:_SHOWN]}
    return HTMLResponse(rendered("jobs.html", values))


@router.get("/jobs/{job_id}")
def job(request: Request, job_id: str, caller: Asking, state: Stated) -> Response:
    """How far one upload is: what was read, what was skipped and why."""
    told = adapter_of(models.JobTold).validate_json(bytes(uploads.job(request, job_id, caller).body))
    page = replace(context_of(request, state, caller, "jobs", told.index))
    titles = [(doc_id, document_path(told.index, doc_id)) for doc_id in told.doc_ids[:_SHOWN]]
    values = {
        "page": page,
        "asked": Asked(index=told.index),
        "job": told,
        "ended": told.standing in ENDED,
        "documents": titles,
        "further": max(0, len(told.doc_ids) - _SHOWN),
    }
    return HTMLResponse(rendered("job.html", values))
