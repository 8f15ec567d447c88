"""FHIR of any version as JSON: what its resources say in words, in bundles, alone or one a line.

A resource with a narrative, sections, attachments or answers is a document. Those with fields alone or a line or two
(a patient's conditions, medicines, values) are one document a patient, a line each. Attachments are read by the reader
of their type, from the data in the file; what is only named by an address is not fetched, and told. People, places,
bills and definitions are counted, and not read. What a lenient parser of JSON lets pass in silence (a key twice, NaN,
nesting without end) is refused.
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
from auscult.readers.decoding import decoded
from auscult.readers.flow import Facts
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult.readers.records.attachments import read_attachment
from auscult.readers.records.fhir_resources import PEOPLE, TEXTS, Page, Resource, attachment_of, attachments_in
from auscult.readers.records.fhir_words import plain_of

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
    fields = dict(pairs)
    if len(fields) != len(pairs):
        # Which one is not told: what a broken file has for a key may be a patient's.
        raise UnreadableError("key twice", "JSON whose keys stand once", "a key twice in one object", _REMEDY)
    return fields


def _constant(name: str) -> NoReturn:
    raise _broken(f"{name}, which JSON does not have")


def _broken(got: str) -> UnreadableError:
    return UnreadableError("broken JSON", "JSON", got, _REMEDY)


def _too_deep() -> UnreadableError:
    return UnreadableError("deep nesting", f"JSON nested at most {_DEEPEST} deep", "deeper nesting", "leave it out")


Problems = list[tuple[str, UnreadableError]]
"""What could not be read: where it stands, and why."""


def resources_of(objects: Iterable[tuple[str, dict[str, Any]]], problems: Problems) -> Iterator[Resource]:
    """Every resource of a file but bundles, in order, numbered from 1.

    Args:
        objects: Of the file, and where each stands.
        problems: Gets a line for each object that is no resource.
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
    """The objects of a file, and where each stands.

    Args:
        text: Of the file.
        lines: Whether it is called a file of lines. One that is not may still be: its first line is an object.
        problems: Gets each line that is no object.

    Raises:
        UnreadableError: It is neither JSON nor lines of JSON.
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
_NOT_READ: Final = frozenset(
    {
        "Patient", "Practitioner", "PractitionerRole", "RelatedPerson", "Person", "Organization",
        "OrganizationAffiliation", "Location", "Binary", "HealthcareService", "Endpoint", "Schedule", "Slot",
        "Coverage", "Claim", "ClaimResponse", "ExplanationOfBenefit", "Account", "Invoice", "ChargeItem",
        "PaymentNotice", "PaymentReconciliation", "CoverageEligibilityRequest", "CoverageEligibilityResponse",
        "Provenance", "AuditEvent", "OperationOutcome", "Parameters", "Subscription", "MessageHeader",
        "CapabilityStatement", "Conformance", "StructureDefinition", "StructureMap", "ValueSet", "CodeSystem",
        "ConceptMap", "SearchParameter", "OperationDefinition", "ImplementationGuide", "NamingSystem",
        "CompartmentDefinition", "GraphDefinition", "MessageDefinition", "TestScript",
    }
)  # fmt: skip
_MOST_TOLD: Final = 20


def is_fhir(content: bytes) -> bool:
    """Whether JSON is of FHIR: its first object says what type of resource it is, which some writers put last."""
    if _RESOURCE.match(content[:_HEAD]):
        return True
    if not _RESOURCE.match(content):
        return False
    try:
        _, first = next(_objects(decoded(content)[0], False, []), ("", {}))
    except UnreadableError:
        return False
    return isinstance(first.get("resourceType"), str)


class FhirReader:
    """Reads FHIR as JSON."""

    name = "FHIR"
    suffixes = (".fhir", ".ndjson")

    def recognises(self, file: SourceFile) -> bool:
        """Whether its first object says what type of resource it is, or a file that is called as JSON has one."""
        return _RESOURCE.match(file.head) is not None or (file.suffix in _JSON and is_fhir(file.content))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The documents, with `ResourceType/id` as their keys; a patient's record is that of the patient and "record".

        What could not be read is told in the remarks of the first.

        Raises:
            UnreadableError: It is no JSON, or no text in it could be read.
        """
        text, _ = decoded(file.content)
        problems: Problems = []
        return read_resources(_objects(text, file.suffix in _LINES, problems), file.name, problems)


def read_resources(
    objects: Iterable[tuple[str, dict[str, Any]]], name: str, problems: Problems
) -> Iterator[DraftDocument]:
    """The documents of resources and bundles.

    Args:
        objects: Of the file, and where each stands.
        name: Of the file.
        problems: What could not be read of it, which is told in the remarks of the first document.

    Raises:
        UnreadableError: No text in them could be read.
    """
    reading = _Reading(objects, name, problems)
    drafts = reading.drafts()
    if not drafts:
        raise reading.first_problem()
    yield replace(drafts[0], remarks=(*drafts[0].remarks, *reading.remarks()))
    yield from drafts[1:]


