"""Sections of OpenStax textbooks: anatomy, microbiology, psychology, nursing.

A record is one module: `{"doc_id", "title", "book", "chapter": [unit, chapter], "sections": [{"heading",
"level", "text"}]}`. CC BY 4.0, OpenStax, Rice University; free access at openstax.org.
"""

from __future__ import annotations

from auscult.corpora.records import Record
from auscult.corpora.sectioned import Draft, SectionedCorpus, headed_sections


class OpenStaxCorpus(SectionedCorpus):
    """Textbook modules; all in the split "train"."""

    name = "openstax"

    def draft(self, record: Record) -> Draft:
        """Read one module."""
        return Draft(
            doc_id=record.text("doc_id"),
            title=record.text("title"),
            sections=headed_sections(record),
            source="OpenStax",
            metadata={"book": record.text("book", ""), "chapter": " > ".join(record.texts("chapter"))},
        )


__all__ = ["OpenStaxCorpus"]
