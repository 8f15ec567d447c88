"""Document, passage and sentence: frozen records whose offsets slice back to the untouched text, and their check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType

from auscult.documents.original import Original
from auscult.errors import DataError

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A half-open character range of `Document.text`, with its place in the layout.

    Attributes:
        start: Offset of the first character in the document text.
        end: One past the last character.
        begins_paragraph: Whether it is the first of its paragraph or list item.
        ends_paragraph: Whether it is the last.
        list_item: Whether it is part of a list item.
    """

    start: int
    end: int
    begins_paragraph: bool = False
    ends_paragraph: bool = False
    list_item: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A section, answer or other part of a document: the unit that is retrieved.

    Attributes:
        passage_id: Unique in its corpus.
        heading: Its heading, as written; empty if it has none.
        start: Offset in the document text; end is exclusive.
        aspect: The corpus's own aspect label, if any. For training and evaluation, never shown to a model that ranks.
        sentences: In order, inside [start, end). Empty for a passage without words.
        above: Headings above its own, outermost first.
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
    """One document: the text as it came, its passages, and where it is from.

    Attributes:
        doc_id: Unique in its corpus.
        title: Its title, as written; may be empty.
        text: The unchanged text that all offsets refer to.
        passages: In order, non-overlapping.
        source: The publisher or collection ("GARD", "NHS", ...).
        url: Address of the original; may be empty.
        entity_ids: Identifiers of the title's entity ("UMLS:C0017661", "Q1234").
        metadata: Further fields, as strings.
        original: The file that it was read from, if kept; ignored by equality.
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
        # A view of a dict travels to no other process.
        values = (getattr(self, each.name) for each in fields(self))
        return Document, tuple(dict(each) if isinstance(each, MappingProxyType) else each for each in values)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences of all passages, in document order."""
        return tuple(sentence for passage in self.passages for sentence in passage.sentences)

    def slice(self, span: Sentence | Passage) -> str:
        """The text a sentence or passage covers."""
        return self.text[span.start : span.end]

    def without_names(self) -> Document:
        """The same text, whose offsets stay, with nothing said of it: no title, heading, or what else names it."""
        passages = tuple(replace(each, heading="", aspect="", above=()) for each in self.passages)
        return replace(self, title="", url="", entity_ids=(), metadata=_NOTHING, passages=passages, original=None)


def check_document(document: Document) -> Document:
    """Check that ids are given and unique, and that all offsets are ordered and inside what holds them.

    Args:
        document: Any document; those of `build_document` pass by construction.

    Returns:
        The same document.

    Raises:
        DataError: The first broken promise, naming the document and passage.
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
