"""Drafts from finished flows: one heading is the title, and the others begin sections.

A clinical note gets the sections of notes (`with_note_headings`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from auscult.documents.document import Section
from auscult.documents.language import reading_language
from auscult.documents.note_headings import note_sections
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.flow import Flow, Heading, has_words
from auscult.readers.tables import BETWEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts that a source states about itself. Missing ones are empty.

    Attributes:
        title: Title.
        source: Publisher.
        url: Address of the original, which is never fetched.
        entity_ids: Codes of what it is about.
        names: Names of patients and authors, as people write them.
        metadata: Further fields; dates are in ISO 8601.
    """

    title: str = ""
    source: str = ""
    url: str = ""
    entity_ids: Sequence[str] = ()
    names: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> dict[str, str]:
        """Return the metadata with `names`, one name per line."""
        names = "\n".join(dict.fromkeys(filter(None, (" ".join(each.split()) for each in self.names))))
        return {**self.metadata, **({"names": names} if names else {})}


def draft_of(
    flow: Flow,
    facts: Facts,
    *,
    media_type: str,
    encoding: str,
    told_first: bool = False,
    without: Callable[[str], bool] | None = None,
    divided: bool = False,
) -> DraftDocument:
    """Return the draft of a finished flow.

    Its title is a heading of the first level other than the publisher's name. A heading that contains the title in
    `facts`, or is contained in it, comes first. Otherwise it is the only such heading, unless `told_first`; or, if
    `facts` has no title, the first one. The section of that heading has no heading, and it is in no path. Without such
    a heading, the title is that of `facts`.

    Args:
        flow: All words.
        facts: Facts of the source.
        media_type: Media type of the source.
        encoding: Encoding of the source.
        told_first: Whether the title in `facts` is the author's (front matter) and not that of a window.
        without: Returns whether a heading without words below it is no passage. Default: each is a passage.
        divided: Whether the source marks all of its headings, so that the text is not searched for others.

    Raises:
        UnreadableError: The flow has no words.
    """
    text = flow.text
    if not has_words(text):
        raise UnreadableError(
            "empty file", "a file with words to read", "one without", "check that it holds what it should"
        )
    left_out = [
        f"{number:,} {'word' if number == 1 else 'words'} ({why})" for why, number in flow.left_out.items() if number
    ]
    title = _find_title(flow.headings, facts, told_first)
    sections, paths = flow.sections(title, without)
    if not sections:
        sections, paths = flow.sections(title)
    if not divided:
        sections, paths = with_note_headings(text, sections, paths, title.text if title else "")
    return DraftDocument(
        text=text,
        sections=sections,
        title=title.text if title else facts.title,
        heading_paths=paths if any(paths) else (),
        media_type=media_type,
        encoding=encoding,
        runs=flow.runs,
        source=facts.source,
        url=facts.url,
        entity_ids=tuple(facts.entity_ids),
        metadata=facts.fields(),
        remarks=(f"left out: {', '.join(left_out)}",) if left_out else (),
    )


_PLAIN: Final = re.compile(r"[\W_]+")
_BEFORE_ITEM: Final = re.compile(r"\n\n(?=[ \t]*\(?\d{1,2}[.)][ \t])")
_LETTER_OR_COLON: Final = re.compile(r"[^\W\d_]|:")
_LABELLED: Final = re.compile(r"^([^:\n]{1,80}):.*$", re.MULTILINE)
# So many headings of notes tell a note, whatever headings of another kind stand in it.
_FEWEST_OF_NOTE: Final = 4


def with_note_headings(
    text: str,
    sections: Sequence[Section],
    paths: Sequence[tuple[str, ...]],
    title: str = "",
    no_headings: Sequence[tuple[int, int]] = (),
) -> tuple[list[Section], list[tuple[str, ...]]]:
    """Return the sections of a document. If it is a clinical note, they begin at the headings of notes.

    The same note has the same sections in every format. A document without headings of its own is divided as plain
    text is, and so is one that has only headings of notes and at least two more in its text. If it has other headings
    and many more of notes in its text, its sections are divided.

    Args:
        text: The whole text.
        sections: Sections between the document's own headings, each with its `start`.
        paths: Per section, the headings above its own.
        title: Heading that is the title and has no section.
        no_headings: Ranges of the text without headings of notes, such as a running head.
    """
    sought = text
    # With "x" for its letters and colons, no heading is found in a range.
    for start, end in no_headings:
        sought = f"{sought[:start]}{_LETTER_OR_COLON.sub('x', sought[start:end])}{sought[end:]}"
    language = reading_language(text)
    noted = _note_sections(text, sought, language)
    named = [_PLAIN.sub(" ", section.heading).strip().casefold() for section in noted if section.heading]
    known = set(named)
    own = {
        _PLAIN.sub(" ", name).strip().casefold()
        for section, path in zip(sections, paths, strict=True)
        for name in (section.heading, *path)
    }
    own.discard("")
    if len(known) < len(own) + (2 if own else 1):
        return list(sections), list(paths)
    if own <= known:
        # A title that is no heading of a note is no text of it either.
        first = noted[0]
        lead = len(title) if title and not first.heading and first.text.startswith(title) else 0
        rest = first.text[lead:]
        start = (first.start or 0) + lead + len(rest) - len(rest.lstrip())
        begin = [replace(first, text=rest.lstrip(), start=start)] if has_words(rest) else []
        found = [*begin, *noted[1:]]
        return found, [()] * len(found)
    if len(known) < max(_FEWEST_OF_NOTE, 2 * len(own)):
        return list(sections), list(paths)
    divided: list[Section] = []
    above: list[tuple[str, ...]] = []
    for section, path in zip(sections, paths, strict=True):
        at = section.start or 0
        for note_section in _note_sections(section.text, sought[at : at + len(section.text)], language):
            inner = bool(note_section.heading and section.heading)
            above.append((*path, section.heading) if inner else path)
            heading = note_section.heading or section.heading
            divided.append(replace(note_section, heading=heading, start=at + (note_section.start or 0)))
    return divided, above


def _note_sections(text: str, sought: str, language: str) -> list[Section]:
    """Return the sections of a note that may have tables and empty lines between all paragraphs.

    A list item after an empty line is no heading, and neither is the label of a column.

    Args:
        text: The note.
        sought: The note as headings are sought in it, of the same length.
        language: Code of its language.
    """
    rows = [line.split(BETWEEN) for line in text.split("\n") if BETWEEN in line]
    labels = {cell.partition(":")[0] for row in rows for cell in row if ":" in cell}
    sought = _LABELLED.sub(lambda row: row[0].replace(":", ";") if row[1] in labels else row[0], sought)
    found = note_sections(_BEFORE_ITEM.sub(" \n", sought), language=language)
    return [replace(each, text=text[each.start or 0 : (each.start or 0) + len(each.text)]) for each in found]


def _find_title(headings: Sequence[Heading], facts: Facts, told_first: bool) -> Heading | None:
    title, publisher = facts.title.casefold(), facts.source.casefold()
    # Some sites have their name as a heading on every page.
    first = [each for each in headings if each.level == 1 and not (title and each.text.casefold() == publisher)]
    for heading in first if title else ():
        named = heading.text.casefold()
        if named in title or title in named:
            return heading
    if not first or (title and (told_first or len(first) > 1)):
        return None
    return first[0]
