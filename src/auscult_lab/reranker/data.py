"""Examples for the re-ranker: questions made from titles and headings, with passages that answer and others.

A passage of the document "Gout" under the heading "Symptoms" answers "What are the symptoms of gout?", and so do
passages under that heading of other documents with that title. Negatives are passages

    of the same document, under other headings            the entity alone is not enough
    under the same heading, of other documents            nor is the aspect
    that the encoder ranks first, of other documents      nor is a similar vector

Questions name the entity by its title, or by another name of the knowledge base. Some ask for the entity only ("What
is gout?": the beginning of the document answers), some for the aspect only. Some are a sentence that was removed from
a passage, which then is the only answer. For half of the questions, titles and headings are hidden, since many
collections have none: both of all passages, the headings only, or those of the passages of the question's document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from auscult.concepts import KnowledgeBase
from auscult.concepts.aspects import INFORMATION, normalise_heading
from auscult.concepts.names import normalise_name
from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult.encoders.reranker import Pair, label, pair
from auscult.understanding.aspects import QUESTIONS, question_about
from auscult_lab.general.data import aspect_of
from auscult_lab.training.batches import Key
from auscult_lab.training.labels import title_words

FORMS: Final = {"question": 6, "parts": 3, "aspect": 1, "sentence": 3}
HIDING: Final = {"nothing": 7, "headings": 3, "everything": 7, "own": 3}
_LIKELY: Final = 4
_NEAR: Final = 24
_AT_ONCE: Final = 256
_FIRST_SHOWN: Final = 0.7
_OTHERWISE_NAMED: Final = 0.5
_SHORTEST_NAME: Final = 4
_SENTENCE_WORDS: Final = 5


class RerankerBatch(NamedTuple):
    """Questions, each with the same number of passages.

    Attributes:
        ids: (pairs, tokens), question by question.
        mask: 1 for tokens, same shape.
        question_mask: 1 for tokens of the question, same shape.
        right: Whether each passage answers, (questions, passages).
        passage_mask: False for missing passages, same shape: some questions have fewer.
    """

    ids: Tensor
    mask: Tensor
    question_mask: Tensor
    right: Tensor
    passage_mask: Tensor


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of all documents with one title.

    Attributes:
        names: The title, and other names of the subject.
        passages: Rows of the documents' passages.
        by_aspect: Rows of the passages of each aspect.
    """

    names: tuple[str, ...]
    passages: npt.NDArray[np.int64]
    by_aspect: Mapping[str, npt.NDArray[np.int64]]


class Example(NamedTuple):
    """A question with its passages, and whether each answers."""

    pairs: list[Pair]
    right: list[bool]


