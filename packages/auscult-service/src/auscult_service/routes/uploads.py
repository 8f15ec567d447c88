"""Routes to upload documents, follow the jobs that index them, and remove documents."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Final

from fastapi import APIRouter, File, Form, Path, Request, Response, UploadFile

from auscult import schema
from auscult.errors import DataError, IndexBusyError
from auscult.index import IndexUpdate
from auscult.index.fields import groups_in
from auscult.index.reader import open_current
from auscult.ingest.updating import remove_from
from auscult_service.caller import Asking, Caller, check_allowed, check_upload
from auscult_service.errors import Refusal, busy, disk_refusal
from auscult_service.jobs import Jobs, keep, place_for
from auscult_service.placing import access_field, can_be_written
from auscult_service.routes import ERRORS, DocId, IndexQuery, Stated, note_audit, row_of, to_response
from auscult_service.state import Served, State

router = APIRouter(tags=["documents"])
_PATIENCE: Final = 10.0


@router.post("/documents", status_code=202, response_model=schema.JobTold, responses=ERRORS)
def upload(
    request: Request,
    caller: Asking,
    state: Stated,
    files: Annotated[
        list[UploadFile], File(description="PDF, office files, mail, HTML, XML, FHIR, Markdown, notes, tables, zip.")
    ],
    index: Annotated[str | None, Form(max_length=64)] = None,
    access: Annotated[
        str,
        Form(
            max_length=1_000,
            description="Groups that see them, between commas; empty for everybody who may ask the index.",
        ),
    ] = "",
) -> Response:
    """Add files to an index. They are read and indexed in the background; the job in the answer has the progress."""
    note_audit(request, "upload", index=index)
    served = _find_changeable(state, caller, index)
    groups = _choose_groups(caller, access)
    jobs: Jobs = request.app.state.jobs
    if len(files) > state.settings.limits.files:
        message = f"expected at most {state.settings.limits.files} files at once, got more"
        raise Refusal(413, "too_many_files", message, "upload some of them, then the others, or a zip archive")
    try:
        with jobs.receiving() as (job_id, folder):
            for file in files:
                keep(file.file, place_for(folder, file.filename or ""))
            job = jobs.begin(job_id, served.name, caller, access_field(groups), len(files))
    except (OSError, DataError) as error:
        raise disk_refusal(error) from error
    note_audit(request, "upload", index=served.name, result=job.job_id)
    answer = to_response(job, 202)
    answer.headers["Location"] = f"/api/v1/jobs/{job.job_id}"
    return answer


@router.get("/jobs", response_model=schema.JobList, responses=ERRORS)
def jobs(request: Request, caller: Asking, state: Stated) -> Response:
    """Upload jobs, newest first: the caller's own, or for an admin those of all callers."""
    return to_response(schema.JobList(jobs=visible_jobs(request, caller)))


@router.get("/jobs/{job_id}", response_model=schema.JobTold, responses=ERRORS)
def job(request: Request, job_id: Annotated[str, Path(max_length=64)], caller: Asking) -> Response:
    """Progress and result of one upload."""
    return to_response(visible_job(request, job_id, caller))


@router.delete("/documents/{doc_id:path}", response_model=schema.Removed, responses=ERRORS)
def remove(request: Request, doc_id: DocId, caller: Asking, state: Stated, index: IndexQuery = None) -> Response:
    """Remove a document. After the answer it is no longer found."""
    note_audit(request, "delete", index=index, doc_ids=[doc_id])
    served = _find_changeable(state, caller, index)
    row_of(served.opened.seen_by(caller.groups).index.reader, doc_id)
    if not served.changing.acquire(timeout=_PATIENCE):
        raise busy()
    try:
        with IndexUpdate(served.folder) as update:
            # Check again under the lock: another process may have hidden the document meanwhile.
            with closing(open_current(served.folder)) as reader:
                row_of(reader if caller.groups is None else reader.seen_by(caller.groups), doc_id)
            remove_from(update, [doc_id])
            update.commit()
    except IndexBusyError as error:
        raise busy() from error
    finally:
        served.changing.release()
    state.refresh(served.name)
    note_audit(request, "delete", index=served.name, doc_ids=[doc_id], result=1)
    return to_response(schema.Removed(doc_id=doc_id))


def visible_jobs(request: Request, caller: Caller) -> list[schema.JobTold]:
    """Return the jobs that a caller may see, newest first, and note that for the audit log.

    Raises:
        Refusal: The caller may not upload.
    """
    note_audit(request, "jobs")
    check_allowed(caller, "write")
    jobs: Jobs = request.app.state.jobs
    return [job for job in jobs.all() if _may_see(caller, job)]


def visible_job(request: Request, job_id: str, caller: Caller) -> schema.JobTold:
    """Return a job that a caller may see, and note that for the audit log.

    Raises:
        Refusal: The caller may not upload, or sees no such job.
    """
    for job in visible_jobs(request, caller):
        if job.job_id == job_id:
            return job
    raise Refusal(404, "unknown_job", "expected the id of a job of yours, got another", "see GET /api/v1/jobs")


def _find_changeable(state: State, caller: Caller, index: str | None) -> Served:
    """Return an index that the caller may change.

    Raises:
        Refusal: The caller may not change it, or the service is read-only.
    """
    check_allowed(caller, "write", index)
    check_upload(caller, state.settings.changes)
    return state.served(index, caller)


def _choose_groups(caller: Caller, access: str) -> frozenset[str]:
    """Return the groups that uploaded documents are for. The default is the caller's group, if they have exactly one.

    Raises:
        Refusal: The request names other groups than the caller's, or none although the caller has several.
    """
    named = groups_in(access)
    if not access.strip():
        # A caller without groups sees and adds documents for everybody.
        if not caller.groups:
            return frozenset()
        if len(caller.groups) == 1 and can_be_written(caller.groups):
            return caller.groups
    elif named and (caller.groups is None or named <= caller.groups):
        return named
    raise Refusal(
        422,
        "bad_group",
        "expected groups of yours in 'access', got others or none",
        "name the groups that are to see them",
    )


def _may_see(caller: Caller, job: schema.JobTold) -> bool:
    """Return whether a job is the caller's own, or the caller is an admin who sees its index and its documents."""
    if caller.indexes is not None and job.index not in caller.indexes:
        return False
    groups = groups_in(job.access)
    if job.caller == caller.name:
        # An earlier key with the same name may have had other groups.
        return caller.groups is None or not groups or not groups.isdisjoint(caller.groups)
    return caller.role == "admin" and (caller.groups is None or not groups.isdisjoint(caller.groups))
