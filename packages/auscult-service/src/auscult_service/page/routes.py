"""Add the page to an app, with its static files and forms: log in, judge a hit, add documents, theme and language."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Final, Literal

from fastapi import APIRouter, FastAPI, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from auscult_service.access.gate import sign_in, sign_out
from auscult_service.caller import Asking, Caller, check_allowed
from auscult_service.errors import Refusal
from auscult_service.jobs import ENDED
from auscult_service.models import FeedbackRequest
from auscult_service.page import document_page, patients_page, saved_page, search_page, tables
from auscult_service.page.asking import PageQuestion, document_path
from auscult_service.page.context import THEMES, USUAL, Purposes, context_of, keep_purpose
from auscult_service.page.language import COOKIE, LANGUAGES
from auscult_service.page.templating import render
from auscult_service.page.troubles import WORDS, Troubles
from auscult_service.page.words import HEADINGS, STANDINGS
from auscult_service.routes import Stated, search, uploads
from auscult_service.state import State

router = APIRouter(include_in_schema=False)
_KINDS: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_A_YEAR: Final = 31_536_000


def add_page(app: FastAPI) -> None:
    """Add the page to a service."""
    for page in (search_page, document_page, tables, patients_page, saved_page):
        app.include_router(page.router)
    app.include_router(router)


def add_page_guards(app: FastAPI) -> None:
    """Add the middleware for purposes and for errors as pages."""
    app.add_middleware(Purposes)
    app.add_middleware(Troubles)


@router.get("/static/{name}")
def static(name: str, v: str = "") -> Response:
    """Return a static file of the page. Browsers may store it if its URL has a version, which its content gives."""
    folder = files("auscult_service.page") / "static"
    if name not in {each.name for each in folder.iterdir()} or name.rpartition(".")[2] not in _KINDS:
        return PlainTextResponse("There is no such file.", 404)
    kind = _KINDS[name.rpartition(".")[2]]
    # Scripts import others without a version.
    stored = f"public, max-age={_A_YEAR}, immutable" if v else "no-cache"
    headers = {"Cache-Control": stored, "X-Content-Type-Options": "nosniff"}
    return Response((folder / name).read_bytes(), headers=headers, media_type=f"{kind}; charset=utf-8")


@router.get("/theme")
def theme(request: Request, to: str = "", next: str = "/") -> Response:  # noqa: A002 - a name of an address
    """Store the theme in a cookie, and go back."""
    answer = RedirectResponse(own_path(next), 303)
    if to in THEMES:
        answer.set_cookie("theme", to, max_age=_A_YEAR, samesite="lax")
    else:
        answer.delete_cookie("theme")
    return answer


@router.get("/language")
def language(request: Request, to: str = "", next: str = "/") -> Response:  # noqa: A002 - a name of an address
    """Store the language in a cookie, and go back. Another one than the page's leaves the choice to the browser."""
    answer = RedirectResponse(own_path(next), 303)
    if to in LANGUAGES:
        answer.set_cookie(COOKIE, to, max_age=_A_YEAR, samesite="lax")
    else:
        answer.delete_cookie(COOKIE)
    return answer


@router.get("/login")
async def login(request: Request, caller: Asking, state: Stated, next: str = "/") -> Response:  # noqa: A002
    """Show the login form."""
    return _login_form(request, state, caller, next, wrong=False)


