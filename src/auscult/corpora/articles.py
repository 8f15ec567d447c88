"""Sources that are articles in sections and no more: OpenStax' textbooks, and clinical trials of PubMed Central.

OpenStax: anatomy, microbiology, psychology, nursing. A record is one module: `{"doc_id", "title", "book", "chapter":
[unit, chapter], "sections": [{"heading", "level", "text"}]}`. CC BY 4.0, OpenStax, Rice University; free access at
openstax.org.

Trials: abstracts, or full texts, with their section labels. A record is one article: `{"pmcid", "title", "journal",
"year", "licence", "sections": [{"heading", "text"}]}`. Each has a CC BY licence of its own (`licence`); cite by
`pmcid`.
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


class PmcTrialsCorpus(SectionedCorpus):
    """Trial articles; all in the split "train"."""

    name = "pmc-trials"

    def draft(self, record: Record) -> Draft:
        """Read one article."""
        pmcid = record.text("pmcid")
        return Draft(
            doc_id=pmcid,
            title=record.text("title"),
            sections=headed_sections(record),
            source="PubMed Central",
            url=f"https://www.ncbi.nlm.nih.gov/pmc/articles/{pmcid}/",
            metadata={key: record.text(key, "") for key in ("journal", "licence")},
        )
