"""Thin models of FHIR resources, and what they say in words as a page.

Fields are looked up by path and are empty where they are missing or of another type than FHIR's. Exports have both, and
a field that is not there is no reason to lose the text beside it.

A highlight has to go back to what a person can read, which a bundle's JSON is not. So a resource is made a page (its
title, its sections' titles, their XHTML as it stands there, and lines of what is told in fields), which the document is
read from and which is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import Any, Final

from auscult.concepts.identifiers import normalise_identifiers
from auscult.readers.contract import UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.flow import Facts, has_words
from auscult.readers.records.attachments import Attachment
from auscult.readers.records.fhir_words import (
    Look,
    answers_of,
    apart,
    name_of,
    plain_of,
    sentences_of,
    statement_of,
    words_of,
)

_ID: Final = re.compile(r"[A-Za-z0-9.-]{1,64}")
# Prefixes of codes by their system, as in `Document.entity_ids`.
_SYSTEMS: Final = {
    "http://snomed.info/sct": "SNOMED",
    "http://hl7.org/fhir/sid/icd-10": "ICD10",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD10",
    "http://loinc.org": "LOINC",
    "http://www.nlm.nih.gov/research/umls": "UMLS",
}
_LONGEST: Final = 500
# The first that is there: when it was so, before when it was written down.
_DATES: Final = (
    "date", "effectiveDateTime", "performedDateTime", "occurrenceDateTime", "onsetDateTime", "authored", "authoredOn",
    "issued", "recordedDate", "assertedDate", "created", "sent",
)  # fmt: skip
_PERIODS: Final = (
    ("effectivePeriod",),
    ("context", "period"),
    ("performedPeriod",),
    ("occurrencePeriod",),
    ("period",),
)
Find = Callable[[str, "Resource"], "Resource | None"]
"""Finds the resource that a reference in another is to; None where the file does not have it."""
# Kinds whose pages tell others, or whose attachments are the text.
TEXTS: Final = ("Composition", "DiagnosticReport", "DocumentReference")
PEOPLE: Final = ("Patient", "Practitioner", "RelatedPerson")
"""Resources of people, whose names the documents about them or by them keep."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who a record is about or by.

    Attributes:
        name: The official name, else the first; empty where there is none.
        record_number: Of a patient, the number that other systems know them by; empty where there is none.
    """

    name: str
    record_number: str = ""


NOBODY: Final = Person("")
"""Stands for whom the file does not describe."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object and its fields by path."""

    values: Mapping[str, Any]

    def text(self, *path: str) -> str:
        """A string; of a list on the way, the first that is one. Empty where there is none."""
        return next(self.texts(*path), "")

    def texts(self, *path: str) -> Iterator[str]:
        """All strings that a path leads to, with white space stripped."""
        *above, last = path
        for holder in self.each(*above) if above else (self,):
            for value in _listed(holder.values.get(last)):
                if isinstance(value, str) and value.strip():
                    yield value.strip()

    def each(self, *path: str) -> Iterator[Fields]:
        """All objects that a path leads to."""
        first, *rest = path
        for value in _listed(self.values.get(first)):
            if isinstance(value, dict):
                yield from Fields(value).each(*rest) if rest else (Fields(value),)


