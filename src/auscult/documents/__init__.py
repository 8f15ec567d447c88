"""Represent documents, passages and sentences, with character offsets into the original text."""

from auscult.documents.building import build_document, segment_passage
from auscult.documents.document import Document, Passage, Section, Sentence, check_document
from auscult.documents.original import Box, Original
from auscult.documents.splitting import SPLITTERS, default_splitter

__all__ = [
    "SPLITTERS",
    "Box",
    "Document",
    "Original",
    "Passage",
    "Section",
    "Sentence",
    "build_document",
    "check_document",
    "default_splitter",
    "segment_passage",
]
