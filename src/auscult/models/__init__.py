"""Models: lexical scorers, CDV, neural rankers, CAPR's architectures. Torch is imported only when one is opened."""

from auscult.models.folder import HUB, RERANKER, SENTENCE_TRANSFORMER, SHIPPED, model_folder, training_record
from auscult.models.kinds import Kind, kind_of, load_model, load_ranker, load_reranker, load_scorer

__all__ = [
    "HUB",
    "RERANKER",
    "SENTENCE_TRANSFORMER",
    "SHIPPED",
    "Kind",
    "kind_of",
    "load_model",
    "load_ranker",
    "load_reranker",
    "load_scorer",
    "model_folder",
    "training_record",
]
