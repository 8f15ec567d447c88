"""The web application. It is built from settings alone: no globals, no environment variables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware

from auscult.encoders.contract import DocumentEncoder
from auscult.readers.elsewhere import open_page_renderer
from auscult.version import __version__
from auscult_service.access.gate import Gate, Gatekeeper
from auscult_service.audit import AuditLog, open_audit
from auscult_service.auditing import Auditing
from auscult_service.errors import add_errors
from auscult_service.feedback import Feedback
from auscult_service.guard.bodies import Bodies, Unread
from auscult_service.guard.browsers import Origins, SafeHeaders
from auscult_service.guard.fairness import Fairness, Rates
from auscult_service.guard.uploads import Pace, UploadPlaces, Uploads
from auscult_service.jobs import Jobs
from auscult_service.requests import API, Metrics, Requests
from auscult_service.routes import documents, patients, search, status, uploads
from auscult_service.saved import SavedSearches
from auscult_service.settings import Settings
from auscult_service.state import State
from auscult_service.workers.pool import AT_ONCE, Spread, WorkerPool

_ABOUT: Final = (
    "Finds the passages that answer a health question inside long documents. Ask in words, or by entity and aspects; "
    "every error has the shape of `Error`, and says what to do."
)


def create_app(settings: Settings, encoder: DocumentEncoder | None = None) -> FastAPI:
    """Create the app of a service.

    Args:
        settings: Its settings.
        encoder: The model for all indexes; None for the models that their manifests name. With an encoder, everything
            is computed in this process.

    Raises:
        AuscultError: The settings do not fit together.
    """
    state = State(settings, encoder)
    workers = WorkerPool(settings, state) if settings.processes > 1 and encoder is None else None

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        # Routes are plain functions that threads of this pool run.
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.limits.threads
        state.start()
        app.state.jobs.start()
        if workers is not None:
            workers.start()
        try:
            yield
        finally:
            # In a thread, as the threads that are waited for may themselves wait for this loop.
            await anyio.to_thread.run_sync(app.state.jobs.stop, settings.limits.seconds)
            await anyio.to_thread.run_sync(state.stop)
            if workers is not None:
                await workers.stop()

    app = answering_app(settings, state, alive)
    if workers is not None:
        app.state.metrics.processes.set_function(lambda: workers.ready)
        app.add_middleware(Spread, workers=workers)
    _add_guards(app, settings)
    if settings.page:
        from auscult_service.page.routes import add_page_guards

        add_page_guards(app)
    # Added last, so that these are outermost: every answer has an id, and no exception escapes.
    app.add_middleware(Requests, metrics=app.state.metrics)
    app.add_middleware(Unread)
    return app


def answering_app(
    settings: Settings, state: State, lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None
) -> FastAPI:
    """Create an app with all routes and the objects they use, without any middleware."""
    app = FastAPI(
        title="Auscult",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        # The redirect would use the header Host, and so could send a question to another machine.
        redirect_slashes=False,
    )
    app.state.auscult = state
    app.state.jobs = Jobs(settings.data_folder, state)
    app.state.feedback = Feedback(settings.feedback_folder)
    app.state.saved = SavedSearches(settings.data_folder / "saved")
    app.state.page_renderer = open_page_renderer()
    app.state.metrics = Metrics()
    add_errors(app)
    api = APIRouter(prefix=API)
    for router in (search.router, patients.router, uploads.router, documents.router, search.judgements, status.router):
        api.include_router(router)
    app.include_router(api)
    if settings.page:
        # Only here: templates take a while to import.
        from auscult_service.page.routes import add_page

        add_page(app)
    return app


def _add_guards(app: FastAPI, settings: Settings) -> None:
    """Add the middleware: headers, audit log, origins, keys, rates, limits on uploads and bodies, and fairness.

    Raises:
        ConfigError: The keys or the certificate cannot be read, or the audit log cannot be written.
    """
    gate, limits = Gate(settings), settings.limits
    audit: AuditLog | None = open_audit(settings)
    app.state.gate, app.state.audit = gate, audit
    pace = Pace(rate=limits.least_rate, patience=limits.patience, seconds=limits.upload_seconds)
    uploads = {
        "places": UploadPlaces(limits.uploads, limits.concurrent, pace),
        "most": limits.upload,
        "changes": settings.changes,
        "slots": max(1, limits.threads // 2),
    }
    bodies = {"most": limits.body, "seconds": limits.body_seconds, "at_once": max(1, limits.concurrent // 2)}
    cors = {
        "allow_origins": [*settings.access.origins],
        "allow_methods": ["GET", "POST", "DELETE"],
        "allow_headers": ["Authorization", "Content-Type", "X-Purpose"],
        "expose_headers": ["X-Request-Id", "Retry-After"],
        "allow_credentials": False,
        "max_age": 600,
    }
    slots = limits.threads if settings.processes == 1 else max(limits.threads, AT_ONCE * settings.processes)
    layers: list[tuple[type[Any], dict[str, Any]]] = [
        (SafeHeaders, {}),
        *([(CORSMiddleware, cors)] if settings.access.origins else []),
        *([(Auditing, {"log": audit, "goes_on": settings.access.audit_goes_on})] if audit is not None else []),
        (Origins, {"local": settings.is_local, "allowed": frozenset(settings.access.origins)}),
        (Gatekeeper, {"gate": gate}),
        (Rates, {"per_minute": limits.per_minute}),
        (Uploads, uploads),
        (Bodies, bodies),
        (Fairness, {"slots": slots, "waiting": limits.concurrent}),
    ]
    # The middleware that is added last is outermost.
    for layer, options in reversed(layers):
        app.add_middleware(layer, **options)
