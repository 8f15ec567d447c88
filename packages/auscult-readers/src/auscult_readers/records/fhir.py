"""Reader of FHIR as JSON, of any version: the words of resources in bundles, alone, or one per line.

A resource with a narrative, sections, attachments or answers is a document. Resources with only fields or a line or two
(conditions, medicines and values of a patient) become one document per patient, with a line for each. Attachments in
the file are read by the reader of their type. An attachment of which the file has only an address is not fetched; a
remark names it. People, places, bills and definitions are counted and not read. JSON with repeated keys, NaN or very
deep nesting is refused; lenient parsers accept it without a message.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

from auscult.files.json_text import nested_more_than
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.decoding import decode_text
from auscult.readers.drafting import Facts
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult_readers.records.attachments import read_attachment
from auscult_readers.records.fhir_pages import Page
from auscult_readers.records.fhir_resources import PEOPLE, TEXTS, Resource, attachment_of, attachments_in
from auscult_readers.records.fhir_words import NOT_READ, plain_of

_DEEPEST: Final = 200
_REMEDY: Final = "export the file again"


def strict_json(text: str) -> Any:
    """Parse JSON strictly. Numbers with a decimal point or an exponent are strings, as FHIR forbids to round them.

    Raises:
        UnreadableError: The text is not JSON, an object has a key twice, or the nesting is deeper than 200.
    """
    try:
        # 0.000010 and 1.50 are read as written.
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=str)
    except json.JSONDecodeError as error:
        raise _broken(f"{error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        # Python refuses to parse numbers of thousands of digits.
        raise _broken("a number that is too long") from error
    if nested_more_than(_DEEPEST, value):
        raise _too_deep()
    return value


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        # The error does not name the key: in a broken file it may be data of a patient.
        raise UnreadableError("key twice", "JSON whose keys stand once", "a key twice in one object", _REMEDY)
    return fields


def _constant(name: str) -> NoReturn:
    raise _broken(f"{name}, which JSON does not have")


def _broken(got: str) -> UnreadableError:
    return UnreadableError("broken JSON", "JSON", got, _REMEDY)


def _too_deep() -> UnreadableError:
    return UnreadableError("deep nesting", f"JSON nested at most {_DEEPEST} deep", "deeper nesting", "leave it out")


Problems = list[tuple[str, UnreadableError]]
"""Parts of a file that could not be read: the place and the error."""


def resources_of(objects: Iterable[tuple[str, dict[str, Any]]], problems: Problems) -> Iterator[Resource]:
    """Yield the resources of a file in order, numbered from 1. Bundles are replaced by their resources.

    Args:
        objects: Objects of the file, each with its place.
        problems: Gets an entry for each object that is no resource.
    """
    number = 0
    for where, value in objects:
        waiting = [Resource(value)]
        while waiting:
            resource = waiting.pop()
            if resource.kind == "Bundle":
                inner = [
                    Resource(dict(each.values), full_url=entry.text("fullUrl"))
                    for entry in resource.each("entry")
                    for each in entry.each("resource")
                ]
                waiting += reversed(inner)
            elif resource.kind:
                number += 1
                yield replace(resource, number=number)
            else:
                problems.append((where, _no_resource("none")))


def _objects(text: str, lines: bool, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file, each with its place.

    Args:
        text: Text of the file.
        lines: Whether the file has a suffix of JSON lines. Without it, a file whose first line is an object has lines.
        problems: Gets an entry for each line that is no object.

    Raises:
        UnreadableError: The file is neither JSON nor JSON lines.
    """
    if not lines:
        try:
            value = strict_json(text)
        except UnreadableError:
            if not _is_object(text.lstrip().partition("\n")[0]):
                raise
        else:
            for number, each in enumerate(value if isinstance(value, list) else [value], start=1):
                if isinstance(each, dict):
                    yield f"object {number}", each
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


_RESOURCE: Final = re.compile(rb'\s*[\[{].*?"resourceType"\s*:\s*"[A-Z]', re.DOTALL)
_LINES: Final = (".ndjson", ".jsonl")
_JSON: Final = (".json", ".fhir", *_LINES)
_HEAD: Final = 4096
_MOST_TOLD: Final = 20


def is_fhir(content: bytes) -> bool:
    """Whether the first object of a JSON file has a FHIR resource type, which may be its last field."""
    if _RESOURCE.match(content[:_HEAD]):
        return True
    if not _RESOURCE.match(content):
        return False
    try:
        _, first = next(_objects(decode_text(content).text, False, []), ("", {}))
    except UnreadableError:
        return False
    return isinstance(first.get("resourceType"), str)


