"""Corpora whose test queries are made of titles and headings of their own documents.

Entity = title, aspect = heading; every section of the test split under that heading, in each document of that title, is
relevant. The heading is the very word that the answer stands under: a model that reads titles and headings would be
handed the answer (`evaluation.task.Task.without_names` hides both).
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence

from auscult.documents import Section
from auscult.interfaces import Judgement
from auscult.sources.sectioned import Draft, SectionedCorpus
from auscult.understanding import Query


class HeadedCorpus(SectionedCorpus):
    """Documents in sections; queries in the split "test" only."""

    @abstractmethod
    def aspect_asked(self, draft: Draft, section: Section) -> str:
        """The aspect that a section is asked by; empty for a section that is never asked for."""

    def queries(self, split: str) -> Sequence[Query]:
        """One query for each title and aspect of the test documents, in order; other splits have none."""
        return [query for query, _ in self._asked(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Every section under the asked heading is relevant, in each test document of that title."""
        return [
            Judgement(query.query_id, passage_id)
            for query, passage_ids in self._asked(split)
            for passage_id in passage_ids
        ]

    def _asked(self, split: str) -> Iterator[tuple[Query, list[str]]]:
        """Each query with its relevant passages; a title that several documents have makes one query an aspect."""
        if split != "test":
            return
        found: dict[tuple[str, str], tuple[Query, list[str]]] = {}
        for draft in self.drafts():
            if draft.split != split or not draft.title.strip():
                continue
            for section in draft.sections:
                if aspect := self.aspect_asked(draft, section):
                    query_id = f"{draft.doc_id}:{aspect.replace(' ', '_')}"
                    query = Query(query_id=query_id, entity=draft.title, aspects=(aspect,))
                    found.setdefault((draft.title.casefold(), aspect), (query, []))[1].append(section.passage_id)
        yield from found.values()


def plain_heading(heading: str) -> str:
    """A heading in lower case, with single spaces."""
    return " ".join(heading.casefold().split())


def split_by_title(title: str, *, seed: str, share: int) -> str:
    """The split of a document, by a seeded hash of its title: documents of one title never fall on both sides.

    Args:
        title: As written; case does not matter.
        seed: Another one makes another division.
        share: One title in so many is "test".

    Returns:
        "test" or "train"; the same on every machine and for every selection of documents.
    """
    digest = hashlib.sha256(f"{seed}\n{title.casefold()}".encode()).digest()
    return "test" if int.from_bytes(digest[:8], "big") % share == 0 else "train"
