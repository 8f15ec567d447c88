"""Remove soft hyphens from the text of a draft, so that a word is found as without them.

A soft hyphen (U+00AD) says where a word may be divided at the end of a line. It is not shown anywhere else, and no name
of a medicine has one. Positions in the source stay right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents.original import RUN
from auscult.readers.contract import DraftDocument

# A soft hyphen, with the line break at which it divides a word, and the word joiner, which forbids a break.
_REMOVED: Final = re.compile("\u00ad(?:[ \t]*\r?\n[ \t]*(?=[^\\W\\d_]))?|\u2060")
_SIGNS: Final = "\u00ad\u2060"


def without_soft_hyphens(draft: DraftDocument) -> DraftDocument:
    """Return a draft without soft hyphens in its text, headings and title.

    Args:
        draft: The draft of a reader. It is returned itself if its text has none.
    """
    if not any(sign in draft.text for sign in _SIGNS):
        return draft
    found = [*_REMOVED.finditer(draft.text)]
    removed = np.concatenate([np.arange(each.start(), each.end()) for each in found])
    text = _REMOVED.sub("", draft.text)

    def shifted(places: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return np.asarray(places, np.int64) - np.searchsorted(removed, places)

    sections = []
    for section in draft.sections:
        begin = section.start or 0
        start, end = shifted([begin, begin + len(section.text)]).tolist()
        above = tuple(map(_remove_hyphens, section.above))
        sections.append(
            replace(section, heading=_remove_hyphens(section.heading), text=text[start:end], start=start, above=above)
        )
    runs = np.array([*_divide_runs(draft.runs, removed)], RUN)
    words = draft.words.copy()
    for positions in (runs, words):
        positions["start"], positions["end"] = shifted(positions["start"]), shifted(positions["end"])
    return replace(
        draft,
        text=text,
        sections=sections,
        title=_remove_hyphens(draft.title),
        heading_paths=[tuple(map(_remove_hyphens, path)) for path in draft.heading_paths],
        runs=runs[runs["start"] < runs["end"]],
        words=words,
    )


def _remove_hyphens(text: str) -> str:
    return _REMOVED.sub("", text)


def _divide_runs(runs: npt.NDArray[Any], removed: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield runs that begin and end where characters are removed. A run that cannot be divided stays whole."""
    firsts, lasts = (np.searchsorted(removed, runs[name]).tolist() for name in ("start", "end"))
    for (start, end, source_start, source_end), first, last in zip(runs.tolist(), firsts, lasts, strict=True):
        at = start
        if first < last and end - start == source_end - source_start:
            for place in removed[first:last].tolist():
                yield at, place, source_start + at - start, source_start + place - start
                at = place + 1
        yield at, end, source_start + at - start, source_end
