"""Throughput, latency and memory growth of a served index.

    python benchmarks/http_load.py INDEX [--seconds 300] [--clients 8] [--threads N] [--processes N]

Serves the index (`auscult serve INDEX`) in its own process and queries it from this one. Each client has a persistent
connection and sends questions without pause. Questions ("What are the symptoms of gout?") are made from titles and
aspects, without repeats until all were used, and return ten hits with marked sentences. Clients share the two cores
with the service.

Times are measured by the clients. Processor times are measured, too, which mean more on a busy machine. The cold start
lasts from the command to the first answer. The load begins when all processes are ready. Memory is the RSS of all
processes, sampled every second, and its part without mapped files, which RSS counts once per process; growth is the
slope of a line through the last two thirds. Every minute, private memory is recorded, which ending the service would
free: it grows steadily if the service leaks.

Completion: prefixes of names of one to six letters, by one client over one connection.

Merges into benchmarks/results/http_load.json.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from auscult.index import PassageIndex
from auscult.provenance import stamp
from auscult.understanding.aspects import QUESTIONS, question_about
from auscult_service.settings import default_processes
from merging import merge_record

RESULT = Path(__file__).resolve().parent / "results" / "http_load.json"
QUIET = 10.0
"""Seconds without another process of the service."""
MINUTE = 60.0
_ASPECTS = ("symptoms", "treatment", "causes", "diagnosis", "prognosis", "inheritance", "frequency", "complications")


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description="Measure a served index.")
    parser.add_argument("index", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--threads", type=int, default=0, help="of the service; 0 for its default")
    parser.add_argument("--processes", type=int, default=0, help="that search; 0 for the service's default")
    given = parser.parse_args()
    index = PassageIndex.open(given.index)
    titles = sorted({index.reader.document_record(row).title for row in index.reader.documents.tolist()} - {""})
    texts = questions(titles)
    with serving(given.index, given.threads, given.processes) as (port, pid, cold):
        completion = complete(port, titles)
        wait_for_processes(port)
        # Warm up everything that is read once.
        Client(port, texts[:200]).run(200)
        measured = load(port, pid, texts[200:], given.clients, given.seconds)
    sizes = index.manifest.counts
    record = {
        "kind": "http_load",
        "title": f"A served index under load, {index.manifest.model.name}",
        "index": {"documents": sizes.documents, "passages": sizes.passages, "sentences": sizes.sentences},
        "model": index.manifest.model.name,
        "clients": given.clients,
        "threads": given.threads or "default",
        "processes": given.processes or default_processes(),
        "seconds": round(given.seconds),
        "cold_start_seconds": round(cold, 2),
        **measured,
        "completion_ms": completion,
        **stamp(),
    }
    print(json.dumps(record, indent=1))
    merge_record(RESULT, record, "model", "clients", "threads", "processes", "seconds")


def questions(titles: list[str], seed: int = 0) -> list[str]:
    """Return shuffled questions about titles of documents."""
    found = [question_about(aspect, title) for title in titles for aspect in _ASPECTS if aspect in QUESTIONS]
    random.Random(seed).shuffle(found)
    return found


@contextmanager
def serving(index: Path, threads: int, processes: int) -> Iterator[tuple[int, int, float]]:
    """Yield the service's port and process, and the seconds from its start to its first answer."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "auscult.cli.main", "serve", str(index), "--port", "0", "--no-page"]
    command += ["--processes", str(processes)]
    command += ["--set", f"limits.threads={threads}"] if threads else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stdout.readline() if process.stdout else ""
        port = int(line.rpartition(":")[2].partition("/")[0])
        Client(port, ["What is gout?"]).run(1)
        yield port, process.pid, time.perf_counter() - begun
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


