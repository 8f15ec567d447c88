"""Heads of an audit log: a line of JSON that names its last record, beside the log, in a counter and with a witness.

A head has the number of a record and the SHA-256 of its line, which covers all records before. With a key it has a
seal. The same line is kept in several places, so that a change of one of them shows in the others.
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
        """Return the head as one line of JSON."""
        return json.dumps({name: value for name, value in self._asdict().items() if value or name != "seal"})

    def sealed(self, key: bytes | None) -> Head:
        """Return the head with the seal of a key; without a seal where there is no key."""
        return self._replace(seal="" if key is None else seal(self._asdict(), key))

    def has_seal_of(self, key: bytes) -> bool:
        """Check the seal with a key."""
        return same_seal(self.seal, seal(self._asdict(), key))


class KeptHead(NamedTuple):
    """A head that was kept somewhere, such as by a witness.

    Attributes:
        where: Names the place in a sentence: "the witness, line 7".
    """

    where: str
    head: Head


class HeadFile:
    """A file with one head, which is overwritten in place while a log is open.

    Args:
        path: The file; created where it does not exist.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)

    def write(self, head: Head, *, durably: bool = False) -> None:
        """Overwrite the head; `durably` waits for the disk."""
        # One short write of constant length within a block: after a crash it is either complete or absent.
        os.pwrite(self._descriptor, head.to_json().encode().ljust(_BYTES) + b"\n", 0)
        if durably:
            os.ftruncate(self._descriptor, _BYTES + 1)
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def head_of(path: Path) -> Path:
    """Return the path of the head beside a log."""
    return path.with_name(f"{path.name}.head")


def parse_head(content: str | bytes, where: str) -> Head:
    """Parse a head.

    Args:
        content: One line of JSON.
        where: Where the line is from, for error messages.

    Raises:
        DataError: The line is not a head.
    """
    remedy = "put the right one back, or leave it out"
    expected = f'{where} to be {{"seq": NUMBER, "hash": SHA-256, "at": TIME}}'
    if len(content) > _LONGEST:
        raise DataError(expected, f"more than {_LONGEST:,} bytes", remedy)
    try:
        fields = parse_json(content)
    except ValueError:
        raise DataError(expected, "no JSON", remedy) from None
    if not isinstance(fields, dict):
        raise DataError(expected, f"JSON that is no object: {_shorten(fields)}", remedy)
    if not set(fields) <= _NAMES:
        raise DataError(expected, f"another field: {_shorten(min(set(fields) - _NAMES))}", remedy)
    seq, digest, at, its_seal = (fields.get("seq"), fields.get("hash"), fields.get("at"), fields.get("seal", ""))
    if type(seq) is not int or not 0 <= seq < LARGEST:
        raise DataError(expected, f"another number: {_shorten(seq)}", remedy)
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        raise DataError(expected, f"another SHA-256: {_shorten(digest)}", remedy)
    if not isinstance(its_seal, str) or not (its_seal == "" or _HASH.fullmatch(its_seal)):
        raise DataError(expected, f"another seal: {_shorten(its_seal)}", remedy)
    if not isinstance(at, str):
        raise DataError(expected, f"another time: {_shorten(at)}", remedy)
    return Head(seq, digest, at, its_seal)


def read_head(path: Path, where: str) -> Head:
    """Read a file with one head.

    Raises:
        DataError: The file does not exist, cannot be read, or has no head.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise DataError(f"{where} at {path}", str(error.strerror), "put it back") from error
    return parse_head(content, where)


def seal(record: Mapping[str, Any], key: bytes) -> str:
    """Return the seal of a record or a head, over all its fields but the seal."""
    bare = {name: value for name, value in record.items() if name != "seal"}
    return hmac.digest(key, json.dumps(bare, sort_keys=True).encode(), "sha256").hex()


def same_seal(one: str, other: str) -> bool:
    """Compare two seals in constant time, whatever characters they hold."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def sync_folder(path: Path) -> None:
    """Wait until the names of new files in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _shorten(value: object) -> str:
    try:
        return ascii(value)[:40]
    except (ValueError, RecursionError):
        return type(value).__name__


_LOG: Final = logging.getLogger("auscult.service")
_COMMAND: Final = "|"
_LIMIT: Final = 5.0
"""Seconds that a witness' command may take."""
_LONGEST_LINE: Final = 4096
_BEGIN: Final = b'{"seq": '


