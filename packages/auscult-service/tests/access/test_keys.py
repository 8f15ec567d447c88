"""Keys at rest, and who shows which."""

from __future__ import annotations

import json
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from auscult.errors import ConfigError
from auscult_service.access.keys import PREFIX, Key, KeyFile, add, find, hash_of, new_key, read, revoke
from command import Command, Done


def put(path: Path, name: str, **more: object) -> str:
    shown = new_key()
    add(path, Key(name=name, role="read", hash=hash_of(shown), **more))  # type: ignore[arg-type]
    return shown


def test_only_hashes_are_kept_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    shown = put(path, "ann")
    content = path.read_text()
    assert shown not in content
    assert shown.removeprefix(PREFIX) not in content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["keys.json"], "nothing half-written stays"
    put(path, "ben")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_keys_are_long_and_never_the_same() -> None:
    drawn = {new_key() for _ in range(1000)}
    assert len(drawn) == 1000
    assert {len(key.removeprefix(PREFIX)) for key in drawn} == {43}, "256 bits"


def test_keys_work_until_revoked_or_expired(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    now = datetime.now(UTC)
    shown = put(path, "ann")
    late = put(path, "late", expires=(now + timedelta(hours=1)).isoformat())
    found = find(read(path), shown, now)
    assert found is not None
    assert found.name == "ann"
    assert find(read(path), late, now) is not None
    assert find(read(path), late, now + timedelta(hours=2)) is None
    assert find(read(path), new_key(), now) is None
    assert find(read(path), "", now) is None
    assert find(read(path), "\ud800", now) is None
    revoke(path, "ann")
    assert find(read(path), shown, now) is None
    assert find(read(path), late, now) is not None


def test_a_running_service_reloads_keys_unless_damaged(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    first = put(path, "ann")
    keys = KeyFile(path)
    assert keys.find(first)
    second = put(path, "ben")
    assert keys.find(second)
    revoke(path, "ann")
    assert not keys.find(first)
    assert keys.find(second)
    path.write_text("{")
    assert not keys.find(second)
    path.unlink()
    assert not keys.find(second)
    third = put(path, "cay")
    assert keys.find(third)


def test_keys_made_at_one_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    makers = [threading.Thread(target=put, args=(path, f"k{n}")) for n in range(8)]
    for each in makers:
        each.start()
    for each in makers:
        each.join()
    assert len(read(path)) == 8


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 101, "ann"])
def test_key_names_must_be_printable_and_unique(tmp_path: Path, name: str) -> None:
    put(tmp_path / "keys.json", "ann")
    with pytest.raises(ConfigError, match="name"):
        put(tmp_path / "keys.json", name)


def test_a_revoked_keys_name_can_be_reused(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    put(path, "ann")
    revoke(path, "ann")
    shown = put(path, "ann")
    assert find(read(path), shown, datetime.now(UTC))
    with pytest.raises(ConfigError, match="not revoked"):
        revoke(path, "ben")


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"format": "x", "keys": []}', '{"format": "auscult-keys-1", "keys": [{"name": "a"}]}', "\udcff"],
)
def test_invalid_key_files_are_reported(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match="file of keys"):
        read(path)
    with pytest.raises(ConfigError, match="auscult keys add"):
        read(tmp_path / "none")


def test_invalid_roles_and_expiry_times_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    put(path, "ann")
    told = json.loads(path.read_text())
    for field, value in (("role", "root"), ("expires", "soon"), ("expires", "2027-01-01")):
        damaged = {**told, "keys": [{**told["keys"][0], field: value}]}
        path.write_text(json.dumps(damaged))
        with pytest.raises(ConfigError, match="file of keys"):
            read(path)


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    put(path, "ann")
    path.chmod(0o666)
    with pytest.raises(ConfigError, match="chmod 600"):
        read(path)


@pytest.fixture
def auscult(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def test_the_command_shows_a_key_once(auscult: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "keys.json")
    made = auscult("keys", "add", path, "Ward 3", "--group", "ward-3", "--index", "notes", "--expires", "90")
    assert made.code == 0
    (kept,) = read(Path(path))
    shown = made.out.strip()
    assert find([kept], shown, datetime.now(UTC)) is kept
    assert (kept.role, kept.indexes, kept.groups) == ("read", ("notes",), ("ward-3",))
    listed = auscult("keys", "list", path)
    assert "Ward 3: read; notes; open documents, ward-3; until " in listed.out
    assert shown not in listed.out
    assert auscult("keys", "revoke", path, "Ward 3").out == "revoked: Ward 3\n"
    assert auscult("keys", "list", path).out.rstrip().endswith("; revoked")


def test_options_of_a_new_key_decide_its_access(auscult: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "keys.json")
    auscult("keys", "add", path, "plain")
    auscult("keys", "add", path, "whole", "--all-groups", "--role", "write")
    auscult("keys", "add", path, "admin", "--role", "admin")
    assert [(key.name, key.groups, key.indexes) for key in read(Path(path))] == [
        ("plain", (), None),
        ("whole", None, None),
        ("admin", None, None),
    ]


def wrong(done: Done, *said: str) -> bool:
    return done.code == 2 and all(each in done.err for each in said) and "Traceback" not in done.err


def test_command_mistakes_are_reported_in_one_sentence(auscult: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "keys.json")
    assert wrong(auscult("keys", "list", path), "auscult keys add")
    assert wrong(auscult("keys", "add", path, "x", "--all-groups", "--group", "a"), "--group or --all-groups")
    assert wrong(auscult("keys", "add", path, "x", "--expires", "soon"), "2027-12-31")
    assert wrong(auscult("keys", "add", path, "x", "--expires", "9" * 12), "number of days")
