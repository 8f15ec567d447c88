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
        ("*a* **b** ***c*** _d_ __e__ ~~f~~ `g*h*` ``i`j``", "a b c d e f g*h* i`j"),
        ("a*b*c snake_case_x 2 * 3 * 4 **open *open", "abc snake_case_x 2 * 3 * 4 **open *open"),
        (r"\*a\* \\ \q", r"*a* \ \q"),
        ("[a](b 'c') ![d](e) [f][g] [g] [h] <https://i.j> <k@l.m>\n\n[g]: /x \"t\"", "a d f g [h] https://i.j k@l.m"),
        ("[a [b](c) d](e(f)g)", "a b d"),
        ("a <b>b</b> <!-- c --> d<br>e", "a b d\ne"),
        ("<!-- a\n\nb --> c\n\n<script>\nd\n</script>\ne", "c\n\ne"),
        ("- a\n  b\n\n  c\n- d\n\ne", "- a b\nc\n- d\n\ne"),
        ("* a\n\t* b\n1) c", "- a\n  - b\n1. c"),
        ("- \n\na", "a"),
        ("It was in\n1986. Then\n1. not", "It was in 1986. Then\n\n1. not"),
        ("```\na\n  *b*\n```\nc\n~~~\nd", "a\n  *b*\n\nc\n\nd"),
        ("a\n\n    code *x*", "a\n\n    code *x*"),
        ("> a\n> b\n\n> | x | y |\n> |---|---|\n> | 1 | 2 |", "a b\n\nx: 1 | y: 2"),
        ("x|y\n-|-\n1|\n|2|a \\| b", "x: 1\nx: 2 | y: a | b"),
        ("a|b\nc|d", "a|b c|d"),
        ("a&nbsp;&lt; 10<sup>9</sup>", "a\u00a0< 10^9"),
        ("a\r\nb\rc\r\n\r\nd", "a b c\n\nd"),
        ("a  \nb\\\nc", "a\nb\nc"),
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


def test_markdown_is_told_by_its_name() -> None:
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
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_groups_that_a_file_names_are_never_lost(field: str, groups: str | None, end: str) -> None:
    (draft,) = read(MarkdownReader(), f"---\ntitle: T\n{field}\n---\nText.\n".replace("\n", end), "a.md")
    assert draft.metadata.get("access") == groups
