"""Words of a PDF: the text layer of each page, and what the page shows beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.signs import EMPTY, TICKED
from auscult_readers.pdf.pdfium import opened
from auscult_readers.pdf.shown import Shown
from auscult_readers.pdf.text_layer import TextLayerReader
from auscult_readers.source_words.part import BOXES, RUNNING, STRUCK_RUNS, PartWords, Piece, structure_part

_LINES_AT_EDGE: Final = 2
_FEWEST_PAGES: Final = 2


class PageWordsReader:
    """Reads each page's text layer as a draft, and then what the pages show beside it."""

    name = "words of pages"
    suffixes: tuple[str, ...] = (".pdf",)

    def recognises(self, file: SourceFile) -> bool:
        """Return True: this reader gets only PDFs."""
        return True

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield a draft for each page and for each kind of thing that is not in the text layer.

        Raises:
            UnreadableError: The file is broken or encrypted.
        """
        layers = [*TextLayerReader().read(file)]
        yield from layers
        with opened(file.content) as pdf:
            pages = [pdf.shown(number) for number in range(len(pdf))]
        yield _beside(pages)
        yield structure_part(BOXES, _boxes(pages))
        yield structure_part(RUNNING, _running(layers))


def _beside(pages: Sequence[Shown]) -> DraftDocument:
    words = PartWords()
    for page in pages:
        for text in page.typed:
            words.add(text)
            words.end_word()
        for text in page.comments:
            words.add(text, "comment")
            words.end_word()
    draft = words.draft("typed onto pages")
    struck = "\n".join(" ".join(run.split()) for page in pages for run in page.struck)
    return replace(draft, metadata={**draft.metadata, STRUCK_RUNS: struck}) if struck else draft


def _boxes(pages: Sequence[Shown]) -> Iterator[Piece]:
    for page in pages:
        for box in page.boxes:
            yield Piece(f"{box.left}\n{box.right}", TICKED if box.ticked else EMPTY)


def _running(layers: Sequence[DraftDocument]) -> Iterator[Piece]:
    """Yield lines that most pages have first or last, and nowhere else."""
    lines = [[line.strip() for line in layer.text.splitlines() if line.strip()] for layer in layers]
    everywhere = Counter(line for page in lines for line in page)
    edges = Counter(line for page in lines for line in {*page[:_LINES_AT_EDGE], *page[-_LINES_AT_EDGE:]})
    for line, number in edges.items():
        if number >= max(_FEWEST_PAGES, len(layers) / 2) and everywhere[line] == number:
            yield Piece(line)
