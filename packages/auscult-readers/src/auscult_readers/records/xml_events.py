"""Events of large XML parts, without a tree: names without namespaces, and no entities of the file's own."""

from __future__ import annotations

import re
from typing import Final, NoReturn, Protocol
from xml.parsers import expat

from auscult.readers.contract import UnreadableError

_PREFIXED_NAME: Final = re.compile(rb"<[^\s<>:]+:")


class Handler(Protocol):
    """Takes the events of a part."""

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        ...

    def end(self, name: str) -> None:
        """End an element."""
        ...

    def text(self, text: str) -> None:
        """Take characters. Those of one element may come in several parts."""
        ...


def parse_events(content: bytes, handler: Handler, *, prefixed: bool = False) -> None:
    """Send the events of a part to a handler.

    Args:
        content: The part.
        handler: Gets names of elements without prefixes.
        prefixed: Whether attributes have prefixes in this vocabulary, which the handler gets without.

    Raises:
        UnreadableError: The part is not well-formed, or has a document type.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = handler.begin, handler.end
    # Most parts have no prefixes, and many elements.
    if prefixed or _PREFIXED_NAME.search(content):
        names = _Names()

        def begin(name: str, attributes: dict[str, str]) -> None:
            local = {names[key]: value for key, value in attributes.items()} if prefixed else attributes
            handler.begin(names[name], local)

        parser.StartElementHandler, parser.EndElementHandler = begin, lambda name: handler.end(names[name])
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise UnreadableError(
            "broken XML", "well-formed XML", f"{reason} in line {error.lineno}", "mend the file, or export it again"
        ) from error
    except LookupError as error:
        expected = "XML in an encoding that has a name"
        raise UnreadableError("broken XML", expected, "an unknown one", "export the file again") from error


class _Names(dict[str, str]):
    """Names without their prefixes, each computed once."""

    def __missing__(self, name: str) -> str:
        self[name] = local = name.rpartition(":")[2]
        return local


def _refuse(*_: object) -> NoReturn:
    remedy = "save a new copy"
    raise UnreadableError("declared entities", "a part without a document type", "one with", remedy)
