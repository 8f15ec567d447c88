"""The process that reads files: bytes come in by a pipe, drafts go out by another; run by `process.worker`.

Files come from anywhere, and a fault in a parser of theirs may be used to harm. So this process opens no network
address and starts no program, writes no file, takes no more memory than it was given and ends itself when a file takes
too long; what it says is read as data (`readers.process.wire`).
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
from auscult.readers.process.wire import draft_to_bytes, packed
from auscult.readers.records.rows import Columns
from auscult.readers.registry import Registry

DRAFT, END, REFUSED = b"D", b"E", b"R"
"""What an answer begins with: a draft, the end of a file's drafts, or the reason why there are none (or no more)."""
SIZE = 8
_FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn")
# How much longer than it may a file is read before the process ends itself, should nobody have ended it.
_GRACE = 5


def main() -> None:
    """Answer until nobody asks any more."""
    # Whatever a parser prints stays out of the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    questions = sys.stdin.buffer
    settings = json.loads(_read(questions) or b"{}")
    registry = Registry(Columns.from_json(settings["columns"]), settings["readers"])
    _confine(settings["memory"])
    _answer(answers, END, b"")
    while (head := _read(questions)) is not None:
        file = SourceFile(json.loads(head)["name"], _read(questions) or b"")
        faulthandler.dump_traceback_later(settings["seconds"] + _GRACE, exit=True)
        for kind, content in _drafts(registry, file):
            # While an answer waits to be taken, no time counts; whoever asked counts all that reading takes.
            faulthandler.cancel_dump_traceback_later()
            _answer(answers, kind, content)
            faulthandler.dump_traceback_later(settings["seconds"] + _GRACE, exit=True)
        faulthandler.cancel_dump_traceback_later()


def _drafts(registry: Registry, file: SourceFile) -> Iterator[tuple[bytes, bytes]]:
    """A file's answers."""
    try:
        reader = registry.reader_of(file)
        for draft in reader.read(file):
            yield DRAFT, packed(reader.name.encode(), draft_to_bytes(draft))
    except UnreadableError as error:
        yield REFUSED, _refusal(error.kind, error.expected, error.got, error.remedy)
    except AuscultError as error:
        yield REFUSED, _refusal("unreadable file", error.expected, error.got, error.remedy)
    except MemoryError:
        yield REFUSED, _refusal("too much memory", "a file that is read in the memory given", "one that takes more", "")
    except RecursionError:
        yield REFUSED, _refusal("nested too deeply", "a file that is nested less", "too many levels", "leave it out")
    except Exception as error:
        # Its message may hold words of the file: only its kind is told.
        got = f"a fault of the reader ({type(error).__name__})"
        yield REFUSED, _refusal("reader failed", "a file that can be read", got, "leave it out, and report it")
    else:
        yield END, b""


def _confine(memory: int) -> None:
    """Give up what reading needs none of."""
    for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        # Some systems know no such limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    sys.addaudithook(_forbid)


def _forbid(event: str, arguments: Any) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a process that reads files does not do this: {event}")


def _read(stream: BufferedReader | BinaryIO) -> bytes | None:
    """The next part; None at the end."""
    size = stream.read(SIZE)
    return stream.read(int.from_bytes(size, "little")) if len(size) == SIZE else None


def _answer(stream: BufferedWriter | BinaryIO, kind: bytes, content: bytes) -> None:
    stream.write(kind + len(content).to_bytes(SIZE, "little") + content)
    stream.flush()


def _refusal(*told: str) -> bytes:
    return json.dumps(told).encode()


if __name__ == "__main__":
    main()
