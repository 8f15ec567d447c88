"""Where a key is typed once, and where a session ends."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from auscult.service.access.sessions import sign_in, sign_out
from auscult.service.caller import Asking, Caller
from auscult.service.page.asking import Asked
from auscult.service.page.context import context_of
from auscult.service.page.purposes import USUAL, keep_purpose
from auscult.service.page.rendering import rendered
from auscult.service.page.routing import own_path
from auscult.service.routes.answers import Stated
from auscult.service.state import State

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login(request: Request, caller: Asking, state: Stated, next: str = "/") -> Response:  # noqa: A002
    """The field for a key."""
    return _form(request, state, caller, next, wrong=False)


@router.post("/login")
async def enter(
    request: Request,
    caller: Asking,
    state: Stated,
    key: Annotated[str, Form(max_length=16_384)] = "",
    next: Annotated[str, Form(max_length=8_000)] = "/",  # noqa: A002
    purpose: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Begin a session, and go on to what was wanted; or ask again."""
    answer = RedirectResponse(own_path(next), 303)
    if await sign_in(request, key, answer):
        keep_purpose(answer, purpose, secure=request.url.scheme == "https")
        return answer
    return _form(request, state, caller, next, wrong=True)


@router.post("/logout")
async def leave(request: Request) -> Response:
    """End the session."""
    answer = RedirectResponse("/login", 303)
    sign_out(request, answer)
    keep_purpose(answer, "", secure=False)
    return answer


def _form(request: Request, state: State, caller: Caller, wanted: str, *, wrong: bool) -> Response:
    page = context_of(request, state, caller, "login")
    values = {"page": page, "asked": Asked(), "next": own_path(wanted), "wrong": wrong}
    values["purposes"] = USUAL if state.settings.audit else ()
    return HTMLResponse(rendered("login.html", values), 401 if wrong else 200)
