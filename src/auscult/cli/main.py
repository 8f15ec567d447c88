"""The `auscult` command: runs the command line, and turns errors and interrupts into a sentence and an exit code.

Nothing is imported at the top that takes time: `--version` is answered at once, and an interrupt while modules load is
an interrupt.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from auscult import __version__, telemetry
from auscult.errors import AuscultError, printable

_INTERRUPTED, _TERMINATED = 130, 143


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an `AuscultError` becomes one sentence on stderr and exit code 2.

    An interrupt ends it with 130. A wish to end (SIGTERM) is an interrupt, too, that ends it with 143: what is half
    done is cleared away.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--version"]:
        print(f"auscult {__version__}")
        return
    # Before a plugin imports anything.
    telemetry.switch_off()
    terminated = _interrupted_by(signal.SIGTERM)
    try:
        from auscult.cli.application import application, named_command

        application(named_command(given))(args=given)
    except AuscultError as error:
        _say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        # Before the command line's library runs the command: while its modules load.
        _stop(terminated)
    except SystemExit as end:
        # The command line's library makes such an exit of an interrupt.
        if end.code == _INTERRUPTED:
            _stop(terminated)
        raise
    except MemoryError:
        _say("Out of memory. Use a smaller --batch-size, or close other programs.")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough; that is no error.
        sys.stderr.close()
        sys.exit(0)


def _interrupted_by(number: int) -> list[int]:
    """Make a signal an interrupt; the list holds its number once it has come."""
    came: list[int] = []

    def interrupt(*_: object) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    # Elsewhere Python lets nobody say what a signal does.
    if threading.current_thread() is threading.main_thread():
        signal.signal(number, interrupt)
    return came


def _stop(terminated: Sequence[int]) -> NoReturn:
    _say("stopped before the end; the same command can be given again")
    sys.exit(_TERMINATED if terminated else _INTERRUPTED)


def _say(sentence: str) -> None:
    # Only here: commands that need nothing of a search should not load it.
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True, soft_wrap=True).print(f"[bold red]auscult:[/] {escape(printable(sentence))}", highlight=False)


if __name__ == "__main__":
    main()
