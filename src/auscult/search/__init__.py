"""Building an index from a corpus, asking it, and explaining its answers."""

from auscult.search.build import BuildReport, build_index
from auscult.search.explain import PassageSpan, ScoreCurves, explain
from auscult.search.findings import Findings
from auscult.search.pipeline import Pipeline
from auscult.search.searcher import Searcher, SearchOptions
from auscult.understanding.understand import Understanding, understand

__all__ = [
    "BuildReport",
    "Findings",
    "PassageSpan",
    "Pipeline",
    "ScoreCurves",
    "SearchOptions",
    "Searcher",
    "Understanding",
    "build_index",
    "explain",
    "understand",
]