class Witness:
    """Copies the head of a log to another place when the log is opened, at an interval, and when it is closed.

    Args:
        to: A file, to which heads are appended; or `| COMMAND`, which gets each head on standard input.
        seconds: Seconds between two copies; an unchanged head is not copied again.

    Attributes:
        file: The file; None for a command.
        trouble: Why the last copy failed; empty where it succeeded.

    Raises:
        ConfigError: The command does not exist, or the file cannot be written.
    """

    def __init__(self, to: str, seconds: float) -> None:
        self.trouble = ""
        self.file: Path | None = None
        self._seconds = max(seconds, 0.05)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._last: Head | None = None
        if to.startswith(_COMMAND):
            self._command = _parse_command(to.removeprefix(_COMMAND))
        else:
            self.file = Path(to)
            try:
                os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
            except OSError as error:
                remedy = "name a file in a folder that is there, or a command: '| COMMAND'"
                raise ConfigError(f"a witness' file at {to}", str(error.strerror), remedy) from error

    def last_kept(self) -> list[KeptHead]:
        """Return the last head in the file of the witness; an empty list for a command, which cannot be read back.

        Raises:
            ConfigError: The file cannot be read, or its last line is not a head.
        """
        if self.file is None or not self.file.exists():
            return []
        try:
            with self.file.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - 4 * _LONGEST_LINE))
                lines = file.read().split(b"\n")
            whole = [line for line in lines if line.strip() and not _is_torn(line)]
            return [KeptHead("its witness", parse_head(whole[-1], str(self.file)))] if whole else []
        except OSError as error:
            raise ConfigError(f"a witness at {self.file}", str(error.strerror), "name another file") from error
        except DataError as error:
            remedy = "see who has changed it, then take the line out or name another file"
            raise ConfigError(f"a head in the last line of {self.file}", error.got, remedy) from error

    def start(self, head: Callable[[], Head]) -> None:
        """Start copying in the background; requests never wait for it.

        Args:
            head: Returns the current head of the log.
        """
        self._stopping.clear()
        self._last = None
        self._thread = threading.Thread(target=self._copy_heads, args=(head,), name="witness", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Copy the last head and end, after twice the limit at the latest."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(2 * _LIMIT)
            if self._thread.is_alive():
                _LOG.error("the audit log's witness has not got the last head: it does not answer")

    def _copy_heads(self, head: Callable[[], Head]) -> None:
        while True:
            self._copy(head())
            if self._stopping.wait(self._seconds):
                self._copy(head())
                return

    def _copy(self, head: Head) -> None:
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
            process.communicate(line, timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            return f"the command took more than {_LIMIT:g} seconds"
        finally:
            if process.poll() is None:
                # Kill the whole group, so that the children of the command end with it.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return f"the command ended with {process.returncode}" if process.returncode else ""


def read_kept(path: Path) -> list[KeptHead]:
    """Read all heads in the file of a witness.

    Raises:
        DataError: The file cannot be read, or a line is not a head.
    """
    heads = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 2), b""), 1):
                if line.strip() and not _is_torn(line):
                    where = f"{path.name}, line {number},"
                    heads.append(KeptHead(where, parse_head(line, where)))
    except OSError as error:
        raise DataError(f"kept heads at {path}", str(error.strerror), "correct the path") from error
    return heads


def _is_torn(line: bytes) -> bool:
    """Check whether a line is only the beginning of a head.

    The machine stopped, the disk was full, or the line is still being written. A file that can only grow keeps such a
    line, and the next head begins on a new line.
    """
    content = line.strip()
    return content[: len(_BEGIN)] == _BEGIN[: len(content)] and not content.endswith(b"}")


def _append(path: Path, line: bytes) -> str:
    """Append a line durably.

    Returns:
        Why the line was not written; empty where it was.

    Raises:
        OSError: The file cannot be opened or written.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # Half a head: the machine stopped, or the disk was full.
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


def _parse_command(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError("a command of the witness", f"{text.strip()!r} ({error})", "close its quotes") from None
    if not words or shutil.which(words[0]) is None:
        got = repr(words[0]) if words else "none"
        raise ConfigError("a command of the witness that can be run", got, "name its whole path")
    return words
