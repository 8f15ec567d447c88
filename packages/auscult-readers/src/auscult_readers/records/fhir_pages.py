"""Pages in HTML of the words of FHIR resources.

A passage must be shown in a form that people can read, and the JSON of a bundle is not. A resource is therefore turned
into a page: its title, the titles and XHTML of its sections, and lines for its fields. The document is read from this
page, and the page is kept as its original.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from auscult.readers.contract import UnreadableError
from auscult.readers.flow import has_words
from auscult_readers.records.fhir_resources import (
    PEOPLE,
    Fields,
    Find,
    Resource,
    look_from,
    narrative_of,
    plain_text,
)
from auscult_readers.records.fhir_words import answers_of, apart, name_of, plain_of, sentences_of, words_of

_DEEPEST: Final = 30
_LOWEST: Final = 6
_MOST_LINES: Final = 20


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
            self._text(narrative_of(resource))
        self._lines("", answers_of(resource.values.get("item"), look_from(self._find, resource)))
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
        if len(resources) == 1 and narrative_of(resources[0][0]):
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
        narrative = narrative_of(section)
        self._text(narrative)
        self._entries(self._members(section.each("entry"), holder))
        if not narrative and (reason := words_of(section.values.get("emptyReason"), look_from(self._find, holder))):
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
            look = look_from(self._find, resource)
            if narrative := narrative_of(resource):
                self._lines("", [resource.state(self._find)])
                if not self._says(plain_text(narrative)):
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
        said = sentences_of(resource.values, look_from(self._find, resource))
        self._lines(heading, (f"{label}: {words}" for label, words in said if not self._says(words)))

    def _says(self, text: str) -> bool:
        """Whether the page has these words one after the other."""
        self._said = ["".join(self._said)]
        return apart(text) in self._said[0]

    def _text(self, narrative: str) -> None:
        if narrative:
            self._parts.append(f"{narrative}\n")
            self._said.append(apart(plain_text(narrative))[1:])
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
