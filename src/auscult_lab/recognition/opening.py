"""Open recognisers by the names they have in experiment files and commands; the dictionary, and unions of several.

The dictionary finds the names of a knowledge base. It needs no model, no network and no optional package, and is the
default. Cost: one pass of an Aho-Corasick automaton, whatever the number of names, and one of a regular expression for
abbreviations (figures: benchmarks/results/entity_recognition.json).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.mentions import MentionLinker
from auscult.concepts.names import abbreviations, normalise_name
from auscult.errors import ConfigError
from auscult_lab.recognition.entity import Covered, Entity, EntityRecognizer
from auscult_lab.recognition.gliner_model import GlinerRecognizer
from auscult_lab.recognition.spacy_pipeline import SpacyRecognizer

_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{2,5}\b")
# Words after "CVA" that make it the costovertebral angle instead of a stroke.
_ANGLE = re.compile(r"\s+(?:angle|tender)", re.IGNORECASE)


class DictionaryRecognizer:
    """Recogniser of names and synonyms of concepts and, in clinical text, of abbreviations of well-known diseases.

    Clinicians write "CHF" and "HTN" without spelling them out. `MentionLinker` ignores three letters without the full
    name, as is right in general text; here they count if written in capitals. Two letters never do ("PE" is also the
    physical examination).

    Args:
        knowledge: The knowledge base with the concepts to find.
        linker: A linker of the same knowledge base, if there is one already (building one takes seconds).
        clinical: Whether to read abbreviations as clinical notes use them.
    """

    name = "dictionary"

    def __init__(self, knowledge: KnowledgeBase, *, linker: MentionLinker | None = None, clinical: bool = True) -> None:
        self._linker = linker or MentionLinker(knowledge)
        known = {key: concept for key, concept in abbreviations().items() if len(key) > 2 and concept in knowledge}
        self._abbreviations = known if clinical else {}

    def recognise(self, text: str) -> list[Entity]:
        """Return entities in order, without overlap, each with its concept."""
        entities = [
            Entity(mention.start, mention.end, mention.name, mention.concept_id, found_by=(self.name,))
            for mention in self._linker.link_text(text)
        ]
        covered = Covered((entity.start, entity.end) for entity in entities)
        short = [each for each in self._short(text) if not covered.touches(each.start, each.end)]
        return sorted([*entities, *short], key=lambda entity: entity.start) if short else entities

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text."""
        return map(self.recognise, texts)

    def _short(self, text: str) -> Iterator[Entity]:
        for match in _CAPITALS.finditer(text) if self._abbreviations else ():
            concept = self._abbreviations.get(normalise_name(match.group()))
            if concept and not (match.group() == "CVA" and _ANGLE.match(text, match.end())):
                yield Entity(*match.span(), match.group(), concept, found_by=(self.name,))


DICTIONARY = "dictionary"
"""Name of the recogniser that needs only a knowledge base."""

_OPENERS: Mapping[str, Callable[[str, KnowledgeBase], EntityRecognizer]] = {
    "spacy": lambda name, knowledge: SpacyRecognizer(name, knowledge=knowledge),
    "gliner": lambda name, knowledge: GlinerRecognizer(name, knowledge=knowledge),
}


def open_recognizers(specs: Sequence[str], knowledge: KnowledgeBase) -> EntityRecognizer:
    """Open one or several recognisers as a single one; of overlapping entities it returns the longest.

    Args:
        specs: "dictionary", "spacy:PIPELINE" or "gliner:MODEL", by name or folder; most trusted first.
        knowledge: The knowledge base for the dictionary and for the concepts of other recognisers' entities.

    Raises:
        ConfigError: None is named, or one is of no known kind.
        MissingExtraError: The package of one is not installed.
        ModelError: A pipeline or model cannot be opened.
    """
    opened = [_open(spec, knowledge) for spec in specs]
    return opened[0] if len(opened) == 1 else UnionRecognizer(opened)


def _open(spec: str, knowledge: KnowledgeBase) -> EntityRecognizer:
    kind, _, name = spec.partition(":")
    if spec == DICTIONARY:
        return DictionaryRecognizer(knowledge)
    if kind not in _OPENERS or not name:
        expected = f"a recogniser '{DICTIONARY}', 'spacy:PIPELINE' or 'gliner:MODEL'"
        raise ConfigError(expected, repr(spec), "name one of them")
    return _OPENERS[kind](name, knowledge)


class UnionRecognizer:
    """Union of several recognisers; of overlapping entities it returns the longest.

    It increases recall (proposed as future work by grundmann2021, section 5).

    Args:
        recognizers: The recognisers, most trusted first. An entity that several find has the concept and class of the
            first that gives one.

    Raises:
        ConfigError: No recogniser is given.
    """

    def __init__(self, recognizers: Sequence[EntityRecognizer]) -> None:
        if not recognizers:
            raise ConfigError("at least one recogniser", "none", "give the dictionary, a spaCy pipeline or GLiNER")
        self._recognizers = tuple(recognizers)
        self.name = "+".join(recognizer.name for recognizer in recognizers)

    def recognise(self, text: str) -> list[Entity]:
        """Return entities in order, without overlap; `found_by` names all recognisers that found exactly this range."""
        return _longest(entity for recognizer in self._recognizers for entity in recognizer.recognise(text))

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text; every recogniser reads in its own batches."""
        copies = tee(texts, len(self._recognizers))
        streams = (one.recognise_many(copy) for one, copy in zip(self._recognizers, copies, strict=True))
        for found in zip(*streams, strict=True):
            yield _longest(entity for entities in found for entity in entities)


def _longest(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities without overlap, preferring the longest, then the leftmost; equal ranges become one entity."""
    merged: dict[tuple[int, int], Entity] = {}
    for entity in entities:
        known = merged.setdefault((entity.start, entity.end), entity)
        if known is not entity:
            merged[entity.start, entity.end] = replace(
                known,
                concept_id=known.concept_id or entity.concept_id,
                kind=known.kind or entity.kind,
                found_by=tuple(dict.fromkeys((*known.found_by, *entity.found_by))),
            )
    longest: list[Entity] = []
    covered = Covered()
    for entity in sorted(merged.values(), key=lambda entity: (entity.start - entity.end, entity.start)):
        if not covered.touches(entity.start, entity.end):
            covered.add(entity.start, entity.end)
            longest.append(entity)
    return sorted(longest, key=lambda entity: entity.start)
