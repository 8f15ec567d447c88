"""A tree of any vocabulary as text: blocks, lists, definitions, tables and headings, each in one way for all formats.

A format says what part each of its elements plays; from there on HTML, JATS and CDA are read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from auscult.readers.flow import Flow
from auscult.readers.tables import is_data, readable_table
from auscult.readers.tree import Element, Piece, Role, descend, written

_DEEPEST_INDENT: Final = 6
# 10<sup>9</sup> is no 109: a raised number behind a number is parted from it.
_RAISED: Final = "sup"
_POWER: Final = written("^")


class Typesetter:
    """Sets elements into a flow.

    Args:
        flow: Where the words go.
        role: The part that an element plays.
        level: Of a heading; 1 is the highest.
    """

    def __init__(self, flow: Flow, role: Callable[[Element], Role], level: Callable[[Element], int]) -> None:
        self._flow = flow
        self._given_role = role
        self._level = level
        self._lists: list[int | None] = []
        self._verbatim = 0
        # Whether a term with words has just ended.
        self._term = False
        self._before_term = 0

    def set(self, root: Element) -> None:
        """All that stands in an element, in order."""
        stack: list[tuple[Role, Iterator[Element | Piece]]] = [(Role.INLINE, iter(root.children))]
        while stack:
            role, rest = stack[-1]
            for node in rest:
                if isinstance(node, Piece):
                    self._words(node)
                    continue
                entered = self._role(node)
                if self._enter(node, entered):
                    stack.append((entered, iter(node.children)))
                    break
            else:
                stack.pop()
                self._leave(role)

    def _role(self, element: Element) -> Role:
        return Role.DROPPED if element.dropped else self._given_role(element)

    def _words(self, piece: Piece) -> None:
        if self._verbatim:
            self._flow.verbatim(piece)
        else:
            self._flow.add(piece)

    def _enter(self, element: Element, role: Role) -> bool:
        """Prepare the flow for an element; False where there is nothing to go into."""
        flow = self._flow
        if role is Role.DROPPED:
            return False
        if role is Role.BREAK:
            flow.broken()
            return False
        if role is Role.TABLE:
            self._part()
            if is_data(element, self._role):
                for line in readable_table(element, self.pieces):
                    flow.line()
                    for piece in line:
                        flow.add(piece)
                flow.block()
                return False
        elif role is Role.HEADING:
            flow.begin_heading(self._level(element))
        elif role is Role.ITEM:
            flow.marker(self._marker())
        elif role is Role.INLINE:
            if element.tag == _RAISED and flow.after_digit and _is_number(element):
                flow.add(_POWER)
        elif role is Role.DEFINITION and self._term:
            flow.join()
        else:
            self._part()
            if role in (Role.LIST, Role.NUMBERED):
                self._lists.append(0 if role is Role.NUMBERED else None)
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
            self._flow.unjoin()
        self._part()
        self._term = role is Role.TERM and self._flow.length > self._before_term

    def _part(self) -> None:
        """Part blocks: by an empty line, in lists by a line's end."""
        if self._lists:
            self._flow.line()
        else:
            self._flow.block()

    def _marker(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_INDENT)
        count = self._lists[-1]
        if count is None:
            return f"{indent}- "
        self._lists[-1] = count + 1
        return f"{indent}{count + 1}. "

    def heading(self, element: Element, level: int) -> None:
        """The words of an element as a heading."""
        self._flow.begin_heading(level)
        for piece in self.pieces(element):
            self._flow.add(piece)
        self._flow.end_heading()

    def pieces(self, element: Element) -> list[Piece]:
        """The words of an element on one line, blocks parted by a blank and items by "; "."""
        found: list[Piece] = []
        gap = ""
        for node in descend(element, lambda each: self._role(each) is not Role.DROPPED):
            if isinstance(node, Element):
                role = self._role(node)
                if role is Role.ITEM:
                    gap = "; "
                elif role is not Role.INLINE:
                    gap = gap or " "
                elif node.tag == _RAISED and not gap and found and found[-1].text[-1:].isdigit() and _is_number(node):
                    found.append(_POWER)
            elif node.text.strip():
                if gap and found:
                    found.append(written(gap))
                gap = ""
                found.append(node)
            elif found:
                found.append(node)
        return found


def _is_number(raised: Element) -> bool:
    """Whether raised characters begin as a number does."""
    first = next((node.text for node in descend(raised) if isinstance(node, Piece) and node.text.strip()), "")
    return first.lstrip().lstrip("-\u2212\u2013+")[:1].isdigit()
