"""Training pairs: a passage, and a query drawn from its labels (grundmann2021, section 3.1).

A passage has several entities (title, mentions) and several aspects (headings); every epoch draws one of each. Where a
corpus has questions, a pair is a question and one of its answers, drawn in every epoch. All draws depend on seed, epoch
and row only, so that a resumed training ends like an uninterrupted one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.utils.data import Dataset

from auscult.documents import Document, Passage
from auscult.documents.analysis import Analyzer
from auscult.understanding import Query
from auscult_lab.encoders.base import PassageText, passage_text, query_text
from auscult_lab.encoders.experiment import PairLabels, PairNegatives
from auscult_lab.training.batches import BestPassages, Key
from auscult_lab.training.labels import EntityLabel, LabelledDocument

_analyse = Analyzer()
_analyse_heading = Analyzer(stop_words=True, stemming=True)


@dataclass(frozen=True, slots=True)
class LabelledPassage:
    """A passage with the labels from which queries are made.

    Attributes:
        passage: Its text.
        entities: At least one. With questions of a corpus, the questions that it answers; possibly none.
        aspects: At least one. With questions of a corpus, only the empty one.
    """

    passage: PassageText
    entities: tuple[EntityLabel, ...]
    aspects: tuple[str, ...]

    def answers(self, entity: str, aspect: str) -> bool:
        """Check whether the passage has the entity, by its key, and the aspect.

        An aspect matches headings that contain all of its words or whose words it contains: passages under "symptoms"
        answer "signs and symptoms".
        """
        if all(each.key != entity for each in self.entities):
            return False
        words = _words(aspect)
        # One heading equals or contains the other; the empty one matches none.
        return aspect in self.aspects or any(
            bool(words and others) and (words <= others or others <= words) for others in map(_words, self.aspects)
        )


@lru_cache(maxsize=1 << 16)
def _words(aspect: str) -> frozenset[str]:
    return frozenset(_analyse_heading(aspect))


@dataclass(frozen=True, slots=True)
class PoolQuestion:
    """A question of a corpus, with its answers as rows of passages.

    Attributes:
        label: Its key, and its text as the architectures read it.
        answers: Rows of the passages that are judged relevant; at least one.
    """

    label: EntityLabel
    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PassagePool:
    """Passages to learn from.

    Attributes:
        passages: Those with an entity and an aspect; with `questions`, all.
        without_aspect: Number of passages skipped because they have no heading.
        without_entity: Number of others skipped because they name no entity.
        questions: The corpus' questions. Without them, queries are drawn from passages' labels.
    """

    passages: tuple[LabelledPassage, ...]
    without_aspect: int = 0
    without_entity: int = 0
    questions: tuple[PoolQuestion, ...] = ()

    def __add__(self, other: PassagePool) -> PassagePool:
        return PassagePool(
            self.passages + other.passages,
            self.without_aspect + other.without_aspect,
            self.without_entity + other.without_entity,
        )


Labelled = tuple[Document, Passage, tuple[EntityLabel, ...], tuple[str, ...]]
"""A passage of a document, its entities and its aspects."""


def labelled_pool(labelled: Iterable[Labelled], *, surroundings: int = 0) -> PassagePool:
    """Return labelled passages. Those without entity or aspect are skipped and counted; wordless ones are skipped.

    Args:
        labelled: Passages and their labels.
        surroundings: Characters of text around a passage to keep, for architectures that read them.
    """
    passages: list[LabelledPassage] = []
    without_aspect = without_entity = 0
    for document, passage, entities, aspects in labelled:
        if not passage.sentences:
            continue
        without_aspect += not aspects
        without_entity += bool(aspects) and not entities
        if aspects and entities:
            text = passage_text(document, passage, surroundings=surroundings)
            passages.append(LabelledPassage(text, entities, aspects))
    return PassagePool(tuple(passages), without_aspect, without_entity)


def label_passages(documents: Iterable[LabelledDocument], choice: PairLabels, *, surroundings: int = 0) -> PassagePool:
    """Return passages of labelled documents."""

    def labels() -> Iterator[Labelled]:
        for item in documents:
            named: list[dict[str, EntityLabel]] = [{} for _ in item.document.passages]
            for row, mentions in zip(item.passage_of, item.mentions, strict=True):
                named[row] |= {label.key: label for label in mentions} if choice.mentions else {}
            title = () if item.title is None else (item.title,)
            for passage, entities, parts in zip(item.document.passages, named, item.aspects, strict=True):
                # One label, worded as queries are, unless each part is to be a label of its own.
                whole = (" and ".join(parts),) if parts else ()
                aspects = parts if choice.aspects == "parts" else whole
                yield item.document, passage, (*title, *entities.values()), aspects

    return labelled_pool(labels(), surroundings=surroundings)


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the passage it was drawn from.

    Attributes:
        key: Epoch, and row of the passage or the question.
        own: Row of the passage.
        entity: Key of the entity drawn.
        aspect: The aspect drawn.
        query: Both as the architectures read them.
        hard: Rows of its negatives: BM25's, and those of the same entity or aspect.
    """

    key: Key
    own: int
    entity: str
    aspect: str
    query: str
    hard: tuple[int, ...]


