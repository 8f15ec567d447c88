"""Recognisers by the words that experiment files and commands have for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.recognition.dictionary import DictionaryRecognizer
from auscult.concepts.recognition.entity import EntityRecognizer
from auscult.concepts.recognition.gliner_model import GlinerRecognizer
from auscult.concepts.recognition.spacy_pipeline import SpacyRecognizer
from auscult.concepts.recognition.union import UnionRecognizer
from auscult.errors import ConfigError

DICTIONARY = "dictionary"
"""The recogniser that needs nothing but a knowledge base."""

_OPENERS: Mapping[str, Callable[[str, KnowledgeBase], EntityRecognizer]] = {
    "spacy": lambda name, knowledge: SpacyRecognizer(name, knowledge=knowledge),
    "gliner": lambda name, knowledge: GlinerRecognizer(name, knowledge=knowledge),
}


def open_recognizers(said: Sequence[str], knowledge: KnowledgeBase) -> EntityRecognizer:
    """One recogniser of all that are named; of entities that overlap it finds the longest.

    Args:
        said: Each "dictionary", "spacy:PIPELINE" or "gliner:MODEL", by name or folder; in order of trust.
        knowledge: Its names are the dictionary, and give the others' entities their concepts.

    Raises:
        ConfigError: None is named, or one is of no known kind.
        MissingExtraError: The package of one is not installed.
        ModelError: A pipeline or model cannot be opened.
    """
    opened = [_open(each, knowledge) for each in said]
    return opened[0] if len(opened) == 1 else UnionRecognizer(opened)


def _open(said: str, knowledge: KnowledgeBase) -> EntityRecognizer:
    kind, _, name = said.partition(":")
    if said == DICTIONARY:
        return DictionaryRecognizer(knowledge)
    if kind not in _OPENERS or not name:
        expected = f"a recogniser '{DICTIONARY}', 'spacy:PIPELINE' or 'gliner:MODEL'"
        raise ConfigError(expected, repr(said), "name one of them")
    return _OPENERS[kind](name, knowledge)


__all__ = ["DICTIONARY", "open_recognizers"]
