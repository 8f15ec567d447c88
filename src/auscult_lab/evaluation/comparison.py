"""Evaluate runs of several models on one task: measures, intervals, tests and breakdowns, in one record per model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auscult.encoders.contract import Scorer
from auscult.errors import ConfigError
from auscult.files.writing import file_name
from auscult_lab.evaluation.breakdown import PassageRecord, break_down, match_rates, read_passages
from auscult_lab.evaluation.ensembles import Compared
from auscult_lab.evaluation.measures import MEASURES, QueryMeasures, measure
from auscult_lab.evaluation.protocol import Run
from auscult_lab.evaluation.published_figures import published_measures
from auscult_lab.evaluation.records import DifferenceRecord, EvaluationRecord, Track, label_of
from auscult_lab.evaluation.statistics import bootstrap_intervals, compare, differences
from auscult_lab.evaluation.task import Task

_COMPARED = ("AP", "R@1", "RR")
"""Measures that planned pairs are compared by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A model in a comparison.

    Attributes:
        scorer: The model.
        track: "untrained", "zero-shot" or "adapted".
        fingerprint: Hash of its weights; empty for a model without.
        training: Its training record.
        prepare: False when the scorer shares a collection that has been prepared.
        precision: Precision of its transformers, "float32" or "bf16".
        runs: Folder of its saved runs (`comparing`); None to save none.
    """

    scorer: Scorer
    track: Track
    fingerprint: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    prepare: bool = True
    precision: str = "float32"
    runs: Path | None = None

    @property
    def name(self) -> str:
        """The scorer's name."""
        return self.scorer.name

    @property
    def label(self) -> str:
        """Label that is unique among the contenders: see `records.label_of`."""
        return label_of(self.name, self.track)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of a comparison.

    Attributes:
        records: One per model, in the order given.
        runs: Their runs.
        passages: Labels of the collection's passages.
    """

    records: tuple[EvaluationRecord, ...]
    runs: tuple[Run, ...]
    passages: Mapping[str, PassageRecord]


def compare_runs(
    task: Task, contenders: Sequence[Compared], runs: Sequence[Run], *, pairs: Sequence[tuple[str, str]] = ()
) -> Comparison:
    """Measure and compare given runs.

    Args:
        task: Task of all the runs.
        contenders: Models and ensembles. Two may share a name or a track, but not both.
        runs: Their runs, in the same order.
        pairs: Pairs of labels for planned comparisons, the expected winner first. Besides letters for all pairs,
            records contain the differences of these pairs, corrected as a family of their own.

    Raises:
        ConfigError: A pair has an unknown label.
        AuscultError: See `measure`.
    """
    check_pairs(pairs, contenders)
    passages = read_passages(task.documents)
    # Measures with published figures on this corpus are computed, too, to be shown beside these.
    names = tuple(dict.fromkeys((*MEASURES, *published_measures(task.corpus))))
    measured = [measure(run.rankings, task.judgements, names) for run in runs]
    by_label = {contender.label: values for contender, values in zip(contenders, measured, strict=True)}
    better = compare(by_label, seed=task.seed)
    gaps = _differences(by_label, pairs, task.seed)
    comparison = _digest(task, contenders, measured)
    asks_aspects = any(query.aspects for query in task.queries)
    candidates = None
    if task.candidates is not None:
        candidates = sum(len(each) for each in task.candidates.values()) / len(task.candidates)
    records = []
    for contender, run, values in zip(contenders, runs, measured, strict=True):
        rates = match_rates(task, run.rankings, passages)
        ends = bootstrap_intervals(values.values, seed=task.seed)
        intervals = {name: (float(low), float(high)) for name, (low, high) in zip(values.names, ends, strict=True)}
        records.append(
            EvaluationRecord(
                corpus=task.corpus,
                protocol=task.protocol,
                track=contender.track,
                model=run.model,
                measures=values.means(),
                intervals=intervals | {"MAP": intervals["AP"]},
                better_than={name: models for name, models in better[contender.label].items() if models},
                comparison=comparison,
                split=task.split,
                queries=len(values.query_ids),
                query_subset=task.subset,
                documents=len(task.documents),
                names=task.names,
                candidates=candidates,
                match_rates={"entity": rates.entity, "aspect": rates.aspect, "both": rates.both}
                if asks_aspects
                else {},
                by_source=break_down(task, values, passages, "source"),
                by_aspect=break_down(task, values, passages, "aspect"),
                by_question_type=break_down(task, values, passages, "question type"),
                by_length=break_down(task, values, passages, "length"),
                length_of="query",
                differences=gaps.get(contender.label, []),
                ms_per_query=run.ms_per_query,
                prepare_seconds=run.prepare_seconds,
                precision=contender.precision,
                seed=task.seed,
                version=run.provenance["version"],
                revision=run.provenance["revision"],
                hardware=run.provenance["hardware"],
                date=run.provenance["date"],
                fingerprint=contender.fingerprint,
                training=dict(contender.training),
            )
        )
    return Comparison(records=tuple(records), runs=tuple(runs), passages=passages)


def _differences(
    measured: Mapping[str, QueryMeasures], pairs: Sequence[tuple[str, str]], seed: int
) -> dict[str, list[DifferenceRecord]]:
    """Return the differences of planned pairs, by label."""
    records: dict[str, list[DifferenceRecord]] = {}
    for (label, other), gaps in differences(measured, pairs, _COMPARED, seed=seed).items():
        records.setdefault(label, []).append(DifferenceRecord(than=other, measures=gaps | {"MAP": gaps["AP"]}))
    return records


def _digest(task: Task, contenders: Sequence[Compared], measured: Sequence[QueryMeasures]) -> str:
    """Return a hash of a comparison: the task, the models, and the measures of every query."""
    asked = (task.corpus, task.protocol, task.split, task.subset, str(task.seed))
    digest = hashlib.sha256("\t".join(asked).encode())
    for contender, values in zip(contenders, measured, strict=True):
        digest.update("\t".join((contender.label, contender.fingerprint)).encode())
        digest.update(values.values.tobytes())
    return digest.hexdigest()[:16]


def check_distinct(contenders: Sequence[Compared]) -> None:
    """Check that labels differ in more than case and punctuation, because files are named after them.

    Raises:
        ConfigError: Two are the same.
    """
    seen: set[str] = set()
    for contender in contenders:
        if file_name(contender.label) in seen:
            remedy = "give one of them another title, or evaluate them one by one"
            raise ConfigError("models that differ in name or track", f"'{contender.label}' twice", remedy)
        seen.add(file_name(contender.label))


def check_pairs(pairs: Sequence[tuple[str, str]], contenders: Sequence[Compared]) -> None:
    """Check that planned pairs name compared models.

    Raises:
        ConfigError: A pair has an unknown label.
    """
    labels = {each.label for each in contenders}
    for label in (label for pair in pairs for label in pair):
        if label not in labels:
            raise ConfigError("pairs of models that are compared", f"'{label}', which is none", "leave the pair out")


def shares_label(contender: Compared, others: Sequence[Compared]) -> bool:
    """Check whether a contender's label equals another's by the rules of `check_distinct`."""
    return file_name(contender.label) in {file_name(each.label) for each in others}
