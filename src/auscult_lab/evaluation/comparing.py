"""Comparing many models on one task: opened, told apart, ranked or taken from kept runs, fused, measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError
from auscult.files.writing import file_name
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
from auscult_lab.evaluation.kept_runs import kept_run
from auscult_lab.evaluation.protocol import Progress, run_task
from auscult_lab.evaluation.task import Task
from auscult_lab.evaluation.trec import write_qrels, write_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model that is to be compared, before it is opened.

    Attributes:
        model: As `open_contenders` takes it.
        experiment: Name of the experiment that trained it; put behind its title, in brackets, where a model before it
            has the same one.
        copied: Its name is put there in any case: it is a copy of another experiment, without a title of its own.
        runs: Folder that its runs are kept in, so that nothing is ranked twice; None for no such folder.
    """

    model: str
    experiment: str = ""
    copied: bool = False
    runs: Path | None = None

    @property
    def name(self) -> str:
        """What it is asked for by: the name of its experiment, or the model's as it was given, without its parts."""
        return self.experiment or whole_of(self.model)


@dataclass(frozen=True, slots=True)
class Opened:
    """Entries whose models are at hand.

    Attributes:
        contenders: All, in the order of the entries; a model stands before its parts.
        by_name: Each entry's whole model.
    """

    contenders: tuple[Contender, ...]
    by_name: Mapping[str, Contender]


def open_entries(entries: Sequence[Entry], corpus: str, **options: Any) -> Opened:
    """Open models for a corpus, and see that each can be told from the others.

    Args:
        entries: In the order in which they are compared.
        corpus: What they are to be compared on, as `open_corpus` takes it.
        options: The other arguments of `open_contenders`.

    Raises:
        ConfigError: See `open_contenders`; of an experiment's model it names the experiment. Or two models cannot be
            told apart.
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
    asked: Callable[[Contender], Task] | None = None,
    progress: Callable[[Contender], Progress] | None = None,
) -> Comparison:
    """Rank with every model, or take the run that is kept of it, and compare all.

    Args:
        task: The same for all.
        contenders: Two may share a name or a track, but not both.
        ensembles: Of some of them, compared with all.
        pairs: As for `compare_runs`.
        depth: How many passages an end-to-end ranking keeps.
        asked: The task as one contender reads it, where that depends on the contender: the same queries by their ids,
            in other words.
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
        own = asked(contender) if asked is not None else task
        report = progress(contender) if progress is not None else None
        if contender.runs is not None:
            run = kept_run(own, contender, contender.runs, report, depth=depth)
        else:
            run = run_task(own, contender.scorer, depth=depth, prepare=contender.prepare, progress=report)
        runs.append(run)
        if report is not None:
            # Of a kept run it has told nothing yet.
            report(len(task.queries), len(task.queries))
    by_label = {contender.label: run for contender, run in zip(contenders, runs, strict=True)}
    runs += [ensemble_run(task, each, by_label) for each in ensembles]
    return compare_runs(task, compared, runs, pairs=pairs)


def write_runs(folder: Path, task: Task, comparison: Comparison) -> None:
    """Write the rankings of a comparison as TREC runs, a file a model, and its judgements as qrels.

    Raises:
        DataError: The folder cannot be written to.
    """
    # A corpus of one's own is called notes:NAME, and not every system lets a file be called so.
    corpus = file_name(task.corpus)
    for record, run in zip(comparison.records, comparison.runs, strict=True):
        name = "-".join((corpus, task.protocol, record.track, file_name(run.model)))
        write_run(folder / f"{name}.run.gz", run.rankings, record.label)
    write_qrels(folder / f"{corpus}.qrels", task.judgements)
