"""Wrong passages of a question that are hard to tell from right ones, in the order in which they are taken.

    page      5 others of the right passage's document, by chance
    sibling   4 under the same heading, in documents whose titles are nearest to its document's
    terms     4 by BM25 over the tokens of a reader, each token of the question counted once
    reader    4 of each first reader, by the inner product of its question parts
    terms     9 more by BM25, until there are 19

Each is searched in the question's own collection, and no right passage is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult_lab.scorers.lexical import Bm25Index
from study.shipped.windows import AskedReader, Rows

Kind = Literal["page", "sibling", "terms", "reader"]
_K1, _B = 1.2, 0.75
_AT_ONCE = 512
_PAGE, _SIBLINGS, _TERMS, _READER, _MORE_TERMS = 5, 4, 4, 4, 9


class Candidate(NamedTuple):
    """A wrong passage, and how it was found."""

    passage: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Found:
    """The passages that each search found for a question, as numbers, the nearest first.

    Attributes:
        right: Right passages.
        page: All passages of the right one's document.
        siblings: Under the same heading of documents with similar titles.
        terms: By BM25, the 16 nearest.
        readers: By each reader, the 12 nearest.
    """

    right: Sequence[int]
    page: Sequence[int] = ()
    siblings: Sequence[int] = ()
    terms: Sequence[int] = ()
    readers: Sequence[Sequence[int]] = field(default_factory=tuple)


def candidates(found: Found, *, most: int = 19, chance: np.random.Generator) -> list[Candidate]:
    """Return the wrong passages of a question.

    Args:
        found: What the searches found.
        most: Largest number of passages.
        chance: Draws those of the page.
    """
    searches: list[tuple[Kind, Sequence[int], int]] = [
        ("page", chance.permutation(np.array(found.page, np.int64)).tolist(), _PAGE),
        ("sibling", found.siblings, _SIBLINGS),
        ("terms", found.terms, _TERMS),
        *(("reader", nearest, _READER) for nearest in found.readers),
        ("terms", found.terms, _MORE_TERMS),
    ]
    seen = set(found.right)
    taken: list[Candidate] = []
    for kind, passages, count in searches:
        new = islice((passage for passage in dict.fromkeys(passages) if passage not in seen), count)
        fresh = [Candidate(passage, kind) for passage in new][: most - len(taken)]
        taken += fresh
        seen.update(each.passage for each in fresh)
    return taken


def nearest_by_terms(
    questions: Sequence[Sequence[int]], passages: Sequence[Sequence[int]], *, most: int = 16
) -> list[list[int]]:
    """Return for each question the rows of the passages with the highest BM25, the highest first.

    Args:
        questions: Token ids of the questions of one collection.
        passages: Token ids of its passages, without marks.
        most: Number of passages.
    """
    index = Bm25Index([[*map(str, tokens)] for tokens in passages], _K1, _B)
    scores = (index.score_all([str(token) for token in sorted(set(question))]) for question in questions)
    return [np.argsort(-each, kind="stable")[:most].tolist() for each in scores]


def nearest_by_reader(questions: Tensor, passages: Tensor, *, most: int = 12) -> list[list[int]]:
    """Return for each question the rows of the passages with the largest inner product, the largest first.

    Args:
        questions: Question parts of the questions of one collection, (questions, dim).
        passages: Those of its passages, (passages, dim).
        most: Number of passages.
    """
    rows: list[list[int]] = []
    for some in torch.split(questions, _AT_ONCE):
        rows += (some @ passages.T).topk(min(most, len(passages)), dim=1).indices.tolist()
    return rows


@dataclass(frozen=True, slots=True)
class Siblings:
    """Finds passages under the same heading, of documents with similar titles.

    Attributes:
        titles: Row of each passage's title in `vectors`, (passages,).
        documents: Identifier of each passage's document.
        headings: Heading of each passage, in lower case.
        vectors: Unit vectors of the titles, (titles, dim).
        under: Passages under each heading.
    """

    titles: Rows
    documents: Sequence[str]
    headings: Sequence[str]
    vectors: FloatArray
    under: Mapping[str, Sequence[int]]

    @classmethod
    def of(
        cls, titles: Sequence[str], documents: Sequence[str], headings: Sequence[str], reader: WindowReader
    ) -> Siblings:
        """Read the titles of a collection.

        Args:
            titles: Title of each passage's document.
            documents: Identifier of each passage's document.
            headings: Heading of each passage.
            reader: Reader of the titles.
        """
        lowered = [heading.lower() for heading in headings]
        under = defaultdict[str, list[int]](list)
        for passage, heading in enumerate(lowered):
            under[heading].append(passage)
        distinct = {title: row for row, title in enumerate(dict.fromkeys(titles))}
        rows = np.array([distinct[title] for title in titles], np.int64)
        return cls(rows, documents, lowered, unit(reader.ask([*distinct])), under)

    def nearest(self, passage: int, *, most: int = 6) -> list[int]:
        """Return siblings of a passage, the nearest title first; none for a passage without a heading."""
        heading, document = self.headings[passage], self.documents[passage]
        others = np.array([each for each in self.under[heading] if self.documents[each] != document], np.int64)
        if not heading or not len(others):
            return []
        similar = self.vectors[self.titles[others]] @ self.vectors[self.titles[passage]]
        found: list[int] = others[np.argsort(-similar, kind="stable")[:most]].tolist()
        return found


@torch.no_grad()
def nearest_windows(
    reader: AskedReader, questions: Sequence[Sequence[int]], passages: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return for each passage of each question the number of its window that is nearest to the question.

    Args:
        reader: The reader.
        questions: Token ids of each question.
        passages: Numbers of each question's passages.
    """
    reader.eval()
    windows, device = reader.windows, reader.backbone.device
    vectors = torch.zeros(len(windows.lengths), reader.backbone.dim, device=device)
    order = np.argsort(windows.lengths, kind="stable")
    for at in range(0, len(order), _AT_ONCE):
        rows = order[at : at + _AT_ONCE]
        vectors[torch.from_numpy(rows).to(device)] = reader.window_part(rows)
    found = []
    for at in range(0, len(questions), _AT_ONCE):
        asked = reader.question_part(questions[at : at + _AT_ONCE])
        for vector, own in zip(asked, passages[at : at + _AT_ONCE], strict=True):
            edges = [(int(windows.edges[passage]), int(windows.edges[passage + 1])) for passage in own]
            found.append([int((vectors[a:b] @ vector).argmax()) if b - a > 1 else 0 for a, b in edges])
    return found