class Client:
    """Sends one question after the other over one connection.

    Attributes:
        times: Milliseconds of each answer.
        errors: Number of failed requests.
    """

    def __init__(self, port: int, texts: list[str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._texts = texts
        self.times: list[float] = []
        self.errors = 0

    def run(self, most: int = 2**62, until: float = float("inf")) -> None:
        """Send a number of questions, or all until a time of `time.perf_counter`."""
        number = 0
        while number < most and time.perf_counter() < until:
            body = json.dumps({"question": self._texts[number % len(self._texts)]})
            begun = time.perf_counter()
            try:
                self._connection.request("POST", "/api/v1/search", body, {"Content-Type": "application/json"})
                answer = self._connection.getresponse()
                content = answer.read()
                wrong = answer.status != 200 or b'"hits":[{' not in content
            except (OSError, http.client.HTTPException):
                wrong = True
                self._connection.close()
            self.times.append(1000 * (time.perf_counter() - begun))
            self.errors += wrong
            number += 1


def load(port: int, pid: int, texts: list[str], clients: int, seconds: float) -> dict[str, Any]:
    """Return the figures of all clients together."""
    until = time.perf_counter() + seconds
    share = len(texts) // clients
    several = [Client(port, texts[number * share : (number + 1) * share]) for number in range(clients)]
    threads = [threading.Thread(target=client.run, kwargs={"until": until}) for client in several]
    begun = _computed(pid), time.process_time()
    for thread in threads:
        thread.start()
    memory, private = [], []
    start = time.perf_counter()
    while time.perf_counter() < until:
        memory.append(_resident(pid))
        if time.perf_counter() - start >= MINUTE * len(private):
            private.append(_private(pid))
        time.sleep(1)
    private.append(_private(pid))
    for thread in threads:
        thread.join()
    taken = _computed(pid) - begun[0], time.process_time() - begun[1]
    times = sorted(time_taken for client in several for time_taken in client.times)
    whole, own = ([megabytes[number] for megabytes in memory] for number in (0, 1))
    return {
        "searches": len(times),
        "errors": sum(client.errors for client in several),
        "searches_per_second": round(len(times) / seconds, 1),
        "ms": {
            "median": round(statistics.median(times), 1),
            "p95": round(times[int(0.95 * len(times))], 1),
            "p99": round(times[int(0.99 * len(times))], 1),
            "most": round(times[-1], 1),
        },
        "processor_ms_a_search": {
            "service": round(1000 * taken[0] / len(times), 1),
            "clients": round(1000 * taken[1] / len(times), 1),
        },
        "memory_mb": {"first": round(whole[0]), "last": round(whole[-1]), "most": round(max(whole))},
        "own_memory_mb": {"first": round(own[0]), "last": round(own[-1]), "most": round(max(own))},
        "private_memory_mb_by_minute": [*map(round, private)],
        "growth_mb_per_minute": _slope(whole),
        "own_growth_mb_per_minute": _slope(own),
    }


def _slope(memory: list[float]) -> float:
    """Return the slope of a line through the last two thirds, MB per minute."""
    late = memory[len(memory) // 3 :]
    return round(float(np.polyfit(np.arange(len(late)), late, 1)[0]) * 60, 2) if len(late) > 1 else 0.0


def complete(port: int, titles: list[str], number: int = 1000) -> dict[str, float]:
    """Return milliseconds of completions."""
    chance = random.Random(1)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    while True:
        connection.request("GET", "/api/v1/entities?prefix=a")
        if json.loads(connection.getresponse().read())["complete"]:
            break
        time.sleep(0.2)
    for _ in range(number):
        prefix = chance.choice(titles)[: chance.randint(1, 6)]
        begun = time.perf_counter()
        connection.request("GET", f"/api/v1/entities?prefix={quote(prefix)}")
        connection.getresponse().read()
        times.append(1000 * (time.perf_counter() - begun))
    times.sort()
    return {"median": round(statistics.median(times), 2), "p95": round(times[int(0.95 * number)], 2)}


def wait_for_processes(port: int) -> None:
    """Wait until all processes are ready: until no new one has started for ten seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    count, since = "", time.perf_counter()
    while time.perf_counter() - since < QUIET:
        connection.request("GET", "/api/v1/metrics")
        now = connection.getresponse().read().decode().partition("\nauscult_search_processes ")[2].partition("\n")[0]
        if now != count:
            count, since = now, time.perf_counter()
        time.sleep(0.5)


def _processes(pid: int) -> list[int]:
    """Return the ids of a service's process and its children."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, started)]


def _computed(pid: int) -> float:
    """Return the processor seconds of a service."""
    told = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in _processes(pid)]
    return sum(int(each[11]) + int(each[12]) for each in told) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> tuple[float, float]:
    """Return MB of a service: all (RSS), and without pages of files, which the system can reclaim."""
    statuses = [
        dict(line.split(":", 1) for line in Path(f"/proc/{each}/status").read_text().splitlines())
        for each in _processes(pid)
    ]
    whole, own = (sum(int(each[name].split()[0]) for each in statuses) / 1024 for name in ("VmRSS", "RssAnon"))
    return whole, own


def _private(pid: int) -> float:
    """Return private MB of a service, including pages of files that only one of its processes has read."""
    told = [
        line.split() for each in _processes(pid) for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
    ]
    return sum(int(each[1]) for each in told if each[0] in ("Private_Clean:", "Private_Dirty:")) / 1024


if __name__ == "__main__":
    main()
