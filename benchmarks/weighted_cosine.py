"""Weighted cosine distance on BioASQ snippets: the table of galko2017 (Table 1), by one command.

    AUSCULT_DATA=... python benchmarks/weighted_cosine.py [--models out/drmm out/matchpyramid ...] [--questions FILE]

Every question of the test batches is asked of all snippets, those of the training batches among them. Word vectors
are word2vec's skip-gram (mikolov2013) of the paper's length, 50, trained here by floret without subwords on the
snippets of the training batches and on clinical-trial articles. Left out are the questions and snippets of the test
batches, and articles that share a run of ten words with a test snippet. The vectors are kept in --vectors, for training
the paper's neural baselines on them, and read again from there when the file exists.

CD_q takes its idf from general questions and the training batches' questions, or from --questions, one a line.

Measures are those of the paper, at a cut-off of 10; MAP is BioASQ's since 2020: the sum of the precisions at each
relevant snippet among the first 10, divided by 10 or by the number of relevant snippets if that is lower. `F1@10` is
the mean over questions; `F1 of means` is of mean precision and recall, which the paper's column must be, since its
figures follow from the two before it. Every two models are compared by Wilcoxon's signed-rank test, corrected after
Holm over all pairs of a measure.

Departure that matters when comparing with the paper: there each question was asked of the sentences of about ten
documents known to be relevant (a random sentence is right one time in five), here of all snippets.

Writes benchmarks/results/weighted_cosine.json. Needs: pip install 'auscult[train,evaluation]'
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np

from auscult import __version__
from auscult.corpora import open_corpus
from auscult.corpora.questions import GENERAL, read_questions
from auscult.corpora.sectioned import SectionedCorpus
from auscult.documents import Document
from auscult.evaluation.measures import QueryMeasures, measure_at_cutoff
from auscult.evaluation.protocol import Run, run_task
from auscult.evaluation.statistics import bootstrap_intervals, holm, wilcoxon
from auscult.evaluation.task import Task, build_task
from auscult.evaluation.writing import whole_or_nothing
from auscult.interfaces import Corpus, FloatArray, Scorer
from auscult.models import load_ranker
from auscult.models.analysis import Analyzer
from auscult.models.cosine import CosineScorer, InverseDocumentFrequencies
from auscult.models.lexical import Bm25Scorer
from auscult.models.word_vectors import read_word_vectors
from auscult.provenance import describe_hardware, find_revision, now
from auscult.queries import Query

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "weighted_cosine.json"
VECTORS = HERE.parent / "out" / "weighted-cosine" / "word2vec-50.vec"
ARTICLES = ("pmc-trials-abstracts", "pmc-trials")
CUTOFF = 10
DEPTH = 1000
RUN_OF_WORDS = 10
LEVEL = 0.05
SKIP_GRAM = {"dim": 50, "epoch": 5, "ws": 5, "neg": 5, "minCount": 5, "lr": 0.05, "minn": 0, "maxn": 0}


class RandomScorer:
    """RND: a random number for each query and passage, seeded."""

    name = "RND"

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def prepare(self, documents: Iterable[Document]) -> None:
        """Nothing is read."""

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Uniform in [0, 1); other numbers at every call."""
        return self._random.random(len(passage_ids), dtype=np.float32)


