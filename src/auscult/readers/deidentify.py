"""Remove from documents what identifies people, before anything is stored.

A `Deidentifier` finds ranges of text. They are replaced, and sections are adjusted. The original file and all metadata
but a few fields are dropped. No program finds everything: read a sample before you rely on it.

Presidio finds numbers, addresses and dates by patterns, without a model. Names are found after a title ("Dr. Weber") or
label ("Patient: Anna Weber"), and then everywhere in the document. A spaCy pipeline finds further names.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from auscult.documents.building import Section
from auscult.errors import ConfigError, naming_extra
from auscult.readers.contract import DraftDocument

KEPT = ("language", "format", "access")
"""Fields of the metadata that are kept, since they say nothing about a person."""
_SHORTEST = 4


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
            "presidio:PIPELINE" (also the names that a spaCy pipeline finds), or your own as "module:object".

    Raises:
        ConfigError: There is no de-identifier with this name.
        MissingExtraError: Its package is not installed.
    """
    module, _, attribute = named.partition(":")
    if module == "presidio":
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
    """Return the ranges of known words in a text, whole words only, with their replacements."""
    if not known:
        return []
    longest_first = sorted(known, key=lambda each: (-len(each), each))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")
    return [(match.start(), match.end(), known[match[0]]) for match in pattern.finditer(text)]


def _replaced(text: str, ranges: Iterable[tuple[int, int, str]]) -> _Replaced:
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


#: Presidio's weakest patterns take any number of nine digits for an identity card.
_SURE = 0.4
_PERSON, _DATE, _ID, _CONTACT, _PLACE = "<NAME>", "<DATE>", "<ID>", "<CONTACT>", "<PLACE>"
_PRESIDIO = {
    "PhoneRecognizer": _CONTACT,
    "IpRecognizer": _CONTACT,
    "IbanRecognizer": _ID,
    "CreditCardRecognizer": _ID,
    "UsSsnRecognizer": _ID,
    "NhsRecognizer": _ID,
    "MedicalLicenseRecognizer": _ID,
    "DateRecognizer": _DATE,
}
_REGIONS = ("US", "GB", "DE", "AT", "CH", "FR", "ES", "IT", "NL")
# Kinds of entities as pipelines call them.
_KINDS = {"PERSON": _PERSON, "PER": _PERSON, "GPE": _PLACE, "LOC": _PLACE, "FAC": _PLACE, "DATE": _DATE}
_TITLE = r"(?:Mrs|Mr|Ms|Miss|Dr|Prof|Herr|Herrn|Frau|Sr|Sra|Mme|Mlle|M)\.?"
_LABEL = (
    r"(?:(?:Patient|Name|Surname|First name|Last name|Attending|Physician|Dictated by|Signed|Contact|Next of kin)\b"
    r"[^\S\n]*:)"
)
_WORD = r"[^\W\d_a-zà-ÿ][\w'’-]+"
_BEFORE = r"(?:(?:van|von|de|der|den|la|di|bin|al)[^\S\n]+)*"
_NAME = rf"{_BEFORE}{_WORD}(?:,?[^\S\n]+{_BEFORE}{_WORD}|[^\S\n]+[A-Z]\.){{0,3}}"
_MONTH = (
    r"(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|Aug(?:ust)?"
    r"|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)\.?"
)
# Of each pattern the last group is what is hidden.
_OWN = (
    (rf"(?<!\w){_TITLE}[^\S\n]+(?:{_TITLE}[^\S\n]+)*({_NAME})", _PERSON),
    (rf"(?<!\w){_LABEL}[^\S\n]*(?:{_TITLE}[^\S\n]+)*({_NAME})", _PERSON),
    (rf"(?<!\w)(\d{{1,2}}(?:st|nd|rd|th|\.)?[^\S\n]+(?:of[^\S\n]+)?{_MONTH}(?:,?[^\S\n]+\d{{4}})?)(?!\w)", _DATE),
    (rf"(?<!\w)({_MONTH}[^\S\n]+\d{{1,2}}(?:st|nd|rd|th)?(?:,?[^\S\n]+\d{{4}})?)(?!\w)", _DATE),
    (r"(?<![\w/])((?:\d{4}|\d{1,2})[./-]\d{1,2}[./-](?:\d{4}|\d{2}))(?![\w/])", _DATE),
    (r"([\w.+-]+@[\w-]+(?:\.[\w-]+)+)", _CONTACT),
    (r"(?<!\w)((?:https?://|www\.)\S+)", _CONTACT),
    (
        r"(?i:\b(?:MRN|medical record(?: number| no\.?)?|patient id|case (?:number|no\.?)|account(?: number| no\.?)?|"
        r"hospital (?:number|no\.?)|fallnummer|id)\b)[^\S\n]*[:#]?[^\S\n]*(\w*\d[\w-]{3,})",
        _ID,
    ),
)


class PresidioDeidentifier:
    """Finds names, contacts, dates and numbers.

    Args:
        pipeline: Of spaCy, whose persons, places and dates are found too; none where empty.

    Raises:
        MissingExtraError: Presidio, or spaCy, is not installed.
        ModelError: There is no such pipeline.
    """

    def __init__(self, pipeline: str = "") -> None:
        with naming_extra("deidentify", "presidio_analyzer"):
            from presidio_analyzer import predefined_recognizers
        self.name = f"presidio:{pipeline}" if pipeline else "presidio"
        self._recognizers: list[tuple[Any, str]] = []
        for each, instead in _PRESIDIO.items():
            made = getattr(predefined_recognizers, each)
            given = {"supported_regions": _REGIONS} if each == "PhoneRecognizer" else {}
            self._recognizers.append((made(**given), instead))
        self._own = [(re.compile(pattern), instead) for pattern, instead in _OWN]
        self._pipeline = None
        if pipeline:
            # Imported when first used, as it loads all back ends of recognition.
            from auscult.concepts.recognition.spacy_pipeline import SpacyRecognizer

            self._pipeline = SpacyRecognizer(pipeline)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Ranges, and what kind of thing was there."""
        names: list[str] = []
        for start, end, instead in self._ranges(text):
            yield start, end, instead
            if instead == _PERSON:
                names.append(text[start:end])
        # A person who was named in full is called by a part of the name later on.
        words = {word for name in names for word in re.findall(_WORD, name)}
        parts = {part for word in words for part in (word, *word.split("-")) if len(part) > 2}
        if parts:
            longest_first = sorted(parts, key=lambda part: (-len(part), part))
            pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"
            yield from ((match.start(), match.end(), _PERSON) for match in re.finditer(pattern, text))

    def _ranges(self, text: str) -> Iterator[tuple[int, int, str]]:
        for pattern, instead in self._own:
            yield from ((*match.span(1), instead) for match in pattern.finditer(text))
        for recognizer, instead in self._recognizers:
            for found in recognizer.analyze(text, recognizer.supported_entities, None):
                if found.score >= _SURE:
                    yield found.start, found.end, instead
        if self._pipeline is not None:
            for entity in self._pipeline.recognise(text):
                if entity.kind in _KINDS:
                    yield entity.start, entity.end, _KINDS[entity.kind]
