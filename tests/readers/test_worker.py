"""Reading in a process of its own: whatever a file does to its reader, the next file is read."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from auscult.errors import ConfigError
from auscult.files.limits import limits
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.reading import Reading
from auscult.readers.process.worker import ReadingProcess
from harmful_readers import READERS

GOOD = SourceFile("good.txt", b"PLAN:\nRest.\n")


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReadingProcess]:
    monkeypatch.setenv("AUSCULT_LIMITS", "seconds=30, reading=700M, drafts=100K")
    with ReadingProcess(readers=READERS) as process:
        yield process


def read(process: ReadingProcess, name: str, content: bytes = b"Some words.") -> list[DraftDocument]:
    return [draft for _, draft in process.read(SourceFile(name, content))]


def is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("deed", "kind", "reason"),
    [
        ("exit", "reader ended", "exit code 7"),
        ("signal", "reader ended", "broke down (SIGSEGV)"),
        ("eat", "too much memory", "700,000,000 bytes of memory"),
        ("flood", "too large", "at most 100,000 bytes are made"),
        ("outside", "reader failed", "a draft of a document"),
        ("overlap", "reader failed", "a draft of a document"),
    ],
)
def test_a_crashing_file_does_not_affect_the_next(process: ReadingProcess, deed: str, kind: str, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(process, f"x.{deed}")
    assert caught.value.kind == kind
    assert reason in str(caught.value)
    ((name, draft),) = process.read(GOOD)
    assert (name, draft.text, [section.text for section in draft.sections]) == ("text", "PLAN:\nRest.\n", ["Rest."])


def test_a_file_exceeding_the_time_limit_is_abandoned(process: ReadingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    read(process, "a.txt")
    monkeypatch.setenv("AUSCULT_LIMITS", "seconds=1")
    with pytest.raises(UnreadableError, match="read in 1 s, got one that takes longer") as caught:
        read(process, "x.sleep")
    assert caught.value.kind == "timed out"
    assert [each.text for each in read(process, "a.txt")] == ["Some words."]


def test_reader_errors_contain_no_words_of_the_file(process: ReadingProcess) -> None:
    with pytest.raises(UnreadableError, match=r"a fault of the reader \(ValueError\)") as caught:
        read(process, "x.raise", b"Anna Weber")
    assert "Weber" not in repr(caught.value)


def test_readers_cannot_connect_run_programs_or_write_files(process: ReadingProcess, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        with pytest.raises(UnreadableError, match="PermissionError"):
            read(process, "x.connect", str(server.getsockname()[1]).encode())
        with pytest.raises(TimeoutError):
            server.accept()
    target = tmp_path / "made"
    for deed in ("run", "write"):
        with pytest.raises(UnreadableError, match=r"PermissionError|OSError"):
            read(process, f"x.{deed}", str(target).encode())
    assert not target.exists() or not target.read_bytes()


def test_output_printed_by_a_reader_is_ignored(process: ReadingProcess) -> None:
    (draft,) = read(process, "x.garble")
    assert draft.text == "Some words."


def test_one_process_reads_many_files_then_ends(process: ReadingProcess) -> None:
    read(process, "a.txt")
    assert process._process is not None
    first = process._process.pid
    for number in range(100):
        assert [draft.text for draft in read(process, f"{number}.txt", b"Note %d." % number)] == [f"Note {number}."]
    assert process._process.pid == first
    process.close()
    assert not is_there(first)
    assert [draft.text for draft in read(process, "b.txt")] == ["Some words."]


def test_the_time_limit_excludes_time_between_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b'{"text": "First."}\n{"text": "Second."}\n'
    with ReadingProcess() as process:
        read(process, "a.txt")
        monkeypatch.setenv("AUSCULT_LIMITS", "seconds=2")
        taken = process.read(SourceFile("x.jsonl", lines))
        assert next(taken)[1].text == "First."
        time.sleep(2.2)
        assert next(taken)[1].text == "Second."


def test_limits_are_set_by_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_LIMITS", "seconds=5, archive=1GB, ratio=10")
    assert (limits().seconds, limits().archive, limits().ratio) == (5, 10**9, 10)
    monkeypatch.setenv("AUSCULT_LIMITS", "hours=5")
    with pytest.raises(ConfigError, match="seconds, scan, reading, drafts"):
        limits()


def test_waiting_drafts_stop_further_files_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_LIMITS", "document=30")
    begun: list[int] = []

    def content(number: int) -> bytes:
        begun.append(number)
        return b"Words of more than thirty characters."

    files = [Found(f"{number}.txt", 0, partial(content, number)) for number in range(12)]
    taken = Reading(readers=READERS, processes=2).read(files, lambda found, digest: False)
    for number in range(12):
        assert next(taken).found.name == f"{number}.txt"
        time.sleep(0.2)
        # Two are under way when the first of them fills the room, and the one that is taken next is read.
        assert max(begun) <= number + 3
    assert next(taken, None) is None
    assert sorted(begun) == [*range(12)]


def test_closing_a_reading_waits_for_no_file() -> None:
    files = [
        Found(f"{number}.{kind}", 0, lambda: b"Some words.") for number, kind in enumerate(["txt", "sleep", "sleep"])
    ]
    reading = Reading(readers=READERS, processes=2)
    taken = reading.read(files, lambda found, digest: False)
    assert next(taken).drafts[0][1].text == "Some words."
    begun = time.monotonic()
    taken.close()
    assert time.monotonic() - begun < 20
    assert [process._process for process in reading._all] == [None, None]
