"""Identify the caller of a request by a key or token in its header, or by the cookie of a session.

A session begins when somebody types a key on the page, and ends when the browser is closed. Scripts cannot read its
cookie, it is sent to this service only, and never from another site's page (SameSite=Strict). Requests that change
something are accepted only from this site's own pages (`guard.browsers`), so forms need no token of their own. A
revoked key ends its sessions at once.
"""

from __future__ import annotations

from typing import Final

import anyio.to_thread
from fastapi import Request, Response
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.errors import ConfigError
from auscult_service.access.keys import PREFIX, KeyFile
from auscult_service.access.tokens import Tokens
from auscult_service.caller import ANYONE, NOBODY, PROBES, Caller, address_of, is_probe, no_key
from auscult_service.errors import too_many
from auscult_service.guard.fairness import Buckets
from auscult_service.layer import Layer
from auscult_service.settings import Settings


def check_binding(settings: Settings) -> None:
    """Check that the TLS certificate and its key can be read. `Settings` checks that strangers need a key.

    Raises:
        ConfigError: A file is missing, or is not a PEM file.
    """
    access = settings.access
    for what, path in (("certificate", access.certificate), ("certificate's key", access.certificate_key)):
        if path is None:
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"a TLS {what} at {path}", str(error.strerror), "correct the path") from error
        if b"-----BEGIN " not in content:
            raise ConfigError(f"a TLS {what} at {path}", "no PEM file", "convert it to PEM")


_SCHEME: Final = "bearer "
_FAILURES_PER_MINUTE: Final = 60


class Gate:
    """Identifies callers by key or token.

    Attributes:
        failures: Limit on the number of invalid keys and tokens from one address.

    Raises:
        ConfigError: The keys, the certificate or the issuer's keys cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        check_binding(settings)
        access = settings.access
        self.failures = Buckets(_FAILURES_PER_MINUTE)
        self._keys = KeyFile(settings.keys) if settings.keys is not None else None
        self._tokens: Tokens | None = None
        if access.issuer:
            self._tokens = Tokens(
                access.issuer,
                access.audience,
                access.issuer_keys,
                role_claim=access.role_claim,
                groups_claim=access.groups_claim,
            )

    @property
    def is_open(self) -> bool:
        """Whether no key is needed: a service for this machine only."""
        return self._keys is None and self._tokens is None

    async def caller(self, credential: str) -> Caller:
        """Return the holder of a key or token; `NOBODY` for an invalid or an empty one."""
        if self.is_open:
            return ANYONE
        if not credential:
            return NOBODY
        if self._keys is not None and credential.startswith(PREFIX):
            key = self._keys.find(credential)
            return NOBODY if key is None else Caller(key.name, key.role, _to_set(key.indexes), _to_set(key.groups))
        if self._tokens is not None:
            # In a thread, as it may fetch the issuer's keys.
            return await anyio.to_thread.run_sync(self._tokens.find, credential) or NOBODY
        return NOBODY


def _to_set(names: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)


_PLAIN: Final = "auscult_session"
_SECURE: Final = "__Host-auscult_session"
_LONGEST_KEY: Final = 4_000


async def sign_in(request: Request, credential: str, response: Response) -> bool:
    """Begin a session with a valid key or token, by a cookie in the response. Return whether it was valid.

    In both cases the audit log records a "login".

    Raises:
        Refusal: Too many invalid keys or tokens came from this address.
    """
    gate: Gate = request.app.state.gate
    credential = credential.strip()
    caller: Caller = await gate.caller(credential) if len(credential) <= _LONGEST_KEY else NOBODY
    request.state.audit = {"action": "login", "result": int(caller != NOBODY)}
    if caller == NOBODY:
        wait = gate.failures.take(address_of(request.scope))
        if wait:
            raise too_many(wait)
        return False
    request.state.caller = caller
    secure = _is_secure(request.scope)
    response.set_cookie(
        _SECURE if secure else _PLAIN, credential, httponly=True, samesite="strict", secure=secure, path="/"
    )
    return True


def sign_out(request: Request, response: Response) -> None:
    """End the session, by deleting its cookie in the response."""
    request.state.audit = {"action": "logout"}
    secure = _is_secure(request.scope)
    name = _SECURE if secure else _PLAIN
    response.delete_cookie(name, httponly=True, samesite="strict", secure=secure, path="/")


def credential_in(scope: Scope) -> str:
    """Return the key or token in the header of a request, else that of its session; empty for none."""
    authorization = Headers(scope=scope).get("authorization")
    # A key in the header comes before the session, even if it is invalid.
    if authorization is not None:
        return authorization[len(_SCHEME) :].strip() if authorization[: len(_SCHEME)].lower() == _SCHEME else ""
    return Request(scope).cookies.get(_SECURE if _is_secure(scope) else _PLAIN, "")


def _is_secure(scope: Scope) -> bool:
    return str(scope.get("scheme", "http")) == "https"


PUBLIC: Final = PROBES | {"/openapi.json"}
"""Paths that need no key, as they reveal nothing about the documents."""
LOGIN: Final = "/login"
_READING: Final = frozenset({"GET", "HEAD"})


class Gatekeeper(Layer):
    """Puts the caller into the state of a request.

    Pages may be requested without a key: they redirect to the login. Everything else needs a key, before its body is
    read.
    """

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        super().__init__(app)
        self._gate = gate

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        state = scope.setdefault("state", {})
        # Keys of probes are not checked, so a caller with too many invalid ones still gets an answer.
        credential = "" if is_probe(scope) else credential_in(scope)
        caller = state["caller"] = NOBODY if is_probe(scope) else await self._gate.caller(credential)
        if caller == NOBODY:
            wait = self._gate.failures.take(address_of(scope)) if credential else 0.0
            if wait:
                raise too_many(wait)
            path = scope["path"]
            is_page = scope["method"] in _READING and not path.startswith("/api/") and path != "/metrics"
            if not (path in PUBLIC or path == LOGIN or is_page):
                if "text/html" in Headers(scope=scope).get("accept", "") and not path.startswith("/api/"):
                    # A form that was sent after the session had ended.
                    state["audit"] = {"action": "refused"}
                    await RedirectResponse(LOGIN, 303)(scope, receive, send)
                    return
                raise no_key()
        await self.app(scope, receive, send)
