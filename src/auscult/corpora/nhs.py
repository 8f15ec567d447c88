"""NHS A-Z pages: conditions, symptoms, medicines.

A record is `{"doc_id", "title", "url", "page_type", "last_reviewed", "sections": [...]}`.
Headings are coarse and lower case ("symptoms", "self care"). Information from the NHS website, Open
Government Licence v3.0.
"""

from __future__ import annotations

from auscult.corpora.records import Record
from auscult.corpora.sectioned import Draft, SectionedCorpus, headed_sections


class NhsCorpus(SectionedCorpus):
    """NHS pages; all in the split "train"."""

    name = "nhs"

    def draft(self, record: Record) -> Draft:
        """Read one page."""
        return Draft(
            doc_id=record.text("doc_id"),
            title=record.text("title"),
            sections=headed_sections(record),
            source="NHS",
            url=record.text("url", ""),
            metadata={
                "page_type": record.text("page_type", ""),
                "last_reviewed": record.text("last_reviewed", ""),
            },
        )


__all__ = ["NhsCorpus"]
