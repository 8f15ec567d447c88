"""RTF: what is read, where it stands in the file, and what is left out."""

from __future__ import annotations

import pytest

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.rtf import RtfReader
from small_office_files import RTF


def read(content: bytes | str) -> DraftDocument:
    content = content.encode() if isinstance(content, str) else content
    (draft,) = RtfReader().read(SourceFile("note.rtf", content))
    return draft


def body(text: str) -> DraftDocument:
    return read("{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 " + text + "}")


def test_headings_lists_tables_and_footnotes_are_read() -> None:
    draft = read(RTF)
    assert draft.title == "Gout"
    assert [section.heading for section in draft.sections] == ["", "Treatment", "Footnotes"]
    assert "Ménière’s disease, 10^9/L." in draft.text
    assert "- rest the joint\n- cool it" in draft.text
    assert "Medicine: Colchicine | Dose: 500 µg" in draft.text
    assert draft.sections[-1].text == "Start low."
    assert draft.metadata == {"author": "Ward 7", "created": "2024-03-05"}


@pytest.mark.parametrize("unseen", ["Page 1", "Warfarin", "hidden", "0102ffabcd", "Arial"])
def test_hidden_and_deleted_words_are_omitted(unseen: str) -> None:
    assert unseen not in read(RTF).text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("\\'e9t\\'e9", "été"),
        ("\\u8722?5 \\u-10179?\\u-8704?", "−5 😀"),
        ("{\\uc0\\u945}-blocker", "α-blocker"),
        ("one\\\ntwo", "one\n\ntwo"),
        ("one\\line two", "one\ntwo"),
        ("5{\\super 3} {\\sub 2}", "5^3 2"),
        ("a\\~b \\{c\\} d\\_e f\\-g", "a\xa0b {c} d\u2011e fg"),
        ("{\\*\\unknown lost}kept", "kept"),
        ("{\\field{\\*\\fldinst HYPERLINK \"http://a.test\"}{\\fldrslt a link}}", "a link"),
        ("{\\pict\\bin4 }}}}}now", "now"),
        ("before{\\shp{\\*\\shpinst{\\shptxt In a box.\\par}}} after", "In a box.\n\nbefore after"),
        ("{\\upr{plain}{\\*\\ud{uni\\u231?}}}", "uniç"),
        ("kept {\\deleted gone}{\\b0\\strike gone}{\\striked1 gone}", "kept"),
        ("{\\f1 x}{\\comment gone}{\\annotation gone}", "x"),
    ],
)  # fmt: skip
def test_characters(written: str, text: str) -> None:
    assert body(written).text == text


def test_list_numbers_continue_after_interrupting_text() -> None:
    draft = body("{\\listtext 1.\\tab}one\\par between\\par{\\listtext 2.\\tab}two\\par{\\pntext b)\\tab}three\\par")
    assert draft.text == "1. one\n\nbetween\n\n2. two\nb) three"


def test_bold_lines_are_headings_without_their_colon() -> None:
    draft = body("{\\b ASSESSMENT:}\\par Pneumonia.\\par{\\b What to do}\\par Call us. {\\b Soon.}\\par")
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("ASSESSMENT", "Pneumonia."), ("What to do", "Call us. Soon.")
    ]  # fmt: skip


def test_without_bold_lines_plain_headings_make_sections() -> None:
    draft = body("ASSESSMENT: Pneumonia.\\par PLAN: Ceftriaxone.\\par")
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("ASSESSMENT", "Pneumonia."), ("PLAN", "Ceftriaxone.")
    ]  # fmt: skip


def test_an_entirely_bold_file_has_no_headings() -> None:
    assert [each.heading for each in body("{\\b Take one.\\par Take two\\par}").sections] == [""]


def test_a_font_gives_bytes_their_letters() -> None:
    fonts = "{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset161 C;}}"
    assert read("{\\rtf1\\ansi" + fonts + "\\f1\\'e4\\'e0 \\f2\\'e1 \\f0\\'e1}").text == "да α á"


@pytest.mark.parametrize("written", ["", "\\par\\par", "{\\pict 00ff}"])
def test_files_without_words_are_refused(written: str) -> None:
    with pytest.raises(UnreadableError):
        body(written)
