"""Asking a process by a pipe, and taking its answers from another, in so much time and of so many bytes."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress

from auscult.files.limits import VARIABLE
from auscult.readers.contract import UnreadableError
from auscult.readers.process.serving import DRAFT, END, REFUSED, SIZE

CHUNK = 1 << 16


class GoneError(Exception):
    """The process ended, or said what it should not."""


class SlowError(Exception):
    """The process did not answer in time."""


def exchange(
    process: subprocess.Popen[bytes], question: bytes, most: int, seconds: float
) -> Iterator[tuple[bytes, bytes]]:
    """Ask, and give the answers as they come, up to the last.

    Args:
        process: That answers; its pipes do not block.
        question: As it reads it.
        most: Bytes of an answer.
        seconds: That it may take; time that passes between one answer's being taken and the next does not count.
    """
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("a process without pipes")
    asking, answering = process.stdin.fileno(), process.stdout.fileno()
    left, held = memoryview(question), bytearray()
    spent = 0.0
    with selectors.DefaultSelector() as ready:
        ready.register(answering, selectors.EVENT_READ)
        ready.register(asking, selectors.EVENT_WRITE)
        while True:
            begun = time.monotonic()
            found = ready.select(seconds - spent)
            spent += time.monotonic() - begun
            if not found or spent > seconds:
                raise SlowError
            for key, _ in found:
                if key.fd == asking:
                    left = _send(asking, left)
                    if not left:
                        ready.unregister(asking)
                elif not _receive(answering, held):
                    raise GoneError(_ending(process))
            while (answer := _answer(held, most)) is not None:
                yield answer
                if answer[0] in (END, REFUSED):
                    return


def _send(descriptor: int, left: memoryview) -> memoryview:
    try:
        return left[os.write(descriptor, left[:CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        # Why, its answers' end tells.
        return memoryview(b"")


def _receive(descriptor: int, held: bytearray) -> bool:
    """Take what has come; whether more may."""
    try:
        come = os.read(descriptor, 16 * CHUNK)
    except BlockingIOError:
        return True
    held += come
    return bool(come)


def _answer(held: bytearray, most: int) -> tuple[bytes, bytes] | None:
    """The first answer of what has come, taken out of it; None where it is not whole."""
    if len(held) <= SIZE:
        return None
    kind = bytes(held[:1])
    size = int.from_bytes(held[1 : 1 + SIZE], "little")
    if kind not in (DRAFT, END, REFUSED):
        raise GoneError("a reader that said something else")
    if size > most:
        raise too_much(most)
    end = 1 + SIZE + size
    if len(held) < end:
        return None
    content = bytes(held[1 + SIZE : end])
    del held[:end]
    return kind, content


def _ending(process: subprocess.Popen[bytes]) -> str:
    """How a process ended, in words."""
    code = process.wait()
    if code >= 0:
        return f"one at which the reader ended (exit code {code})"
    with suppress(ValueError):
        return f"one at which the reader broke down ({signal.Signals(-code).name})"
    return "one at which the reader broke down"


def too_much(most: int) -> UnreadableError:
    """The error of a file of which more is made than may be.

    Args:
        most: Bytes that may be.
    """
    remedy = f"leave it out, or raise the limit ({VARIABLE}='drafts={most * 10}')"
    return UnreadableError("too large", f"a file of which at most {most:,} bytes are made", "more", remedy)


__all__ = ["CHUNK", "GoneError", "SlowError", "exchange", "too_much"]
