"""Read and write TREC run and qrels files; files named `*.gz` are compressed.

A run line is `query_id Q0 passage_id rank score tag`, a qrels line `query_id 0 passage_id relevance`,
fields separated by white space. A run is ordered by score; its rank column orders equal scores only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from auscult.errors import DataError
from auscult.files.reading import packing, read_lines
from auscult.files.writing import whole_or_nothing
from auscult.ingest.corpus import Judgement
from auscult.search.hits import Ranking
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.tables import TextTable


def read_run(path: Path) -> list[Ranking]:
    """Read a run file.

    Returns:
        One ranking per query, in the file's order of queries.

    Raises:
        DataError: A malformed line (named with file, line and reason), or a file that cannot be read.
    """
    rows: dict[str, dict[str, tuple[float, int]]] = {}
    for number, fields in _lines(path, 6, "query_id Q0 passage_id rank score tag"):
        query_id, _, passage_id, rank, score, _ = fields
        try:
            row = (float(score), int(rank))
        except ValueError:
            raise _malformed(path, number, f"rank '{rank}' or score '{score}' is not a number") from None
        if not math.isfinite(row[0]):
            raise _malformed(path, number, f"score '{score}' is not finite")
        if passage_id in rows.setdefault(query_id, {}):
            raise _malformed(path, number, f"passage '{passage_id}' occurs twice for query '{query_id}'")
        rows[query_id][passage_id] = row
    rankings = []
    for query_id, found in rows.items():
        best_first = sorted(found, key=lambda each: (-found[each][0], found[each][1]))
        rankings.append(Ranking(query_id, tuple(best_first), tuple(found[each][0] for each in best_first)))
    return rankings


def write_run(path: Path, rankings: Iterable[Ranking], tag: str) -> None:
    """Write a run file atomically.

    Args:
        path: File to write; its folder must exist.
        rankings: Best first.
        tag: Name of the run; white space becomes "_".

    Raises:
        DataError: An id is empty or has white space, which the format does not allow.
    """
    tag = "_".join(tag.split()) or "run"
    _write(
        path,
        (
            f"{_word(ranking.query_id)} Q0 {_word(passage_id)} {rank} {score!r} {tag}\n"
            for ranking in rankings
            for rank, (passage_id, score) in enumerate(zip(ranking.passage_ids, ranking.scores, strict=True), start=1)
        ),
    )


def read_qrels(path: Path) -> list[Judgement]:
    """Read a qrels file.

    Raises:
        DataError: A malformed line (named with file, line and reason), or a file that cannot be read.
    """
    judgements: list[Judgement] = []
    seen: set[tuple[str, str]] = set()
    for number, (query_id, _, passage_id, relevance) in _lines(path, 4, "query_id 0 passage_id relevance"):
        try:
            judgements.append(Judgement(query_id, passage_id, int(relevance)))
        except ValueError:
            raise _malformed(path, number, f"relevance '{relevance}' is not a whole number") from None
        if (query_id, passage_id) in seen:
            raise _malformed(path, number, f"passage '{passage_id}' is judged twice for query '{query_id}'")
        seen.add((query_id, passage_id))
    return judgements


def write_qrels(path: Path, judgements: Iterable[Judgement]) -> None:
    """Write a qrels file atomically.

    Raises:
        DataError: An id is empty or has white space, which the format does not allow.
    """
    _write(path, (f"{_word(each.query_id)} 0 {_word(each.passage_id)} {each.relevance}\n" for each in judgements))


def _lines(path: Path, width: int, layout: str) -> Iterator[tuple[int, Sequence[str]]]:
    number = 0
    for number, line in read_lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != width:
            raise _malformed(path, number, f"{len(fields)} fields where '{layout}' has {width}")
        yield number, fields
    if number == 0:
        raise DataError(f"lines '{layout}'", f"an empty file {path}", "check the file")


def _malformed(path: Path, number: int, reason: str) -> DataError:
    return DataError("a well-formed TREC line", f"{path}, line {number}: {reason}", "mend or remove that line")


def _word(identifier: str) -> str:
    if len(identifier.split()) != 1 or identifier != identifier.strip():
        raise DataError("ids without white space", f"'{identifier}'", "rename it before writing a TREC file")
    return identifier


def _write(path: Path, lines: Iterable[str]) -> None:
    with (
        whole_or_nothing(path) as partial,
        packing(partial) if path.suffix == ".gz" else partial.open("wb") as file,
    ):
        file.writelines(line.encode() for line in lines)


def run_table(run: Path, qrels: Path) -> TextTable:
    """Build a table of the measures of a TREC run, with the number of queries that only one of the files has.

    Raises:
        DataError: A file is malformed, or they have no query in common.
    """
    rankings = read_run(run)
    measured = measure(rankings, read_qrels(qrels))
    ranked, judged = {ranking.query_id for ranking in rankings}, set(measured.query_ids)
    if not ranked & judged:
        raise DataError(
            "a run and qrels of the same queries",
            f"no query in common between {run} ({min(ranked, default='empty')}, ...) and {qrels} ({min(judged)}, ...)",
            "check that the two belong together",
        )
    rows = tuple((name, f"{100 * value:.2f}") for name, value in measured.means().items() if name != "AP")
    title = f"{run.name} on {len(judged):,} queries of {qrels.name} (%)"
    notes = []
    if judged - ranked:
        notes.append(f"{len(judged - ranked):,} of {len(judged):,} judged queries are not in the run and count 0.")
    if ranked - judged:
        notes.append(f"{len(ranked - judged):,} of {len(ranked):,} queries of the run have no true answer: left out.")
    return TextTable(title, ("Measure", "mean"), rows, tuple(notes))
