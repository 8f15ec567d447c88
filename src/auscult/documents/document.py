"""Define documents, passages, sentences and sections as frozen records with offsets into the original text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType

from auscult.documents.original import Original
from auscult.errors import DataError

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A half-open character range of `Document.text`, with its place in paragraphs and lists.

    Attributes:
        start: Offset of the first character in the document text.
        end: One past the last character.
        begins_paragraph: Whether it is the first sentence of its paragraph (or list item).
        ends_paragraph: Whether it is the last sentence of its paragraph (or list item).
        list_item: Whether it is part of a list item.
    """

    start: int
    end: int
    begins_paragraph: bool = False
    ends_paragraph: bool = False
    list_item: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document: the unit that is retrieved.

    Attributes:
        passage_id: Unique in its corpus.
        heading: The author's heading, if any.
        start: Offset in the document text; `end` is exclusive.
        aspect: The corpus's aspect label, if any: for training and evaluation by aspect, never for a model that ranks.
        sentences: Sentences in order, inside [start, end); may be empty.
        above: The headings above its own, outermost first.
    """

    passage_id: str
    heading: str
    start: int
    end: int
    sentences: tuple[Sentence, ...] = ()
    aspect: str = ""
    above: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document: the original text, its passages, and its origin.

    Attributes:
        doc_id: Unique in its corpus.
        title: The author's title; may be empty.
        text: The original text that every offset refers to.
        passages: Passages in order, without overlap.
        source: The publisher or collection ("GARD", "NHS", ...).
        url: Address of the original, if known.
        entity_ids: Identifiers of the title's entity, if known ("UMLS:C0017661", "Q1234").
        metadata: Further fields of the corpus, as strings.
        original: The file that it was read from, if kept; ignored in comparisons.
    """

    doc_id: str
    title: str
    text: str
    passages: tuple[Passage, ...]
    source: str = ""
    url: str = ""
    entity_ids: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    original: Original | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Document], tuple[object, ...]]:
        # A view of a dict cannot be pickled for another process.
        values = (getattr(self, each.name) for each in fields(self))
        return Document, tuple(dict(each) if isinstance(each, MappingProxyType) else each for each in values)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Return all sentences of all passages, in document order."""
        return tuple(sentence for passage in self.passages for sentence in passage.sentences)

    def slice(self, span: Sentence | Passage) -> str:
        """Return the text of a sentence or passage."""
        return self.text[span.start : span.end]

    def without_names(self) -> Document:
        """Return the document with the same text and offsets, but without title, headings and other names."""
        passages = tuple(replace(each, heading="", aspect="", above=()) for each in self.passages)
        return replace(self, title="", url="", entity_ids=(), metadata=_NOTHING, passages=passages, original=None)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document in a corpus.

    Attributes:
        heading: The heading as written; empty if there is none.
        text: The original text.
        passage_id: Identifier, unique in the corpus; empty for `<doc_id>#<n>`, n counted from 1.
        aspect: The corpus' own normalised aspect label, if it has one.
        start: Offset in the document's text; None if that text is made by joining the sections.
        above: The headings above its own, outermost first.
    """

    heading: str
    text: str
    passage_id: str = ""
    aspect: str = ""
    start: int | None = None
    above: tuple[str, ...] = ()


def check_document(document: Document) -> Document:
    """Check that ids are present and unique, and that ranges are ordered and inside the text or passage around them.

    Args:
        document: Any document; those of `build_document` are always valid.

    Returns:
        The same document.

    Raises:
        DataError: A check fails; the message names the document and passage.
    """
    if not document.doc_id:
        raise DataError("a document with an id", "an empty doc_id", "give every document a unique id")
    seen: set[str] = set()
    at = 0
    for passage in document.passages:
        where = f"passage {passage.passage_id!r} of document {document.doc_id!r}"
        if not passage.passage_id or passage.passage_id in seen:
            raise DataError("unique passage ids", where, "give every passage an id of its own")
        seen.add(passage.passage_id)
        if not at <= passage.start <= passage.end <= len(document.text):
            raise DataError(
                "passages in order inside the text",
                f"{where} at [{passage.start}, {passage.end})",
                "correct its offsets",
            )
        at = passage.end
        _check_sentences(document, passage, where)
    return document


def _check_sentences(document: Document, passage: Passage, where: str) -> None:
    at = passage.start
    for sentence in passage.sentences:
        if not at <= sentence.start < sentence.end <= passage.end:
            raise DataError(
                "sentences in order inside their passage",
                f"[{sentence.start}, {sentence.end}) in {where}",
                "correct its offsets",
            )
        if document.text[at : sentence.start].strip():
            raise DataError(
                "sentences that cover all words",
                f"words before offset {sentence.start} in {where}",
                "segment the passage with segment_passage",
            )
        at = sentence.end
    if passage.sentences and document.text[at : passage.end].strip():
        raise DataError(
            "sentences that cover all words",
            f"words after offset {at} in {where}",
            "segment the passage with segment_passage",
        )
