"""Documents that others read make the same index, whoever read them, and are not read twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auscult.encoders import load_model
from auscult.errors import DataError
from auscult.index import PassageIndex
from auscult.ingest.building import build_index
from auscult_engines import bulk
from auscult_engines.bulk import EXECUTORS, Executor, reading_in_bulk
from leaflets import generated, leaflets
from needs import Needs

DOCUMENTS = [*leaflets(), *generated(40)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("bulk") / "alone"
    build_index(DOCUMENTS, load_model("fast"), folder)
    return folder


@pytest.mark.parametrize(
    "executor", [pytest.param(each, marks=[pytest.mark.ray] if each == "ray" else []) for each in EXECUTORS]
)
def test_every_executor_builds_the_same_index(executor: Executor, alone: Path, tmp_path: Path, needs: Needs) -> None:
    if executor == "ray":
        needs.package("ray")
    encoder, out = load_model("fast"), tmp_path / "index"
    workers = 0 if executor == "here" else 2
    with reading_in_bulk(encoder, "fast", out, executor=executor, workers=workers, chunk=5) as reader:
        build_index(reader.stream(DOCUMENTS), reader, out, batch_size=7)
    one, other = PassageIndex.open(alone).reader, PassageIndex.open(out).reader
    assert [one.document(row) for row in one.documents] == [other.document(row) for row in other.documents]
    np.testing.assert_allclose(one.passage_vectors[:], other.passage_vectors[:], atol=1e-5)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_resumed_builds_do_not_read_documents_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, out = load_model("fast"), tmp_path / "index"
    read: list[int] = []
    real = bulk.encode_passages

    def counted(model: Any, documents: Any) -> Any:
        read.append(len(documents))
        if len(read) == 4:
            raise KeyboardInterrupt
        return real(model, documents)

    monkeypatch.setattr(bulk, "encode_passages", counted)
    with pytest.raises(KeyboardInterrupt), reading_in_bulk(encoder, "fast", out, executor="here", chunk=8) as reader:
        build_index(reader.stream(DOCUMENTS), reader, out)
    assert not [*out.glob("store-*")]
    kept = [*(tmp_path / ".index.reading").iterdir()]
    assert len(kept) == 3
    changed = [*DOCUMENTS[:8], *DOCUMENTS[9:]]
    with reading_in_bulk(encoder, "fast", out, executor="here", chunk=8) as reader:
        build_index(reader.stream(changed), reader, out)
    # The first chunk is as it was; the others begin elsewhere.
    assert sum(read) == 4 * 8 + len(changed) - 8
    assert not (tmp_path / ".index.reading").exists()
    assert PassageIndex.open(out).manifest.counts.documents == len(changed)


class Dying:
    """Kills its process when it first reads a document, as a system without memory would."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return _die, (str(self.mark),)


def _die(mark: str) -> Any:
    deaths = len([*Path(mark).iterdir()])
    if deaths < int(Path(mark).name):
        (Path(mark) / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return leaflets()[0]


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    with bulk._Processes("fast", 2) as workers:
        waits = [workers.begin([each]) for each in (Dying(tmp_path / "1"), *leaflets()[1:3])]  # type: ignore[list-item]
        found = [wait() for wait in waits]
    assert [len(each) for each in found] == [1, 1, 1]
    assert len([*(tmp_path / "1").iterdir()]) == 1


def test_a_document_that_keeps_killing_workers_is_named(tmp_path: Path) -> None:
    (tmp_path / "9").mkdir()

    class Named(Dying):
        doc_id = "a"

    with bulk._Processes("fast", 1) as workers:
        wait = workers.begin([Named(tmp_path / "9")])  # type: ignore[list-item]
        with pytest.raises(DataError, match="died 3 times"):
            wait()


def test_a_killed_command_resumes_where_it_stopped(tmp_path: Path) -> None:
    path, out = tmp_path / "many.jsonl", tmp_path / "index"
    with path.open("w", encoding="utf-8") as file:
        for number, document in enumerate(generated(300)):
            if document.text.strip():
                record = {"id": str(number), "title": document.title, "text": f"{number} {document.text}"}
                file.write(json.dumps(record) + "\n")
    command = [
        *(sys.executable, "-m", "auscult.cli.main", "index", str(path), "--out", str(out), "--no-knowledge"),
        *("--executor", "here"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        kept = tmp_path / ".index.reading"
        while not [*kept.glob("*.npz")] and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    before = {each.name for each in kept.glob("*.npz")}
    assert before
    assert not (out / "CURRENT").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not kept.exists()
    PassageIndex.open(out).verify()
