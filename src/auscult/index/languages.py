"""Languages of documents and passages: detected when they are indexed, and kept with the derived data of a segment.

    languages    for each passage: the number of its language in the note `languages`, from 1; 0 where it is not sure

A segment of 0.1.0 has no such array: its languages are not known. The language of a document is that of most of its
characters in passages whose language is sure. A passage has that of its document, unless it is surely in another one
and long enough: words of an English note look like any language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.documents.language import LONG_ENOUGH, SURELY, detect_language
from auscult.documents.language_names import ENGLISH
from auscult.index.blocks import BlockFile, BlockWriter

LANGUAGE: Final = "language"
"""The field with the language of a document, where its metadata does not say another."""
_ARRAY: Final = "languages"
_LEAST_SHARE: Final = 0.01


def detect_languages(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the language of a document and that of each passage, by their codes; empty where it is not sure.

    Args:
        texts: The texts of its passages.
    """
    found = [*map(detect_language, texts)]
    sizes: Counter[str] = Counter()
    for code, text in zip(found, texts, strict=True):
        sizes[code] += len(text)
    del sizes[""]
    whole = max(sizes, key=sizes.__getitem__) if sizes else detect_language(" ".join(texts))
    return whole, [
        code if code != whole and _is_surely_another(code, text) else whole
        for code, text in zip(found, texts, strict=True)
    ]


def _is_surely_another(code: str, text: str) -> bool:
    return len(text) >= LONG_ENOUGH and detect_language(text, SURELY) == code != ""


def write_languages(writer: BlockWriter, codes: Sequence[str]) -> list[str]:
    """Write the languages of passages to a segment.

    Args:
        writer: Writer of the segment.
        codes: The code of each passage; empty where it is not sure.

    Returns:
        The note: the codes in the order of their numbers.
    """
    names = sorted({*codes} - {""})
    numbers = {"": 0, **{code: number for number, code in enumerate(names, 1)}}
    writer.add(_ARRAY, np.array([numbers[code] for code in codes], np.uint8), "u1")
    return names


def read_languages(file: BlockFile) -> list[str]:
    """Return the language of each passage of a segment, by its code; empty for all where they are not known."""
    if _ARRAY not in file:
        return [""] * file.length("sentences")
    names = ["", *file.notes[_ARRAY]]
    return [names[number] for number in file.array(_ARRAY).tolist()]


class Languages:
    """Languages of the passages of an index.

    Args:
        files: Its segments.
    """

    def __init__(self, files: Iterable[BlockFile]) -> None:
        files = [*files]
        names: list[str] = ["", *sorted({code for file in files if _ARRAY in file for code in file.notes[_ARRAY]})]
        places = {code: place for place, code in enumerate(names)}
        parts = [np.zeros(0, np.uint8)]
        for file in files:
            if _ARRAY in file:
                own = np.array([0, *(places[code] for code in file.notes[_ARRAY])], np.uint8)
                parts.append(own[file.array(_ARRAY)])
            else:
                parts.append(np.zeros(file.length("sentences"), np.uint8))
        self._names = names
        self._numbers: npt.NDArray[np.uint8] = np.concatenate(parts)

    @cached_property
    def read(self) -> tuple[str, ...]:
        """Codes of the languages that questions are read for, the most frequent first; English where none is known.

        In fewer than one passage of a hundred, a language is mostly a mistake of the classifier.
        """
        counts = np.bincount(self._numbers, minlength=len(self._names))
        order = np.argsort(-counts, kind="stable").tolist()
        least = _LEAST_SHARE * len(self._numbers)
        return tuple(self._names[place] for place in order if place and counts[place] >= max(1, least)) or (ENGLISH,)

    def of(self, row: int) -> str:
        """Return the code of a passage's language; empty where it is not sure, or not known."""
        return self._names[int(self._numbers[row])]

    def most(self, rows: npt.NDArray[np.integer]) -> str:
        """Return the language of more than half of some passages, not counting those that are not sure; else empty."""
        counts = np.bincount(self._numbers[rows], minlength=len(self._names))[1:]
        return self._names[int(counts.argmax()) + 1] if 2 * counts.max(initial=0) > counts.sum() else ""
