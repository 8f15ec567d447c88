"""Errors of the service, which all have one form.

    {"error": {"code": "...", "message": "expected ..., got ...", "remedy": "...", "request_id": "..."}}

A message describes the input by its kind and place, and never repeats it: a question may be about a patient, and
answers end up in other people's logs.
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from auscult.errors import (
    AuscultError,
    ConfigError,
    CorpusMissingError,
    DataError,
    EngineError,
    IndexBusyError,
    IndexFolderError,
    MissingExtraError,
    ModelError,
    QueryError,
    ShareAwayError,
)

_RUNNING: Final = "ask whoever runs this service to look into it, with the request's id"
#: Faults of the service. Their details are not shown, as they may contain paths of this machine.
_OURS: Final[Mapping[type[AuscultError], tuple[int, str, str, str]]] = {
    IndexFolderError: (503, "index_unavailable", "expected an index that is whole, got another", _RUNNING),
    EngineError: (503, "engine_unavailable", "expected the index' server to answer, got no answer", _RUNNING),
    MissingExtraError: (501, "not_installed", "expected a part of auscult that is not installed here", _RUNNING),
    CorpusMissingError: (503, "data_missing", "expected data that is not on this machine", _RUNNING),
}
_THEIRS: Final[Mapping[type[AuscultError], tuple[int, str]]] = {
    QueryError: (422, "bad_query"),
    ModelError: (422, "cannot_encode"),
    DataError: (422, "bad_data"),
    ConfigError: (422, "bad_option"),
}
_BY_STATUS: Final = {
    401: ("no_key", "expected a key of this service, got none", "send the header 'Authorization: Bearer KEY'"),
    404: ("not_found", "expected an address of this service, got another", "see /openapi.json for all of them"),
    405: ("method_not_allowed", "expected a method that this address takes, got another", "see the header Allow"),
    413: ("too_large", "expected a smaller request, got one beyond the limit", "send less at once"),
    429: ("too_many", "expected fewer requests, got more than the limit", "wait as long as Retry-After says"),
}
# Messages of errors have the user's words in quotes or parentheses.
_QUOTED: Final = re.compile(r"\s*(?:'[^']*'|\"[^\"]*\"|\([^()]*\))")


class Refusal(Exception):  # noqa: N818 - it is an answer, rather than an error
    """An error that is the answer to a request.

    Args:
        status: HTTP status.
        code: A word by which programs recognise the error.
        message: "expected ..., got ...", without anything that the caller wrote.
        remedy: What to do about it.
        headers: Further headers of the response.
    """

    def __init__(
        self, status: int, code: str, message: str, remedy: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.message, self.remedy = status, code, message, remedy
        self.headers = dict(headers or {})


def error_response(refusal: Refusal, request_id: str) -> JSONResponse:
    """Convert a refusal to a response."""
    said = {
        "code": refusal.code, "message": refusal.message, "remedy": refusal.remedy, "request_id": request_id,
    }  # fmt: skip
    return JSONResponse({"error": said}, refusal.status, refusal.headers)


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with a refusal, from a middleware."""
    request_id = str(scope.get("state", {}).get("request_id", ""))
    await error_response(refusal, request_id)(scope, receive, send)


def too_many(wait: float) -> Refusal:
    """Return the refusal for a caller who sends too many requests; `wait` is in seconds."""
    headers = {"Retry-After": str(max(1, math.ceil(wait)))}
    message = "expected fewer requests, got more than the limit"
    return Refusal(429, "too_many", message, "wait as long as Retry-After says", headers)


def refusal_of(error: AuscultError) -> Refusal:
    """Convert an error of the package to a refusal, without paths of this machine and without the user's words."""
    if isinstance(error, IndexBusyError):
        return busy()
    if is_full(error):
        return disk_refusal(error)
    if isinstance(error, ShareAwayError):
        message = f"expected share {error.share + 1} of {error.shares} of the index to answer, got no answer"
        return Refusal(503, "engine_unavailable", message, _RUNNING, {"Retry-After": "5"})
    for kind, (status, code, message, remedy) in _OURS.items():
        if isinstance(error, kind):
            # A server that does not answer usually comes back by itself.
            return Refusal(status, code, message, remedy, {"Retry-After": "5"} if kind is EngineError else None)
    status, code = next((found for kind, found in _THEIRS.items() if isinstance(error, kind)), (400, "bad_request"))
    expected, remedy = (_QUOTED.sub("", said).strip() for said in (error.expected, error.remedy))
    if expected != error.expected and remedy.endswith("these"):
        # The remedy would list values of documents.
        remedy = "see GET /api/v1/fields for what there is"
    return Refusal(status, code, f"expected {expected}, got something else", remedy)


