"""`errors`: wrong top-1 passages of recorded runs, sorted into the classes of two papers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from auscult.concepts.opening import ACCEPTED, DEFAULT, open_knowledge_base
from auscult.errors import DataError
from auscult.files.writing import check_file, file_name
from auscult.search.hits import Ranking
from auscult_lab.corpora.note_labels import NoteLabeller, open_labeller
from auscult_lab.corpora.opening import makes_queries, open_corpus
from auscult_lab.evaluation.breakdown import read_passages
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.records import EvaluationRecord, evaluation_records, read_records
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.evaluation.trec import read_run
from auscult_lab.recognition.opening import DictionaryRecognizer
from study.errors.classes import find_errors, write_errors
from study.errors.traits import MAX_TOKENS, TraitFinder, find_traits, trait_table, write_traits


class Classes(StrEnum):
    """The paper whose classes wrong answers are sorted into."""

    arnold2020 = "arnold2020"
    grundmann2021 = "grundmann2021"


def errors(
    records: Annotated[Path, typer.Argument(help="Records of `auscult evaluate --json`; its runs lie beside them.")],
    out: Annotated[Path, typer.Option(help="The JSON lines file to write, one wrong answer a line.")],
    runs: Annotated[Path | None, typer.Option(help="Folder of the runs, where they lie elsewhere.")] = None,
    corpus: Annotated[
        str | None, typer.Option(help="What to open, where the corpus' name in the records does not: a folder.")
    ] = None,
    classes: Annotated[
        Classes, typer.Option(help="By taxonomy, or also long, structural, negated, anonymised.")
    ] = Classes.arnold2020,
    taxonomy: Annotated[
        list[str] | None, typer.Option(help=f"{ACCEPTED}; repeatable for files. Default: `{DEFAULT}`.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="For grundmann2021: longer passages are long.")] = MAX_TOKENS,
    knowledge: Annotated[
        str | None, typer.Option(help="For queries that were made of notes: as `auscult evaluate` was given it.")
    ] = None,
    recognizer: Annotated[list[str] | None, typer.Option(help="So; repeatable.")] = None,
    aspects: Annotated[list[Path] | None, typer.Option(help="So; repeatable.")] = None,
) -> None:
    """Sort every wrong top-1 passage into the classes of arnold2020 (section 5.4) or of grundmann2021 (section 4.5)."""
    check_file(out)
    base = open_knowledge_base(taxonomy or DEFAULT)
    evaluations = evaluation_records(read_records(records))
    folder = runs if runs is not None else records.with_name(f"{records.stem}-runs")
    rankings = {record.label: _ranked(record, folder) for record in evaluations}
    task = _task(evaluations, rankings, corpus, recognizer or (), knowledge, aspects or ())
    passages = read_passages(task.documents)
    wrong = {label: find_errors(task, errors_of_model, passages, base) for label, errors_of_model in rankings.items()}
    if classes is Classes.grundmann2021:
        finder = TraitFinder(task, base, NoteLabeller(DictionaryRecognizer(base)), max_tokens=max_tokens)
        traited = {label: find_traits(finder, errors_of_model) for label, errors_of_model in wrong.items()}
        write_traits(out, traited)
        trait_table(traited).print_to(Console())
    else:
        write_errors(out, wrong)
    typer.echo(f"Written: {out}")


def _ranked(record: EvaluationRecord, folder: Path) -> list[Ranking]:
    """Read the run of a record."""
    name = "-".join((record.corpus, record.protocol, record.track, file_name(record.model)))
    return read_run(folder / f"{name}.run.gz")


def _task(
    records: Sequence[EvaluationRecord],
    rankings: Mapping[str, Sequence[Ranking]],
    corpus: str | None,
    recognizers: Sequence[str],
    knowledge: str | None,
    tables: Sequence[Path],
) -> Task:
    """Build the task of all records again.

    Raises:
        DataError: The records are of several tasks, or a run is not the one that was measured.
    """
    tasks = list(dict.fromkeys(record.asked for record in records))
    if len(tasks) != 1:
        raise DataError("records of one task", f"records of {len(tasks)}", "evaluate each into a file of its own")
    first, name = records[0], corpus or records[0].corpus
    labeller = None
    if makes_queries(name):
        how = "pass --knowledge with a taxonomy"
        labeller = open_labeller(recognizers, knowledge=knowledge, tables=tables, how=how)
    ids = [ranking.query_id for ranking in rankings[first.label]]
    opened = open_corpus(name, labeller=labeller)
    task = build_task(opened, first.protocol, split=first.split, ids=ids, seed=first.seed)
    for record in records:
        measured = measure(rankings[record.label], task.judgements, ("R@1",)).means()["R@1"]
        if not math.isclose(measured, record.measures["R@1"], abs_tol=1e-9):
            got = f"a run of '{record.label}' with {measured:.4f}, where its record has {record.measures['R@1']:.4f}"
            raise DataError("runs with the R@1 of their records", got, "evaluate again, or name the --runs")
    return task
