"""Runs `auscult` commands in this process, with a model that needs no training."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import auscult.cli.main
from auscult.encoders.registry import BUILT_IN, Kind
from encoders import HashedEncoder


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def hashed_model(folder: Path, dim: int = 256, seed: int = 0) -> Path:
    """A model folder that `load_model` opens while a `Command` is there."""
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps({"kind": "hashed", "dim": dim, "seed": seed}))
    return folder


def _load(folder: Path) -> HashedEncoder:
    described = json.loads((folder / "model.json").read_text())
    return HashedEncoder(described["dim"], described["seed"])


class Command:
    """Calls `main` as the shell would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setitem(BUILT_IN, "hashed", Kind(name="hashed", encoder=_load))
        self._monkeypatch = monkeypatch
        self._captured = captured

    def __call__(self, *arguments: str) -> Done:
        self._monkeypatch.setattr(sys, "argv", ["auscult", *arguments])
        code = 0
        try:
            auscult.cli.main.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        return Done(code, *self._captured.readouterr())
