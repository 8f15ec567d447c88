"""`auscult train`: what it says while it trains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from auscult.cli.main import app

pytest.importorskip("lightning")


def test_what_is_said_is_printed_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auscult.training import run
    from auscult.training.folder import Outcome

    def speaking(*_: object, say: Callable[[str], None], **__: object) -> Any:
        say("reading out/[old] [/dim] files")
        record = {"model": "e", "best_epoch": 0, "history": []}
        return Outcome(tmp_path / "model", record)

    monkeypatch.setattr(run, "train", speaking)
    experiment = tmp_path / "e.yaml"
    corpora = "corpora: [{name: nhs}]\nvalidation: {corpora: [nhs]}\n"
    experiment.write_text(f"name: e\ntrack: zero-shot\n{corpora}")
    done = CliRunner().invoke(app, ["train", str(experiment), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "reading out/[old] [/dim] files" in done.output
