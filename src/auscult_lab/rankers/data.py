"""Training queries with answers and sampled negatives.

Queries are made from titles and headings ("IgA nephropathy; symptoms"), or are a corpus' own (see `training.asked`).
All draws depend on seed, epoch and query only, so that a resumed training ends like an uninterrupted one.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from torch import Tensor
from torch.utils.data import Dataset

from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult_lab.rankers.base import Ranker, Tokens, pad
from auscult_lab.rankers.experiment import NegativeChoice
from auscult_lab.rankers.scorer import Lexicon
from auscult_lab.scorers.lexical import passage_words
from auscult_lab.training.asked import AskedPart, PassageKey, read_asked
from auscult_lab.training.batches import BestPassages, Key
from auscult_lab.training.experiment import DataExperiment
from auscult_lab.training.labels import LabelledDocument

_analyse = Analyzer()


@dataclass(frozen=True, slots=True)
class TrainingQuery:
    """A query, with its passages as rows.

    Attributes:
        words: Title and headings, or a question.
        answers: Rows of the passages with this title and these headings, or of those judged relevant.
        related: Rows of the title's other passages, or of other passages of the answering documents.
    """

    words: tuple[str, ...]
    answers: tuple[int, ...]
    related: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QueryPool:
    """Queries and passages.

    Attributes:
        queries: Queries with at least one answer each.
        passages: The words of every passage, by sentence.
    """

    queries: tuple[TrainingQuery, ...]
    passages: tuple[tuple[tuple[str, ...], ...], ...]

    def words(self) -> Iterator[str]:
        """Yield every word of every passage and query, with repeats."""
        for passage in self.passages:
            yield from chain.from_iterable(passage)
        for query in self.queries:
            yield from query.words


def make_queries(documents: Sequence[LabelledDocument]) -> QueryPool:
    """Return one query for each title and its headings, answered by every passage with both.

    Passages without words are left out.
    """
    passages: list[tuple[tuple[str, ...], ...]] = []
    answers: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    of_title: dict[str, list[int]] = defaultdict(list)
    names: dict[str, str] = {}
    for item in documents:
        for passage, headings in zip(item.document.passages, item.aspects, strict=True):
            words = tuple(tuple(sentence) for sentence in passage_words(item.document, passage) if sentence)
            if not words:
                continue
            passages.append(words)
            if item.title is None:
                continue
            names.setdefault(item.title.key, item.title.name)
            of_title[item.title.key].append(len(passages) - 1)
            if headings:
                answers[item.title.key, headings].append(len(passages) - 1)
    queries = [
        TrainingQuery(
            tuple(_analyse(" ".join((names[key], *headings)))),
            tuple(rows),
            tuple(row for row in of_title[key] if row not in rows),
        )
        for (key, headings), rows in answers.items()
    ]
    return QueryPool(tuple(query for query in queries if query.words), tuple(passages))


class HardNegatives:
    """The passages that BM25 ranks highest for a query, computed on first use."""

    def __init__(self, pool: QueryPool, depth: int) -> None:
        self._pool = pool
        self._depth = depth
        self._best = BestPassages([[word for sentence in passage for word in sentence] for passage in pool.passages])
        self._negatives: dict[int, tuple[int, ...]] = {}

    def of(self, row: int) -> tuple[int, ...]:
        """Return passage rows, best first, without the query's answers."""
        if row not in self._negatives:
            query = self._pool.queries[row]
            self._negatives[row] = self._best.of(query.words, self._depth, without=query.answers)
        return self._negatives[row]


@dataclass(slots=True)
class RankingBatch:
    """Queries, each with its answer first and its negatives after it.

    Attributes:
        query: (queries, words).
        passage: (queries x (1 + negatives), ...), query by query.
        negatives: Number of negatives per query.
    """

    query: Tokens
    passage: Tokens
    negatives: int


