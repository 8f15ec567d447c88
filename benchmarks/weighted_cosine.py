"""Weighted cosine distance on BioASQ snippets: the table of galko2017 (Table 1), by one command.

    AUSCULT_DATA=... python benchmarks/weighted_cosine.py [--questions FILE] [--models FOLDER ...]

Every question of the test batches searches all snippets, including those of the training batches. Word vectors are
word2vec's skip-gram (mikolov2013) of the paper's length, 50, trained by floret without subwords on the snippets of the
training batches and on clinical-trial articles, without questions and snippets of the test batches, and without
snippets and articles that share a run of ten words with a test snippet. The vectors are saved in --vectors and read
from there if the file exists.

CD_idf takes its idf from the snippets of the training batches, "CD_idf, all snippets" from those that are ranked; CD_q
from general questions and the training batches' questions, or from --questions, one per line. No test question is
counted. BM25 counts words in all snippets, like an index of them.

The paper's neural baselines are trained on those vectors, on the training batches' questions, as
experiments/galko2017-bioasq.yaml says, and saved in --runs with their rankings. Results for the same vectors are used
again, so that an interrupted run resumes. --models adds rankers that were trained elsewhere.

Measures are those of the paper, at a cut-off of 10; MAP is BioASQ's since 2020: the sum of the precisions at each
relevant snippet among the first 10, divided by 10 or by the number of relevant snippets if that is lower. `F1@10` is
the mean over questions; `F1 of means` is that of mean precision and recall, like the paper's column, whose figures
follow from the two before it. All pairs of models are compared by Wilcoxon's signed-rank test, with Holm's correction
over all pairs of a measure. The mean of each test batch stands beside those of all questions: the paper says that its
batches rank the methods alike, and prints no figures of them.

A departure that matters for comparisons: in the paper, each question searches the sentences of about ten relevant
documents (a random sentence is right one time in five); here it searches all snippets.

Writes benchmarks/results/weighted_cosine.json. Needs: pip install 'auscult[lab]'
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np

from auscult import __version__
from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.encoders.contract import FloatArray, Scorer
from auscult.files.writing import whole_or_nothing
from auscult.ingest.corpus import Corpus
from auscult.ingest.sectioned import SectionedCorpus
from auscult.provenance import describe_hardware, find_revision, now
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import GENERAL, BioasqCorpus, read_questions
from auscult_lab.evaluation.comparing import kept_run
from auscult_lab.evaluation.contenders import open_contenders
from auscult_lab.evaluation.measures import QueryMeasures, measure_at_cutoff
from auscult_lab.evaluation.protocol import Run, run_task
from auscult_lab.evaluation.statistics import bootstrap_intervals, holm, wilcoxon
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.families.table import read_experiment, train
from auscult_lab.modules.word_vectors import read_word_vectors
from auscult_lab.scorers.cosine import CosineScorer, InverseDocumentFrequencies
from auscult_lab.scorers.lexical import Bm25Scorer
from auscult_lab.training.experiment_files import experiments_in

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "weighted_cosine.json"
RUNS = Path("out") / "weighted-cosine"
VECTORS = RUNS / "word2vec-50.vec"
BASELINES = HERE.parent / "experiments" / "galko2017-bioasq.yaml"
ARTICLES = ("pmc-trials-abstracts", "pmc-trials")
CUTOFF = 10
TRAINING_TOLD = ("queries", "passages", "parameters", "epochs", "best_epoch", "validation", "seconds", "experiment")
RUN_OF_WORDS = 10
LEVEL = 0.05
SKIP_GRAM = {"dim": 50, "epoch": 5, "ws": 5, "neg": 5, "minCount": 5, "lr": 0.05, "minn": 0, "maxn": 0}


class RandomScorer:
    """RND: a random number for each query and passage, seeded."""

    name = "RND"

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def prepare(self, documents: Iterable[Document]) -> None:
        """Do nothing: scores are random."""

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return random numbers in [0, 1), new ones in every call."""
        return self._random.random(len(passage_ids), dtype=np.float32)


