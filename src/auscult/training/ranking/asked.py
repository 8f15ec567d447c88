"""Training queries that a corpus brings with it: the questions of a split, answered as its judgements say.

Questions are held out together with every document that answers them, so that training meets neither. What the corpora
of `never_learn` ask, and the documents that answer it, are left out of both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from auscult.corpora import open_corpus
from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.interfaces import Corpus
from auscult.models.rankers.scorer import passage_words, query_words
from auscult.training.experiment import CorpusChoice
from auscult.training.ranking.examples import QueryPool, TrainingQuery
from auscult.training.ranking.experiment import RankingExperiment

Key = tuple[str, str]
"""A corpus' name and an id in it: two corpora may use the same ids."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query of a corpus.

    Attributes:
        words: As rankers read them.
        answers: The passages that are judged relevant.
    """

    words: tuple[str, ...]
    answers: frozenset[Key]


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


def gather_asked(experiment: RankingExperiment, say: Callable[[str], None]) -> AskedData:
    """Read the queries, judgements and documents of an experiment's corpora, and hold some out.

    Raises:
        ConfigError: A corpus is named without a split, or too few documents answer a query to hold some out.
        CorpusMissingError: A corpus is not on this machine.
    """
    unlearned = [each for choice in experiment.never_learn for each in _questions(choice, choice.split or "test")]
    spared = {key for question in unlearned for key in question.answers}
    unasked = {question.words for question in unlearned}
    documents: dict[Key, Document] = {}
    questions: list[Question] = []
    eligible: list[int] = []
    for choice in experiment.corpora:
        if choice.split is None:
            raise ConfigError(f"a split of {choice.name} whose queries are learned from", "none", "name it: 'split'")
        found = {(choice.name, each.doc_id): each for each in open_corpus(choice.name).documents(choice.split)}
        documents |= {key: each for key, each in found.items() if spared.isdisjoint(_passages(choice.name, each))}
        asked = [each for each in _questions(choice, choice.split) if each.words not in unasked]
        say(f"{choice.name}: {len(found):,} documents, {len(asked):,} queries")
        if choice.name in experiment.validation.corpora:
            eligible += range(len(questions), len(questions) + len(asked))
        questions += asked
    chosen, aside = _hold_out(documents, questions, eligible, experiment)
    return AskedData(
        training=make_pool(
            {key: each for key, each in documents.items() if key not in aside},
            [question for row, question in enumerate(questions) if row not in chosen],
        ),
        held_out=make_pool({key: documents[key] for key in sorted(aside)}, [questions[row] for row in sorted(chosen)]),
        documents=list(documents.values()),
    )


def make_pool(documents: dict[Key, Document], questions: Sequence[Question]) -> QueryPool:
    """Questions over the passages of documents.

    Passages without words are left out, and so are questions without words or without an answer among the passages.
    A question's `related` passages are the others of the documents that answer it.

    Args:
        documents: By corpus and id.
        questions: On them and perhaps on others.
    """
    passages: list[tuple[tuple[str, ...], ...]] = []
    rows: dict[Key, int] = {}
    siblings: dict[int, range] = {}
    for (corpus, _), document in documents.items():
        first = len(passages)
        for passage in document.passages:
            words = tuple(tuple(sentence) for sentence in passage_words(document, passage) if sentence)
            if words:
                rows[corpus, passage.passage_id] = len(passages)
                passages.append(words)
        siblings |= dict.fromkeys(range(first, len(passages)), range(first, len(passages)))
    queries = []
    for question in questions:
        answers = tuple(sorted(rows[key] for key in question.answers if key in rows))
        if answers and question.words:
            around = dict.fromkeys(row for answer in answers for row in siblings[answer])
            related = tuple(row for row in around if row not in answers)
            queries.append(TrainingQuery(question.words, answers, related))
    return QueryPool(tuple(queries), tuple(passages))


def _questions(choice: CorpusChoice, split: str) -> Iterator[Question]:
    corpus: Corpus = open_corpus(choice.name)
    answers: dict[str, set[Key]] = {}
    for judgement in corpus.judgements(split):
        if judgement.relevance > 0:
            answers.setdefault(judgement.query_id, set()).add((choice.name, judgement.passage_id))
    for query in corpus.queries(split):
        yield Question(tuple(query_words(query)), frozenset(answers.get(query.query_id, ())))


def _passages(corpus: str, document: Document) -> Iterator[Key]:
    return ((corpus, passage.passage_id) for passage in document.passages)


def _hold_out(
    documents: dict[Key, Document],
    questions: Sequence[Question],
    eligible: Sequence[int],
    experiment: RankingExperiment,
) -> tuple[set[int], set[Key]]:
    """Draw questions until as many documents answer them as are to be held out: rows of questions, document keys."""
    wanted = experiment.validation.documents
    holder = {passage: key for key, document in documents.items() for passage in _passages(key[0], document)}
    order = list(eligible)
    random.Random(experiment.seed).shuffle(order)
    chosen: set[int] = set()
    aside: set[Key] = set()
    for row in order:
        if len(aside) >= wanted:
            break
        answering = {holder[passage] for passage in questions[row].answers if passage in holder}
        if answering:
            chosen.add(row)
            aside |= answering
    if len(aside) < wanted:
        remedy = "lower validation.documents or name more validation.corpora"
        raise ConfigError(f"more than {wanted} documents that answer a query", str(len(aside)), remedy)
    return chosen, aside


__all__ = ["AskedData", "Question", "gather_asked", "make_pool"]
