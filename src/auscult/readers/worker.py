"""Reading in a process of its own, under limits of time, memory and size; what goes wrong there is one file's problem.

A process is used for many files, one after the other, and replaced now and then, and after a file that it did not come
back from. Small notes cost a fraction of a millisecond each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from auscult.errors import DataError
from auscult.files.limits import VARIABLE, limits
from auscult.readers.columns import Columns
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.pipes import CHUNK, GoneError, SlowError, exchange, too_much
from auscult.readers.registry import known_readers
from auscult.readers.serving import END, REFUSED
from auscult.readers.wire import draft_from_bytes, packed, unpacked

#: Files that a process reads before it is replaced: what a parser leaks stays small.
_TURN = 2_000
#: Seconds that a process may take to begin.
_START = 60


class ReadingProcess:
    """Reads files, each in at most so much time and memory.

    Args:
        columns: What columns of tables mean.
        readers: Module and class of each reader by name; by default all that are installed.
    """

    def __init__(self, columns: Columns | None = None, readers: Mapping[str, str] | None = None) -> None:
        self._columns = columns or Columns()
        self._readers = known_readers() if readers is None else dict(readers)
        self._process: subprocess.Popen[bytes] | None = None
        self._read = 0

    def read(self, file: SourceFile) -> Iterator[tuple[str, DraftDocument]]:
        """A file's documents, each with the format's name.

        Raises:
            UnreadableError: It cannot be read, or not within the limits.
        """
        most = limits()
        if self._read >= _TURN:
            self.close()
        self._read += 1
        taken = 0
        try:
            process = self._started()
            question = packed(json.dumps({"name": file.name}).encode(), file.content)
            for kind, content in exchange(process, question, most.drafts, most.seconds):
                taken += len(content)
                if kind == END:
                    return
                if kind == REFUSED:
                    raise _refused(content)
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
            # Half an answer may be under way.
            self.close()
            raise

    def kill(self) -> None:
        """End the process under whoever waits for its answer, which will be that it has ended."""
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process; the next file begins another."""
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

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        most = limits()
        process = self._process = subprocess.Popen(
            [sys.executable, "-B", "-P", "-m", "auscult.readers.serving"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd=os.sep,
            # An interrupt is for the command: it ends this process itself.
            start_new_session=True,
        )
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        told = {
            "columns": self._columns.told,
            "readers": self._readers,
            "memory": most.reading,
            "seconds": most.seconds,
        }
        try:
            for _ in exchange(process, packed(json.dumps(told).encode()), CHUNK, _START):
                pass
        except (SlowError, GoneError) as error:
            self.close()
            raise DataError("a process that reads files", "none that begins", "check the installation") from error
        return process


def _refused(content: bytes) -> UnreadableError:
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
    """What the process is told of ours: where code is, and no secrets."""
    kept = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", VARIABLE)
    found = {name: os.environ[name] for name in kept if name in os.environ}
    found["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)  # noqa: PTH100
    # One thread is enough for what arrays there are.
    return found | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
