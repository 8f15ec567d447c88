"""Compare many models on one task: open them, rank or read saved runs, fuse and measure.

Runs of trained models are saved beside each model, so that an interrupted comparison ranks nothing twice.

FOLDER/CORPUS.run.gz     the ranking of every query (TREC)
FOLDER/CORPUS.json       its cost, place and date, and hashes of model, queries and passages
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.files.writing import file_name, write_json
from auscult.provenance import find_revision
from auscult.version import __version__
from auscult_lab.evaluation.comparison import (
    Comparison,
    Contender,
    check_distinct,
    check_pairs,
    compare_runs,
    shares_label,
)
from auscult_lab.evaluation.contenders import open_contenders, whole_of
from auscult_lab.evaluation.ensembles import Compared, Ensemble, ensemble_run
from auscult_lab.evaluation.protocol import Progress, Run, run_task
from auscult_lab.evaluation.task import Task
from auscult_lab.evaluation.trec import read_run, write_qrels, write_run


def kept_run(
    task: Task, contender: Contender, folder: Path, progress: Progress | None = None, *, depth: int = 100
) -> Run:
    """Return a contender's run of a task: the saved one, or a new one, which is then saved.

    Args:
        task: What to rank.
        contender: The model.
        folder: Folder of its saved runs.
        progress: Called after every query of a new run.
        depth: Number of passages that an end-to-end ranking keeps.

    Raises:
        AuscultError: See `run_task`.
    """
    rankings, described = folder / f"{file_name(task.corpus)}.run.gz", folder / f"{file_name(task.corpus)}.json"
    identity = {
        "model": contender.label,
        "fingerprint": contender.fingerprint,
        "task": _digest(task),
        "precision": contender.precision,
        "version": __version__,
    }
    if not contender.fingerprint:
        # Models without weights are identified by the version of the code.
        identity["revision"] = find_revision()
    if depth != 100:
        # Saved runs without this field have the default depth.
        identity["depth"] = str(depth)
    if (kept := _kept(task, contender, rankings, described, identity)) is not None:
        return kept
    run = run_task(task, contender.scorer, depth=depth, prepare=contender.prepare, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    described.unlink(missing_ok=True)
    write_run(rankings, run.rankings, contender.label)
    costs = {"ms_per_query": run.ms_per_query, "prepare_seconds": run.prepare_seconds}
    write_json(described, {"identity": identity, **costs, "made": dict(run.provenance)})
    return run


def _kept(task: Task, contender: Contender, rankings: Path, described: Path, identity: Mapping[str, str]) -> Run | None:
    """Return the saved run of this identity; None where there is none, or a damaged one."""
    if not (described.is_file() and rankings.is_file()):
        return None
    try:
        stored = parse_json(described.read_text(encoding="utf-8"))
        if stored["identity"] != identity:
            return None
        by_query = {ranking.query_id: ranking for ranking in read_run(rankings)}
        return Run(
            model=contender.scorer.name,
            rankings=tuple(by_query[query.query_id] for query in task.queries),
            ms_per_query=stored["ms_per_query"],
            prepare_seconds=stored["prepare_seconds"],
            provenance=stored["made"],
        )
    except (OSError, ValueError, TypeError, KeyError, DataError):
        return None


def _digest(task: Task) -> str:
    """Return a hash of the queries and all documents of a task, which distinguishes data sets of the same name."""
    digest = hashlib.sha256(f"{task.corpus}/{task.protocol}/{task.seed}".encode())
    for document in task.documents:
        digest.update("\t".join((document.doc_id, document.text)).encode())
        digest.update("\t".join(f"{each.passage_id} {each.start}" for each in document.passages).encode())
    for query in task.queries:
        candidates = task.candidates.get(query.query_id, ()) if task.candidates is not None else ()
        digest.update("\t".join((query.query_id, query.terms, query.text, *candidates)).encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model that is to be compared, before it is opened.

    Attributes:
        model: As `open_contenders` takes it.
        experiment: Name of the experiment that trained it. Where an earlier model has the same title, it follows the
            title, in brackets.
        copied: Add that name in any case: the experiment is a copy of another one, without a title of its own.
        runs: Folder of its saved runs, so that nothing is ranked twice; None to save none.
    """

    model: str
    experiment: str = ""
    copied: bool = False
    runs: Path | None = None

    @property
    def name(self) -> str:
        """The name by which users refer to it: its experiment's, or the model's as given, without ":parts"."""
        return self.experiment or whole_of(self.model)


