"""Parser of HTML: a tree whose pieces of text have offsets in the source, for any input, in linear time.

Parsers that work as browsers do (html5lib, Lexbor) do not keep offsets. The tokenizer of the standard library is
quadratic on some input and has positions of tags only, not of character references. This parser follows the HTML
standard's tokenizer, and its rules for which tags close which elements. It does not repair misnested formatting, which
moves no text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import Final

from auscult.readers.contract import declares_entities
from auscult.readers.html import standard as known
from auscult.readers.html.standard import pieces, resolve_references
from auscult.readers.signs import EMPTY, TICKED, is_file_name
from auscult.readers.tree import NOWHERE, Element, Piece, descend, written

_NAME: Final = re.compile(r"[^\s/>]++")
_ATTRIBUTE: Final = re.compile(r"[\s/]*+(?:([^\s/>=][^\s/>=]*+|=)(\s*+=\s*+)?)?")
_UNQUOTED: Final = re.compile(r"[^\s>]*+")
_XHTML: Final = "http://www.w3.org/1999/xhtml"
# Prefixes that XHTML may give to its elements ("h:p"), and to those of equations and drawings in it.
_PREFIX: Final = re.compile(
    r"""\sxmlns:([\w.-]+)\s*=\s*["']http://www\.w3\.org/(?:1999/xhtml|1998/Math/MathML|2000/svg)["']"""
)
_TABLE: Final = frozenset({"table"})
_PARTS_OF_TABLES: Final = known.CELLS | known.ROW_GROUPS | {"tr"}
_CELLS_AND_TABLES: Final = known.CELLS | {"table"}
_FILLED_IN: Final = frozenset({"", "text", "number", "date", "datetime-local", "month", "time", "week", "range"})
# The declarations that a page has in its document type, which no browser reads as text.
_SUBSET: Final = re.compile(r"!doctype\b[^>\[]*+\[", re.IGNORECASE)
_ENTITY: Final = re.compile(r"<!entity\b", re.IGNORECASE)
_LETTER: Final = re.compile(r"[a-zA-Z]")
#: As in browsers, deeper elements become siblings. Otherwise the time of a reader might grow with the depth squared.
_DEEPEST: Final = 512
_MOST_FRAMES: Final = 3


def parse_html(source: str) -> Element:
    """Parse a page or a part of one.

    Args:
        source: Its decoded characters.

    Returns:
        The root: an element with the tag "" that contains all others. Tags and names of attributes are in lower case.
        Only attributes in `standard.KEPT_ATTRIBUTES` are kept.

    Raises:
        UnreadableError: The document type declares entities.
    """
    return _Parser(source).parse()


