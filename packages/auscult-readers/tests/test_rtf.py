"""RTF: what is read, where it stands in the file, and what is left out."""

from __future__ import annotations

import pytest

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult_readers.rtf import RtfReader
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


FONTS = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset2 Symbol;}{\f2\fcharset2{\*\panose 05}Wingdings;}}\f0 "


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"125 {\f1 m}g, pulse {\f1 \'b3} 60, {\f1 \'a3} 200 {\f1\'6d}mol/L", "125 μg, pulse ≥ 60, ≤ 200 μmol/L"),
        (r"{\f1\u-3981?\u61603?}5{\f1 \u179?\plain m}", "σ≤5≥m"),
        (r"\f1 a\f0 -blocker {\f1\'ae} stop", "α-blocker → stop"),
        (r"{\f2\'fe}Penicillin {\f2 o}Latex", "☑ Penicillin ☐ Latex"),
        (r'{\field{\*\fldinst SYMBOL 179 \\f "Symbol" \\s 12}{\fldrslt\f1\fs24}} 60', "≥ 60"),
        (r"{\field{\*\fldinst{\f0 SYMBOL 109 \\f Symbol}}{\fldrslt{\f1 m}}}g", "μg"),
    ],
)  # fmt: skip
def test_fonts_of_signs_are_read_as_shown(written: str, text: str) -> None:
    assert read(r"{\rtf1\ansi\deff0" + FONTS + written + "}").text == text


def test_the_default_font_may_be_of_signs() -> None:
    assert read(r"{\rtf1\ansi\deff1" + FONTS.removesuffix(r"\f0 ") + r"m{\f0 g}}").text == "μg"


@pytest.mark.parametrize("box", [r"\f2 o", r"\f2\'a8"])
def test_empty_boxes_of_lists_are_kept(box: str) -> None:
    assert read(r"{\rtf1\ansi" + FONTS + r"{\listtext" + box + r"\tab}\f0 fasting\par}").text == "☐ fasting"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"Take {\field{\*\fldinst EQ \\f(1;2)}{\fldrslt }} tablet", "Take 1/2 tablet"),
        (r"Take 2{\field{\*\fldinst {EQ \\f(1,2)}}{\fldrslt }} tablets", "Take 2 1/2 tablets"),
        (r"{\mmath{\*\moMath{\mf{\mfPr x}{\mnum{\mr\msty2 3}}{\mden{\mr 4}}}}{\mmathPict{\pict 00}}} ml", "3/4 ml"),
        (r"Give 1{\mmath{\*\moMathPara{\*\moMath{\mf{\mnum{\mr 1}}{\mden{\mr 2}}}}}} ml", "Give 1 1/2 ml"),
        (r"{\*\moMath{\mr 2}{\mf{\mnum{\mr 1}}{\mden{\mr 2}}}} ml", "2 1/2 ml"),
        (r"{\*\moMath{\mf{\mnum{\*\moMath{\mr 1{\*\x y}}}}{\mden{\footnote z}{\mr 2}}}} ml", "1/2 ml"),
    ],
)  # fmt: skip
def test_fractions_are_kept_on_one_line(written: str, text: str) -> None:
    assert body(written).text == text


def form(fields: str) -> str:
    return r"{\field{\*\fldinst {FORM {\*\formfield{" + fields + r"{\*\ffname Check1}}}}}{\fldrslt }}"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (r"\fftype1\ffres1\ffdefres0", "Latex: ☒"),
        (r"\fftype1\ffres25\ffdefres0", "Latex: ☐"),
        (r"\fftype2\ffres1{\*\ffl no}{\*\ffl severe}", "Latex: severe"),
    ],
)
def test_form_fields_are_read(fields: str, text: str) -> None:
    assert body("Latex: " + form(fields)).text == text


@pytest.mark.parametrize(
    "written",
    [
        r"{\b Note} Digoxin daily {\footnote Halve it.}\par Next line.\par",
        r"Digoxin daily{\footnote\pard\plain\b Halve it.}\par Next line.\par",
        r"Digoxin daily {\shp{\*\shpinst{\shptxt\pard Halve it.\par}}}\par Next line.\par",
    ],
)
def test_a_note_makes_no_heading_of_its_paragraph(written: str) -> None:
    draft = body(written)
    assert {each.heading for each in draft.sections} <= {"", "Footnotes"}
    assert "Digoxin daily" in draft.text
    assert "Halve it." in draft.text


def test_headings_and_items_may_have_footnotes() -> None:
    draft = body(r"{\b Plan{\footnote One.}}\par Rest.\par{\listtext 1.\tab}cool it{\footnote\pard Two.}\par")
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("Plan", "Rest.\n\n1. cool it"), ("Footnotes", "One.\n\nTwo.")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (r"{\header A {\field{\*\fldinst PAGE}{\fldrslt 1}}\par}{\footerl Draft}", "3 words (headers and footers)"),
        (r"{\headerf\pard{\shp{\*\shpinst{\sp{\sn a}}{\shptxt In a box\par}}}}", "3 words (headers and footers)"),
        (r"{\*\atnid AB}{\*\atnauthor Dr}{\*\annotation{\*\atnref 1}\pard Wrong dose}", "2 words (comments)"),
        (r"{\strike a b}{\striked1 c}", "2 words (struck out)"),
        (r"{\v secret}", "1 word (hidden)"),
        (r"{\deleted gone}", "1 word (tracked deletions)"),
    ],
)  # fmt: skip
def test_words_that_are_left_out_are_counted(written: str, told: str) -> None:
    draft = body(r"Kept. " + written + r"\par")
    assert (draft.text, draft.remarks) == ("Kept.", (f"left out: {told}",))


@pytest.mark.parametrize(
    "note",
    [
        "{\\super\\chftn{\\*\\footnote\\chftn\\pard\\plain{Start low.}}}",
        "{\\super\\chftn{\\*\\footnote\\ftnalt\\chftn\\pard\\plain{Start low.}}}",
        "{\\super\\chftn{\\footnote\\pard\\plain Start low.}}",
    ],
    ids=["by LibreOffice", "endnote", "by Word"],
)
def test_notes_in_starred_groups_are_read(note: str) -> None:
    draft = body(f"Take it{note} daily.\\par")
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("", "Take it daily."),
        ("Footnotes", "Start low."),
    ]
