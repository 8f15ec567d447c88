"""Examples for the towers: documents whose titles name entities and whose headings name aspects.

A heading that names the document's entity teaches nothing of aspects, and neither do those that say only where a
passage stands ("Chapter review"). What a thing is ("Overview", "Abstract") is an aspect as others are. Of long
documents and passages each epoch shows another stretch.

Short texts that a student learns to read: what documents are asked for by, and what things are called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from auscult.concepts.aspects import normalise_heading
from auscult.concepts.opening import open_knowledge_base
from auscult.documents import Document, Passage
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult.understanding.aspect_words import question_about
from auscult_lab.general.reading import ReadDocuments
from auscult_lab.training.batches import Key
from auscult_lab.training.labels import title_words

NO_ASPECT: Final = frozenset(
    {"chapter summary", "chapter review", "general", "others", "other", "references", "see also",
     "key concepts", "external links", "further reading"}
)  # fmt: skip
"""Headings that say where a passage stands, and not what it says."""
_MOST_SENTENCES, _MOST_PASSAGES = 24, 16
_WORD = re.compile(r"[^\W\d_]{4,}")


class TowerBatch(NamedTuple):
    """Sentences of some documents, and what their titles and headings say.

    Attributes:
        sentences: What was read of them, unit rows, (sentences, width).
        tokens: How many each has, (sentences,).
        passages: First sentence of each passage, and the number of sentences, (passages + 1,).
        documents: First passage of each document, and the number of passages, (documents + 1,).
        aspects: For each passage, the row of its heading in `headings`; -1 for none.
        headings: What was read of the batch's headings, (headings, width).
        entities: For each document, the row of its title in `titles`; -1 for none.
        titles: What was read of the batch's titles, (titles, width).
    """

    sentences: Tensor
    tokens: Tensor
    passages: Tensor
    documents: Tensor
    aspects: Tensor
    headings: Tensor
    entities: Tensor
    titles: Tensor


class TowerExamples:
    """Documents, asked for by epoch and row.

    Args:
        read: Documents as they were read.
        reader: Reads titles and headings.
        seed: Of which stretch of a long document an epoch shows.
        labels: Whether aspects are what the corpus calls passages, instead of their headings.
    """

    def __init__(self, read: ReadDocuments, reader: WindowReader, *, seed: int, labels: bool = False) -> None:
        self._read = read
        self._seed = seed
        titles = [title_words(document.title) for document in read.documents]
        aspects = [
            aspect_of(passage.aspect if labels else passage.heading or passage.aspect, document.title)
            for document in read.documents
            for passage in document.passages
        ]
        self._titles, self._title_rows = _distinct(titles, reader)
        self._headings, self._heading_rows = _distinct(aspects, reader)
        worded = np.diff(read.passages) > 0
        self._passages = [
            [row for row in range(first, last) if worded[row]]
            for first, last in zip(read.edges[:-1], read.edges[1:], strict=True)
        ]
        self.rows = [row for row, passages in enumerate(self._passages) if passages]

    @property
    def titles(self) -> int:
        """Distinct titles that are learned from."""
        return len(self._titles)

    @property
    def headings(self) -> int:
        """Distinct aspects that are learned from."""
        return len(self._headings)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Key) -> tuple[int, list[tuple[int, int, int]]]:
        """A document's row and, of each of its passages that are shown, its row and the range of its sentences."""
        epoch, number = key
        row = self.rows[number]
        chance = np.random.default_rng((self._seed, epoch, row))
        passages = self._passages[row]
        if len(passages) > _MOST_PASSAGES:
            first = int(chance.integers(len(passages) - _MOST_PASSAGES + 1))
            passages = passages[first : first + _MOST_PASSAGES]
        shown = []
        for passage in passages:
            begin, end = self._read.passages[passage : passage + 2].tolist()
            if end - begin > _MOST_SENTENCES:
                begin += int(chance.integers(end - begin - _MOST_SENTENCES + 1))
                end = begin + _MOST_SENTENCES
            shown.append((passage, begin, end))
        return row, shown

    def collate(self, found: Sequence[tuple[int, list[tuple[int, int, int]]]]) -> TowerBatch:
        """One batch."""
        shown = [each for _, passages in found for each in passages]
        rows = np.concatenate([np.arange(begin, end) for _, begin, end in shown])
        headings, aspects = _renumbered(self._heading_rows[[passage for passage, _, _ in shown]])
        titles, entities = _renumbered(self._title_rows[[row for row, _ in found]])
        return TowerBatch(
            torch.from_numpy(unit(self._read.means[rows].astype(np.float32))),
            torch.from_numpy(self._read.tokens[rows].astype(np.float32)),
            torch.tensor([0, *(end - begin for _, begin, end in shown)]).cumsum(0),
            torch.tensor([0, *(len(passages) for _, passages in found)]).cumsum(0),
            torch.from_numpy(aspects),
            torch.from_numpy(self._headings[headings]),
            torch.from_numpy(entities),
            torch.from_numpy(self._titles[titles]),
        )


def aspect_of(heading: str, title: str) -> str:
    """The aspect that a heading names, normalised; empty for none."""
    if not heading.strip():
        return ""
    aspect = normalise_heading(heading)[0]
    of_title = set(_WORD.findall(title.lower())) & set(_WORD.findall(aspect))
    return "" if aspect in NO_ASPECT or of_title else aspect


def _distinct(names: Sequence[str], reader: WindowReader) -> tuple[np.ndarray, np.ndarray]:
    """What was read of distinct names, unit rows, and which row each name has; -1 for an empty one."""
    rows: dict[str, int] = {}
    numbers = np.array([rows.setdefault(name, len(rows)) if name else -1 for name in names], np.int64)
    return unit(reader.ask(list(rows))), numbers


def _renumbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows but -1, and each row's place among them."""
    distinct, places = np.unique(rows, return_inverse=True)
    absent = int(len(distinct) > 0 and distinct[0] < 0)
    return distinct[absent:], places - absent


def asking(document: Document, passage: Passage) -> Iterator[str]:
    """The passage's title and heading, apart, together, and as a question."""
    title = title_words(document.title)
    aspect = aspect_of(passage.heading or passage.aspect, document.title)
    if title:
        yield title
    if aspect:
        yield aspect
    if title and aspect:
        yield f"{aspect} of {title}"
        yield question_about(aspect, title)


def short_texts(documents: Sequence[Document], knowledge: str | None) -> list[str]:
    """What asks for documents, and the names and definitions of a knowledge base; each once.

    Args:
        documents: To learn from.
        knowledge: As `concepts.opening` names it; None for none.
    """
    found = [text for document in documents for passage in document.passages for text in asking(document, passage)]
    if knowledge is not None:
        for concept in open_knowledge_base(knowledge):
            found += [*concept.names, concept.definition]
    return [text for text in dict.fromkeys(found) if text]
