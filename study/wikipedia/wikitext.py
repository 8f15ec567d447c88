"""Convert wikitext to sections of plain text with headings and links.

This is the only module that uses mwparserfromhell: templates, tables and references nest, so that regular expressions
cannot parse wikitext. Templates, tables, references, formulas, comments, galleries, files and categories are dropped
with their content. The words of links, bold and italics are kept, and list items (one a line, marked "- ").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from auscult.errors import MissingExtraError

LEAD = "Abstract"

_SPACE = re.compile(r"(\s+)")
_WORD = re.compile(r"\w")
# Links whose words are no article text. Two or three letters mark another language ("de:Gicht").
_NO_TEXT = re.compile(r"(?:file|image|category|media|[a-z]{2,3}):", re.IGNORECASE)
_DROPPED = frozenset(
    {
        "ref",
        "references",
        "table",
        "math",
        "chem",
        "gallery",
        "timeline",
        "score",
        "imagemap",
        "style",
        "syntaxhighlight",
        "graph",
    }
)
_MARKS = {"li": "- ", "dt": "", "dd": "", "hr": "", "br": ""}


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another article: the half-open range of its words in the section's text."""

    target: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ArticleSection:
    """One section.

    Attributes:
        heading: "Abstract" for the lead; nested headings are joined by " | ".
        text: Text without markup, with an empty line between paragraphs.
        links: Links in order of their ranges.
    """

    heading: str
    text: str
    links: tuple[Link, ...] = field(default=())


def require_parser() -> Any:
    """Return the parser.

    Raises:
        MissingExtraError: mwparserfromhell is not installed.
    """
    try:
        import mwparserfromhell
    except ImportError as error:
        raise MissingExtraError("mwparserfromhell", "dev") from error
    return mwparserfromhell


def read_wikitext(source: str) -> list[ArticleSection]:
    """Parse the sections of an article that have words.

    Args:
        source: The article in wikitext.

    Returns:
        The lead and all sections in order. A heading without words of its own occurs only in those below it.

    Raises:
        MissingExtraError: mwparserfromhell is not installed.
    """
    code = require_parser().parse(source)
    sections: list[ArticleSection] = []
    path: list[tuple[int, str]] = [(0, LEAD)]
    plain = _Plain()
    for node in code.nodes:
        if type(node).__name__ != "Heading":
            _render(node, plain)
            continue
        sections.append(_finished(path, plain))
        plain = _Plain()
        heading = _Plain()
        _render_all(node.title, heading)
        path = [(level, title) for level, title in path if 0 < level < node.level]
        path.append((node.level, heading.text))
    sections.append(_finished(path, plain))
    return [section for section in sections if _WORD.search(section.text)]


def _finished(path: list[tuple[int, str]], plain: _Plain) -> ArticleSection:
    return ArticleSection(" | ".join(title for _, title in path if title), plain.text, tuple(plain.links))


class _Plain:
    """Text under construction. White space is normalised while text is added, so that offsets stay valid."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._gap = ""
        self.length = 0
        self.links: list[Link] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, words: str) -> None:
        for piece in _SPACE.split(words):
            if not piece:
                continue
            if piece.isspace():
                self._gap += piece
            else:
                self._put(self._pending() + piece)

    def begin_line(self) -> None:
        if "\n" not in self._gap:
            self._gap += "\n"

    def _pending(self) -> str:
        breaks, blank = self._gap.count("\n"), bool(self._gap)
        self._gap = ""
        if not self.length or not blank:
            return ""
        return "\n" * min(breaks, 2) if breaks else " "

    def _put(self, piece: str) -> None:
        self._pieces.append(piece)
        self.length += len(piece)

    def link(self, target: str, words: _Plain) -> None:
        if not words.length:
            return
        self._put(self._pending())
        start = self.length
        self._put(words.text)
        self.links.append(Link(target, start, self.length))


def _render_all(code: Any, plain: _Plain) -> None:
    for node in code.nodes:
        _render(node, plain)


def _render(node: Any, plain: _Plain) -> None:
    kind = type(node).__name__
    if kind == "Text":
        plain.add(str(node.value))
    elif kind == "HTMLEntity":
        plain.add(node.normalize())
    elif kind == "Wikilink":
        _render_link(node, plain)
    elif kind == "ExternalLink":
        if node.title is not None:
            _render_all(node.title, plain)
        elif not node.brackets:
            plain.add(str(node.url))
    elif kind == "Tag":
        _render_tag(node, plain)
    # Templates, their arguments, and comments are left out.


def _render_link(node: Any, plain: _Plain) -> None:
    title = str(node.title).strip()
    if _NO_TEXT.match(title):
        return
    words = _Plain()
    # A space inside the brackets belongs to the text around the link.
    label = str(node.title).lstrip(":") if node.text is None else str(node.text)
    if node.text is None:
        words.add(label)
    else:
        _render_all(node.text, words)
    if label[:1].isspace():
        plain.add(" ")
    target = " ".join(title.lstrip(":").partition("#")[0].replace("_", " ").split())
    if target:
        plain.link(target, words)
    else:
        plain.add(words.text)
    if label[-1:].isspace():
        plain.add(" ")


def _render_tag(node: Any, plain: _Plain) -> None:
    tag = str(node.tag).strip().lower()
    if tag in _DROPPED:
        return
    # Block-level markup ends a line even where the source does not.
    if tag in _MARKS:
        plain.begin_line()
        plain.add(_MARKS[tag])
    if node.contents is not None and tag not in {"nowiki", "pre"}:
        _render_all(node.contents, plain)
    elif node.contents is not None:
        plain.add(str(node.contents))


__all__ = ["LEAD", "ArticleSection", "Link", "read_wikitext", "require_parser"]
