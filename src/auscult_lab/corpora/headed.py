"""Corpora whose test queries are made of titles and headings of their own documents.

Entity = title, aspect = heading; every section of the test split under that heading, in each document of that title, is
relevant. The heading is the very word that the answer stands under: a model that reads titles and headings would be
handed the answer (`evaluation.task.Task.without_names` hides both).

Two such corpora, whose split is drawn by title:

- NHS A-Z pages on conditions, symptoms and medicines: `{"doc_id", "title", "url", "page_type", "last_reviewed",
  "sections": [...]}`. Headings are coarse and lower case ("symptoms", "self care"). Information from the NHS website,
  Open Government Licence v3.0. A fifth of the pages is "test".
- OpenStax' textbooks on anatomy, microbiology, psychology and nursing, one module a record: `{"doc_id", "title",
  "book", "chapter": [unit, chapter], "sections": [...]}`. CC BY 4.0, OpenStax, Rice University; free access at
  openstax.org. A quarter of the modules is "test". Prefaces are not asked for, nor headings that only say where a
  section stands ("Introduction", "Chapter Review") or that repeat the title.

Medical articles of English and Simple English Wikipedia, with a small stand-in for WikiSectionQA.

A record is `{"doc_id", "title", "sections": [{"heading", "text"}], "cdv_list", "snapshot", ...}`. The lead
section's heading is "Abstract". `cdv_list` = "test" marks articles of WikiSectionQA's test part (arnold2020
section 5.1): they form the split "test" and are never trained on; all others are "train".

The stand-in asks for every title and heading of the test articles (`headed`); a title in both Wikipedias makes one
query. Text of Wikipedia contributors, CC BY-SA.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar
from urllib.parse import quote

from auscult.documents import Section
from auscult.files.records import Record
from auscult.interfaces import Judgement
from auscult.sources.sectioned import Draft, SectionedCorpus, headed_sections
from auscult.understanding import Query

_NO_ASPECT_OPENSTAX = frozenset(
    {"", "chapter review", "chapter summary", "introduction", "key concepts and summary", "overview", "summary"}
)
"""Headings of OpenStax that name no aspect of the module's subject."""
_PREFACE = "preface"


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


class TitleSplitCorpus(HeadedCorpus):
    """Records with "doc_id", "title" and "sections"; the split of a document is drawn by its title.

    Attributes:
        seed: Seed of the split (`split_by_title`).
        share: One title in so many is "test".
    """

    seed: ClassVar[str]
    share: ClassVar[int]

    @classmethod
    def split_of(cls, title: str) -> str:
        """Return the split of a document: "test" for one title in `share`, else "train"."""
        return split_by_title(title, seed=cls.seed, share=cls.share)

    def draft(self, record: Record) -> Draft:
        """Read what the records of these corpora share."""
        title = record.text("title")
        return Draft(
            doc_id=record.text("doc_id"), title=title, sections=headed_sections(record), split=self.split_of(title)
        )


class NhsCorpus(TitleSplitCorpus):
    """NHS pages; splits "train" and "test"; queries in "test" only."""

    name = "nhs"
    seed = "auscult nhs test 1"
    share = 5

    def draft(self, record: Record) -> Draft:
        """Read one page."""
        return replace(
            super().draft(record),
            source="NHS",
            url=record.text("url", ""),
            metadata={"page_type": record.text("page_type", ""), "last_reviewed": record.text("last_reviewed", "")},
        )

    def aspect_asked(self, draft: Draft, section: Section) -> str:
        """Return its heading."""
        return plain_heading(section.heading)


class OpenStaxCorpus(TitleSplitCorpus):
    """Textbook modules; splits "train" and "test"; queries in "test" only."""

    name = "openstax"
    seed = "auscult openstax test 1"
    share = 4

    def draft(self, record: Record) -> Draft:
        """Read one module."""
        return replace(
            super().draft(record),
            source="OpenStax",
            metadata={"book": record.text("book", ""), "chapter": " > ".join(record.texts("chapter"))},
        )

    def aspect_asked(self, draft: Draft, section: Section) -> str:
        """Return its heading, where that says more than the title."""
        heading, title = plain_heading(section.heading), plain_heading(draft.title)
        return "" if heading in _NO_ASPECT_OPENSTAX or heading == title or title == _PREFACE else heading


_PUNCTUATION = re.compile(r"[^\w\s]+")

# Headings that name no aspect of the article's subject.
_NO_ASPECT_WIKIPEDIA = frozenset(
    {
        "", "bibliography", "citations", "external links", "footnotes", "further reading", "gallery", "miscellaneous",
        "notes", "other", "others", "references", "related pages", "see also", "sources",
    }
)  # fmt: skip


def aspect_of(heading: str) -> str:
    """The aspect that a heading names, by the paper's preprocessing (arnold2020 section 3).

    Args:
        heading: As written.

    Returns:
        Lower case without punctuation; "information" for the lead; empty where a heading names no aspect.
    """
    words = " ".join(_PUNCTUATION.sub(" ", heading.lower().replace("'", "").replace("’", "")).split())
    if words == "abstract":
        return "information"
    return "" if words in _NO_ASPECT_WIKIPEDIA else words


class WikipediaCorpus(HeadedCorpus):
    """Articles of one or more files; splits "train" and "test"; queries in "test" only."""

    name = "wikipedia"

    def draft(self, record: Record) -> Draft:
        """Read one article."""
        doc_id, title = record.text("doc_id"), record.text("title")
        simple = doc_id.startswith("simplewiki:")
        host = "simple.wikipedia.org" if simple else "en.wikipedia.org"
        return Draft(
            doc_id=doc_id,
            title=title,
            sections=[
                Section(heading, section.text("text"), aspect=aspect_of(heading))
                for section in record.records("sections")
                for heading in (section.text("heading", ""),)
            ],
            split="test" if record.text("cdv_list", "") == "test" else "train",
            source="Simple English Wikipedia" if simple else "Wikipedia",
            url=f"https://{host}/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}",
            metadata={
                "cdv_list": record.text("cdv_list", ""),
                "selected_by": record.text("selected_by", ""),
                "snapshot": record.text("snapshot", ""),
            },
        )

    def aspect_asked(self, draft: Draft, section: Section) -> str:
        """What its heading names."""
        return section.aspect
