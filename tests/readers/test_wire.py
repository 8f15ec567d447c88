"""Drafts on their way between processes, and while they wait on the disk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from any_text import ANY_TEXT
from auscult.documents import Section
from auscult.documents.original import RUN, WORD
from auscult.errors import DataError
from auscult.readers.contract import DraftDocument
from auscult.readers.process.wire import Spool, draft_from_bytes, draft_to_bytes, packed, unpacked


def draft_of(text: str, cuts: list[int]) -> DraftDocument:
    first, second, third, fourth = cuts
    return DraftDocument(
        text=text,
        sections=[
            Section(text[:3], text[first:second], start=first),
            Section("", text[third:fourth], "p", "a", third, (text, "x")),
        ],
        title=text[::-1],
        key=text[:2],
        heading_paths=[(text,), ()],
        media_type="application/pdf",
        content=text.encode("utf-8", "surrogatepass") if cuts[0] else None,
        encoding="utf-8",
        runs=np.array([(first, second, 7, 9)], RUN),
        words=np.array([(third, fourth, 1, 2.5, 3.5, 4.5, 5.5)], WORD),
        pages=[(595.25, 842)],
        source=text,
        url=text,
        entity_ids=(text,),
        metadata={text: text},
        remarks=(text,),
    )


@settings(max_examples=80, deadline=None)
@given(ANY_TEXT, st.data())
def test_any_draft_comes_back(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    draft = draft_of(text, cuts)
    with Spool() as spool:
        places = [spool.put(draft), spool.put(draft_of("other", [0, 1, 2, 3])), spool.put(draft)]
        for place in reversed(places):
            decoded = spool.get(place)
            assert draft_to_bytes(decoded) == draft_to_bytes(
                draft if place is not places[1] else draft_of("other", [0, 1, 2, 3])
            )
    decoded = draft_from_bytes(draft_to_bytes(draft))
    assert decoded.sections == draft.sections
    assert (decoded.content, decoded.metadata, decoded.pages) == (draft.content, draft.metadata, [(595.25, 842.0)])
    assert decoded.runs.tolist() == draft.runs.tolist()
    assert decoded.words.tolist() == draft.words.tolist()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=4))
@example([])
def test_corrupted_messages_give_a_data_error_or_draft(changes: list[tuple[int, int]]) -> None:
    content = bytearray(draft_to_bytes(draft_of("Rest the joint.", [0, 4, 5, 8])))
    for place, byte in changes:
        content[place % len(content)] = byte
    try:
        draft = draft_from_bytes(bytes(content))
    except DataError:
        assert changes
        return
    assert draft.sections or changes
    for section in draft.sections:
        assert section.start is not None
        assert draft.text[section.start : section.start + len(section.text)] == section.text


def test_truncated_parts_are_an_error() -> None:
    assert unpacked(packed(b"a", b"", b"bcd")) == [b"a", b"", b"bcd"]
    with pytest.raises(DataError, match="cut short"):
        unpacked(packed(b"abc")[:-1])
