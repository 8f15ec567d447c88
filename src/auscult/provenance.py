"""Where a figure comes from: hardware, code revision, time; the same words in every result file."""

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
    """What every record ends with: version and commit of the code, the machine, the time."""
    return {**origin(), "date": now()}


def origin() -> dict[str, str]:
    """Version and commit of the code, and the machine: what long work has to ask for when it begins."""
    return {"version": version("auscult"), "revision": find_revision(), "hardware": describe_hardware()}


def usable_cores() -> int:
    """How many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe_hardware() -> str:
    """Processor, number of cores that may be used, memory, GPUs and system, in one line.

    GPUs are those that torch can use, where a process has imported it: without it nothing here computes on one.
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
    """The commit this package runs from ("+" when files differ from it); empty when it is no checkout.

    Asked for once a process, which runs on as it began when the checkout moves to another commit.
    """
    here = Path(__file__).resolve()
    # An installed package may lie inside another project's checkout, whose commit would say nothing.
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return ""
    return _git(here.parent, "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*") or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def now() -> str:
    """The time, as records hold it: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
