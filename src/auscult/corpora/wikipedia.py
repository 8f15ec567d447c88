"""Medical articles of English and Simple English Wikipedia, with a small stand-in for WikiSectionQA.

A record is `{"doc_id", "title", "sections": [{"heading", "text"}], "cdv_list", "snapshot", ...}`. The lead
section's heading is "Abstract". `cdv_list` = "test" marks articles of WikiSectionQA's test part (arnold2020
section 5.1): they form the split "test" and are never trained on; all others are "train".

The stand-in asks for every (title, heading) of the test articles. Text of Wikipedia contributors, CC BY-SA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from auscult.corpora.records import Record
from auscult.corpora.sectioned import Draft, SectionedCorpus
from auscult.documents import Section
from auscult.interfaces import Judgement
from auscult.queries import Query

_PUNCTUATION = re.compile(r"[^\w\s]+")

# Headings that name no aspect of the article's subject.
NO_ASPECT = frozenset(
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
    return "" if words in NO_ASPECT else words


class WikipediaCorpus(SectionedCorpus):
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

    def queries(self, split: str) -> Sequence[Query]:
        """One query for each title and aspect of the test articles, in order; other splits have none."""
        return [
            Query(query_id=query_id, entity=title, aspects=(aspect,))
            for query_id, title, aspect, _ in self._asked(split)
        ]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Every section under the asked heading is relevant, in each article of that title."""
        return [
            Judgement(query_id, passage_id)
            for query_id, _, _, passage_ids in self._asked(split)
            for passage_id in passage_ids
        ]

    def _asked(self, split: str) -> Iterator[tuple[str, str, str, list[str]]]:
        """(query id, title, aspect, relevant passages); a title in both Wikipedias makes one query."""
        if split != "test":
            return
        titles: dict[tuple[str, str], tuple[str, str]] = {}
        relevant: dict[tuple[str, str], list[str]] = {}
        for draft in self.drafts():
            if draft.split != split:
                continue
            for section in draft.sections:
                if section.aspect:
                    key = (draft.title.casefold(), section.aspect)
                    titles.setdefault(key, (f"{draft.doc_id}:{section.aspect.replace(' ', '_')}", draft.title))
                    relevant.setdefault(key, []).append(section.passage_id)
        for key, (query_id, title) in titles.items():
            yield query_id, title, key[1], relevant[key]
