"""Clinical trials of PubMed Central: abstracts, or full texts, with their section labels.

A record is one article: `{"pmcid", "title", "journal", "year", "licence", "sections": [{"heading", "text"}]}`. Each has
a CC BY licence of its own (`licence`); cite by `pmcid`.
"""

from __future__ import annotations

from auscult.files.records import Record
from auscult.sources.sectioned import Draft, SectionedCorpus, headed_sections


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
