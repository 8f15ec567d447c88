"""The witness of an audit log: a file or a command gets the head, and nobody waits for it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.errors import ConfigError, DataError
from auscult_service.audit import AuditLog, open_audit
from auscult_service.audit_heads import Head, Witness, _append, read_kept
from auscult_service.settings import AccessOptions, Settings
from guarded_service import guarded


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


def script(place: Path, text: str) -> str:
    """Return a witness' command that runs a Python script."""
    (place / "told.py").write_text(text)
    return f"| {sys.executable} '{place / 'told.py'}' '{place / 'got it; $(ls)'}'"


def test_heads_are_written_at_start_interval_and_end(tmp_path: Path) -> None:
    place = tmp_path / "heads.jsonl"
    log = AuditLog(tmp_path / "audit.jsonl", witness=Witness(str(place), 0.05))
    until(lambda: place.stat().st_size > 0)
    log.write({"action": "search"}).result(5)
    until(lambda: [kept.head.seq for kept in read_kept(place)][-1] == 1)
    time.sleep(0.2)
    assert len(read_kept(place)) == 2, "a head that has not changed is not handed on again"
    log.write({"action": "search"})
    log.close()
    assert [kept.head.seq for kept in read_kept(place)] == [0, 1, 2]
    assert place.stat().st_mode & 0o777 == 0o600


def test_commands_get_heads_on_standard_input_without_shell(tmp_path: Path) -> None:
    to = script(tmp_path, "import sys, pathlib\npathlib.Path(sys.argv[1]).open('a').write(sys.stdin.read())")
    log = AuditLog(tmp_path / "audit.jsonl", witness=Witness(to, 3600))
    log.write({"action": "search"}).result(5)
    log.close()
    lines = (tmp_path / "got it; $(ls)").read_text().splitlines()
    assert json.loads(lines[-1])["seq"] == 1
    assert json.loads(lines[-1])["hash"] == json.loads((tmp_path / "audit.jsonl.head").read_text())["hash"]


def test_a_hanging_command_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_service.audit_heads._LIMIT", 1.0)
    to = script(
        tmp_path,
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path(sys.argv[1]).write_text(str(child.pid))\n"
        "time.sleep(600)",
    )
    witness = Witness(to, 0.05)
    log = AuditLog(tmp_path / "audit.jsonl", witness=witness)
    begun = time.monotonic()
    log.write({"action": "search"}).result(5)
    assert time.monotonic() - begun < 1, "records do not wait for it"
    until(lambda: "more than 1 seconds" in witness.trouble)
    log.close()
    child = int((tmp_path / "got it; $(ls)").read_text())
    until(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2])


def test_a_failing_witness_is_reported_and_answers_continue(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    flag = tmp_path / "works"
    to = script(tmp_path, f"import sys, pathlib\nsys.exit(0 if pathlib.Path({str(flag)!r}).exists() else 7)")
    with guarded(tmp_path, access=AccessOptions(witness=to, witness_seconds=0.05)) as service:

        def health() -> str:
            return service.client.get("/api/v1/health").headers.get("x-auscult-trouble", "")

        until(lambda: health() == "the audit log's witness cannot be reached")
        answer = service.client.get("/api/v1/search", params={"q": "gout"}, headers=service.headers("read"))
        assert answer.status_code == 200
        flag.touch()
        until(lambda: health() == "")
    assert "the audit log's witness has not got the head: the command ended with 7" in caplog.text


def test_partial_heads_from_a_full_disk_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "heads.jsonl"
    for torn in (b'{"seq": 3, "ha', b'\n{"se'):
        with place.open("ab") as file:
            file.write(torn)
        assert read_kept(place)[:1] == [each for each in read_kept(place) if each.head.seq == 0][:1]
        AuditLog(tmp_path / "audit.jsonl", witness=Witness(str(place), 3600)).close()
        read_kept(place)
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: real(descriptor, content[:9]))
    witness = Witness(str(place), 3600)
    AuditLog(tmp_path / "audit.jsonl", witness=witness).close()
    assert witness.trouble == "no space is left for it"
    monkeypatch.undo()
    AuditLog(tmp_path / "audit.jsonl", witness=Witness(str(place), 3600)).close()
    assert read_kept(place)[-1].head.seq == 0


def test_torn_heads_in_append_only_files_are_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "heads.jsonl"
    AuditLog(tmp_path / "audit.jsonl", witness=Witness(str(place), 3600)).close()

    def append_only(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    for torn in (b'{"se', b'{"seq": 7, "hash": "ab', b'{"seq": 8, "hash": "cd\n'):
        with place.open("ab") as file:
            file.write(torn)
        assert Witness(str(place), 3600).last_kept()[0].head.seq == 0
        monkeypatch.setattr(os, "ftruncate", append_only)
        assert not _append(place, Head(0, "0" * 64, "").to_json().encode() + b"\n")
        monkeypatch.undo()
        AuditLog(tmp_path / "audit.jsonl", witness=Witness(str(place), 3600)).close()
        assert {each.head.seq for each in read_kept(place)} == {0}
    with place.open("ab") as file:
        file.write(b'{"seq": 9, "hash": "ab"}\n')
    with pytest.raises(DataError, match="another SHA-256"):
        read_kept(place)
    with pytest.raises(ConfigError, match="another SHA-256"):
        Witness(str(place), 3600).last_kept()


@pytest.mark.parametrize(
    ("to", "says"),
    [
        ("| ", "can be run, got none"),
        ("| no-such-command-here x", "can be run, got 'no-such-command-here'"),
        ("| 'open", "No closing quotation"),
        ("/no/such/folder/heads.jsonl", "No such file or directory"),
    ],
)
def test_unusable_witnesses_are_reported_at_start(tmp_path: Path, to: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Witness(to, 60)
    with pytest.raises(DataError, match="No such file"):
        read_kept(tmp_path / "none")


def test_a_witness_without_a_log_is_a_mistake(tmp_path: Path) -> None:
    settings = Settings(indexes={"main": tmp_path}, access=AccessOptions(witness=str(tmp_path / "heads.jsonl")))
    with pytest.raises(ConfigError, match="--audit"):
        open_audit(settings)
