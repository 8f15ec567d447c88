"""Corpora of JSON lines that need no code of their own: a `Format` says which field of a record holds what.

- NHS A-Z pages on conditions, symptoms and medicines: `{"doc_id", "title", "url", "page_type", "last_reviewed",
  "sections": [...]}`. Headings are coarse and lower case ("symptoms", "self care"). Information from the NHS website,
  Open Government Licence v3.0. A fifth of the pages is "test".
- OpenStax' textbooks on anatomy, microbiology, psychology and nursing, one module a record: `{"doc_id", "title",
  "book", "chapter": [unit, chapter], "sections": [...]}`. CC BY 4.0, OpenStax, Rice University; free access at
  openstax.org. A quarter of the modules is "test". Prefaces make no queries, nor do headings that only say where a
  section stands ("Introduction", "Chapter Review") or that repeat the title.
- Medical articles of English and Simple English Wikipedia, a small stand-in for WikiSectionQA: `{"doc_id", "title",
  "sections": [...], "cdv_list", "snapshot", ...}`. The lead section's heading is "Abstract". `cdv_list` = "test" marks
  articles of WikiSectionQA's test part (arnold2020 section 5.1): they form the split "test" and are never trained on.
  A title in both Wikipedias makes one query. Text of Wikipedia contributors, CC BY-SA.
- Clinical trials of PubMed Central, abstracts or full texts: `{"pmcid", "title", "journal", "year", "licence",
  "sections": [...]}`. Each has a CC BY licence of its own (`licence`); cite by `pmcid`.
- Clinical notes that may be shared, in four formats. No source says which notes are of one patient, so each note's
  `patient` (by which notes are split) is its own id. Dialogues are no notes and are left out.
  - MTSamples `{"note_id", "sample_name", "description", "medical_specialty": [...], "sections": [...]}`, without a
    formal licence;
  - ACI-Bench `{"note_id", "split", "chief_complaint", "sections": [...], "dialogue"}`, CC BY 4.0;
  - MTS-Dialog `{"id", "split", "section_header", "section_text", "dialogue"}`, one section a record, CC BY 4.0;
  - PriMock57 `{"note_id", "presenting_complaint", "note"}`, free text whose headings are looked for, CC BY 4.0.
- PubMedQA: questions that are titles of PubMed abstracts, and these abstracts in labelled sections: `{"pmid",
  "question", "sections": [...], "conclusion", "split", ...}`. A query is such a question. Every section of its own
  abstract is relevant, looked for among the sections of all. Documents have no title, because that is the question,
  and no conclusion, because that is the answer. The published 500 test questions are "test". MIT licence.

`"sections"` is `[{"heading", "text"}]`. NHS, OpenStax and Wikipedia make their queries of their own titles and
headings: entity = title, aspect = heading. Every test section under that heading, in each document of that title, is
relevant. The query thus repeats the heading of its answer, and a model that reads titles and headings would be given
the answer (`evaluation.task.Task.without_names` hides both).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from auscult.documents import Section
from auscult.documents.note_headings import note_sections
from auscult.documents.splitting import SentenceSplitter
from auscult.files.records import Record, read_many
from auscult.ingest.corpus import Judgement
from auscult.ingest.sectioned import Draft, SectionedCorpus, headed_sections
from auscult.understanding import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How records of one layout become documents.

    Attributes:
        name: Default name of the corpus.
        source: The source's name, for people.
        fits: Check whether a record has this layout, where a corpus has several.
        doc_id: Field of the identifier.
        prefix: Put before the identifier.
        title: Return a record's title; empty where documents have none.
        sections: Return a record's sections.
        text: Field with the whole text of all sections; empty where the sections are joined to make it.
        split: Return a record's split.
        url: Return a record's address.
        metadata: Fields of text that are kept with the document.
        lists: Fields of several texts that are kept, and what joins them.
        is_note: Keep the identifier as the `patient` too.
        aspect: Return the aspect that a section of a test document is asked by, empty for none. Without it the corpus
            has no queries.
    """

    name: str
    source: str
    fits: Callable[[Record], bool] = lambda record: True
    doc_id: str = "doc_id"
    prefix: str = ""
    title: Callable[[Record], str] = lambda record: record.text("title")
    sections: Callable[[Record], list[Section]] = headed_sections
    text: str = ""
    split: Callable[[Record], str] = lambda record: "train"
    url: Callable[[Record], str] = lambda record: ""
    metadata: tuple[str, ...] = ()
    lists: Mapping[str, str] = field(default_factory=dict)
    is_note: bool = False
    aspect: Callable[[Draft, Section], str] | None = None

    def draft(self, record: Record) -> Draft:
        """Return the document of a record, not yet split into sentences.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        doc_id = record.text(self.doc_id)
        metadata = {name: record.text(name, "") for name in self.metadata}
        metadata |= {name: joint.join(record.texts(name)) for name, joint in self.lists.items()}
        return Draft(
            doc_id=self.prefix + doc_id,
            title=self.title(record),
            sections=self.sections(record),
            text=record.text(self.text) if self.text else None,
            split=self.split(record),
            source=self.source,
            url=self.url(record),
            metadata=metadata | ({"patient": doc_id} if self.is_note else {}),
        )


class DescribedCorpus(SectionedCorpus):
    """A corpus of JSON lines in one or several described layouts.

    Args:
        formats: The first format that fits a record is taken.
        paths: The files, plain or gzip-compressed; read in this order.
        name: The corpus' name; that of the format when not given.
        skip_bad: Leave bad records out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
    """

    def __init__(
        self,
        formats: Sequence[Format],
        *paths: Path | str,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        super().__init__(*paths, name=name or formats[0].name, skip_bad=skip_bad, splitter=splitter)
        self._formats = formats

    def draft(self, record: Record) -> Draft:
        """Read one record by the first format that fits it."""
        return next(each for each in self._formats if each.fits(record)).draft(record)

    def queries(self, split: str) -> Sequence[Query]:
        """Return a query for each title and aspect of the test documents, in order; other splits have none."""
        return [query for query, _ in self._queries(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Judge every section under a query's heading relevant, in each test document of that title."""
        return [
            Judgement(query.query_id, passage_id)
            for query, passage_ids in self._queries(split)
            for passage_id in passage_ids
        ]

    def _queries(self, split: str) -> list[tuple[Query, list[str]]]:
        aspect = self._formats[0].aspect
        if split != "test" or aspect is None:
            return []
        return heading_queries((draft for draft in self.drafts() if draft.split == split), aspect)


