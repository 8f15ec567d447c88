"""Words that the API has in English, as messages of the page: aspects, labels, fields, how uploads stand.

Anything else that documents or users name, such as a field of their own, is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from auscult.schema import Assertion
from auscult.search.certainty import Label
from auscult.understanding.query import Query
from auscult_service.page.messages import Message, Said, message, message_in

LABELS: Final[Mapping[Label, Message]] = MappingProxyType(
    {
        "answers": message_in("label", "answers"),
        "may answer": message_in("label", "may answer"),
        "uncertain": message_in("label", "uncertain"),
        "no answer": message_in("label", "no answer"),
    }
)
"""Whether a hit answers."""
ASSERTIONS: Final[Mapping[Assertion, Message]] = MappingProxyType(
    {
        "affirmed": message_in("said of it", "affirmed"),
        "negated": message_in("said of it", "negated"),
        "family": message_in("said of it", "family"),
        "historical": message_in("said of it", "historical"),
        "hypothetical": message_in("said of it", "hypothetical"),
    }
)
"""What a sentence says about the entity."""
STANDINGS: Final[Mapping[str, Message]] = MappingProxyType(
    {
        "waiting": message_in("upload", "waiting"),
        "reading": message_in("upload", "reading"),
        "done": message_in("upload", "done"),
        "failed": message_in("upload", "failed"),
        "interrupted": message_in("upload", "interrupted"),
    }
)
"""How an upload stands, in a list."""
HEADINGS: Final[Mapping[str, Message]] = MappingProxyType(
    {
        "waiting": message_in("upload", "Waiting"),
        "reading": message_in("upload", "Reading"),
        "done": message_in("upload", "Added"),
        "failed": message_in("upload", "Nothing was added"),
        "interrupted": message_in("upload", "Interrupted"),
    }
)
"""How an upload stands, as the heading of its page."""
SAID: Final = "what is said of it"
"""Name of the filter by assertions, beside the fields."""
FIELDS: Final[Mapping[str, Message]] = MappingProxyType(
    {
        "source": message_in("field", "source"),
        "date": message_in("field", "date"),
        "updated": message_in("field", "updated"),
        "published": message_in("field", "published"),
        "last_updated": message_in("field", "last updated"),
        "year": message_in("field", "year"),
        "patient": message_in("field", "patient"),
        "author": message_in("field", "author"),
        "language": message_in("field", "language"),
        "format": message_in("field", "format"),
        "file": message_in("field", "file"),
        "type": message_in("field", "type"),
        "kind": message_in("field", "kind"),
        "status": message_in("field", "status"),
        "audience": message_in("field", "audience"),
        "country": message_in("field", "country"),
        "publisher": message_in("field", "publisher"),
        "journal": message_in("field", "journal"),
        "keywords": message_in("field", "keywords"),
        "subject": message_in("field", "subject"),
        "from": message_in("field", "from"),
        "to": message_in("field", "to"),
        "ward": message_in("field", "ward"),
        "document": message_in("field", "document"),
        SAID: message_in("field", "what is said of it"),
    }
)
"""Fields that documents often have."""
ASPECTS: Final[Mapping[str, Message]] = MappingProxyType(
    {
        "information": message_in("aspect", "information"),
        "symptoms": message_in("aspect", "symptoms"),
        "treatment": message_in("aspect", "treatment"),
        "causes": message_in("aspect", "causes"),
        "diagnosis": message_in("aspect", "diagnosis"),
        "prognosis": message_in("aspect", "prognosis"),
        "frequency": message_in("aspect", "frequency"),
        "inheritance": message_in("aspect", "inheritance"),
        "genetic changes": message_in("aspect", "genetic changes"),
        "prevention": message_in("aspect", "prevention"),
        "complications": message_in("aspect", "complications"),
        "risk factors": message_in("aspect", "risk factors"),
        "research": message_in("aspect", "research"),
        "staging": message_in("aspect", "staging"),
        "living with it": message_in("aspect", "living with it"),
        "when to see a doctor": message_in("aspect", "when to see a doctor"),
        "diet": message_in("aspect", "diet"),
        "pregnancy": message_in("aspect", "pregnancy"),
        "children": message_in("aspect", "children"),
        "support groups": message_in("aspect", "support groups"),
        "transmission": message_in("aspect", "transmission"),
        "work and daily life": message_in("aspect", "work and daily life"),
        "surgery": message_in("aspect", "surgery"),
        "screening of relatives": message_in("aspect", "screening of relatives"),
        "mechanism": message_in("aspect", "mechanism"),
        "types": message_in("aspect", "types"),
        "recovery": message_in("aspect", "recovery"),
        "vaccination": message_in("aspect", "vaccination"),
        "emergency": message_in("aspect", "emergency"),
        "associated conditions": message_in("aspect", "associated conditions"),
        "home remedies": message_in("aspect", "home remedies"),
        "mental health": message_in("aspect", "mental health"),
        "uses": message_in("aspect", "uses"),
        "administration": message_in("aspect", "administration"),
        "dosage": message_in("aspect", "dosage"),
        "missed dose": message_in("aspect", "missed dose"),
        "overdose": message_in("aspect", "overdose"),
        "side effects": message_in("aspect", "side effects"),
        "interactions": message_in("aspect", "interactions"),
        "contraindications": message_in("aspect", "contraindications"),
        "warnings": message_in("aspect", "warnings"),
        "pregnancy and breastfeeding": message_in("aspect", "pregnancy and breastfeeding"),
        "use in children": message_in("aspect", "use in children"),
        "use in older people": message_in("aspect", "use in older people"),
        "use in other illness": message_in("aspect", "use in other illness"),
        "withdrawal": message_in("aspect", "withdrawal"),
        "storage": message_in("aspect", "storage"),
        "brand names": message_in("aspect", "brand names"),
        "cost": message_in("aspect", "cost"),
        "alcohol and driving": message_in("aspect", "alcohol and driving"),
        "mechanism of action": message_in("aspect", "mechanism of action"),
        "effectiveness": message_in("aspect", "effectiveness"),
        "ingredients": message_in("aspect", "ingredients"),
        "monitoring": message_in("aspect", "monitoring"),
        "purpose": message_in("aspect", "purpose"),
        "preparation": message_in("aspect", "preparation"),
        "procedure": message_in("aspect", "procedure"),
        "results": message_in("aspect", "results"),
        "risks of the procedure": message_in("aspect", "risks of the procedure"),
        "pain": message_in("aspect", "pain"),
        "recovery after it": message_in("aspect", "recovery after it"),
        "duration": message_in("aspect", "duration"),
        "alternatives": message_in("aspect", "alternatives"),
        "chief complaint": message_in("aspect", "chief complaint"),
        "history": message_in("aspect", "history"),
        "medications": message_in("aspect", "medications"),
        "allergies": message_in("aspect", "allergies"),
        "family history": message_in("aspect", "family history"),
        "social history": message_in("aspect", "social history"),
        "past operations": message_in("aspect", "past operations"),
        "review of systems": message_in("aspect", "review of systems"),
        "vital signs": message_in("aspect", "vital signs"),
        "examination": message_in("aspect", "examination"),
        "laboratory results": message_in("aspect", "laboratory results"),
        "imaging": message_in("aspect", "imaging"),
        "assessment": message_in("aspect", "assessment"),
        "plan": message_in("aspect", "plan"),
        "procedure details": message_in("aspect", "procedure details"),
        "anaesthesia": message_in("aspect", "anaesthesia"),
        "consent": message_in("aspect", "consent"),
        "discharge instructions": message_in("aspect", "discharge instructions"),
        "follow-up": message_in("aspect", "follow-up"),
    }
)
"""Aspects of questions, in clinical terms."""


def aspect_name(aspect: str) -> Message | str:
    """Return the message for an aspect; an unknown one, such as a heading, as it is."""
    return ASPECTS.get(aspect, aspect)


def field_name(name: str) -> Message | str:
    """Return the message for a field of documents; one of the user's own in words."""
    return FIELDS.get(name) or name.replace("_", " ")


def wording_of(query: Query) -> Said:
    """Return entity and aspects of a query in words, like `query.describe`."""
    aspects = tuple(map(aspect_name, query.aspects))
    if query.entity and aspects:
        # Translators: "symptoms, treatment of gout". Names come in the nominative and without an article.
        return message("%(aspects)s of %(entity)s", aspects=aspects, entity=query.entity)
    return aspects or query.entity
