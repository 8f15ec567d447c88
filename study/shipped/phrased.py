"""Names of aspects and ways to ask for them in French, Spanish and German, written for this project (CC BY 4.0).

`data/questions/aspects_in_languages.tsv` has a row for each aspect and language, with headings and phrasings. Rows in
English have further headings only.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from auscult.concepts.aspects import normalise_heading
from auscult.documents import Document

FILE: Final = "aspects_in_languages.tsv"
THIS: Final[Mapping[str, str]] = MappingProxyType({"fr": "cela", "es": "esto", "de": "das"})
"""What stands for a name that is left out of a question, beside the English "this"."""
_BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class AspectWords:
    """How an aspect is named and asked for in a language.

    Attributes:
        aspect: The aspect.
        lang: The language.
        headings: Headings that name it.
        phrasings: Questions, with {e} in the place of the name.
    """

    aspect: str
    lang: str
    headings: tuple[str, ...]
    phrasings: tuple[str, ...]

    def asked(self, names: Sequence[str], chance: np.random.Generator) -> Iterator[str]:
        """Yield each phrasing without a name, and with a name drawn by chance, as not every name is recognised.

        Args:
            names: Names to draw from.
            chance: Draws them.
        """
        for phrasing in self.phrasings:
            forms = ["this", THIS[self.lang], names[int(chance.integers(len(names)))]] if "{e}" in phrasing else [""]
            yield from (phrasing.replace("{e}", form) for form in forms)


def read_aspect_words(folder: Path) -> list[AspectWords]:
    """Return all rows of the file in a folder of questions."""
    with (folder / FILE).open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [
        AspectWords(
            row["aspect"],
            row["lang"],
            *(tuple(filter(None, row[name].split(_BETWEEN))) for name in ("headings", "phrasings")),
        )
        for row in rows
    ]


def headings_by_aspect(words: Sequence[AspectWords]) -> dict[str, tuple[str, ...]]:
    """Return the headings of each aspect in all languages, as `normalise_heading` writes them."""
    found: dict[str, tuple[str, ...]] = {}
    for each in words:
        found[each.aspect] = (*found.get(each.aspect, ()), *(normalise_heading(name)[0] for name in each.headings))
    return found


def with_known_headings(document: Document, aspects: Mapping[str, str]) -> Document:
    """Return a document whose headings in other languages are replaced by the aspect they name.

    Args:
        document: The document.
        aspects: The aspect that each heading names, by its normal form.
    """
    passages = [
        replace(passage, heading=aspects.get(normalise_heading(passage.heading)[0], passage.heading))
        if passage.heading.strip()
        else passage
        for passage in document.passages
    ]
    return replace(document, passages=tuple(passages))
