"""Auscult finds the passages that answer a health question inside long documents."""

from auscult.documents import Document, Passage, Sentence
from auscult.interfaces import Hit, Judgement, Ranking
from auscult.understanding import Query

__version__ = "0.1.0"

__all__ = ["Document", "Hit", "Judgement", "Passage", "Query", "Ranking", "Sentence", "__version__"]