class RerankerExamples:
    """Examples by epoch and row: one question about each subject.

    Args:
        documents: Documents to make questions from.
        reader: The encoder that finds passages near to a question.
        vectors: Its vectors of all passages of the documents, unit rows, (passages, dim).
        knowledge: Gives other names of subjects; None for titles only.
        passages: Number of passages per question.
        window: Tokens of question and passage together.
        seed: Seed of all random draws.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        reader: WindowReader,
        vectors: FloatArray,
        knowledge: KnowledgeBase | None,
        *,
        passages: int,
        window: int,
        seed: int,
    ) -> None:
        self._passages, self._window, self._seed = passages, window, seed
        self._reader = reader
        self._marks = (reader.around[0][0], reader.around[1][-1])
        every = [(document, passage) for document in documents for passage in document.passages]
        tokens, _ = reader.cut(
            [[document.text[s.start : s.end] for s in passage.sentences] for document, passage in every]
        )
        edges = np.cumsum([0, *(len(passage.sentences) for _, passage in every)])
        self._sentences = [tokens[first:last] for first, last in pairwise(edges.tolist())]
        self._titles = [document.title for document, _ in every]
        self._headings = [passage.heading for _, passage in every]
        self.subjects, self._under = _subjects(documents, knowledge)
        self._questions = {
            (row, aspect): None for row, subject in enumerate(self.subjects) for aspect in subject.by_aspect
        }
        self._near = self._nearest(vectors)

    def __len__(self) -> int:
        return len(self.subjects)

    def __getitem__(self, key: Key) -> Example:
        chance = np.random.default_rng((self._seed, *key))
        row = key[1] % len(self.subjects)
        subject = self.subjects[row]
        aspects = list(subject.by_aspect)
        likely = np.array([_LIKELY if aspect in QUESTIONS or aspect == INFORMATION else 1 for aspect in aspects], float)
        aspect = aspects[int(chance.choice(len(aspects), p=likely / likely.sum()))]
        form = _drawn(FORMS, chance)
        right = int(chance.choice(subject.by_aspect[aspect]))
        sentence = self._sentence(right, chance) if form == "sentence" else None
        if sentence is not None:
            question = self._sentences[right][sentence]
            answers = np.array([right])
        else:
            named = int(chance.integers(len(subject.names))) if chance.random() < _OTHERWISE_NAMED else 0
            question = self._tokens(_worded(form, aspect, subject.names[named], chance))
            answers = subject.by_aspect[aspect]
        others = self._others(row, aspect, answers, form, chance)[: self._passages - 1]
        hiding = _drawn(HIDING, chance)
        pairs = []
        for passage in (right, *others):
            own = passage in subject.passages
            hidden = hiding == "everything" or (hiding == "own" and own) or form == "sentence"
            heading = "" if hiding == "headings" else self._headings[passage]
            told = "" if hidden else label(self._titles[passage], heading)
            left_out = sentence if passage == right else None
            text = self._text(passage, left_out, chance)
            pairs.append(pair(self._marks, question, self._tokens(told), text, self._window))
        return Example(pairs, [True, *(False for _ in others)])

    def collate(self, found: Sequence[Example]) -> RerankerBatch:
        """Return one batch."""
        return batch_of(found, self._passages)

    def _others(
        self, row: int, aspect: str, answers: npt.NDArray[np.int64], form: str, chance: np.random.Generator
    ) -> list[int]:
        """Return passages that do not answer, of each kind in turn; fewer where there are not enough."""
        subject = self.subjects[row]
        siblings = np.setdiff1d(subject.passages, answers)
        siblings = siblings[[not self._says(passage, aspect) for passage in siblings]]
        near = self._near[row, aspect]
        under = np.setdiff1d(self._under[aspect], subject.passages)
        # For the aspect alone, passages of other documents answer, too.
        kinds = [siblings] if form == "aspect" else [siblings, near, siblings, under, near]
        queues = {id(kind): chance.permutation(kind).tolist() for kind in kinds}
        taken: dict[int, None] = {}
        while len(taken) < self._passages - 1 and any(queues.values()):
            for kind in kinds:
                if queues[id(kind)]:
                    taken[queues[id(kind)].pop()] = None
        return list(taken)

    def _says(self, passage: int, aspect: str) -> bool:
        """Check whether a heading may be about an aspect that it does not name, as "Surgery" about treatment."""
        return not set(aspect.split()).isdisjoint(normalise_name(self._headings[passage]).split())

    def _text(self, passage: int, left_out: int | None, chance: np.random.Generator) -> list[int]:
        """Return tokens of a passage, sometimes from a later sentence on; a sentence may be left out."""
        sentences = self._sentences[passage]
        first = 0
        if sum(map(len, sentences)) > self._window and chance.random() > _FIRST_SHOWN:
            first = int(chance.integers(len(sentences)))
        if left_out is not None:
            first = min(first, max(left_out - 1, 0))
        return [token for number in range(first, len(sentences)) if number != left_out for token in sentences[number]]

    def _sentence(self, passage: int, chance: np.random.Generator) -> int | None:
        """Return a sentence that is long enough to search for, of a passage with several; None where there is none."""
        sentences = self._sentences[passage]
        fit = [row for row, each in enumerate(sentences) if len(each) >= _SENTENCE_WORDS]
        return int(chance.choice(fit)) if len(fit) > 1 else None

    def _tokens(self, text: str) -> list[int]:
        return self._reader.cut([[text]])[0][0] if text else []

    def _nearest(self, vectors: FloatArray) -> dict[tuple[int, str], npt.NDArray[np.int64]]:
        """Return the encoder's first hits for each subject's aspects, in documents with other titles."""
        keys = list(self._questions)
        query_vectors = unit(self._reader.ask([f"{aspect} of {self.subjects[row].names[0]}" for row, aspect in keys]))
        by_key = {}
        for first in range(0, len(keys), _AT_ONCE):
            some = keys[first : first + _AT_ONCE]
            for key, cosines in zip(some, query_vectors[first : first + _AT_ONCE] @ vectors.T, strict=True):
                cosines[self.subjects[key[0]].passages] = -np.inf
                nearest = np.argpartition(-cosines, min(_NEAR, len(cosines) - 1))[:_NEAR]
                by_key[key] = nearest[np.isfinite(cosines[nearest])]
        return by_key


def batch_of(examples: Sequence[Example], passages: int) -> RerankerBatch:
    """Return one batch of questions with at most `passages` passages each."""
    longest = max(len(pair.ids) for example in examples for pair in example.pairs)
    shape = (len(examples), passages)
    ids = np.zeros((*shape, longest), np.int64)
    mask, question_mask = np.zeros_like(ids), np.zeros_like(ids)
    right, passage_mask = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, example in enumerate(examples):
        for place, (tokens, answers) in enumerate(zip(example.pairs, example.right, strict=True)):
            ids[row, place, : len(tokens.ids)] = tokens.ids
            mask[row, place, : len(tokens.ids)] = 1
            question_mask[row, place, 1 : 1 + tokens.asked] = 1
            right[row, place], passage_mask[row, place] = answers, True
    return RerankerBatch(
        torch.from_numpy(ids.reshape(-1, longest)),
        torch.from_numpy(mask.reshape(-1, longest)),
        torch.from_numpy(question_mask.reshape(-1, longest)),
        torch.from_numpy(right),
        torch.from_numpy(passage_mask),
    )


def _worded(form: str, aspect: str, name: str, chance: np.random.Generator) -> str:
    if form == "question":
        return question_about(aspect, name)
    if form == "aspect":
        return aspect
    if aspect == INFORMATION:
        return name
    return (f"{aspect} of {name}", f"{name} {aspect}", f"{name}: {aspect}")[int(chance.integers(3))]


def _drawn(shares: Mapping[str, int], chance: np.random.Generator) -> str:
    weights = np.array(list(shares.values()), float)
    return list(shares)[int(chance.choice(len(weights), p=weights / weights.sum()))]


def _subjects(
    documents: Sequence[Document], knowledge: KnowledgeBase | None
) -> tuple[list[Subject], dict[str, npt.NDArray[np.int64]]]:
    """Return all subjects, and the passages of each aspect."""
    titles: dict[str, str] = {}
    passages: dict[str, list[int]] = {}
    by_aspect: dict[str, dict[str, list[int]]] = {}
    under: dict[str, list[int]] = {}
    row = 0
    for document in documents:
        title = title_words(document.title)
        name = normalise_name(title)
        for passage in document.passages:
            if passage.sentences and name:
                titles.setdefault(name, title)
                passages.setdefault(name, []).append(row)
                for aspect in _aspects(passage.heading or passage.aspect, title):
                    by_aspect.setdefault(name, {}).setdefault(aspect, []).append(row)
                    under.setdefault(aspect, []).append(row)
            row += 1
    subjects = [
        Subject(
            (titles[name], *_other_names(knowledge, titles[name])),
            np.array(passages[name]),
            {aspect: np.array(rows) for aspect, rows in aspects.items()},
        )
        for name, aspects in by_aspect.items()
    ]
    return subjects, {aspect: np.array(rows) for aspect, rows in under.items()}


def _aspects(heading: str, title: str) -> list[str]:
    named = normalise_heading(heading)
    found = [INFORMATION] if named[0] == INFORMATION else [aspect_of(each, title) for each in named]
    return list(filter(None, found))


def _other_names(knowledge: KnowledgeBase | None, title: str) -> list[str]:
    """Return other names of a title that no other concept has."""
    concepts = knowledge.by_name(title) if knowledge else ()
    if not knowledge or len(concepts) != 1:
        return []
    return [name for name in concepts[0].names if len(name) >= _SHORTEST_NAME and len(knowledge.by_name(name)) == 1]
