"""Examples for the re-ranker: questions made of titles and headings, and passages that do and do not answer them.

A passage of the document "Gout" under the heading "Symptoms" answers "What are the symptoms of gout?", and so do
passages under that heading of other documents with that title. Those that don't:

    of the same document, under other headings            the entity alone is not enough
    under the same heading of other documents             nor is the aspect
    the encoder's first hits for the question, elsewhere  nor is being near

What is asked goes by the title or another name of the knowledge base. Some questions ask for the entity alone ("What is
gout?": the beginning answers), some for the aspect alone, and some are a sentence that was taken out of a passage,
which alone has it in its context. Titles and headings are hidden from half of the questions, since many collections
have none: as whole, the heading alone, or those of the passages of the question's own document.
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
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult.encoders.reranker import Pair, label, pair
from auscult.interfaces import FloatArray
from auscult.understanding.aspect_words import ASPECT_WORDS, QUESTIONS, question_about
from auscult_lab.general.data import aspect_of
from auscult_lab.training.batches import Key
from auscult_lab.training.labels import title_words

FORMS: Final = {"question": 6, "parts": 3, "aspect": 1, "sentence": 3}
HIDING: Final = {"nothing": 7, "headings": 3, "everything": 7, "own": 3}
_WORDS: Final = {words.aspect: words.pattern for words in ASPECT_WORDS}
_LIKELY: Final = 4
_NEAR: Final = 24
_AT_ONCE: Final = 256
_FIRST_SHOWN: Final = 0.7
_OTHERWISE_NAMED: Final = 0.5
_SHORTEST_NAME: Final = 4
_SENTENCE_WORDS: Final = 5


class RerankerBatch(NamedTuple):
    """Questions with as many passages each.

    Attributes:
        ids: (pairs, tokens), the pairs of a question in a row.
        there: 1 where there is a token, same shape.
        asked: 1 where there is one of the question, same shape.
        right: Whether a passage answers, (questions, passages).
        shown: Whether there is a passage, same shape: some questions have fewer.
    """

    ids: Tensor
    there: Tensor
    asked: Tensor
    right: Tensor
    shown: Tensor


@dataclass(frozen=True, slots=True)
class Subject:
    """What documents of one title tell.

    Attributes:
        names: The title, and other names of it.
        passages: Rows of their passages.
        by_aspect: Those of each aspect.
    """

    names: tuple[str, ...]
    passages: npt.NDArray[np.int64]
    by_aspect: Mapping[str, npt.NDArray[np.int64]]


class Example(NamedTuple):
    """A question, and passages with whether they answer it."""

    pairs: list[Pair]
    right: list[bool]


class RerankerExamples:
    """Subjects, asked for by epoch and row: one question about each.

    Args:
        documents: To ask about.
        reader: The encoder, which reads passages to find those that are near a question.
        vectors: What it has read of all passages of the documents, unit rows, (passages, dim).
        knowledge: Names things; None for titles alone.
        passages: How many to each question.
        window: Tokens of question and passage together.
        seed: Of all chance.
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
        tokens, _ = reader.cut([[each.text[s.start : s.end] for s in passage.sentences] for each, passage in every])
        edges = np.cumsum([0, *(len(passage.sentences) for _, passage in every)])
        self._sentences = [tokens[first:last] for first, last in pairwise(edges.tolist())]
        self._titles = [document.title for document, _ in every]
        self._headings = [passage.heading for _, passage in every]
        self.subjects, self._under = _subjects(documents, knowledge)
        self._asked = {(row, aspect): None for row, each in enumerate(self.subjects) for aspect in each.by_aspect}
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
        """One batch."""
        return batch_of(found, self._passages)

    def _others(
        self, row: int, aspect: str, answers: npt.NDArray[np.int64], form: str, chance: np.random.Generator
    ) -> list[int]:
        """Passages that don't answer: of each kind in turn, as far as there are."""
        subject = self.subjects[row]
        siblings = np.setdiff1d(subject.passages, answers)
        siblings = siblings[[not self._says(passage, aspect) for passage in siblings]]
        near = self._near[row, aspect]
        under = np.setdiff1d(self._under[aspect], subject.passages)
        # Another document's treatment answers "treatment" as well.
        kinds = [siblings] if form == "aspect" else [siblings, near, siblings, under, near]
        queues = {id(kind): chance.permutation(kind).tolist() for kind in kinds}
        taken: dict[int, None] = {}
        while len(taken) < self._passages - 1 and any(queues.values()):
            for kind in kinds:
                if queues[id(kind)]:
                    taken[queues[id(kind)].pop()] = None
        return list(taken)

    def _says(self, passage: int, aspect: str) -> bool:
        """Whether a heading that does not name an aspect may still be about it: "Surgery" is, of treatment."""
        words = _WORDS.get(aspect)
        return bool(words and words.search(self._headings[passage]))

    def _text(self, passage: int, left_out: int | None, chance: np.random.Generator) -> list[int]:
        """Tokens of a passage from its beginning or, of some, from a later sentence; a sentence may be left out."""
        sentences = self._sentences[passage]
        first = 0
        if sum(map(len, sentences)) > self._window and chance.random() > _FIRST_SHOWN:
            first = int(chance.integers(len(sentences)))
        if left_out is not None:
            first = min(first, max(left_out - 1, 0))
        return [token for number in range(first, len(sentences)) if number != left_out for token in sentences[number]]

    def _sentence(self, passage: int, chance: np.random.Generator) -> int | None:
        """One that is long enough to be looked for, of a passage that has others; None for none."""
        sentences = self._sentences[passage]
        fit = [row for row, each in enumerate(sentences) if len(each) >= _SENTENCE_WORDS]
        return int(chance.choice(fit)) if len(fit) > 1 else None

    def _tokens(self, text: str) -> list[int]:
        return self._reader.cut([[text]])[0][0] if text else []

    def _nearest(self, vectors: FloatArray) -> dict[tuple[int, str], npt.NDArray[np.int64]]:
        """The encoder's first hits for each subject's aspects, in documents of other titles."""
        keys = list(self._asked)
        asked = unit(self._reader.ask([f"{aspect} of {self.subjects[row].names[0]}" for row, aspect in keys]))
        found = {}
        for first in range(0, len(keys), _AT_ONCE):
            some = keys[first : first + _AT_ONCE]
            for key, cosines in zip(some, asked[first : first + _AT_ONCE] @ vectors.T, strict=True):
                cosines[self.subjects[key[0]].passages] = -np.inf
                nearest = np.argpartition(-cosines, min(_NEAR, len(cosines) - 1))[:_NEAR]
                found[key] = nearest[np.isfinite(cosines[nearest])]
        return found


