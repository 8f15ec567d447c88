from __future__ import annotations

import pytest

from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.markdown import MarkdownReader
from readings import SAMPLES, read, read_sample, sources_of

READER = MarkdownReader()
GUIDELINE = """Managing gout

Read the whole guideline at the college.

Flares

Offer one of these:

- an NSAID with a PPI
- colchicine
  1. 500 µg
  2. twice a day

Do not offer an interleukin-1 inhibitor first.

Doses

Medicine: Colchicine | Dose: 500\u00a0µg
Medicine: Naproxen | Dose: 750 mg once

CrCl = (140 - age) * weight
    / (72 * creatinine)

Follow up after 4*7 days[^1].
Repeat urate.

[^1]: See snake_case_name and 2 * 3."""


def test_a_guideline_is_read_as_people_read_it() -> None:
    (draft,) = read_sample(READER, "guideline.md")
    assert draft.text == GUIDELINE
    assert [(each.heading, path) for each, path in zip(draft.sections, draft.heading_paths, strict=True)] == [
        ("", ()),
        ("Flares", ()),
        ("Doses", ("Flares",)),
    ]
    assert draft.title == "Managing gout"
    assert draft.metadata == {"date": "2024-03-05", "author": "Ann Lee; Bo Müller", "draft": "false"}
    assert (draft.media_type, draft.encoding) == ("text/markdown", "utf-8")


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        ("Offer one of these", ["Offer ", "one", " of these"]),
        ("the college.", ["the college", "."]),
        ("interleukin-1 inhibitor", ["interleukin-1\n> inhibitor"]),
        ("Medicine: Colchicine | Dose: 500\u00a0µg", ["Colchicine", "500&nbsp;µg"]),
        ("- colchicine", ["colchicine"]),
        ("4*7 days", ["4", "*7 days"]),
    ],
)
def test_a_highlight_goes_back_to_the_source(words: str, marked: list[str]) -> None:
    content = (SAMPLES / "guideline.md").read_bytes()
    (draft,) = read(READER, content)
    assert sources_of(draft, words, content) == marked


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# A #\nb", "A\n\nb"),
        ("#no heading", "#no heading"),
        ("A\n===\nB\nC\n---\nd", "A\n\nB C\n\nd"),
        ("a\n\n---\nb", "a\n\nb"),
        ("*a* **b** ***c*** _d_ __e__ ~~f~~`g*h*` ``i`j``", "a b c d e g*h* i`j"),
        ("a*b*c snake_case_x 2 * 3 * 4 **open *open", "abc snake_case_x 2 * 3 * 4 **open *open"),
        (r"\*a\* \\ \q", r"*a* \ \q"),
        ("[a](b 'c') ![d](e) [f][g] [g] [h] <https://i.j> <k@l.m>\n\n[g]: /x \"t\"", "a d f g [h] https://i.j k@l.m"),
        ("[a [b] c](d)", "a [b] c"),
        ("[a](b(c)d) [e](<f g> (h))", "a e"),
        # No link is inside another.
        ("[a [b](c) d](e)", "[a b d](e)"),
        ("[![a](b)](c)", "a"),
        ("[a](b 'c\nd') [e\nf]( <g>\n\"h\" )", "a e f"),
        ("[a *b*][c] [C][] [c]\n[d\ne]\n\n[c]:\n  /x\n  'y'\n[D E]: /z", "a b C c d e"),
        ("<https://a.b/c_d_e> <f.g@h.i> <j k@l.m>", "https://a.b/c_d_e f.g@h.i <j k@l.m>"),
        ("*a **b** c* **d *e* f** ***g** h* _i *j* k_ **l*m", "a b c d e f g h i j k **l*m"),
        ("a <b>b</b> <!-- c --> d<br>e", "a b d\ne"),
        ("<!-- a\n\nb --> c\n\n<script>\nd\n</script>\ne", "c\n\ne"),
        ("- a\n  b\n\n  c\n- d\n\ne", "- a b\nc\n- d\n\ne"),
        ("* a\n\t* b\n1) c", "- a\n  - b\n1. c"),
        ("- \n\na", "a"),
        ("- - a\n  - b\n- > c\n  >\n  > d", "  - a\n  - b\n- c\nd"),
        ("3. a\n3. b\n\n   c\n9) d", "3. a\n4. b\nc\n9. d"),
        ("- [ ] a\n- [x] b", "- [ ] a\n- [x] b"),
        ("1. a\n\n   ```\n   b\n     c\n   ```\n2. d", "1. a\nb\n  c\n2. d"),
        ("It was in\n1986. Then\n1. not", "It was in 1986. Then\n\n1. not"),
        ("```\na\n  *b*\n```\nc\n~~~\nd", "a\n  *b*\n\nc\n\nd"),
        ("a\n\n    code *x*\n\n      y\n\tz", "a\n\ncode *x*\n  y\nz"),
        ("```\r\na\r\n\r\n  b\r\n```\r\nc", "a\n  b\n\nc"),
        ("```\ra\r```\rc", "a\n\nc"),
        ("> `a\n> b` c", "a b c"),
        ("a `` `b` `` `c\nd`", "a `b` c d"),
        ("> a\n> b\n\n> | x | y |\n> |---|---|\n> | 1 | 2 |", "a b\n\nx: 1 | y: 2"),
        ("x|y\n-|-\n1|\n|2|a \\| b", "x: 1\nx: 2 | y: a | b"),
        ("x|y\n-|-\n`a\\|b`|*c*<br>d\n1|2|3 \\*|4", "x: a|b | y: c d\nx: 1 | y: 2 | 3 \\* | 4"),
        ("a|b\nc|d", "a|b c|d"),
        ("a&nbsp;&lt; 10<sup>9</sup> &#150; &copy; &nope;", "a\u00a0< 10^9 \u2013 © &nope;"),
        ("~5 to 10~ ~~a~~ 5~10 ~b~", "~5 to 10~ 5~10 ~b~"),
        ("a[^1] b[^n] c[^2]\n\n[^1]: d\n\n    e\n[^n]: - f", "a[^1] b[^n] c[^2]\n\n[^1]: d\n\ne\n\n[^n]:\n\n- f"),
        ("- a\n\u00a0\nb\n\u00a0\t\r\nc", "- a\n\nb\n\nc"),
        ("<h2>a</h2>\n<ul><li>b<li>c</ul>\n\nd", "a\n\n- b\n- c\n\nd"),
        ("<table><tr><th>x<th>y<tr><td>1<td>&lt;2</table>", "x: 1 | y: <2"),
        ("<pre>\na\n  b</pre>\n\n> <pre>\n> c\n>   d</pre>", "a\n  b\n\nc d"),
        ("<p hidden>a</p>\n\n> <p>b\n> c</p>", "b c"),
        ("a\r\nb\rc\r\n\r\nd", "a b c\n\nd"),
        ("a  \nb\\\nc<br/>\nd   \n\n# e  \nf", "a\nb\nc\nd\n\ne\n\nf"),
    ],
)
def test_marks_are_left_out(markdown: str, text: str) -> None:
    assert read(READER, markdown)[0].text == text


