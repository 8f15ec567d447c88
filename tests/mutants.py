"""Whether the tests notice faults: puts every mutation of `mutations.py` into a copy of the code, and runs its tests.

Run as `make mutants`, or with words that the names of some mutations hold. It lies beside the tests, not under
`benchmarks/`, because it measures them and not the product, and because the list changes when they do. It takes minutes
and so is no test itself. Exits with 1 where a mutation survives, cannot be put in, or keeps the tests from running at
all, which proves nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory

from mutations import MUTATIONS, Mutation
from places import ROOT, SOURCES, TESTS


def run_tests(source: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run tests, up to the first that fails, on the code below `source`."""
    changed = {"PYTHONPATH": str(source), "HYPOTHESIS_STORAGE_DIRECTORY": str(source.parent), "HF_HUB_OFFLINE": "1"}
    environment = {**os.environ, **changed, "OMP_NUM_THREADS": "1"}
    # Tests on whole corpora are skipped: they cost minutes, and small ones notice as much.
    environment.pop("AUSCULT_DATA", None)
    options = ["-x", "-m", "not slow", "-rfE", "--tb=no", "-p", "no:cacheprovider", "--timeout=100"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(TESTS / test) for test in tests)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@contextmanager
def mutated(source: Path, mutation: Mutation) -> Iterator[None]:
    """The code below `source` with a fault, and afterwards without."""
    file = source / mutation.file
    original = file.read_text(encoding="utf-8")
    try:
        _write(file, original.replace(mutation.before, mutation.after))
        yield
    finally:
        _write(file, original)


def _write(file: Path, content: str) -> None:
    file.write_text(content, encoding="utf-8")
    # Compiled code is told from its source by size and second, which two mutations may share.
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def verdict(done: subprocess.CompletedProcess[str]) -> tuple[bool, str]:
    """Whether a run of tests caught a mutation, and which test did."""
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 1 and failed:
        return True, failed[0].partition("tests/")[2]
    return False, "SURVIVED" if done.returncode == 0 else f"DID NOT RUN: {(done.stdout + done.stderr)[-300:]}"


def main(words: Sequence[str]) -> int:
    chosen = [
        mutation for mutation in MUTATIONS if not words or any(word.lower() in mutation.name.lower() for word in words)
    ]
    faults = [fault for mutation in chosen for fault in mutation.faults(SOURCES, TESTS)]
    if faults or not chosen:
        print("\n".join(faults) or "no mutation of such a name")
        return 1
    with TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        for each in SOURCES:
            shutil.copytree(each, source, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        plain = run_tests(source, sorted({test for mutation in chosen for test in mutation.tests}))
        if plain.returncode:
            print(f"the tests fail without a mutation:\n{plain.stdout}{plain.stderr}")
            return 1
        caught = [report(source, mutation, max(len(mutation.name) for mutation in chosen)) for mutation in chosen]
    print(f"{sum(caught)} of {len(caught)} caught")
    return 0 if all(caught) else 1


def report(source: Path, mutation: Mutation, width: int) -> bool:
    """Try one mutation and print a line of the table; whether it was caught."""
    began = time.perf_counter()
    with mutated(source, mutation):
        caught, by = verdict(run_tests(source, mutation.tests))
    print(f"{mutation.name:{width}}  {time.perf_counter() - began:4.1f} s  {by}", flush=True)
    return caught


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
