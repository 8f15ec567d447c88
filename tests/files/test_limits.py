"""What is too large is told in one sentence, with its place, and nothing of it is kept in memory."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auscult.errors import AuscultError, ConfigError, DataError
from auscult.files.limits import VARIABLE, Limits, check_memory, limits
from auscult.files.reading import read_lines
from auscult.ingest.building import build_index
from auscult_lab.corpora.opening import open_corpus
from encoders import HashedEncoder
from leaflets import leaflets


def read(path: Path, *, skip_bad: bool = False) -> int:
    return sum(1 for _ in open_corpus(str(path), skip_bad=skip_bad).documents())


def write(path: Path, *texts: str) -> Path:
    records = ({"id": str(number), "title": "Gout", "text": text} for number, text in enumerate(texts))
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("", Limits()),
        ("line=1kB, word = 2.5 MB", Limits(line=1000, word=2_500_000)),
        ("memory=3G,document=12", Limits(memory=3 * 10**9, document=12)),
    ],
)
def test_limits_are_read_from_the_environment(told: str, found: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, told)
    assert limits() == found


@pytest.mark.parametrize("told", ["line", "lines=3", "word=-1", "file=1TB"])
def test_invalid_limits_are_refused(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, told)
    with pytest.raises(ConfigError, match="line=1GB"):
        limits()


@pytest.mark.parametrize(
    ("most", "texts", "said"),
    [
        ("word=50", ["short words", "a " + "x" * 51], r"words of at most 50 characters.*line 2"),
        ("document=60", ["short", "many words " * 6], r"a document of at most 60 characters.*line 2"),
        ("line=200", ["short", "many words " * 20], r"a line of at most 200 bytes.*line 2"),
        (
            "sentences=3",
            ["One gland. Two glands.", "Gout hurts. It swells. It burns. It ends."],
            r"a document of at most 3 sentences.*line 2",
        ),
        ("file=100", ["short", "some words " * 8], r"a file of at most 100 bytes, unpacked.*line 2"),
    ],
)
def test_too_large_input_is_named_or_skipped(
    most: str, texts: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.jsonl", *texts)
    assert read(path) == 2
    monkeypatch.setenv(VARIABLE, most)
    with pytest.raises(DataError, match=said):
        read(path)
    assert read(path, skip_bad=True) == 1
    table = tmp_path / "a.csv"
    table.write_text("id,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(texts)))
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text * (2 if most.startswith("file") else 1))
    for other in (table, folder):
        if not (other == folder and most.startswith("line")):
            with pytest.raises(DataError, match=said.partition(" at most")[0]):
                read(other)


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """of 300 MB in 300 kB: read with little memory, and not to its end."""
    bomb = tmp_path / "bomb.jsonl.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as file:
        for _ in range(30):
            file.write(b"[" * 10**7)
    program = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 * 10**9, 2 * 10**9))\n"
        "from auscult.cli.main import main\n"
        f"main(['index', {str(bomb)!r}, '--out', {str(tmp_path / 'index')!r}, '--no-knowledge'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "a line of at most 256,000,000 bytes" in " ".join(done.stderr.split())
    assert not (tmp_path / "index").exists()
    with pytest.raises(DataError, match="a line of"):
        next(read_lines(bomb))


def test_indexing_stops_above_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    check_memory()
    monkeypatch.setenv(VARIABLE, "memory=1MB")
    with pytest.raises(AuscultError, match="at most 1,000,000 bytes of memory"):
        check_memory()


def test_documents_that_exceed_the_memory_limit_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "memory=1GB")
    taken = iter([10**8, 2 * 10**9])
    monkeypatch.setattr("auscult.files.limits.peak_memory", lambda: next(taken))
    documents = leaflets()
    with pytest.raises(AuscultError, match=f"2,000,000,000 taken .'{documents[0].doc_id}' to '{documents[-1].doc_id}'"):
        build_index(documents, HashedEncoder(), tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_sigterm_removes_partial_index_files(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    some = [{"id": document.doc_id, "title": document.title, "text": document.text} for document in leaflets()]
    with path.open("w", encoding="utf-8") as file:
        for number in range(2_000):
            for record in some:
                file.write(json.dumps({**record, "id": f"{record['id']}-{number}"}) + "\n")
    out = tmp_path / "index"
    command = [sys.executable, "-m", "auscult.cli.main", "index", str(path), "--out", str(out), "--no-knowledge"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not [*out.glob("*")] and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 143, said
    assert "stopped before the end" in said
    assert "Traceback" not in said
    assert [*out.glob("store-*")] == []
