"""Remove from documents what identifies people, before anything is stored.

A `Deidentifier` finds ranges of text. They are replaced, and sections are adjusted. The original file and all metadata
but a few fields are dropped. No program finds everything: read a sample before you rely on it.

Packages add de-identifiers by entry points of the group `auscult.deidentifiers`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, runtime_checkable

from auscult.documents.document import Section
from auscult.errors import ConfigError
from auscult.extensions import entries, load
from auscult.readers.contract import DraftDocument
from auscult.readers.elsewhere import PACKAGE

KEPT = ("language", "format", "access")
"""Fields of the metadata that are kept, since they say nothing about a person."""
_SHORTEST = 4
_GROUP: Final = "auscult.deidentifiers"


@runtime_checkable
class Deidentifier(Protocol):
    """Finds what identifies people in a text.

    Attributes:
        name: Stored with the documents. Files are read again when the name changes.
    """

    name: str

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Return half-open ranges of the text, in any order, each with its replacement ("<NAME>")."""
        ...


def open_deidentifier(named: str) -> Deidentifier:
    """Open a de-identifier by its name.

    Args:
        named: "presidio" (patterns for numbers, addresses and dates, and names after titles and labels),
            "presidio:PIPELINE" (also the names that a spaCy pipeline finds), one that another package registers as
            "NAME" or "NAME:WORDS" (its entry point is called with the words), or your own as "module:object".

    Raises:
        ConfigError: There is no de-identifier with this name.
        MissingExtraError: Its package is not installed.
    """
    module, _, attribute = named.partition(":")
    expected = "a de-identifier: presidio, presidio:PIPELINE, or module:object"
    if module in entries(_GROUP):
        made = load(_GROUP, module)(attribute)
    elif module == "presidio":
        remedy = f"documents are de-identified by {PACKAGE}: pip install {PACKAGE}"
        raise ConfigError("a package with the de-identifier 'presidio'", "an installation without it", remedy)
    elif not attribute:
        raise ConfigError(expected, repr(named), "name one of them")
    else:
        try:
            found: Any = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise ConfigError(expected, f"'{named}' ({error})", "correct the name, or install the module") from error
        made = found() if isinstance(found, type) else found
    if not isinstance(made, Deidentifier):
        raise ConfigError("an object with `name` and `find(text)`", f"'{named}', which has not both", "give it them")
    return made


@dataclass(frozen=True, slots=True)
class _Replaced:
    """A text, and ranges to replace in it, in order and without overlaps."""

    text: str
    ranges: Sequence[tuple[int, int, str]]

    @property
    def result(self) -> str:
        parts, at = [], 0
        for start, end, instead in self.ranges:
            parts += [self.text[at:start], instead]
            at = end
        return "".join((*parts, self.text[at:]))

    def place(self, offset: int) -> int:
        """Return the offset in the result for an offset in the text; inside of a range, the end of its replacement."""
        number = bisect_left([start for start, _, _ in self.ranges], offset)
        shift = sum(len(instead) - (end - start) for start, end, instead in self.ranges[:number])
        if number and offset < (last := self.ranges[number - 1])[1]:
            return last[1] + shift
        return offset + shift


def deidentified(draft: DraftDocument, deidentifier: Deidentifier) -> DraftDocument:
    """Return a draft without what identifies people, and without its original.

    Args:
        draft: The draft of a reader.
        deidentifier: Finds the ranges to replace.
    """
    ranges = list(deidentifier.find(draft.text))
    # A name that was found once, such as after "Patient:", is replaced everywhere.
    replacements = {draft.text[start:end].strip(): instead for start, end, instead in ranges}
    replacements |= {draft.title[start:end].strip(): instead for start, end, instead in deidentifier.find(draft.title)}
    known = {words: instead for words, instead in replacements.items() if len(words) >= _SHORTEST}

    def clean(text: str) -> str:
        return _merge_ranges(text, [*deidentifier.find(text), *_find_known(text, known)]).result

    whole = _merge_ranges(draft.text, [*ranges, *_find_known(draft.text, known)])
    text = whole.result
    sections = []
    for section in draft.sections:
        begin = section.start or 0
        start, end = whole.place(begin), whole.place(begin + len(section.text))
        path = tuple(map(clean, section.above))
        sections.append(Section(clean(section.heading), text[start:end], start=start, above=path))
    metadata = {name: value for name, value in draft.metadata.items() if name in KEPT}
    return DraftDocument(
        text=text,
        sections=sections,
        title=clean(draft.title),
        key=draft.key,
        heading_paths=[tuple(map(clean, path)) for path in draft.heading_paths],
        media_type=draft.media_type,
        source=clean(draft.source),
        entity_ids=draft.entity_ids,
        metadata=metadata,
        remarks=draft.remarks,
    )


def _find_known(text: str, known: dict[str, str]) -> list[tuple[int, int, str]]:
    """Return the ranges of known words in a text, whole words only, with their replacements."""
    if not known:
        return []
    longest_first = sorted(known, key=lambda each: (-len(each), each))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")
    return [(match.start(), match.end(), known[match[0]]) for match in pattern.finditer(text)]


def _merge_ranges(text: str, ranges: Iterable[tuple[int, int, str]]) -> _Replaced:
    """Put ranges in order. Overlapping ones become one range with the replacement of the first."""
    joined: list[tuple[int, int, str]] = []
    for start, end, instead in sorted(ranges):
        start, end = max(0, start), min(end, len(text))
        if joined and start < joined[-1][1]:
            first, last, words = joined[-1]
            joined[-1] = (first, max(last, end), words)
        elif start < end:
            joined.append((start, end, instead))
    return _Replaced(text, joined)
