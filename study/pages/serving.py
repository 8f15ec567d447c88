"""How indexes of many sentences, and servers, answer; and what an index survives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.picked import value_at
from study.pages.plain_values import day_and_processor, flatten, measured_on, plain

# Sentences of the index that is compared with a peer.
_OF_PEER = 100_000
_LARGER = (100_000_000, 1_000_000_000)
_PATIENCE, _ONE_DISK = 0.5, 1e12
_DAY = len("2026-01-31")


_SIZES: Mapping[str, str] = {
    "megabytes": "MB on disk",
    "peak_memory_mb": "MB of memory, at most",
    "question / p50_ms": "question, median ms",
    "question / p95_ms": "question, p95 ms",
    "vectors / p50_ms": "vectors, median ms",
    "same_as_weighing_all / question": "same as weighing all",
    "cold_command_seconds": "a cold command, s",
    "building_without_encoder_seconds": "building, s",
    "adding_a_document_seconds": "adding a document, s",
}
"""Where the rows of the table of sizes are in a size, and what they are called."""
_ENGINES: Mapping[str, str] = {
    "question_p50_ms": "question, median ms",
    "question_p95_ms": "p95",
    "vectors_p50_ms": "vectors, median ms",
    "same_by_vectors": "same by vectors",
}


def serving_tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """Build a table with a column a size, one by arithmetic for larger sizes, and one with a row a server."""
    tables = []
    for record in records:
        tables += [_sizes_table(record), _extrapolated(dict(flatten(record["sizes"][-1])))]
        if record["engines"]:
            tables.append(_peer_table(record))
    return tables


def _sizes_table(record: Mapping[str, Any]) -> TextTable:
    sizes = record["sizes"]
    rows = tuple((name, *(plain(value_at(size, path)) for size in sizes)) for path, name in _SIZES.items())
    note = (
        "*Same as weighing all*: the share of the first ten as good as after weighing every passage. "
        f"{record['questions']} questions of each kind. {measured_on(record)}"
    )
    return TextTable("One machine", ("", *(f"{size['sentences']:,} sentences" for size in sizes)), rows, (note,))


def _peer_table(record: Mapping[str, Any]) -> TextTable:
    published = min(record["sizes"], key=lambda size: abs(size["sentences"] - _OF_PEER))
    itself = {name.replace(": ", "_").replace(" ", "_"): value for name, value in flatten(published)}
    engines = [{"engine": "the index itself", **itself}, *record["engines"]]
    rows = tuple((str(engine["engine"]), *(plain(engine.get(field)) for field in _ENGINES)) for engine in engines)
    note = f"{published['sentences']:,} sentences. *Same by vectors*: the share of the exact ten nearest."
    return TextTable("A peer", ("engine", *_ENGINES.values()), rows, (note,))


_LOAD: Mapping[str, str] = {
    "processes": "processes that search",
    "searches_per_second": "searches a second",
    "ms / median": "median, ms",
    "ms / p95": "p95, ms",
    "memory_mb / last": "MB of memory at the end",
    "own_growth_mb_per_minute": "growth at the end, MB a minute",
}


def load_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a measure, a column a number of processes that search: the newest run of each."""
    newest = {record["processes"]: record for record in sorted(records, key=lambda record: record["date"])}
    shown = [newest[processes] for processes in sorted(newest)]
    heads = tuple(f"{record['clients']} clients, {record['seconds']} s" for record in shown)
    rows = tuple((name, *(plain(value_at(record, path)) for record in shown)) for path, name in _LOAD.items())
    processors = "; ".join(map(day_and_processor, shown))
    note = f"Clients and service share the processor. {processors}."
    return TextTable("A served index, asked by several at once", ("", *heads), rows, (note,))


_PUBLISHED: Mapping[str, str] = {
    "question_p50_ms": "median ms",
    "question_p95_ms": "p95",
    "searches_per_second_of_1": "a second",
    "searches_per_second_of_4": "of four",
    "megabytes": "MB disk",
    "publishing_seconds": "publishing, s",
}


def published_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a size and index, the folder first; sizes that nobody searched at the same time are not shown."""
    rows, sizes = [], [record for record in records if "searches_per_second_of_1" in record["indexes"][0]]
    for record in sizes:
        rows += [
            (
                f"{record['sentences']:,}",
                str(index["index"]).rpartition(", ")[2].removeprefix("--candidates "),
                _same_answers(index, record),
                *(plain(index.get(field)) for field in _PUBLISHED),
            )
            for index in record["indexes"]
        ]
    heads = ("sentences", "index", "as the folder", *_PUBLISHED.values())
    loads = ", ".join(f"{record['load']:.1f}" for record in sizes)
    note = (
        "*A second*: searches of one searcher, then four, beside the server on two processors. "
        f"Load before: {loads}. "
        f"{day_and_processor(sizes[-1])}."
    )
    return TextTable("An index on a server", heads, tuple(rows), (note,))


def _same_answers(index: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    same = index.get("same_first_ten_and_scores")
    return "" if same is None else f"{same}/{record['questions']}"


def _extrapolated(size: Mapping[str, Any]) -> TextTable:
    """Build the table of larger sizes, extrapolated from the largest one, with the servers that each needs."""
    heads, columns = [], []
    for sentences in _LARGER:
        times = sentences / size["sentences"]
        disk, seconds = size["bytes per sentence"] * sentences, size["question: processor p50 ms"] * times / 1000
        found_by = size["of these segments"] * sentences
        servers = math.ceil((disk - found_by) / (_ONE_DISK - found_by))
        per_server = found_by + (disk - found_by) / servers
        heads.append(f"{sentences:,} sentences")
        columns.append(
            (
                plain(round(size["passages"] * times)),
                plain(disk / 1e9),
                plain(found_by / 1e9),
                plain(seconds),
                *(("", "") if seconds < _PATIENCE else (plain(servers), plain(per_server / 1e9))),
            )
        )
    names = (
        "passages",
        "disk, GB",
        "of these searched, best in memory, GB",
        "a question, seconds of a processor",
        "PostgreSQL servers",
        "disk of each, GB",
    )
    rows = tuple((name, *cells) for name, *cells in zip(names, *columns, strict=True))
    note = (
        f"Multiples of {size['sentences']:,} sentences. The index itself serves below {_PATIENCE} s a "
        f"question; then servers propose passages (`--approximate`), each with at most {_ONE_DISK / 1e12:.0f} TB: a "
        "share of the documents, and all segments."
    )
    return TextTable("More sentences, by arithmetic: how many servers from which size", ("", *heads), rows, (note,))


_NOT_SHOWN = ("statuses", "trickling ones without the role, statuses", "seed", "seconds", "upload")


def reliability_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """A row a check."""
    (record,) = records
    rows = tuple((check["check"], check["what"], _counts(check["found"])) for check in record["checks"])
    whence = f"Measured {record['date'][:_DAY]}, {record['hardware']}."
    return TextTable("", ("", "what", "found"), rows, (whence,))


def _counts(counts: Mapping[str, Any]) -> str:
    """Join the counts of a check, except how it was run and its HTTP statuses, which are in the record."""
    shown = {name: value for name, value in counts.items() if name not in _NOT_SHOWN and value != ""}
    return "; ".join(f"{name.replace('_', ' ')} {plain(value)}" for name, value in shown.items())
