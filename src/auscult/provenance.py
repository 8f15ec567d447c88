"""Provenance of measurements: hardware, code revision and time, in the same form for every result file."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path


def stamp() -> dict[str, str]:
    """Return the last fields of every record: version and commit of the code, the machine, the time."""
    return {**origin(), "date": now()}


def origin() -> dict[str, str]:
    """Return version and commit of the code, and the machine. A long run must call this at its beginning."""
    return {"version": version("auscult"), "revision": find_revision(), "hardware": describe_hardware()}


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe_hardware() -> str:
    """Return processor, usable cores, memory, GPUs and system, in one line.

    GPUs are listed only if the process has imported torch, as nothing else computes on them.
    """
    processor = platform.processor() or platform.machine()
    memory = ""
    cpuinfo, meminfo = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if "model name" in line), processor)
    if meminfo.exists():
        lines = meminfo.read_text().splitlines()
        kilobytes = next((int(line.split()[1]) for line in lines if "MemTotal" in line), 0)
        memory = f", {kilobytes / 2**20:.0f} GiB memory"
    torch = sys.modules.get("torch")
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())] if torch else []
    return ", ".join([processor, f"{usable_cores()} cores{memory}", *gpus, platform.system()])


@cache
def find_revision() -> str:
    """Return the commit that this package runs from, with "+" where files differ from it; empty outside a checkout.

    The result is cached, as the process keeps running the code that it has imported.
    """
    here = Path(__file__).resolve()
    # An installed package may be inside the checkout of another project.
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return ""
    return _git(here.parent, "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*") or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        result = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def now() -> str:
    """Return the current time for records: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
