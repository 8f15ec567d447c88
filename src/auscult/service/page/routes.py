"""The page is put into an app: its addresses, its files, and what goes wrong as a page."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from auscult.service.page import (
    compare_page,
    completing,
    coverage_page,
    document_page,
    exporting,
    judging,
    login_page,
    search_page,
    sheets,
    uploads_page,
)
from auscult.service.page.context import THEMES
from auscult.service.page.purposes import Purposes
from auscult.service.page.routing import own_path
from auscult.service.page.troubles import Troubles

router = APIRouter(include_in_schema=False)
_KINDS: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_A_YEAR: Final = 31_536_000
_ROOMS: Final = (
    search_page, completing, document_page, sheets, coverage_page, compare_page, exporting, judging, uploads_page,
    login_page,
)  # fmt: skip


def add_page(app: FastAPI) -> None:
    """Add the page to a service."""
    for room in _ROOMS:
        app.include_router(room.router)
    app.include_router(router)
    app.add_middleware(Purposes)
    app.add_middleware(Troubles)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """A file of the page; its address changes with its content."""
    folder = files("auscult.service.page") / "static"
    if name not in {each.name for each in folder.iterdir()} or name.rpartition(".")[2] not in _KINDS:
        return PlainTextResponse("There is no such file.", 404)
    kind = _KINDS[name.rpartition(".")[2]]
    headers = {"Cache-Control": f"public, max-age={_A_YEAR}, immutable", "X-Content-Type-Options": "nosniff"}
    return Response((folder / name).read_bytes(), headers=headers, media_type=f"{kind}; charset=utf-8")


@router.get("/theme")
def theme(request: Request, to: str = "", next: str = "/") -> Response:  # noqa: A002 - a name of an address
    """Keep how somebody likes the page to look, and go back."""
    answer = RedirectResponse(own_path(next), 303)
    if to in THEMES:
        answer.set_cookie("theme", to, max_age=_A_YEAR, samesite="lax")
    else:
        answer.delete_cookie("theme")
    return answer
