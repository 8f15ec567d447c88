"""Mutated requests, names that lead elsewhere, bombs: no fault, one shape of error, nothing given out."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from attacks import TRAVERSALS, Request, faults, mutated, quoted
from auscult_service.settings import ServiceLimits
from guarded_service import Guarded, guarded


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("attacks")) as service:
        yield service


def sent(service: Guarded, request: Request, key: str = "admin") -> list[str]:
    """What is wrong with the answer."""
    answer = service.client.request(
        request.method, request.path, content=request.body, headers={**service.headers(key), **request.headers}
    )
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return faults(answer.status_code, headers, answer.content, request.path)


def test_mutated_requests_are_answered_in_one_shape(service: Guarded) -> None:
    for request in mutated(150, seed=7):
        found = sent(service, request)
        assert not found, (request, found)


@pytest.mark.parametrize("name", TRAVERSALS, ids=range(len(TRAVERSALS)))
def test_names_in_paths_never_leave_their_folder(service: Guarded, name: str) -> None:
    for raw in (False, True):
        place = quoted(name, random.Random(1 if raw else 2))
        for pattern in ("/api/v1/documents/{}", "/d/main/{}", "/static/{}", "/api/v1/jobs/{}", "/sheet/main/1/{}"):
            path = pattern.format(place)
            assert not sent(service, Request("GET", path)), path
    before = {each for each in service.folder.rglob("*") if "data" not in each.parts}
    assert not sent(service, Request("DELETE", f"/api/v1/documents/{quoted(name, random.Random(2))}"))
    assert {each for each in service.folder.rglob("*") if "data" not in each.parts} >= {
        each for each in before if each.exists()
    }


def outside(service: Guarded) -> set[Path]:
    """Every file and folder outside the service's data folder, which is not entered: its uploads come and go."""
    paths: set[Path] = set()
    for folder, folders, files in os.walk(service.folder.parent):
        folders[:] = [name for name in folders if Path(folder, name) != service.settings.data_folder]
        paths.update(Path(folder, name) for name in (*folders, *files))
    return paths


@pytest.mark.parametrize("name", [name for name in TRAVERSALS if "\x00" not in name], ids=str)
def test_uploaded_files_stay_in_their_folder(service: Guarded, name: str) -> None:
    beyond = outside(service)
    safe = name.replace('"', "%22").replace("\r", "").replace("\n", "")
    body = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="' + safe.encode("utf-8", "surrogatepass")
        + b'"\r\nContent-Type: text/plain\r\n\r\nA note.\r\n--x--\r\n'
    )  # fmt: skip
    request = Request("POST", "/api/v1/documents?", body, {"Content-Type": "multipart/form-data; boundary=x"})
    assert not sent(service, request)
    new = {path.name for path in outside(service) - beyond}
    assert new <= {
        *(f"segment-{n:06d}" for n in range(99)),
        "index.sqlite-wal",
        "index.sqlite-shm",
        "CURRENT.draft",
        "lock",
        "audit.jsonl.head",
    }


def test_headers_of_the_caller_do_not_come_back(service: Guarded) -> None:
    for name in ("X-Purpose", "X-Forwarded-For", "X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "Range"):
        for value in ("evil", "/api/v1/metrics", "x" * 8_000, "<script>", "bytes=0-9999999999"):
            headers = {**service.headers("read"), name: value}
            answer = service.client.get("/api/v1/search?q=gout", headers=headers)
            assert answer.status_code == 200
            assert value not in str(dict(answer.headers))


def test_bodies_above_the_limit_are_always_refused(tmp_path: Path) -> None:
    with guarded(tmp_path, limits=ServiceLimits(body=2_000, upload=50_000)) as service:
        headers = {**service.headers("admin"), "Content-Type": "application/json"}

        def pieces(size: int) -> Iterator[bytes]:
            yield b'{"question": "'
            for _ in range(size // 100):
                yield b"x" * 100

        for content in (b"x" * 2_001, pieces(5_000)):
            answer = service.client.post("/api/v1/search", content=content, headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        files = {"files": ("note.txt", b"x" * 60_000, "text/plain")}
        answer = service.client.post("/api/v1/documents", files=files, headers=service.headers("admin"))
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")

        def upload() -> Iterator[bytes]:
            yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
            for _ in range(600):
                yield b"x" * 100
            yield b"\r\n--x--\r\n"

        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = service.client.post(
            "/api/v1/documents", content=upload(), headers={**service.headers("admin"), **kind}
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        answer = service.client.get("/api/v1/search?q=gout", headers=service.headers("admin"))
        assert answer.status_code == 200


def test_refused_excess_requests_say_when_to_retry(tmp_path: Path) -> None:
    with guarded(tmp_path, limits=ServiceLimits(per_minute=10)) as service:
        answers = [service.client.get("/api/v1/version", headers=service.headers("read")) for _ in range(15)]
        # A slow machine gives one back in six seconds.
        assert [each.status_code for each in answers[:10]] == [200] * 10
        refused = [each for each in answers if each.status_code == 429]
        assert refused
        assert all(1 <= int(each.headers["retry-after"]) <= 6 for each in refused)
        assert service.client.get("/api/v1/version", headers=service.headers("write")).status_code == 200
