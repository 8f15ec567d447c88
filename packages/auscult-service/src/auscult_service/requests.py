"""Give every request an id, count it for Prometheus, and log unexpected exceptions.

Neither the counts nor the log contain anything that a user wrote.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.errors import error_response, unforeseen
from auscult_service.layer import Layer

if TYPE_CHECKING:
    from auscult_service.caller import Caller
    from auscult_service.state import State

_SECONDS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 10.0)
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The Prometheus metrics of one app, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "auscult_requests", "Requests by route, method and status.", ("route", "method", "status"),
            registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "auscult_request_seconds", "Seconds that requests took, by route.", ("route",), buckets=_SECONDS,
            registry=self._registry,
        )  # fmt: skip
        self._searches = Counter(
            "auscult_searches", "Searches by index and whether something answered.", ("index", "result"),
            registry=None,
        )  # fmt: skip
        self.processes = Gauge(
            "auscult_search_processes", "Processes that search, beside the service's own, and can be asked.",
            registry=self._registry,
        )  # fmt: skip
        self.faults = Counter("auscult_faults", "Requests that failed by a fault of ours.", registry=self._registry)

    def count(self, route: str, method: str, status: int, seconds: float, found: Mapping[str, bool]) -> None:
        """Count a request by its route's pattern, never by its address; and by index, whether its search found any."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        for index, is_found in found.items():
            self._searches.labels(index, "found" if is_found else "nothing").inc()

    def write(self, state: State, caller: Caller) -> bytes:
        """Return the metrics that a caller may see, in the text format of Prometheus.

        A caller who may use only some indexes gets the metrics of these. Requests and memory of the whole service also
        say something about the other indexes, so they are left out.
        """
        of_indexes = CollectorRegistry()
        of_indexes.register(_Indexes(state, caller, self._searches))
        of_service = generate_latest(self._registry) if caller.indexes is None else b""
        return of_service + generate_latest(of_indexes)


class _Indexes(Collector):
    """Metrics of the indexes that a caller may use, over the documents that they see."""

    def __init__(self, state: State, caller: Caller, searches: Counter) -> None:
        self._state, self._caller, self._searches = state, caller, searches

    def collect(self) -> Iterator[Metric]:
        """Yield searches by index, whether it is open, its generation and its sizes."""
        names = self._state.names(self._caller)
        for counted in self._searches.collect():
            counted.samples = [sample for sample in counted.samples if sample.labels["index"] in names]
            yield counted
        texts = {
            "generation": "Number of the generation that is served.",
            "documents": "Documents that are served.",
            "passages": "Passages that are served.",
            "sentences": "Sentences that are served.",
        }
        families = {
            name: GaugeMetricFamily(f"auscult_index_{name}", text, labels=["index"]) for name, text in texts.items()
        }
        ready = GaugeMetricFamily("auscult_index_open", "Whether an index can be asked.", labels=["index"])
        for name in names:
            served = self._state.indexes[name]
            ready.add_metric([name], float(served.is_open))
            if served.is_open:
                manifest = served.opened.seen_by(self._caller.groups).index.manifest
                families["generation"].add_metric([name], manifest.generation)
                for count in ("documents", "passages", "sentences"):
                    families[count].add_metric([name], getattr(manifest.counts, count))
        yield ready
        yield from families.values()


_LOG: Final = logging.getLogger("auscult.service")
API: Final = "/api/v1"
"""Prefix of all paths of the API."""
_HEADER: Final = b"x-request-id"
_KNOWN: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Requests(Layer):
    """Gives each request an id, and answers unexpected exceptions like other errors.

    The log gets the type and the place of the exception, but not its message, which may contain a patient's name.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        super().__init__(app)
        self.metrics = metrics

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        begun = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (_HEADER, request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            self.metrics.faults.inc()
            _LOG.error("request %s failed: %s", request_id, describe_error(error))
            if not status:
                await error_response(unforeseen(), request_id)(scope, receive, sending)
        finally:
            method = scope["method"] if scope["method"] in _KNOWN else "other"
            # The pattern of the route, without its values.
            route = str(getattr(scope.get("route"), "path", "none"))
            if scope["path"].startswith(API) and not route.startswith(API):
                # A route of an included router has only the rest of its path.
                route = API + route
            searched = scope["state"].get("searched", {})
            self.metrics.count(route, method, status, time.perf_counter() - begun, searched)


class ElsewhereError(Exception):
    """An exception in a worker process; its text is what `describe_error` returned there."""


def describe_error(error: Exception) -> str:
    """Return the type of an exception, and file and line of the innermost frames, without its message."""
    if isinstance(error, ElsewhereError):
        return str(error)
    frames = reversed(traceback.extract_tb(error.__traceback__)[-3:])
    place = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {place}"
