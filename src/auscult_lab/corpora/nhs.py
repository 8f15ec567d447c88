"""NHS A-Z pages: conditions, symptoms, medicines.

A record is `{"doc_id", "title", "url", "page_type", "last_reviewed", "sections": [...]}`.
Headings are coarse and lower case ("symptoms", "self care"). Information from the NHS website, Open
Government Licence v3.0.

A fixed fifth of the pages is the split "test", all others are "train". Test queries are made of a page's title and its
headings (`headed`); the headings are the site's own.
"""

from __future__ import annotations

from auscult.documents import Section
from auscult.files.records import Record
from auscult.sources.sectioned import Draft, headed_sections
from auscult_lab.corpora.headed import HeadedCorpus, plain_heading, split_by_title


def split_of(title: str) -> str:
    """The split of a page: "test" for one title in five, else "train"."""
    return split_by_title(title, seed="auscult nhs test 1", share=5)


class NhsCorpus(HeadedCorpus):
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

    def aspect_asked(self, draft: Draft, section: Section) -> str:
        """Its heading."""
        return plain_heading(section.heading)