def runs_of_words(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every `RUN_OF_WORDS` words that follow each other."""
    return zip(*(words[start:] for start in range(RUN_OF_WORDS)), strict=False)


def training_lines(bioasq: Corpus, analyze: Analyzer) -> Iterator[str]:
    """What word vectors are trained on, one text a line, in words as the scorers read them."""
    texts = {split: [analyze(document.text) for document in bioasq.documents(split)] for split in ("train", "test")}
    tested = {run for words in texts["test"] for run in runs_of_words(words)}
    yield from (" ".join(words) for words in texts["train"] if tested.isdisjoint(runs_of_words(words)))
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
    print(f"{skipped} articles left out for a run of words they share with a test snippet", file=sys.stderr)


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


def run(task: Task, scorer: Scorer) -> tuple[Run, QueryMeasures]:
    """Rank the task, and measure."""
    done = run_task(task, scorer, depth=DEPTH)
    return done, measure_at_cutoff(done.rankings, task.judgements, CUTOFF)


def p_values(measured: dict[str, QueryMeasures]) -> dict[str, dict[str, dict[str, float]]]:
    """Model to other model to measure to p-value, corrected after Holm over all pairs."""
    table: dict[str, dict[str, dict[str, float]]] = {name: {} for name in measured}
    pairs = list(combinations(measured, 2))
    raw = [wilcoxon(measured[a].values, measured[b].values) for a, b in pairs]
    for column, name in enumerate(next(iter(measured.values())).names):
        adjusted = holm([float(row[column]) for row in raw])
        for (a, b), p_value in zip(pairs, adjusted, strict=True):
            table[a].setdefault(b, {})[name] = table[b].setdefault(a, {})[name] = p_value
    return table


def records(task: Task, scorers: Sequence[Scorer], shared: dict[str, Any]) -> list[dict[str, Any]]:
    """One record a model."""
    runs: dict[str, Run] = {}
    measured: dict[str, QueryMeasures] = {}
    for scorer in scorers:
        if scorer.name in runs:
            sys.exit(f"two models are called {scorer.name!r}; name one of them otherwise in its folder")
        runs[scorer.name], measured[scorer.name] = run(task, scorer)
        print(scorer.name, measured[scorer.name].means(), file=sys.stderr)
    tests = p_values(measured)
    rows = []
    for name, found in measured.items():
        means = found.means()
        precision, recall = means[f"P@{CUTOFF}"], means[f"R@{CUTOFF}"]
        ends = bootstrap_intervals(found.values, seed=task.seed)
        better = {
            measure: [
                o for o, p in tests[name].items() if p[measure] < LEVEL and means[measure] > _mean(measured, o, measure)
            ]
            for measure in found.names
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
                "intervals": {measure: ends[column].tolist() for column, measure in enumerate(found.names)},
                "p_values": tests[name],
                "better_than": better,
                "ms_per_query": runs[name].ms_per_query,
                "prepare_seconds": runs[name].prepare_seconds,
                **shared,
            }
        )
    return rows


def _mean(measured: dict[str, QueryMeasures], model: str, measure: str) -> float:
    return measured[model].means()[measure]


def main() -> None:
    """Train or read the word vectors, run every model, write the result file."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument(
        "--vectors", type=Path, default=VECTORS, help="word vectors; trained when there is no such file"
    )
    options.add_argument("--models", nargs="*", default=[], help="folders of trained rankers (MLP, MP, DRMM) to add")
    options.add_argument("--questions", type=Path, help="questions for CD_q's idf, one a line, in place of the default")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--threads", type=int, default=2, help="for training; with one, vectors are the same every time"
    )
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()

    bioasq, analyze = open_corpus("bioasq"), Analyzer()
    if not chosen.vectors.exists():
        train_vectors(training_lines(bioasq, analyze), chosen.vectors, chosen.threads)
    vectors = read_word_vectors(chosen.vectors)
    own = [query.text for query in bioasq.queries("train")]
    questions = list(read_questions(chosen.questions)) if chosen.questions else [*read_questions(GENERAL), *own]
    tested = {" ".join(analyze(query.text)) for query in bioasq.queries("test")}
    asked = InverseDocumentFrequencies.of_texts(q for q in questions if " ".join(analyze(q)) not in tested)
    task = build_task(bioasq, "end-to-end", seed=chosen.seed)
    fixed: list[Scorer] = [
        RandomScorer(chosen.seed),
        Bm25Scorer(),
        CosineScorer(vectors),
        CosineScorer(vectors, "passages"),
        CosineScorer(vectors, asked),
    ]
    shared = {
        "vectors": SKIP_GRAM | {"trained_on": ["bioasq, split train", *ARTICLES], "file": chosen.vectors.name},
        "idf_questions": asked.texts,
        "idf_source": str(chosen.questions.name) if chosen.questions else f"{GENERAL} + bioasq, split train",
        "seed": chosen.seed,
        "version": __version__,
        "revision": find_revision(),
        "hardware": describe_hardware(),
        "date": now(),
    }
    rows = records(task, list(chain(fixed, map(load_ranker, chosen.models))), shared)
    with whole_or_nothing(chosen.out) as partial:
        partial.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
