"""Choose the words for the probability of a hit, on the training questions that its weights were fitted on.

    AUSCULT_DATA=... python benchmarks/verdicts.py [--model fast] [--questions 200] [--documents 800]

Each collection is asked its questions twice, with the passages about their entity and without: people's training
questions of BioASQ, PubMedQA and cpgQA, and questions made from titles and headings of Wikipedia and OpenStax, half of
which have titles and headings hidden (`fitting.own_questions`). No test or development question is asked. For each
threshold the record has the shares of right and of other first hits below it.

`unlikely` is the highest threshold below which no right first hit of any collection lies (`certainty.UNLIKELY`), and
`likely` the lowest one from which on no more than 1 in 10 other first hits of each collection lie. `certainty.LIKELY`
is a step lower: with that step, half of the right first hits would not be said to answer.

Writes benchmarks/results/verdicts.json, in five minutes on a core.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.concepts.opening import open_for_questions
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.files.writing import write_json
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.certainty import shares_of_first
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.fitting.fitting import Candidates, Judged, candidates, judged_questions
from auscult_lab.fitting.own_questions import OwnQuestion, own_questions

RESULT = Path(__file__).resolve().parent / "results" / "verdicts.json"
PEOPLE: Final = ("bioasq-7b-11b", "pubmedqa", "cpgqa")
TITLED: Final = ("enwiki", "simplewiki", "openstax")
Asked = tuple[Searcher, Iterable[OwnQuestion]]
THRESHOLDS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WRONGLY_SURE, SEED = 1 / 10, 0
TITLED_DOCUMENTS: Final = 100


def of_people(name: str, questions: int, documents: int) -> Judged:
    """Return some training questions, the documents of their answers, and other documents."""
    corpus, chance = open_corpus(name), random.Random(SEED)
    every = list(corpus.queries("train"))
    asked = chance.sample(every, min(questions, len(every)))
    ids = {query.query_id for query in asked}
    judgements = [each for each in corpus.judgements("train") if each.query_id in ids]
    answers = {each.passage_id for each in judgements if each.relevance > 0}
    whole = list(corpus.documents())
    holding = [any(passage.passage_id in answers for passage in document.passages) for document in whole]
    others = [row for row, holds in enumerate(holding) if not holds]
    taken = {*chance.sample(others, min(len(others), max(0, documents - sum(holding))))}
    return Judged([each for row, each in enumerate(whole) if holding[row] or row in taken], asked, judgements)


def first_hits(searcher: Searcher, questions: Iterable[OwnQuestion]) -> Iterator[tuple[float, bool]]:
    """Yield the probability of each first hit, with all passages and without related ones, and whether it is right."""
    chance = np.random.default_rng(SEED)
    for question in questions:
        found = candidates(searcher, question, chance)
        scores = searcher.fusion.scores(question.query, found.evidence)
        for eligible in (np.ones(len(scores), bool), ~found.related)[: 1 + found.related.any()]:
            if eligible.any():
                row = int(np.flatnonzero(eligible)[np.argmax(scores[eligible])])
                share = shares_of_first(scores[row : row + 1], scores[eligible])
                yield probability_of(searcher, found, row, share), bool(found.relevant[row])


def probability_of(searcher: Searcher, found: Candidates, row: int, first_ten: FloatArray) -> float:
    """Return the probability that a candidate answers."""
    rows = slice(row, row + 1)
    return float(
        searcher.fusion.probabilities(
            found.undivided[rows], found.coverage[rows], first_ten, found.background, in_words=found.in_words
        )[0]
    )


def measured(name: str, hits: Iterable[tuple[float, bool]]) -> dict[str, Any]:
    """Return the shares of right and of other first hits below each threshold."""
    chances, right = (np.array(column) for column in zip(*hits, strict=True))
    return {
        "collection": name,
        "right": int(right.sum()),
        "others": int((~right).sum()),
        "right_below": [below(chances[right], threshold) for threshold in THRESHOLDS],
        "others_below": [below(chances[~right], threshold) for threshold in THRESHOLDS],
    }


def below(chances: npt.NDArray[np.float64], threshold: float) -> float:
    """Return the share of probabilities below a threshold."""
    return round(float((chances < threshold).mean()), 4)


def chosen_thresholds(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the thresholds of a flat no and of a yes."""
    of_right = np.array([record["right_below"] for record in records]).max(axis=0)
    of_others = np.array([record["others_below"] for record in records]).min(axis=0)
    return {
        "unlikely": max(threshold for threshold, share in zip(THRESHOLDS, of_right, strict=True) if share == 0),
        "likely": min(
            threshold for threshold, share in zip(THRESHOLDS, of_others, strict=True) if 1 - share <= WRONGLY_SURE
        ),
    }


def asked_of(name: str, encoder: DocumentEncoder, place: Path, questions: int, documents: int) -> Asked:
    """Index a collection, and return its searcher and questions."""
    known = open_for_questions()
    if name in PEOPLE:
        judged = of_people(name, questions, documents)
        build_index(judged.documents, encoder, place, knowledge_base=known)
        searcher = Searcher.open(place, encoder)
        return searcher, judged_questions(searcher, judged)
    some = random.Random(SEED).sample([*open_corpus(name).documents("train")], TITLED_DOCUMENTS)
    alone = encoder.reading_text_alone() if isinstance(encoder, GeneralEncoder) else encoder
    build_index(some, alone, place, knowledge_base=known)
    searcher = Searcher.open(place, encoder)
    return searcher, own_questions(searcher, questions, SEED)


def main() -> None:
    """Measure a model and write its record."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", default="fast")
    options.add_argument("--questions", type=int, default=200, help="of each collection")
    options.add_argument("--documents", type=int, default=800, help="of each collection of people's questions")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder = load_model(chosen.model)
    records = []
    for name in (*PEOPLE, *TITLED):
        with tempfile.TemporaryDirectory() as folder:
            asked = asked_of(name, encoder, Path(folder) / "index", chosen.questions, chosen.documents)
            records.append(measured(name, first_hits(*asked)))
        print(records[-1], file=sys.stderr, flush=True)
    model = {"kind": "verdicts", "title": encoder.name, "model": encoder.name, "thresholds": [*THRESHOLDS]}
    write_json(chosen.out, [{**model, **chosen_thresholds(records), "collections": records, **stamp()}])


if __name__ == "__main__":
    main()