@router.post("/login")
async def enter(
    request: Request,
    caller: Asking,
    state: Stated,
    key: Annotated[str, Form(max_length=16_384)] = "",
    next: Annotated[str, Form(max_length=8_000)] = "/",  # noqa: A002
    purpose: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Begin a session and go to the requested page, or show the form again."""
    answer = RedirectResponse(own_path(next), 303)
    if await sign_in(request, key, answer):
        keep_purpose(answer, purpose, secure=request.url.scheme == "https")
        return answer
    return _login_form(request, state, caller, next, wrong=True)


@router.post("/logout")
async def leave(request: Request) -> Response:
    """End the session."""
    answer = RedirectResponse("/login", 303)
    sign_out(request, answer)
    keep_purpose(answer, "", secure=False)
    return answer


def _login_form(request: Request, state: State, caller: Caller, wanted: str, *, wrong: bool) -> Response:
    page = context_of(request, state, caller, "login")
    values = {"page": page, "question": PageQuestion(), "next": own_path(wanted), "wrong": wrong}
    values["purposes"] = USUAL if state.settings.audit else ()
    return HTMLResponse(render("login.html", values), 401 if wrong else 200)


@router.post("/feedback")
def judge(
    request: Request,
    caller: Asking,
    state: Stated,
    answers: Annotated[Literal["yes", "no"], Form()],
    document: Annotated[str, Form(max_length=2_000)],
    passage: Annotated[str, Form(max_length=2_000)],
    q: Annotated[str, Form(max_length=2_000)] = "",
    e: Annotated[str, Form(max_length=2_000)] = "",
    a: Annotated[list[str] | None, Form(max_length=16)] = None,
    index: Annotated[str, Form(max_length=64)] = "",
    next: Annotated[str, Form(max_length=8_000)] = "/",  # noqa: A002 - a name of a form's field
) -> Response:
    """Store a judgement and go back to the hit. A request for JSON is answered like one to the API."""
    body = FeedbackRequest(
        question="" if e or a else q,
        entity=e,
        aspects=a or [],
        index=index or None,
        doc_id=document,
        passage_id=passage,
        relevance=1 if answers == "yes" else 0,
        span=None,
    )
    answer = search.feedback(request, body, caller, state)
    if "application/json" in request.headers.get("accept", ""):
        return answer
    return RedirectResponse(own_path(next), 303)


_MOST_SHOWN = 50


@router.get("/add")
def upload_form(request: Request, caller: Asking, state: Stated, index: str = "") -> Response:
    """Show the form for uploads."""
    check_allowed(caller, "write", index or None)
    page = context_of(request, state, caller, "add", index)
    groups = sorted(caller.groups) if caller.groups is not None else []
    limits = state.settings.limits
    values = {
        "page": page,
        "question": PageQuestion(index=index),
        "groups": groups,
        "most": limits.files,
        "megabytes": limits.upload // 1_000_000,
        "notice": "",
    }
    return HTMLResponse(render("add.html", values))


@router.post("/add")
def add_files(
    request: Request,
    caller: Asking,
    state: Stated,
    files: Annotated[list[UploadFile] | None, File()] = None,
    index: Annotated[str, Form(max_length=64)] = "",
    access: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Upload files as the API does, and show the job."""
    named = [file for file in files or [] if file.filename]
    if not named:
        raise Refusal(422, "no_files", "no file was chosen", "go back and choose one, or drop some on the page")
    answer = uploads.upload(request, caller, state, named, index or None, access)
    return RedirectResponse(f"/jobs/{answer.headers['Location'].rpartition('/')[2]}", 303)


@router.get("/jobs")
def jobs(request: Request, caller: Asking, state: Stated) -> Response:
    """Show the upload jobs, newest first."""
    listed = uploads.visible_jobs(request, caller)
    page = context_of(request, state, caller, "jobs")
    values = {"page": page, "question": PageQuestion(), "jobs": listed[:_MOST_SHOWN], "standings": STANDINGS}
    return HTMLResponse(render("jobs.html", values))


@router.get("/jobs/{job_id}")
def job(request: Request, job_id: str, caller: Asking, state: Stated) -> Response:
    """Show the progress of one upload: what was read, and what was skipped and why."""
    upload = uploads.visible_job(request, job_id, caller)
    page = context_of(request, state, caller, "jobs", upload.index)
    titles = [(doc_id, document_path(upload.index, doc_id)) for doc_id in upload.doc_ids[:_MOST_SHOWN]]
    values = {
        "page": page,
        "question": PageQuestion(index=upload.index),
        "job": upload,
        "heading": HEADINGS[upload.standing],
        "words": WORDS.get(upload.code),
        "ended": upload.standing in ENDED,
        "documents": titles,
        "further": max(0, len(upload.doc_ids) - _MOST_SHOWN),
    }
    return HTMLResponse(render("job.html", values))


def own_path(wanted: str) -> str:
    """Return a path if it is on this service; else the start page."""
    leads_here = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if leads_here else "/"
