"""Several processes answer for one service: the same answers, one generation, and nothing is lost when one ends."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult.ingest.updating import update_index
from auscult_service.settings import default_processes
from leaflets import generated, leaflets
from served_index import KNOWN, Running, running, wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that tests may change."""
    made = tmp_path_factory.mktemp("workers") / "leaflets"
    build_index(leaflets(), load_model("fast"), made, knowledge_base=KNOWN, model_path="fast")
    return made


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Running]:
    """Two processes search, also after each test: to start some takes seconds."""
    with running(folder, "--processes", "2") as found:
        wait_until(lambda: searching(found.url) == 2)
        yield found


def fetched(url: str, path: str, body: Any = None) -> tuple[int, bytes, dict[str, str]]:
    """Status, content and headers of an answer."""
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, sent, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.headers.items()}
    except urllib.error.HTTPError as error:
        return error.code, error.read(), {name.lower(): value for name, value in error.headers.items()}


def told(url: str, figure: str) -> float:
    """A figure of /metrics."""
    lines = fetched(url, "/api/v1/metrics")[1].decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(figure))


def searching(url: str) -> float:
    """How many processes can be asked."""
    return told(url, "auscult_search_processes")


def search(url: str, question: str = "How is gout treated?") -> dict[str, Any]:
    """An answer to a search."""
    status, content, _ = fetched(url, "/api/v1/search", {"question": question})
    assert status == 200, content
    found: dict[str, Any] = json.loads(content)
    return found


def children(pid: int) -> list[int]:
    """Processes that a service has started and that compute answers."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [each for each in map(int, started) if b"workers.process" in Path(f"/proc/{each}/cmdline").read_bytes()]


def computed(pid: int) -> int:
    """Ticks of the processor that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_answers_and_errors_are_those_of_one_process(service: Running, folder: Path) -> None:
    def without_what_differs(content: bytes) -> object:
        try:
            # The last digits depend on the order of a sum.
            answer = json.loads(content, parse_float=lambda number: round(float(number), 9))
        except ValueError:
            return b"".join(line for line in content.splitlines() if b" ms" not in line)
        answer.pop("milliseconds", None)
        return {**answer, "error": {**answer["error"], "request_id": ""}} if "error" in answer else answer

    requests: list[tuple[str, Any]] = [
        ("/api/v1/search", {"question": "How is gout treated?"}),
        ("/api/v1/search", {"entity": "podagra", "aspects": ["symptoms"], "k": 2, "group_by": "document"}),
        ("/api/v1/search", {"question": "gouut"}),
        ("/api/v1/search?q=asthma%20treatment&k=1", None),
        ("/api/v1/search", {"question": "gout", "where": {"none": ["x"]}}),
        ("/api/v1/search", {"question": ""}),
        ("/api/v1/search", {"question": "gout", "k": -1}),
        ("/api/v1/search", {"question": "gout", "index": "another"}),
        ("/api/v1/explain", {"question": "How is gout treated?", "doc_id": "leaflet-gout"}),
        ("/api/v1/coverage", {"entities": ["gout"], "aspects": ["treatment"]}),
        ("/?q=How+is+gout+treated%3F", None),
        ("/?q=gout&f.none=x", None),
        ("/export.json?q=gout", None),
    ]
    with running(folder, "--processes", "1") as alone:
        assert children(alone.process.pid) == []
        for path, body in requests:
            (status, content, headers), (expected, one, head) = (
                fetched(each.url, path, body) for each in (service, alone)
            )
            assert (status, without_what_differs(content)) == (expected, without_what_differs(one)), path
            differing = ("date", "x-request-id", "content-length")
            assert {**headers, **dict.fromkeys(differing, "")} == {**head, **dict.fromkeys(differing, "")}
    # What is counted is counted by the service.
    assert told(service.url, 'auscult_searches_total{index="leaflets"') >= 4
    assert told(service.url, 'auscult_requests_total{method="POST",route="/api/v1/search",status="422"}') == 3


def test_both_processes_compute_and_the_service_does_not(service: Running) -> None:
    pid = service.process.pid
    processes = children(pid)
    before = {each: computed(each) for each in (pid, *processes)}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: search(service.url, f"How is gout {number} treated?"), range(120)))
    own, *others = (computed(each) - before[each] for each in (pid, *processes))
    assert len(others) == 2
    assert min(others) > 0
    assert sum(others) > own


def test_killed_processes_lose_no_answer_and_are_replaced(service: Running) -> None:
    first, second = children(service.process.pid)
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(search, service.url) for _ in range(60)]
        os.kill(first, signal.SIGKILL)
        assert {each.result()["hits"][0]["doc_id"] for each in answers} == {"leaflet-gout"}
    # Signals to a group are for the service, which ends its processes when it has answered.
    os.kill(second, signal.SIGTERM)
    os.kill(second, signal.SIGINT)
    assert search(service.url)["hits"]
    wait_until(lambda: searching(service.url) == 2 and first not in children(service.process.pid))
    assert second in children(service.process.pid)


