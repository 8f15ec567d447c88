"""Queries: entity, aspects, and the question they came from."""

from auscult.queries.asking import gist
from auscult.queries.parsing import QuestionParser, Reading, parse_query
from auscult.queries.query import Query
from auscult.queries.text import query_text

__all__ = ["Query", "QuestionParser", "Reading", "gist", "parse_query", "query_text"]
