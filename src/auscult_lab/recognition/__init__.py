"""Recognise named entities in running text, with their negated, historical and other contexts.

There are three recognisers with one interface (a dictionary, spaCy, GLiNER), and their union.
"""

from auscult_lab.recognition.entity import Entity, EntityRecognizer
from auscult_lab.recognition.gliner_model import CLINICAL_LABELS, GlinerRecognizer
from auscult_lab.recognition.labelling import own_headings, placeholders, read_entities
from auscult_lab.recognition.opening import DICTIONARY, DictionaryRecognizer, UnionRecognizer, open_recognizers
from auscult_lab.recognition.spacy_pipeline import MEDSPACY, SpacyRecognizer

__all__ = [
    "CLINICAL_LABELS",
    "DICTIONARY",
    "MEDSPACY",
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
