"""Who asks, and what they may: every route asks here before it does anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import Depends, Request
from starlette.types import Scope

from auscult.service.errors import Refusal

Role = Literal["read", "write", "admin"]
_RANKS: Final = {"read": 0, "write": 1, "admin": 2}


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who asks.

    Attributes:
        name: That the audit log knows them by; empty for nobody in particular.
        role: "read" asks and judges, "write" adds and removes documents, too, "admin" sees everything of the service.
        indexes: Names of those that they may ask; None for all.
        groups: Whose documents they see, beside those that are everybody's; None for all documents.
    """

    name: str
    role: Role
    indexes: frozenset[str] | None = None
    groups: frozenset[str] | None = None


ANYONE: Final = Caller("", "admin")
"""Whoever sits at this machine, where the service has no keys and only this machine reaches it."""
NOBODY: Final = Caller("", "read", frozenset(), frozenset())
"""Who has shown no key where one is needed: may ask nothing."""


async def asking(request: Request) -> Caller:
    """Return the caller whom the guard has found, or anyone where there is no guard."""
    caller: Caller = getattr(request.state, "caller", ANYONE)
    return caller


def address_of(scope: Scope) -> str:
    """Return the address that a request comes from; empty where it is not known."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def asker_of(scope: Scope) -> str:
    """Return the name that limits count a request by: the caller's, else the address."""
    name = getattr(scope.get("state", {}).get("caller"), "name", "")
    return f"caller {name}" if name else f"address {address_of(scope)}"


PROBES: Final = frozenset({"/api/v1/health", "/api/v1/ready"})
"""Addresses that are answered whoever asks, and however often: whoever restarts a service has to hear that it lives."""


def is_probe(scope: Scope) -> bool:
    """Check whether a request only asks for the state of the service. It costs neither a thread nor a look at a key."""
    return scope["method"] == "GET" and scope["path"] in PROBES


Asking = Annotated[Caller, Depends(asking)]
"""A route's argument of who asks."""


def allowed(caller: Caller, role: Role, index: str | None = None) -> None:
    """Let a caller go on who may do what a role does; with an index, there.

    Raises:
        Refusal: 401 for nobody, 403 for others who may not. An index that a caller may not ask is as one that is not
            there (404), so that names are not told.
    """
    if caller == NOBODY:
        raise no_key()
    if _RANKS[caller.role] < _RANKS[role]:
        raise Refusal(
            403,
            "not_allowed",
            f"expected a key that may {_DEEDS[role]}, got one that may {_DEEDS[caller.role]}",
            "ask whoever runs this service for such a key",
        )
    if index is not None and caller.indexes is not None and index not in caller.indexes:
        raise unknown_index()


def may_upload(caller: Caller, changes: bool) -> None:
    """Let a caller go on who may upload, before it is known to which index.

    Args:
        caller: Who asks.
        changes: Whether the service takes changes.

    Raises:
        Refusal: They may not, or nobody may.
    """
    allowed(caller, "write")
    if not changes:
        message = "expected a service that takes changes, got one that is read only"
        raise Refusal(403, "read_only", message, "change the index where it is made: auscult add, auscult remove")


_DEEDS: Final = {"read": "ask", "write": "add and remove documents", "admin": "administer"}


def no_key() -> Refusal:
    """Return the refusal of a caller without a key."""
    return Refusal(
        401,
        "no_key",
        "expected a key of this service, got none that it knows",
        "send the header 'Authorization: Bearer KEY' with a key from whoever runs this service",
        {"WWW-Authenticate": "Bearer"},
    )


def unknown_index() -> Refusal:
    """Return the refusal of an index that is not there for this caller."""
    return Refusal(
        404, "unknown_index", "expected the name of an index that you may ask, got another", "see GET /api/v1/indexes"
    )
