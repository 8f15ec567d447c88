"""Thin models of FHIR resources.

Fields are looked up by path. A field that is missing or has the wrong type is empty: exports have both, and the text in
other fields is still useful.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from auscult.concepts.identifiers import normalise_identifiers
from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts
from auscult.readers.flow import has_words
from auscult_readers.records.attachments import Attachment
from auscult_readers.records.fhir_states import state_of
from auscult_readers.records.fhir_words import (
    Look,
    name_of,
    statement_of,
    words_of,
)

_ID: Final = re.compile(r"[A-Za-z0-9.-]{1,64}")
# Prefixes in `Document.entity_ids`, by the system of a code.
_SYSTEMS: Final = {
    "http://snomed.info/sct": "SNOMED",
    "http://hl7.org/fhir/sid/icd-10": "ICD10",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD10",
    "http://loinc.org": "LOINC",
    "http://www.nlm.nih.gov/research/umls": "UMLS",
}
_LONGEST: Final = 500
# In order of preference: the time that a resource is about comes before the time it was recorded.
_DATES: Final = (
    ("date",), ("effectiveDateTime",), ("performedDateTime",), ("occurrenceDateTime",), ("onsetDateTime",),
    ("authored",), ("authoredOn",), ("issued",), ("recordedDate",), ("assertedDate",), ("created",), ("sent",),
    ("effectivePeriod", "start"), ("context", "period", "start"), ("performedPeriod", "start"),
    ("occurrencePeriod", "start"), ("period", "start"),
)  # fmt: skip
_STATES: Final = (
    ("status",), ("docStatus",), ("lifecycleStatus",), ("verificationStatus",),
    ("verificationStatus", "coding", "code"),
)  # fmt: skip
Find = Callable[[str, "Resource"], "Resource | None"]
"""Returns the resource that a reference in another resource names; None if it is not in the file."""
# Kinds whose pages include other resources, or whose attachments are the text.
TEXTS: Final = ("Composition", "DiagnosticReport", "DocumentReference")
PEOPLE: Final = ("Patient", "Practitioner", "RelatedPerson")
"""Kinds of people. Documents about or by them have their names as metadata."""


@dataclass(frozen=True, slots=True)
class Person:
    """The patient or author of a record.

    Attributes:
        name: Official name, or else the first one; "" if there is none.
        record_number: Number of a patient's record, which other systems use, too; "" if there is none.
    """

    name: str
    record_number: str = ""


NOBODY: Final = Person("")
"""A person whom the file does not describe."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object and its fields by path."""

    values: Mapping[str, Any]

    def text(self, *path: str) -> str:
        """Return the first string at a path; lists on the way are searched. "" if there is none."""
        if len(path) == 1:
            value = self.values.get(path[0])
            if value is None or isinstance(value, str):
                return value.strip() if value else ""
        return next(self.texts(*path), "")

    def texts(self, *path: str) -> Iterator[str]:
        """Yield all strings at a path, without white space at their ends."""
        *above, last = path
        for holder in self.each(*above) if above else (self,):
            for value in _listed(holder.values.get(last)):
                if isinstance(value, str) and value.strip():
                    yield value.strip()

    def each(self, *path: str) -> Iterator[Fields]:
        """Yield all objects at a path."""
        first, *rest = path
        for value in _listed(self.values.get(first)):
            if isinstance(value, dict):
                yield from Fields(value).each(*rest) if rest else (Fields(value),)