@dataclass(frozen=True, slots=True)
class Opened:
    """Entries with opened models.

    Attributes:
        contenders: All, in the order of the entries; a model comes before its parts.
        by_name: Each entry's whole model.
    """

    contenders: tuple[Contender, ...]
    by_name: Mapping[str, Contender]


def open_entries(entries: Sequence[Entry], corpus: str, **options: Any) -> Opened:
    """Open models for a corpus, and check that their labels differ.

    Args:
        entries: In the order in which they are compared.
        corpus: The corpus to compare them on, as `open_corpus` takes it.
        options: The other arguments of `open_contenders`.

    Raises:
        ConfigError: See `open_contenders`; the message names a model's experiment. Or two models have equal labels.
        ModelError: There is no such model.
    """
    contenders: list[Contender] = []
    by_name: dict[str, Contender] = {}
    for entry in entries:
        try:
            whole, *parts = open_contenders(entry.model, corpus, **options)
        except ConfigError as error:
            if not entry.experiment:
                raise
            remedy = f"take {corpus} off 'evaluate' or train without it ({error.remedy})"
            raise ConfigError(error.expected, f"{entry.experiment}: {error.got}", remedy) from error
        if entry.experiment and (entry.copied or shares_label(whole, contenders)):
            whole.scorer.name = f"{whole.name} ({entry.experiment})"
        own = [replace(each, runs=entry.runs) for each in (whole, *parts)]
        contenders += own
        by_name[entry.name] = own[0]
    check_distinct(contenders)
    return Opened(tuple(contenders), by_name)


def compare_models(
    task: Task,
    contenders: Sequence[Contender],
    *,
    ensembles: Sequence[Ensemble] = (),
    pairs: Sequence[tuple[str, str]] = (),
    depth: int = 100,
    task_for: Callable[[Contender], Task] | None = None,
    progress: Callable[[Contender], Progress] | None = None,
) -> Comparison:
    """Rank with every model, or read its saved run, and compare all.

    Args:
        task: The task of all models.
        contenders: Two may share a name or a track, but not both.
        ensembles: Combinations of some contenders, which are compared like them.
        pairs: As for `compare_runs`.
        depth: Number of passages that an end-to-end ranking keeps.
        task_for: Returns the task in a contender's own wording: queries with the same ids, worded for that contender.
            None where all contenders read the same task.
        progress: Makes a callback for one contender's queries.

    Raises:
        ConfigError: Two contenders of one name and track, or a pair of others.
        AuscultError: See `run_task` and `measure`.
    """
    compared: list[Compared] = [*contenders, *ensembles]
    check_distinct(compared)
    check_pairs(pairs, compared)
    runs = []
    for contender in contenders:
        own = task_for(contender) if task_for is not None else task
        report = progress(contender) if progress is not None else None
        if contender.runs is not None:
            run = kept_run(own, contender, contender.runs, report, depth=depth)
        else:
            run = run_task(own, contender.scorer, depth=depth, prepare=contender.prepare, progress=report)
        runs.append(run)
        if report is not None:
            # It was not called for a saved run.
            report(len(task.queries), len(task.queries))
    by_label = {contender.label: run for contender, run in zip(contenders, runs, strict=True)}
    runs += [ensemble_run(task, ensemble, by_label) for ensemble in ensembles]
    return compare_runs(task, compared, runs, pairs=pairs)


def write_runs(folder: Path, task: Task, comparison: Comparison) -> None:
    """Write the rankings of a comparison as TREC runs, one file per model, and its judgements as qrels.

    Raises:
        DataError: The folder cannot be written to.
    """
    # A corpus may be called notes:NAME, and some file systems allow no colon.
    corpus = file_name(task.corpus)
    for record, run in zip(comparison.records, comparison.runs, strict=True):
        name = "-".join((corpus, task.protocol, record.track, file_name(run.model)))
        write_run(folder / f"{name}.run.gz", run.rankings, record.label)
    write_qrels(folder / f"{corpus}.qrels", task.judgements)
