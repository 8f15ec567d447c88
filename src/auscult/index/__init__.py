"""The index: documents, passages, words and vectors on disk. It can be searched while it is written."""

from auscult.index.fields import ANY, Between, Where
from auscult.index.manifest import Counts, Manifest, ModelRecord
from auscult.index.passage_index import GroupBy, PassageIndex
from auscult.index.reader import GenerationReader
from auscult.index.store import DocumentRecord
from auscult.index.upkeep import backup, optimize, repair
from auscult.index.writer import IndexUpdate, IndexWriter

__all__ = [
    "ANY",
    "Between",
    "Counts",
    "DocumentRecord",
    "GenerationReader",
    "GroupBy",
    "IndexUpdate",
    "IndexWriter",
    "Manifest",
    "ModelRecord",
    "PassageIndex",
    "Where",
    "backup",
    "optimize",
    "repair",
]
