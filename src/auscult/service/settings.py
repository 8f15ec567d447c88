"""What a service is told when it starts: what it serves, where it listens, what it writes, and how much it takes on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from auscult.engines import is_address, place_of
from auscult.errors import ConfigError
from auscult.provenance import usable_cores

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
"""Addresses that only this machine reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is taken on.

    Attributes:
        body: Bytes of a request that uploads nothing.
        upload: Bytes of one that does.
        files: Files of one upload.
        threads: Requests that are computed at once; others wait. By default as many as processors: with more, threads
            wait for each other (two cores, 8 clients: 64 searches a second with two threads, 53 with four). Where
            several processes search, two for each of them at least.
        concurrent: Requests that are in the house at once; more are told to come again.
        per_minute: Requests of one caller in a minute; 0 for as many as there are.
        seconds: That a stopping service gives requests to end.
        uploads: Uploads that arrive at once; others wait. One caller has a quarter of these places.
        upload_seconds: For a whole upload to arrive: 256 MB at 71 kB/s, 0.6 Mbit/s.
        least_rate: Bytes a second that an upload has to arrive with, and a long answer has to be read with; 0 for any.
            8,000 are one ISDN channel.
        patience: Seconds that an upload or a reader may fall behind the least rate.
        body_seconds: For a whole body that uploads nothing, and for the headers of a request.
    """

    body: int = 1_000_000
    upload: int = 256_000_000
    files: int = 200
    threads: int = field(default_factory=lambda: max(2, usable_cores()))
    concurrent: int = 64
    per_minute: int = 0
    seconds: float = 20.0
    uploads: int = 8
    upload_seconds: float = 3600.0
    least_rate: int = 8_000
    patience: float = 30.0
    body_seconds: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessOptions:
    """Who may come in, beside the holders of keys.

    Attributes:
        issuer: Of OpenID Connect tokens that are accepted; empty for none.
        audience: That their tokens are for.
        issuer_keys: Its JSON Web Key Set: a file, or an address (https).
        role_claim: The claim of a token that says "read", "write" or "admin".
        groups_claim: The claim that names groups whose documents are seen.
        origins: Web pages of other addresses whose scripts may ask (CORS); none by default.
        proxies: Addresses of proxies whose word on the caller's address is taken.
        certificate: Of TLS, with its chain (PEM); None to speak without.
        certificate_key: Its key (PEM).
        audit_key: A file of 32 bytes or more that seals the audit log and hashes queries (`openssl rand -hex 32`).
        audit_goes_on: Answer although the audit log cannot be written; /health says so. Otherwise nobody is answered.
        audit_counter: A file that says how far the audit log goes, too; None for `audit.counter` in the data folder.
        hash_queries: Keep a query's keyed hash in the audit log in place of its words.
        witness: Gets the audit log's head: a file, to which it is appended, or "| COMMAND", run without a shell, which
            gets it on standard input; empty for none.
        witness_seconds: Between two heads that the witness gets.
        insecure: Listen beyond this machine without keys all the same.
    """

    issuer: str = ""
    audience: str = ""
    issuer_keys: str = ""
    role_claim: str = "auscult_role"
    groups_claim: str = "groups"
    origins: Sequence[str] = ()
    proxies: Sequence[str] = ()
    certificate: Path | None = None
    certificate_key: Path | None = None
    audit_key: Path | None = None
    audit_goes_on: bool = False
    audit_counter: Path | None = None
    hash_queries: bool = False
    witness: str = ""
    witness_seconds: float = 60.0
    insecure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that a service is told.

    Attributes:
        indexes: Folders, or addresses of servers that have all of an index, by the names that they are asked by; the
            first is asked where none is named. Where one is an address, nothing is changed from here.
        host: The address it listens at.
        data: Folder of what it writes: uploads, jobs, feedback; None for `INDEX.service` beside the first index.
        feedback: Folder of people's judgements; None for one in `data`.
        keys: The file of keys (`auscult keys`); None to serve this machine alone, without.
        audit: The audit log; None to keep none.
        page: Whether there is a page beside the API.
        changes: Whether documents may be added and removed.
        processes: That search, beside the service's own; 1 for its own alone.
        limits: How much is taken on.
        access: Who may come in, beside the holders of keys.
    """

    indexes: Mapping[str, Path | str]
    host: str = "127.0.0.1"
    port: int = 8470
    data: Path | None = None
    feedback: Path | None = None
    keys: Path | None = None
    audit: Path | None = None
    page: bool = True
    changes: bool = True
    processes: int = 1
    limits: Limits = field(default_factory=Limits)
    access: AccessOptions = field(default_factory=AccessOptions)

    def __post_init__(self) -> None:
        if not self.indexes:
            raise ConfigError("an index to serve", "none", "name an index folder")
        for name, index in self.indexes.items():
            if self.changes and isinstance(index, str):
                remedy = "serve with --read-only, and change its folder, which is then published again"
                raise ConfigError("index folders, to change them", f"the address {index}", remedy)
            if not _NAME.fullmatch(name):
                remedy = "name it: NAME=FOLDER"
                raise ConfigError("an index' name of letters, digits, '.', '_' and '-', at most 64", repr(name), remedy)
        if not (self.is_local or self.keys or self.access.issuer or self.access.insecure):
            remedy = "make some (auscult keys add) and name their file with --keys, or listen at 127.0.0.1"
            raise ConfigError(f"keys, to listen at {self.host}, which others reach", "none", remedy)
        if (self.access.certificate is None) != (self.access.certificate_key is None):
            raise ConfigError("a certificate and its key", "one without the other", "name both, or none")

    @property
    def data_folder(self) -> Path:
        """Folder for everything that the service writes."""
        if self.data is not None:
            return self.data
        name, first = next(iter(self.indexes.items()))
        first = Path(name).resolve() if isinstance(first, str) else first.resolve()
        return first.with_name(f"{first.name}.service")

    @property
    def audit_counter(self) -> Path:
        """The file that says how far the audit log goes, apart from the log."""
        return self.access.audit_counter or self.data_folder / "audit.counter"

    @property
    def feedback_folder(self) -> Path:
        """Folder of people's judgements."""
        return self.feedback or self.data_folder / "feedback"

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in LOOPBACK