@dataclass(frozen=True, slots=True)
class Resource(Fields):
    """A resource.

    Attributes:
        number: Position in the file, from 1.
        full_url: Address that its bundle gives it.
    """

    number: int = 1
    full_url: str = ""

    @property
    def kind(self) -> str:
        """Resource type; "" for an object that is no resource."""
        kind = self.text("resourceType")
        return kind if re.fullmatch(r"[A-Za-z]{1,64}", kind) else ""

    @property
    def key(self) -> str:
        """Type and id ("Composition/123"). Without an id: its address in the bundle, or its position."""
        own = self.text("id")
        if not _ID.fullmatch(own):
            own = self.full_url.rpartition("/")[2].removeprefix("urn:uuid:")
        return f"{self.kind}/{own if _ID.fullmatch(own) else self.number}"

    @property
    def in_error(self) -> bool:
        """Whether it was entered in error."""
        return any("entered-in-error" in self.texts(*path) for path in _STATES if path[0] in self.values)

    @property
    def patient(self) -> str:
        """Reference to its patient, or the patient's number; "" if it has neither."""
        paths = (("subject", "reference"), ("patient", "reference"), ("subject", "identifier", "value"))
        return next(filter(None, (self.text(*path) for path in paths)), "")

    @property
    def date(self) -> str:
        """Time that it is about, or else the time it was recorded; "" if it has neither."""
        written = (self.text(*path) for path in _DATES if path[0] in self.values)
        return next(filter(None, map(iso_date, filter(None, written))), "")

    @property
    def is_text(self) -> bool:
        """Whether it becomes a document: it has sections, a narrative of some length, results or answers."""
        told = any(self.values.get(name) for name in ("section", "item", "conclusion", "result"))
        return (
            told
            or len(plain_text(narrative_of(self)).split()) > _SHORT
            or (self.kind in TEXTS and bool(narrative_of(self)))
        )

    def state(self, find: Find) -> str:
        """Return what turns its meaning around, with its name ("Refuted: Gout"); "" if nothing does."""
        look = look_from(find, self)
        state = state_of(self.values, lambda value: words_of(value, look))
        return ": ".join(filter(None, (state, name_of(self.values, look)[1]))) if state else ""

    def statement(self, find: Find) -> str:
        """Return its fields as one line; "" if none of them says what it is about."""
        return statement_of(self.values, look_from(find, self), " ".join(plain_text(narrative_of(self)).split()))

    def concept(self, name: str) -> str:
        """Return the words of a coded field."""
        return self.text(name, "text") or self.text(name, "coding", "display")

    def codes(self, name: str) -> tuple[str, ...]:
        """Return the codes of a coded field whose systems have a prefix."""
        codings = list(self.each(name, "coding"))
        named = [f"{_SYSTEMS.get(coding.text('system'), '')}:{coding.text('code')}" for coding in codings]
        return normalise_identifiers([each for each in named if not each.startswith(":") and not each.endswith(":")])

    def person(self) -> Person:
        """Return the person that a resource of a patient, practitioner or relative describes."""
        names = sorted(self.each("name"), key=lambda name: name.text("use") != "official")
        written = (
            name.text("text") or " ".join((*name.texts("prefix"), *name.texts("given"), *name.texts("family")))
            for name in names
        )
        # Numbers of passports, insurances and licences are not record numbers.
        numbers = (
            each.text("value")
            for each in self.each("identifier")
            if "MR" in each.texts("type", "coding", "code") and each.text("use") != "old"
        )
        return Person(
            next(filter(None, written), "")[:_LONGEST],
            next(filter(None, numbers), "")[:_LONGEST] if self.kind == "Patient" else "",
        )

    def facts(self, people: Mapping[str, Person]) -> Facts:
        """Return its facts: title, metadata and codes.

        Args:
            people: Patients and practitioners of the same file, by reference. The metadata has a patient's record
                number, if there is one, and not the reference: messages and letters use that number, too.
        """
        subject = people.get(self.patient, NOBODY)
        title = self.text("title") or self.text("description") if self.kind != "DiagnosticReport" else ""
        authors = [who for field in ("author", "performer") for who in self.each(field)]
        metadata = {
            "patient": subject.record_number or self.patient,
            "date": self.date,
            "type": self.concept("type") or self.concept("code") or self.concept("vaccineCode"),
            "category": self.concept("category"),
            "status": self.text("docStatus") or self.text("status"),
            "author": "; ".join(dict.fromkeys(who.text("display") or who.text("reference") for who in authors)),
            "encounter": self.text("encounter", "reference") or self.text("context", "encounter", "reference"),
            "language": self.text("language"),
        }
        return Facts(
            title=(title or metadata["type"])[:_LONGEST],
            source=self.text("custodian", "display")[:_LONGEST],
            entity_ids=self.codes("conclusionCode"),
            names=[
                (people.get(who.text("reference"), NOBODY).name or who.text("display"))[:_LONGEST]
                for who in (*self.each("subject"), *self.each("patient"), *authors)
            ],
            metadata={name: value[:_LONGEST] for name, value in metadata.items() if value},
        )


def attachment_of(holder: Fields, binaries: Mapping[str, Resource]) -> Attachment:
    """Return an attachment. If its address is a `Binary` in the same file, it gets the data of that.

    Args:
        holder: Fields of the attachment.
        binaries: Resources of the file by key and by address.
    """
    url, data, media_type = holder.text("url"), holder.text("data"), holder.text("contentType")
    binary = binaries.get(url)
    if not data and binary is not None and binary.kind == "Binary":
        data, media_type = binary.text("data"), media_type or binary.text("contentType")
    return Attachment(media_type=media_type, data=data, url=url, title=holder.text("title"))


_ATTACHMENTS: Final = re.compile(r"presentedForm|\w*[aA]ttachment")


def attachments_in(value: Any, name: str = "") -> Iterator[Fields]:
    """Yield all attachments in the fields of a resource, except in contained resources and extensions."""
    for inner_value in _listed(value):
        if isinstance(inner_value, dict):
            if name and ("contentType" in inner_value or _ATTACHMENTS.fullmatch(name)):
                yield Fields(inner_value)
            else:
                for key, inner in inner_value.items():
                    has_fields = isinstance(inner, dict | list)
                    if has_fields and key not in ("contained", "extension", "modifierExtension", "text"):
                        yield from attachments_in(inner, key)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


#: Words of a narrative, up to which it is only a line of the patient's record. Programs write such ones from fields.
_SHORT: Final = 40
_TAG: Final = re.compile(r"<[^<>]*+>")


def look_from(find: Find, holder: Resource) -> Look:
    """Return a function that finds the fields of what a resource names, except of people."""

    def look(reference: str) -> Mapping[str, Any] | None:
        found = find(reference, holder)
        return found.values if found and found.kind not in PEOPLE else None

    return Look(look)


def plain_text(page: str) -> str:
    """Return the words of a page without its tags."""
    return unescape(_TAG.sub(" ", page))


def narrative_of(holder: Fields) -> str:
    """Return the narrative of a resource or section as XHTML; "" if it has no words."""
    div = holder.text("text", "div")
    return div if div and has_words(plain_text(div)) else ""
