"""Without this package, each of its commands names it, and the other commands work."""

from __future__ import annotations

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from auscult.cli.application import COMMANDS, SERVICE, application
from auscult.cli.main import main


@pytest.mark.parametrize("command", SERVICE)
def test_commands_name_the_missing_package(command: str, alone: None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"`auscult {command}` is added by auscult-service: pip install auscult-service" in said


def test_the_help_lists_only_the_other_commands(alone: None) -> None:
    command = get_command(application())
    assert isinstance(command, TyperGroup)
    assert {*command.commands} == {*COMMANDS}