def heading_queries(
    drafts: Iterable[Draft], aspect_of_section: Callable[[Draft, Section], str]
) -> list[tuple[Query, list[str]]]:
    """Make a query for each title and aspect of documents, with the ids of the sections that answer it.

    A title that several documents have makes one query an aspect. Documents without a title make none.
    """
    queries: dict[tuple[str, str], tuple[Query, list[str]]] = {}
    for draft in drafts:
        for section in draft.sections if draft.title.strip() else ():
            if aspect := aspect_of_section(draft, section):
                query_id = f"{draft.doc_id}:{aspect.replace(' ', '_')}"
                query = Query(query_id=query_id, entity=draft.title, aspects=(aspect,))
                queries.setdefault((draft.title.casefold(), aspect), (query, []))[1].append(section.passage_id)
    return list(queries.values())


def split_by_title(title: str, *, seed: str, share: int) -> str:
    """Return the split of a document, by a seeded hash of its title.

    Documents of one title never fall on both sides. The split is the same for every selection of documents.

    Args:
        title: As written; case does not matter.
        seed: Another one makes another division.
        share: One title in so many is "test", the others are "train".
    """
    digest = hashlib.sha256(f"{seed}\n{title.casefold()}".encode()).digest()
    return "test" if int.from_bytes(digest[:8], "big") % share == 0 else "train"


nhs_split = partial(split_by_title, seed="auscult nhs test 1", share=5)
openstax_split = partial(split_by_title, seed="auscult openstax test 1", share=4)


def _plain(heading: str) -> str:
    """Return a heading in lower case, with single spaces."""
    return " ".join(heading.casefold().split())


NHS = (
    Format(
        name="nhs",
        source="NHS",
        split=lambda record: nhs_split(record.text("title")),
        url=lambda record: record.text("url", ""),
        metadata=("page_type", "last_reviewed"),
        aspect=lambda draft, section: _plain(section.heading),
    ),
)

_NO_ASPECT_OPENSTAX = frozenset(
    {"", "chapter review", "chapter summary", "introduction", "key concepts and summary", "overview", "summary"}
)
"""Headings of OpenStax that name no aspect of the module's subject."""


def _openstax_aspect(draft: Draft, section: Section) -> str:
    heading, title = _plain(section.heading), _plain(draft.title)
    return "" if heading in _NO_ASPECT_OPENSTAX or heading == title or title == "preface" else heading


OPENSTAX = (
    Format(
        name="openstax",
        source="OpenStax",
        split=lambda record: openstax_split(record.text("title")),
        metadata=("book",),
        lists={"chapter": " > "},
        aspect=_openstax_aspect,
    ),
)

