"""Build documents from sections: join their texts, and compute offsets, paragraphs and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from auscult.documents.document import Document, Passage, Section, Sentence
from auscult.documents.language import reading_language
from auscult.documents.original import Original
from auscult.documents.splitting import SentenceSplitter, paragraphs, splitter_for
from auscult.documents.wrapping import unwrapped
from auscult.files.limits import TooLargeError, limits

#: A sentence ends at one of these, or the text does.
_ENDS = "\n.!?;:…。！？"


def segment_passage(
    text: str, start: int, end: int, splitter: SentenceSplitter | None = None, *, language: str = "en"
) -> tuple[Sentence, ...]:
    """Find the sentences of one passage.

    Args:
        text: The document's text.
        start: Offset of the passage in it.
        end: One past its last character.
        splitter: Splitter of paragraphs into sentences, if not the default one of the language.
        language: Code of the text's language; it does not matter if a splitter is given.

    Returns:
        Sentences in order. Their ranges, in offsets of `text`, contain every non-space character of the passage
        exactly once.
    """
    split = (splitter or splitter_for(language)).split
    passage = text if start == 0 and end == len(text) else text[start:end]
    sentences: list[Sentence] = []
    for paragraph in paragraphs(passage):
        body = passage[paragraph.body : paragraph.end]
        ranges = split(body)
        last = len(ranges) - 1
        offset = start + paragraph.body
        for position, (first, stop) in enumerate(ranges):
            sentences.append(
                Sentence(
                    # The list marker belongs to the first sentence of its item.
                    start + paragraph.start if position == 0 else offset + first,
                    offset + stop,
                    position == 0,
                    position == last,
                    paragraph.list_item,
                )
            )
    return tuple(sentences)


def check_sentences(text: str, where: str, splitter: SentenceSplitter | None = None) -> None:
    """Check that a document does not have too many sentences.

    Only texts with more line ends and punctuation than the limit are split for this.

    Args:
        text: The document's text.
        where: Where it is, for the error message.
        splitter: Splitter as for `segment_passage`.

    Raises:
        TooLargeError: It has too many.
    """
    most = limits().sentences
    ends = sum(map(text.count, _ENDS))
    if ends >= most and len(segment_passage(text, 0, len(text), splitter)) > most:
        raise TooLargeError("sentences", "a document of", "sentences", where)


def build_document(
    *,
    doc_id: str,
    title: str,
    sections: Iterable[Section],
    source: str = "",
    url: str = "",
    entity_ids: Iterable[str] = (),
    metadata: Mapping[str, str] | None = None,
    splitter: SentenceSplitter | None = None,
    separator: str = "\n\n",
    text: str | None = None,
    original: Original | None = None,
    language: str | None = None,
) -> Document:
    """Build a document whose passages are its sections.

    Its text is the sections' texts joined, or `text`, if the sections have offsets in it.

    Args:
        doc_id: Identifier, unique in the corpus.
        title: The title; may be empty.
        sections: The sections in order. One without words becomes a passage without sentences.
        source: The publisher or collection.
        url: Address of the original.
        entity_ids: Identifiers of the title's entity.
        metadata: Further fields, as strings; copied.
        splitter: Splitter of paragraphs into sentences, if not the default one of the language.
        separator: Text between sections, which belongs to no passage.
        text: The whole original text that the sections were found in, including headings and all else between them.
        original: The file that the document was read from.
        language: Code of the text's language, for its sentence ends; None to detect it.

    Returns:
        The document; the range of every passage is the original text of its section.
    """
    sections = tuple(sections)
    given = text is not None
    text = separator.join(section.text for section in sections) if text is None else text
    chosen = splitter or splitter_for(reading_language(text) if language is None else language)
    # Find sentences as if the text were not wrapped at a fixed width; offsets do not change.
    readable = unwrapped(text) if given else text
    passages: list[Passage] = []
    start = 0
    for number, section in enumerate(sections, start=1):
        start = start if section.start is None else section.start
        end = start + len(section.text)
        passages.append(
            Passage(
                passage_id=section.passage_id or f"{doc_id}#{number}",
                heading=section.heading,
                start=start,
                end=end,
                sentences=segment_passage(readable, start, end, chosen),
                aspect=section.aspect,
                above=section.above,
            )
        )
        start = end + len(separator)
    return Document(
        doc_id=doc_id,
        title=title,
        text=text,
        passages=tuple(passages),
        source=source,
        url=url,
        entity_ids=tuple(entity_ids),
        metadata=MappingProxyType(dict(metadata or {})),
        original=original,
    )
