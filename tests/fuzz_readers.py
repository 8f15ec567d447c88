"""Files changed at random, and files made to harm, read as a user's are: what breaks, waits, fetches, writes or lies?

    PYTHONPATH=tests .venv/bin/python tests/fuzz_readers.py --count 5000

Prints what was counted as JSON, and ends with 1 where anything was found. Findings: the reading process of the parent
fell, or raised what is no user error; a reader failed with an error of its own; a file took longer than its limit; an
address was fetched; a file was written; a secret turned up; a draft's offsets do not fit its text. A process that a
file's parser ended (`ended`), or that was stopped by a limit, is contained, and counted.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import random
import resource
import socket
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from auscult.documents import build_document, check_document
from auscult.files.limits import VARIABLE, limits
from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.process import reading
from auscult.readers.process.reading import FileRead, Reading
from auscult.readers.process.worker import ReadingProcess
from auscult.readers.walking import walk
from good_files import good_files
from hostile_files import GROUPS, hostile_files

CANARY = "canary-7f3a91-unseen"
SECONDS, MEMORY = 20, 2_000_000_000
_BATCH = 250
_STARTING = 15  # Seconds that a process may take to begin, on a busy machine.
_STOPPED = ("timed out", "too much memory", "reader ended", "too large")
_TOKENS = [
    b"<", b">", b"&", b'"', b"'", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<!DOCTYPE a [", b"&x;", b"&#0;", b"&#xD800;",
    b"\0", b"\xff", b"\xed\xa0\x80", b"\r", b"\n\n", b"{", b"}", b"[", b"]", b"\\ud800", b"1e999", b"-1", b"4294967295",
    b"99999999999999999999", b"endobj", b"endstream", b"stream", b"<<", b">>", b"/Length", b"obj", b"%%EOF", b"xref",
    b"| --- |", b"```", b"# ", b"---\n", b"PK\x03\x04", b"</w:p>", b"<w:tbl>", b"NaN", b"null", b"true", b"=", b",",
]  # fmt: skip


@dataclass
class Counts:
    """What happened.

    Attributes:
        stopped: Files whose reading a limit ended, or the parser's own fault: contained, and named.
        findings: What should not have, with the file.
    """

    files: int = 0
    read: int = 0
    documents: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    fetched: int = 0
    stopped: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def mutated(chance: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """A content changed in one to several ways."""
    if content.startswith(b"PK") and chance.random() < 0.75:
        return _member_mutated(chance, content, others)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        content = chance.choice(_WAYS)(chance, content, others)
    return content


def _flip(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    held = bytearray(content)
    for _number in range(chance.choice([1, 4, 32]) if held else 0):
        held[chance.randrange(len(held))] ^= 1 << chance.randrange(8)
    return bytes(held)


def _overwrite(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    at = chance.randrange(len(content) + 1)
    size = chance.choice([1, 2, 4, 64])
    return content[:at] + chance.randbytes(size) + content[at + size :]


def _truncate(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _delete(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    begin, end = _range(chance, content)
    return content[:begin] + content[end:]


def _duplicate(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    begin, end = _range(chance, content)
    return (
        content[:end] + content[begin:end] * chance.choice([1, 1, 3, 200 if end - begin < 500 else 1]) + content[end:]
    )


def _move(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    begin, end = _range(chance, content)
    rest = content[:begin] + content[end:]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + content[begin:end] + rest[at:]


def _token(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    for _number in range(chance.choice([1, 3, 10])):
        at = chance.randrange(len(content) + 1)
        content = content[:at] + chance.choice(_TOKENS) * chance.choice([1, 1, 1, 5_000]) + content[at:]
    return content


def _splice(chance: random.Random, content: bytes, others: list[bytes]) -> bytes:
    other = chance.choice(others)
    return content[: chance.randrange(len(content) + 1)] + other[chance.randrange(len(other) + 1) :]


def _number(chance: random.Random, content: bytes, _: list[bytes]) -> bytes:
    digits = [at for at, letter in enumerate(content) if 48 <= letter <= 57]
    if not digits:
        return content
    at = chance.choice(digits)
    return content[:at] + chance.choice([b"-1", b"0", b"2147483648", b"1e40", b"65536", b"7"]) + content[at + 1 :]


_WAYS: list[Callable[[random.Random, bytes, list[bytes]], bytes]] = [
    _flip, _overwrite, _truncate, _delete, _duplicate, _move, _token, _splice, _number,
]  # fmt: skip


def _range(chance: random.Random, content: bytes) -> tuple[int, int]:
    begin = chance.randrange(len(content) + 1)
    return begin, min(len(content), begin + chance.choice([1, 8, 64, 1_000, 20_000]))


def _member_mutated(chance: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """An archive, a member of which is changed, or its name."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(each.filename, archive.read(each)) for each in archive.infolist()]
    except (zipfile.BadZipFile, OSError, ValueError):
        return content
    # Most of what is read of a Word file is in these.
    main = [
        at for at, (name, _) in enumerate(members) if name in ("word/document.xml", "word/numbering.xml", "_rels/.rels")
    ]
    at = chance.choice(main) if main and chance.random() < 0.7 else chance.randrange(len(members))
    name, held = members[at]
    if chance.random() < 0.1:
        name = chance.choice(["../" + name, "/" + name, name * 20, name + "\x00", "a/../../" + name, ""]) or "x"
    members[at] = (name, mutated(chance, held, others) if not held.startswith(b"PK") else held)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, inner in members:
            archive.writestr(zipfile.ZipInfo(member), inner, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


@contextmanager
def timed(counts: Counts) -> Iterator[None]:
    """While it lasts, the longest time that one file takes is counted."""

    class Timed(ReadingProcess):
        def read(self, file: SourceFile) -> Iterator[tuple[str, DraftDocument]]:
            begun = time.perf_counter()
            try:
                yield from super().read(file)
            finally:
                counts.slowest = max(counts.slowest, time.perf_counter() - begun)

    reading.ReadingProcess = Timed  # type: ignore[misc]
    try:
        yield
    finally:
        reading.ReadingProcess = ReadingProcess  # type: ignore[misc]


@contextmanager
def listener() -> Iterator[tuple[str, Callable[[], int]]]:
    """An address that counts who connects to it."""
    met = [0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        done = threading.Event()

        def wait() -> None:
            while not done.is_set():
                try:
                    server.accept()[0].close()
                    met[0] += 1
                except TimeoutError:
                    pass

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", lambda: met[0]
        finally:
            done.set()
            thread.join()


def check_draft(draft: DraftDocument) -> None:
    """See that a draft's offsets fit its text, and that a document can be made of it."""
    at = 0
    for section in draft.sections:
        if section.start is not None:
            if section.start < at or draft.text[section.start : section.start + len(section.text)] != section.text:
                raise ValueError("a section that is not where it says")
            at = section.start + len(section.text)
    for rows in (draft.runs, draft.words):
        if len(rows) and not (
            (rows["start"] < rows["end"]).all()
            and (rows["end"][:-1] <= rows["start"][1:]).all()
            and int(rows["end"][-1]) <= len(draft.text)
        ):
            raise ValueError("runs or words out of order, or beyond the text")
    if len(draft.words) and int(draft.words["page"].max()) >= len(draft.pages):
        raise ValueError("a word on no page")
    if draft.heading_paths and len(draft.heading_paths) != len(draft.sections):
        raise ValueError("heading paths of other sections")
    draft.text.encode()
    given = draft.sections and all(section.start is not None for section in draft.sections)
    check_document(
        build_document(
            doc_id="d", title=draft.title, sections=draft.sections, text=draft.text if given else None,
            metadata=draft.metadata, splitter=_Lines(),
        )
    )  # fmt: skip


class _Lines:
    """A splitter that takes no time."""

    name = "lines"

    def split(self, text: str) -> list[tuple[int, int]]:
        return [(len(text) - len(text.lstrip()), len(text.rstrip()))] if text.strip() else []


def read_all(files: Iterator[tuple[str, bytes]], arena: Path, counts: Counts) -> None:
    """Read files in batches, each from a folder of its own."""
    while batch := [*islice(files, _BATCH)]:
        folder = arena / "in"
        folder.mkdir()
        for name, content in batch:
            (folder / name).write_bytes(content)
        before = _listing(arena)
        try:
            for done in Reading(processes=2).read(walk(str(folder)), lambda *_: False):
                _count(done, counts)
        except Exception as error:
            counts.findings.append(f"parent: {type(error).__name__}: {error} {traceback.format_exc(limit=-3)}")
        counts.findings += [f"written: {each}" for each in sorted(_listing(arena) - before)]
        counts.files += len(batch)
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()
        gc.collect()


def _count(done: FileRead, counts: Counts) -> None:
    counts.read += done.problem is None
    counts.documents += len(done.drafts)
    if done.problem is not None:
        counts.refused[done.problem.kind] += 1
        if done.problem.kind in _STOPPED:
            counts.stopped.append(f"{done.found.name}: {done.problem.kind}")
        if done.problem.kind == "reader failed":
            counts.findings.append(f"{done.found.name}: {done.problem.got}")
        if CANARY in str(done.problem):
            counts.findings.append(f"{done.found.name}: the secret is in an error")
    for format_name, draft in done.drafts:
        try:
            check_draft(draft)
        except Exception as error:
            counts.findings.append(f"{done.found.name} ({format_name}): {type(error).__name__}: {error}")
        if CANARY in draft.text or CANARY in str(draft.metadata) or CANARY in draft.title:
            counts.findings.append(f"{done.found.name}: the secret is in a draft")


def _listing(arena: Path) -> set[str]:
    return {str(each.relative_to(arena)) for each in arena.rglob("*")}


def changed_files(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many changed files, the same for a seed."""
    good = sorted(good_files().items())
    contents = [content for _, content in good]
    for number in range(count):
        chance = random.Random(f"{seed}-{number}")
        name, content = good[number % len(good)]
        stem, _, suffix = name.rpartition(".")
        suffix = chance.choice(["txt", "bin", "html", "xml", "pdf", "docx"]) if chance.random() < 0.05 else suffix
        yield f"{number:06}-{stem}.{suffix}", mutated(chance, content, contents)


def fuzz(count: int, seed: int, *, groups: Collection[str] = GROUPS, kept: Path | None = None) -> Counts:
    """Read so many changed files, and all that were made to harm.

    Args:
        count: Of changed ones.
        seed: Of the changes.
        groups: Of those that were made to harm.
        kept: Where files with findings are copied to.
    """
    counts = Counts()
    # Whatever is written where temporary files go is seen.
    with tempfile.TemporaryDirectory() as place, listener() as (address, met), timed(counts):
        arena = Path(place, "around", "arena")
        arena.mkdir(parents=True)
        secret = arena / "secret.txt"
        secret.write_text(CANARY)
        every = [("hostile-" + name, content) for name, content in hostile_files(address, secret, groups).items()]
        changed = changed_files(count, seed)
        if every:
            read_all(iter(every), arena, counts)
        read_all(changed, arena, counts)
        counts.findings += [f"written: {each}" for each in _listing(Path(place)) - {
            "around", "around/arena", "around/arena/secret.txt"
        }]  # fmt: skip
        counts.fetched = met()
    if counts.fetched:
        counts.findings.append(f"fetched: {counts.fetched} times")
    if counts.slowest > limits().seconds + _STARTING:
        counts.findings.append(f"slow: {counts.slowest:.0f} s")
    if kept is not None:
        _keep(counts.findings, {**dict(changed_files(count, seed)), **dict(every)}, kept)
    return counts


def _keep(findings: list[str], files: dict[str, bytes], kept: Path) -> None:
    kept.mkdir(parents=True, exist_ok=True)
    for finding in findings:
        name = finding.split(":")[0].split(" (")[0].split("/")[0]
        if name in files:
            (kept / name).write_bytes(files[name])


def record(counts: Counts, count: int, seed: int, seconds: float) -> dict[str, Any]:
    """What a record keeps."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "changed": count,
        "made_to_harm": counts.files - count,
        "seed": seed,
        "read": counts.read,
        "documents": counts.documents,
        "refused": dict(counts.refused.most_common()),
        "addresses_fetched": counts.fetched,
        "slowest_seconds": round(counts.slowest, 2),
        "limit_seconds": limits().seconds,
        "peak_memory_of_a_reader": peak,
        "limit_memory": limits().reading,
        "seconds": round(seconds, 1),
        "stopped": counts.stopped,
        "findings": counts.findings,
    }


def main() -> int:
    """Fuzz, print, and end with 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000, help="files changed at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-hostile", action="store_true", help="leave out the files that were made to harm")
    parser.add_argument("--keep", type=Path, help="a folder for files with findings")
    given = parser.parse_args()
    os.environ.setdefault(VARIABLE, f"seconds={SECONDS}, reading={MEMORY}")
    begun = time.perf_counter()
    counts = fuzz(given.count, given.seed, groups=() if given.no_hostile else GROUPS, kept=given.keep)
    told = record(counts, given.count, given.seed, time.perf_counter() - begun)
    print(json.dumps(told, indent=1, ensure_ascii=False))
    return 1 if counts.findings else 0


if __name__ == "__main__":
    sys.exit(main())
