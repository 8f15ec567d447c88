"""The `auscult` command: runs the command line, and turns errors and interrupts into a sentence and an exit code.

Slow imports are not at the top, so that `--version` answers at once and an interrupt works while modules load.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from auscult import telemetry
from auscult.errors import AuscultError, printable
from auscult.version import __version__

_INTERRUPTED, _TERMINATED = 130, 143


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Print an `AuscultError` as one sentence on stderr and exit with code 2.

    An interrupt exits with 130. SIGTERM interrupts, too, so that temporary files are deleted, and exits with 143.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["--version"]:
        print(f"auscult {__version__}")
        return
    # Before a plugin imports anything.
    telemetry.switch_off()
    terminated = _interrupted_by(signal.SIGTERM)
    try:
        from auscult.cli.application import application, named_command

        application(named_command(words))(args=words)
    except AuscultError as error:
        _say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        # The interrupt came while modules were loading, before the library ran the command.
        _stop(terminated)
    except SystemExit as end:
        # The command line's library turns an interrupt into this exit.
        if end.code == _INTERRUPTED:
            _stop(terminated)
        raise
    except MemoryError:
        _say("Out of memory. Use a smaller --batch-size, or close other programs.")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of the pipe (head, less) closed it. That is no error.
        sys.stderr.close()
        sys.exit(0)


def _interrupted_by(number: int) -> list[int]:
    """Make a signal interrupt the program. Return a list that contains its number once it has come."""
    came: list[int] = []

    def interrupt(*_: object) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    # Python sets signal handlers in the main thread only.
    if threading.current_thread() is threading.main_thread():
        signal.signal(number, interrupt)
    return came


def _stop(terminated: Sequence[int]) -> NoReturn:
    _say("stopped before the end; the same command can be given again")
    sys.exit(_TERMINATED if terminated else _INTERRUPTED)


def _say(sentence: str) -> None:
    # Imported here, as most commands never print an error.
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True, soft_wrap=True).print(f"[bold red]auscult:[/] {escape(printable(sentence))}", highlight=False)


if __name__ == "__main__":
    main()
