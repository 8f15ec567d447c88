"""Taking out of documents what tells who they are about, before anything of them is stored.

A `Deidentifier` finds stretches of text; here they are replaced, and sections keep their places. What else would tell
is not kept: the original, titles of files, metadata but for a few fields. No program finds all of it: whoever needs to
be sure reads a sample.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from auscult.documents.building import Section
from auscult.errors import ConfigError
from auscult.readers.contract import DraftDocument

KEPT = ("language", "format", "access")
"""Fields of the metadata that say nothing of a person."""
_SHORTEST = 4


@runtime_checkable
class Deidentifier(Protocol):
    """Finds what tells who a text is about.

    Attributes:
        name: Told in what is kept of how documents were read; another name reads them again.
    """

    name: str

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Half-open ranges of the text, in any order, each with what is put in its place ("<NAME>")."""
        ...


def open_deidentifier(named: str) -> Deidentifier:
    """A de-identifier by its name.

    Args:
        named: "presidio" (patterns: numbers, addresses, dates, and names behind titles and labels),
            "presidio:PIPELINE" (with the names that a spaCy pipeline finds), or "module:object" of one's own.

    Raises:
        ConfigError: There is none of that name.
        MissingExtraError: Its package is not installed.
    """
    module, _, attribute = named.partition(":")
    if module == "presidio":
        from auscult.readers.presidio import PresidioDeidentifier

        return PresidioDeidentifier(attribute)
    expected = "a de-identifier: presidio, presidio:PIPELINE, or module:object"
    if not attribute:
        raise ConfigError(expected, repr(named), "name one of them")
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
    """A text with ranges of it replaced, in order and apart from each other."""

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
        """Where a character of the text is in the result; behind what was put in its place, where it is gone."""
        number = bisect_left([start for start, _, _ in self.ranges], offset)
        shift = sum(len(instead) - (end - start) for start, end, instead in self.ranges[:number])
        if number and offset < (last := self.ranges[number - 1])[1]:
            return last[1] + shift
        return offset + shift


def deidentified(draft: DraftDocument, deidentifier: Deidentifier) -> DraftDocument:
    """A draft without what tells who it is about, and without its original.

    Args:
        draft: As a reader made it.
        deidentifier: Finds the stretches.
    """
    ranges = list(deidentifier.find(draft.text))
    # What was found once is hidden wherever it stands: a name behind "Patient:" comes again without.
    told = {draft.text[start:end].strip(): instead for start, end, instead in ranges}
    told |= {draft.title[start:end].strip(): instead for start, end, instead in deidentifier.find(draft.title)}
    known = {each: instead for each, instead in told.items() if len(each) >= _SHORTEST}

    def clean(text: str) -> str:
        return _replaced(text, [*deidentifier.find(text), *_again(text, known)]).result

    whole = _replaced(draft.text, [*ranges, *_again(draft.text, known)])
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


def _again(text: str, known: dict[str, str]) -> list[tuple[int, int, str]]:
    """Where what is known stands in a text, as whole words."""
    if not known:
        return []
    longest_first = sorted(known, key=lambda each: (-len(each), each))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")
    return [(match.start(), match.end(), known[match[0]]) for match in pattern.finditer(text)]


def _replaced(text: str, ranges: Iterable[tuple[int, int, str]]) -> _Replaced:
    """Ranges in order; of those that overlap one, as long as all of them, in the words of the first."""
    joined: list[tuple[int, int, str]] = []
    for start, end, instead in sorted(ranges):
        start, end = max(0, start), min(end, len(text))
        if joined and start < joined[-1][1]:
            first, last, words = joined[-1]
            joined[-1] = (first, max(last, end), words)
        elif start < end:
            joined.append((start, end, instead))
    return _Replaced(text, joined)


__all__ = ["KEPT", "Deidentifier", "deidentified", "open_deidentifier"]
