"""What stands around an app, from the outside in; each is a plain ASGI middleware, and knows nothing of the others."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from auscult.service.access.gate import Gate
from auscult.service.access.gatekeeper import Gatekeeper
from auscult.service.audit import AuditLog, opened_audit
from auscult.service.auditing import Auditing
from auscult.service.guard.bodies import Bodies
from auscult.service.guard.fairness import Fairness
from auscult.service.guard.headers import SafeHeaders
from auscult.service.guard.origins import Origins
from auscult.service.guard.places import Pace, Places
from auscult.service.guard.rates import Rates
from auscult.service.guard.uploads import Uploads
from auscult.service.settings import Settings


def install(app: FastAPI, settings: Settings) -> None:
    """Put headers, audit, origins, keys, rates, limits of uploads and bodies, and fairness around an app.

    Raises:
        ConfigError: Strangers would be served, keys cannot be read, or the audit log cannot be kept.
    """
    gate, limits = Gate(settings), settings.limits
    audit: AuditLog | None = opened_audit(settings)
    app.state.gate, app.state.audit = gate, audit
    pace = Pace(rate=limits.least_rate, patience=limits.patience, seconds=limits.upload_seconds)
    uploads = {
        "places": Places(limits.uploads, limits.concurrent, pace),
        "most": limits.upload,
        "changes": settings.changes,
        "slots": max(1, limits.threads // 2),
    }
    bodies = {"most": limits.body, "seconds": limits.body_seconds, "at_once": max(1, limits.concurrent // 2)}
    layers: list[tuple[type[Any], dict[str, Any]]] = [
        (SafeHeaders, {}),
        *([(CORSMiddleware, _cors(settings))] if settings.access.origins else []),
        *([(Auditing, {"log": audit, "goes_on": settings.access.audit_goes_on})] if audit is not None else []),
        (Origins, {"local": settings.is_local, "allowed": frozenset(settings.access.origins)}),
        (Gatekeeper, {"gate": gate}),
        (Rates, {"per_minute": limits.per_minute}),
        (Uploads, uploads),
        (Bodies, bodies),
        (Fairness, {"slots": limits.threads, "waiting": limits.concurrent}),
    ]
    # What is added last stands outermost.
    for layer, options in reversed(layers):
        app.add_middleware(layer, **options)


def _cors(settings: Settings) -> dict[str, Any]:
    return {
        "allow_origins": [*settings.access.origins],
        "allow_methods": ["GET", "POST", "DELETE"],
        "allow_headers": ["Authorization", "Content-Type", "X-Purpose"],
        "expose_headers": ["X-Request-Id", "Retry-After"],
        "allow_credentials": False,
        "max_age": 600,
    }
