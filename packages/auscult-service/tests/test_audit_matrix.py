"""What harms an audit log is noticed, and an operator can go on: attacks, hostile heads, accepted losses."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from audit_attacks import ATTACKS, HOSTILE_HEADS, KEY, Place, counted, made
from auscult.errors import DataError
from auscult_service.audit_files import records
from auscult_service.audit_heads import head_of
from command import Command


@pytest.fixture
def auscult(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def test_each_attack_is_detected_even_without_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No machine stops here, and waiting for the disk takes most of the time.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    counts = counted(tmp_path, times=1)
    assert counts["kinds of attack"] == len(ATTACKS) + 1
    assert counts["not noticed"] == 0
    for who in ("verify", "the service that starts", "the witness alone"):
        assert int(counts[f"noticed by {who}"]) > 5


@pytest.mark.parametrize("key", [None, KEY], ids=["chained", "sealed"])
def test_invalid_heads_are_reported_in_one_sentence(tmp_path: Path, key: bytes | None, auscult: Command) -> None:
    place = made(tmp_path / "log", key)
    for where in (head_of(place.log), place.counter, place.witness):
        good = where.read_bytes()
        for name, content in HOSTILE_HEADS.items():
            if name == "nothing" and where == place.witness:
                continue
            where.write_bytes(content + b"\n")
            if where == place.witness:
                assert "take the line out" in place.start_says(witnessed=True), name
            else:
                assert "cannot be used" in place.start_says(), name
            says = place.verify_says(witnessed=True)
            assert says, name
            assert len(says) < 300, name
        done = auscult(
            "audit", "verify", str(place.log), "--counter", str(place.counter), "--witness", str(place.witness)
        )
        assert (done.code, done.err.count("\n")) == (2, 1)
        where.write_bytes(good)
    assert not place.verify_says(witnessed=True)


def test_hostile_lines_are_no_records(tmp_path: Path) -> None:
    place = made(tmp_path / "log", KEY)
    content = place.log.read_bytes()
    for line in (
        b"[" * 100_000,
        b"[]",
        b"null",
        b'{"seq": true}',
        b'{"seq": 1.0}',
        b"1" * 5000,
        b"\xff\xfe",
        b'{"seq": []}',
    ):
        place.log.write_bytes(line + b"\n" + content)
        assert "no record" in place.verify_says(), line[:20]
        assert place.start_says(), line[:20]
        with pytest.raises(DataError, match="line 1"):
            next(records(place.log))
    sealed = content.splitlines()[0].replace(b'"seal":"', b'"seal":"\\u00e9')
    place.log.write_bytes(sealed + b"\n")
    assert "seal" in place.verify_says()


@pytest.mark.parametrize("key", [None, KEY], ids=["chained", "sealed"])
def test_an_accepted_loss_is_recorded_first(tmp_path: Path, key: bytes | None, auscult: Command) -> None:
    place = made(tmp_path / "log", key)
    (tmp_path / "key").write_bytes(KEY)
    options = [*(["--key", str(tmp_path / "key")] if key else []), "--counter", str(place.counter)]
    whole = auscult("audit", "accept-loss", str(place.log), *options)
    assert (whole.code, "nothing wrong" in whole.err) == (2, True)
    kept = auscult("audit", "head", str(place.log), *options).out
    before = place.log.read_bytes()
    head_of(place.log).unlink()
    assert "head" in place.start_says()
    assert f"accept-loss {place.log} --counter {place.counter}" in place.start_says()
    done = auscult("audit", "accept-loss", str(place.log), *options, "--witness", str(place.witness))
    assert done.code == 0, done.err
    (away,) = place.log.parent.glob("audit.jsonl.lost-*")
    assert (away / "audit.jsonl").read_bytes() == before, "nothing is deleted"
    assert not place.start_says(witnessed=True)
    place.write(30)
    (gap, *rest) = records(place.log)
    assert gap["action"] == "gap"
    assert set(gap["files"]) == {each.name for each in away.iterdir()}
    assert [each["seq"] for each in (gap, *rest)] == [*range(gap["seq"], gap["seq"] + 31)]
    assert gap["seq"] > 20, "beyond every number known"
    told = auscult("audit", "verify", str(place.log), *options, "--witness", str(place.witness))
    assert told.code == 0, told.err
    assert "a gap: it begins with record 22, where a loss was accepted: its head" in told.out
    assert "kept heads are of records before the gap" in told.out
    assert "lost: its head" in auscult("audit", "show", str(place.log)).out.splitlines()[0]
    assert auscult("audit", "verify", str(place.log), *options, "--head", kept).code == 0, "before the gap as well"
    # The log after a gap is as well guarded as one before.
    files = sorted(place.log.parent.glob("audit.*jsonl"))
    files[-1].write_bytes(b"")
    assert place.start_says()
    assert place.verify_says()


def test_a_forged_last_number_is_refused_before_changes(tmp_path: Path, auscult: Command) -> None:
    place = made(tmp_path / "log", None)
    head_of(place.log).write_text(json.dumps({"seq": 2**53 - 1, "hash": "0" * 64, "at": ""}))
    options = ["--counter", str(place.counter)]
    done = auscult("audit", "accept-loss", str(place.log), *options)
    assert done.code == 2
    assert "9,007,199,254,740,991 in its head" in done.err
    assert not list(place.log.parent.glob("*.lost-*"))
    head_of(place.log).unlink()
    assert auscult("audit", "accept-loss", str(place.log), *options).code == 0
    assert not place.start_says(), "a log that follows can be gone on with"


def test_a_kept_head_reveals_a_restored_older_log(tmp_path: Path, auscult: Command) -> None:
    place = made(tmp_path / "log", KEY)
    (tmp_path / "key").write_bytes(KEY)
    options = ["--key", str(tmp_path / "key"), "--counter", str(place.counter)]
    kept = auscult("audit", "head", str(place.log), *options).out
    assert json.loads(kept)["seq"] == 20
    (tmp_path / "kept").write_text(kept)
    for given in (kept, str(tmp_path / "kept")):
        done = auscult("audit", "verify", str(place.log), *options, "--head", given)
        assert (done.code, done.err) == (0, "")
        assert "1 agree" in done.out
    place.put_back(log=True, head=True, counter=True)
    assert auscult("audit", "verify", str(place.log), *options).code == 0
    done = auscult("audit", "verify", str(place.log), *options, "--head", kept)
    assert done.code == 2
    assert "knows 20 records, 9 are there" in done.err
    forged = json.dumps({**json.loads(kept), "seq": 9})
    assert "no seal of this key" in auscult("audit", "verify", str(place.log), *options, "--head", forged).err
    assert auscult("audit", "verify", str(place.log), "--head", "[]").code == 2
    assert auscult("audit", "verify", str(place.log), "--head", "{").code == 2


def test_a_log_without_its_own_counter_is_refused(tmp_path: Path) -> None:
    place = made(tmp_path / "log", KEY)
    place.counter.unlink()
    assert "counter" in place.start_says()
    assert "counter" in place.verify_says()
    other = Place(tmp_path / "log", None)
    shutil.copy(head_of(place.log), place.counter)
    assert "no key is named" in other.start_says()
    assert "no seal of this key" in Place(tmp_path / "log", b"o" * 32).start_says()
    assert not place.start_says()


def test_a_service_killed_while_recording_can_restart(tmp_path: Path) -> None:
    place = made(tmp_path / "log", KEY)
    older = [(each, each.read_bytes()) for each in (head_of(place.log), place.counter)]
    place.write(9)
    for each, content in older:
        each.write_bytes(content)
        assert not place.start_says()
        assert not place.verify_says()
