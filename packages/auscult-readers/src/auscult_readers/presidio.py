"""De-identification with Presidio.

Presidio finds numbers, addresses and dates by patterns, without a model. Names are found after a title ("Dr. Weber") or
label ("Patient: Anna Weber"), and then everywhere in the document. A spaCy pipeline finds further names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from auscult.extensions import load_from
from auscult.telemetry import naming_extra

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
# The last group of a pattern is what is replaced.
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
        ConfigError: No package that opens pipelines is installed.
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
            self._pipeline = load_from("auscult", "auscult.tasks", "recognise-names", "names are recognised")(pipeline)

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
