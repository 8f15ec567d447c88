"""Image files of pages (PNG, JPEG, TIFF). Their words are recognised as on scanned pages of a PDF (`scans`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auscult.files.limits import limits
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult_readers.pdf.pictures import opened_pictures, picture_type
from auscult_readers.pdf.reader import page_draft
from auscult_readers.pdf.scans import Scans, is_installed, longer_scans


class ImageReader:
    """Reads image files of pages."""

    name = "image"
    suffixes: tuple[str, ...] = (".png", ".jpg", ".jpeg", ".tif", ".tiff")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins as an image of these formats does."""
        return bool(picture_type(file.content))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is damaged or has no words, or no engine that recognises them is installed.
        """
        if not is_installed():
            remedy = "install auscult[scans], or recognise its text first, for instance with: ocrmypdf FILE FILE.pdf"
            raise UnreadableError("image", "an engine that recognises words in pictures", "none", remedy)
        if not limits().scan:
            raise UnreadableError("image", "time to recognise words in pictures", "scan=0", "leave it out")
        with opened_pictures(file.content) as pictures:
            draft = page_draft(pictures, _without_words)
        yield replace(draft, media_type=picture_type(file.content))


def _without_words(scans: Scans, *_: object) -> UnreadableError:
    if scans.late:
        got = "one that there is no time for"
        return UnreadableError("image", "a picture of a page", got, longer_scans())
    return UnreadableError("image", "a picture of a page", "one in which no words are recognised", "leave it out")
