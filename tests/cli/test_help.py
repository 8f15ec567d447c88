"""The help of each command, as it is shown on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from snapshots import check_snapshot

KEPT = Path(__file__).parent / "snapshots" / "help"


def paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command and group of commands."""
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from paths(inner, (*path, name))


PATHS = [*paths(typer.main.get_command(app))]


def kept(path: tuple[str, ...]) -> Path:
    """Return the file of a command's help."""
    return KEPT / f"{'-'.join(('auscult', *path))}.txt"


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_is_as_it_was(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    done = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}).invoke(
        app, [*path, "--help"], prog_name="auscult"
    )
    assert done.exit_code == 0
    lines = [line.rstrip() for line in done.output.strip().splitlines()]
    check_snapshot("\n".join(lines) + "\n", kept(path))


def test_removed_commands_have_no_stored_help() -> None:
    assert {path.name for path in KEPT.iterdir()} == {kept(path).name for path in PATHS}
