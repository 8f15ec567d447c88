"""Find the passages of an index that answer a question, and explain them."""

from auscult.search.explain import ScoreCurves, explain
from auscult.search.findings import Findings
from auscult.search.pipeline import Pipeline
from auscult.search.searcher import Searcher, SearchOptions
from auscult.understanding.understand import Understanding, understand

__all__ = [
    "Findings",
    "Pipeline",
    "ScoreCurves",
    "SearchOptions",
    "Searcher",
    "Understanding",
    "explain",
    "understand",
]
