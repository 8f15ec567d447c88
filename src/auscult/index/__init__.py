"""Passages and their vectors at rest: an embedded index with exact search and atomic commits."""

from auscult.index.manifest import Counts, Manifest, ModelRecord
from auscult.index.passage_index import GroupBy, PassageIndex
from auscult.index.reader import DocumentRecord, GenerationReader
from auscult.index.writer import IndexUpdate, IndexWriter

__all__ = [
    "Counts",
    "DocumentRecord",
    "GenerationReader",
    "GroupBy",
    "IndexUpdate",
    "IndexWriter",
    "Manifest",
    "ModelRecord",
    "PassageIndex",
]
