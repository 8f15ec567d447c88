"""Queries: entity, aspects, and the question they came from."""

from auscult.understanding.asking import gist
from auscult.understanding.parsing import QuestionParser, Reading, parse_query
from auscult.understanding.query import Query, query_text

__all__ = ["Query", "QuestionParser", "Reading", "gist", "parse_query", "query_text"]
