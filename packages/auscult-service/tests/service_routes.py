"""Every route of a service, from its own table: method and pattern of the address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

Route = tuple[str, str]


def routes_of(app: FastAPI) -> list[Route]:
    """All of them, those that no documentation names among them."""
    found = {route for each in app.router.routes for route in _routes(each, "")}
    return sorted(found)


def _routes(route: Any, prefix: str) -> Iterator[Route]:
    inner = getattr(route, "original_router", None)
    if inner is not None:
        begin = prefix + route.include_context.prefix
        for child in inner.routes:
            yield from _routes(child, begin)
    elif hasattr(route, "routes"):
        for child in route.routes:
            yield from _routes(child, prefix + route.path)
    else:
        for method in route.methods or ():
            yield method, prefix + route.path
