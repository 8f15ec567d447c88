"""What released versions wrote: this one opens it, or names the command that converts it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auscult.errors import AuscultError
from command import Command
from written_by import WRITTEN, answers_of, scores_of


@pytest.fixture(params=sorted(WRITTEN.iterdir()), ids=lambda folder: folder.name)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what a version wrote."""
    copy: Path = shutil.copytree(request.param, tmp_path / request.param.name)
    return copy


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def opened(use: Callable[[], Any], answers: Any) -> None:
    """Check that what was written answers as it did, or that the message names a command."""
    try:
        used = use()
    except AuscultError as error:
        message = str(error)
    else:
        assert used == answers
        return
    assert re.search(r"auscult (index|optimize|verify|train)\b", message), message


def answers_in(written: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((written / "answers.json").read_text(encoding="utf-8"))
    return answers


def test_an_index_answers_as_it_did(written: Path) -> None:
    opened(lambda: answers_of(written / "index"), answers_in(written)["index"])


def test_an_index_is_whole_and_is_added_to(written: Path, command: Command) -> None:
    index, another = str(written / "index"), written / "another.md"
    assert command("verify", index).code == 0
    another.write_text("# Scurvy\n\n## Treatment\n\nOranges help.\n")
    added = command("add", index, str(another))
    if added.code:
        # Its encoder is no longer shipped: the message says how its documents get into an index of the present one.
        assert "auscult export INDEX --out documents.jsonl" in added.err
        documents, new = str(written / "documents.jsonl"), str(written / "new")
        assert command("export", index, "--out", documents).code == 0
        assert command("index", documents, "--out", new, "--no-knowledge").code == 0
        assert "holds: 8 documents, 24 passages, 39 sentences" in command("info", new).out
        assert command("add", new, str(another)).code == 0


def test_a_model_scores_as_it_did(written: Path) -> None:
    opened(lambda: scores_of(written / "run" / "model") == pytest.approx(answers_in(written)["model"], abs=1e-4), True)


@pytest.mark.parametrize("killed", [False, True], ids=["finished", "killed"])
def test_repeated_run_ends_with_the_same_model(
    written: Path, killed: bool, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(written)
    if killed:
        (written / "run" / "training.json").unlink()
        shutil.rmtree(written / "run" / "model")
    assert command("train", "small.yaml", "--out", "run").code == 0
    scores = answers_in(written)["model"]
    opened(lambda: scores_of(written / "run" / "model") == pytest.approx(scores, abs=1e-4), True)
