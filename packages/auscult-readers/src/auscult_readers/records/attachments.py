"""Files inside clinical records: decoded from base64 and read by the reader of their type.

A file of which the record has only an address is never fetched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from mimetypes import MimeTypes
from typing import Final

from auscult.readers.contract import DraftDocument, Reader, SourceFile, UnreadableError
from auscult.readers.drafting import Facts
from auscult.readers.notes import NoteReader, untitled_draft
from auscult.readers.registry import Registry

_TYPES: Final = {
    "text/plain": ("note", ".txt"),
    "text/html": ("html", ".html"),
    "application/xhtml+xml": ("html", ".xhtml"),
    "text/markdown": ("markdown", ".md"),
    "application/pdf": ("pdf", ".pdf"),
    "application/xml": ("xml", ".xml"),
    "text/xml": ("xml", ".xml"),
    "application/cda+xml": ("xml", ".xml"),
    "application/hl7-cda+xml": ("xml", ".xml"),
    "application/hl7-sda+xml": ("xml", ".xml"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("docx", ".docx"),
}
_READERS: Final = {
    "note": "auscult.readers.notes:NoteReader",
    "html": "auscult.readers.html.reader:HtmlReader",
    "markdown": "auscult.readers.markdown:MarkdownReader",
    "pdf": "auscult_readers.pdf.reader:PdfReader",
    "xml": "auscult_readers.records.xml:XmlReader",
    "docx": "auscult_readers.word.reader:DocxReader",
}
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
_KINDS: Final = "text, HTML, Markdown, PDF, XML, DOCX or another format that is read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file inside a record.

    Attributes:
        media_type: Media type that the record states, perhaps with parameters.
        data: Content in base64; "" if the record has only an address.
        url: Address of the file, which is never fetched.
        title: Title that the record gives it.
    """

    media_type: str
    data: str = ""
    url: str = ""
    title: str = ""


def read_attachment(attachment: Attachment, facts: Facts, name: str) -> Iterator[DraftDocument]:
    """Yield the drafts of an attachment, with its bytes and the facts of the record.

    Args:
        attachment: The file.
        facts: Facts of the record. Empty ones are taken from the attachment itself.
        name: Name of the file that contains the record.

    Raises:
        UnreadableError: The attachment has no data or an unsupported type, or it cannot be read.
    """
    content = _content(attachment)
    reader, file = _reader_of(attachment.media_type, name.rpartition(".")[0] or name, content)
    # The record's title replaces the first line of a text, which then stays text.
    is_titled = bool(facts.title or attachment.title) and reader.name == NoteReader.name
    for draft in [untitled_draft(content)] if is_titled else reader.read(file):
        yield replace(
            draft,
            content=content if draft.content is None else draft.content,
            title=facts.title or attachment.title or draft.title,
            source=facts.source or draft.source,
            url=facts.url or draft.url,
            entity_ids=tuple(facts.entity_ids) or draft.entity_ids,
            metadata={**draft.metadata, **facts.fields()},
        )


def _content(attachment: Attachment) -> bytes:
    if not attachment.data.strip():
        got = "only an address, which is not fetched" if attachment.url else "none"
        raise UnreadableError("attachment not here", "an attachment with its data", got, "export it with its data")
    try:
        content = base64.b64decode("".join(attachment.data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnreadableError(
            "broken attachment", "an attachment in base64", "other characters, or too few", "export it again"
        ) from error
    if not content.strip():
        raise UnreadableError("empty file", "an attachment with words", "an empty one", "leave it out")
    return content


@cache
def _readers() -> Registry:
    return Registry()


def _reader_of(media_type: str, name: str, content: bytes) -> tuple[Reader, SourceFile]:
    """Return the reader of an attachment, and the attachment as a file of its type.

    For an unusual media type, the reader that recognises the content is used. Almost any content may be plain text, so
    it is read as text only if the record states no other type.
    """
    kind = media_type.partition(";")[0].strip().lower()
    if kind in _TYPES:
        named, suffix = _TYPES[kind]
        module, _, attribute = _READERS[named].partition(":")
        reader: Reader = getattr(import_module(module), attribute)()
        return reader, SourceFile(f"{name}{suffix}", content)
    file = SourceFile(f"{name}{MimeTypes(()).guess_extension(kind) or ''}", content)
    reader = _readers().reader_of(file)
    is_text = not kind or (kind.startswith("text/") and "rtf" not in kind) or kind == "application/octet-stream"
    if reader.name == NoteReader.name and not is_text:
        told = f"one of the type '{kind}'" if _MEDIA_TYPE.fullmatch(kind) else "one of a type that is none"
        raise UnreadableError(
            "attachment of another type", f"an attachment of {_KINDS}", told, "save it as one of them"
        )
    return reader, file
