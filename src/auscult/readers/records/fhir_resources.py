"""Thin models of the FHIR R4 resources that hold text, and their narrative as a page.

Fields are looked up by path and are empty where they are missing or of another type than FHIR's. Exports have both, and
a field that is not there is no reason to lose the text beside it.

A highlight has to go back to what a person can read, which a bundle's JSON is not. So a narrative is made a page (its
title, its sections' titles, and their XHTML as it stands there), which the document is read from and which is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from typing import Any, Final

from auscult.concepts.identifiers import normalise_identifiers
from auscult.readers.contract import UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.flow import Facts, has_words
from auscult.readers.records.attachments import Attachment

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
PEOPLE: Final = ("Patient", "Practitioner", "RelatedPerson")
"""Resources of people, whose names the documents about them or by them keep."""


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
        return "entered-in-error" in (self.text("status"), self.text("docStatus"))

    def concept(self, name: str) -> str:
        """What a coded field says in words."""
        return self.text(name, "text") or self.text(name, "coding", "display")

    def reference(self, *path: str) -> str:
        """Who or what a reference is to, as it is displayed, else its address."""
        return self.text(*path, "display") or self.text(*path, "reference")

    def codes(self, name: str) -> tuple[str, ...]:
        """The codes of a coded field, of systems that have a prefix."""
        codings = list(self.each(name, "coding"))
        named = [f"{_SYSTEMS.get(coding.text('system'), '')}:{coding.text('code')}" for coding in codings]
        return normalise_identifiers([each for each in named if not each.startswith(":") and not each.endswith(":")])

    def person(self) -> str:
        """The name of a patient or a practitioner: the official one, else the first; empty where there is none."""
        names = sorted(self.each("name"), key=lambda name: name.text("use") != "official")
        written = (
            name.text("text") or " ".join((*name.texts("prefix"), *name.texts("given"), *name.texts("family")))
            for name in names
        )
        return next(filter(None, written), "")[:_LONGEST]

    def facts(self, people: Mapping[str, str]) -> Facts:
        """What it says of itself.

        Args:
            people: Names of patients and practitioners of the same file, by what references call them.
        """
        title = self.text("title") or self.text("description") if self.kind != "DiagnosticReport" else ""
        dates = (
            ("date",),
            ("effectiveDateTime",),
            ("effectivePeriod", "start"),
            ("context", "period", "start"),
            ("issued",),
        )
        authors = [who for field in ("author", "performer") for who in self.each(field)]
        told = {
            "patient": self.text("subject", "reference") or self.text("subject", "identifier", "value"),
            "date": next(filter(None, (iso_date(self.text(*path)) for path in dates)), ""),
            "type": self.concept("type") or self.concept("code"),
            "category": self.concept("category"),
            "status": self.text("docStatus") or self.text("status"),
            "author": "; ".join(dict.fromkeys(who.text("display") or who.text("reference") for who in authors)),
            "encounter": self.text("encounter", "reference") or self.text("context", "encounter", "reference"),
            "language": self.text("language"),
        }
        return Facts(
            title=(title or told["type"])[:_LONGEST],
            source=self.text("custodian", "display")[:_LONGEST],
            entity_ids=self.codes("conclusionCode"),
            names=[
                (people.get(who.text("reference"), "") or who.text("display"))[:_LONGEST]
                for who in (*self.each("subject"), *authors)
            ],
            metadata={name: value[:_LONGEST] for name, value in told.items() if value},
        )


def attachment_of(holder: Fields, binaries: Mapping[str, Resource]) -> Attachment:
    """An attachment; one whose address is a `Binary` of the same file has its data.

    Args:
        holder: The attachment's fields.
        binaries: The file's `Binary` resources by each name that they have.
    """
    url, data, media_type = holder.text("url"), holder.text("data"), holder.text("contentType")
    if not data and (binary := binaries.get(url)) is not None:
        data, media_type = binary.text("data"), media_type or binary.text("contentType")
    return Attachment(media_type=media_type, data=data, url=url, title=holder.text("title"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_DEEPEST: Final = 30
_LOWEST: Final = 6
_TAG: Final = re.compile(r"<[^<>]*+>")


def narrative_page(resource: Resource, title: str) -> bytes:
    """A page of what a resource says in words, in UTF-8; empty where it says nothing.

    Args:
        resource: A `Composition`, whose sections are read, or else its narrative; or a `DiagnosticReport`, whose
            narrative and conclusion are.
        title: Of the page.

    Raises:
        UnreadableError: Sections are nested more than 30 deep.
    """
    sections = [part for section in resource.each("section") for part in _section(section, 1)]
    # Titles alone, as of sections that are given in codes, are no text.
    if any(is_text for _, is_text in sections):
        parts = [part for part, _ in sections]
    else:
        parts = [narrative] if (narrative := _narrative(resource)) else []
    if resource.kind == "DiagnosticReport" and (conclusion := resource.text("conclusion")):
        paragraphs = "".join(
            f"<p>{escape(line, quote=False)}</p>\n" for line in conclusion.splitlines() if line.strip()
        )
        parts.append(f"<h2>Conclusion</h2>\n{paragraphs}")
    if not parts:
        return b""
    named = escape(title, quote=False)
    head = f'<head><meta charset="utf-8"/><title>{named}</title></head>'
    heading = f"<h1>{named}</h1>\n" if title else ""
    page = f'<html xmlns="http://www.w3.org/1999/xhtml">{head}\n<body>\n{heading}{"".join(parts)}</body></html>\n'
    # JSON may escape half a character; a page has none.
    return page.encode("utf-8", "replace")


def _section(section: Fields, depth: int) -> list[tuple[str, bool]]:
    """The title and the text of a section and of those inside it; and of each, whether it is text."""
    if depth > _DEEPEST:
        raise UnreadableError(
            "deep nesting", f"sections nested at most {_DEEPEST} deep", "deeper ones", "leave the resource out"
        )
    level = min(depth + 1, _LOWEST)
    title = section.text("title") or section.text("code", "text") or section.text("code", "coding", "display")
    parts = [(f"<h{level}>{escape(title, quote=False)}</h{level}>\n", False)] if title else []
    if narrative := _narrative(section):
        parts.append((f"{narrative}\n", True))
    return [*parts, *(part for each in section.each("section") for part in _section(each, depth + 1))]


def _narrative(holder: Fields) -> str:
    """The XHTML of what a resource or a section says, if it has words."""
    div = holder.text("text", "div")
    return div if has_words(unescape(_TAG.sub(" ", div))) else ""
