"""Training queries that a corpus brings with it, as rankers read them (see `training.asked`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from auscult.documents import Document
from auscult_lab.rankers.data import QueryPool, TrainingQuery
from auscult_lab.scorers.words import passage_words
from auscult_lab.training.asked import AskedPart, PassageKey, read_asked
from auscult_lab.training.experiment import DataExperiment


@dataclass(frozen=True, slots=True)
class AskedData:
    """Queries to train on and to validate with, each over its own passages.

    Attributes:
        training: To train on.
        held_out: For validation.
        documents: All that were read, for word vectors.
    """

    training: QueryPool
    held_out: QueryPool
    documents: list[Document]


def gather_asked(experiment: DataExperiment, say: Callable[[str], None]) -> AskedData:
    """Read the queries, judgements and documents of an experiment's corpora, and hold some out.

    Raises:
        ConfigError: A corpus is named without a split, or too few documents answer a query to hold some out.
        CorpusMissingError: A corpus is not on this machine.
    """
    found = read_asked(experiment, say)
    return AskedData(make_pool(found.training), make_pool(found.held_out), found.documents)


def among_all(found: AskedData) -> QueryPool:
    """The held-out questions over all passages, those of training behind their own, as a search would meet them.

    Passages of a few dozen questions are told apart by nearly any model, which then chooses no epoch. Training passages
    that say the same as a held-out one, word for word, are left out.
    """
    own = set(found.held_out.passages)
    others = tuple(passage for passage in found.training.passages if passage not in own)
    return QueryPool(found.held_out.queries, found.held_out.passages + others)


def make_pool(part: AskedPart) -> QueryPool:
    """Questions over the passages of documents.

    Passages without words are left out, and so are questions without words or without an answer among the passages.
    A question's `related` passages are the others of the documents that answer it.
    """
    passages: list[tuple[tuple[str, ...], ...]] = []
    rows: dict[PassageKey, int] = {}
    siblings: dict[int, range] = {}
    for (corpus, _), document in part.documents.items():
        first = len(passages)
        for passage in document.passages:
            words = tuple(tuple(sentence) for sentence in passage_words(document, passage) if sentence)
            if words:
                rows[corpus, passage.passage_id] = len(passages)
                passages.append(words)
        siblings |= dict.fromkeys(range(first, len(passages)), range(first, len(passages)))
    queries = []
    for _, question, answers in part.answered(rows):
        if asked := question.words:
            around = dict.fromkeys(row for answer in answers for row in siblings[answer])
            related = tuple(row for row in around if row not in answers)
            queries.append(TrainingQuery(asked, answers, related))
    return QueryPool(tuple(queries), tuple(passages))
