"""Markdown: a file's front matter as fields, its text with offsets into the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.decoding import decode_text
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.markdown.blocks import Blocks
from auscult.readers.markdown.front_matter import front_matter

MEDIA_TYPE: Final = "text/markdown"
_LONE_RETURN: Final = re.compile(r"\r(?!\n)")


class MarkdownReader:
    """Read Markdown. Only the file's name tells it from plain text."""

    name = "Markdown"
    suffixes = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")

    def recognises(self, file: SourceFile) -> bool:
        """Return whether the name ends as Markdown's do and the first characters are text."""
        head = file.head
        return file.suffix in self.suffixes and (b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff")))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the file's one document.

        Raises:
            UnreadableError: It has no words, or is nested too deeply.
        """
        source, encoding, remarks = decode_text(file.content)
        # Front matter, fences and HTML would not end their lines at a lone carriage return.
        source = _LONE_RETURN.sub("\n", source)
        fields, start = front_matter(source)
        flow = Flow()
        Blocks(source, start, flow).set()
        title, url = fields.pop("title", ""), fields.pop("url", "")
        facts = Facts(title=title, url=url if url.startswith(("http://", "https://")) else "", metadata=fields)
        draft = draft_of(flow, facts, media_type=MEDIA_TYPE, encoding=encoding, told_first=True)
        yield replace(draft, remarks=(*remarks, *draft.remarks))


__all__ = ["MEDIA_TYPE", "MarkdownReader"]
