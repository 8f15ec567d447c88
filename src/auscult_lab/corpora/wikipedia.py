"""Medical articles of English and Simple English Wikipedia, with a small stand-in for WikiSectionQA.

A record is `{"doc_id", "title", "sections": [{"heading", "text"}], "cdv_list", "snapshot", ...}`. The lead
section's heading is "Abstract". `cdv_list` = "test" marks articles of WikiSectionQA's test part (arnold2020
section 5.1): they form the split "test" and are never trained on; all others are "train".

The stand-in asks for every title and heading of the test articles (`headed`); a title in both Wikipedias makes one
query. Text of Wikipedia contributors, CC BY-SA.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from auscult.documents import Section
from auscult.files.records import Record
from auscult.sources.sectioned import Draft
from auscult_lab.corpora.headed import HeadedCorpus

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
