"""Entities by the names of a knowledge base: no model, no network, no optional package; the default.

Cost: one pass of an Aho-Corasick automaton, whatever the number of names, and one of a regular expression for
abbreviations (figures: benchmarks/results/entity_recognition.json).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.mentions import MentionLinker
from auscult.concepts.names import abbreviations, normalise_name
from auscult.concepts.recognition.entity import Covered, Entity

_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{2,5}\b")
# What follows where "CVA" is the costovertebral angle and no stroke.
_ANGLE = re.compile(r"\s+(?:angle|tender)", re.IGNORECASE)


class DictionaryRecognizer:
    """Names and synonyms of concepts, and in clinical text the abbreviations of well-known diseases.

    Clinicians write "CHF" and "HTN" without ever spelling them out. `MentionLinker` leaves three letters that stand
    alone unread, as it must in general text; here they count when written in capitals. Two letters never do ("PE" is
    also the physical examination).

    Args:
        knowledge: Whose concepts to find.
        linker: A linker of the same knowledge base, where one is at hand already (building one takes seconds).
        clinical: Read abbreviations as clinical notes use them.
    """

    name = "dictionary"

    def __init__(self, knowledge: KnowledgeBase, *, linker: MentionLinker | None = None, clinical: bool = True) -> None:
        self._linker = linker or MentionLinker(knowledge)
        known = {key: concept for key, concept in abbreviations().items() if len(key) > 2 and concept in knowledge}
        self._abbreviations = known if clinical else {}

    def recognise(self, text: str) -> list[Entity]:
        """Entities in order, without overlap, each with its concept."""
        entities = [
            Entity(mention.start, mention.end, mention.name, mention.concept_id, found_by=(self.name,))
            for mention in self._linker.link_text(text)
        ]
        covered = Covered((entity.start, entity.end) for entity in entities)
        short = [each for each in self._short(text) if not covered.touches(each.start, each.end)]
        return sorted([*entities, *short], key=lambda entity: entity.start) if short else entities

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Entities of each text."""
        return map(self.recognise, texts)

    def _short(self, text: str) -> Iterator[Entity]:
        for found in _CAPITALS.finditer(text) if self._abbreviations else ():
            concept = self._abbreviations.get(normalise_name(found.group()))
            if concept and not (found.group() == "CVA" and _ANGLE.match(text, found.end())):
                yield Entity(*found.span(), found.group(), concept, found_by=(self.name,))
