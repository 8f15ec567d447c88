"""How indexes of many sentences, and servers, answer; and what an index survives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import flatten, plain

# Sentences of the index that is compared with a peer.
_OF_PEER = 100_000
_LARGER = (100_000_000, 1_000_000_000)
_PATIENCE, _ONE_DISK = 0.5, 1e12
_DAY = len("2026-01-31")


def serving_tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """A column a size, and one of what a billion sentences would take; a row a server."""
    tables = []
    for record in records:
        sizes = [dict(flatten(each)) for each in record["sizes"]]
        heads = [f"{size['sentences']:,} sentences" for size in sizes]
        names = [name for name in sizes[0] if name != "sentences"]
        rows = tuple((name, *(plain(size.get(name, "")) for size in sizes)) for name in names)
        whence = (
            f"Measured {record['date'][:_DAY]}, {record['hardware']}; {record['questions']} questions of each kind."
        )
        told = (
            "*Processor*: its time, which others that use the machine change less than what the clock says. *Same as "
            "weighing all*: of four kinds of questions, the share of the first ten that are as good as the first ten "
            "of weighing every passage exactly."
        )
        tables.append(TextTable("One machine", ("", *heads), rows, (told, whence)))
        tables.append(_extrapolated(sizes[-1]))
        if again := record.get("unchanged_folder"):
            rows = tuple((name, plain(value)) for name, value in flatten(again))
            tables.append(TextTable("A folder in which nothing has changed, added again", ("", "value"), rows))
        if engines := [dict(flatten(each)) for each in record["engines"]]:
            measured = min(sizes, key=lambda size: abs(size["sentences"] - _OF_PEER))
            itself = {"engine": "the index itself", **measured}
            columns = list(dict.fromkeys(name for each in engines for name in each))
            engines.insert(0, {name.replace(": ", " "): value for name, value in itself.items()})
            cells = tuple(tuple(plain(each.get(name)) for name in columns) for each in engines)
            told = (
                "*Same by vectors*: the share of the exact ten nearest by the same vectors. LanceDB ranks by its own "
                "words and ranks."
            )
            tables.append(TextTable("A peer", tuple(columns), cells, (told,)))
    return tables


def load_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """A row a measure, a column a run: a served index that several ask at once."""
    heads = tuple(f"{each['clients']} clients, {each['seconds']} s" for each in records)
    rows = tuple(
        (said, *(plain(_at(each, path)) for each in records))
        for said, path in (
            ("sentences", "index.sentences"),
            ("processes that search", "processes"),
            ("searches a second", "searches_per_second"),
            ("errors", "errors"),
            ("median, ms", "ms.median"),
            ("p95, ms", "ms.p95"),
            ("p99, ms", "ms.p99"),
            ("processor time of the service, ms a search", "processor_ms_a_search.service"),
            ("from the command to the first answer, s", "cold_start_seconds"),
            ("memory at first, MB", "memory_mb.first"),
            ("memory at the end, MB", "memory_mb.last"),
            ("its growth at the end, MB a minute", "growth_mb_per_minute"),
            ("completion, p95, ms", "completion_ms.p95"),
        )
    )
    whence = "; ".join(f"{each['model']}, {str(each['date'])[:_DAY]}, {each['hardware']}" for each in records)
    told = f"Clients and service on the same processor. Measured: {whence}."
    return TextTable("A served index, asked by several at once", ("", *heads), rows, (told,))


def _at(record: Mapping[str, Any], path: str) -> Any:
    found: Any = record
    for name in path.split("."):
        found = found[name]
    return found


def _extrapolated(size: Mapping[str, Any]) -> TextTable:
    """By the arithmetic of the largest size: a column a size, and the servers that it calls for."""
    heads, columns = [], []
    for sentences in _LARGER:
        times = sentences / size["sentences"]
        disk, seconds = size["bytes per sentence"] * sentences, size["question: processor p50 ms"] * times / 1000
        found_by = size["of these segments"] * sentences
        servers = math.ceil((disk - found_by) / (_ONE_DISK - found_by))
        each = found_by + (disk - found_by) / servers
        heads.append(f"{sentences:,} sentences")
        columns.append(
            (
                plain(round(size["passages"] * times)),
                plain(disk / 1e9),
                plain(found_by / 1e9),
                plain(seconds),
                *(("", "") if seconds < _PATIENCE else (plain(servers), plain(each / 1e9))),
            )
        )
    names = (
        "passages",
        "disk, GB",
        "of these segments, which are searched and should fit into memory, GB",
        "a question, seconds of a processor",
        "PostgreSQL servers",
        "disk of each, GB",
    )
    rows = tuple((name, *cells) for name, *cells in zip(names, *columns, strict=True))
    per_passage = size["bytes per sentence"] * size["sentences"] / size["passages"]
    told = (
        f"Each is that of {size['sentences']:,} sentences (of {plain(size['bytes per sentence'])} bytes, "
        f"{plain(per_passage)} a passage) times what it has more; none of it was measured. The index itself serves as "
        f"long as a question takes less than {_PATIENCE} s; then servers that propose passages by a graph "
        f"(`auscult publish --approximate`, or `--candidates`), each with at most {_ONE_DISK / 1e12:.0f} TB: a share "
        "of the documents, and all segments. Reading the text by the model comes on top: [indexing](products.md)."
    )
    return TextTable("More sentences, by arithmetic: how many servers from which size", ("", *heads), rows, (told,))


def reliability_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """A row a check."""
    (record,) = records
    rows = tuple(
        (each["check"], each["what"], "; ".join(f"{name} {plain(value)}" for name, value in each["found"].items()))
        for each in record["checks"]
    )
    whence = f"Measured {record['date'][:_DAY]}, {record['hardware']}."
    return TextTable("", ("", "what", "found"), rows, (whence,))
