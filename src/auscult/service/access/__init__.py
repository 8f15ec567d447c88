"""Who may come in: keys, tokens of OpenID Connect, sessions of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

    from auscult.service.settings import Settings


def add_access(app: FastAPI, settings: Settings) -> None:
    """Put what protects a service around an app (see `install`)."""
    # Keys are made on machines that serve nothing, without what a server needs.
    from auscult.service.access.install import install

    install(app, settings)