class _Parser:
    def __init__(self, source: str, frames: int = 0) -> None:
        self._source = source
        # Number of pages in attributes around this one.
        self._frames = frames
        self._end = len(source)
        self._root = Element("")
        self._open = [self._root]
        # Depths of the open elements of each tag, so that an end tag finds its start tag without a search.
        self._depths: dict[str, list[int]] = defaultdict(list)
        self._containers: list[int] = []
        self._missing: set[str] = set()
        self._is_xml = _XHTML in source[:2000]
        self._prefixes = {each.lower() for each in _PREFIX.findall(source)} if self._is_xml else set[str]()

    def parse(self) -> Element:
        source, place = self._source, 0
        while place < self._end:
            tag = source.find("<", place)
            if tag < 0:
                break
            following = source[tag + 1 : tag + 2]
            if _LETTER.match(following):
                self._add_text(place, tag)
                place = self._read_start_tag(tag + 1)
            elif following == "/":
                self._add_text(place, tag)
                place = self._read_end_tag(tag + 2)
            elif following in ("!", "?") and following:
                self._add_text(place, tag)
                place = self._read_declaration(tag + 1)
            else:
                self._add_text(place, tag + 1)
                place = tag + 1
        self._add_text(place, self._end)
        return self._root

    def _add_text(self, start: int, end: int) -> None:
        if end > start:
            if self._open[-1].tag == "head" and not self._source[start:end].isspace():
                self._close("head")
            self._open[-1].children.extend(pieces(self._source, start, end))

    def _find(self, sought: str, place: int) -> int:
        """Return the next position of `sought`; the end of the source if there is none, without a second search."""
        if sought in self._missing:
            return self._end
        position = self._source.find(sought, place)
        if position < 0:
            self._missing.add(sought)
        return position if position >= 0 else self._end

    def _read_declaration(self, place: int) -> int:
        source = self._source
        if source.startswith("!--", place):
            if source.startswith((">", "->"), place + 3):
                return source.index(">", place) + 1
            return self._find("-->", place + 3) + 3
        if source.startswith("![CDATA[", place):
            # Text in XHTML. In HTML it is a comment, but nobody meant to hide its words.
            end = self._find("]]>", place + 8)
            if end > place + 8:
                self._open[-1].children.append(Piece(source[place + 8 : end], place + 8, end))
            return end + 3
        if subset := _SUBSET.match(source, place):
            end = self._find("]", subset.end())
            if _ENTITY.search(source, subset.end(), end):
                raise declares_entities()
            place = end
        return self._find(">", place) + 1

    def _local_name(self, name: str) -> str:
        prefix, _, local = name.lower().rpartition(":")
        return local if prefix in self._prefixes else name.lower()

    def _read_end_tag(self, place: int) -> int:
        named = _NAME.match(self._source, place)
        if named is None or not _LETTER.match(self._source, place):
            return self._find(">", place) + 1
        tag = self._local_name(named.group())
        end, _, _, _ = self._read_attributes(named.end())
        if tag == "br":
            # HTML reads "</br>" as "<br>"; in XML it is an end tag.
            if not self._is_xml:
                self._open[-1].children.append(Element("br"))
        else:
            self._close(tag)
        return end

    def _read_start_tag(self, place: int) -> int:
        named = _NAME.match(self._source, place)
        name = named.group() if named else ""
        tag = self._local_name(name)
        begin = place - 1
        place, attributes, closed, ranges = self._read_attributes(named.end() if named else place)
        element = Element(tag, attributes)
        if tag in ("img", "input"):
            element.children.extend(self._field_pieces(element, begin, place, ranges))
        elif tag == "iframe" and "srcdoc" in ranges:
            element.children.extend(self._parse_frame(*ranges["srcdoc"]))
        if tag not in known.IN_HEAD and self._open[-1].tag == "head":
            self._close("head")
        if tag in known.CLOSES:
            self._close_implied(*known.CLOSES[tag])
        self._close_from(_DEEPEST)
        self._open[-1].children.append(element)
        # A browser reads "<div/>" as "<div>", except in pages declared as XML.
        if closed and (self._is_xml or tag not in known.CONTAINERS | known.RAW):
            return place
        if tag in known.RAW:
            return self._add_raw(element, name, place)
        if tag not in known.VOID:
            self._depths[tag].append(len(self._open))
            if tag in known.CONTAINERS:
                self._containers.append(len(self._open))
            self._open.append(element)
        return place

    def _field_pieces(self, element: Element, begin: int, end: int, ranges: dict[str, tuple[int, int]]) -> list[Piece]:
        """Return the text that an image or input shows: its alternative text, a box, or its value.

        Args:
            element: The `<img>` or `<input>`.
            begin: Start of its tag in the source.
            end: End of its tag.
            ranges: Positions of its `alt`, `srcdoc` and `value` in the source.
        """
        kind = element.get("type").strip().lower()
        if element.tag == "input" and kind in ("checkbox", "radio"):
            box = TICKED if "checked" in element.attributes else EMPTY
            return [written(" "), Piece(box, begin, min(end, self._end)), written(" ")]
        name = "alt" if element.tag == "img" else "value"
        if name not in ranges or (name == "value" and kind not in _FILLED_IN):
            return []
        words = [*pieces(self._source, *ranges[name])]
        return [] if is_file_name("".join(piece.text for piece in words)) else words

    def _parse_frame(self, start: int, end: int) -> list[Element | Piece]:
        """Return the content of a page in the attribute `srcdoc`, whose value is in a range of the source."""
        if self._frames >= _MOST_FRAMES:
            return []
        parts = [*pieces(self._source, start, end)]
        page = _Parser("".join(part.text for part in parts), self._frames + 1).parse()
        places = _Places(parts)
        for element in [page, *(node for node in descend(page) if isinstance(node, Element))]:
            children = element.children
            element.children = []
            for child in children:
                element.children += places.in_source(child) if isinstance(child, Piece) else [child]
        return page.children

    def _add_raw(self, element: Element, name: str, place: int) -> int:
        """Add the text of an element that contains no others, from `place`. Return the position after its end tag."""
        closing = f"</{name.lower()}"
        end, after = self._end, self._end
        if closing not in self._missing:
            match = re.compile(re.escape(closing) + r"(?=[\s/>])", re.IGNORECASE).search(self._source, place)
            if match is not None:
                end, after = match.start(), self._find(">", match.end()) + 1
            else:
                self._missing.add(closing)
        if element.tag == "style":
            element.attributes[known.CSS] = self._source[place:end]
        elif element.tag in known.WITH_REFERENCES:
            if closing in self._missing:
                # Never closed: a browser shows an empty page. The author meant the words up to the next tag.
                end = after = self._find("<", place)
            element.children.extend(pieces(self._source, place, end))
        return after

    def _deepest_open(self, tags: frozenset[str]) -> int:
        if tags is known.CONTAINERS:
            return self._containers[-1] if self._containers else 0
        return max((depths[-1] for tag in tags if (depths := self._depths.get(tag))), default=0)

    def _close_implied(self, closes: frozenset[str], within: frozenset[str]) -> None:
        """Close the elements that a start tag implicitly closes.

        Args:
            closes: Tags of elements that it closes.
            within: Tags that stop this: elements outside of them stay open.
        """
        depths = [open_[-1] for tag in closes if (open_ := self._depths.get(tag))]
        if depths:
            barrier = self._deepest_open(within)
            self._close_from(min((depth for depth in depths if depth > barrier), default=len(self._open)))

    def _close(self, tag: str) -> None:
        """Close the elements that an end tag closes, if any."""
        depths = self._depths.get(tag)
        if tag in known.HEADINGS and not depths:
            depth = self._deepest_open(known.HEADINGS)
        elif not depths or tag in ("body", "html"):
            return
        else:
            depth = depths[-1]
        if tag == "table":
            barrier = 0
        elif tag in _PARTS_OF_TABLES:
            barrier = self._deepest_open(_TABLE)
        elif tag in known.FORMATTING:
            # The text after it belongs to the block inside of it, which stays open.
            barrier = self._deepest_open(known.CONTAINERS)
        else:
            barrier = self._deepest_open(_CELLS_AND_TABLES)
        if depth > barrier:
            self._close_from(depth)

    def _close_from(self, depth: int) -> None:
        """Close all elements from a depth on."""
        while len(self._open) > depth:
            tag = self._open.pop().tag
            self._depths[tag].pop()
            if tag in known.CONTAINERS:
                self._containers.pop()

    def _read_attributes(self, place: int) -> tuple[int, dict[str, str], bool, dict[str, tuple[int, int]]]:
        """Parse the attributes of a tag from `place`.

        Returns:
            The position after the tag, the kept attributes, whether it ends with "/>", and the ranges of the values of
            `alt`, `srcdoc` and `value` in the source.
        """
        source = self._source
        attributes: dict[str, str] = {}
        ranges: dict[str, tuple[int, int]] = {}
        while place < self._end:
            match = _ATTRIBUTE.match(source, place)
            if match is None or match.group(1) is None:
                end = match.end() if match else place
                return end + 1, attributes, source[max(end - 1, place) : end] == "/", ranges
            place = match.end()
            start = end = place
            if match.group(2):
                quote = source[place : place + 1]
                if quote in ('"', "'") and quote:
                    start, end = place + 1, self._find(quote, place + 1)
                    place = end + 1
                else:
                    unquoted = _UNQUOTED.match(source, place)
                    start, end = place, unquoted.end() if unquoted else place
                    place = end
            name = match.group(1).lower()
            if name in known.KEPT_ATTRIBUTES and name not in attributes:
                attributes[name] = resolve_references(source[start:end])
                if name in ("alt", "srcdoc", "value"):
                    ranges[name] = start, end
        return self._end, attributes, False, ranges


