"""The process that reads files, started by `process.worker`. Bytes come through one pipe, drafts go through another.

Files come from anywhere, and a malicious one may exploit a bug in a parser. This process therefore opens no network
connection, starts no program and writes no file. Its memory is limited, and it ends itself if a file takes too long.
Its answers are only data (`readers.process.wire`).
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader, BufferedWriter
from typing import Any, BinaryIO

from auscult.errors import AuscultError
from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.process.wire import DRAFT, END, REFUSED, SIZE, draft_to_bytes, packed
from auscult.readers.registry import Registry
from auscult.readers.rows import Columns
from auscult.readers.soft_hyphens import without_soft_hyphens

_FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn")
# Seconds after the time limit of a file until the process ends itself, if nobody has ended it.
_GRACE = 5


def main() -> None:
    """Answer requests until standard input is closed."""
    # Keep what parsers print out of the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    questions = sys.stdin.buffer
    settings = json.loads(_read_part(questions) or b"{}")
    registry = Registry(Columns.from_json(settings["columns"]), settings["readers"])
    _confine(settings["memory"])
    _send_answer(answers, END, b"")
    while (head := _read_part(questions)) is not None:
        file = SourceFile(json.loads(head)["name"], _read_part(questions) or b"")
        faulthandler.dump_traceback_later(settings["seconds"] + _GRACE, exit=True)
        for kind, content in _answer_file(registry, file):
            # The timer stops while an answer waits to be taken. The other process measures the time of reading.
            faulthandler.cancel_dump_traceback_later()
            _send_answer(answers, kind, content)
            faulthandler.dump_traceback_later(settings["seconds"] + _GRACE, exit=True)
        faulthandler.cancel_dump_traceback_later()


def _answer_file(registry: Registry, file: SourceFile) -> Iterator[tuple[bytes, bytes]]:
    """Yield the answers for a file."""
    try:
        for name, draft in registry.read(file):
            yield DRAFT, packed(name.encode(), draft_to_bytes(without_soft_hyphens(draft)))
    except UnreadableError as error:
        yield REFUSED, _refuse(error.kind, error.expected, error.got, error.remedy)
    except AuscultError as error:
        yield REFUSED, _refuse("unreadable file", error.expected, error.got, error.remedy)
    except MemoryError:
        yield REFUSED, _refuse("too much memory", "a file that is read in the memory given", "one that takes more", "")
    except RecursionError:
        yield REFUSED, _refuse("nested too deeply", "a file that is nested less", "too many levels", "leave it out")
    except Exception as error:
        # The message of the error may contain words of the file, so only its type is sent.
        got = f"a fault of the reader ({type(error).__name__})"
        yield REFUSED, _refuse("reader failed", "a file that can be read", got, "leave it out, and report it")
    else:
        yield END, b""


def _confine(memory: int) -> None:
    """Give up permissions that reading does not need, and limit memory."""
    for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        # Some systems do not have this limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    sys.addaudithook(_forbid)


def _forbid(event: str, arguments: Any) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a process that reads files does not do this: {event}")


def _read_part(stream: BufferedReader | BinaryIO) -> bytes | None:
    """Return the next part; None at the end."""
    size = stream.read(SIZE)
    return stream.read(int.from_bytes(size, "little")) if len(size) == SIZE else None


def _send_answer(stream: BufferedWriter | BinaryIO, kind: bytes, content: bytes) -> None:
    stream.write(kind + len(content).to_bytes(SIZE, "little") + content)
    stream.flush()


def _refuse(*told: str) -> bytes:
    return json.dumps(told).encode()


if __name__ == "__main__":
    main()
