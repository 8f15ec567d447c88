"""Text of pages as a browser shows it: fractions, labels of lists, styles, drawings, frames, and where a panel ends."""

from __future__ import annotations

import pytest

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.html.reader import HtmlReader
from readings import read, sources_of

READER = HtmlReader()


def page(content: str) -> DraftDocument:
    (draft,) = read(READER, content)
    return draft


def sections_of(draft: DraftDocument) -> list[tuple[str, str]]:
    paths = draft.heading_paths or [()] * len(draft.sections)
    return [
        (" > ".join([*path, section.heading]), section.text)
        for section, path in zip(draft.sections, paths, strict=True)
    ]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Take 1<sup>1</sup>&frasl;<sub>2</sub> tablets", "Take 1 1/2 tablets"),
        ("2<span class=frac><sup>1</sup><sub>2</sub></span> ml", "2 1/2 ml"),
        ("2<sup>1</sup><sub>2</sub> ml", "2 1/2 ml"),
        ("3<sup>1</sup>/<sub>4</sub> ml", "3 1/4 ml"),
        ("2<sup>1/2</sup> ml", "2 1/2 ml"),
        ("2<sup>1</sup>/2 ml", "2 1/2 ml"),
        ("<sup>1</sup>/<sub>2</sub> tablet", "1/2 tablet"),
        ('2<span class="fraction">1/2</span> ml', "2 1/2 ml"),
        ("2<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> ml", "2 1/2 ml"),
        ('2<span style="vertical-align:super">1</span>&frasl;<span style="vertical-align:sub">2</span>', "2 1/2"),
        ("10<sup>9</sup>/l, 10<sup>3</sup>/5 ml, 10<sup>1/2</sup>", "10^9/l, 10^3/5 ml, 10^1/2"),
        ("<sup>131</sup><sub>53</sub>I, x<sup>2</sup><sub>1</sub>, m<sup>2</sup>", "13153I, x21, m2"),
        ("2&frac12; ml, 2 &frac12; ml", "2½ ml, 2 ½ ml"),
    ],
)
def test_fractions_keep_their_value(html: str, text: str) -> None:
    assert page(f"<p>{html}").text == text
    table = page(f"<table><tr><th>Drug<th>Dose<tr><td>A<td>{html}</table>")
    assert table.text == f"Drug: A | Dose: {text}"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol type=a start=3><li>Stop<li>Give</ol>", "c. Stop\nd. Give"),
        ("<ol type=I><li>Stop<li value=4>Give<li>Go</ol>", "I. Stop\nIV. Give\nV. Go"),
        ('<ol style="list-style-type: lower-alpha"><li>Stop<li>Give</ol>', "a. Stop\nb. Give"),
        ("<style>.l {list-style: upper-roman inside}</style><ol class=l><li>Stop<li>Give</ol>", "I. Stop\nII. Give"),
        ("<ol reversed><li>Stop<li>Give</ol>", "2. Stop\n1. Give"),
        ("<ol start=27 type=A><li>Stop</ol>", "AA. Stop"),
        ("<ol type=a><li>Stop<ol type=i><li>now<li>then</ol><li>Give</ol>", "a. Stop\n  i. now\n  ii. then\nb. Give"),
        ('<ol style="list-style:none"><li>Stop</ol><ul type=square><li>Give</ul>', "- Stop\n\n- Give"),
        ("<ol start=-1><li>Stop<li>Give</ol><ol start=x><li>Go</ol>", "-1. Stop\n0. Give\n\n1. Go"),
    ],
)
def test_list_labels_are_as_shown(html: str, text: str) -> None:
    assert page(html).text == text


@pytest.mark.parametrize(
    "panel",
    [
        "<details><summary>Overdose</summary><p>Call.</details>",
        "<dl><dt><h3>Overdose</h3><dd>Call.</dl>",
        "<button aria-controls=p>Overdose</button><div id=p hidden><p>Call.</div>",
        "<ul><li><h3>Overdose</h3><p>Call.</ul>",
        "<fieldset><legend><h3>Overdose</h3></legend><p>Call.</fieldset>",
    ],
)
def test_panel_ends_its_headings(panel: str) -> None:
    draft = page(f"<h1>Leaflet</h1><h2>Gout</h2><p>A disease.{panel}<p>Colchicine.<h3>Dose</h3><p>1 mg.")
    found = [(heading, text.removeprefix("- ")) for heading, text in sections_of(draft)]
    assert found == [
        ("Gout", "A disease."), ("Gout > Overdose", "Call."), ("Gout", "Colchicine."), ("Gout > Dose", "1 mg."),
    ]  # fmt: skip


def test_text_after_a_panel_may_lack_headings() -> None:
    draft = page("<p>Before.<details><summary>Overdose</summary><p>Call.</details><p>After.")
    assert sections_of(draft) == [("", "Before."), ("Overdose", "Call."), ("", "After.")]
    assert draft.title == ""