class _Places:
    """Places in a source of the characters of an attribute, in which references are resolved.

    Args:
        parts: Pieces of the attribute's value: a reference ("&lt;") is a piece of its own.
    """

    def __init__(self, parts: list[Piece]) -> None:
        self._parts = parts
        self._offsets = [0, *accumulate(len(part.text) for part in parts)]

    def in_source(self, piece: Piece) -> list[Piece]:
        """Return a piece of the value as pieces of the source, divided at references."""
        if piece.start == NOWHERE:
            return [piece]
        first = bisect_right(self._offsets, piece.start) - 1
        last = max(first, bisect_left(self._offsets, piece.end) - 1)
        if len(piece.text) != piece.end - piece.start:
            return [Piece(piece.text, self._place_of(first, piece.start)[0], self._place_of(last, piece.end)[1])]
        found = []
        for number in range(first, last + 1):
            begin, end = max(piece.start, self._offsets[number]), min(piece.end, self._offsets[number + 1])
            text = piece.text[begin - piece.start : end - piece.start]
            found.append(Piece(text, self._place_of(number, begin)[0], self._place_of(number, end)[1]))
        return found

    def _place_of(self, number: int, offset: int) -> tuple[int, int]:
        """Return where a character of a part may begin or end in the source: at its borders in a reference."""
        part = self._parts[number]
        if len(part.text) != part.end - part.start:
            return part.start, part.end
        at = part.start + offset - self._offsets[number]
        return at, at
