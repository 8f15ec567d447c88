"""Thin models of FHIR resources, and pages in HTML of their words.

Fields are looked up by path. A field that is missing or has the wrong type is empty: exports have both, and the text in
other fields is still useful.

A passage must be shown in a form that people can read, and the JSON of a bundle is not. A resource is therefore turned
into a page: its title, the titles and XHTML of its sections, and lines for its fields. The document is read from this
page, and the page is kept as its original.
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
from auscult.readers.records.fhir_states import state_of
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
        states = (
            ("status",), ("docStatus",), ("lifecycleStatus",), ("verificationStatus",),
            ("verificationStatus", "coding", "code"),
        )  # fmt: skip
        return any("entered-in-error" in self.texts(*path) for path in states)

    @property
    def patient(self) -> str:
        """Reference to its patient, or the patient's number; "" if it has neither."""
        paths = (("subject", "reference"), ("patient", "reference"), ("subject", "identifier", "value"))
        return next(filter(None, (self.text(*path) for path in paths)), "")

    @property
    def date(self) -> str:
        """Time that it is about, or else the time it was recorded; "" if it has neither."""
        paths = (*((field,) for field in _DATES), *((*field, "start") for field in _PERIODS))
        return next(filter(None, (iso_date(self.text(*path)) for path in paths)), "")

    @property
    def is_text(self) -> bool:
        """Whether it becomes a document: it has sections, a narrative of some length, results or answers."""
        told = any(self.values.get(name) for name in ("section", "item", "conclusion", "result"))
        return told or len(_plain(_narrative(self)).split()) > _SHORT or (self.kind in TEXTS and bool(_narrative(self)))

    def state(self, find: Find) -> str:
        """Return what turns its meaning around, with its name ("Refuted: Gout"); "" if nothing does."""
        look = _look(find, self)
        state = state_of(self.values, lambda value: words_of(value, look))
        return ": ".join(filter(None, (state, name_of(self.values, look)[1]))) if state else ""

    def statement(self, find: Find) -> str:
        """Return its fields as one line; "" if none of them says what it is about."""
        return statement_of(self.values, _look(find, self), " ".join(_plain(_narrative(self)).split()))

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
                    if key not in ("contained", "extension", "modifierExtension", "text"):
                        yield from attachments_in(inner, key)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_DEEPEST: Final = 30
_LOWEST: Final = 6
_MOST_LINES: Final = 20
#: Words of a narrative, up to which it is only a line of the patient's record. Programs write such ones from fields.
_SHORT: Final = 40
_TAG: Final = re.compile(r"<[^<>]*+>")


class Page:
    """A page in HTML with the words of a resource.

    Args:
        title: Title of the page.
        find: Returns the resource that a reference names.
    """

    def __init__(self, title: str, find: Find) -> None:
        self.included: set[int] = set()
        """Numbers of other resources that the page includes."""
        self._title = title
        self._find = find
        self._parts: list[str] = []
        # Words of the page, separated by single blanks, to check whether the page has a text already.
        self._said = [apart(title)]
        self._has_text = False

    def content(self) -> bytes:
        """Return the page in UTF-8; empty if it has no text."""
        # Titles alone are no text. Sections with codes only have them.
        if not self._has_text:
            return b""
        named = escape(self._title, quote=False)
        head = f'<head><meta charset="utf-8"/><title>{named}</title></head>'
        heading = f"<h1>{named}</h1>\n" if self._title else ""
        body = "".join(self._parts)
        page = f'<html xmlns="http://www.w3.org/1999/xhtml">{head}\n<body>\n{heading}{body}</body></html>\n'
        # JSON may escape an unpaired surrogate, which UTF-8 cannot encode.
        return page.encode("utf-8", "replace")

    def add(self, resource: Resource) -> None:
        """Add a resource that becomes a document.

        The page gets its sections, or else its narrative; the questions and answers of a form; the conclusion and
        results of a report; and texts that people wrote in other fields.

        Raises:
            UnreadableError: Sections are nested more than 30 deep.
        """
        self._lines("", [state := resource.state(self._find)])
        self._has_text = False
        for section in resource.each("section"):
            self._section(section, resource, 1)
        if not self._has_text:
            del self._parts[bool(state) :]
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
        """Add resources with little text but fields, grouped by kind. A single one is added with its narrative.

        Args:
            resources: The resources, each with its statement.
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
                # A section of hundreds of lines is of no use as an answer.
                year = resource.date[:4] if len(members) > _MOST_LINES else ""
                by_year.setdefault(year, []).append(statement)
            self._parts.append(f"<h2>{plain_of(kind)}</h2>\n")
            for year, lines in sorted(by_year.items()):
                self._lines(year, lines, level=3)

    def _section(self, section: Fields, holder: Resource, depth: int) -> None:
        """Add the title and text of a section and its inner sections. Without a text, its entries are added."""
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
        """Return the resources that references name, each followed by the resources it groups, without repeats."""
        members: dict[int, Resource] = {}
        waiting = [(reference, holder) for reference in references][::-1]
        while waiting:
            reference, above = waiting.pop()
            member = self._find(reference.text("reference"), above)
            if (
                member is not None
                and not member.in_error
                and member.kind not in PEOPLE
                and member.number not in members
            ):
                members[member.number] = member
                inner = [grouped for name in ("result", "hasMember") for grouped in member.each(name)]
                waiting += [(grouped, member) for grouped in reversed(inner)]
        return list(members.values())

    def _entries(self, resources: Iterable[Resource]) -> None:
        """Add resources that another one includes, without texts that the page has already."""
        for resource in resources:
            if resource.number in self.included:
                continue
            self.included.add(resource.number)
            look = _look(self._find, resource)
            if narrative := _narrative(resource):
                self._lines("", [resource.state(self._find)])
                if not self._says(_plain(narrative)):
                    self._text(narrative)
                self._sentences(resource)
            else:
                name = name_of(resource.values, look)[1]
                value = next((words for label, words in sentences_of(resource.values, look) if label == "Value"), "")
                if self._says(f"{name} {value}"):
                    self._lines("", [resource.state(self._find)])
                    self._sentences(resource)
                else:
                    self._lines("", [resource.statement(self._find)])
                self._lines("", resource.text("conclusion").splitlines())

    def _sentences(self, resource: Resource, heading: str = "") -> None:
        said = sentences_of(resource.values, _look(self._find, resource))
        self._lines(heading, (f"{label}: {words}" for label, words in said if not self._says(words)))

    def _says(self, text: str) -> bool:
        """Whether the page has these words one after the other."""
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
    """Return the narrative of a resource or section as XHTML; "" if it has no words."""
    div = holder.text("text", "div")
    return div if has_words(_plain(div)) else ""
