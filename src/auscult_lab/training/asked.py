"""Corpora's own questions and their documents, for training and held out.

Questions are held out together with every document that answers them, and with repeats in the same words, so that
training reads neither. Questions of the corpora of `never_learn`, and the documents that answer them, are in neither
part. `rankers.data` and `encoders.gathering` convert the parts for their models.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.ingest.corpus import Corpus
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.scorers.lexical import query_words
from auscult_lab.training.data import read
from auscult_lab.training.experiment import CorpusChoice, DataExperiment

PassageKey = tuple[str, str]
"""A corpus' name and an id in it, of a document or a passage: two corpora may use the same ids."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query of a corpus.

    Attributes:
        query: The query of the corpus; another corpus may have the same id.
        answers: The passages that are judged relevant.
    """

    query: Query
    answers: frozenset[PassageKey]

    @property
    def words(self) -> tuple[str, ...]:
        """Its words for word-based models; two questions with equal words are the same question."""
        return tuple(query_words(self.query))


@dataclass(frozen=True, slots=True)
class AskedPart:
    """Questions and the documents to search.

    Attributes:
        questions: In the order of the corpora.
        documents: Documents by corpus and id.
    """

    questions: Sequence[Question]
    documents: Mapping[PassageKey, Document]

    def answered(self, rows: Mapping[PassageKey, int]) -> Iterator[tuple[int, Question, tuple[int, ...]]]:
        """Yield the questions with answers among some passages: number, question, and rows of its answers in order."""
        for number, question in enumerate(self.questions):
            answers = tuple(sorted(rows[key] for key in question.answers if key in rows))
            if answers:
                yield number, question, answers


@dataclass(frozen=True, slots=True)
class AskedCorpora:
    """The questions of an experiment's corpora.

    Attributes:
        training: For training.
        held_out: For validation; shares no question and no document with `training`.
        documents: All documents read, for word vectors.
    """

    training: AskedPart
    held_out: AskedPart
    documents: list[Document]


def read_asked(experiment: DataExperiment, say: Callable[[str], None]) -> AskedCorpora:
    """Read the queries, judgements and documents of an experiment's corpora, and hold some out.

    Args:
        experiment: Source of `corpora` (each with a split), `never_learn`, `validation` and `seed`.
        say: Called with a message for each corpus.

    Raises:
        ConfigError: A corpus is named without a split, or too few documents answer a query to hold some out.
        CorpusMissingError: A corpus is not on this machine.
    """
    unlearned = [
        question for choice in experiment.never_learn for question in _questions(choice, choice.split or "test")
    ]
    spared = {key for question in unlearned for key in question.answers}
    unasked = {question.words for question in unlearned}
    documents: dict[PassageKey, Document] = {}
    questions: list[Question] = []
    eligible: list[int] = []
    for choice in experiment.corpora:
        if choice.split is None:
            raise ConfigError(f"a split of {choice.name} whose queries are learned from", "none", "name it: 'split'")
        in_corpus = {(choice.name, document.doc_id): document for document in read(choice, say)[1]}
        passages = {key: [*_passages(choice.name, document)] for key, document in in_corpus.items()}
        documents |= {key: document for key, document in in_corpus.items() if spared.isdisjoint(passages[key])}
        learned = [question for question in _questions(choice, choice.split) if question.words not in unasked]
        say(f"{choice.name}: {len(in_corpus):,} documents, {len(learned):,} queries")
        known = {key for keys in passages.values() for key in keys}
        if lost := {key for question in learned for key in question.answers} - known:
            say(f"{choice.name}: {len(lost):,} passages judged relevant are not there, such as '{min(lost)[1]}'")
        if choice.name in experiment.validation.corpora:
            eligible += range(len(questions), len(questions) + len(learned))
        questions += learned
    chosen, aside = _hold_out(documents, questions, eligible, experiment)
    held_out = {questions[row].words for row in chosen}
    return AskedCorpora(
        training=AskedPart(
            [question for question in questions if question.words not in held_out],
            {key: document for key, document in documents.items() if key not in aside},
        ),
        held_out=AskedPart([questions[row] for row in sorted(chosen)], {key: documents[key] for key in sorted(aside)}),
        documents=list(documents.values()),
    )


def _questions(choice: CorpusChoice, split: str) -> Iterator[Question]:
    corpus: Corpus = open_corpus(choice.name, skip_bad=choice.skip_bad)
    answers: dict[str, set[PassageKey]] = {}
    for judgement in corpus.judgements(split):
        if judgement.relevance > 0:
            answers.setdefault(judgement.query_id, set()).add((choice.name, judgement.passage_id))
    for query in corpus.queries(split):
        yield Question(query, frozenset(answers.get(query.query_id, ())))


def _passages(corpus: str, document: Document) -> Iterator[PassageKey]:
    return ((corpus, passage.passage_id) for passage in document.passages)


def _hold_out(
    documents: Mapping[PassageKey, Document],
    questions: Sequence[Question],
    eligible: Sequence[int],
    experiment: DataExperiment,
) -> tuple[set[int], set[PassageKey]]:
    """Draw questions until enough documents answer them; return rows of questions and keys of documents."""
    wanted = experiment.validation.documents
    holder = {passage: key for key, document in documents.items() for passage in _passages(key[0], document)}
    order = list(eligible)
    random.Random(experiment.seed).shuffle(order)
    chosen: set[int] = set()
    aside: set[PassageKey] = set()
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
