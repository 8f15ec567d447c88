"""Check the document of a PDF against the file's text layer: the words that are in no passage, and the reasons.

The text layer here is the text that PDFium extracts from each page. `PdfReader` does not use it: it reads single
characters. `TextLayerReader` reads the layer in the process that reads files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from unicodedata import normalize

import numpy.typing as npt

from auscult.readers.contract import DraftDocument, SourceFile
from auscult_readers.pdf.layout import PagePieces, without_furniture
from auscult_readers.pdf.pdfium import opened
from auscult_readers.pdf.reader import page_size
from auscult_readers.pdf.words import drawn_texts, lines_of, outside_texts

UNKNOWN: Final = "no reason known"
"""Reason of words that should be in a passage."""
_OTHERWISE: Final = "joined or divided otherwise"
_UNNAMED: Final = "letters that a font does not name"
# Accents that are separate characters, including Japanese ones.
_ACCENTS: Final = re.compile(
    "[\u00ad\u00a8\u00af\u00b4`\u00b8\u02c6\u02c7\u02ca\u02cb\u02d8-\u02dd\u0300-\u036f\u3099-\u309c]"
)
# Fewest letters of two adjacent words that are unlikely to occur elsewhere by chance.
_SHORTEST_PAIR: Final = 6
_WORD: Final = re.compile(r"[^\W_]+")


class LostWord(NamedTuple):
    """A word of the text layer that is in no passage. `page` counts from 1."""

    word: str
    page: int
    reason: str


class TextLayerReader:
    """Reads each page's text layer as a draft. Its metadata has the words that were left out, by reason."""

    name = "text layer of a PDF"
    suffixes: tuple[str, ...] = (".pdf",)

    def recognises(self, file: SourceFile) -> bool:
        """Return True: this reader gets only PDFs."""
        return True

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield a draft for each page.

        Raises:
            UnreadableError: The file is broken or encrypted.
        """
        page_pieces: list[PagePieces] = []
        layers: list[str] = []
        reasons: list[dict[str, str]] = []
        with opened(file.content) as pdf:
            for number in range(len(pdf)):
                # `Pdf.page` reads strike-out annotations before it flattens the page.
                content = pdf.page(number)
                layers.append(_clean(pdf.layer(number)))
                lines = lines_of(content, number)
                # Text outside of the page and text that is drawn twice are in no word of `lines`.
                written = Counter(word.text for pieces in lines.values() for piece in pieces for word in piece.words)
                outside = outside_texts(content)
                twice = Counter(drawn_texts(content)) - written - Counter(outside)
                reasons.append(
                    {
                        "outside of what is shown": " ".join(outside),
                        "drawn twice": " ".join(twice.elements()),
                        "struck out": content.struck,
                    }
                )
                if content.unmapped:
                    reasons[-1][_UNNAMED] = str(content.unmapped)
                page_pieces += [PagePieces(*page_size(content, turn), pieces) for turn, pieces in lines.items()]
        for piece in without_furniture(page_pieces).dropped:
            of_page = reasons[piece.words[0].page]
            of_page["header, footer or number"] = f"{of_page.get('header, footer or number', '')} {piece.text}"
        for number, layer in enumerate(layers):
            yield DraftDocument(
                text=layer, sections=(), key=str(number), media_type="text/plain", metadata=reasons[number]
            )


def lost_words(
    text: str,
    passages: Iterable[tuple[int, int]],
    headings: Iterable[str],
    words: npt.NDArray[Any],
    pages: Sequence[DraftDocument],
) -> tuple[int, list[LostWord]]:
    """Compare a document with the text layer that `TextLayerReader` read.

    Args:
        text: The document's text.
        passages: Ranges of its passages in the text, half-open.
        headings: The title of the document, and the headings of its passages.
        words: Positions of its words, (words,) of `documents.original.WORD`.
        pages: The text layer, one draft per page.

    Returns:
        The number of words of the layer, and the words that are in no passage or heading.
    """
    in_passages, labels = _kept_words(text, passages, headings, words)
    total = 0
    lost: list[LostWord] = []
    for page, layer in enumerate(pages):
        of_layer = _words(layer.text)
        total += len(of_layer)
        missing = Counter(of_layer) - Counter(in_passages.get(page, ()))
        if not missing:
            continue
        reasons = _Reasons(layer, of_layer, in_passages.get(page, ()))
        for place, word in enumerate(of_layer):
            if missing[word] and word not in labels:
                missing[word] -= 1
                lost.append(LostWord(word, page + 1, reasons.of(place)))
    return total, lost


def _kept_words(
    text: str, passages: Iterable[tuple[int, int]], headings: Iterable[str], words: npt.NDArray[Any]
) -> tuple[dict[int, list[str]], set[str]]:
    """Return the words of passages and headings by page (from 0), and the words of passages that have no position.

    The latter are labels of columns: each row of a table has them in the text, but the page only in its header.
    """
    inside = bytearray(len(text))
    for start, end in passages:
        inside[start:end] = b"\1" * (end - start)
    heading_words = {word for heading in headings for word in _words(heading)}
    in_passages: dict[int, list[str]] = {}
    unplaced = bytearray(inside)
    for start, end, page in words[["start", "end", "page"]].tolist():
        unplaced[start:end] = bytes(end - start)
        tokens = _words(text[start:end])
        in_passages.setdefault(page, []).extend(
            tokens if any(inside[start:end]) else [w for w in tokens if w in heading_words]
        )
    labels = {*_words("".join(letter if here else " " for letter, here in zip(text, unplaced, strict=True)))}
    return in_passages, labels


class _Reasons:
    """Finds why words of a page's layer are in no passage.

    Args:
        layer: The page, whose metadata has the words that were left out, by reason.
        words: Words of the layer.
        kept: Words of the page that are in passages or headings.
    """

    def __init__(self, layer: DraftDocument, words: Sequence[str], kept: Sequence[str]) -> None:
        left_out = {reason: _words(value) for reason, value in layer.metadata.items() if reason != _UNNAMED}
        self._left_out = {reason: Counter(tokens) for reason, tokens in left_out.items()}
        self._squeezed = {reason: "".join(tokens) for reason, tokens in left_out.items()}
        self._unnamed = int(layer.metadata.get(_UNNAMED, 0))
        self._words = words
        self._kept = "".join(kept)

    def of(self, place: int) -> str:
        """Return the reason of the word at a place of the layer. Each left-out word is a reason once."""
        word = self._words[place]
        for reason, left in self._left_out.items():
            if left[word]:
                left[word] -= 1
                return reason
        # The layer may divide the left-out text into other words: this word and one beside it are in that text.
        pairs = ["".join(self._words[start : start + 2]) for start in (place - 1, place) if start >= 0]
        pairs = [pair for pair in pairs if len(pair) >= _SHORTEST_PAIR]
        for reason, letters in self._squeezed.items():
            if any(pair in letters for pair in pairs):
                return reason
        if "".join(self._words[max(0, place - 1) : place + 2]) in self._kept:
            # "10^9" for "109", spaced letters, or a word in two pieces.
            return _OTHERWISE
        if len(word) <= self._unnamed:
            self._unnamed -= len(word)
            return _UNNAMED
        return UNKNOWN


def _clean(layer: str) -> str:
    """Remove surrogates from a layer, and replace PDFium's marks for hyphens at the end of lines by "-"."""
    return "".join("-" if each in "\2\ufffe" else each for each in layer if not "\ud800" <= each <= "\udfff")


def _words(text: str) -> list[str]:
    folded = _ACCENTS.sub("", normalize("NFKD", _ACCENTS.sub("", text)))
    return _WORD.findall(folded.replace("\u0131", "i").replace("\u0237", "j").lower())
