"""Kept runs: ranked once, told apart by what was asked and read, and dated when they were made."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from auscult_lab.evaluation import comparing
from auscult_lab.evaluation.comparing import kept_run
from auscult_lab.evaluation.comparison import Contender, compare_runs
from auscult_lab.evaluation.task import Task
from auscult_lab.scorers.lexical import TfIdfScorer
from leaflet_task import PASSAGES, leaflet_task


class _Counted(TfIdfScorer):
    """Counts how often it reads the collection."""

    read = 0

    def prepare(self, documents: object) -> None:  # type: ignore[override]
        self.read += 1
        super().prepare(documents)  # type: ignore[arg-type]


def contender() -> Contender:
    return Contender(scorer=_Counted(), track="untrained")


def times_read(task: Task, folder: Path) -> int:
    asked = contender()
    kept_run(task, asked, folder)
    assert isinstance(asked.scorer, _Counted)
    return asked.scorer.read


def changed(task: Task) -> Task:
    first = task.documents[0]
    return dataclasses.replace(task, documents=(dataclasses.replace(first, text=f"{first.text}!"), *task.documents[1:]))


def test_cached_runs_need_the_same_task_and_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    task = leaflet_task(3, PASSAGES[0])
    assert times_read(task, tmp_path) == 1
    assert times_read(task, tmp_path) == 0
    assert times_read(changed(task), tmp_path) == 1, "a letter of a document is another"
    assert times_read(task, tmp_path) == 1
    monkeypatch.setattr(comparing, "__version__", "another")
    assert times_read(task, tmp_path) == 1
    monkeypatch.setattr(comparing, "find_revision", lambda: "another")
    assert times_read(task, tmp_path) == 1
    assert times_read(task, tmp_path) == 0


def test_commits_do_not_invalidate_runs_of_fingerprinted_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    task, model = leaflet_task(3, PASSAGES[0]), dataclasses.replace(contender(), fingerprint="weights")
    first = kept_run(task, model, tmp_path)
    monkeypatch.setattr(comparing, "find_revision", lambda: "another")
    assert kept_run(task, model, tmp_path) == first
    assert model.scorer.read == 1  # type: ignore[attr-defined]


def test_a_record_says_when_its_run_was_made(tmp_path: Path):
    task, model = leaflet_task(3, PASSAGES[0]), contender()
    kept_run(task, model, tmp_path)
    (described,) = tmp_path.glob("*.json")
    content = json.loads(described.read_text())
    content["made"] = {"version": "0", "revision": "abc", "hardware": "an abacus", "date": "1999-01-01T00:00:00+00:00"}
    described.write_text(json.dumps(content))
    (record,) = compare_runs(task, [model], [kept_run(task, model, tmp_path)]).records
    assert (record.version, record.revision, record.hardware, record.date) == tuple(content["made"].values())