class FhirReader:
    """Reads FHIR as JSON."""

    name = "FHIR"
    suffixes = (".fhir", ".ndjson")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the beginning of the file has a resource type in its first object, or a JSON file has one later."""
        return _RESOURCE.match(file.head) is not None or (file.suffix in _JSON and is_fhir(file.content))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the documents. Their keys are `ResourceType/id`; the record of a patient adds "record" to that.

        Remarks of the first document name everything that could not be read.

        Raises:
            UnreadableError: The file is not JSON, or no text in it could be read.
        """
        text, _, remarks = decode_text(file.content)
        problems: Problems = []
        first, *others = read_resources(_objects(text, file.suffix in _LINES, problems), file.name, problems)
        yield replace(first, remarks=(*remarks, *first.remarks))
        yield from others


def read_resources(
    objects: Iterable[tuple[str, dict[str, Any]]], name: str, problems: Problems
) -> Iterator[DraftDocument]:
    """Yield the documents of resources and bundles.

    Args:
        objects: Objects of the file, each with its place.
        name: Name of the file.
        problems: Parts that could not be read. The remarks of the first document name them.

    Raises:
        UnreadableError: No text in the objects could be read.
    """
    reading = _Reading(objects, name, problems)
    drafts = reading.drafts()
    if not drafts:
        raise reading.first_problem()
    yield replace(drafts[0], remarks=(*drafts[0].remarks, *reading.remarks()))
    yield from drafts[1:]