def test_a_request_that_kills_workers_is_refused(service: Running) -> None:
    """The service itself never tries it."""
    processes = children(service.process.pid)
    # They are asked, and do not answer.
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(fetched, service.url, "/api/v1/search", {"question": "gout"})
        time.sleep(0.5)
        for process in processes:
            os.kill(process, signal.SIGKILL)
        status, content, headers = answer.result()
    assert (status, headers["retry-after"]) == (503, "5")
    assert json.loads(content)["error"]["code"] == "ended"
    # The service answers by itself until there are others.
    assert search(service.url)["hits"]
    wait_until(lambda: searching(service.url) == 2)


def test_all_processes_search_a_confirmed_change_at_once(service: Running, folder: Path) -> None:
    stop, failed, seen = threading.Event(), [], Counter[str]()

    def ask() -> None:
        newest = ""
        while not stop.is_set():
            title = search(service.url, "What is zorbic fever?")["hits"][0]["title"]
            seen[title] += 1
            if title.startswith("Zorbic") and title < newest:
                failed.append((newest, title))
            newest = max(newest, title) if title.startswith("Zorbic") else newest

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        for number in range(3):
            added(service.url, f"# Zorbic fever {number}\n\n## Symptoms\n\nZorbic fever makes one yawn.\n")
            # The upload is done: who asks now is answered from the new generation, whichever process answers.
            titles = {search(service.url, "What is zorbic fever?")["hits"][0]["title"] for _ in range(6)}
            assert titles == {f"Zorbic fever {number}"}
        # By another process.
        update_index({"x": generated(5, prefix="new")}, load_model("fast"), folder)
        wait_until(lambda: search(service.url, "topic 3")["hits"][0]["doc_id"].startswith("new"))
        stop.set()
    assert [each.result() for each in asking] == [None] * 3
    assert failed == []
    assert {f"Zorbic fever {number}" for number in range(3)} <= set(seen)


def added(url: str, text: str) -> None:
    """Upload a file, and wait until it is in the index."""
    border = "x1x2x3"
    head = f'--{border}\r\nContent-Disposition: form-data; name="files"; filename="zorbic.md"\r\n\r\n'
    body = f"{head}{text}\r\n--{border}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={border}"}
    request = urllib.request.Request(f"{url}/api/v1/documents", body, kind)  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        job = json.load(answer)["job_id"]
    ended = wait_until(lambda: (found := json.loads(fetched(url, f"/api/v1/jobs/{job}")[1]))["finished"] and found)
    assert ended["standing"] == "done", ended


def test_overload_is_refused_and_begun_requests_are_answered(folder: Path) -> None:
    with running(folder, "--no-page", "--processes", "2", "--set", "limits.concurrent=4") as service:
        wait_until(lambda: searching(service.url) == 2)
        processes = children(service.process.pid)
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        with ThreadPoolExecutor(12) as pool:
            answers = [pool.submit(fetched, service.url, "/api/v1/search", {"question": "gout"}) for _ in range(12)]
            # Those that nobody computes wait; the others are told so at once.
            wait_until(lambda: sum(answer.done() for answer in answers) >= 4)
            assert fetched(service.url, "/api/v1/health")[0] == 200
            service.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            for process in processes:
                os.kill(process, signal.SIGCONT)
            results = [answer.result() for answer in answers]
        counts = Counter(status for status, _, _ in results)
        assert counts[200] >= 4
        assert set(counts) <= {200, 429, 503}
        assert all("retry-after" in headers for status, _, headers in results if status != 200)
        out, err = service.process.communicate(timeout=30)
        assert (service.process.returncode, out, err) == (0, "", "")
        wait_until(lambda: not any(map(lives, processes)))


def test_as_many_processes_as_cores_and_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, gigabytes, expected in ((1, 64, 1), (2, 64, 2), (32, 64, 8), (8, 3.5, 3), (8, 0.2, 1), (8, -1, 1)):
        monkeypatch.setattr("auscult_service.settings.usable_cores", lambda cores=cores: cores)
        monkeypatch.setattr("auscult_service.settings._free_memory", lambda free=gigabytes: int(free * 1e9))
        assert default_processes() == expected


def test_processes_end_with_a_service_that_is_killed(service: Running) -> None:
    """The last one: it ends the service of the others."""
    processes = children(service.process.pid)
    assert len(processes) == 2
    service.process.kill()
    wait_until(lambda: not any(map(lives, processes)))
