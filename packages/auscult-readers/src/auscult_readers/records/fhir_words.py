"""Words of FHIR resources of any type and version. Each field is put into words by the form of its value.

Fields for programs (identifiers, addresses, extensions) are left out, and so are people, who are in the metadata. What
turns the meaning of a resource around stands before everything else: "Stopped: Warfarin", "Do not perform: MRI".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from auscult.readers.dates import iso_date
from auscult.readers.tables import BETWEEN
from auscult_readers.records.fhir_states import NEGATIONS, state_of, words_of_modifiers
from auscult_readers.records.fhir_timing import words_of_timing

_NAMES: Final = (
    "code", "vaccineCode", "medicationCodeableConcept", "medicationReference", "medication", "relationship", "type",
    "category", "description", "title",
)  # fmt: skip
_NOT_WORDS: Final = frozenset(
    {
        "resourceType", "id", "meta", "implicitRules", "language", "text", "contained", "extension",
        "modifierExtension", "identifier", "linkId", "system", "version", "url", "uri", "instantiates",
        "instantiatesCanonical", "instantiatesUri", "definition", "questionnaire", "basedOn", "partOf",
        "subject", "patient", "encounter", "context", "performer", "author", "recorder", "asserter",
        "requester", "source", "informationSource", "participant", "serviceProvider", "location", "recipient",
        "sender", "actor", "custodian", "attester", "confidentiality", "intent", "section", "conclusion",
        "result", "hasMember", "entry", "content", "presentedForm", "data", "contentType", "hash",
        "size", "userSelected", "relatesTo", "derivedFrom", "authorString", "authorReference", "time",
        "insurance", "request", "issued", "supportingInformation",
    }
)  # fmt: skip
_NOT_WRITTEN: Final = (_NOT_WORDS | {"display"}) - {"text"}
NOT_READ: Final = frozenset(
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
"""Kinds of people, places, bills and definitions, which are counted and not read."""
_OF_TYPE: Final = re.compile(
    r"(?<=[a-z])(?<!reference)(?<!Per)(DateTime|Date|Period|Quantity|CodeableConcept|Coding|String|Boolean|Integer|Decimal|Range|Ratio|Age"
    r"|Time|Timing|Reference|Duration|Markdown)$"
)
_DATE: Final = re.compile(r"\d{4}-\d\d(-|$)")
_DEEPEST: Final = 12


@dataclass(frozen=True, slots=True)
class Look:
    """Looks up the resources that the references in a resource name.

    Attributes:
        find: Returns the fields of a resource; None if it is not in the file.
        named: Names and other words of resources so far, as many references to a large one cost no more than one.
    """

    find: Callable[[str], Mapping[str, Any] | None]
    named: dict[tuple[str, int], tuple[str, str | None]] = field(default_factory=dict)

    def __call__(self, reference: str) -> Mapping[str, Any] | None:
        """Return the fields of the resource that a reference names; None if it is not in the file."""
        return self.find(reference)


def plain_of(name: str) -> str:
    """Return the words of a name in camel case: "bodySite" becomes "Body site"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def name_of(fields: Mapping[str, Any], look: Look) -> tuple[str, str]:
    """Return the name and words of the field that says what a resource is about; both "" if there is none."""
    found = ((key, words_of(fields[key], look)) for key in _NAMES if key in fields)
    return next((each for each in found if each[1]), ("", ""))


def statement_of(fields: Mapping[str, Any], look: Look, narrative: str = "") -> str:
    """Return a resource as a line: "Potassium: 6.9 mmol/L; status: final"; "" if no field says what it is about.

    A state that turns its meaning around comes first: "Refuted: Gout; verification status: refuted".

    Args:
        fields: Fields of the resource.
        look: Returns the resource that a reference names.
        narrative: Words of its narrative. Only fields that add to it are then appended.
    """
    key, name = name_of(fields, look)
    labelled = list(_labelled(fields, look, without=key))
    value = next((words for label, words, _ in labelled if label == "Value"), "")
    statement = ": ".join(filter(None, (name, value)))
    if narrative:
        known = apart(narrative)
        labelled = [each for each in labelled if apart(each[1]) not in known]
        statement = ": ".join(
            (*([statement] if apart(name) not in known or apart(value) not in known else ()), narrative)
        )
    rest = [f"{label.lower()}: {words}" for label, words, _ in labelled if label != "Value"]
    # Codes without a name have no meaning for a reader.
    if not (statement or any(is_free for _, _, is_free in labelled)):
        return ""
    line = "; ".join(filter(None, (statement, *rest)))
    state = state_of(fields, lambda value: words_of(value, look))
    return f"{state}: {line}" if state else line


