"""What a service survives, at full length and with figures: run as `make security`, in some twenty minutes.

Each check is a function that returns what it counted, or raises AssertionError; the tests have small versions of them.
The service is `auscult serve` in a process of its own, over HTTP. Writes benchmarks/results/security.json, from which
`make results` makes docs/explanation/security.md. Exits with 1 where a check fails. Words choose checks:
`python packages/auscult-service/tests/security.py S1`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import write_matrix
from attacks import TRAVERSALS, faults, mutated, quoted
from audit_attacks import counted
from auscult.documents import Document
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult_service.access.keys import new_key
from auscult_service.audit_files import records, verify
from counted import Counted, count
from guarded_service import documents, make_keys
from leaflets import generated
from network_watch import Watch, ask_service, ask_tools, commands, many_documents, prepare
from places import ROOT, SOURCES, TESTS
from supply_chain import copyleft, licences, unsafe_calls
from tricklers import FRAMINGS, trickling, upload_head

HERE = Path(__file__).resolve().parent
RESULT = ROOT / "benchmarks" / "results" / "security.json"
MUTATED = 10_000
REPLAYED = 1_000
ATTACKED = 40
CANARIES = ("Zacharias Quill-Nightingale", "MRN-4471-8829-X", "quilloderma")
_PATIENCE = 120.0


@dataclass(frozen=True)
class Running:
    """A served index.

    Attributes:
        pid: Of the process that serves.
        said: File of all that the process has written.
    """

    url: str
    keys: dict[str, str]
    folder: Path
    pid: int
    said: Path

    def client(self, key: str, **more: Any) -> httpx.Client:
        """Of somebody."""
        return httpx.Client(base_url=self.url, headers=self.headers(key), timeout=60, **more)

    def headers(self, key: str) -> dict[str, str]:
        """What somebody shows."""
        return {"Authorization": f"Bearer {self.keys[key]}"}

    @property
    def megabytes(self) -> float:
        """That the process has in memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def running(
    folder: Path, collection: Sequence[Document] = (), *options: str, indexes: Sequence[str] = ("main", "other")
) -> Iterator[Running]:
    """`auscult serve`, with keys and an audit log; its indexes are in the folder, or are made of the documents."""
    if not (folder / indexes[0]).exists():
        build_index([*(collection or documents())], load_model("fast"), folder / "main", model_path="fast")
        shutil.copytree(folder / "main", folder / "other")
    if not (folder / "keys.json").exists():
        (folder / "shown.json").write_text(json.dumps(make_keys(folder / "keys.json")))
    keys = json.loads((folder / "shown.json").read_text())
    said = folder / f"said-{len(list(folder.glob('said-*')))}.txt"
    served = [f"{name}={folder / name}" for name in indexes]
    kept = ["--keys", str(folder / "keys.json"), "--audit", str(folder / "audit.jsonl"), "--data", str(folder / "data")]
    command = [sys.executable, "-m", "auscult.cli.main", "serve", *served, "--port", "0", *kept, *options]
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder / "tmp")}
    with said.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    try:
        url = _address(process, said)
        service = Running(url, keys, folder, process.pid, said)
        with service.client("admin") as client:
            ends = time.monotonic() + _PATIENCE
            while client.get("/api/v1/ready").status_code != 200 and time.monotonic() < ends:
                time.sleep(0.1)
        yield service
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _address(process: subprocess.Popen[bytes], said: Path) -> str:
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        opened = [line for line in said.read_text(errors="replace").splitlines() if line.startswith("open http")]
        if opened and process.poll() is None:
            return opened[-1].removeprefix("open ").rstrip("/").removesuffix("/openapi.json")
        assert process.poll() is None, said.read_text(errors="replace")
        time.sleep(0.05)
    raise AssertionError("it does not listen")


