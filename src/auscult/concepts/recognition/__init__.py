"""Recognise named entities in running text, and mark negated, historical and other contexts.

There are three recognisers with one interface (a dictionary, spaCy, GLiNER), their union, and ConText's rules.
"""

from auscult.concepts.recognition.context import CONTEXTS, ContextFilter
from auscult.concepts.recognition.entity import Context, Entity, EntityRecognizer
from auscult.concepts.recognition.gliner_model import CLINICAL_LABELS, GlinerRecognizer
from auscult.concepts.recognition.labelling import own_headings, placeholders, read_entities
from auscult.concepts.recognition.opening import DICTIONARY, DictionaryRecognizer, UnionRecognizer, open_recognizers
from auscult.concepts.recognition.spacy_pipeline import MEDSPACY, SpacyRecognizer

__all__ = [
    "CLINICAL_LABELS",
    "CONTEXTS",
    "DICTIONARY",
    "MEDSPACY",
    "Context",
    "ContextFilter",
    "DictionaryRecognizer",
    "Entity",
    "EntityRecognizer",
    "GlinerRecognizer",
    "SpacyRecognizer",
    "UnionRecognizer",
    "open_recognizers",
    "own_headings",
    "placeholders",
    "read_entities",
]