def test_heading_alone_in_a_list_heads_what_follows() -> None:
    assert sections_of(page("<h1>L</h1><p>Intro.<ul><li><h2>Gout</h2></ul><p>A disease.")) == [
        ("", "Intro."), ("Gout", "A disease."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sheet", "left_out"),
    [
        ("p.a {text-decoration: line-through}", "2 words (struck out)"),
        ("main > .a, .other {text-decoration: underline line-through red}", "2 words (struck out)"),
        ("#i {display:none}", "2 words (hidden)"),
        ("main p:not(.b) {visibility: hidden}", "2 words (hidden)"),
        ("@media screen and (min-width: 600px) {.a {display: none}}", "2 words (hidden)"),
        (".a {display: none !important} #i {display: block}", "2 words (hidden)"),
    ],
)
def test_style_sheets_hide_and_strike_words(sheet: str, left_out: str) -> None:
    draft = page(f"<style>{sheet}</style><main><p id=i class=a>Warfarin daily.<p class=b>Digoxin 62.5 µg daily.</main>")
    assert draft.text == "Digoxin 62.5 µg daily."
    assert draft.remarks == (f"left out: {left_out}",)


@pytest.mark.parametrize(
    "sheet",
    [
        "@media print {.a {display: none}}", "@media (max-width: 600px) {.a {display: none}}",
        ".a:hover {display: none}",
        ".a {display: none} @media (min-width: 600px) {p.a {display: block}}", ".a::before {display: none}",
        "/* .a {display: none} */", "p.a {display: block} .a {display: none}", "}{ .b {display", "x y z {display:none",
    ],
)  # fmt: skip
def test_words_that_a_screen_shows_are_kept(sheet: str) -> None:
    draft = page(f"<style>{sheet}</style><p class=a>Warfarin 5 mg.<p class=b>Digoxin.")
    assert draft.text == "Warfarin 5 mg.\n\nDigoxin."


def test_inline_style_wins_over_a_style_sheet() -> None:
    sheet = "<style>.a {display: none}</style>"
    assert page(f'{sheet}<p class=a style="display: block; color: red">Warfarin.<p>Digoxin.').text.startswith("Warf")


def test_signs_of_a_styled_font_are_read() -> None:
    draft = page(
        "<style>.s {font-family: Symbol}</style><p>Digoxin 125 <span class=s>m</span>g, <b class=s>\xb3</b> 60"
    )
    assert draft.text == "Digoxin 125 μg, ≥ 60"


def test_costly_style_sheet_is_told() -> None:
    deep = "<div>" * 200 + "<p class=a>Warfarin 5 mg."
    draft = page(f"<style>div div div div .a {{display: none}}</style>{deep}")
    assert draft.text == "Warfarin 5 mg."
    assert draft.remarks[0].startswith("a part of the style sheet was not applied")


def test_words_of_drawings_frames_and_objects_are_read() -> None:
    draft = page(
        "<svg><title>icon</title><desc>x</desc><defs><text>unused</text></defs><g><text>Step 1: 0.5 mg</text></g>"
        "<text><tspan x=0>into the</tspan><tspan x=0>thigh</tspan></text></svg>"
        "<iframe srcdoc='<h2>Never</h2><p>more than 4 g'></iframe>"
        "<object data=x.bin><p>Children 15 mg per kg.</p></object><canvas>no</canvas>"
    )
    assert draft.text == "Step 1: 0.5 mg\n\ninto the thigh\n\nNever\n\nmore than 4 g\n\nChildren 15 mg per kg."


def test_highlights_lead_into_a_frame() -> None:
    content = b'<p>x<iframe srcdoc="&lt;p>No more than 4&amp;nbsp;g &amp;amp; <b>never</b> again.</p>"></iframe>'
    (draft,) = read(READER, content)
    assert draft.text == "x\n\nNo more than 4\xa0g & never again."
    assert sources_of(draft, "never again", content) == ["never", " again."[:6]]


def test_frames_in_frames_end() -> None:
    inner = "<p>deep"
    for _ in range(6):
        inner = f'<p>x<iframe srcdoc="{inner.replace("&", "&amp;").replace(chr(34), "&quot;")}"></iframe>'
    assert page(inner).text.count("x") == 4


def test_declarations_of_a_page_are_no_text() -> None:
    assert page("<!DOCTYPE html [ <!ELEMENT p ANY> ]><p>Gout.").text == "Gout."
    with pytest.raises(UnreadableError, match="entity declaration"):
        list(READER.read(SourceFile("a.xhtml", b'<!DOCTYPE html [ <!ENTITY d "warfarin > x"> ]><p>Take &d; 5 mg.')))
