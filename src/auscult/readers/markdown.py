"""Markdown as people write it: headings, lists, tables, code, quotes, front matter; every character with its place.

CommonMark's parsers tell lines, not characters, so this walks the lines itself. Marks of emphasis, links' addresses and
tags are left out, links are their labels, and what is no paragraph keeps its shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.decoding import decoded
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.front_matter import front_matter
from auscult.readers.markdown_blocks import Blocks

MEDIA_TYPE: Final = "text/markdown"


class MarkdownReader:
    """Reads Markdown, which its name alone tells from plain text."""

    name = "Markdown"
    suffixes = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")

    def recognises(self, file: SourceFile) -> bool:
        """Whether it is called as Markdown and its first characters are text."""
        head = file.head
        return file.suffix in self.suffixes and (b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff")))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The document.

        Raises:
            UnreadableError: It has no words.
        """
        source, encoding = decoded(file.content)
        told, start = front_matter(source)
        flow = Flow()
        Blocks(source, start, flow).set()
        title, url = told.pop("title", ""), told.pop("url", "")
        facts = Facts(title=title, url=url if url.startswith(("http://", "https://")) else "", metadata=told)
        yield draft_of(flow, facts, media_type=MEDIA_TYPE, encoding=encoding, told_first=True)


__all__ = ["MEDIA_TYPE", "MarkdownReader"]
