"""Settings of a service: what it serves, where it listens, what it writes, and its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from auscult.engines import shown_address
from auscult.errors import ConfigError
from auscult.provenance import usable_cores

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
"""Addresses that only this machine reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """Limits of a service.

    Attributes:
        body: Bytes of the body of a request that is no upload.
        upload: Bytes of an upload.
        files: Files of one upload.
        threads: Requests that are computed at once; others wait. The default is the number of processors: with more,
            threads wait for each other (two cores, 8 clients: 64 searches a second with two threads, 53 with four).
            With worker processes, at least two for each of them.
        concurrent: Requests that may wait; further ones get 503.
        per_minute: Requests of one caller in a minute; 0 for no limit.
        seconds: Seconds that running requests get to end when the service stops.
        uploads: Uploads that may arrive at once; others wait. One caller gets a quarter of these places.
        upload_seconds: Seconds for a whole upload to arrive. The default is enough for 256 MB at 71 kB/s (0.6 Mbit/s).
        least_rate: Least bytes a second of an arriving upload, and of a client that reads a long answer; 0 for no
            limit. 8,000 are one ISDN channel.
        patience: Seconds that an upload or a reading client may fall behind the least rate.
        body_seconds: Seconds for the headers of a request, and for the body of one that is no upload.
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
    """Access to a service besides its keys: tokens, TLS, proxies and the audit log.

    Attributes:
        issuer: Issuer of the OpenID Connect tokens that are accepted; empty to accept none.
        audience: Audience that the tokens must be for.
        issuer_keys: JSON Web Key Set of the issuer: a file, or a URL (https).
        role_claim: Name of the claim that has "read", "write" or "admin".
        groups_claim: Name of the claim with the groups whose documents are visible.
        origins: Origins of other web pages whose scripts may use the API (CORS); none by default.
        proxies: Addresses of proxies that may name the caller's address in a header.
        certificate: TLS certificate with its chain (PEM); None to serve without TLS.
        certificate_key: Key of the certificate (PEM).
        audit_key: File of 32 bytes or more that seals the audit log and hashes queries (`openssl rand -hex 32`).
        audit_goes_on: Answer while the audit log cannot be written, and report that in /health. By default, requests
            are refused.
        audit_counter: Second file with the number of the last record; None for `audit.counter` in the data folder.
        hash_queries: Record the keyed hash of a query in the audit log instead of its words.
        witness: Receives the head of the audit log: a file, to which heads are appended, or "| COMMAND", which is run
            without a shell and gets a head on standard input; empty for none.
        witness_seconds: Seconds between two heads for the witness.
        insecure: Allow to listen beyond this machine without keys.
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
    """All settings of a service.

    Attributes:
        indexes: Index folders, or addresses of servers that have a whole index, by name. The first is the default.
            With an address among them, the service must be read-only.
        host: Address to listen on.
        data: Folder for uploads, jobs and saved searches; None for `INDEX.service` beside the first index.
        feedback: Folder for people's judgements; None for one in `data`.
        keys: File of keys (`auscult keys`); None to serve this machine only, without keys.
        audit: First file of the audit log; None to write none.
        page: Whether to serve the page besides the API.
        changes: Whether documents may be added and removed.
        processes: Number of worker processes that search; 1 to search in the service's own process.
        limits: Limits on requests and uploads.
        access: Tokens, TLS, proxies and the audit log.
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
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    access: AccessOptions = field(default_factory=AccessOptions)

    def __post_init__(self) -> None:
        if not self.indexes:
            raise ConfigError("an index to serve", "none", "name an index folder")
        for name, index in self.indexes.items():
            if self.changes and isinstance(index, str):
                remedy = "serve with --read-only, and change its folder, which is then published again"
                raise ConfigError("index folders, to change them", f"the address {shown_address(index)}", remedy)
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
        """Second file with the number of the last audit record."""
        return self.access.audit_counter or self.data_folder / "audit.counter"

    @property
    def feedback_folder(self) -> Path:
        """Folder for people's judgements."""
        return self.feedback or self.data_folder / "feedback"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the service."""
        return self.host in LOOPBACK


def with_fields(settings: Settings, pairs: Sequence[tuple[str, str]]) -> Settings:
    """Return the settings with some limits and access options changed ("limits.per_minute", "access.issuer").

    Raises:
        ConfigError: There is no such field, or its value has the wrong type.
    """
    parts: dict[str, dict[str, Any]] = {"limits": {}, "access": {}}
    for name, value in pairs:
        part, _, field_ = name.partition(".")
        of = getattr(settings, part) if part in parts else None
        if of is None or not hasattr(of, field_):
            known = [f"{group}.{option.name}" for group in parts for option in fields(getattr(settings, group))]
            raise ConfigError(f"--set with one of {', '.join(known)}", f"'{name}'", "name one of them")
        parts[part][field_] = _parse_value(name, value, getattr(of, field_))
    return replace(
        settings, limits=replace(settings.limits, **parts["limits"]), access=replace(settings.access, **parts["access"])
    )


def _parse_value(name: str, value: str, default: object) -> object:
    """Parse a value to the type of a field's default."""
    if isinstance(default, bool):
        if value.lower() not in ("true", "false"):
            raise ConfigError(f"true or false for {name}", f"'{value}'", "write one of them")
        return value.lower() == "true"
    if isinstance(default, int | float):
        try:
            number = type(default)(value)
        except ValueError:
            number = type(default)(-1)
        if number < 0 or number == float("inf"):
            raise ConfigError(f"a number from 0 on for {name}", f"'{value}'", "write one")
        return number
    if isinstance(default, tuple):
        return tuple(filter(None, (each.strip() for each in value.split(","))))
    return Path(value) if default is None else value


_BYTES_PER_PROCESS: Final = 1_000_000_000
_MOST_PROCESSES: Final = 8


def default_processes() -> int:
    """Return the default number of worker processes: one per core, at most eight, with a gigabyte of memory each."""
    return max(1, min(usable_cores(), _MOST_PROCESSES, _free_memory() // _BYTES_PER_PROCESS))


def _free_memory() -> int:
    """Return the free memory of the machine or container in bytes; 0 where it is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
        most, used = (Path("/sys/fs/cgroup", f"memory.{name}") for name in ("max", "current"))
        limit = most.read_text(encoding="ascii").strip() if most.exists() else "max"
        return free if limit == "max" else min(free, int(limit) - int(used.read_text(encoding="ascii")))
    except (OSError, StopIteration, ValueError):
        return 0