def with_fields(settings: Settings, pairs: Sequence[tuple[str, str]]) -> Settings:
    """Set limits and details of access by name ("limits.per_minute", "access.issuer").

    Raises:
        ConfigError: There is no such field, or its value is of another kind.
    """
    parts: dict[str, dict[str, Any]] = {"limits": {}, "access": {}}
    for name, value in pairs:
        part, _, field_ = name.partition(".")
        of = getattr(settings, part) if part in parts else None
        if of is None or not hasattr(of, field_):
            known = [f"{each}.{one.name}" for each in parts for one in fields(getattr(settings, each))]
            raise ConfigError(f"--set with one of {', '.join(known)}", f"'{name}'", "name one of them")
        parts[part][field_] = _read(name, value, getattr(of, field_))
    return replace(
        settings, limits=replace(settings.limits, **parts["limits"]), access=replace(settings.access, **parts["access"])
    )


def _read(name: str, value: str, now: object) -> object:
    """Read a value of the kind that a field has."""
    if isinstance(now, bool):
        if value.lower() not in ("true", "false"):
            raise ConfigError(f"true or false for {name}", f"'{value}'", "write one of them")
        return value.lower() == "true"
    if isinstance(now, int | float):
        try:
            number = type(now)(value)
        except ValueError:
            number = type(now)(-1)
        if number < 0 or number == float("inf"):
            raise ConfigError(f"a number from 0 on for {name}", f"'{value}'", "write one")
        return number
    if isinstance(now, tuple):
        return tuple(filter(None, (each.strip() for each in value.split(","))))
    return Path(value) if now is None else value


def named_indexes(given: Sequence[str]) -> dict[str, Path | str]:
    """Return index folders and addresses by name, of `FOLDER`, `ADDRESS`, or `NAME=` before one of them.

    Raises:
        ConfigError: Two have one name, or an address is none.
    """
    found: dict[str, Path | str] = {}
    for each in given:
        name, equals, place = each.partition("=")
        if is_address(name):
            # Its own equals signs are of options.
            name, equals, place = "", "", each
        place = place if equals else each
        index = place if is_address(place) else Path(place)
        if not equals:
            name = place_of(index).collection if isinstance(index, str) else index.resolve().name
        if name in found:
            raise ConfigError("a name of its own for each index", f"'{name}' twice", "name one: NAME=FOLDER")
        found[name] = index
    return found


_EACH: Final = 1_000_000_000
_MOST: Final = 8


def default_processes() -> int:
    """Return how many processes search: one a core, at most eight, and as many as have a gigabyte each; else 1."""
    return max(1, min(usable_cores(), _MOST, _free_memory() // _EACH))


def _free_memory() -> int:
    """Bytes that this process and others may take, of the machine and of a container; 0 where that is not told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
        most, used = (Path("/sys/fs/cgroup", f"memory.{name}") for name in ("max", "current"))
        limit = most.read_text(encoding="ascii").strip() if most.exists() else "max"
        return free if limit == "max" else min(free, int(limit) - int(used.read_text(encoding="ascii")))
    except (OSError, StopIteration, ValueError):
        return 0