def apart(text: str) -> str:
    """Return the words of a text with a blank before and after each, to search for whole words."""
    return "".join(f" {word}" for word in re.findall(r"\w+", text.casefold())) + " "


def sentences_of(fields: Mapping[str, Any], look: Look) -> Iterator[tuple[str, str]]:
    """Yield the label and words of fields that people wrote and of values, not of codes, dates and states."""
    key, _ = name_of(fields, look)
    for label, words, is_free in _labelled(fields, look, without=key):
        if is_free or label == "Value":
            yield label, words


def answers_of(items: Any, look: Look, depth: int = 0) -> Iterator[str]:
    """Yield a line per question of a form, with its answers."""
    for item in items if isinstance(items, list) else [items]:
        if not isinstance(item, dict) or depth > _DEEPEST:
            continue
        asked, answered = words_of(item.get("text"), look), item.get("answer")
        answers = words_of(answered, look)
        if line := (" " if asked.endswith(("?", ":")) else ": ").join(filter(None, (asked, answers))):
            yield line
        yield from answers_of(item.get("item"), look, depth + 1)
        for answer in answered if isinstance(answered, list) else [answered]:
            if isinstance(answer, dict):
                yield from answers_of(answer.get("item"), look, depth + 1)


def _labelled(
    fields: Mapping[str, Any], look: Look, without: str = "", depth: int = 0
) -> Iterator[tuple[str, str, bool]]:
    """Yield the label and words of each field, and whether a person wrote them. Inner names of things have no label."""
    for key, value in fields.items():
        if key in _NOT_WORDS or key == without or key.startswith("_"):
            continue
        if (key == "item" and not depth) or (key in NEGATIONS and isinstance(value, bool)):
            continue
        words = words_of(value, look, depth)
        if words:
            label = "" if depth and (key in _NAMES or key.startswith(("value", "content"))) else _label_of(key)
            yield label, words, _is_written(value)


@lru_cache(maxsize=1024)
def _label_of(key: str) -> str:
    """Return the words of the name of a field, without its type."""
    return plain_of(_OF_TYPE.sub("", key))


def _is_written(value: Any) -> bool:
    """Whether a person wrote a part of a value: it has several words and no code beside them."""
    if isinstance(value, str):
        return " " in value.strip()
    if isinstance(value, list):
        return any(map(_is_written, value))
    if not isinstance(value, dict) or "coding" in value:
        return False
    return any(_is_written(inner) for key, inner in value.items() if key not in _NOT_WRITTEN)