def runs_of_words(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return all runs of `RUN_OF_WORDS` words."""
    return zip(*(words[start:] for start in range(RUN_OF_WORDS)), strict=False)


def training_snippets(bioasq: Corpus) -> list[str]:
    """Return snippets of the training batches that are not in a test batch."""
    tested = {document.doc_id for document in bioasq.documents("test")}
    return [document.text for document in bioasq.documents("train") if document.doc_id not in tested]


def training_lines(bioasq: Corpus, analyze: Analyzer) -> Iterator[str]:
    """Yield the training text of word vectors, one text per line, as words for the scorers."""
    tested = {run for document in bioasq.documents("test") for run in runs_of_words(analyze(document.text))}
    snippets = [analyze(text) for text in training_snippets(bioasq)]
    untested = [words for words in snippets if tested.isdisjoint(runs_of_words(words))]
    yield from map(" ".join, untested)
    skipped = 0
    for name in ARTICLES:
        corpus = open_corpus(name)
        if not isinstance(corpus, SectionedCorpus):
            sys.exit(f"{name} is no corpus of sectioned articles")
        for draft in corpus.drafts():
            lines = [analyze(line) for section in draft.sections for line in section.text.splitlines()]
            if any(not tested.isdisjoint(runs_of_words(words)) for words in lines):
                skipped += 1
                continue
            yield from (" ".join(words) for words in lines if words)
    counts = f"{len(snippets) - len(untested)} training snippets and {skipped} articles"
    print(f"{counts} left out of the word vectors for a run of words they share with a test snippet", file=sys.stderr)


def train_vectors(lines: Iterable[str], path: Path, threads: int) -> None:
    """Train word2vec skip-gram vectors and write them in word2vec's text format."""
    import floret

    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "text"
        with text.open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in lines)
        model = floret.train_unsupervised(
            str(text), model="skipgram", mode="fasttext", thread=threads, verbose=0, **SKIP_GRAM
        )
    with whole_or_nothing(path) as partial, partial.open("w", encoding="utf-8") as out:
        words = [word for word in model.words if word != "</s>"]
        out.write(f"{len(words)} {SKIP_GRAM['dim']}\n")
        out.writelines(f"{word} {' '.join(f'{x:.5f}' for x in model.get_word_vector(word))}\n" for word in words)


def train_baselines(vectors: Path, folder: Path) -> list[Path]:
    """Train the neural baselines that are not trained yet; return the folders of their models."""
    # Models depend on the word vectors.
    folder = folder / hashlib.sha256(vectors.read_bytes()).hexdigest()[:12]
    models = []
    for path in experiments_in(BASELINES):
        experiment = read_experiment(path)
        words = experiment.word_vectors.model_copy(update={"file": vectors})
        experiment = experiment.model_copy(update={"word_vectors": words})
        models.append(train(experiment, folder / experiment.name, say=lambda told: print(told, file=sys.stderr)).model)
    return models


def p_values(measured: dict[str, QueryMeasures]) -> dict[str, dict[str, dict[str, float]]]:
    """Return p-values by model, other model and measure, with Holm's correction over all pairs."""
    table: dict[str, dict[str, dict[str, float]]] = {name: {} for name in measured}
    pairs = list(combinations(measured, 2))
    raw = [wilcoxon(measured[a].values, measured[b].values) for a, b in pairs]
    for column, name in enumerate(next(iter(measured.values())).names):
        adjusted = holm([float(row[column]) for row in raw])
        for (a, b), p_value in zip(pairs, adjusted, strict=True):
            table[a].setdefault(b, {})[name] = table[b].setdefault(a, {})[name] = p_value
    return table


