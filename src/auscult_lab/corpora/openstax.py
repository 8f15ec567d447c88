"""OpenStax' textbooks on anatomy, microbiology, psychology and nursing, in sections.

A record is one module: `{"doc_id", "title", "book", "chapter": [unit, chapter], "sections": [{"heading", "level",
"text"}]}`. CC BY 4.0, OpenStax, Rice University; free access at openstax.org.

A fixed quarter of the modules is the split "test", all others are "train". Test queries are made of a module's title
and its headings (`headed`). Not asked are prefaces, headings that only say where a section stands ("Introduction",
"Chapter Review"), and those that repeat the title.
"""

from __future__ import annotations

from auscult.documents import Section
from auscult.files.records import Record
from auscult.sources.sectioned import Draft, headed_sections
from auscult_lab.corpora.headed import HeadedCorpus, plain_heading, split_by_title

NO_ASPECT = frozenset(
    {"", "chapter review", "chapter summary", "introduction", "key concepts and summary", "overview", "summary"}
)
"""Headings that name no aspect of the module's subject."""
_PREFACE = "preface"


def split_of(title: str) -> str:
    """The split of a module: "test" for one title in four, else "train"."""
    return split_by_title(title, seed="auscult openstax test 1", share=4)


class OpenStaxCorpus(HeadedCorpus):
    """Textbook modules; splits "train" and "test"; queries in "test" only."""

    name = "openstax"

    def draft(self, record: Record) -> Draft:
        """Read one module."""
        title = record.text("title")
        return Draft(
            doc_id=record.text("doc_id"),
            title=title,
            sections=headed_sections(record),
            split=split_of(title),
            source="OpenStax",
            metadata={"book": record.text("book", ""), "chapter": " > ".join(record.texts("chapter"))},
        )

    def aspect_asked(self, draft: Draft, section: Section) -> str:
        """Its heading, where that says more than the title."""
        heading, title = plain_heading(section.heading), plain_heading(draft.title)
        return "" if heading in NO_ASPECT or heading == title or title == _PREFACE else heading
