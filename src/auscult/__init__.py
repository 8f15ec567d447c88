"""Auscult finds the passages that answer a health question inside long documents.

Names are imported when they are first used: `import auscult` alone loads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auscult.documents.document import Document, Passage, Sentence
    from auscult.front import Index, build_index, open_index, read_files
    from auscult.ingest.corpus import Judgement
    from auscult.search.hits import Hit, Ranking
    from auscult.search.searcher import Searcher, SearchOptions
    from auscult.understanding.query import Query
    from auscult.version import __version__

_PLACES = {
    "Document": "auscult.documents",
    "Passage": "auscult.documents",
    "Sentence": "auscult.documents",
    "Index": "auscult.front",
    "build_index": "auscult.front",
    "open_index": "auscult.front",
    "read_files": "auscult.front",
    "SearchOptions": "auscult.search.searcher",
    "Searcher": "auscult.search.searcher",
    "Hit": "auscult.search.hits",
    "Ranking": "auscult.search.hits",
    "Judgement": "auscult.ingest.corpus",
    "Query": "auscult.understanding",
    "__version__": "auscult.version",
}

__all__ = [
    "Document",
    "Hit",
    "Index",
    "Judgement",
    "Passage",
    "Query",
    "Ranking",
    "SearchOptions",
    "Searcher",
    "Sentence",
    "__version__",
    "build_index",
    "open_index",
    "read_files",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'auscult' has no attribute '{name}'")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
