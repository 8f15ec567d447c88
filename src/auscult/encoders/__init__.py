"""Encode passages and questions as vectors of one space. Torch is imported only by models that need it."""

from auscult.encoders.folder import HUB, RERANKER, SENTENCE_TRANSFORMER, SHIPPED, model_folder, training_record
from auscult.encoders.registry import Kind, kind_of, load_model, load_reranker, load_scorer

__all__ = [
    "HUB",
    "RERANKER",
    "SENTENCE_TRANSFORMER",
    "SHIPPED",
    "Kind",
    "kind_of",
    "load_model",
    "load_reranker",
    "load_scorer",
    "model_folder",
    "training_record",
]
