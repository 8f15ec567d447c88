"""Drafts as bytes, to send them from the reading process and to keep them on disk until they are stored.

The bytes are JSON and arrays, so that nothing in them is ever executed. The file on disk has no name: no other process
can open it, and it disappears when the process ends.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Section
from auscult.documents.original import RUN, WORD
from auscult.errors import DataError
from auscult.readers.contract import DraftDocument

DRAFT, END, REFUSED = b"D", b"E", b"R"
"""Kinds of answers: a draft, the end of a file's drafts, or the error because of which there are no more."""
SIZE = 8
"""Bytes of a length."""
_SAID = ("text", "title", "key", "media_type", "encoding", "source", "url", "to_rewrite")


def packed(*parts: bytes) -> bytes:
    """Join byte strings, each preceded by its length."""
    return b"".join(len(part).to_bytes(SIZE, "little") + part for part in parts)


def unpacked(content: bytes) -> list[bytes]:
    """Split the result of `packed`.

    Raises:
        DataError: The bytes are not such a result.
    """
    parts, at = [], 0
    while at < len(content):
        end = at + SIZE + int.from_bytes(content[at : at + SIZE], "little")
        if end > len(content):
            raise _broken("a part that is cut short")
        parts.append(content[at + SIZE : end])
        at = end
    return parts


def draft_to_bytes(draft: DraftDocument) -> bytes:
    """Serialize a draft for `draft_from_bytes`."""
    fields = {name: getattr(draft, name) for name in _SAID} | {
        "sections": [[s.heading, len(s.text), s.passage_id, s.aspect, s.start, list(s.above)] for s in draft.sections],
        "paths": [list(path) for path in draft.heading_paths],
        "pages": [[float(width), float(height)] for width, height in draft.pages],
        "entity_ids": list(draft.entity_ids),
        "metadata": dict(draft.metadata),
        "remarks": list(draft.remarks),
        "has_content": draft.content is not None,
    }
    # Without escapes: two escaped surrogates would be parsed as one character.
    head = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return packed(head, draft.content or b"", draft.runs.astype(RUN).tobytes(), draft.words.astype(WORD).tobytes())


def draft_from_bytes(content: bytes) -> DraftDocument:
    """Parse the result of `draft_to_bytes`, and check that each section is at its offset in the text.

    Raises:
        DataError: The bytes are not such a result.
    """
    try:
        head, original, runs, words = unpacked(content)
        fields = json.loads(head.decode("utf-8", "surrogatepass"))
        texts = {name: _check_text(fields[name]) for name in _SAID}
        return DraftDocument(
            **texts,
            sections=_parse_sections(texts["text"], fields["sections"]),
            content=original if fields["has_content"] else None,
            heading_paths=[tuple(map(_check_text, path)) for path in fields["paths"]],
            runs=_check_ranges(np.frombuffer(runs, RUN), texts["text"]),
            words=_check_ranges(np.frombuffer(words, WORD), texts["text"]),
            pages=[(float(width), float(height)) for width, height in fields["pages"]],
            entity_ids=tuple(map(_check_text, fields["entity_ids"])),
            metadata={_check_text(name): _check_text(told) for name, told in fields["metadata"].items()},
            remarks=tuple(map(_check_text, fields["remarks"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(type(error).__name__) from error


def _parse_sections(text: str, told: Sequence[Sequence[Any]]) -> list[Section]:
    """Parse sections, and check that they are in order and do not overlap."""
    sections, reached = [], 0
    for heading, length, passage_id, aspect, start, above in told:
        end = start + length
        if not reached <= start <= end <= len(text):
            raise ValueError(start)
        path = tuple(map(_check_text, above))
        sections.append(
            Section(_check_text(heading), text[start:end], _check_text(passage_id), _check_text(aspect), start, path)
        )
        reached = end
    return sections


def _check_ranges(rows: npt.NDArray[Any], text: str) -> npt.NDArray[Any]:
    """Check that ranges are inside the text, and return them."""
    if len(rows) and (int(rows["end"].max()) > len(text) or bool((rows["start"] > rows["end"]).any())):
        raise ValueError(len(text))
    return rows


def _check_text(value: Any) -> str:
    """Check that a value is a string, and return it."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _broken(got: str) -> DataError:
    return DataError("a draft of a document", got, "report it: the process that reads wrote something else")


class Place(NamedTuple):
    """Position of a draft in a spool: its first byte, and the number of bytes."""

    start: int
    size: int


class Spool:
    """Keeps drafts on disk. Each may be read several times."""

    def __init__(self) -> None:
        # Closed with the spool.
        self._file = tempfile.TemporaryFile(prefix="auscult-")  # noqa: SIM115
        self._end = 0

    def put(self, draft: DraftDocument) -> Place:
        """Store a draft.

        Raises:
            OSError: The disk is full.
        """
        content = draft_to_bytes(draft)
        self._file.seek(self._end)
        self._file.write(content)
        place = Place(self._end, len(content))
        self._end += len(content)
        return place

    def get(self, place: Place) -> DraftDocument:
        """Read the draft at a position."""
        self._file.seek(place.start)
        return draft_from_bytes(self._file.read(place.size))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
