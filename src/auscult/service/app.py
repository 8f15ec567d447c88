"""The app: all that a service is, made of its settings, without globals and nothing read from the environment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio.to_thread
from fastapi import APIRouter, FastAPI

from auscult import __version__
from auscult.interfaces import DocumentEncoder
from auscult.readers.pdf.page_images import PageRenderer
from auscult.service.access import add_access
from auscult.service.errors import add_errors
from auscult.service.feedback import Feedback
from auscult.service.guard.unread import Unread
from auscult.service.jobs import Jobs
from auscult.service.metrics import Metrics
from auscult.service.requests import API, Requests
from auscult.service.routes import completion, documents, feedback, house, passages, search, uploads
from auscult.service.settings import Settings
from auscult.service.state import State

_ABOUT: Final = (
    "Finds the passages that answer a health question inside long documents. Ask in words, or by entity and aspects; "
    "every error has the shape of `Error`, and says what to do."
)


def create_app(settings: Settings, encoder: DocumentEncoder | None = None) -> FastAPI:
    """The app of a service.

    Args:
        settings: What it is told.
        encoder: The model of all its indexes; None for those that their manifests name.

    Raises:
        AuscultError: The settings do not fit together.
    """
    state = State(settings, encoder)

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        # Routes are plain functions that threads of this pool run.
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.limits.threads
        state.start()
        app.state.jobs.start()
        try:
            yield
        finally:
            app.state.jobs.stop(settings.limits.seconds)
            state.stop()

    app = FastAPI(
        title="Auscult",
        version=__version__,
        description=_ABOUT,
        lifespan=alive,
        docs_url=None,
        redoc_url=None,
        # Such a redirect is made of the header Host, and sends the question along to whatever that says.
        redirect_slashes=False,
    )
    app.state.auscult = state
    app.state.jobs = Jobs(settings.data_folder, state)
    app.state.feedback = Feedback(settings.feedback_folder)
    app.state.page_renderer = PageRenderer()
    app.state.metrics = Metrics()
    add_errors(app)
    api = APIRouter(prefix=API)
    for routes in (search, completion, passages, uploads, documents, feedback, house):
        api.include_router(routes.router)
    app.include_router(api)
    add_access(app, settings)
    if settings.page:
        # Only here: templates take a while to import.
        from auscult.service.page.routes import add_page

        add_page(app)
    # Added last, so that they stand around all others: every answer has an id, and no fault gets out.
    app.add_middleware(Requests, metrics=app.state.metrics)
    app.add_middleware(Unread)
    return app
