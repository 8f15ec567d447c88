"""Plain text in every encoding that files come in."""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.documents import build_document, check_document
from auscult.documents.original import Original
from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.decoding import is_text
from auscult.readers.notes import NoteReader, untitled_draft
from auscult.readers.registry import Registry

NOTE = "CHIEF COMPLAINT: Übelkeit – and “pain”.\r\n\r\nPLAN:\r\nRest, 5 µg.\r\n"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (NOTE.encode(), "utf-8"),
        (codecs.BOM_UTF8 + NOTE.encode(), "utf-8-sig"),
        (NOTE.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + NOTE.encode("utf-16-be"), "utf-16"),
        (NOTE.encode("utf-16-le"), "utf-16-le"),
        (NOTE.encode("utf-16-be"), "utf-16-be"),
        (NOTE.encode("cp1252"), "cp1252"),
    ],
)
def test_text_is_read_in_every_common_encoding(content: bytes, encoding: str) -> None:
    (draft,) = NoteReader().read(SourceFile("a.txt", content))
    assert (draft.text, draft.encoding) == (NOTE, encoding)
    assert [(section.heading, section.text) for section in draft.sections] == [
        ("CHIEF COMPLAINT", "Übelkeit – and “pain”."),
        ("PLAN", "Rest, 5 µg."),
    ]


@pytest.mark.parametrize(
    "content", [bytes(range(256)), b"\x89PNG\r\n\x1a\n\0\0", b"a\0b\0\0c", b"\xff\xfe\x00\xd8\x00\xd8"]
)
def test_bytes_that_are_no_text_are_not_recognised(content: bytes) -> None:
    assert not NoteReader().recognises(SourceFile("a.txt", content))


@pytest.mark.parametrize(("content", "kind"), [(b"", "empty file"), (b" \n\t", "empty file"), (b"--- \n", "no words")])
def test_files_without_words_are_refused(content: bytes, kind: str) -> None:
    file = SourceFile("a.txt", content)
    with pytest.raises(UnreadableError) as caught:
        list(Registry().reader_of(file).read(file))
    assert caught.value.kind == kind


def test_a_sample_cut_inside_a_character_is_text() -> None:
    for encoding in ("utf-8", "utf-16", "utf-16-le"):
        assert is_text(("naïve é" * 2000).encode(encoding)[:4095])


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\r"), min_size=1))
def test_highlights_go_back_to_the_file(text: str) -> None:
    content = text.encode()
    try:
        (draft,) = NoteReader().read(SourceFile("a.txt", content))
    except UnreadableError:
        assert not re.search(r"\w", text)
        return
    document = check_document(build_document(doc_id="d", title="", sections=draft.sections, text=draft.text))
    original = Original(
        name="a.txt", media_type=draft.media_type, content=content, encoding=draft.encoding, runs=draft.runs
    )
    source = content.decode(draft.encoding)
    for sentence in document.sentences:
        ranges = original.source_ranges(sentence.start, sentence.end)
        assert "".join(source[start:end] for start, end in ranges) == document.slice(sentence)


@pytest.mark.parametrize(
    ("text", "title", "below"),
    [
        ("Gout\n\nGout is arthritis.\n", "Gout", "Gout is arthritis."),
        ("\n  Gout: a guide\r\n=============\r\nGout is arthritis.", "Gout: a guide", "Gout is arthritis."),
        ("What is gout?\r\rArthritis.", "What is gout?", "Arthritis."),
        ("GOUT\n-----\nGout is arthritis.", "GOUT", "Gout is arthritis."),
        # Numbered passages keep their ids, so a title without text below it stays a passage.
        ("Gout\n\nTREATMENT:\nColchicine.", "Gout", "Gout"),
    ],
)
def test_a_first_line_like_a_title_is_one(text: str, title: str, below: str) -> None:
    (draft,) = NoteReader().read(SourceFile("a.txt", text.encode()))
    first = draft.sections[0]
    assert (draft.title, first.heading, first.text) == (title, "", below)
    assert draft.text[first.start :].startswith(first.text)


@pytest.mark.parametrize(
    "text",
    [
        "Gout is a kind of arthritis.\n\nIt hurts.",
        "Gout is a kind of\narthritis.",
        "1. Introduction\n\nGout hurts.",
        "2150-08-03\n\nGout hurts.",
        "Dear Dr Weber,\n\nGout hurts.",
        "PLAN\n\nColchicine.",
        "CHIEF COMPLAINT: Pain\n\nPLAN: Colchicine.",
        "No known drug allergies\n\n",
        f"Gout {'and arthritis ' * 6}\n\nIt hurts.",
    ],
)
def test_other_first_lines_are_no_title(text: str) -> None:
    (draft,) = NoteReader().read(SourceFile("a.txt", text.encode()))
    assert draft.title == ""
    assert draft.sections == untitled_draft(text.encode()).sections