class _Reading:
    """One file as it is read: what became documents, and what did not, and why."""

    def __init__(self, objects: Iterable[tuple[str, dict[str, Any]]], name: str, problems: Problems) -> None:
        self._name = name
        self._problems = problems
        self._others: Counter[str] = Counter()
        self._same: list[str] = []
        self._resources = list(resources_of(objects, problems))
        self._told: set[int] = set()
        self._named: set[int] = set()
        self._by_name: dict[str, Resource] = {}
        for resource in self._resources:
            for reference in filter(None, (resource.key, resource.full_url)):
                self._by_name.setdefault(reference, resource)
        self._people = {name: each.person() for name, each in self._by_name.items() if each.kind in PEOPLE}

    def drafts(self) -> list[DraftDocument]:
        """All documents, in the order of their resources; records last."""
        made: dict[int, list[tuple[str, DraftDocument]]] = {}
        rest: list[Resource] = []
        # Those whose pages tell others come first.
        for resource in sorted(self._resources, key=lambda each: each.kind not in TEXTS):
            if resource.kind in _NOT_READ:
                if resource.kind != "Binary":
                    self._others[resource.kind] += 1
            elif resource.in_error:
                self._miss(resource.key, "entered in error", "a resource that stands", "one that was entered in error")
            elif resource.number not in self._told:
                before = len(self._problems)
                drafts = list(self._of(resource))
                made[resource.number] = [
                    (resource.key if number == 1 else f"{resource.key}/{number}", draft)
                    for number, draft in enumerate(drafts, start=1)
                ]
                is_silent = not drafts and len(self._problems) == before
                if resource.kind in ("Composition", "DocumentReference"):
                    if is_silent:
                        self._miss(resource.key, "empty file", "a resource with text", "none")
                elif is_silent or not resource.is_text:
                    rest.append(resource)
        keyed = [each for resource in self._resources for each in made.get(resource.number, ())]
        keys: Counter[str] = Counter()
        named = []
        for key, draft in [*keyed, *self._records(rest, {number for number, drafts in made.items() if drafts})]:
            keys[key] += 1
            named.append(replace(draft, key=key if keys[key] == 1 else f"{key}~{keys[key]}"))
        return named

    def remarks(self) -> list[str]:
        """What was not read."""
        remarks = [f"{where} was not read: {problem}" for where, problem in self._problems]
        remarks += [f"an attachment of {key} was left out: another one says the same" for key in self._same]
        if len(remarks) > _MOST_TOLD:
            remarks[_MOST_TOLD:] = [f"{len(remarks) - _MOST_TOLD} more were not read"]
        others = ", ".join(f"{number} {kind}" for kind, number in self._others.most_common(_MOST_TOLD))
        return [*remarks, f"resources that are not read as texts: {others}"] if others else remarks

    def first_problem(self) -> UnreadableError:
        """Why there is no document."""
        if self._problems:
            return self._problems[0][1]
        kinds = ", ".join(kind for kind, _ in self._others.most_common(_MOST_TOLD))
        return UnreadableError("no text", "resources with text", f"only {kinds}" if kinds else "none", "leave it out")

    def _find(self, reference: str, holder: Resource) -> Resource | None:
        """The resource that a reference is to: in the one that has it, or in the file, whatever server it names."""
        if reference.startswith("#"):
            inner = (each for each in holder.each("contained") if each.text("id") == reference[1:])
            return next((Resource(each.values, number=-id(each.values)) for each in inner), None)
        last = "/".join(reference.partition("/_history/")[0].split("/")[-2:])
        found = self._by_name.get(reference) or self._by_name.get(last)
        if found and found.kind == "Medication":
            self._named.add(found.number)
        return found

    def _of(self, resource: Resource) -> Iterator[DraftDocument]:
        """The documents of a resource: its page, and its attachments; none where it only has fields."""
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
            self._told |= page.told
        read: list[tuple[DraftDocument, Counter[str]]] = []
        for held in attachments:
            try:
                drafts = list(read_attachment(attachment_of(held, self._by_name), facts, self._name))
            except UnreadableError as problem:
                self._problems.append((f"an attachment of {resource.key}", problem))
                continue
            # One text in several formats is one document; an addendum is another.
            for draft in drafts:
                words = Counter(re.findall(r"\w+", draft.text.casefold()))
                if any(words <= others for _, others in read):
                    self._same.append(resource.key)
                else:
                    read.append((draft, words))
        yield from (draft for draft, _ in read)

    def _records(self, resources: list[Resource], read: set[int]) -> Iterator[tuple[str, DraftDocument]]:
        """Keys and documents of resources that have fields alone: a document for all of a patient.

        Args:
            resources: The resources.
            read: Numbers of those of which an attachment was read.
        """
        by_patient: dict[str, list[tuple[Resource, str]]] = {}
        # All statements come first: what is named in one of them is no record of its own.
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