@pytest.mark.parametrize(
    ("markdown", "title", "metadata"),
    [
        (
            "---\ntitle: 'A: b' # c\nLang: en\nTags: [x, \"y\"]\n---\n# Other\nc",
            "A: b",
            {"language": "en", "tags": "x; y"},
        ),
        ("---\ntitle: A\ndate: 5 March\nnested:\n  a: b\nfolded: >\n  text\n...\nc", "A", {}),
        ("---\ntitle: A\n", "", {}),
        ("# A\n\n# B\n\nc", "A", {}),
        ("---\nurl: file:///etc/passwd\n---\nc", "", {}),
    ],
)
def test_fields_on_top_are_read(markdown: str, title: str, metadata: dict[str, str]) -> None:
    (draft,) = read(READER, markdown)
    assert (draft.title, draft.metadata, draft.url) == (title, metadata, "")


@pytest.mark.parametrize("markdown", ["", "\n", "---\ntitle: a\n---\n", "***", "[a]: b", "<!-- a -->"])
def test_a_file_without_words_is_refused(markdown: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        list(READER.read(SourceFile("x.md", markdown.encode())))
    assert raised.value.kind == "empty file"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_source_positions_count_characters_in_any_encoding(encoding: str, end: str) -> None:
    written = (
        "---\ntitle: é\n---\n# 😀 *à*\n\n> ﬁn `ß\n> ü` 😀&auml;[é](x 'y\n> z') **q**\n\n    ö\n\nx|y\n-|-\né|**😀 z**\n"
    )
    content = written.replace("\n", end).encode(encoding)
    (draft,) = read(READER, content)
    assert draft.text == "😀 à\n\nﬁn ß ü 😀äé q\n\nö\n\nx: é | y: 😀 z"
    for words in ("😀", "à", "ﬁn", "ü", "é", "q", "ö", "z"):
        assert sources_of(draft, words, content) == [words]
    assert sources_of(draft, "ä", content) == ["&auml;"]


def test_highlights_of_multiline_quoted_code_map_to_source() -> None:
    content = "> `a b\n> c`\n\nx|y\n-|-\n`p\\|q`|r"
    (draft,) = read(READER, content)
    assert sources_of(draft, "a b c", content) == ["a b\n", "c"]
    assert sources_of(draft, "p|q", content) == ["p", "|q"]


def test_every_heading_syntax_has_its_level() -> None:
    (draft,) = read(READER, "# A *b*\n\n<h2 align=center>C</h2>\n\nd\n\n- ### E\n  f\n\nG\nH\n---\ni")
    assert [each.heading for each in draft.sections] == ["C", "E", "G H"]
    assert draft.heading_paths == [(), ("C",), ()]
    assert draft.title == "A b"


@pytest.mark.parametrize("mark", [">", "> ", "- ", "1. "])
def test_a_thousand_nested_quotations_or_lists_are_refused(mark: str) -> None:
    assert read(READER, mark * 999 + "a")[0].text.endswith("a")
    with pytest.raises(UnreadableError) as raised:
        read(READER, f"b\n\n{mark * 1000}a")
    assert raised.value.kind == "nested too deeply"


def test_markdown_is_recognised_by_its_name() -> None:
    assert READER.recognises(SourceFile("a/B.MD", b"# x"))
    assert not READER.recognises(SourceFile("a.txt", b"# x"))
    assert not READER.recognises(SourceFile("a.md", b"\x00\x01"))


@pytest.mark.parametrize(
    ("field", "groups"),
    [
        ("access: ward-4", "ward-4"),
        ("Access: [ward-4, ward-5]", "ward-4, ward-5"),
        ("access:\n  - ward-4\n  - ward-5", "ward-4, ward-5"),
        ("access:", None),
        ("access: ''", None),
        # What cannot be read is for no group, and not for everybody.
        ("access: |\n  ward-4", ","),
        ("access:ward-4", ","),
        ("access:\n  ward: 4", ","),
        ('"access": ward-4', ","),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_groups_that_a_file_names_are_never_lost(field: str, groups: str | None, end: str) -> None:
    (draft,) = read(MarkdownReader(), f"---\ntitle: T\n{field}\n---\nText.\n".replace("\n", end), "a.md")
    assert draft.metadata.get("access") == groups


def test_mixed_fractions_keep_their_value() -> None:
    source = (
        "2<sup>1</sup>/<sub>2</sub>, 3<sup>1</sup><sub>4</sub>, 2<sup>1/2</sup> ml, <sup>1</sup>/<sub>2</sub> tablet, "
        "10<sup>9</sup>/l, <sup>14</sup><sub>6</sub>C, x<sup>2</sup><sub>1</sub>"
    )
    (draft,) = MarkdownReader().read(SourceFile("a.md", source.encode()))
    assert draft.text == "2 1/2, 3 1/4, 2 1/2 ml, 1/2 tablet, 10^9/l, 146C, x21"


def test_details_end_their_heading() -> None:
    source = "## Gout\n\nPain.\n\n<details>\n<summary>Overdose</summary>\n\nCall *now*.\n\n</details>\n\nColchicine.\n"
    (draft,) = MarkdownReader().read(SourceFile("a.md", source.encode()))
    assert [(section.heading, section.text) for section in draft.sections] == [
        ("Gout", "Pain."), ("Overdose", "Call now."), ("Gout", "Colchicine."),
    ]  # fmt: skip