@dataclass(frozen=True, slots=True)
class Resource(Fields):
    """A resource.

    Attributes:
        number: Its place in the file, from 1.
        full_url: As its bundle names it.
    """

    number: int = 1
    full_url: str = ""

    @property
    def kind(self) -> str:
        """Its type; empty for what is none."""
        kind = self.text("resourceType")
        return kind if re.fullmatch(r"[A-Za-z]{1,64}", kind) else ""

    @property
    def key(self) -> str:
        """Type and id ("Composition/123"); of one without an id, what its bundle calls it, or its place."""
        own = self.text("id")
        if not _ID.fullmatch(own):
            own = self.full_url.rpartition("/")[2].removeprefix("urn:uuid:")
        return f"{self.kind}/{own if _ID.fullmatch(own) else self.number}"

    @property
    def in_error(self) -> bool:
        """Whether its author took it back."""
        states = (("status",), ("docStatus",), ("verificationStatus",), ("verificationStatus", "coding", "code"))
        return any("entered-in-error" in self.texts(*path) for path in states)

    @property
    def patient(self) -> str:
        """Who it is about, as a reference or a number; empty where it does not say."""
        paths = (("subject", "reference"), ("patient", "reference"), ("subject", "identifier", "value"))
        return next(filter(None, (self.text(*path) for path in paths)), "")

    @property
    def date(self) -> str:
        """When it was so, else when it was written; empty where it does not say."""
        paths = (*((field,) for field in _DATES), *((*field, "start") for field in _PERIODS))
        return next(filter(None, (iso_date(self.text(*path)) for path in paths)), "")

    @property
    def is_text(self) -> bool:
        """Whether it is a document of its own: with sections, a narrative of some length, results or answers."""
        told = any(self.values.get(name) for name in ("section", "item", "conclusion", "result"))
        return told or len(_plain(_narrative(self)).split()) > _SHORT or (self.kind in TEXTS and bool(_narrative(self)))

    def statement(self, find: Find) -> str:
        """What it says, as a line; empty where it does not say what it is of."""
        return statement_of(self.values, _look(find, self), " ".join(_plain(_narrative(self)).split()))

    def concept(self, name: str) -> str:
        """What a coded field says in words."""
        return self.text(name, "text") or self.text(name, "coding", "display")

    def codes(self, name: str) -> tuple[str, ...]:
        """The codes of a coded field, of systems that have a prefix."""
        codings = list(self.each(name, "coding"))
        named = [f"{_SYSTEMS.get(coding.text('system'), '')}:{coding.text('code')}" for coding in codings]
        return normalise_identifiers([each for each in named if not each.startswith(":") and not each.endswith(":")])

    def person(self) -> Person:
        """Who this is; of a patient, a practitioner or a relative."""
        names = sorted(self.each("name"), key=lambda name: name.text("use") != "official")
        written = (
            name.text("text") or " ".join((*name.texts("prefix"), *name.texts("given"), *name.texts("family")))
            for name in names
        )
        # Of the numbers of a passport, an insurance or a licence none is a record's.
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
        """What it says of itself.

        Args:
            people: Patients and practitioners of the same file, by what references call them. A patient of a record
                number is called by that, as messages and letters call them, and not by a server's reference.
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
    """An attachment; one whose address is a `Binary` of the same file has its data.

    Args:
        holder: The attachment's fields.
        binaries: The file's resources by each name that they have.
    """
    url, data, media_type = holder.text("url"), holder.text("data"), holder.text("contentType")
    binary = binaries.get(url)
    if not data and binary is not None and binary.kind == "Binary":
        data, media_type = binary.text("data"), media_type or binary.text("contentType")
    return Attachment(media_type=media_type, data=data, url=url, title=holder.text("title"))


_ATTACHMENTS: Final = re.compile(r"presentedForm|\w*[aA]ttachment")


def attachments_in(value: Any, name: str = "") -> Iterator[Fields]:
    """All attachments of a resource, wherever they stand, but those of resources inside it and of extensions."""
    for inner_value in _listed(value):
        if isinstance(inner_value, dict):
            if name and ("contentType" in inner_value or _ATTACHMENTS.fullmatch(name)):
                yield Fields(inner_value)
            else:
                for key, inner in inner_value.items():
                    if key not in ("contained", "extension", "modifierExtension", "text"):
                        yield from attachments_in(inner, key)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_DEEPEST: Final = 30
_LOWEST: Final = 6
_MOST_LINES: Final = 20
#: Words of a narrative that is a line of its patient's record, as programs make them of fields.
_SHORT: Final = 40
_TAG: Final = re.compile(r"<[^<>]*+>")


class Page:
    """A page of what a resource says in words.

    Args:
        title: Of the page.
        find: Finds the resource that a reference in another is to.
    """

    def __init__(self, title: str, find: Find) -> None:
        self.told: set[int] = set()
        """Numbers of other resources that the page tells, too."""
        self._title = title
        self._find = find
        self._parts: list[str] = []
        # Words of the page's texts, one blank between them, so that what is said already is not said again.
        self._said = [apart(title)]
        self._has_text = False

    def content(self) -> bytes:
        """The page in UTF-8; empty where it says nothing."""
        # Titles alone, as of sections that are given in codes, are no text.
        if not self._has_text:
            return b""
        named = escape(self._title, quote=False)
        head = f'<head><meta charset="utf-8"/><title>{named}</title></head>'
        heading = f"<h1>{named}</h1>\n" if self._title else ""
        body = "".join(self._parts)
        page = f'<html xmlns="http://www.w3.org/1999/xhtml">{head}\n<body>\n{heading}{body}</body></html>\n'
        # JSON may escape half a character; a page has none.
        return page.encode("utf-8", "replace")

    def add(self, resource: Resource) -> None:
        """Add a resource that is a document of its own.

        Its sections are read, or else its narrative; the questions of a form; a report's conclusion and results; and
        what people wrote in other fields.

        Raises:
            UnreadableError: Sections are nested more than 30 deep.
        """
        for section in resource.each("section"):
            self._section(section, resource, 1)
        if not self._has_text:
            self._parts.clear()
            self._text(_narrative(resource))
        self._lines("", answers_of(resource.values.get("item"), _look(self._find, resource)))
        self._sentences(resource, "Note" if resource.kind == "Composition" else "")
        if resource.kind == "DiagnosticReport":
            self._lines("Conclusion", resource.text("conclusion").splitlines())
            before = len(self._parts)
            self._entries(self._members(resource.each("result"), resource))
            if len(self._parts) > before:
                self._parts.insert(before, "<h2>Results</h2>\n")

    def add_records(self, resources: Sequence[tuple[Resource, str]]) -> None:
        """Add resources that say little but in fields by their kinds; a single one by its narrative.

        Args:
            resources: Each with its statement.
        """
        if len(resources) == 1 and _narrative(resources[0][0]):
            self.add(resources[0][0])
            return
        by_kind: dict[str, list[tuple[Resource, str]]] = {}
        for resource, statement in resources:
            by_kind.setdefault(resource.kind, []).append((resource, statement))
        for kind, members in by_kind.items():
            by_year: dict[str, list[str]] = {}
            for resource, statement in members:
                # A section of hundreds of lines answers nothing.
                year = resource.date[:4] if len(members) > _MOST_LINES else ""
                by_year.setdefault(year, []).append(statement)
            self._parts.append(f"<h2>{plain_of(kind)}</h2>\n")
            for year, lines in sorted(by_year.items()):
                self._lines(year, lines, level=3)

    def _section(self, section: Fields, holder: Resource, depth: int) -> None:
        """Add the title and the text of a section and of those inside it; without a text, that of its entries."""
        if depth > _DEEPEST:
            raise UnreadableError(
                "deep nesting", f"sections nested at most {_DEEPEST} deep", "deeper ones", "leave the resource out"
            )
        level = min(depth + 1, _LOWEST)
        title = section.text("title") or section.text("code", "text") or section.text("code", "coding", "display")
        if title:
            self._parts.append(f"<h{level}>{escape(title, quote=False)}</h{level}>\n")
        narrative = _narrative(section)
        self._text(narrative)
        self._entries(self._members(section.each("entry"), holder))
        if not narrative and (reason := words_of(section.values.get("emptyReason"), _look(self._find, holder))):
            self._lines("", [reason])
        for each in section.each("section"):
            self._section(each, holder, depth + 1)

    def _members(self, references: Iterable[Fields], holder: Resource) -> list[Resource]:
        """The resources that references are to, each followed by those that it groups; each once."""
        members: dict[int, Resource] = {}
        waiting = [(each, holder) for each in references][::-1]
        while waiting:
            reference, above = waiting.pop()
            each = self._find(reference.text("reference"), above)
            if each is not None and not each.in_error and each.kind not in PEOPLE and each.number not in members:
                members[each.number] = each
                inner = [member for name in ("result", "hasMember") for member in each.each(name)]
                waiting += [(member, each) for member in reversed(inner)]
        return list(members.values())

    def _entries(self, resources: Iterable[Resource]) -> None:
        """Add resources that are told in another one: what the page does not say yet."""
        for resource in resources:
            if resource.number in self.told:
                continue
            self.told.add(resource.number)
            look = _look(self._find, resource)
            if narrative := _narrative(resource):
                if not self._says(_plain(narrative)):
                    self._text(narrative)
                self._sentences(resource)
            else:
                name = name_of(resource.values, look)[1]
                value = next((words for label, words in sentences_of(resource.values, look) if label == "Value"), "")
                if self._says(f"{name} {value}"):
                    self._sentences(resource)
                else:
                    self._lines("", [resource.statement(self._find)])
                self._lines("", resource.text("conclusion").splitlines())

    def _sentences(self, resource: Resource, heading: str = "") -> None:
        said = sentences_of(resource.values, _look(self._find, resource))
        self._lines(heading, (f"{label}: {words}" for label, words in said if not self._says(words)))

    def _says(self, text: str) -> bool:
        """Whether these words stand on the page one after the other."""
        self._said = ["".join(self._said)]
        return apart(text) in self._said[0]

    def _text(self, narrative: str) -> None:
        if narrative:
            self._parts.append(f"{narrative}\n")
            self._said.append(apart(_plain(narrative))[1:])
            self._has_text = True

    def _lines(self, heading: str, lines: Iterable[str], level: int = 2) -> None:
        for line in lines:
            if has_words(line):
                if heading:
                    self._parts.append(f"<h{level}>{escape(heading, quote=False)}</h{level}>\n")
                    heading = ""
                self._parts.append(f"<p>{escape(line.strip(), quote=False)}</p>\n")
                self._said.append(apart(line)[1:])
                self._has_text = True


def _look(find: Find, holder: Resource) -> Look:
    def look(reference: str) -> Mapping[str, Any] | None:
        found = find(reference, holder)
        return found.values if found and found.kind not in PEOPLE else None

    return look


def _plain(page: str) -> str:
    return unescape(_TAG.sub(" ", page))


def _narrative(holder: Fields) -> str:
    """The XHTML of what a resource or a section says, if it has words."""
    div = holder.text("text", "div")
    return div if has_words(_plain(div)) else ""