_PUNCTUATION = re.compile(r"[^\w\s]+")
_NO_ASPECT_WIKIPEDIA = frozenset(
    {
        "", "bibliography", "citations", "external links", "footnotes", "further reading", "gallery", "miscellaneous",
        "notes", "other", "others", "references", "related pages", "see also", "sources",
    }
)  # fmt: skip
"""Headings of Wikipedia that name no aspect of the article's subject."""


def aspect_of(heading: str) -> str:
    """Return the aspect that a heading names, by the paper's preprocessing (arnold2020 section 3).

    Args:
        heading: As written.

    Returns:
        Lower case without punctuation; "information" for the lead; empty where a heading names no aspect.
    """
    words = " ".join(_PUNCTUATION.sub(" ", heading.lower().replace("'", "").replace("’", "")).split())
    if words == "abstract":
        return "information"
    return "" if words in _NO_ASPECT_WIKIPEDIA else words


def _wikipedia_url(host: str, record: Record) -> str:
    return f"https://{host}/wiki/{quote(record.text('title').replace(' ', '_'), safe='/:(),')}"


_ENGLISH = Format(
    name="wikipedia",
    source="Wikipedia",
    sections=lambda record: [
        replace(section, aspect=aspect_of(section.heading)) for section in headed_sections(record)
    ],
    split=lambda record: "test" if record.text("cdv_list", "") == "test" else "train",
    url=partial(_wikipedia_url, "en.wikipedia.org"),
    metadata=("cdv_list", "selected_by", "snapshot"),
    aspect=lambda draft, section: section.aspect,
)
_SIMPLE = replace(
    _ENGLISH,
    source="Simple English Wikipedia",
    fits=lambda record: record.text("doc_id").startswith("simplewiki:"),
    url=partial(_wikipedia_url, "simple.wikipedia.org"),
)
WIKIPEDIA = (_SIMPLE, _ENGLISH)

PMC_TRIALS = (
    Format(
        name="pmc-trials",
        source="PubMed Central",
        doc_id="pmcid",
        url=lambda record: f"https://www.ncbi.nlm.nih.gov/pmc/articles/{record.text('pmcid')}/",
        metadata=("journal", "licence"),
    ),
)

DRUG_LABELS = (
    Format(
        name="drug-labels",
        source="openFDA",
        url=lambda record: record.text("url", ""),
        lists={"brand_names": "; "},
    ),
)

CLINICAL_NOTES = (
    Format(
        name="clinical_notes",
        source="MTS-Dialog",
        fits=lambda record: "section_text" in record.fields,
        doc_id="id",
        title=lambda record: "",
        sections=lambda record: [Section(record.text("section_header", ""), record.text("section_text"))],
        split=lambda record: record.text("split", "train"),
        is_note=True,
    ),
    Format(
        name="clinical_notes",
        source="PriMock57",
        fits=lambda record: "note" in record.fields,
        doc_id="note_id",
        # The patient's first words are a quotation; they do not name the subject of the note.
        title=lambda record: "",
        sections=lambda record: list(note_sections(record.text("note"), bare_headings=False)),
        text="note",
        metadata=("presenting_complaint",),
        is_note=True,
    ),
    Format(
        name="clinical_notes",
        source="MTSamples",
        fits=lambda record: "sample_name" in record.fields,
        doc_id="note_id",
        title=lambda record: record.text("sample_name"),
        metadata=("description",),
        lists={"medical_specialty": "; "},
        is_note=True,
    ),
    Format(
        name="clinical_notes",
        source="ACI-Bench",
        doc_id="note_id",
        title=lambda record: record.text("chief_complaint", ""),
        split=lambda record: record.text("split", "train"),
        metadata=("subset",),
        is_note=True,
    ),
)

PUBMEDQA = (
    Format(
        name="pubmedqa",
        source="PubMed",
        doc_id="pmid",
        prefix="pubmedqa:",
        title=lambda record: "",
        split=lambda record: "test" if record.text("split", "") == "test" else "train",
        url=lambda record: f"https://pubmed.ncbi.nlm.nih.gov/{record.text('pmid')}/",
    ),
)


class PubMedQaCorpus(DescribedCorpus):
    """Questions and abstracts in the format `PUBMEDQA`; a question has the id of its abstract."""

    def queries(self, split: str) -> Sequence[Query]:
        """Return the questions of a split; a question takes an entity's place, so that any model can rank for it."""
        records = ((self.draft(record), record.text("question")) for record in read_many(self.paths))
        return [
            Query(query_id=draft.doc_id, entity=question, text=question)
            for draft, question in records
            if draft.split == split
        ]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Judge every section of a question's own abstract relevant."""
        return [
            Judgement(draft.doc_id, section.passage_id)
            for draft in self.drafts()
            if draft.split == split
            for section in draft.sections
        ]