class _Reading:
    """The reading of one file: its documents, and what could not be read."""

    def __init__(self, objects: Iterable[tuple[str, dict[str, Any]]], name: str, problems: Problems) -> None:
        self._name = name
        self._problems = problems
        self._others: Counter[str] = Counter()
        self._same: list[str] = []
        self._resources = list(resources_of(objects, problems))
        self._included: set[int] = set()
        # Contained resources that another one names, by the identity of their fields.
        self._looked_up: set[int] = set()
        self._named: set[int] = set()
        self._by_name: dict[str, Resource] = {}
        for resource in self._resources:
            for reference in filter(None, (resource.key, resource.full_url)):
                self._by_name.setdefault(reference, resource)
        self._people = {name: each.person() for name, each in self._by_name.items() if each.kind in PEOPLE}

    def drafts(self) -> list[DraftDocument]:
        """Return all documents in the order of their resources, records of patients last."""
        drafts_by_number: dict[int, list[tuple[str, DraftDocument]]] = {}
        rest: list[Resource] = []
        # Resources whose pages include others come first.
        for resource in sorted(self._resources, key=lambda each: each.kind not in TEXTS):
            if resource.kind in NOT_READ:
                if resource.kind != "Binary":
                    self._others[resource.kind] += 1
            elif resource.in_error:
                self._miss(resource.key, "entered in error", "a resource that stands", "one that was entered in error")
            elif resource.number not in self._included:
                before = len(self._problems)
                drafts = list(self._of(resource))
                drafts_by_number[resource.number] = [
                    (resource.key if number == 1 else f"{resource.key}/{number}", draft)
                    for number, draft in enumerate(drafts, start=1)
                ]
                is_silent = not drafts and len(self._problems) == before
                if resource.kind in ("Composition", "DocumentReference"):
                    if is_silent:
                        self._miss(resource.key, "empty file", "a resource with text", "none")
                elif is_silent or not resource.is_text:
                    rest.append(resource)
        keyed = [
            keyed_draft for resource in self._resources for keyed_draft in drafts_by_number.get(resource.number, ())
        ]
        keys: Counter[str] = Counter()
        named = []
        for key, draft in [
            *keyed,
            *self._records(rest, {number for number, drafts in drafts_by_number.items() if drafts}),
        ]:
            keys[key] += 1
            named.append(replace(draft, key=key if keys[key] == 1 else f"{key}~{keys[key]}"))
        return named

    def remarks(self) -> list[str]:
        """Return remarks on everything that was not read."""
        remarks = [f"{where} was not read: {problem}" for where, problem in self._problems]
        remarks += [f"an attachment of {key} was left out: another one says the same" for key in self._same]
        if len(remarks) > _MOST_TOLD:
            remarks[_MOST_TOLD:] = [f"{len(remarks) - _MOST_TOLD} more were not read"]
        others = ", ".join(
            f"{number} {kind}" for kind, number in (self._others + self._unnamed()).most_common(_MOST_TOLD)
        )
        return [*remarks, f"resources that are not read as texts: {others}"] if others else remarks

    def _unnamed(self) -> Counter[str]:
        """Return the number of contained resources that are not read since nothing names them, by kind."""
        contained = (Resource(each.values) for resource in self._resources for each in resource.each("contained"))
        return Counter(
            each.kind
            for each in contained
            if each.kind and each.kind not in NOT_READ and id(each.values) not in self._looked_up
        )

    def first_problem(self) -> UnreadableError:
        """Return the error for a file without documents."""
        if self._problems:
            return self._problems[0][1]
        kinds = ", ".join(kind for kind, _ in self._others.most_common(_MOST_TOLD))
        return UnreadableError("no text", "resources with text", f"only {kinds}" if kinds else "none", "leave it out")

    def _find(self, reference: str, holder: Resource) -> Resource | None:
        """Return the resource that a reference names, inside `holder` or in the file; the server does not matter."""
        if reference.startswith("#"):
            inner = next((each for each in holder.each("contained") if each.text("id") == reference[1:]), None)
            if inner is None:
                return None
            self._looked_up.add(id(inner.values))
            return Resource(inner.values, number=-id(inner.values))
        last = "/".join(reference.partition("/_history/")[0].split("/")[-2:])
        found = self._by_name.get(reference) or self._by_name.get(last)
        if found and found.kind == "Medication":
            self._named.add(found.number)
        return found

    def _of(self, resource: Resource) -> Iterator[DraftDocument]:
        """Yield the documents of a resource: its page and its attachments; none if it has only fields."""
        attachments = list(attachments_in(resource.values))
        is_page = resource.kind != "DocumentReference" and resource.is_text
        if not (is_page or attachments):
            return
        facts = resource.facts(self._people)
        if is_page:
            titled = facts if facts.title or resource.kind in TEXTS else replace(facts, title=plain_of(resource.kind))
            page = Page(titled.title, self._find)
            try:
                page.add(resource)
                yield from self._of_page(page, titled)
            except UnreadableError as problem:
                self._problems.append((resource.key, problem))
            self._included |= page.included
        read: list[tuple[DraftDocument, Counter[str]]] = []
        for attachment in attachments:
            try:
                drafts = list(read_attachment(attachment_of(attachment, self._by_name), facts, self._name))
            except UnreadableError as problem:
                self._problems.append((f"an attachment of {resource.key}", problem))
                continue
            # An attachment that repeats the words of another, in another format, is left out. An addendum is not.
            for draft in drafts:
                words = Counter(re.findall(r"\w+", draft.text.casefold()))
                if any(words <= others for _, others in read):
                    self._same.append(resource.key)
                else:
                    read.append((draft, words))
        yield from (draft for draft, _ in read)

    def _records(self, resources: list[Resource], read: set[int]) -> Iterator[tuple[str, DraftDocument]]:
        """Yield the key and document of each patient's record, made of resources that have only fields.

        Args:
            resources: The resources.
            read: Numbers of resources of which an attachment was read.
        """
        by_patient: dict[str, list[tuple[Resource, str]]] = {}
        # Write all statements first: a resource that one of them names needs no line of its own.
        for resource, statement in [(each, each.statement(self._find)) for each in resources]:
            if not statement:
                self._others[resource.kind] += resource.number not in read
            elif resource.number not in self._named:
                by_patient.setdefault(resource.patient, []).append((resource, statement))
        for patient, records in by_patient.items():
            first = records[0][0]
            facts = first.facts(self._people)
            if len(records) > 1:
                facts = Facts(
                    title="Clinical record" if patient else "Records",
                    names=facts.names[:1],
                    metadata={"patient": facts.metadata["patient"]} if patient else {},
                )
            page = Page(facts.title, self._find)
            page.add_records(records)
            for draft in self._of_page(page, facts):
                yield first.key if len(records) == 1 else f"{patient}/record".lstrip("/"), draft

    @staticmethod
    def _of_page(page: Page, facts: Facts) -> Iterator[DraftDocument]:
        if content := page.content():
            draft = read_page(content, Care.INVISIBLE)
            yield replace(
                draft,
                content=content,
                title=facts.title or draft.title,
                source=facts.source,
                url="",
                entity_ids=facts.entity_ids,
                metadata={**draft.metadata, **facts.fields()},
            )

    def _miss(self, where: str, kind: str, expected: str, got: str) -> None:
        self._problems.append((where, UnreadableError(kind, expected, got, "leave it out, or export it again")))
