"""What a collection answers: a table with a row an entity and a column an aspect. A cell has the best passage.

The word of a cell is the verdict on its first hit (`certainty.verdict`). A passage about a similar entity (`siblings`)
is no answer; the cell has it apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from auscult.errors import QueryError
from auscult.index.fields import ANY, Where
from auscult.index.words import analyse
from auscult.search.certainty import Label, Verdict, label, verdict
from auscult.search.hits import Hit
from auscult.search.searcher import Searcher, SearchOptions
from auscult.search.siblings import sibling_note
from auscult.understanding.aspects import QUESTIONS
from auscult.understanding.query import Query
from auscult.understanding.understand import Understanding

MOST_CELLS: Final = 2_000
LOOKED_AT: Final = 10
"""Passages to retrieve for a cell: the first ones may be about similar entities."""
_LINES: Final = re.compile(r"[;\n\r]+")
_LISTED: Final = re.compile(r"(\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|&)\s+)", re.IGNORECASE)
_HEADING: Final = 0.5


@dataclass(frozen=True, slots=True)
class Cell:
    """What a collection answers about one aspect of an entity.

    Attributes:
        word: Whether it is answered.
        probability: Probability that `hit` answers, in [0, 1]; 0 without a hit.
        hit: The best passage about the entity; None where there is none.
        note: Sentence that `similar` is about a similar entity; empty without it.
        similar: The first hit, if it is about a similar entity.
    """

    word: Verdict
    probability: float
    hit: Hit | None
    note: str = ""
    similar: Hit | None = None

    @property
    def label(self) -> Label:
        """The word that people are shown."""
        return label(self.probability)


@dataclass(frozen=True, slots=True)
class Coverage:
    """A table of what a collection answers.

    Attributes:
        entities: As they were understood, in order.
        aspects: The columns.
        cells: One row per entity, one cell per aspect.
    """

    entities: tuple[Understanding, ...]
    aspects: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]

    def share(self, shown: Label = "answers") -> float:
        """Return the share of cells with a label, from 0 to 1."""
        labels = [cell.label for row in self.cells for cell in row]
        return labels.count(shown) / len(labels)


def cover(searcher: Searcher, entities: Sequence[str], aspects: Sequence[str] = (), *, where: Where = ANY) -> Coverage:
    """Search for every aspect of every entity. All queries are encoded in one batch.

    Args:
        searcher: An opened index, or the view of it that somebody may see.
        entities: Names, synonyms or identifiers; one of these may list several (`entities_named`).
        aspects: As headings name them; empty for those that the collection has headings for (`aspects_of`).
        where: Only documents whose fields have these values.

    Raises:
        QueryError: No entity or no aspect, too many of both, an unknown identifier, field or value.
    """
    names = entities_named(searcher, entities)
    columns = tuple(dict.fromkeys(aspect.strip() for aspect in aspects if aspect.strip())) or aspects_of(
        searcher, where
    )
    if not names or not columns:
        got = "headings of none" if names else "none"
        raise QueryError("entities and aspects", got, "name at least one entity, and aspects such as treatment")
    if len(names) * len(columns) > MOST_CELLS:
        raise QueryError(f"at most {MOST_CELLS} cells", f"{len(names) * len(columns)}", "ask for fewer at once")
    understood = tuple(searcher.understand(Query("", name)) for name in names)
    queries = [replace(understanding.query, aspects=(aspect,)) for understanding in understood for aspect in columns]
    cells = [
        _choose_answer(searcher, query, searcher.find(query, LOOKED_AT, SearchOptions(where=where), encoded=vector))
        for query, vector in zip(queries, searcher.vectors(queries), strict=True)
    ]
    rows = (tuple(cells[first : first + len(columns)]) for first in range(0, len(cells), len(columns)))
    return Coverage(understood, columns, tuple(rows))


def aspects_of(searcher: Searcher, where: Where = ANY) -> tuple[str, ...]:
    """Return the known aspects that a heading of the collection names."""
    index = searcher.index
    aspects = []
    for aspect in QUESTIONS:
        likeness = index.reader.words.likeness([analyse(aspect)], "heading")
        _, best = index.best(likeness, 1, where=where)
        if (best >= _HEADING).any():
            aspects.append(aspect)
    return tuple(aspects)


def entities_named(searcher: Searcher, texts: Sequence[str]) -> list[str]:
    """Return the entities that texts list ("gout, asthma", "gout and asthma", one a line), in order.

    A known name is never split: "hand, foot and mouth disease". "And" separates entities only where one of them is
    known.
    """
    is_known = searcher.parser.is_known
    entities: list[str] = []
    for line in (line for text in texts for line in _LINES.split(text)):
        pieces = _LISTED.split(line.strip())
        while pieces:
            # The longest known name wins. Without one a comma always separates.
            sizes = range(len(pieces), 0, -2)
            size = next((size for size in sizes if is_known("".join(pieces[:size]).strip())), 0)
            while not size and len(pieces) > 1 and "," not in pieces[1] and not is_known(pieces[2].strip()):
                pieces[:3] = ["".join(pieces[:3])]
            name, pieces = "".join(pieces[: size or 1]).strip(), pieces[(size or 1) + 1 :]
            # "Type 1 and type 2 diabetes".
            whole = f"{name} {pieces[-1].split()[-1]}" if name and not size and pieces and pieces[-1].strip() else name
            entities.append(whole if is_known(whole) else name)
    return list(filter(None, entities))


def _choose_answer(searcher: Searcher, query: Query, hits: Iterable[Hit]) -> Cell:
    note, similar = "", None
    for hit in hits:
        if sentence := sibling_note(query, hit.title, searcher.knowledge_base):
            note, similar = (note, similar) if similar else (sentence, hit)
            continue
        probability = hit.probability or 0.0
        return Cell(verdict(probability), probability, hit, note, similar)
    return Cell("no answer", 0.0, None, note, similar)
