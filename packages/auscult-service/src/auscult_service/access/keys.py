"""Keys of a service: their holders and rights, stored with a hash instead of the key.

A key is 256 random bits, shown once. Its plain SHA-256 is stored. Slow hashes protect passwords that people choose.
Nobody can guess a key, and a slow hash would let strangers keep the service busy with invalid ones. A running service
reads the file again when it has changed, so revoking a key needs no restart.
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
"""Prefix of every key, by which scanners for leaked keys can recognise one."""
_FORMAT: Final = "auscult-keys-1"
_OPEN_TO_OTHERS: Final = 0o022
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The stored record of a key.

    Attributes:
        name: Name of its holder, as in the audit log.
        role: "read", "write" or "admin".
        indexes: Names of the indexes that it opens; None for all.
        groups: Groups whose documents it shows, besides documents without a group; None for all documents.
        hash: SHA-256 of the key, in hex.
        created: Time in UTC, ISO 8601.
        expires: Time in UTC, ISO 8601; empty for never.
        revoked: Time in UTC, ISO 8601; empty for a key that is not revoked.
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
        """Return whether the key is valid at a time."""
        return not self.revoked and (not self.expires or now < datetime.fromisoformat(self.expires))


def new_key() -> str:
    """Return a new random key."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(key: str) -> str:
    """Return the hash of a key that is stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def find(keys: Sequence[Key], secret: str, now: datetime) -> Key | None:
    """Return the record of a valid key; None for an invalid one. The time it takes does not depend on the key."""
    sought = hash_of(secret)
    match = None
    for key in keys:
        # Compare all keys, and treat unknown, revoked and expired ones alike.
        same, holds = hmac.compare_digest(key.hash, sought), key.holds(now)
        match = key if same & holds else match
    return match


def add(path: Path, key: Key) -> None:
    """Add a key to a file; a missing file is created.

    Raises:
        ConfigError: The name is empty, too long or taken, or the file is not a file of keys.
    """
    if not (key.name.strip() and key.name.isprintable() and len(key.name) <= _LONGEST_NAME):
        wanted = f"a name of 1 to {_LONGEST_NAME} printable characters"
        raise ConfigError(wanted, repr(key.name[:_LONGEST_NAME]), "name the holder")
    with _change(path) as keys:
        if any(each.name == key.name and not each.revoked for each in keys):
            raise ConfigError("a new name", f"'{key.name}', which has a key", "revoke that one, or choose another name")
        keys.append(key)


def revoke(path: Path, name: str) -> None:
    """Revoke the key of a holder. It stays in the file, so that its holder remains known.

    Raises:
        ConfigError: No key of this name is valid.
    """
    with _change(path) as keys:
        places = [place for place, each in enumerate(keys) if each.name == name and not each.revoked]
        if not places:
            raise ConfigError("the name of a key that is not revoked", f"'{name}'", "see: auscult keys list FILE")
        for place in places:
            keys[place] = replace(keys[place], revoked=now_text())


def read(path: Path) -> list[Key]:
    """Read the keys of a file.

    Raises:
        ConfigError: The file does not exist, is not a file of keys, or others than its owner may write it.
    """
    try:
        mode, content = path.stat().st_mode, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise ConfigError(f"a file of keys at {path}", reason, f"make one: auscult keys add {path} NAME") from error
    if mode & _OPEN_TO_OTHERS:
        raise ConfigError(f"{path} to be its owner's alone", "one that others may write", f"chmod 600 {path}")
    try:
        stored = parse_json(content)
        if stored["format"] != _FORMAT:
            raise ValueError(stored["format"])
        return [_parse_key(each) for each in stored["keys"]]
    except (ValueError, KeyError, TypeError) as error:
        remedy = "put a backup in its place, or make keys anew in another file"
        raise ConfigError(f"a file of keys at {path}", f"something else ({type(error).__name__})", remedy) from error


def now_text() -> str:
    """Return the current time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _parse_key(fields: Mapping[str, Any]) -> Key:
    if fields["role"] not in ROLES:
        raise ValueError(fields["role"])
    for name in ("expires", "revoked"):
        if fields[name] and datetime.fromisoformat(fields[name]).tzinfo is None:
            raise ValueError(fields[name])
    return Key(
        name=str(fields["name"]),
        role=fields["role"],
        hash=str(fields["hash"]),
        indexes=None if fields["indexes"] is None else tuple(map(str, fields["indexes"])),
        groups=None if fields["groups"] is None else tuple(map(str, fields["groups"])),
        created=str(fields["created"]),
        expires=str(fields["expires"]),
        revoked=str(fields["revoked"]),
    )


@contextmanager
def _change(path: Path) -> Iterator[list[Key]]:
    """Yield the keys of a file and write them back, readable by the owner only. One process changes them at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise ConfigError(f"a folder for {path}", str(error.strerror), "name another file") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys = read(path) if path.exists() else []
        yield keys
        stored = {"format": _FORMAT, "keys": [asdict(each) for each in keys]}
        with whole_or_nothing(path) as partial:
            partial.unlink(missing_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
    finally:
        os.close(lock)


_LOG: Final = logging.getLogger("auscult.service")


class KeyFile:
    """A file of keys that is read again when it has changed.

    Raises:
        ConfigError: The file cannot be read, or is not a file of keys.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._signs = _read_signs(path)
        self._keys: Sequence[Key] = read(path)

    def find(self, secret: str) -> Key | None:
        """Return the record of a key; None where the key is unknown, revoked or expired."""
        signs = _read_signs(self._path)
        if signs != self._signs:
            # With an unreadable file no key is valid: it may have been changed to revoke one.
            try:
                self._keys = read(self._path)
            except ConfigError as error:
                _LOG.error("no key is taken until the file is mended: %s", error)
                self._keys = ()
            self._signs = signs
        return find(self._keys, secret, datetime.now(UTC))


def _read_signs(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode
