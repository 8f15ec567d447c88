"""How far an audit log goes, as one line of JSON: the head beside the log, the counter elsewhere, the witness' copies.

A head holds a record's number and the SHA-256 of its line, and with it of all records before. With a key it has a seal.
The same line is kept in several places, so that somebody who changes one of them is told by the others.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json

_BYTES: Final = 320
_LONGEST: Final = 4096
LARGEST: Final = 2**53
"""Numbers of records are below this: JSON holds them exactly."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_NAMES: Final = frozenset({"seq", "hash", "at", "seal"})


class Head(NamedTuple):
    """The last record of a log at some time.

    Attributes:
        seq: Its number; 0 before the first.
        hash: SHA-256 of its line.
        at: When it was written (UTC).
        seal: HMAC-SHA-256 over the others; empty without a key.
    """

    seq: int
    hash: str
    at: str
    seal: str = ""

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps({name: value for name, value in self._asdict().items() if value or name != "seal"})

    def sealed(self, key: bytes | None) -> Head:
        """Return it with the seal of a key; without one where there is no key."""
        return self._replace(seal="" if key is None else seal(self._asdict(), key))

    def has_seal_of(self, key: bytes) -> bool:
        """Check its seal."""
        return same_seal(self.seal, seal(self._asdict(), key))


class Kept(NamedTuple):
    """A head that was kept somewhere, such as by a witness.

    Attributes:
        where: Names the place in a sentence: "the witness, line 7".
    """

    where: str
    head: Head


class HeadFile:
    """A file of one head that is written in place, as long as a log is open.

    Args:
        path: Of the file; made where there is none.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)

    def write(self, head: Head, *, durably: bool = False) -> None:
        """Write a head over the one before; `durably` waits for the disk."""
        # One short write within a block, of one length always: it is there whole, or not at all.
        os.pwrite(self._descriptor, head.to_json().encode().ljust(_BYTES) + b"\n", 0)
        if durably:
            os.ftruncate(self._descriptor, _BYTES + 1)
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


def head_of(path: Path) -> Path:
    """Return the file beside a log that says how far it goes."""
    return path.with_name(f"{path.name}.head")


def parse_head(content: str | bytes, where: str) -> Head:
    """Read a head from its JSON.

    Args:
        content: One line of JSON.
        where: Names its place in an error.

    Raises:
        DataError: It is something else.
    """
    remedy = "put the right one back, or leave it out"
    expected = f'{where} to be {{"seq": NUMBER, "hash": SHA-256, "at": TIME}}'
    if len(content) > _LONGEST:
        raise DataError(expected, f"more than {_LONGEST:,} bytes", remedy)
    try:
        found = parse_json(content)
    except ValueError:
        raise DataError(expected, "no JSON", remedy) from None
    if not isinstance(found, dict):
        raise DataError(expected, f"JSON that is no object: {_short(found)}", remedy)
    if not set(found) <= _NAMES:
        raise DataError(expected, f"another field: {_short(min(set(found) - _NAMES))}", remedy)
    seq, digest, at, its_seal = (found.get("seq"), found.get("hash"), found.get("at"), found.get("seal", ""))
    if type(seq) is not int or not 0 <= seq < LARGEST:
        raise DataError(expected, f"another number: {_short(seq)}", remedy)
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        raise DataError(expected, f"another SHA-256: {_short(digest)}", remedy)
    if not isinstance(its_seal, str) or not (its_seal == "" or _HASH.fullmatch(its_seal)):
        raise DataError(expected, f"another seal: {_short(its_seal)}", remedy)
    if not isinstance(at, str):
        raise DataError(expected, f"another time: {_short(at)}", remedy)
    return Head(seq, digest, at, its_seal)


def read_head(path: Path, where: str) -> Head:
    """Read a file of one head.

    Raises:
        DataError: It is not there, cannot be read, or holds something else.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise DataError(f"{where} at {path}", str(error.strerror), "put it back") from error
    return parse_head(content, where)


def seal(record: Mapping[str, Any], key: bytes) -> str:
    """Return the seal of a record or a head, over all but its seal."""
    bare = {name: value for name, value in record.items() if name != "seal"}
    return hmac.digest(key, json.dumps(bare, sort_keys=True).encode(), "sha256").hex()


def same_seal(one: str, other: str) -> bool:
    """Compare two seals in constant time, whatever characters they hold."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def sync_folder(path: Path) -> None:
    """Wait until names of files made in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _short(value: object) -> str:
    try:
        return ascii(value)[:40]
    except (ValueError, RecursionError):
        return type(value).__name__


_LOG: Final = logging.getLogger("auscult.service")
_COMMAND: Final = "|"
_LIMIT: Final = 5.0
_LONGEST_LINE: Final = 4096
_BEGIN: Final = b'{"seq": '