@dataclass(frozen=True, slots=True)
class Example:
    """A query and its passages, laid out.

    Attributes:
        row: Row of the query.
        answer: Row of the passage that was drawn among its answers.
        query: Its words.
        passages: The answer, then the negatives, except those from the batch.
        stand_in: A wrong passage, for a batch with too few of them.
    """

    row: int
    answer: int
    query: Tensor
    passages: tuple[Tensor, ...]
    stand_in: Tensor


class RankingExamples(Dataset[Example]):
    """Training queries as a data set."""

    def __init__(self, pool: QueryPool, ranker: Ranker, lexicon: Lexicon, choice: NegativeChoice, *, seed: int) -> None:
        self.pool = pool
        self.choice = choice
        self._seed = seed
        self._hard = HardNegatives(pool, choice.bm25_depth)
        lexicon.learn(pool.words())
        self._queries = [ranker.lay_out_query(lexicon.ids(query.words)) for query in pool.queries]
        self._passages = [
            ranker.lay_out_passage([lexicon.ids(sentence) for sentence in passage]) for passage in pool.passages
        ]

    def __len__(self) -> int:
        return len(self._queries)

    def __getitem__(self, key: Key) -> Example:
        epoch, row = key
        query = self.pool.queries[row]
        rng = random.Random(f"{self._seed}/{epoch}/{row}")
        answer = rng.choice(query.answers)
        negatives = self._negatives(row, rng)
        return Example(
            row,
            answer,
            self._queries[row],
            tuple(self._passages[each] for each in (answer, *negatives)),
            self._passages[negatives[-1] if negatives else self._wrong(query, rng)],
        )

    def _negatives(self, row: int, rng: random.Random) -> list[int]:
        query, choice = self.pool.queries[row], self.choice
        chosen = rng.sample(query.related, min(choice.same_entity, len(query.related)))
        missing = choice.same_entity - len(chosen) + choice.bm25
        hard = [each for each in self._hard.of(row)[: choice.bm25_depth] if each not in chosen]
        chosen += rng.sample(hard, min(missing, len(hard)))
        wanted = choice.same_entity + choice.bm25 + choice.random
        # In a collection with too few wrong passages, some are repeated.
        while len(chosen) < wanted:
            chosen.append(self._wrong(query, rng))
        return chosen

    def _wrong(self, query: TrainingQuery, rng: random.Random) -> int:
        """Return any passage that does not answer the query."""
        while (drawn := rng.randrange(len(self._passages))) in query.answers:
            pass
        return drawn

    def collate(self, examples: Sequence[Example]) -> RankingBatch:
        """Return one batch; negatives of kind "in_batch" are the answers of the queries that follow."""
        passages: list[Tensor] = []
        for position, example in enumerate(examples):
            # The answers of the next queries, except those that also answer this one: a corpus may repeat a question.
            answers = self.pool.queries[example.row].answers
            others = (*examples[position + 1 :], *examples[:position])
            borrowed = [other.passages[0] for other in others if other.answer not in answers][: self.choice.in_batch]
            missing = self.choice.in_batch - len(borrowed)
            passages += (*example.passages, *borrowed, *[example.stand_in] * missing)
        return RankingBatch(pad([example.query for example in examples]), pad(passages), self.choice.total)


@dataclass(frozen=True, slots=True)
class AskedData:
    """Training and validation queries, each part with its own passages.

    Attributes:
        training: For training.
        held_out: For validation.
        documents: All documents read, for word vectors.
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


def among_all(data: AskedData) -> QueryPool:
    """Return the held-out questions with all passages, their own first and then those of training, as in a search.

    Nearly any model ranks the passages of a few dozen questions well, which would choose no epoch. Training passages
    with the text of a held-out one are left out.
    """
    own = set(data.held_out.passages)
    others = tuple(passage for passage in data.training.passages if passage not in own)
    return QueryPool(data.held_out.queries, data.held_out.passages + others)


def make_pool(part: AskedPart) -> QueryPool:
    """Return a pool of questions and the passages of documents.

    Passages without words are left out, and so are questions without words or without an answer among the passages.
    A question's `related` passages are the other passages of the answering documents.
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