def records(
    task: Task,
    batches: Mapping[str, Sequence[str]],
    finished: Iterable[Run],
    trainings: Mapping[str, Mapping[str, Any]],
    shared: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return one record per model.

    Args:
        task: All test questions.
        batches: Ids of the questions of each batch.
        finished: Rankings of each model.
        trainings: Training records by name of the model.
        shared: What all records say.
    """
    runs: dict[str, Run] = {}
    measured: dict[str, QueryMeasures] = {}
    for run in finished:
        if run.model in runs:
            sys.exit(f"two models are called {run.model!r}; name one of them otherwise in its folder")
        runs[run.model] = run
        measured[run.model] = measure_at_cutoff(run.rankings, task.judgements, CUTOFF)
        print(run.model, measured[run.model].means(), file=sys.stderr)
    tests = p_values(measured)
    rows = []
    for name, measures in measured.items():
        means = measures.means()
        precision, recall = means[f"P@{CUTOFF}"], means[f"R@{CUTOFF}"]
        ends = bootstrap_intervals(measures.values, seed=task.seed)
        better = {
            measure: [
                o for o, p in tests[name].items() if p[measure] < LEVEL and means[measure] > _mean(measured, o, measure)
            ]
            for measure in measures.names
        }
        rows.append(
            {
                "kind": "weighted-cosine",
                "model": name,
                "corpus": task.corpus,
                "queries": len(task.queries),
                "passages": sum(len(document.passages) for document in task.documents),
                "judgements": len(task.judgements),
                "measures": means
                | {"F1 of means": 2 * precision * recall / (precision + recall) if precision + recall else 0.0},
                "by_batch": by_batch(measures, batches),
                "intervals": {measure: ends[column].tolist() for column, measure in enumerate(measures.names)},
                "p_values": tests[name],
                "better_than": better,
                "ms_per_query": runs[name].ms_per_query,
                "prepare_seconds": runs[name].prepare_seconds,
                "training": trainings.get(name, {}),
                **shared,
            }
        )
    return rows


def by_batch(measures: QueryMeasures, batches: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Return the number of questions and the means of each batch; questions that nothing answers do not count."""
    measured = set(measures.query_ids)
    asked = {batch: [question for question in ids if question in measured] for batch, ids in batches.items()}
    return {batch: {"queries": len(ids), **measures.of(ids).means()} for batch, ids in asked.items() if ids}


def _mean(measured: dict[str, QueryMeasures], model: str, measure: str) -> float:
    return measured[model].means()[measure]


def main() -> None:
    """Train or read the word vectors, run every model, write the result file."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument(
        "--vectors", type=Path, default=VECTORS, help="word vectors; trained when there is no such file"
    )
    options.add_argument("--models", nargs="*", default=[], help="folders of further trained rankers to add")
    options.add_argument("--runs", type=Path, default=RUNS, help="where the neural baselines are trained and kept")
    options.add_argument("--questions", type=Path, help="questions for CD_q's idf, one a line, in place of the default")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--threads", type=int, default=2, help="for word vectors; with one, they are the same every time"
    )
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()

    bioasq, analyze = open_corpus("bioasq"), Analyzer()
    if not isinstance(bioasq, BioasqCorpus):
        sys.exit("expected 'bioasq' to be questions in BioASQ's batches")
    if not chosen.vectors.exists():
        train_vectors(training_lines(bioasq, analyze), chosen.vectors, chosen.threads)
    vectors = read_word_vectors(chosen.vectors)
    own = [query.text for query in bioasq.queries("train")]
    questions = list(read_questions(chosen.questions)) if chosen.questions else [*read_questions(GENERAL), *own]
    tested = {" ".join(analyze(query.text)) for query in bioasq.queries("test")}
    question_idf = InverseDocumentFrequencies.of_texts(q for q in questions if " ".join(analyze(q)) not in tested)
    task = build_task(bioasq, "end-to-end", seed=chosen.seed)
    fixed: list[Scorer] = [
        RandomScorer(chosen.seed),
        Bm25Scorer(),
        CosineScorer(vectors),
        CosineScorer(vectors, InverseDocumentFrequencies.of_texts(training_snippets(bioasq)), name="CD_idf"),
        CosineScorer(vectors, "passages", name="CD_idf, all snippets"),
        CosineScorer(vectors, question_idf),
    ]
    shared = {
        "vectors": SKIP_GRAM | {"trained_on": ["bioasq, split train", *ARTICLES], "file": chosen.vectors.name},
        "idf_passages": "bioasq, split train",
        "idf_questions": question_idf.texts,
        "idf_source": str(chosen.questions.name) if chosen.questions else f"{GENERAL} + bioasq, split train",
        "seed": chosen.seed,
        "version": __version__,
        "revision": find_revision(),
        "hardware": describe_hardware(),
        "date": now(),
    }
    folders = [*train_baselines(chosen.vectors, chosen.runs), *map(Path, chosen.models)]
    trained = [(model, folder) for folder in folders for model in open_contenders(str(folder), task.corpus)]
    trainings = {model.scorer.name: {key: model.training.get(key) for key in TRAINING_TOLD} for model, _ in trained}
    runs = chain(
        (run_task(task, scorer) for scorer in fixed),
        (kept_run(task, model, folder.parent / "evaluation") for model, folder in trained),
    )
    rows = records(task, bioasq.batches("test"), runs, trainings, shared)
    with whole_or_nothing(chosen.out) as partial:
        partial.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