def busy() -> Refusal:
    """Return the refusal while another process changes the index."""
    message = "expected an index that nobody changes just now, got one at work"
    return Refusal(409, "busy", message, "try again in a minute", {"Retry-After": "30"})


def is_full(error: BaseException | None) -> bool:
    """Check whether an error was caused by a full disk or an exhausted quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__
    return False


def disk_refusal(error: Exception) -> Refusal:
    """Return the refusal when a file could not be written."""
    if is_full(error):
        message = "expected room on the service's disk, got none"
        return Refusal(507, "no_space", message, "ask whoever runs this service to free some")
    message = "expected to be able to keep what was sent, got a refusal of the service's disk"
    return Refusal(503, "cannot_keep", message, "ask whoever runs this service to look at its data folder")


def add_errors(app: FastAPI) -> None:
    """Register the handlers that give all errors of an app their one form."""

    async def refused(request: Request, error: Exception) -> JSONResponse:
        return error_response(to_refusal(error), str(getattr(request.state, "request_id", "")))

    for kind in (Refusal, AuscultError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, refused)


def to_refusal(error: Exception) -> Refusal:
    """Convert any exception to a refusal."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, AuscultError):
        return refusal_of(error)
    if isinstance(error, RequestValidationError):
        return invalid(error.errors())
    if is_full(error):
        # The body could not be stored; the framework reports that as an unreadable body.
        return disk_refusal(error)
    if isinstance(error, HTTPException):
        other = ("refused", "expected another request, got this one", "see /openapi.json for what is taken")
        code, message, remedy = _BY_STATUS.get(error.status_code, other)
        return Refusal(error.status_code, code, message, remedy, error.headers)
    return unforeseen()


def unforeseen() -> Refusal:
    """Return the refusal for a bug of the service."""
    return Refusal(500, "internal", "expected to answer, got a fault of this service", _RUNNING)


def invalid(errors: Iterable[Mapping[str, Any]]) -> Refusal:
    """Return a refusal that names the invalid field of a request and what it should be, but never its value."""
    first = next(iter(errors), {})
    kind = str(first.get("type", ""))
    if kind in ("json_invalid", "json_type"):
        return Refusal(400, "bad_json", "expected a body of JSON (UTF-8), got something else", "send JSON")
    names = [str(part) for part in first.get("loc", ())]
    where = names[0] if names else "request"
    # Deeper names may be the caller's own words: unknown fields, or free keys.
    if len(names) > 1 and kind != "extra_forbidden":
        where = f"{where}, field '{names[1]}'" if _FIELD.fullmatch(names[1]) else where
    if kind == "extra_forbidden":
        return Refusal(
            422, "invalid", f"expected known fields only in the {where}, got another", "see /openapi.json for them"
        )
    # The figures of the limit; a missing one stays blank.
    context = first.get("ctx")
    given = context if isinstance(context, Mapping) else {}
    figures = {name: given.get(name, "") for name in ("max_length", "min_length", "ge", "le", "expected")}
    wanted = _WANTED.get(kind, "").format(**figures) or "a value of its kind and within its limits"
    what = "nothing" if kind == "missing" else "something else"
    return Refusal(422, "invalid", f"expected {wanted} in the {where}, got {what}", "see /openapi.json for the fields")


_FIELD: Final = re.compile(r"[a-z_]{1,32}")
_WANTED: Final = {
    "missing": "a value",
    "string_type": "text",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_pattern_mismatch": "text of the documented form",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "too_long": "at most {max_length} of them",
    "list_type": "a list",
    "dict_type": "an object",
    "model_attributes_type": "an object of JSON (with Content-Type: application/json)",
    "literal_error": "one of {expected}",
}
