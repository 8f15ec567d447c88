"""Queries: entity, aspects, and the question they came from."""

from auscult.queries.parsing import QuestionParser, Reading, parse_query
from auscult.queries.query import Query

__all__ = ["Query", "QuestionParser", "Reading", "parse_query"]
