"""Keys of a service: whose they are and what they may, with a hash in place of each key.

A key is 256 random bits, shown once. Its plain SHA-256 is kept. A slow hash is for passwords that people choose: nobody
can guess a key, and a slow hash would let strangers keep the service busy with wrong keys. A running service reads the
file again when it has changed, so that revoking a key needs no restart.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from auscult.errors import ConfigError
from auscult.files.json_text import parse_json
from auscult.files.writing import whole_or_nothing

KeyRole = Literal["read", "write", "admin"]
ROLES: Final = ("read", "write", "admin")
PREFIX: Final = "auscult_"
"""What every key begins with, so that scanners for leaked keys know one."""
_FORMAT: Final = "auscult-keys-1"
_OPEN_TO_OTHERS: Final = 0o022
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key.

    Attributes:
        name: Of its holder, as the audit log tells it.
        role: "read", "write" or "admin".
        indexes: Names of those that it opens; None for all.
        groups: Whose documents it shows, beside those that are open to all; None for all documents.
        hash: SHA-256 of the key, in hex.
        created: UTC, ISO 8601.
        expires: Likewise; empty for never.
        revoked: Likewise; empty where it is not.
    """

    name: str
    role: KeyRole
    hash: str
    indexes: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = ()
    created: str = ""
    expires: str = ""
    revoked: str = ""

    def holds(self, now: datetime) -> bool:
        """Whether it opens anything now."""
        return not self.revoked and (not self.expires or now < datetime.fromisoformat(self.expires))


def new_key() -> str:
    """Return a new random key."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(key: str) -> str:
    """Return the hash that is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def find(keys: Sequence[Key], shown: str, now: datetime) -> Key | None:
    """Return the key that was shown, where it holds. Every one is compared: time tells nothing."""
    sought = hash_of(shown)
    found = None
    for key in keys:
        # No early end, and no difference between an unknown, a revoked and an expired one.
        same, holds = hmac.compare_digest(key.hash, sought), key.holds(now)
        found = key if same & holds else found
    return found


def add(path: Path, key: Key) -> None:
    """Add a key to a file, which is made where it is not there.

    Raises:
        ConfigError: The name is taken, or the file is none of keys.
    """
    if not (key.name.strip() and key.name.isprintable() and len(key.name) <= _LONGEST_NAME):
        wanted = f"a name of 1 to {_LONGEST_NAME} printable characters"
        raise ConfigError(wanted, repr(key.name[:_LONGEST_NAME]), "name the holder")
    with _changing(path) as keys:
        if any(each.name == key.name and not each.revoked for each in keys):
            raise ConfigError("a new name", f"'{key.name}', which has a key", "revoke that one, or choose another name")
        keys.append(key)


def revoke(path: Path, name: str) -> None:
    """Let a holder's key open nothing any more; it stays in the file, so that it is known whose it was.

    Raises:
        ConfigError: Nobody of the name has a key that is not revoked.
    """
    with _changing(path) as keys:
        places = [place for place, each in enumerate(keys) if each.name == name and not each.revoked]
        if not places:
            raise ConfigError("the name of a key that is not revoked", f"'{name}'", "see: auscult keys list FILE")
        for place in places:
            keys[place] = replace(keys[place], revoked=now_text())


def read(path: Path) -> list[Key]:
    """Read the keys of a file.

    Raises:
        ConfigError: It is not there, is none of keys, or others than its owner may write it.
    """
    try:
        mode, content = path.stat().st_mode, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise ConfigError(f"a file of keys at {path}", reason, f"make one: auscult keys add {path} NAME") from error
    if mode & _OPEN_TO_OTHERS:
        raise ConfigError(f"{path} to be its owner's alone", "one that others may write", f"chmod 600 {path}")
    try:
        told = parse_json(content)
        if told["format"] != _FORMAT:
            raise ValueError(told["format"])
        return [_key(each) for each in told["keys"]]
    except (ValueError, KeyError, TypeError) as error:
        remedy = "put a backup in its place, or make keys anew in another file"
        raise ConfigError(f"a file of keys at {path}", f"something else ({type(error).__name__})", remedy) from error


def now_text() -> str:
    """Return the time: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _key(told: Mapping[str, Any]) -> Key:
    if told["role"] not in ROLES:
        raise ValueError(told["role"])
    for name in ("expires", "revoked"):
        if told[name] and datetime.fromisoformat(told[name]).tzinfo is None:
            raise ValueError(told[name])
    return Key(
        name=str(told["name"]),
        role=told["role"],
        hash=str(told["hash"]),
        indexes=None if told["indexes"] is None else tuple(map(str, told["indexes"])),
        groups=None if told["groups"] is None else tuple(map(str, told["groups"])),
        created=str(told["created"]),
        expires=str(told["expires"]),
        revoked=str(told["revoked"]),
    )


@contextmanager
def _changing(path: Path) -> Iterator[list[Key]]:
    """Yield the keys of a file and write them back whole, for its owner's eyes; one change at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise ConfigError(f"a folder for {path}", str(error.strerror), "name another file") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys = read(path) if path.exists() else []
        yield keys
        told = {"format": _FORMAT, "keys": [asdict(each) for each in keys]}
        with whole_or_nothing(path) as partial:
            partial.unlink(missing_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
    finally:
        os.close(lock)


_LOG: Final = logging.getLogger("auscult.service")


class KeyFile:
    """Keys by what is shown.

    Raises:
        ConfigError: It is none of keys.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._signs = _signs(path)
        self._keys: Sequence[Key] = read(path)

    def find(self, shown: str) -> Key | None:
        """Return the key that was shown; None where it is unknown, revoked or expired."""
        signs = _signs(self._path)
        if signs != self._signs:
            # A file that cannot be read opens nothing: it may have been changed to shut somebody out.
            try:
                self._keys = read(self._path)
            except ConfigError as error:
                _LOG.error("no key is taken until the file is mended: %s", error)
                self._keys = ()
            self._signs = signs
        return find(self._keys, shown, datetime.now(UTC))


def _signs(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode
