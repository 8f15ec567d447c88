"""The words of one part of a source file: all of them, and those that a document need not have, by reason.

A part becomes a draft. Its text is all words, and its metadata the words that a document need not have, by reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from lxml import etree

from auscult.documents import Section
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult_readers.word.package import local

HIDDEN: Final = "hidden"
STRUCK: Final = "struck out"
UNSAVED: Final = "formula without a saved result"
SHOWN_OTHERWISE: Final = "another form of what is shown"
TECHNICAL: Final = "code, identifier or address for programs"
BESIDE: Final = "reference, or label of one"
NOT_SHOWN: Final = frozenset({HIDDEN, SHOWN_OTHERWISE, TECHNICAL, BESIDE, "drawn twice", "outside of what is shown"})
"""Reasons of words that nobody sees, or that need not be found. Words with another reason are left out only if the
report says so."""
STRUCK_RUNS: Final = "struck-out runs"
"""Key of a part's metadata: each struck-out run of words, one a line. Words may be struck out in one place only."""
PRINTED: Final = "printed"
PRINTED_PAGE: Final = f"{PRINTED} page"
"""Beginning of the name of a part that a program has rendered: a page, or a sheet as it is shown."""

HEADED: Final = "headed"
"""Key of a part whose sections have the headings that are really above their text, outermost first, and as their own
heading "". The headings of all sections together are all headings of the source."""
FOLLOWED: Final = "followed"
"""Key of a part whose sections are remarks: each belongs to what its heading names, and to nothing between."""
PLAIN: Final = "plain"
"""Key of a part whose sections are paragraphs that look like text, and are no headings."""
BOXES: Final = "boxes"
"""Key of a part whose sections are boxes: the text is the label, the heading a sign."""
RUNNING: Final = "running"
"""Key of a part whose sections are lines that all pages repeat."""
STRUCTURE: Final = frozenset({HEADED, FOLLOWED, PLAIN, BOXES, RUNNING})


class PartWords:
    """Collects the words of a part, in order."""

    def __init__(self) -> None:
        self._all: list[str] = []
        self._left_out: dict[str, list[str]] = {}
        self._struck: list[str] = []
        self._last = ""

    def add(self, text: str, reason: str = "") -> None:
        """Add characters to the current word; `reason` says why a document need not have them."""
        # A word may come in several pieces. It ends where words with another reason begin.
        text = text if reason == self._last else f" {text}"
        self._all.append(text)
        if reason:
            self._left_out.setdefault(reason, []).append(text)
        if reason == STRUCK:
            self._struck.append(text if self._last == STRUCK else f"\n{text}")
        self._last = reason

    def excuse(self, text: str, reason: str) -> None:
        """Give a reason why a document need not have some words. They are added before or after this."""
        self._left_out.setdefault(reason, []).append(f" {text} ")

    def end_word(self) -> None:
        """End the current word."""
        self._all.append(" ")
        for texts in self._left_out.values():
            texts.append(" ")
        self._last = ""

    def draft(self, name: str) -> DraftDocument:
        """Return the part as a draft with `name` as its key."""
        left_out = {reason: "".join(texts) for reason, texts in self._left_out.items()}
        if self._struck:
            left_out[STRUCK_RUNS] = "".join(self._struck)
        return DraftDocument(text="".join(self._all), sections=(), key=name, media_type="text/plain", metadata=left_out)


class Piece(NamedTuple):
    """A text of a source with what belongs to it (`misread`): its name or sign, or the headings above it."""

    text: str
    heading: str = ""
    above: tuple[str, ...] = ()


def structure_part(name: str, pieces: Iterable[Piece]) -> DraftDocument:
    """Return a part whose sections are some texts of a source."""
    texts: list[str] = []
    sections: list[Section] = []
    start = 0
    for piece in pieces:
        sections.append(Section(piece.heading, piece.text, start=start, above=piece.above))
        texts.append(piece.text)
        start += len(piece.text)
    return DraftDocument(text="".join(texts), sections=sections, key=name, media_type="text/plain")


class Rules(NamedTuple):
    """Rules for reading the words of a kind of XML.

    Attributes:
        reason: Returns why the words of an element need not be kept; "" if they must be, None if it has no words.
        parts: Returns whether words end at the beginning and end of an element with this name.
        texts: Names of the elements whose characters are words; None for all.
        apart: Names of elements in a line that are no part of its text, such as notes. Their words come after it.
    """

    reason: Callable[[Any], str | None]
    parts: Callable[[str], bool]
    texts: frozenset[str] | None = None
    apart: frozenset[str] = frozenset()


def add_tree(words: PartWords, root: Any, rules: Rules, reason: str = "") -> None:
    """Add the words of a tree.

    Args:
        words: The words of the part so far.
        root: The tree, an element of lxml.
        rules: Rules for its kind of XML.
        reason: Why no word of the tree need be kept; "" if the rules decide.
    """
    waiting = [(root, reason)]
    while waiting:
        words.end_word()
        waiting += _add_branch(words, *waiting.pop(0), rules)


def _add_branch(words: PartWords, root: Any, reason: str, rules: Rules) -> list[tuple[Any, str]]:
    """Add the words of a tree without those of `rules.apart`. Return these elements with their reasons."""
    apart: list[tuple[Any, str]] = []
    # Elements with the reason of their parent, and characters with the reason of their element.
    waiting: list[tuple[Any, str]] = [(root, reason)]
    while waiting:
        node, reason = waiting.pop()
        if isinstance(node, str):
            words.add(node, reason) if node != " " else words.end_word()
            continue
        name = local(node)
        own = rules.reason(node) if name else None
        if own is None:
            continue
        inner = reason or own
        if name in rules.apart and node is not root:
            apart.append((node, inner))
            continue
        parting = [(" ", "")] if rules.parts(name) else []
        counts = rules.texts is None or name in rules.texts
        waiting += parting
        for child in reversed(node):
            if counts and child.tail:
                waiting.append((child.tail, inner))
            waiting.append((child, inner))
        if counts and node.text:
            waiting.append((node.text, inner))
        waiting += parting
    return apart


def parsed_xml(content: bytes) -> Any:
    """Parse XML with libxml2, which resolves no entities and reads no network.

    Raises:
        UnreadableError: The content is not well-formed XML.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError("broken XML", "well-formed XML", str(error), "export the file again") from error


def parsed_html(source: str) -> Any:
    """Parse a page with libxml2; None if it has no element."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return etree.fromstring(source.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
