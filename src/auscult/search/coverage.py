"""What a collection answers: entities down, aspects across, and in each cell the best passage and a word for it.

The word is that of the first hit's probability (`certainty.verdict`). A passage about a similar entity (`siblings`) may
answer at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from auscult.concepts.aspects import INFORMATION
from auscult.errors import QueryError
from auscult.index import ANY, Where
from auscult.index.words import analyse
from auscult.interfaces import Hit
from auscult.search.certainty import Verdict, verdict
from auscult.search.searcher import Searcher, SearchOptions
from auscult.search.siblings import sibling_note
from auscult.understanding import Query
from auscult.understanding.aspect_words import ASPECT_WORDS
from auscult.understanding.understand import Understanding

MOST_CELLS: Final = 2_000
_HEADING: Final = 0.5


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of an aspect of an entity.

    Attributes:
        word: Whether it is answered.
        probability: That `hit` answers, in [0, 1]; 0 where there is none.
        hit: The best passage; None where there is none.
        note: That it is about something similar; else empty.
    """

    word: Verdict
    probability: float
    hit: Hit | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """A table of what a collection answers.

    Attributes:
        entities: As they were understood, in order.
        aspects: The columns.
        cells: A row an entity, a cell an aspect.
    """

    entities: tuple[Understanding, ...]
    aspects: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]

    def share(self, word: Verdict = "answers") -> float:
        """The share of cells with a word."""
        words = [cell.word for row in self.cells for cell in row]
        return words.count(word) / len(words)


def cover(searcher: Searcher, entities: Sequence[str], aspects: Sequence[str] = (), *, where: Where = ANY) -> Coverage:
    """Ask for every aspect of every entity; all is encoded in one batch.

    Args:
        searcher: An opened index, or the view of it that somebody may see.
        entities: Names, synonyms or identifiers.
        aspects: As headings name them; empty for those that the collection has headings for (`aspects_of`).
        where: Only documents whose fields have these values.

    Raises:
        QueryError: No entity or no aspect, too many of both, an unknown identifier, field or value.
    """
    names = [name for each in entities if (name := each.strip())]
    columns = tuple(dict.fromkeys(each.strip() for each in aspects if each.strip())) or aspects_of(searcher, where)
    if not names or not columns:
        got = "headings of none" if names else "none"
        raise QueryError("entities and aspects", got, "name at least one entity, and aspects such as treatment")
    if len(names) * len(columns) > MOST_CELLS:
        raise QueryError(f"at most {MOST_CELLS} cells", f"{len(names) * len(columns)}", "ask for fewer at once")
    understood = tuple(searcher.understand(Query("", name)) for name in names)
    queries = [replace(each.query, aspects=(aspect,)) for each in understood for aspect in columns]
    found = [
        _cell(searcher, query, [*searcher.find(query, 1, SearchOptions(where=where), encoded=vector)])
        for query, vector in zip(queries, searcher.vectors(queries), strict=True)
    ]
    rows = (tuple(found[first : first + len(columns)]) for first in range(0, len(found), len(columns)))
    return Coverage(understood, columns, tuple(rows))


def aspects_of(searcher: Searcher, where: Where = ANY) -> tuple[str, ...]:
    """The aspects that questions are read for, as far as a document of the collection has a heading for them."""
    index = searcher.index
    return tuple(
        aspect
        for aspect in (INFORMATION, *(words.aspect for words in ASPECT_WORDS))
        if any(
            score >= _HEADING
            for score in index.best(index.reader.words.likeness(analyse(aspect), "heading"), 1, where=where)[1].tolist()
        )
    )


def _cell(searcher: Searcher, query: Query, found: Sequence[Hit]) -> Cell:
    if not found:
        return Cell("no answer", 0.0, None)
    (hit,) = found
    note = sibling_note(query, hit.title, searcher.knowledge_base)
    probability = hit.probability or 0.0
    word = verdict(probability)
    return Cell("may answer" if note and word == "answers" else word, probability, hit, note)
