"""Measure whether a model has improved by adaptation, on documents of the same collection that it never saw.

Questions are made from titles and headings (`fitting.own_questions`) of documents that were not used for training, nor
to choose epoch or weights. These and other documents are searched. Titles and headings are hidden for half of the
questions, as in the fitting of weights. Both models answer the same questions.

WORK/before-after.json    the figures, with 95 % intervals of a paired bootstrap over questions (efron1979)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.concepts.opening import open_knowledge_base
from auscult.encoders import load_model
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.errors import DataError, QueryError
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search.searcher import Searcher
from auscult_lab.evaluation.statistics import bootstrap_intervals
from auscult_lab.fitting.fitting import FITTED_ON, partly_hidden
from auscult_lab.fitting.own_questions import own_questions
from auscult_lab.general.adapting import FEWEST_MEASURED, divided
from auscult_lab.general.experiment import AdaptedExperiment

BEFORE_AFTER = "before-after.json"
_QUESTIONS_OF_EACH, _MOST_QUESTIONS = 5, 600
_MEASURES = ("RR", "R@1")
"""Of both a question's value; the first says whether a model is better."""


def measure_before_after(
    experiment: AdaptedExperiment, model: Path, work: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Measure the original and the adapted model, and write the figures; a second call reads them.

    Args:
        experiment: The experiment of the adapted model.
        model: Folder of the adapted model.
        work: Folder of its training.
        say: Called with messages about progress.

    Returns:
        "before", "after" and "difference", each by measure with "mean", "low" and "high"; "better"; "verdict", a
        sentence; and the numbers of documents and questions. With too few documents, only the verdict and numbers.

    Raises:
        DataError: The figures of an earlier call are damaged.
    """
    file = work / BEFORE_AFTER
    if file.is_file():
        try:
            stored: dict[str, Any] = parse_json(file.read_text(encoding="utf-8"))
            return stored
        except (OSError, ValueError) as error:
            raise DataError("figures of a training", f"{file} ({error})", "delete it and train again") from error
    parts = divided(experiment, lambda _: None)
    titled = parts.titled
    others = [*parts.training, *parts.held_out]
    chance = random.Random(experiment.seed)
    searched = [*titled, *chance.sample(others, min(len(others), max(0, FITTED_ON - len(titled))))]
    start = experiment.begins_with()[0]
    values: list[npt.NDArray[np.float64]] = []
    if not parts.why_unmeasured:
        say(f"measuring before and after on {len(titled):,} documents that nothing was learned from")
        questions = min(_QUESTIONS_OF_EACH * len(titled), _MOST_QUESTIONS)
        about = {document.doc_id for document in titled}
        known = open_knowledge_base(experiment.knowledge) if experiment.knowledge else None
        for name in (start, str(model)):
            encoder = load_model(name)
            alone = encoder.reading_text_alone() if isinstance(encoder, GeneralEncoder) else encoder
            with TemporaryDirectory() as scratch:
                build_index(searched, alone, Path(scratch) / "index", knowledge_base=known)
                searcher = Searcher.open(Path(scratch) / "index", encoder)
                values.append(np.array([*_question_values(searcher, questions, experiment.seed, about)]))
    counts = {"documents": len(titled), "documents_searched": len(searched), "seed": experiment.seed, "start": start}
    if values and len(values[0]):
        figures = {**compared(values[0], values[1], start), "measures": [*_MEASURES], "questions": len(values[0])}
    else:
        verdict = (
            "Whether the adapted model is better was not measured: "
            f"{parts.why_unmeasured or 'no question could be made of the held-out documents'}. Train on "
            f"{10 * FEWEST_MEASURED} documents with titles or more, or compare both models on questions of your own: "
            "auscult evaluate."
        )
        figures = {"better": None, "verdict": verdict}
    figures |= {**counts, **stamp()}
    write_json(file, figures)
    return figures


def _question_values(searcher: Searcher, count: int, seed: int, about: set[str]) -> Iterator[Sequence[float]]:
    """Yield each question's reciprocal rank, and 1 where the first hit answers; skip questions without answers."""
    chance = np.random.default_rng(seed)
    try:
        questions = [*own_questions(searcher, count, seed, about)]
    except QueryError:
        # Skip questions whose subjects are all those of training documents.
        return
    for question in questions:
        evidence, *_ = partly_hidden(searcher, question, chance)
        if not len(question.relevant):
            continue
        scores = searcher.fusion.scores(question.query, evidence)
        scores[searcher.index.reader.wordless] = -np.inf
        best = scores[question.relevant].max()
        # Half of the ties rank before the answer, so that constant scores gain nothing.
        equal = np.count_nonzero(scores == best) - np.count_nonzero(scores[question.relevant] == best)
        rank = 1 + np.count_nonzero(scores > best) + equal / 2
        yield 1 / rank, float(rank == 1)


def compared(before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], start: str) -> dict[str, Any]:
    """Return both models' means and their difference with 95 % intervals, and the verdict.

    Args:
        before: Values by question and measure, the decisive measure first.
        after: The same questions' values of the adapted model.
        start: Name of the original model, for the verdict.
    """
    figures: dict[str, Any] = {}
    for name, values in (("before", before), ("after", after), ("difference", after - before)):
        ends = bootstrap_intervals(values)
        figures[name] = {
            measure: {"mean": float(mean), "low": float(low), "high": float(high)}
            for measure, mean, (low, high) in zip(_MEASURES, values.mean(axis=0), ends, strict=True)
        }
    low, high = (figures["difference"][_MEASURES[0]][end] for end in ("low", "high"))
    interval = f"the 95 % interval of the difference in mean reciprocal rank is {low:+.3f} to {high:+.3f}"
    if low > 0:
        verdict = f"The adapted model is better on these documents: {interval}."
    else:
        fault = "worse" if high < 0 else "not better"
        verdict = (
            f"The adapted model is {fault} on these documents: {interval}. Use '{start}' as it is, or add documents "
            "with titles and headings and train again with --restart."
        )
    return {**figures, "better": low > 0, "verdict": verdict}