def s1_schema(place: Path) -> Counted:
    """Schemathesis over the whole OpenAPI: no fault, and every answer as documented."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    kept = [
        not_a_server_error,
        checks.response_schema_conformance,
        checks.content_type_conformance,
        checks.status_code_conformance,
    ]
    cases = Counter[int]()
    with running(place) as service:
        schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
        operations = [each.ok() for each in schema.get_all_operations()]

        def run(operation: Any) -> None:
            @settings(
                max_examples=120,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=[*HealthCheck],
            )
            @given(case=operation.as_strategy())
            def answers(case: Any) -> None:
                response = case.call(headers=service.headers("admin"))
                cases[response.status_code] += 1
                case.validate_response(response, checks=kept, headers=service.headers("admin"))

            answers()

        failed = []
        for operation in operations:
            try:
                run(operation)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                failed.append(f"{operation.label}: {str(error)[:600]}")
        assert not failed, "\n".join(failed)
    return {"operations": len(operations), "cases": sum(cases.values()), "statuses": _told(cases), "failures": 0}


def s1_mutated(place: Path) -> Counted:
    """Mutated bodies and addresses, 10 MB strings, huge numbers: no fault, one shape of error, memory comes back."""
    statuses = Counter[int]()
    seconds: list[float] = []
    wrong: list[str] = []
    with running(place) as service, service.client("admin") as client:
        client.post("/api/v1/search", json={"question": "gout"})
        for request in mutated(300, seed=99):
            _sent(client, request.method, request.path, request.body, request.headers)
        before = service.megabytes
        for request in mutated(MUTATED):
            status, took, problems = _sent(client, request.method, request.path, request.body, request.headers)
            statuses[status] += 1
            seconds.append(took)
            wrong += [
                f"{problem}: {request.method} {request.path[:200]} {(request.body or b'')[:200]!r}"
                for problem in problems
            ]
        huge = b'{"question": "' + b"x" * 10_000_000 + b'"}'
        for _ in range(20):
            status, took, problems = _sent(client, "POST", "/api/v1/search", huge, {"Content-Type": "application/json"})
            wrong += problems + ([] if status == 413 else [f"{status} for 10 MB"])
        after = service.megabytes
        assert client.post("/api/v1/search", json={"question": "gout"}).status_code == 200
    worst = float(np.percentile(seconds, 99))
    assert not wrong, wrong[:10]
    assert worst < 2, worst
    assert after <= 1.1 * before, (before, after)
    return {
        "requests": MUTATED + 20,
        "statuses": _told(statuses),
        "faults": 0,
        "p99, s": round(worst, 3),
        "memory before and after, MB": f"{before:.0f}, {after:.0f}",
    }


def _sent(
    client: httpx.Client, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> tuple[int, float, list[str]]:
    begun = time.perf_counter()
    try:
        answer = client.request(
            method, httpx.URL(str(client.base_url).rstrip("/") + path), content=body, headers=headers
        )
    except (httpx.RemoteProtocolError, httpx.WriteError, httpx.ReadError):
        # The server's reader of HTTP has refused it, or has not read on: its connection ends, and nothing else.
        return 413 if body and len(body) > 1_000_000 else 400, time.perf_counter() - begun, []
    except httpx.InvalidURL:
        return 0, 0.0, []
    told = {name.lower(): value for name, value in answer.headers.items()}
    return answer.status_code, time.perf_counter() - begun, faults(answer.status_code, told, answer.content, path)


def s2_readers(_: Path) -> Counted:
    """Files changed at random, and files made to harm, read in a process of their own."""
    done = _python(TESTS / "fuzz_readers.py", "--count", "5000")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    told = {name: value for name, value in found.items() if isinstance(value, int | float | str)}
    return {**told, "refused": sum(found["refused"].values()), "findings": len(found["findings"])}


def s3_scripts(_: Path) -> Counted:
    """Scripts in titles, texts, names, questions and file names, in a real browser."""
    done = _python(HERE / "script_injection.py", "200")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    told = re.search(r"(\d+) payloads on (\d+) pages.*ran (\d+), stopped by the policy (\d+)", done.stdout)
    assert told, done.stdout
    return dict(zip(("payloads", "pages", "executed", "stopped by the policy"), map(int, told.groups()), strict=True))


def s4_names(place: Path) -> Counted:
    """Names that lead elsewhere, in every parameter that takes an id or a name, raw over the wire."""
    tried = 0
    patterns = (
        "/api/v1/documents/{}", "/api/v1/documents/{}/original", "/api/v1/documents/{}/places?start=0&end=1",
        "/api/v1/jobs/{}", "/jobs/{}", "/d/main/{}", "/d/{}/leaflet-gout", "/static/{}", "/sheet/main/1/{}",
        "/sheet/{}/1/leaflet-gout", "/api/v1/documents/leaflet-gout?index={}", "/api/v1/search?q=gout&index={}",
        "/theme?to=dark&next={}", "/language?to=de&next={}", "/login?next={}", "/?q=gout&index={}", "/{}",
    )  # fmt: skip
    with running(place) as service:
        for name in TRAVERSALS:
            for pattern in patterns:
                for chance in (random.Random(1), random.Random(2)):
                    path = pattern.format(quoted(name, chance))
                    status, headers, body = _raw(service, path)
                    found = faults(status, headers, body, path)
                    if headers.get("location", "/").startswith(("//", "http://evil", "https://evil", "\\")):
                        found.append("leads elsewhere")
                    assert not found, (path, found)
                    tried += 1
    return {"addresses": tried, "escapes": 0}


def _raw(service: Running, path: str) -> tuple[int, dict[str, str], bytes]:
    """An answer to an address as it is, which no client has made tidy."""
    url = httpx.URL(service.url)
    with socket.create_connection((url.host, url.port or 80), timeout=30) as wire:
        shown = service.keys["admin"]
        head = f"GET {path} HTTP/1.1\r\nHost: {url.host}:{url.port}\r\nAuthorization: Bearer {shown}\r\n"
        wire.sendall(f"{head}Connection: close\r\n\r\n".encode("utf-8", "surrogatepass"))
        content = b""
        while piece := wire.recv(65_536):
            content += piece
    begin, _, body = content.partition(b"\r\n\r\n")
    line, *fields = begin.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in fields)}
    return int(line.split()[1]), headers, body if status_is_json(headers) else b""


def status_is_json(headers: dict[str, str]) -> bool:
    """Whether a body is the service's own, and not of the server below it."""
    return "x-request-id" in headers


