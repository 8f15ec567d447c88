"""NHS A-Z pages: conditions, symptoms, medicines.

A record is `{"doc_id", "title", "url", "page_type", "last_reviewed", "sections": [...]}`.
Headings are coarse and lower case ("symptoms", "self care"). Information from the NHS website, Open
Government Licence v3.0.

A fixed fifth of the pages is the split "test", all others are "train". Test queries are made of a page's title and its
headings: entity = title, aspect = heading; every section of the page under that heading is relevant. The headings are
the site's own, so a query's aspect is the very word its answer stands under: a model that reads headings would be
handed the answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from auscult.corpora.records import Record
from auscult.corpora.sectioned import Draft, SectionedCorpus, headed_sections
from auscult.interfaces import Judgement
from auscult.queries import Query

_SEED = "auscult nhs test 1"
_SHARE = 5


def split_of(title: str) -> str:
    """The split of a page, by a seeded hash of its title: pages of one title never fall on both sides.

    Args:
        title: As written; case does not matter.

    Returns:
        "test" for one page in five, else "train"; the same on every machine and for every selection of pages.
    """
    digest = hashlib.sha256(f"{_SEED}\n{title.casefold()}".encode()).digest()
    return "test" if int.from_bytes(digest[:8], "big") % _SHARE == 0 else "train"


class NhsCorpus(SectionedCorpus):
    """NHS pages; splits "train" and "test"; queries in "test" only."""

    name = "nhs"

    def draft(self, record: Record) -> Draft:
        """Read one page."""
        title = record.text("title")
        return Draft(
            doc_id=record.text("doc_id"),
            title=title,
            sections=headed_sections(record),
            split=split_of(title),
            source="NHS",
            url=record.text("url", ""),
            metadata={"page_type": record.text("page_type", ""), "last_reviewed": record.text("last_reviewed", "")},
        )

    def queries(self, split: str) -> Sequence[Query]:
        """One query for each test page and heading of it, in order; other splits have none."""
        return [query for query, _ in self._asked(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Every section of the page under the asked heading is relevant."""
        return [
            Judgement(query.query_id, passage_id)
            for query, passage_ids in self._asked(split)
            for passage_id in passage_ids
        ]

    def _asked(self, split: str) -> Iterator[tuple[Query, list[str]]]:
        """Each query with its relevant passages."""
        if split != "test":
            return
        for draft in self.drafts():
            if draft.split != split or not draft.title.strip():
                continue
            under: dict[str, list[str]] = {}
            for section in draft.sections:
                heading = " ".join(section.heading.casefold().split())
                if heading:
                    under.setdefault(heading, []).append(section.passage_id)
            for heading, passage_ids in under.items():
                query_id = f"{draft.doc_id}:{heading.replace(' ', '_')}"
                yield Query(query_id=query_id, entity=draft.title, aspects=(heading,)), passage_ids
