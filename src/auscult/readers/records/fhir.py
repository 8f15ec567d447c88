"""FHIR R4 as JSON: texts of `DocumentReference`, `Composition`, `DiagnosticReport`, in bundles, alone or one a line.

Attachments are read by the reader of their type, from the data in the file; what is only named by an address is not
fetched, and told. Other resources hold no texts; they are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.decoding import decoded
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult.readers.records.attachments import read_attachment
from auscult.readers.records.fhir_files import Problems, resources_of
from auscult.readers.records.fhir_pages import narrative_page
from auscult.readers.records.fhir_resources import Fields, Resource, attachment_of

_RESOURCE: Final = re.compile(rb'\s*\{.*?"resourceType"\s*:\s*"[A-Z]', re.DOTALL)
_LINES: Final = (".ndjson", ".jsonl")
_READ: Final = ("DocumentReference", "Composition", "DiagnosticReport")
_MOST_TOLD: Final = 20


class FhirReader:
    """Reads FHIR R4 as JSON."""

    name = "FHIR"
    suffixes = (".fhir", ".ndjson")

    def recognises(self, file: SourceFile) -> bool:
        """Whether its first object says what type of resource it is."""
        return _RESOURCE.match(file.head) is not None

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """A document for each text, with `ResourceType/id` as its key.

        What could not be read is told in the remarks of the first.

        Raises:
            UnreadableError: It is no JSON, or no text in it could be read.
        """
        reading = _Reading(file)
        drafts = reading.drafts()
        if not drafts:
            raise reading.first_problem()
        yield replace(drafts[0], remarks=(*drafts[0].remarks, *reading.remarks()))
        yield from drafts[1:]


class _Reading:
    """One file as it is read: what became documents, and what did not, and why."""

    def __init__(self, file: SourceFile) -> None:
        self._name = file.name
        self._problems: Problems = []
        self._others: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()
        text, _ = decoded(file.content)
        self._resources = list(resources_of(text, file.suffix in _LINES, self._problems))
        self._binaries: dict[str, Resource] = {}
        for binary in self._resources:
            if binary.kind == "Binary":
                self._binaries.update({binary.key: binary, binary.full_url or binary.key: binary})

    def drafts(self) -> list[DraftDocument]:
        """All documents."""
        found = []
        for resource in self._resources:
            if resource.kind not in _READ:
                if resource.kind != "Binary":
                    self._others[resource.kind] += 1
                continue
            for number, draft in enumerate(self._of(resource), start=1):
                key = resource.key if number == 1 else f"{resource.key}/{number}"
                self._keys[key] += 1
                times = self._keys[key]
                found.append(replace(draft, key=key if times == 1 else f"{key}~{times}"))
        return found

    def remarks(self) -> list[str]:
        """What was not read."""
        told = [f"{where} was not read: {problem}" for where, problem in self._problems]
        if len(told) > _MOST_TOLD:
            told[_MOST_TOLD:] = [f"{len(told) - _MOST_TOLD} more were not read"]
        others = ", ".join(f"{number} {kind}" for kind, number in self._others.most_common(_MOST_TOLD))
        return [*told, f"resources without texts: {others}"] if others else told

    def first_problem(self) -> UnreadableError:
        """Why there is no document."""
        if self._problems:
            return self._problems[0][1]
        kinds = ", ".join(kind for kind, _ in self._others.most_common(_MOST_TOLD))
        return UnreadableError(
            "no text", f"a {', '.join(_READ)} with text", f"only {kinds}" if kinds else "no resource", "leave it out"
        )

    def _of(self, resource: Resource) -> Iterator[DraftDocument]:
        if resource.in_error:
            self._miss(resource.key, "entered in error", "a resource that stands", "one that was entered in error")
            return
        facts = resource.facts()
        before = len(self._problems)
        made = False
        if resource.kind != "DocumentReference":
            try:
                page = narrative_page(resource, facts.title)
                if page:
                    draft = read_page(page, Care.INVISIBLE)
                    made = True
                    yield replace(
                        draft,
                        content=page,
                        title=facts.title or draft.title,
                        source=facts.source,
                        url="",
                        entity_ids=facts.entity_ids,
                        metadata={**draft.metadata, **facts.metadata},
                    )
            except UnreadableError as problem:
                self._problems.append((resource.key, problem))
        for held in self._attached(resource):
            # Several are the same text in several formats: the first that can be read is the document.
            try:
                drafts = list(read_attachment(attachment_of(held, self._binaries), facts, self._name))
            except UnreadableError as problem:
                self._problems.append((f"an attachment of {resource.key}", problem))
                continue
            made = True
            yield from drafts
            break
        if not made and len(self._problems) == before:
            self._miss(resource.key, "empty file", "a resource with text", "none")

    @staticmethod
    def _attached(resource: Resource) -> Iterator[Fields]:
        if resource.kind == "DocumentReference":
            yield from resource.each("content", "attachment")
        elif resource.kind == "DiagnosticReport":
            yield from resource.each("presentedForm")

    def _miss(self, where: str, kind: str, expected: str, got: str) -> None:
        self._problems.append((where, UnreadableError(kind, expected, got, "leave it out, or export it again")))


__all__ = ["FhirReader"]