class Witness:
    """Hands a head on when a log is opened, at an interval where it has changed, and when the log is closed.

    Args:
        to: A file, to which heads are appended; or `| COMMAND`, which gets one on standard input.
        seconds: Between two heads.
        limit: Seconds that a command may take.

    Attributes:
        file: The file; None for a command.
        trouble: Why the last head could not be handed on; empty where it could.

    Raises:
        ConfigError: The command is not there, or the file cannot be written.
    """

    def __init__(self, to: str, seconds: float = 60.0, *, limit: float = _LIMIT) -> None:
        self.trouble = ""
        self.file: Path | None = None
        self._seconds, self._limit = max(seconds, 0.05), limit
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._last: Head | None = None
        if to.startswith(_COMMAND):
            self._command = _command(to.removeprefix(_COMMAND))
        else:
            self.file = Path(to)
            try:
                os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
            except OSError as error:
                remedy = "name a file in a folder that is there, or a command: '| COMMAND'"
                raise ConfigError(f"a witness' file at {to}", str(error.strerror), remedy) from error

    def last_kept(self) -> list[Kept]:
        """Return the last head that a file of it holds; none of a command, which cannot be asked.

        Raises:
            ConfigError: The file cannot be read, or its last line is no head.
        """
        if self.file is None or not self.file.exists():
            return []
        try:
            with self.file.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - 4 * _LONGEST_LINE))
                lines = file.read().split(b"\n")
            whole = [line for line in lines if line.strip() and not _is_torn(line)]
            return [Kept("its witness", parse_head(whole[-1], str(self.file)))] if whole else []
        except OSError as error:
            raise ConfigError(f"a witness at {self.file}", str(error.strerror), "name another file") from error
        except DataError as error:
            remedy = "see who has changed it, then take the line out or name another file"
            raise ConfigError(f"a head in the last line of {self.file}", error.got, remedy) from error

    def start(self, head: Callable[[], Head]) -> None:
        """Begin in the background; answers never wait for it.

        Args:
            head: Returns the log's head.
        """
        self._stopping.clear()
        self._last = None
        self._thread = threading.Thread(target=self._work, args=(head,), name="witness", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Hand the last head on and end, after twice the limit at the latest."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(2 * self._limit)
            if self._thread.is_alive():
                _LOG.error("the audit log's witness has not got the last head: it does not answer")

    def _work(self, head: Callable[[], Head]) -> None:
        while True:
            self._hand_on(head())
            if self._stopping.wait(self._seconds):
                self._hand_on(head())
                return

    def _hand_on(self, head: Head) -> None:
        if self._last is not None and self._last[:2] == head[:2]:
            return
        line = head.to_json().encode() + b"\n"
        try:
            trouble = self._run(line) if self.file is None else _append(self.file, line)
        except OSError as error:
            trouble = str(error.strerror)
        if trouble and not self.trouble:
            _LOG.error("the audit log's witness has not got the head: %s", trouble)
        self.trouble = trouble
        if not trouble:
            self._last = head

    def _run(self, line: bytes) -> str:
        """Run the command, without a shell; return why it has failed."""
        process = subprocess.Popen(  # noqa: S603
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.communicate(line, timeout=self._limit)
        except subprocess.TimeoutExpired:
            return f"the command took more than {self._limit:g} seconds"
        finally:
            if process.poll() is None:
                # What it has started ends with it.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return f"the command ended with {process.returncode}" if process.returncode else ""


def read_kept(path: Path) -> list[Kept]:
    """Read all heads of a witness' file.

    Raises:
        DataError: It cannot be read, or a line is no head.
    """
    found = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 2), b""), 1):
                if line.strip() and not _is_torn(line):
                    where = f"{path.name}, line {number},"
                    found.append(Kept(where, parse_head(line, where)))
    except OSError as error:
        raise DataError(f"kept heads at {path}", str(error.strerror), "correct the path") from error
    return found


def _is_torn(line: bytes) -> bool:
    """Check whether a line is the beginning of a head: of a machine that stopped, a full disk, or one being written.

    In a file that can only grow such a line stays, and gets an end.
    """
    content = line.strip()
    return content[: len(_BEGIN)] == _BEGIN[: len(content)] and not content.endswith(b"}")


def _append(path: Path, line: bytes) -> str:
    """Append a line durably; return an empty sentence, or raise OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # Half a head, of a machine that stopped or a disk that was full.
            last = os.pread(descriptor, _LONGEST_LINE, max(0, size - _LONGEST_LINE))
            try:
                os.ftruncate(descriptor, size - len(last) + last.rfind(b"\n") + 1)
            except PermissionError:
                # A file that can only grow (chattr +a).
                line = b"\n" + line
        if os.write(descriptor, line) != len(line):
            return "no space is left for it"
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return ""


def _command(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError("a command of the witness", f"{text.strip()!r} ({error})", "close its quotes") from None
    if not words or shutil.which(words[0]) is None:
        got = repr(words[0]) if words else "none"
        raise ConfigError("a command of the witness that can be run", got, "name its whole path")
    return words
