"""Write the records of a release."""

from __future__ import annotations

import csv
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from release.trying import Trial


def write_licences(out: Path, packages: Mapping[str, tuple[str, str]]) -> None:
    """Write one row per package: name, version and licence."""
    with out.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("package", "version", "licence"))
        rows.writerows((name, *told) for name, told in packages.items())


def write_record(out: Path, version: str, trials: Iterable[Trial]) -> None:
    """Write the tests, with date, machine and results."""
    record = {
        "version": version,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "trials": [asdict(each) for each in trials],
    }
    out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def write_checksums(folder: Path) -> None:
    """Write `SHA256SUMS` of all files of a folder, as `sha256sum --check` reads it."""
    files = sorted(each for each in folder.iterdir() if each.is_file() and each.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
