"""Read files in a separate process with limits on time, memory and size. A crash there concerns only one file.

A process reads many files, one after the other. It is replaced after a number of files, and after a file that it did
not survive. A small note takes a fraction of a millisecond. Requests and answers use pipes that never block.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from auscult.errors import DataError
from auscult.files.limits import VARIABLE, limits
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.wire import DRAFT, END, REFUSED, SIZE, draft_from_bytes, packed, unpacked
from auscult.readers.registry import known_readers
from auscult.readers.rows import Columns

CHUNK = 1 << 16


class GoneError(Exception):
    """The process ended, or its answer was invalid."""


class SlowError(Exception):
    """The process did not answer in time."""


def exchange(
    process: subprocess.Popen[bytes], question: bytes, most: int, seconds: float
) -> Iterator[tuple[bytes, bytes]]:
    """Send a request, and yield the answers as they arrive.

    Args:
        process: The process that answers; its pipes do not block.
        question: Bytes of the request.
        most: Size limit of an answer, in bytes.
        seconds: Time limit. The time that the caller takes between two answers does not count.
    """
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("a process without pipes")
    asking, answering = process.stdin.fileno(), process.stdout.fileno()
    left, received = memoryview(question), bytearray()
    spent = 0.0
    with selectors.DefaultSelector() as ready:
        ready.register(answering, selectors.EVENT_READ)
        ready.register(asking, selectors.EVENT_WRITE)
        while True:
            begun = time.monotonic()
            events = ready.select(seconds - spent)
            spent += time.monotonic() - begun
            if not events or spent > seconds:
                raise SlowError
            for key, _ in events:
                if key.fd == asking:
                    left = _send(asking, left)
                    if not left:
                        ready.unregister(asking)
                elif not _receive(answering, received):
                    raise GoneError(_describe_end(process))
            while (answer := _take_answer(received, most)) is not None:
                yield answer
                if answer[0] in (END, REFUSED):
                    return


def _send(descriptor: int, left: memoryview) -> memoryview:
    try:
        return left[os.write(descriptor, left[:CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        # The end of its answers shows the reason.
        return memoryview(b"")


def _receive(descriptor: int, received: bytearray) -> bool:
    """Append the available bytes to `received`. Return whether more may follow."""
    try:
        come = os.read(descriptor, 16 * CHUNK)
    except BlockingIOError:
        return True
    received += come
    return bool(come)


def _take_answer(received: bytearray, most: int) -> tuple[bytes, bytes] | None:
    """Remove the first answer from the received bytes and return it; None if it is incomplete."""
    if len(received) <= SIZE:
        return None
    kind = bytes(received[:1])
    size = int.from_bytes(received[1 : 1 + SIZE], "little")
    if kind not in (DRAFT, END, REFUSED):
        raise GoneError("a reader that said something else")
    if size > most:
        raise too_much(most)
    end = 1 + SIZE + size
    if len(received) < end:
        return None
    content = bytes(received[1 + SIZE : end])
    del received[:end]
    return kind, content


def _describe_end(process: subprocess.Popen[bytes]) -> str:
    """Describe how a process ended."""
    code = process.wait()
    if code >= 0:
        return f"one at which the reader ended (exit code {code})"
    with suppress(ValueError):
        return f"one at which the reader broke down ({signal.Signals(-code).name})"
    return "one at which the reader broke down"


def too_much(most: int) -> UnreadableError:
    """Return the error for a file that expands beyond the limit of `most` bytes."""
    remedy = f"leave it out, or raise the limit ({VARIABLE}='drafts={most * 10}')"
    return UnreadableError("too large", f"a file of which at most {most:,} bytes are made", "more", remedy)


#: Files that a process reads before it is replaced, so that leaks of parsers stay small.
_TURN = 2_000
#: Seconds that a process may take to start.
_START = 60


class ReadingProcess:
    """Reads files in a separate process, each within the limits of time and memory.

    Args:
        columns: Mapping of the columns of tables.
        readers: Module and class of each reader, by name. Default: all installed readers.
    """

    def __init__(self, columns: Columns | None = None, readers: Mapping[str, str] | None = None) -> None:
        self._columns = columns or Columns()
        self._readers = known_readers() if readers is None else dict(readers)
        self._process: subprocess.Popen[bytes] | None = None
        self._read = 0

    def read(self, file: SourceFile) -> Iterator[tuple[str, DraftDocument]]:
        """Yield the documents of a file, each with the name of its format.

        Raises:
            UnreadableError: The file cannot be read, or exceeds the limits.
        """
        most = limits()
        if self._read >= _TURN:
            self.close()
        self._read += 1
        taken = 0
        try:
            process = self._start()
            question = packed(json.dumps({"name": file.name}).encode(), file.content)
            for kind, content in exchange(process, question, most.drafts, most.seconds):
                taken += len(content)
                if kind == END:
                    return
                if kind == REFUSED:
                    raise _parse_refusal(content)
                if taken > most.drafts:
                    raise too_much(most.drafts)
                name, draft = unpacked(content)
                yield name.decode(), draft_from_bytes(draft)
        except SlowError:
            self.close()
            remedy = f"leave it out, or give it longer ({VARIABLE}='seconds={most.seconds * 10}')"
            raise UnreadableError(
                "timed out", f"a file that is read in {most.seconds} s", "one that takes longer", remedy
            ) from None
        except GoneError as gone:
            self.close()
            raise UnreadableError("reader ended", "a file that can be read", str(gone), "leave it out") from None
        except UnreadableError as error:
            if error.kind == "too large":
                self.close()
            raise
        except DataError as error:
            self.close()
            raise UnreadableError("reader failed", error.expected, error.got, error.remedy) from None
        except BaseException:
            # A part of an answer may still be in the pipe.
            self.close()
            raise

    def kill(self) -> None:
        """End the process at once. A caller that waits for an answer gets an error."""
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process. The next file starts another."""
        process, self._process, self._read = self._process, None, 0
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        most = limits()
        process = self._process = subprocess.Popen(
            [sys.executable, "-B", "-P", "-m", "auscult.readers.process.serving"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd=os.sep,
            # Ctrl-C is for the command, which then ends this process.
            start_new_session=True,
        )
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        settings = {
            "columns": self._columns.to_json(),
            "readers": self._readers,
            "memory": most.reading,
            "seconds": most.seconds,
        }
        try:
            for _ in exchange(process, packed(json.dumps(settings).encode()), CHUNK, _START):
                pass
        except (SlowError, GoneError) as error:
            self.close()
            raise DataError("a process that reads files", "none that begins", "check the installation") from error
        return process


def _parse_refusal(content: bytes) -> UnreadableError:
    try:
        kind, expected, got, remedy = map(str, json.loads(content))
    except (ValueError, TypeError) as error:
        raise GoneError("a reader that said something else") from error
    if kind == "too much memory":
        most = limits().reading
        expected = f"a file that is read in {most:,} bytes of memory"
        remedy = f"leave it out, or raise the limit ({VARIABLE}='reading={most * 2}')"
    return UnreadableError(kind, expected, got, remedy)


def _environment() -> dict[str, str]:
    """Return the environment of the process: where to find code, and no secrets."""
    kept = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", VARIABLE)
    found = {name: os.environ[name] for name in kept if name in os.environ}
    found["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)  # noqa: PTH100
    # The arrays are small: one thread is enough.
    return found | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
