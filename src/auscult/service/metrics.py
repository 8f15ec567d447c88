"""Counts for Prometheus: requests, searches, errors, generations, sizes. Never anything that anybody wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from auscult.service.state import State

_SECONDS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 10.0)
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counts of one app, in a registry of its own."""

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
            registry=self._registry,
        )  # fmt: skip
        self._faults = Counter("auscult_faults", "Requests that failed by a fault of ours.", registry=self._registry)

    def requested(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request by its route's pattern, never by its address."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def searched(self, index: str, *, found: bool) -> None:
        """Count a search."""
        self._searches.labels(index, "found" if found else "nothing").inc()

    def failed(self) -> None:
        """Count a fault of ours."""
        self._faults.inc()

    def watch(self, state: State) -> None:
        """Tell of a state's indexes, as they are when somebody looks."""
        self._registry.register(_Indexes(state))

    def written(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)


class _Indexes(Collector):
    def __init__(self, state: State) -> None:
        self._state = state

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Generation and sizes of each open index, and jobs by how they stand."""
        told = {
            "generation": "Number of the generation that is served.",
            "documents": "Documents that are served.",
            "passages": "Passages that are served.",
            "sentences": "Sentences that are served.",
        }
        families = {
            name: GaugeMetricFamily(f"auscult_index_{name}", said, labels=["index"]) for name, said in told.items()
        }
        ready = GaugeMetricFamily("auscult_index_open", "Whether an index can be asked.", labels=["index"])
        for name, served in self._state.indexes.items():
            ready.add_metric([name], float(served.is_open))
            if served.is_open:
                manifest = served.opened.searcher.index.manifest
                families["generation"].add_metric([name], manifest.generation)
                for count in ("documents", "passages", "sentences"):
                    families[count].add_metric([name], getattr(manifest.counts, count))
        yield ready
        yield from families.values()
