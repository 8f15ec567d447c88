"""Queries whose answers share nothing with what a model was trained on: no 13 words in a row, no name, no identifier.

A split keeps documents apart; what documents repeat of each other it does not see. These queries are what is left of a
test when every query is taken out that a training document could have told something about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from auscult.documents import Document
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.corpora.medquad_records import normalised_name, normalised_words

GRAM = 13
"""Words in a row that make two texts share something (brown2020, appendix C)."""


_SHARE_NOTHING = "queries that share nothing with"


def unseen_subset(number: int, documents: str) -> str:
    """How records call a selection of queries (`EvaluationRecord.query_subset`).

    Args:
        number: How many queries.
        documents: Which documents they share nothing with, in words.
    """
    return f"{number:,} {_SHARE_NOTHING} {documents}"


def is_unseen(subset: str) -> bool:
    """Whether `unseen_subset` named a selection of queries."""
    return _SHARE_NOTHING in subset


def unseen_parts(subset: str) -> tuple[str, str]:
    """Return the number and the documents, in words, that `unseen_subset` was given."""
    number, _, documents = subset.partition(f" {_SHARE_NOTHING} ")
    return number, documents


class UnseenQueries:
    """The queries of a test that training documents share nothing with.

    A training document touches a query where it has, of one of the query's relevant passages,

    - 13 words in a row, or all of them where there are fewer: words are runs of the letters a to z and of digits,
      without case and accents; or
    - the title or a synonym of the passage's document, or the query's entity, as its own title or synonym, compared by
      the same words; or
    - an identifier of the passage's document (`Document.entity_ids`: UMLS, Wikidata).

    Takes about four seconds for a million words of training text.

    Args:
        documents: Of the test.
        queries: Of the test.
        judgements: Of the test; only relevant passages count.

    Attributes:
        by_words: Queries touched by words.
        by_name: Queries touched by a name or an identifier.
    """

    def __init__(
        self, documents: Iterable[Document], queries: Sequence[Query], judgements: Iterable[Judgement]
    ) -> None:
        self._queries = queries
        self.by_words: set[str] = set()
        self.by_name: set[str] = set()
        self._runs: dict[str, set[str]] = {}
        self._short: dict[str, set[str]] = {}
        self._called: dict[str, set[str]] = {}
        entities = {query.query_id: normalised_name(query.entity) for query in queries}
        asking: dict[str, set[str]] = {}
        for each in judgements:
            if each.relevance > 0:
                asking.setdefault(each.passage_id, set()).add(each.query_id)
        for document in documents:
            for passage in document.passages:
                ids = asking.get(passage.passage_id, set())
                for name in (*_names(document), *(entities[query_id] for query_id in ids), *document.entity_ids):
                    self._called.setdefault(name, set()).update(ids)
                words = normalised_words(document.slice(passage)).split()
                for run in _runs(words):
                    self._runs.setdefault(run, set()).update(ids)
                if len(words) < GRAM:
                    self._short.setdefault(" ".join(words), set()).update(ids)

    def read(self, training: Iterable[Document]) -> int:
        """Find what training documents touch; again for more of them.

        Args:
            training: Read once.

        Returns:
            How many there were.
        """
        number = 0
        for document in training:
            number += 1
            for name in (*_names(document), *document.entity_ids):
                self.by_name |= self._called.get(name, set())
            text = normalised_words(document.text)
            for run in _runs(text.split()):
                self.by_words |= self._runs.get(run, set())
            for run, ids in self._short.items():
                if f" {run} " in f" {text} ":
                    self.by_words |= ids
        return number

    @property
    def ids(self) -> list[str]:
        """Ids of the queries that nothing read has touched, in the order of the queries."""
        touched = self.by_words | self.by_name
        return [query.query_id for query in self._queries if query.query_id not in touched]


def _names(document: Document) -> set[str]:
    synonyms = document.metadata.get("synonyms", "").split("|")
    return {normalised_name(name) for name in (document.title, *synonyms)} - {""}


def _runs(words: Sequence[str]) -> Iterator[str]:
    return (" ".join(words[start : start + GRAM]) for start in range(len(words) - GRAM + 1))


__all__ = ["GRAM", "UnseenQueries", "is_unseen", "unseen_parts", "unseen_subset"]
