"""Train the planned models and rank the test questions with every model; finished parts are not repeated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auscult.errors import ConfigError, DataError
from auscult.files.writing import file_name, whole_or_nothing
from auscult.search.hits import Ranking
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.comparing import Entry, compare_models, open_entries
from auscult_lab.evaluation.comparison import Comparison
from auscult_lab.evaluation.records import EvaluationRecord, evaluation_records, read_records, write_records
from auscult_lab.evaluation.task import Task, build_task, draw_candidates
from auscult_lab.evaluation.trec import read_run, write_run
from auscult_lab.scorers.encoder_scorer import EncoderScorer
from auscult_lab.workbench.experiments import Trainable, open_experiments
from auscult_lab.workbench.folder import Description, WorkFolder
from auscult_lab.workbench.plan import CANDIDATES
from auscult_lab.workbench.recipes import RECIPES

Say = Callable[[str, str], None]
"""Called with a model's name and a few words."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Receiver of messages and progress.

    Attributes:
        say: Called with a message at each stage.
        ranked: Called with a model's label, the number of questions ranked, and the number of all questions.
    """

    say: Say
    ranked: Callable[[str, int, int], None]


def build_user_task(work: WorkFolder, description: Description) -> Task:
    """Build the task of the test questions, with all passages, or the best by BM25 and all relevant ones.

    Raises:
        CorpusMissingError: The folder's data is missing.
    """
    task = build_task(open_corpus(str(work.data(description.name))), "end-to-end")
    if description.protocol == "end-to-end":
        return task
    drawn = draw_candidates(task.documents, task.queries, task.judgements, CANDIDATES)
    return replace(task, protocol="rerank", candidates=drawn)


def find_experiments(work: WorkFolder, names: Collection[str]) -> list[Trainable]:
    """Return the folder's experiments of the given names.

    Raises:
        ConfigError: A file is wrong, or two have the same name.
    """
    # Cheap ones first, the user's own last.
    order = {recipe.name: row for row, recipe in enumerate(RECIPES)}
    chosen = [each for each in open_experiments(work.experiments) if each.name in names]
    return sorted(chosen, key=lambda each: order.get(each.name, len(order)))


def run(work: WorkFolder, description: Description, experiments: Sequence[Trainable], watcher: Watcher) -> Comparison:
    """Train, rank, compare, and save results and rankings in the folder.

    Args:
        work: The folder, with data.
        description: Description of the data in it.
        experiments: The experiments to train.
        watcher: Receives messages about progress.

    Raises:
        AuscultError: See `rankers.build.train`, `encoders.build.train` and `run_task`.
    """
    corpus = str(work.data(description.name))
    entries = [
        Entry(model=model, runs=work.runs / (file_name(Path(model).name) or "model") / "evaluation")
        for model in description.untrained
    ]
    for number, experiment in enumerate(experiments, start=1):
        watcher.say(experiment.name, f"training {number} of {len(experiments)}")

        def say(words: str, name: str = experiment.name) -> None:
            watcher.say(name, words)

        folder = work.runs / experiment.name
        if experiment.renew(folder):
            say("its settings have changed: trained anew")
        model = str(experiment.train(folder, say, False))
        # A copy's model has the title of the original, unless the file has a title.
        copied = not experiment.title and experiment.name not in {recipe.name for recipe in RECIPES}
        entries.append(Entry(model=model, experiment=experiment.name, copied=copied, runs=folder / "evaluation"))
    watcher.say(description.name, "reading the test questions")
    task = build_user_task(work, description)
    # The shipped model reads entity and aspects instead of words.
    named = replace(task, queries=work.name_entities(task.queries))
    comparison = compare_models(
        named,
        open_entries(entries, corpus, names="shown").contenders,
        task_for=lambda contender: named if isinstance(contender.scorer, EncoderScorer) else task,
        progress=lambda contender: _report_to(watcher, contender.label, len(task.queries)),
    )
    _save(work, comparison)
    return comparison


def read_results(work: WorkFolder) -> tuple[EvaluationRecord, ...]:
    """Read the folder's results.

    Raises:
        ConfigError: There are no results yet.
        DataError: Their file is damaged.
    """
    if not work.records.is_file():
        remedy = "let 'auscult try' run to its end"
        raise ConfigError(f"results in {work.root}", "none yet", remedy)
    return tuple(evaluation_records(read_records(work.records)))


def read_rankings(work: WorkFolder, label: str) -> dict[str, Ranking]:
    """Read a model's ranking by question.

    Raises:
        DataError: It is missing or damaged.
    """
    return {ranking.query_id: ranking for ranking in read_run(_ranking_file(work, label))}


def read_answers(work: WorkFolder, label: str, task: Task) -> dict[str, Ranking]:
    """Read a model's ranking of each question of a task.

    Raises:
        DataError: It is missing or damaged, lacks a question, or has an unknown passage.
    """
    rankings, place = read_rankings(work, label), _ranking_file(work, label)
    remedy = "give 'auscult try' again, which writes it anew"
    if lost := [query.query_id for query in task.queries if query.query_id not in rankings]:
        raise DataError("a ranking of every test question", f"{place} without '{lost[0]}'", remedy)
    known = {passage.passage_id for document in task.documents for passage in document.passages}
    if strange := [name for ranking in rankings.values() for name in ranking.passage_ids if name not in known]:
        raise DataError("rankings of the data's passages", f"'{strange[0]}' in {place}", remedy)
    return rankings


def _report_to(watcher: Watcher, label: str, total: int) -> Callable[[int, int], None]:
    watcher.ranked(label, 0, total)
    return lambda done, total: watcher.ranked(label, done, total)


def _ranking_file(work: WorkFolder, label: str) -> Path:
    return work.rankings / f"{file_name(label)}.run.gz"


def _save(work: WorkFolder, comparison: Comparison) -> None:
    work.rankings.mkdir(parents=True, exist_ok=True)
    for record, ranked in zip(comparison.records, comparison.runs, strict=True):
        write_run(_ranking_file(work, record.label), ranked.rankings, record.label)
    # Only the records of this comparison: letters and tests are valid within one comparison.
    with whole_or_nothing(work.records) as partial:
        write_records(partial, comparison.records)