def s5_matrix(_: Path) -> Counted:
    """Every route by every kind of caller: none, wrong, revoked, expired, read, write, admin, other index or group."""
    return _tests(HERE / "test_auth_matrix.py", HERE / "access")


def s6_turns(place: Path) -> Counted:
    """One caller asks without end: others are answered, and too many are told when to come again."""
    with running(place, [*documents(), *generated(600)]) as service:
        with service.client("read") as client:
            idle = _times(client, 60)
        ends = time.monotonic() + 12
        with ThreadPoolExecutor(24) as pool, service.client("read") as client:
            busy = [pool.submit(_asks_until, service, "write", ends) for _ in range(24)]
            time.sleep(1)
            beside = _times(client, 60)
            requests = sum(task.result() for task in busy)
    quick, slow = (float(np.percentile(times, 95)) for times in (idle, beside))
    with running(place, (), "--set", "limits.per_minute=30") as service, service.client("read") as client:
        answers = [client.get("/api/v1/version") for _ in range(40)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert 5 <= len(refused) <= 10, Counter(answer.status_code for answer in answers)
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        with service.client("write") as other:
            assert other.get("/api/v1/version").status_code == 200
    assert slow < 4 * quick + 0.05, (quick, slow)
    return {
        "requests of the busy caller": requests,
        "p95 of another, idle, ms": round(1000 * quick, 1),
        "p95 of another, beside, ms": round(1000 * slow, 1),
        "refused of 40 at 30 a minute": len(refused),
    }


def s6_slow(place: Path) -> Counted:
    """Four uploads of each role trickle, a byte every five seconds: others upload and search as before."""
    worst = {"upload": 0.0, "search": 0.0}
    uploads = searches = 0
    statuses: dict[str, Counter[int]] = {}
    with running(place, [*documents(), *generated(600)]) as service, service.client("ben") as client:
        shown = {"none": "", "wrong": new_key(), **{role: service.keys[role] for role in ("read", "write", "admin")}}
        # The first ones open and read what the later ones have ready.
        _beside(client, 2)
        for roles in (*((role,) for role in shown), tuple(shown)):
            heads = [upload_head(shown[role], FRAMINGS[n % len(FRAMINGS)]) for role in roles for n in range(4)]
            idle: tuple[list[float], list[float]] = ([], [])
            beside: tuple[list[float], list[float]] = ([], [])
            counts = statuses[" ".join(roles)] = Counter[int]()
            # In turns, so that what else this machine does falls on both.
            for _ in range(4):
                _extend(idle, _beside(client, 3))
                with trickling(service.url, heads) as tricklers:
                    _extend(beside, _beside(client, 3))
                    assert tricklers.sending or set(roles) <= {"none", "wrong", "read"}, "they trickle"
                counts.update(tricklers.statuses)
            uploads, searches = uploads + len(beside[0]), searches + len(beside[1])
            for name, before, now in zip(worst, idle, beside, strict=True):
                worst[name] = max(worst[name], float(np.median(now) / np.median(before)))
                assert np.median(now) < 2 * np.median(before) + 0.01, (roles, name, before, now)
    refused = sum((each for roles, each in statuses.items() if roles in ("none", "wrong", "read")), Counter[int]())
    assert set(refused) <= {401, 403, 429}, statuses
    return {
        "uploads that trickle at once": f"4 of each of {len(shown)} roles, then {4 * len(shown)}",
        "uploads of others": uploads,
        "searches of others": searches,
        "refused or not in time": 0,
        "median upload beside, times idle, at most": round(worst["upload"], 2),
        "median search beside, times idle, at most": round(worst["search"], 2),
        "trickling ones without the role, statuses": _told(refused),
    }


def _extend(all_seconds: tuple[list[float], list[float]], more: tuple[list[float], list[float]]) -> None:
    for each, found in zip(all_seconds, more, strict=True):
        each.extend(found)


def _beside(client: httpx.Client, number: int) -> tuple[list[float], list[float]]:
    """Seconds of uploads, and of searches when what was uploaded has been read."""
    uploads = []
    for _ in range(number):
        name = f"{random.getrandbits(64):x}.md"
        note = {"files": (name, f"# {name}\n\n## Treatment\n\nRest helps.\n".encode(), "text/markdown")}
        begun = time.perf_counter()
        answer = client.post("/api/v1/documents", files=note)
        uploads.append(time.perf_counter() - begun)
        assert answer.status_code == 202, answer.text
        _ended(client, answer.headers["location"])
    return uploads, _times(client, 3 * number)


def _times(client: httpx.Client, number: int) -> list[float]:
    seconds = []
    for n in range(number):
        begun = time.perf_counter()
        answer = client.post("/api/v1/search", json={"question": f"what is wört{n}?", "k": 5})
        assert answer.status_code == 200, answer.text
        seconds.append(time.perf_counter() - begun)
    return seconds


def _asks_until(service: Running, key: str, ends: float) -> int:
    count = 0
    with service.client(key) as client:
        while time.monotonic() < ends:
            answer = client.post("/api/v1/search", json={"question": f"what is wört{count % 200}?", "k": 5})
            assert answer.status_code in (200, 429), answer.text
            count += 1
    return count


def s7_audit(place: Path) -> Counted:
    """A replay of requests of all kinds from eight callers: one record each, and every change of the log shows."""
    chance = random.Random(3)
    requests = [chance.choice(_REPLAY) for _ in range(REPLAYED)]
    with running(place) as service:
        # Few strangers: who shows wrong keys too often is refused unnoted, so that a log is not filled by them.
        known = ("read", "write", "admin", "ann", "ben", "elsewhere") * 4
        clients = [service.client(key) for key in (*known, "revoked")]
        begun = time.perf_counter()
        with ThreadPoolExecutor(8) as pool:
            served = pool.map(lambda pair: _replayed(clients[pair[0] % len(clients)], *pair[1]), enumerate(requests))
            answers = [*served]
        seconds = time.perf_counter() - begun
        audited = [*records(place / "audit.jsonl")]
        for client in clients:
            client.close()
    counts = Counter(record["request"] for record in audited)
    missing = Counter(
        (counts[request_id], status, *what[:2])
        for (request_id, status), what in zip(answers, requests, strict=True)
        if counts[request_id] != 1
    )
    assert not missing, missing
    log = place / "audit.jsonl"
    assert not verify(log).problem, verify(log).problem
    content = log.read_bytes()
    lines = content.splitlines(keepends=True)
    unseen = 0
    for n in range(200):
        place_of = chance.randrange(len(lines))
        harmed = lines[:place_of] + lines[place_of + 1 :] if n % 2 else _edited(lines, place_of, chance)
        log.write_bytes(b"".join(harmed))
        unseen += not verify(log).problem
    log.write_bytes(content)
    assert not unseen, unseen
    statuses = Counter(status for _, status in answers)
    return {
        "requests": len(answers),
        "statuses": _told(statuses),
        "missing or twice": 0,
        "lines edited or removed": 200,
        "not seen": 0,
        "requests a second": round(REPLAYED / seconds),
    }


_REPLAY: Sequence[tuple[str, str, Any]] = (
    ("POST", "/api/v1/search", {"question": "how is gout treated?"}),
    ("GET", "/api/v1/search?q=asthma", None),
    ("GET", "/api/v1/documents/leaflet-iga-nephropathy", None),
    ("GET", "/api/v1/documents/leaflet-gout/original", None),
    ("GET", "/api/v1/documents", None),
    ("GET", "/export.csv?q=gout", None),
    ("GET", "/d/main/leaflet-gout?q=gout", None),
    ("DELETE", "/api/v1/documents/none", None),
    ("GET", "/api/v1/metrics", None),
    ("POST", "/api/v1/explain", {"entity": "Gout", "doc_id": "leaflet-gout"}),
)  # fmt: skip


def _replayed(client: httpx.Client, method: str, path: str, body: Any) -> tuple[str, int]:
    answer = client.request(method, path, json=body)
    return answer.headers["x-request-id"], answer.status_code


def _edited(lines: list[bytes], place: int, chance: random.Random) -> list[bytes]:
    line = bytearray(lines[place])
    at = chance.randrange(len(line) - 1)
    line[at] = line[at] ^ 1
    return [*lines[:place], bytes(line), *lines[place + 1 :]]


def s7_attacks(place: Path) -> Counted:
    """Cut, edit, reorder, delete, forge and put back a log, its head and counter, with and without the key."""
    return counted(place, ATTACKED)


def s8_canaries(place: Path) -> Counted:
    """Names in notes, file names and questions: nowhere but in the index, the uploads' folder and the audit log."""
    with running(place, (), "--set", "access.hash_queries=true") as service, service.client("admin") as client:
        upload = _upload_canary(client)
        requests = 0
        for canary in CANARIES:
            for method, path, body in (
                ("POST", "/api/v1/search", {"question": f"what has {canary}?"}),
                ("GET", f"/api/v1/search?q={canary}&where=source={canary}", None),
                ("POST", "/api/v1/search", {"question": canary, "k": -1}),
                ("POST", "/api/v1/search", {"question": canary, "group_by": canary}),
                ("POST", "/api/v1/search", {canary: canary}),
                ("POST", "/api/v1/explain", {"entity": canary, "doc_id": canary}),
                ("GET", f"/api/v1/documents/{canary}", None),
                ("GET", f"/api/v1/documents?index={canary}", None),
                ("GET", f"/api/v1/entities?prefix={canary}&limit={canary}", None),
                ("GET", f"/{canary}?{canary}={canary}", None),
                ("DELETE", f"/api/v1/documents/{canary}", None),
                ("POST", f"/api/v1/{canary}", {"x": canary}),
            ):
                answer = client.request(method, path, json=body)
                requests += 1
                if answer.status_code >= 400:
                    assert not _holds(answer.text.encode()), (method, path, answer.text)
                    assert not _holds(str(answer.headers).encode())
        metrics = client.get("/api/v1/metrics").text
        assert not _holds(metrics.encode())
        searched = client.post("/api/v1/search", json={"question": f"what has {CANARIES[0]}?"}).json()
        assert any(CANARIES[0] in hit["text"] for hit in searched["hits"]), "the note is found"
    log = service.said.read_bytes()
    audit = (place / "audit.jsonl").read_bytes()
    assert not _holds(log), log
    assert not any(canary.encode() in line for line in audit.splitlines() for canary in CANARIES if b'"query"' in line)
    left = [path for path in _files(place) if _holds(path.read_bytes())]
    strange = [path for path in left if not _may_hold(path.relative_to(place))]
    assert not strange, strange
    return {"requests": requests, "bytes of log": len(log), "upload": upload, "canaries elsewhere": 0}


def s9_deleted(place: Path) -> Counted:
    """After removing and `auscult optimize`, not a byte of a document is left: not in the index, not in uploads."""
    with running(place) as service, service.client("admin") as client:
        # What could not be read never was a document, and stays named in its job.
        _upload_canary(client, broken=False)
        listed = client.get("/api/v1/documents?k=500").json()["documents"]
        ids = [each["doc_id"] for each in listed if "patient" in each["doc_id"] or CANARIES[0] in str(each)]
        assert ids, listed
        for doc_id in ids:
            assert client.delete(f"/api/v1/documents/{doc_id}").status_code == 200
        assert not client.post("/api/v1/search", json={"question": CANARIES[2]}).text.count(CANARIES[1])
    before = sum(_holds(path.read_bytes()) for path in _files(place / "main"))
    done = subprocess.run(
        [sys.executable, "-m", "auscult.cli.main", "optimize", str(place / "main")], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    left = [path for path in _files(place) if _holds(path.read_bytes()) and "audit" not in path.name]
    assert not left, left
    return {"documents": len(ids), "files with it before optimize": before, "after": 0}


def _upload_canary(client: httpx.Client, broken: bool = True) -> str:
    note = (
        f"Patient: {CANARIES[0]}, {CANARIES[1]}\n\nDiagnosis\n\nThe patient has {CANARIES[2]} with itching. "
        f"{CANARIES[0]} takes cetirizine.\n"
    )
    files = [
        ("files", ("patient-note.txt", note.encode(), "text/plain")),
        ("files", ("patient-note.html", f"<h1>{CANARIES[0]}</h1><p>{note}</p>".encode(), "text/html")),
        ("files", (f"{CANARIES[1]}.pdf", b"%PDF-1.4 broken " + note.encode(), "application/pdf")),
    ]
    answer = client.post("/api/v1/documents", files=files if broken else files[:2])
    assert answer.status_code == 202, answer.text
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        job = client.get(answer.headers["location"]).json()
        if job["standing"] not in ("waiting", "reading", "running", "queued", "indexing"):
            return str(job["standing"])
        time.sleep(0.2)
    raise AssertionError("the upload does not end")


def _holds(content: bytes) -> bool:
    lower = content.lower()
    return any(canary.lower().encode(kind) in lower for canary in CANARIES for kind in ("utf-8", "utf-16-le")) or any(
        canary.replace(" ", "%20").lower().encode() in lower for canary in CANARIES
    )


def _may_hold(path: Path) -> bool:
    return path.parts[0] in ("main", "data") or path.name.startswith("audit.jsonl")


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def s10_network(_: Path) -> Counted:
    """The tests of search, index and service with every address but this machine's shut off."""
    rooms = ("access", "guard", "api", "test_audit.py", "test_audit_matrix.py", "test_witness.py")
    places = (
        *(HERE / room for room in rooms),
        TESTS / "search" / "test_access.py",
        TESTS / "readers",
        ROOT / "packages" / "auscult-readers" / "tests",
    )
    done = _python(TESTS / "no_network.py", *map(str, places))
    assert done.returncode == 0, done.stdout[-3000:]
    found: Counted = json.loads(done.stdout.strip().splitlines()[-1])
    assert not found["tried to reach others"], found
    return found


def s11_supply(_: Path) -> Counted:
    """Licences of all that is installed with it; no pickle, no eval, no shell in the source."""
    licence_of = licences()
    bad = copyleft(licence_of)
    assert not bad, bad
    calls = [call for source in SOURCES for call in unsafe_calls(source)]
    assert not calls, calls
    rules = "S301,S302,S307,S102,S602,S604,S605,S506,S324"
    command = [sys.executable, "-m", "ruff", "check", "--select", rules, *map(str, SOURCES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return {"packages": len(licence_of), "copyleft": 0, "unsafe calls": 0}


def s12_uploads(place: Path) -> Counted:
    """Uploads beyond every limit: refused or named, and the service goes on."""
    statuses = Counter[int]()
    with running(place, (), "--set", "limits.upload=3000000", "--set", "limits.files=5") as service:
        with service.client("admin") as client:
            for files in _large_uploads():
                try:
                    answer = client.post("/api/v1/documents", files=files)
                    statuses[answer.status_code] += 1
                    if answer.status_code == 202:
                        _ended(client, answer.headers["location"])
                except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
                    statuses[413] += 1
                assert client.get("/api/v1/health").status_code == 200
            assert client.post("/api/v1/search", json={"question": "gout"}).json()["hits"]
        slow = _slow(service)
    assert set(statuses) <= {202, 400, 413, 422}, statuses
    disk = sum(path.stat().st_size for path in _files(place / "data")) + sum(
        path.stat().st_size for path in _files(place / "tmp")
    )
    assert disk < 20_000_000, disk
    return {"uploads": sum(statuses.values()), "statuses": _told(statuses), "a slow one, status": slow, "lost": 0}


def s14_commands(place: Path) -> Counted:
    """Every command, with the C library watched: look-ups, connections beyond this machine, files that it leaves."""
    watch = Watch(place / "watch")
    prepare(watch)
    every = commands(place / "all")
    for asked in every:
        done = watch.auscult(*asked.arguments)
        assert done.returncode == asked.code, (asked, done.stderr)
    return {"commands": len(every), **_sent_nothing(watch)}


def s14_asked(place: Path) -> Counted:
    """A minute of a service under load and one of MCP, watched likewise; beside it what the runtime alone would do."""
    watch, unwatched = Watch(place / "watch"), Watch(place / "other")
    index = _watched_index(watch, place, 12)
    with watch.serving(str(index)) as url:
        requests = ask_service(url, 60)
    calls = ask_tools(watch, index, 60)
    counted = {"requests": requests, "calls of tools": calls, **_sent_nothing(watch)}
    model = ROOT / "src" / "auscult" / "encoders" / "pretrained" / "fast" / "model.onnx"
    plain = f"import time, onnxruntime as o; o.InferenceSession({str(model)!r}); time.sleep(60)"
    unwatched.run(sys.executable, "-c", plain)
    return {**counted, "look-ups of the runtime alone, not switched off": len(unwatched.calls)}


def s14_indexing(place: Path) -> Counted:
    """A long indexing in this process, in others and by Ray, watched likewise."""
    watch = Watch(place / "watch")
    begun = time.perf_counter()
    for executor in ("here", "processes", "ray"):
        _watched_index(watch, place / executor, 6_000, "--executor", executor)
    seconds = time.perf_counter() - begun
    return {"documents": 18_000, "minutes": round(seconds / 60, 1), **_sent_nothing(watch)}


def _watched_index(watch: Watch, place: Path, number: int, *options: str) -> Path:
    place.mkdir(exist_ok=True)
    corpus = many_documents(place / "many.jsonl", number)
    done = watch.auscult("index", str(corpus), "--out", str(place / "index"), *options)
    assert done.returncode == 0, done.stderr
    return place / "index"


def _sent_nothing(watch: Watch) -> Counted:
    calls, files = watch.calls, watch.files
    assert not calls, calls
    assert not files, files
    return {"look-ups": 0, "connections beyond this machine": 0, "files of telemetry": 0}


def _large_uploads() -> Iterator[list[tuple[str, tuple[str, bytes, str]]]]:
    def named(name: str, content: bytes) -> tuple[str, tuple[str, bytes, str]]:
        return "files", (name, content, "application/octet-stream")

    bomb = BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(20):
            archive.writestr(f"n{n}.txt", b"\0" * 20_000_000)
    many = BytesIO()
    with zipfile.ZipFile(many, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(20_000):
            archive.writestr(f"n{n}.txt", b"x")
    outside = BytesIO()
    with zipfile.ZipFile(outside, "w") as archive:
        archive.writestr("../../../outside.txt", b"x" * 100)
    yield [named("large.txt", b"x" * 4_000_000)]
    yield [named("large.txt", b"x" * 100_000_000)]
    yield [named(f"{n}.txt", b"x") for n in range(6)]
    yield [named("bomb.zip", bomb.getvalue())]
    yield [named("many.zip", many.getvalue()[:2_900_000])]
    yield [named("outside.zip", outside.getvalue())]
    yield [named("deep.html", b"<div>" * 500_000)]
    yield [named("deep.xml", b"<a>" * 900_000)]
    yield [named("line.txt", b"word " * 500_000)]
    yield [named("empty.pdf", b"")]
    yield [named("entities.xml", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')]


def _ended(client: httpx.Client, job: str) -> None:
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        if client.get(job).json()["standing"] not in ("waiting", "reading", "running", "queued", "indexing"):
            return
        time.sleep(0.2)
    raise AssertionError("an upload does not end")


def _slow(service: Running) -> int:
    """Of a request whose body never comes."""
    url = httpx.URL(service.url)
    with socket.create_connection((url.host, url.port or 80), timeout=60) as wire:
        shown = service.keys["admin"]
        head = f"POST /api/v1/search HTTP/1.1\r\nHost: {url.host}\r\nAuthorization: Bearer {shown}\r\n"
        wire.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        status = int(wire.recv(65_536).split()[1])
    assert status == 408, status
    return status


def _python(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def _tests(*places: Path) -> Counted:
    """Run some tests; how many have passed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        *map(str, places),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    assert done.returncode == 0, done.stdout[-3000:]
    passed = re.search(r"(\d+) passed", last)
    return {"tests": int(passed[1]) if passed else 0, "failed": 0}


def _told(statuses: Counter[int]) -> str:
    return ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))


def s13_writes(place: Path) -> Counted:
    """Every way to write by twelve callers, to own, foreign, hidden and planted documents: nothing beyond a key."""
    write_matrix.build(place, load_model("fast"), "fast")
    with (
        running(place, indexes=write_matrix.names()) as service,
        httpx.Client(base_url=service.url, timeout=60) as client,
    ):

        def ask(caller: str, method: str, path: str, **more: Any) -> httpx.Response:
            shown = {"none": {}, "wrong": {"Authorization": f"Bearer {new_key()}"}}
            headers = shown[caller] if caller in shown else service.headers(caller)
            # Who shows no good key more than sixty times a minute has to wait.
            while (answer := client.request(method, path, headers=headers, **more)).status_code == 429:
                time.sleep(int(answer.headers["retry-after"]))
            return answer

        outcome = write_matrix.run(ask, place)
    assert not outcome.wrong, outcome.wrong[:10]
    assert outcome.changed == len(write_matrix.WRITERS) * len(write_matrix.FORMS), outcome.changed
    return {
        "callers": len(write_matrix.CALLERS),
        "ways": len(outcome.attempts),
        "targets": sum(outcome.attempts.values()),
        "statuses": _told(outcome.statuses),
        "of their own replaced": outcome.changed,
        "beyond what a key has": 0,
    }


def r10_full_disk(place: Path) -> Counted:
    """A disk that is full while documents come in and requests are logged: searches go on, nothing is lost or half."""
    disk = place / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)], check=False)
    assert mounted.returncode == 0, "expected rights to mount a small disk (root): run it in a container of your own"
    try:
        return _on_a_full_disk(disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _on_a_full_disk(disk: Path) -> Counted:
    note = {"files": ("new.txt", b"Quillfever\n\nSymptoms\nQuillfever begins with a rash.\n", "text/plain")}
    answered = refused = 0
    with running(disk, (), "--set", "access.audit_goes_on=true") as service, service.client("admin") as client:
        client.post("/api/v1/search", json={"question": "gout"})
        with (disk / "filler").open("wb") as filler:
            try:
                while True:
                    filler.write(bytes(65_536))
                    filler.flush()
            except OSError:
                pass
        assert shutil.disk_usage(disk).free == 0
        before = client.post("/api/v1/search", json={"question": "gout"}).json()["hits"]
        for number in range(60):
            answer = client.post("/api/v1/search", json={"question": f"gout {number}"})
            assert answer.status_code == 200, answer.text
            assert answer.json()["hits"]
            answered += 1
        for _ in range(5):
            answer = client.post("/api/v1/documents", files=note)
            if answer.status_code == 202:
                _ended(client, answer.headers["location"])
                assert client.get(answer.headers["location"]).json()["standing"] == "failed"
            else:
                assert answer.status_code == 507, answer.text
                assert answer.json()["error"]["remedy"]
            refused += 1
        assert client.post("/api/v1/search", json={"question": "gout"}).json()["hits"] == before
        (disk / "filler").unlink()
        answer = client.post("/api/v1/documents", files=note)
        _ended(client, answer.headers["location"])
        hits = client.post("/api/v1/search", json={"question": "quillfever symptoms"}).json()["hits"]
        assert "Quillfever" in hits[0]["text"], hits[:1]
    assert verify_index(disk / "main") == ""
    return {"searches while it was full": answered, "uploads refused": refused, "lost or half-written": 0}


def verify_index(folder: Path) -> str:
    """What `auscult verify` finds."""
    command = [sys.executable, "-m", "auscult.cli.main", "verify", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


CHECKS: dict[str, Callable[[Path], Counted]] = {
    "S1": s1_schema, "S1, mutated": s1_mutated, "S2": s2_readers, "S3": s3_scripts, "S4": s4_names, "S5": s5_matrix,
    "S6": s6_turns, "S6, slow": s6_slow, "S7": s7_audit, "S7, harmed": s7_attacks, "S8": s8_canaries,
    "S9": s9_deleted, "S10": s10_network, "S11": s11_supply, "S12": s12_uploads, "S13": s13_writes,
    "S14, commands": s14_commands, "S14, asked": s14_asked, "S14, indexing": s14_indexing,
    "R10": r10_full_disk,
}  # fmt: skip


if __name__ == "__main__":
    count(CHECKS, sys.argv[1:], "Security", RESULT)
