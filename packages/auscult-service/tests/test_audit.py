"""The audit log: each request once, a chain that shows every change, seals, a full disk."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auscult.errors import ConfigError
from auscult_service.access.keys import new_key
from auscult_service.audit import AuditLog, audit_key, open_audit
from auscult_service.audit_files import files_of, records, verify
from auscult_service.audit_heads import head_of
from auscult_service.settings import AccessOptions, Settings
from command import Command
from guarded_service import Guarded, guarded

KEY = b"k" * 32


def filled(path: Path, number: int, key: bytes | None = None, **more: Any) -> list[bytes]:
    """A closed log of so many records; its lines."""
    log = AuditLog(path, key, **more)
    for n in range(number):
        log.write({"who": f"w{n}", "action": "search"}).result(5)
    log.close()
    return b"".join(file.read_bytes() for file in files_of(path)).splitlines(keepends=True)


@pytest.mark.parametrize("key", [None, KEY], ids=["chained", "sealed"])
def test_each_changed_line_is_detected(tmp_path: Path, key: bytes | None) -> None:
    path = tmp_path / "audit.jsonl"
    lines = filled(path, 6, key)
    assert verify(path, key)[:4] == (6, 1, "", key is not None)
    swapped = [*lines[:2], lines[3], lines[2], *lines[4:]]
    changed = [*lines[:2], lines[2].replace(b'"w2"', b'"w9"'), *lines[3:]]
    damages = {
        "removed": lines[:2] + lines[3:],
        "the first removed": lines[1:],
        "swapped": swapped,
        "changed": changed,
        "doubled": [*lines[:3], *lines[2:]],
        "put in": [*lines[:3], b'{"seq": 4, "previous": "x"}\n', *lines[3:]],
        "the end cut": lines[:-1],
        "all cut": [],
        "the last changed": [*lines[:-1], lines[-1].replace(b'"w5"', b'"w9"')],
        "half a line": [*lines[:-1], lines[-1][:40]],
        "no JSON": [*lines[:3], b"x\n", *lines[4:]],
    }
    for what, damaged in damages.items():
        path.write_bytes(b"".join(damaged))
        assert verify(path, key).problem, what
    path.write_bytes(b"".join(lines))
    assert not verify(path, key).problem


def test_each_flipped_byte_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    content = b"".join(filled(path, 3, KEY))
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert verify(path, KEY).problem, place


def test_seals_reveal_a_rewritten_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    filled(path, 5, KEY)
    forged = tmp_path / "forged" / "audit.jsonl"
    filled(forged, 4)
    for name in ("audit.jsonl", "audit.jsonl.head"):
        (tmp_path / name).write_bytes((forged.parent / name).read_bytes())
    assert not verify(path).problem, "without the key a whole new chain is as good as the old"
    assert "seal" in verify(path, KEY).problem
    assert "seal" in verify(path, b"another key of thirty-two bytes!").problem


def test_missing_records_and_missing_heads_are_detected(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    lines = filled(path, 4)
    path.write_bytes(b"".join(lines[:2]))
    with pytest.raises(ConfigError, match="its head knows 4 records, 2 are there: the end is missing"):
        AuditLog(path)
    head_of(path).unlink()
    assert "head" in verify(path).problem


def test_a_log_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for _ in range(3):
        filled(path, 4, KEY)
    assert [record["seq"] for record in records(path)] == [*range(1, 13)]
    assert not verify(path, KEY).problem
    # The machine stopped while a record was written: nobody had been answered for it.
    with path.open("ab") as file:
        file.write(b'{"seq": 13, "half')
    assert verify(path, KEY).problem
    filled(path, 1, KEY)
    assert [record["seq"] for record in records(path)] == [*range(1, 14)]
    assert not verify(path, KEY).problem


def test_full_files_are_followed_by_others(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for _ in range(2):
        filled(path, 30, KEY, rotate=2_000)
    files = files_of(path)
    assert len(files) > 3
    assert all(file.stat().st_size < 8_000 for file in files)
    found = verify(path, KEY)
    assert (found.records, found.files, found.problem) == (60, len(files), "")
    files[1].rename(tmp_path / "elsewhere")
    assert verify(path, KEY).problem == "audit.2.jsonl, a file of it, is missing"
    with pytest.raises(ConfigError, match="whole audit log"):
        AuditLog(path, KEY)


def test_only_one_process_may_write_a_log(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    with pytest.raises(ConfigError, match="another process"):
        AuditLog(tmp_path / "audit.jsonl")
    log.close()
    log.close()
    log.open()
    log.write({"action": "search"}).result(5)
    log.close()
    assert not verify(tmp_path / "audit.jsonl").problem


def test_records_of_many_threads_are_one_chain(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")

    def write(name: str) -> None:
        for _ in range(50):
            log.write({"who": name}).result(10)

    threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    log.close()
    assert verify(tmp_path / "audit.jsonl")[:3] == (300, 1, "")


def test_a_query_is_kept_by_its_keyed_hash(tmp_path: Path) -> None:
    said = {"question": "what has Zacharias Quill?", "entity": ""}
    first, again, other = (
        AuditLog(tmp_path / f"{n}.jsonl", key, hash_queries=True) for n, key in enumerate((KEY, KEY, b"o" * 32))
    )
    told = first.query(said)
    assert "Zacharias" not in json.dumps(told)
    assert told == again.query(said) != other.query(said)
    assert told != first.query({**said, "entity": "x"})
    for log in (first, again, other):
        log.close()
    with pytest.raises(ConfigError, match="a key"):
        AuditLog(tmp_path / "none.jsonl", hash_queries=True)


def test_hashing_queries_without_a_key_file_creates_one(tmp_path: Path) -> None:
    settings = Settings(
        indexes={"main": tmp_path}, audit=tmp_path / "audit.jsonl", access=AccessOptions(hash_queries=True)
    )
    log = open_audit(settings)
    assert log is not None
    log.write({**log.query({"question": "x"}), "action": "search"}).result(5)
    log.close()
    place = tmp_path / "audit.jsonl.key"
    assert place.stat().st_mode & 0o777 == 0o600
    assert not verify(tmp_path / "audit.jsonl", audit_key(place)).problem
    with pytest.raises(ConfigError, match="No such file"):
        audit_key(tmp_path / "none")
    (tmp_path / "short").write_text("abc")
    with pytest.raises(ConfigError, match="openssl rand"):
        audit_key(tmp_path / "short")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("audit")) as service:
        yield service


def kept(service: Guarded) -> list[dict[str, Any]]:
    return [*records(service.folder / "audit.jsonl")]


def test_records_name_the_caller_query_and_returned_documents(service: Guarded) -> None:
    before = len(kept(service))
    headers = {**service.headers("ann"), "X-Purpose": "care of a patient\x7f"}
    answer = service.client.post("/api/v1/search", json={"question": "how is gout treated?"}, headers=headers)
    (record,) = kept(service)[before:]
    ids = list(dict.fromkeys(hit["doc_id"] for hit in answer.json()["hits"]))
    assert ids
    told = {name: record[name] for name in ("who", "role", "action", "index", "documents", "status", "purpose")}
    assert told == {
        "who": "ann",
        "role": "write",
        "action": "search",
        "index": "main",
        "documents": ids,
        "status": 200,
        "purpose": "care of a patient",
    }
    assert record["query"] == {"question": "how is gout treated?", "entity": "", "aspects": []}
    assert record["result"] == len(answer.json()["hits"])
    assert record["request"] == answer.headers["x-request-id"]
    assert record["from"] == "testclient"
    assert record["at"].endswith("+00:00")


def test_failed_access_is_recorded_without_the_shown_key(service: Guarded) -> None:
    before = len(kept(service))
    shown = new_key()
    asked = {"Authorization": f"Bearer {shown}"}
    service.client.get("/api/v1/documents/leaflet-gout", headers=asked)
    service.client.get("/api/v1/metrics", headers=service.headers("read"))
    service.client.get("/api/v1/documents/leaflet-gout?index=main", headers=service.headers("elsewhere"))
    service.client.post("/login", data={"key": shown})
    refusals = kept(service)[before:]
    assert [(record["who"], record["action"], record["status"]) for record in refusals] == [
        ("", "refused", 401),
        ("read", "metrics", 403),
        ("elsewhere", "view", 404),
        ("", "login", 401),
    ]
    assert refusals[0]["route"] == "/api/v1/documents", "without the document's id"
    assert shown not in json.dumps(refusals)


def test_requests_that_touch_no_data_are_not_recorded(service: Guarded) -> None:
    before = len(kept(service))
    for path in ("/api/v1/health", "/api/v1/ready", "/openapi.json", "/static/page.css", "/login", "/none-such"):
        service.client.get(path, headers=service.headers("read"))
    assert len(kept(service)) == before


def test_without_a_record_there_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with guarded(tmp_path) as service:
        before = len(kept(service))
        fail_writes(monkeypatch)
        answer = service.client.get("/api/v1/search", params={"q": "gout"}, headers=service.headers("read"))
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "audit_unavailable"
        assert "urate" not in answer.text
        assert "hits" not in answer.text
        health = service.client.get("/api/v1/health")
        assert health.status_code == 200
        assert health.headers["x-auscult-trouble"] == "the audit log cannot be written"
        monkeypatch.undo()
        answer = service.client.get("/api/v1/search", params={"q": "gout"}, headers=service.headers("read"))
        assert answer.status_code == 200
        assert "x-auscult-trouble" not in service.client.get("/api/v1/health").headers
        assert len(kept(service)) == before + 1
        assert not verify(service.folder / "audit.jsonl").problem


def test_a_service_may_continue_without_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with guarded(tmp_path, access=AccessOptions(audit_goes_on=True)) as service:
        fail_writes(monkeypatch)
        answer = service.client.get("/api/v1/search", params={"q": "gout"}, headers=service.headers("read"))
        assert answer.status_code == 200
        assert "x-auscult-trouble" in service.client.get("/api/v1/health").headers


def fail_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes half of what is written and then no more."""
    real = os.write

    def full(descriptor: int, content: bytes) -> int:
        if len(content) > 40:
            return real(descriptor, content[:40])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("auscult_service.audit.os.write", full)