class PairBatch:
    """A training batch. It is no dataclass, because the training library would take one apart and copy it.

    Attributes:
        queries: Texts.
        passages: Each once.
        rows: Long, (queries, k): the passages that a query is scored with, its own first.
        spared: Bool, (queries, k): other passages that answer the query, and so are no negatives.
    """

    def __init__(self, queries: list[str], passages: list[PassageText], rows: Tensor, spared: Tensor) -> None:
        self.queries = queries
        self.passages = passages
        self.rows = rows
        self.spared = spared


class PairExamples(Dataset[Pair]):
    """Passages, or questions of a corpus, as a data set of pairs."""

    def __init__(self, pool: PassagePool, choice: PairNegatives, *, seed: int) -> None:
        self.passages = pool.passages
        self.questions = pool.questions
        self._choice = choice
        self._seed = seed
        self._best = BestPassages(words_of(pool.passages)) if choice.bm25 else None
        entities = ([label.key for label in item.entities] for item in pool.passages)
        self._of_entity = _rows_by(entities) if choice.same_entity else {}
        self._of_aspect = _rows_by(item.aspects for item in pool.passages) if choice.same_aspect else {}

    def __len__(self) -> int:
        return len(self.questions or self.passages)

    def __getitem__(self, key: Key) -> Pair:
        rng = self._chance(key, "labels")
        if self.questions:
            question = self.questions[key[1]]
            own, entity, aspect = rng.choice(question.answers), question.label, ""
        else:
            passage = self.passages[key[1]]
            own, entity, aspect = key[1], rng.choice(passage.entities), rng.choice(passage.aspects)
        hard = self._hard(key, own, entity, aspect)
        return Pair(key, own, entity.key, aspect, ask(entity.name, aspect), hard)

    def _hard(self, key: Key, own: int, entity: EntityLabel, aspect: str) -> tuple[int, ...]:
        """Return the negatives drawn for a query, without repeats; fewer where there are not enough."""
        choice = self._choice
        ranked: Sequence[int] = ()
        if self._best is not None:
            words = _analyse(f"{entity.name} {aspect}")
            ranked = self._best.of(words, choice.bm25_depth, without=(own,))
        sources = (
            ("bm25", choice.bm25, ranked),
            ("same entity", choice.same_entity, self._of_entity.get(entity.key, ())),
            ("same aspect", choice.same_aspect, self._of_aspect.get(aspect, ())),
        )
        hard: dict[int, None] = {}
        for purpose, number, rows in sources:
            wrong = [row for row in rows if not self._same(row, own, entity.key, aspect)] if number else []
            hard.update(dict.fromkeys(self._chance(key, purpose).sample(wrong, min(number, len(wrong)))))
        return tuple(hard)

    def _same(self, row: int, own: int, entity: str, aspect: str) -> bool:
        """Check whether a passage has the text of the query's own passage, or answers the query as well."""
        other = self.passages[row]
        return other.passage.text == self.passages[own].passage.text or other.answers(entity, aspect)

    def _chance(self, key: Key, purpose: str) -> random.Random:
        return random.Random(f"{self._seed}/{key[0]}/{key[1]}/{purpose}")

    def collate(self, pairs: Sequence[Pair]) -> PairBatch:
        """Return one batch: each passage once, and for each query the rows of its own passage and its negatives."""
        rows = list(dict.fromkeys([pair.own for pair in pairs] + [row for pair in pairs for row in pair.hard]))
        place = {row: number for number, row in enumerate(rows)}
        columns, spared = [], []
        for pair in pairs:
            own = pair.own
            others = [row for row in rows if row != own]
            false = {row for row in others if self._same(row, own, pair.entity, pair.aspect)}
            shown = [own, *self._negatives(pair, others, false)]
            columns.append([place[row] for row in shown])
            spared.append([row in false for row in shown])
        passages = [self.passages[row].passage for row in rows]
        return PairBatch([pair.query for pair in pairs], passages, torch.tensor(columns), torch.tensor(spared))

    def _negatives(self, pair: Pair, others: list[int], false: set[int]) -> list[int]:
        """Return equally many for each query. Other answers, which are masked, only fill small batches."""
        if self._choice.in_batch == "all":
            return others
        wanted = min(self._choice.in_batch + self._choice.drawn, len(others))
        order = self._chance(pair.key, "batch").sample(others, len(others))
        order.sort(key=lambda row: (row not in pair.hard, row in false))
        return order[:wanted]


def _rows_by(labels: Iterable[Sequence[str]]) -> dict[str, list[int]]:
    """Return the rows of each label."""
    rows: dict[str, list[int]] = {}
    for row, own in enumerate(labels):
        for label in own:
            rows.setdefault(label, []).append(row)
    return rows


def ask(entity: str, aspect: str) -> str:
    """Return a training query as the architectures read it."""
    return query_text(Query(query_id="", entity=entity, aspects=(aspect,)))


def words_of(passages: Sequence[LabelledPassage]) -> list[list[str]]:
    """Return the words of passages, for BM25."""
    return [_analyse(item.passage.text) for item in passages]