def batch_of(found: Sequence[Example], passages: int) -> RerankerBatch:
    """One batch of questions that have at most so many passages."""
    longest = max(len(each.ids) for example in found for each in example.pairs)
    shape = (len(found), passages)
    ids = np.zeros((*shape, longest), np.int64)
    there, asked = np.zeros_like(ids), np.zeros_like(ids)
    right, shown = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, example in enumerate(found):
        for place, (each, answers) in enumerate(zip(example.pairs, example.right, strict=True)):
            ids[row, place, : len(each.ids)] = each.ids
            there[row, place, : len(each.ids)] = 1
            asked[row, place, 1 : 1 + each.asked] = 1
            right[row, place], shown[row, place] = answers, True
    return RerankerBatch(
        torch.from_numpy(ids.reshape(-1, longest)),
        torch.from_numpy(there.reshape(-1, longest)),
        torch.from_numpy(asked.reshape(-1, longest)),
        torch.from_numpy(right),
        torch.from_numpy(shown),
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
    """What can be asked for, and passages of each aspect."""
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
    found = [
        Subject(
            (titles[name], *_other_names(knowledge, titles[name])),
            np.array(passages[name]),
            {aspect: np.array(rows) for aspect, rows in asked.items()},
        )
        for name, asked in by_aspect.items()
    ]
    return found, {aspect: np.array(rows) for aspect, rows in under.items()}


def _aspects(heading: str, title: str) -> list[str]:
    named = normalise_heading(heading)
    found = [INFORMATION] if named[0] == INFORMATION else [aspect_of(each, title) for each in named]
    return list(filter(None, found))


def _other_names(knowledge: KnowledgeBase | None, title: str) -> list[str]:
    """Names that no other concept has."""
    concepts = knowledge.by_name(title) if knowledge else ()
    if not knowledge or len(concepts) != 1:
        return []
    return [name for name in concepts[0].names if len(name) >= _SHORTEST_NAME and len(knowledge.by_name(name)) == 1]
