"""Turn questions into queries: the entity they are about, the aspects they ask for, and their words."""

from auscult.understanding.query import Query, query_text
from auscult.understanding.reading import QuestionParser, QuestionReading

__all__ = ["Query", "QuestionParser", "QuestionReading", "query_text"]
