"""Write a tree of any vocabulary as text: blocks, lists, definitions, tables and headings, alike in all formats.

A format defines the role of each of its elements. Everything else is shared by HTML, JATS, CDA and others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from auscult.readers.flow import Flow, Heading
from auscult.readers.fractions import write_fractions
from auscult.readers.numbering import ListNumbers
from auscult.readers.tables import is_data, parting, readable_table
from auscult.readers.tree import NEVER_SHOWN, Element, Piece, Role, descend, written

_DEEPEST_INDENT: Final = 6
# 10<sup>9</sup> is not 109: a raised number after a number is separated from it.
_RAISED: Final = "sup"
# Units of areas, volumes and rates have up to three letters.
_BEFORE_RAISED: Final = re.compile(r"(?:[\d)\].,;:]|[^\W\d_]{4})$")
_POWER: Final = written("^")
# Number of pieces, or of characters, that tell how a line ends or raised characters begin.
_EXAMINED: Final = 8


class Typesetter:
    """Writes elements into a flow.

    Args:
        flow: Takes the words.
        role: Returns the role of an element.
        level: Returns the level of a heading; 1 is the highest.
        encloses: Returns whether the headings in an element end with it. Default: no element's do.
    """

    def __init__(
        self,
        flow: Flow,
        role: Callable[[Element], Role],
        level: Callable[[Element], int],
        encloses: Callable[[Element], bool] = lambda _: False,
    ) -> None:
        self._flow = flow
        self._given_role = role
        self._level = level
        self._encloses = encloses
        self._lists: list[ListNumbers] = []
        self._verbatim = 0
        # Whether a term with words has just ended.
        self._term = False
        self._before_term = 0

    def set(self, root: Element) -> None:
        """Write the content of an element, in order. Signs of fractions are added to it."""
        write_fractions(root, self._role)
        for node in descend(root, lambda each: self._reason_left_out(each) != NEVER_SHOWN):
            if isinstance(node, Element) and (why := self._reason_left_out(node)) not in ("", NEVER_SHOWN):
                # Without inner parts that are left out: they count for themselves.
                words = "".join(piece.text for piece in self.pieces(node, label=True))
                self._flow.left_out[why] += len(words.split())
        # The third value is for elements that enclose headings: the headings that are open before them.
        stack: list[tuple[Role, Iterator[Element | Piece], tuple[Heading, ...] | None]] = [
            (Role.INLINE, iter(root.children), None)
        ]
        while stack:
            role, rest, before = stack[-1]
            for node in rest:
                if isinstance(node, Piece):
                    if self._verbatim:
                        self._flow.verbatim(node)
                    else:
                        self._flow.add(node)
                    continue
                entered = self._role(node)
                headings = self._flow.open_headings if self._encloses(node) else None
                if self._enter(node, entered):
                    stack.append((entered, iter(node.children), headings))
                    break
            else:
                stack.pop()
                self._leave(role)
                if before is not None:
                    self._flow.resume(before)

    def _role(self, element: Element) -> Role:
        return Role.DROPPED if element.dropped else self._given_role(element)

    def _reason_left_out(self, element: Element) -> str:
        return element.dropped or ("struck out" if self._given_role(element) is Role.STRUCK else "")

    def _enter(self, element: Element, role: Role) -> bool:
        """Prepare the flow for an element. Return whether its content follows."""
        flow = self._flow
        if role in (Role.DROPPED, Role.STRUCK):
            return False
        if role is Role.BREAK:
            flow.broken()
            return False
        if role is Role.TABLE:
            self._separate()
            if is_data(element, self._role):
                flow.add_lines(readable_table(element, self._role, lambda each, label: self.pieces(each, label=label)))
                flow.block()
                return False
        elif role is Role.HEADING:
            flow.begin_heading(self._level(element))
        elif role is Role.ITEM:
            indent = "  " * min(len(self._lists) - 1, _DEEPEST_INDENT)
            flow.marker(indent + self._lists[-1].marker(element) if self._lists else "- ")
        elif role is Role.INLINE:
            if element.tag == _RAISED and raises(flow.tail, element.beginning(_EXAMINED)):
                flow.add(_POWER)
        elif role is Role.DEFINITION and self._term:
            flow.joins = True
        else:
            self._separate()
            if role in (Role.LIST, Role.NUMBERED):
                items = sum(self._role(child) is Role.ITEM for child in element.elements)
                self._lists.append(ListNumbers.of(element, items, numbered=role is Role.NUMBERED))
            elif role is Role.VERBATIM:
                self._verbatim += 1
            elif role is Role.TERM:
                self._before_term = flow.length
        self._term = False
        return True

    def _leave(self, role: Role) -> None:
        if role is Role.INLINE:
            return
        if role is Role.HEADING:
            self._flow.end_heading()
            return
        if role in (Role.LIST, Role.NUMBERED):
            self._lists.pop()
        elif role is Role.VERBATIM:
            self._verbatim -= 1
        elif role is Role.ITEM:
            self._flow.marker("")
        elif role is Role.DEFINITION:
            # No words came.
            self._flow.joins = False
        self._separate()
        self._term = role is Role.TERM and self._flow.length > self._before_term and not self._flow.after_heading

    def _separate(self) -> None:
        """Separate blocks: by an empty line, in lists by a line break."""
        if self._lists:
            self._flow.line()
        else:
            self._flow.block()

    def heading(self, element: Element, level: int) -> None:
        """Write the words of an element as a heading."""
        self._flow.begin_heading(level)
        for piece in self.pieces(element, label=True):
            self._flow.add(piece)
        self._flow.end_heading()

    def pieces(self, element: Element, *, label: bool = False) -> list[Piece]:
        """Return the words of an element on one line. `tables.parting` separates its paragraphs and items.

        Args:
            element: A cell or any other element.
            label: Whether it is a heading or a label, in which only blanks separate words.
        """
        pieces: list[Piece] = []
        gap = ""
        # A role on the stack marks the end of its element.
        waiting: list[Element | Piece | Role] = [*reversed(element.children)]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Element):
                role = self._role(node)
                if role in (Role.DROPPED, Role.STRUCK):
                    continue
                if role is Role.INLINE:
                    if node.tag == _RAISED and not gap and pieces:
                        before = "".join(each.text for each in pieces[-_EXAMINED:])
                        if raises(before, node.beginning(_EXAMINED)):
                            pieces.append(_POWER)
                else:
                    gap = _wider(gap, role)
                    waiting.append(role)
                waiting.extend(reversed(node.children))
            elif isinstance(node, Role):
                gap = _wider(gap, node)
            elif node.text.strip():
                if gap and pieces:
                    last = len(pieces)
                    while last and not pieces[last - 1].text.strip():
                        last -= 1
                    tail = "".join(each.text for each in pieces[max(0, last - _EXAMINED) : last])
                    pieces.append(written(" " if label else parting(tail, node.text, gap)))
                gap = ""
                pieces.append(node)
            elif pieces:
                pieces.append(node)
        return pieces


def _wider(gap: str, role: Role) -> str:
    """Return the wider of a gap and the gap that an element of a role needs."""
    wanted = "\n" if role is Role.BREAK else ": " if role is Role.DEFINITION else "\n\n"
    return wanted if gap in ("", "\n") else gap


def raises(before: str, raised: str) -> bool:
    """Whether raised characters need "^" before them.

    Numbers after a number do ("10^9"), and so do marks of notes after a word or a sentence ("again^12"). Numbers of
    units ("m2") do not, and neither does anything else.

    Args:
        before: Words up to the raised characters.
        raised: The raised characters, or their beginning.
    """
    return raised.lstrip().lstrip("-\u2212\u2013+")[:1].isdigit() and _BEFORE_RAISED.search(before) is not None
