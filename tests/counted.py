"""Checks that count what they find, one after the other, and the record that keeps it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from auscult.files.writing import write_json
from auscult.provenance import stamp

Counted = dict[str, float | int | str]


def count(checks: Mapping[str, Callable[[Path], Counted]], chosen: Sequence[str], title: str, result: Path) -> None:
    """Run checks, each in a folder of its own, and write what they counted; those not chosen stay as they were.

    Args:
        checks: By name; "C1, C2" is two names.
        chosen: Names; all where there are none.
        title: Of the record.
        result: The file of the record.
    """
    kept = (
        {record["check"]: record for record in json.loads(result.read_text())[0]["checks"]} if result.is_file() else {}
    )
    failed = []
    for name, check in checks.items():
        if chosen and not any(word in name.split(", ") for word in chosen):
            continue
        begun = time.perf_counter()
        told_of = (check.__doc__ or "").split("\n")[0]
        try:
            with TemporaryDirectory() as place:
                counts = check(Path(place))
        except AssertionError as error:
            failed.append(name)
            print(f"{name}: FAILED: {told_of} {error}", flush=True)
            continue
        seconds = round(time.perf_counter() - begun, 1)
        kept[name] = {"check": name, "what": told_of, "found": counts, "seconds": seconds}
        print(f"{name}: {told_of} {counts} ({seconds} s)", flush=True)
        ordered = [kept[key] for key in checks if key in kept]
        write_json(result, [{"kind": title.lower(), "title": title, "checks": ordered, **stamp()}])
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
