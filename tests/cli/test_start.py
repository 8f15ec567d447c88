"""What a command imports before it does anything: little, so that `--version` and `--help` come at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from auscult import __version__
from auscult.cli.application import COMMANDS, SERVICE

#: What no help needs: models, other people's servers, and the lab.
NEVER = ("torch", "onnxruntime", "tokenizers", "fastapi", "mcp", "psycopg", "pymilvus", "auscult_lab")


def loaded(*arguments: str) -> tuple[str, set[str]]:
    """Run a command in a process of its own. Return what it prints, and the modules that were imported for it."""
    program = (
        "import sys\n"
        "from auscult.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return done.stdout, set(done.stderr.split())


def test_version_loads_no_command_line_library() -> None:
    out, modules = loaded("--version")
    assert out == f"auscult {__version__}\n"
    assert not modules & {"typer", "click", "rich", "auscult.extensions", "auscult.cli.application", *NEVER}


@pytest.mark.parametrize("command", ["search", "index", "serve", "keys"])
def test_command_help_loads_no_other_command(command: str) -> None:
    out, modules = loaded(command, "--help")
    assert f" {command} [OPTIONS]" in out
    built_in = {name: f"auscult.cli.{file}" for name, (file, _) in COMMANDS.items()}
    files = {**built_in, **{name: f"auscult_service.cli.{name}" for name in SERVICE}}
    assert files[command] in modules
    assert not modules & {*files.values(), *NEVER} - {files[command]}
