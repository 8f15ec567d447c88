"""The caller of a request and what they may do. Every route checks this before anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import Depends, Request
from starlette.types import Scope

from auscult_service.errors import Refusal

Role = Literal["read", "write", "admin"]
_RANKS: Final = {"read": 0, "write": 1, "admin": 2}


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request.

    Attributes:
        name: Their name in the audit log; empty for an anonymous caller.
        role: "read" may search and judge; "write" may also add and remove documents; "admin" may do everything.
        indexes: Names of the indexes that they may search; None for all.
        groups: Groups whose documents they see, besides documents without a group; None for all documents.
    """

    name: str
    role: Role
    indexes: frozenset[str] | None = None
    groups: frozenset[str] | None = None


ANYONE: Final = Caller("", "admin")
"""Anyone on this machine, for a service that has no keys and that only this machine can reach."""
NOBODY: Final = Caller("", "read", frozenset(), frozenset())
"""A caller without a valid key where one is required; they may do nothing."""


async def asking(request: Request) -> Caller:
    """Return the caller that the gate has identified, or `ANYONE` for an app without a gate."""
    caller: Caller = getattr(request.state, "caller", ANYONE)
    return caller


def address_of(scope: Scope) -> str:
    """Return the IP address that a request comes from; empty where it is not known."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def asker_of(scope: Scope) -> str:
    """Return the name under which limits count a request: the caller's name, else the address."""
    name = getattr(scope.get("state", {}).get("caller"), "name", "")
    return f"caller {name}" if name else f"address {address_of(scope)}"


PROBES: Final = frozenset({"/api/v1/health", "/api/v1/ready"})
"""Paths that are answered without key or rate limit, as whatever restarts a service must see that it is alive."""


def is_probe(scope: Scope) -> bool:
    """Check whether a request only reads the state of the service. It costs neither a thread nor a look at a key."""
    return scope["method"] == "GET" and scope["path"] in PROBES


Asking = Annotated[Caller, Depends(asking)]
"""Type of a route's parameter for the caller."""


def check_allowed(caller: Caller, role: Role, index: str | None = None) -> None:
    """Check that a caller has a role, and may use an index where one is named.

    Raises:
        Refusal: 401 without a key; 403 without the role. An index that the caller may not use looks like one that does
            not exist (404), so that names are not revealed.
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


def check_upload(caller: Caller, changes: bool) -> None:
    """Check that a caller may upload, before the index is known.

    Args:
        caller: Who wants to upload.
        changes: Whether the service accepts changes.

    Raises:
        Refusal: The caller has no such role, or the service is read-only.
    """
    check_allowed(caller, "write")
    if not changes:
        message = "expected a service that takes changes, got one that is read only"
        raise Refusal(403, "read_only", message, "change the index where it is made: auscult add, auscult remove")


_DEEDS: Final = {"read": "ask", "write": "add and remove documents", "admin": "administer"}


def no_key() -> Refusal:
    """Return the refusal for a caller without a key."""
    return Refusal(
        401,
        "no_key",
        "expected a key of this service, got none that it knows",
        "send the header 'Authorization: Bearer KEY' with a key from whoever runs this service",
        {"WWW-Authenticate": "Bearer"},
    )


def unknown_index() -> Refusal:
    """Return the refusal for an index that this caller may not use, or that does not exist."""
    return Refusal(
        404, "unknown_index", "expected the name of an index that you may ask, got another", "see GET /api/v1/indexes"
    )
