"""FHIR R4 as JSON: texts of `DocumentReference`, `Composition`, `DiagnosticReport`, in bundles, alone or one a line.

Attachments are read by the reader of their type, from the data in the file; what is only named by an address is not
fetched, and told. Other resources hold no texts; they are counted. What a lenient parser of JSON lets pass in silence
(a key twice, NaN, nesting without end) is refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

from auscult.files.json_text import nested_more_than
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.decoding import decoded
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult.readers.records.attachments import read_attachment
from auscult.readers.records.fhir_resources import PEOPLE, Fields, Resource, attachment_of, narrative_page

_DEEPEST: Final = 200
_REMEDY: Final = "export the file again"


def strict_json(text: str) -> Any:
    """The value that a text is.

    Args:
        text: JSON.

    Raises:
        UnreadableError: It is no JSON, an object has a key twice, or it is nested more than 200 deep.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _broken(f"{error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        # A number of thousands of digits.
        raise _broken("a number that is too long") from error
    if nested_more_than(_DEEPEST, value):
        raise _too_deep()
    return value


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Which one is not told: what a broken file has for a key may be a patient's.
        raise UnreadableError("key twice", "JSON whose keys stand once", "a key twice in one object", _REMEDY)
    return found


def _constant(name: str) -> NoReturn:
    raise _broken(f"{name}, which JSON does not have")


def _broken(got: str) -> UnreadableError:
    return UnreadableError("broken JSON", "JSON", got, _REMEDY)


def _too_deep() -> UnreadableError:
    return UnreadableError("deep nesting", f"JSON nested at most {_DEEPEST} deep", "deeper nesting", "leave it out")


Problems = list[tuple[str, UnreadableError]]
"""What could not be read: where it stands, and why."""


def resources_of(text: str, lines: bool, problems: Problems) -> Iterator[Resource]:
    """Every resource of a file but bundles, in order, numbered from 1.

    Args:
        text: Of the file.
        lines: Whether it is called a file of lines. One that is not may still be: its first line is an object.
        problems: Lines that are no resource are told here.

    Raises:
        UnreadableError: It is neither JSON nor lines of JSON.
    """
    number = 0
    for where, value in _objects(text, lines, problems):
        held = [Resource(value)]
        while held:
            resource = held.pop()
            if resource.kind == "Bundle":
                inner = [
                    Resource(dict(each.values), full_url=entry.text("fullUrl"))
                    for entry in resource.each("entry")
                    for each in entry.each("resource")
                ]
                held += reversed(inner)
            elif resource.kind:
                number += 1
                yield replace(resource, number=number)
            else:
                problems.append((where, _no_resource("none")))


def _objects(text: str, lines: bool, problems: Problems) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of a file, and where each stands."""
    if not lines:
        try:
            value = strict_json(text)
        except UnreadableError:
            if not _is_object(text.lstrip().partition("\n")[0]):
                raise
        else:
            if isinstance(value, dict):
                yield "the file", value
            return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = strict_json(line)
        except UnreadableError as problem:
            problems.append((f"line {number}", problem))
            continue
        if isinstance(value, dict):
            yield f"line {number}", value
        else:
            problems.append((f"line {number}", _no_resource("another value")))


def _no_resource(got: str) -> UnreadableError:
    return UnreadableError("no resource", "a resource with its type", got, "leave it out, or export it again")


def _is_object(line: str) -> bool:
    try:
        return isinstance(strict_json(line), dict)
    except UnreadableError:
        return False


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
        self._people: dict[str, str] = {}
        for resource in self._resources:
            for reference in filter(None, (resource.key, resource.full_url)):
                if resource.kind == "Binary":
                    self._binaries[reference] = resource
                elif resource.kind in PEOPLE:
                    self._people[reference] = resource.person()

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
        facts = resource.facts(self._people)
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
                        metadata={**draft.metadata, **facts.fields()},
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
