"""Examples for the towers: documents whose titles name entities and whose headings name aspects.

Headings that name the document's entity teach no aspects, nor do those that only name a place ("Chapter review").
Overviews ("Overview", "Abstract") are an aspect like others. Of long documents and passages, each epoch uses another
part.

This file also collects the short texts for a student: the texts of queries, and names and definitions.
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
from auscult.understanding.aspects import question_about
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
    """Sentences of some documents, with their titles and headings.

    Attributes:
        sentences: Their vectors, unit rows, (sentences, width).
        tokens: Number of tokens of each sentence, (sentences,).
        passages: Row of the first sentence of each passage, then the number of sentences, (passages + 1,).
        documents: Row of the first passage of each document, then the number of passages, (documents + 1,).
        aspects: For each passage, the row of its heading in `headings`; -1 for none.
        headings: Vectors of the batch's headings, (headings, width).
        entities: For each document, the row of its title in `titles`; -1 for none.
        titles: Vectors of the batch's titles, (titles, width).
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
    """Documents as examples, by epoch and row.

    Args:
        read: The documents and their vectors.
        reader: Reads titles and headings.
        seed: Seed for the part of a long document that an epoch uses.
        labels: Whether aspects are the corpus' labels of passages, instead of their headings.
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
        self._titles, self._title_rows = _number_names(titles, reader)
        self._headings, self._heading_rows = _number_names(aspects, reader)
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
        """Return a document's row, and the row and sentence range of each of its passages in this epoch."""
        epoch, number = key
        row = self.rows[number]
        chance = np.random.default_rng((self._seed, epoch, row))
        passages = self._passages[row]
        if len(passages) > _MOST_PASSAGES:
            first = int(chance.integers(len(passages) - _MOST_PASSAGES + 1))
            passages = passages[first : first + _MOST_PASSAGES]
        ranges = []
        for passage in passages:
            begin, end = self._read.passages[passage : passage + 2].tolist()
            if end - begin > _MOST_SENTENCES:
                begin += int(chance.integers(end - begin - _MOST_SENTENCES + 1))
                end = begin + _MOST_SENTENCES
            ranges.append((passage, begin, end))
        return row, ranges

    def collate(self, items: Sequence[tuple[int, list[tuple[int, int, int]]]]) -> TowerBatch:
        """Return one batch."""
        ranges = [passage for _, passages in items for passage in passages]
        rows = np.concatenate([np.arange(begin, end) for _, begin, end in ranges])
        headings, aspects = _renumber(self._heading_rows[[passage for passage, _, _ in ranges]])
        titles, entities = _renumber(self._title_rows[[row for row, _ in items]])
        return TowerBatch(
            torch.from_numpy(unit(self._read.means[rows].astype(np.float32))),
            torch.from_numpy(self._read.tokens[rows].astype(np.float32)),
            torch.tensor([0, *(end - begin for _, begin, end in ranges)]).cumsum(0),
            torch.tensor([0, *(len(passages) for _, passages in items)]).cumsum(0),
            torch.from_numpy(aspects),
            torch.from_numpy(self._headings[headings]),
            torch.from_numpy(entities),
            torch.from_numpy(self._titles[titles]),
        )


def aspect_of(heading: str, title: str) -> str:
    """Return the aspect that a heading names, normalised; empty for none."""
    if not heading.strip():
        return ""
    aspect = normalise_heading(heading)[0]
    of_title = set(_WORD.findall(title.lower())) & set(_WORD.findall(aspect))
    return "" if aspect in NO_ASPECT or of_title else aspect


def _number_names(names: Sequence[str], reader: WindowReader) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of distinct names, unit rows, and the row of each name; -1 for an empty one."""
    rows: dict[str, int] = {}
    numbers = np.array([rows.setdefault(name, len(rows)) if name else -1 for name in names], np.int64)
    return unit(reader.ask(list(rows))), numbers


def _renumber(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows without -1, and each row's place among them."""
    distinct, places = np.unique(rows, return_inverse=True)
    absent = int(len(distinct) > 0 and distinct[0] < 0)
    return distinct[absent:], places - absent


def asking(document: Document, passage: Passage) -> Iterator[str]:
    """Return the passage's title and heading, separately, together, and as a question."""
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
    """Return query texts for documents, and the names and definitions of a knowledge base, without repeats.

    Args:
        documents: Documents to learn from.
        knowledge: Knowledge base, as `concepts.opening` names it; None for none.
    """
    texts = [text for document in documents for passage in document.passages for text in asking(document, passage)]
    if knowledge is not None:
        for concept in open_knowledge_base(knowledge):
            texts += [*concept.names, concept.definition]
    return [text for text in dict.fromkeys(texts) if text]
