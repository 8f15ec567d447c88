"""PubMedQA: questions that are titles of PubMed abstracts, and these abstracts in labelled sections.

A record is `{"pmid", "question", "sections": [{"heading", "text"}], "conclusion", "split", ...}`: the title of an
article, its abstract without the conclusion, and apart the conclusion, which answers the question. Asked here is which
abstract could answer: every section of the question's own abstract is relevant, looked for among the sections of all.
Documents have no title, because that is the question, and no conclusion.

The published 500 test questions are the split "test", all others "train". MIT licence.

Clinical trials of PubMed Central: abstracts, or full texts, with their section labels.

A record is one article: `{"pmcid", "title", "journal", "year", "licence", "sections": [{"heading", "text"}]}`. Each has
a CC BY licence of its own (`licence`); cite by `pmcid`.
"""

from __future__ import annotations

from collections.abc import Sequence

from auscult.files.records import Record, read_many
from auscult.interfaces import Judgement
from auscult.sources.sectioned import Draft, SectionedCorpus, headed_sections
from auscult.understanding import Query


class PubMedQaCorpus(SectionedCorpus):
    """Questions and abstracts; splits "train" and "test". A question has the id of its abstract."""

    name = "pubmedqa"

    def draft(self, record: Record) -> Draft:
        """Read one abstract."""
        pmid = record.text("pmid")
        return Draft(
            doc_id=_id_of(record),
            title="",
            sections=headed_sections(record),
            split=_split_of(record),
            source="PubMed",
            url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        )

    def queries(self, split: str) -> Sequence[Query]:
        """The questions of a split; a question stands where an entity would, so that any model can rank for it."""
        asked = ((_id_of(record), record.text("question")) for record in self._of(split))
        return [Query(query_id=query_id, entity=question, text=question) for query_id, question in asked]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Every section of a question's own abstract is relevant."""
        return [
            Judgement(draft.doc_id, section.passage_id)
            for draft in self.drafts()
            if draft.split == split
            for section in draft.sections
        ]

    def _of(self, split: str) -> list[Record]:
        return [record for record in read_many(self.paths) if _split_of(record) == split]


def _id_of(record: Record) -> str:
    return f"pubmedqa:{record.text('pmid')}"


def _split_of(record: Record) -> str:
    return "test" if record.text("split", "") == "test" else "train"


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