def words_of(value: Any, look: Look, depth: int = 0) -> str:
    """Return the words of a value; "" if it has none.

    Args:
        value: A value of any type of FHIR.
        look: Returns the resource that a reference names; its name is used.
        depth: Nesting depth of the value.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return (_DATE.match(value) and iso_date(value)) or " ".join(value.split())
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        items = dict.fromkeys(filter(None, (words_of(each, look, depth + 1) for each in value)))
        return (BETWEEN if any("; " in each for each in items) else ", ").join(items)
    return _words_of_object(value, look, depth + 1) if isinstance(value, dict) else ""


def _words_of_object(value: Mapping[str, Any], look: Look, depth: int) -> str:
    def inner(key: str) -> str:
        return words_of(value.get(key), look, depth)

    modifiers = words_of_modifiers(value, lambda each: words_of(each, look, depth))
    if modifiers and depth <= _DEEPEST:
        rest = {key: each for key, each in value.items() if key != "modifierExtension"}
        return "; ".join(filter(None, (modifiers, _words_of_object(rest, look, depth + 1))))
    keys = value.keys() - {"id", "extension", "modifierExtension"}
    if "contentType" in keys or "div" in keys:
        return ""
    if "coding" in keys or keys == {"text"}:
        return inner("text") or inner("coding")
    if "text" in keys and keys <= {"text", "time", "authorString", "authorReference"}:
        return inner("text")
    if keys and keys <= {"concept", "reference"} and not isinstance(value.get("reference"), str):
        return ", ".join(filter(None, (inner("concept"), inner("reference"))))
    if "reference" in keys and keys <= {"reference", "display", "type", "identifier"}:
        return _words_of_reference(str(value["reference"]), inner("display"), look, depth)
    if "numerator" in keys:
        return " / ".join(filter(None, (inner("numerator"), inner("denominator"))))
    if keys & {"repeat", "event"} or (keys == {"code"} and isinstance(value["code"], dict)):
        return words_of_timing(value, lambda each: words_of(each, look, depth))
    if keys & {"low", "high"} and "text" not in keys:
        span = _span(inner("low"), inner("high"), "at least", "at most")
        others = [
            (label, words) for label, words, _ in _labelled(value, look, "", depth) if label not in ("Low", "High")
        ]
        return "; ".join([span, *(f"{label.lower()}: {words}" if label else words for label, words in others)])
    if keys & {"start", "end"} and keys <= {"start", "end"}:
        return _span(inner("start"), inner("end"), "from", "until")
    if "value" in keys and not isinstance(value["value"], dict | list):
        unit = inner("unit") or inner("code") or inner("currency")
        return " ".join(filter(None, (inner("comparator"), inner("value"), "" if unit == "1" else unit)))
    if "display" in keys:
        return inner("display")
    if isinstance(value.get("code"), str) and keys <= {"code", "system", "version", "userSelected"}:
        # A code without a name is of use only if it is a word.
        return inner("code") if re.fullmatch(r"[a-z]{3,}(-[a-z]+)*", value["code"]) else ""
    if any(key.startswith("value") for key in keys) and (line := statement_of(value, look)):
        return line
    said = {"said": value.get("text"), **value}
    told = [(label.lower(), words) for label, words, _ in _labelled(said, look, "", depth)]
    return "; ".join(f"{label}: {words}" if label and label != "said" else words for label, words in told)


def _span(low: str, high: str, from_low: str, to_high: str) -> str:
    """Return a range. With one limit, a word says which one it is."""
    if low and high:
        return f"{low} to {high}"
    return f"{from_low} {low}" if low else f"{to_high} {high}" if high else ""


_NOTHING: Final = Look(lambda _: None)
_USUAL_STATES: Final = ("active", "final", "completed", "current")


def _words_of_reference(reference: str, display: str, look: Look, depth: int) -> str:
    """Return the name of a resource; with its other fields, if it is a medicine or stands only in the holder."""
    known = (reference, depth)
    if known not in look.named:
        look.named[known] = _named_resource(reference, look, depth)
    name, details = look.named[known]
    if details is None:
        return display or name
    name = ": ".join(dict.fromkeys(filter(None, (display, name))))
    return f"{name} ({details})" if details else name


def _named_resource(reference: str, look: Look, depth: int) -> tuple[str, str | None]:
    """Return the name and the other fields of a resource; None for the fields that are not read with its name."""
    found = look(reference) or {}
    key, name = name_of(found, _NOTHING)
    kind = found.get("resourceType")
    if not (kind == "Medication" or reference.startswith("#")) or kind in (*NOT_READ, "Device"):
        return name, None
    details = (
        f"{label.lower()}: {words}" if label else words
        for label, words, _ in _labelled(found, _only_names(look), without=key, depth=depth + 1)
        if not (label == "Status" and words in _USUAL_STATES)
    )
    return name, "; ".join(details)


def _only_names(look: Look) -> Look:
    """Return a function that finds only the names of resources, so that they cannot name one another without end."""

    def named(reference: str) -> Mapping[str, Any] | None:
        found = look(reference) or {}
        key, _ = name_of(found, _NOTHING)
        return {key: found[key]} if key else None

    return Look(named)
