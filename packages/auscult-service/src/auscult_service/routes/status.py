"""Routes for the status of the service: alive, ready, version, metrics, and the list of indexes."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from auscult import schema
from auscult.version import __version__
from auscult_service.caller import Asking, check_allowed
from auscult_service.errors import Refusal
from auscult_service.requests import MEDIA_TYPE, Metrics
from auscult_service.routes import ERRORS, Stated, note_audit

router = APIRouter(tags=["service"])


@router.get("/health", response_model=schema.Health)
async def health() -> schema.Health:
    """Whether the process is alive. Needs no key."""
    return schema.Health(status="alive")


@router.get("/ready", response_model=schema.Health, responses={503: ERRORS[503]})
async def ready(state: Stated) -> schema.Health:
    """Whether every index is open; 503 until then, and while the service stops. Needs no key."""
    if not state.is_ready:
        remedy = "come again in a few seconds; the service's log says what an index lacks"
        raise Refusal(503, "not_ready", "expected open indexes, got some that are not", remedy, {"Retry-After": "2"})
    return schema.Health(status="ready")


@router.get("/version", response_model=schema.Version, responses=ERRORS)
async def version(caller: Asking) -> schema.Version:
    """The version of the service and of its API."""
    check_allowed(caller, "read")
    return schema.Version(auscult=__version__, api="v1")


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}, **ERRORS})
def metrics(request: Request, caller: Asking, state: Stated) -> Response:
    """Metrics for Prometheus. Needs an admin key. They contain nothing that a user wrote.

    They cover the indexes that the key opens and the documents that it shows. Metrics of the whole service are only for
    keys that open all indexes.
    """
    note_audit(request, "metrics")
    check_allowed(caller, "admin")
    counts: Metrics = request.app.state.metrics
    return Response(counts.write(state, caller), media_type=MEDIA_TYPE)


@router.get("/indexes", response_model=list[schema.Index], responses=ERRORS)
def indexes(request: Request, caller: Asking, state: Stated) -> list[schema.Index]:
    """The indexes that the caller may use, with counts of the documents that the caller sees."""
    note_audit(request, "indexes")
    check_allowed(caller, "read")
    manifests = {name: state.searcher(name, caller).index.manifest for name in state.names(caller)}
    return [
        schema.select_fields(
            schema.Index,
            manifest.counts,
            name=name,
            generation=manifest.generation,
            model=manifest.model.name,
            created=manifest.created,
        )
        for name, manifest in manifests.items()
    ]
