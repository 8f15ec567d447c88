"""The common part of all corpora of sectioned JSON lines: streaming, splits, checks, and building documents."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from auscult.documents.building import build_document, check_sentences
from auscult.documents.document import Document, Section
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError
from auscult.files.limits import TooLargeError, check_texts
from auscult.files.records import BadRecords, Record, RecordError, check_id, read_many, reject, settle, too_large
from auscult.ingest.corpus import Judgement
from auscult.understanding.query import Query

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A document from the file of a corpus, not yet split into sentences.

    Attributes:
        text: The whole text with the sections; None if the text is built from the sections.
    """

    doc_id: str
    title: str
    sections: Sequence[Section]
    text: str | None = None
    split: str = "train"
    source: str = ""
    url: str = ""
    entity_ids: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


class WithoutQueries:
    """A corpus with documents only."""

    def queries(self, split: str) -> Sequence[Query]:
        """Return none: the corpus has no queries."""
        return ()

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return none: the corpus has no queries."""
        return ()

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return none: the corpus has no candidates."""
        return {}


class SectionedCorpus(WithoutQueries, ABC):
    """A corpus of JSON lines files whose records are documents in sections.

    Sections without a word are left out; the others keep their number in the record (`<doc_id>#<n>`).

    Args:
        paths: The files, plain or gzip-compressed, in order.
        name: Name of the corpus; by default that of the class.
        skip_bad: Skip bad records and count them in `bad`, instead of raising an error.
        splitter: Splits sentences; by default the default splitter.

    Attributes:
        name: Name of the corpus.
        bad: Records that the latest pass skipped.

    Raises:
        CorpusMissingError: No file was named.
    """

    name = ""

    def __init__(
        self, *paths: Path | str, name: str = "", skip_bad: bool = False, splitter: SentenceSplitter | None = None
    ) -> None:
        if not paths:
            raise CorpusMissingError("at least one file", "none", "name the corpus' files")
        self.name = name or self.name
        self.paths = tuple(Path(path) for path in paths)
        self.bad = BadRecords()
        self._skip_bad = skip_bad
        self._splitter = splitter

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Yield the records of all files. The default format is JSON lines; subclasses may read another.

        Args:
            report: Counts skipped records.
        """
        return read_many(self.paths, skip_bad=self._skip_bad, report=report)

    @abstractmethod
    def draft(self, record: Record) -> Draft:
        """Convert one record to a draft.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Yield the documents of one split or all, in file order.

        Args:
            split: Name of the split. Corpora without splits have everything in "train".

        Yields:
            Documents, one at a time in memory.

        Raises:
            CorpusMissingError: A file is missing.
            RecordError: A record is bad, too large, repeats an id or has no words (unless `skip_bad`).
        """
        for draft in self.drafts():
            if split is None or draft.split == split:
                yield build_document(
                    doc_id=draft.doc_id,
                    title=draft.title,
                    sections=draft.sections,
                    source=draft.source,
                    url=draft.url,
                    entity_ids=draft.entity_ids,
                    metadata=draft.metadata,
                    splitter=self._splitter,
                    text=draft.text,
                )

    def drafts(self) -> Iterator[Draft]:
        """Yield checked drafts of all splits, without splitting sentences."""
        self.bad = report = BadRecords()
        seen: set[str] = set()
        seen_passages: set[str] = set()
        for record in self.records(report):
            try:
                draft = _check_draft(self.draft(record), record, seen, seen_passages)
            except RecordError as error:
                settle(error, self._skip_bad, report)
                continue
            seen.add(draft.doc_id)
            seen_passages.update(section.passage_id for section in draft.sections)
            yield draft


def headed_sections(record: Record) -> list[Section]:
    """Return the sections of a record `{"sections": [{"heading", "text"}, ...]}`; a heading may be missing.

    Raises:
        RecordError: There are none, or one has no text.
    """
    return [Section(s.text("heading", ""), s.text("text")) for s in record.records("sections")]


def number_sections(doc_id: str, sections: Iterable[Section]) -> tuple[Section, ...]:
    """Give sections default ids by position, and leave out those without a word."""
    return tuple(
        section if section.passage_id else replace(section, passage_id=f"{doc_id}#{number}")
        for number, section in enumerate(sections, start=1)
        if _WORD.search(section.text)
    )


def _check_draft(draft: Draft, record: Record, seen: set[str], seen_passages: set[str]) -> Draft:
    if not draft.doc_id:
        reject("missing field", record.where, "an id", "an empty one")
    check_id(draft.doc_id, record.where)
    try:
        texts = [section.text for section in draft.sections] if draft.text is None else [draft.text]
        check_texts((draft.title, *texts), record.where)
        check_sentences("\n\n".join(texts), record.where)
    except TooLargeError as error:
        raise too_large(error) from error
    if draft.doc_id in seen:
        reject("duplicate id", record.where, "an id of its own for each document", f"{draft.doc_id!r} again")
    sections = number_sections(draft.doc_id, draft.sections)
    if not sections:
        reject("empty document", record.where, "a document with words", f"{draft.doc_id!r} without any")
    ids = [check_id(section.passage_id, record.where) for section in sections]
    if len(set(ids)) != len(ids):
        reject("duplicate id", record.where, "an id of its own for each section", f"a repeat in {draft.doc_id!r}")
    repeated = next((passage_id for passage_id in ids if passage_id in seen_passages), None)
    if repeated is not None:
        reject("duplicate id", record.where, "section ids that no other document has", f"{repeated!r} again")
    return replace(draft, sections=sections)
