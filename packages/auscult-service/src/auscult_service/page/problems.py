"""Why files of an upload were skipped, in the page's words.

Readers give a kind of problem and an English sentence with details. In other languages the page puts the kind into
words, and shows the sentence behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from auscult_service.page.messages import Message, message
from auscult_service.placing import KNOWN, OTHER_GROUPS

_NO_TEXT: Final = message("The file has no text.")
_PICTURES: Final = message("The file has only pictures of text.")
_PROTECTED: Final = message("The file is protected by a password.")
_DAMAGED: Final = message("The file is damaged or incomplete.")
_TOO_LARGE: Final = message("The file is too large or too deeply nested.")
_UNKNOWN: Final = message("Files of this kind are not read.")
_HARMFUL: Final = message("The file could do harm, so it was not opened.")
_FAILED: Final = message("The file could not be read.")
PROBLEMS: Final[Mapping[str, Message]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("empty file", "empty PDF", "empty Word file", "no words", "no text", "no file", "no resource"), _NO_TEXT
        ),
        **dict.fromkeys(("scanned PDF", "scanned Word file", "PDF without letters", "image"), _PICTURES),
        **dict.fromkeys(("encrypted", "encrypted Word file"), _PROTECTED),
        **dict.fromkeys(
            ("too large", "too many members", "zip bomb", "nested archive", "nested too deeply", "deep nesting"),
            _TOO_LARGE,
        ),
        "timed out": message("Reading the file took too long."),
        **dict.fromkeys(("unknown kind", "binary file", "old Office file", "database", "program"), _UNKNOWN),
        **dict.fromkeys(
            ("declared entities", "path traversal", "link in an archive", "link out of the folder"), _HARMFUL
        ),
        **dict.fromkeys(("missing column", "repeated column", "key twice", "missing file"), _DAMAGED),
        "struck-out PDF": message("All text of the file is struck out."),
        "cannot be de-identified": message("The file could not be de-identified."),
        "reader not installed": message("The reader for such files is not installed."),
        "repeated name": message("Two files have this name."),
        KNOWN: message("The collection has this text already."),
        OTHER_GROUPS: message("The file names groups that this upload is not for."),
    }
)
"""Messages by kind of problem; `problem_of` knows those of the form "broken XML", too."""


def problem_of(kind: str) -> Message:
    """Return the message for a kind of problem."""
    if kind.startswith(("broken ", "unreadable ")):
        return _DAMAGED
    return PROBLEMS.get(kind, _FAILED)