@pytest.fixture
def auscult(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def test_the_commands_verify_and_show_a_log(auscult: Command, tmp_path: Path) -> None:
    path, key = tmp_path / "audit.jsonl", tmp_path / "key"
    key.write_bytes(KEY)
    log = AuditLog(path, KEY)
    for n, who in enumerate(("ann", "ben", "")):
        query = log.query({"question": "how is gout treated?", "aspects": []})
        record = {"who": who, "action": "search", "status": 200, "documents": [f"d{n}"], "purpose": "care", **query}
        log.write({"at": f"2026-05-3{n}T10:00:00.000+00:00", **record}).result(5)
    log.close()
    done = auscult("audit", "verify", str(path), "--key", str(key))
    assert (done.code, done.out) == (
        0,
        "whole: 3 records in 1 file(s): chain, seals, end; not checked: counter, kept heads\n",
    )
    assert "not checked: seals, counter" in auscult("audit", "verify", str(path)).out
    shown = auscult("audit", "show", str(path)).out.splitlines()
    assert [line.split("\t")[1] for line in shown] == ["ann", "ben", "nobody"]
    assert '"how is gout treated?"\td0\tpurpose: care' in shown[0]
    for options, number in (
        (["--who", "ben"], 1),
        (["--since", "2026-05-31"], 2),
        (["--until", "2026-05-31"], 2),
        (["--document", "d2"], 1),
        (["--action", "view"], 0),
    ):
        assert len(auscult("audit", "show", str(path), *options).out.splitlines()) == number, options
    as_json = auscult("audit", "show", str(path), "--json", "--who", "ann").out
    assert json.loads(as_json)["query"]["question"] == "how is gout treated?"
    path.write_bytes(path.read_bytes().replace(b"ben", b"bea"))
    done = auscult("audit", "verify", str(path))
    assert done.code == 2
    assert "line 3" in done.err
    assert auscult("audit", "show", str(tmp_path / "none")).code == 2
