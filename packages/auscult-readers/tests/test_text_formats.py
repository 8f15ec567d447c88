"""What holds of HTML, Markdown, XML and FHIR whatever comes: offsets, errors, and time that grows as the file does."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from any_text import ANY_TEXT
from auscult.readers.contract import Reader, SourceFile, UnreadableError
from auscult.readers.html.reader import HtmlReader
from auscult.readers.markdown import MarkdownReader
from auscult_readers.records.fhir import FhirReader
from auscult_readers.records.xml import XmlReader
from readings import SAMPLES, check_draft

FORMATS: dict[str, tuple[Reader, str]] = {
    "html": (HtmlReader(), "gout.html"),
    "markdown": (MarkdownReader(), "guideline.md"),
    "jats": (XmlReader(), "article.nxml"),
    "cda": (XmlReader(), "discharge.xml"),
    "fhir": (FhirReader(), "bundle.json"),
}
TAGS = (
    "p", "div", "ul", "ol", "li", "table", "tr", "td", "th", "h1", "h2", "b", "a", "sup", "pre", "dl", "dt", "dd", "br",
    "nav", "main", "title", "script", "select",
)  # fmt: skip
PIECES = [
    *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "&amp;", "&#8211;", "&nbsp", "&", "<", ">", '"', "=",
    "<a href='#x'>", "<!--", "-->", "<![CDATA[", "]]>", "\n", "\r\n", "  ", "# ", "- ", "1. ", "> ", "|", "|-|-|\n",
    "```\n", "*", "**", "_", "`", "[", "](", ")", "\\", "===\n", "---\n", "    ", "\t", "word", "é", "10",
]  # fmt: skip
MARKUP = st.lists(st.one_of(st.sampled_from(PIECES), ANY_TEXT), max_size=60).map("".join)


def tried(reader: Reader, content: bytes) -> int:
    """How many drafts there are, which all keep the contract; a file may be refused, and nothing else."""
    try:
        drafts = list(reader.read(SourceFile("file", content)))
    except UnreadableError as error:
        return _refused(error)
    for draft in drafts:
        check_draft(draft, content)
    return len(drafts)


def _refused(error: UnreadableError) -> int:
    assert error.kind
    assert "\n" not in str(error)
    return 0


@settings(max_examples=150, deadline=None)
@given(MARKUP)
def test_pages_of_anything_keep_their_offsets(text: str) -> None:
    words = f"{text} word".encode("utf-8", "replace")
    tried(HtmlReader(), words)
    assert tried(HtmlReader(), b"word " + words) == 1


@settings(max_examples=150, deadline=None)
@example("\\```")
@given(MARKUP)
def test_markdown_of_anything_keeps_its_offsets(text: str) -> None:
    tried(MarkdownReader(), text.encode("utf-8", "replace"))
    assert tried(MarkdownReader(), f"word\n\n{text}".encode("utf-8", "replace")) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["sec", "p", "list", "table", "tr", "td", "sup"]), ANY_TEXT), max_size=20))
def test_xml_of_any_text_keeps_its_offsets(parts: list[tuple[str, str]]) -> None:
    legal = "".join(f"<{tag}>{_legal(text)}</{tag}>" for tag, text in parts)
    assert tried(XmlReader(), f"<article><front/><body><p>word</p>{legal}</body></article>".encode()) == 1


def _legal(text: str) -> str:
    kept = "".join(char if char in "\t\n\r" or char.isprintable() else "&#32;" for char in text)
    return kept.replace("<", "&lt;").replace("]]>", "]]&gt;") if "&" not in text else "&amp;"


@settings(max_examples=100, deadline=None)
@given(MARKUP)
def test_narratives_of_anything_keep_their_offsets(text: str) -> None:
    resource = {
        "resourceType": "Composition",
        "title": text,
        "section": [{"title": text, "text": {"div": f"word {text}"}}],
    }
    assert tried(FhirReader(), json.dumps(resource).encode()) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_refused(name: str) -> None:
    reader, sample = FORMATS[name]
    whole = (SAMPLES / sample).read_bytes()
    chance = random.Random(20)
    outcomes = [tried(reader, _damaged(whole, chance)) for _ in range(150)]
    # Else the damage would be too great to try anything.
    assert sum(map(bool, outcomes)) > 10


def _damaged(content: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if not damaged:
            break
        at = chance.randrange(len(damaged))
        kind = chance.randrange(5)
        if kind == 0:
            damaged[at] = chance.randrange(256)
        elif kind == 1:
            del damaged[at : at + chance.randrange(1, 40)]
        elif kind == 2:
            damaged[at:at] = damaged[at : at + chance.randrange(1, 200)]
        elif kind == 3:
            damaged[at:at] = chance.choice([b"<", b"&", b'"', b"</", b"\0", b"\xff\xfe", b"]]>", b"<!--", b"{", b"\\u"])
        elif len(damaged) > 2:
            del damaged[max(1, at) :]
    return bytes(damaged)


ODD: list[Any] = [None, True, -1, 1.5, "", "text", [], {}, [[]], [None], {"text": {"div": 7}}, "<p>\ud800</p>"]


def test_resources_of_odd_shapes_are_read_or_refused() -> None:
    whole = json.loads((SAMPLES / "bundle.json").read_text(encoding="utf-8"))
    chance = random.Random(20)
    outcomes = [tried(FhirReader(), json.dumps(_odd(whole, chance)).encode()) for _ in range(200)]
    assert sum(map(bool, outcomes)) > 100


def _odd(value: Any, chance: random.Random) -> Any:
    """A copy with a few values of other types."""
    if chance.random() < 0.02:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {key: _odd(each, chance) for key, each in value.items() if chance.random() > 0.01}
    if isinstance(value, list):
        return [_odd(each, chance) for each in value]
    return value


@pytest.mark.parametrize("sample", ["article.nxml", "discharge.xml"])
def test_elements_in_odd_places_are_read_or_refused(sample: str) -> None:
    whole = (SAMPLES / sample).read_text(encoding="utf-8").replace("&nbsp;", " ")
    chance = random.Random(20)
    outcomes = []
    for _ in range(100):
        root = ElementTree.fromstring(whole.encode())  # noqa: S314 - our own file
        every = list(root.iter())
        for _ in range(3):
            holder, moved = chance.choice(every), chance.choice(every)
            if moved not in holder.iter() and holder not in moved.iter():
                holder.insert(chance.randrange(len(holder) + 1), moved)
            chance.choice(every).tag = chance.choice(every).tag
        outcomes.append(tried(XmlReader(), ElementTree.tostring(root)))
    assert sum(map(bool, outcomes)) > 50


NASTY: dict[str, tuple[Reader, Callable[[int], str]]] = {
    "unclosed": (HtmlReader(), lambda n: "<div>" * n + "x"),
    "wrong ends": (HtmlReader(), lambda n: "<div>" * n + "</span></p>" * n + "x"),
    "nested lists": (HtmlReader(), lambda n: "<ul><li>x" * n),
    "nested tables": (HtmlReader(), lambda n: "<table><tr><td>x<td>" * n),
    "wide tables": (
        HtmlReader(),
        lambda n: "<table><tr>" + "<th>h" * n + "<tr><td colspan=2>x<tr><td>y<td>z" * (n // 2),
    ),
    "spans": (HtmlReader(), lambda n: "<table>" + "<tr><td rowspan=9999>x<td>y" * n),
    "open quotes": (HtmlReader(), lambda n: "<a b=\"x' " * n + "x"),
    "huge attributes": (HtmlReader(), lambda n: f'<a href="{"x" * 20 * n}">x'),
    "open comments": (HtmlReader(), lambda n: "x" + "<!-- -" * n),
    "titles": (HtmlReader(), lambda n: "<title>" * n + "x"),
    "white space": (HtmlReader(), lambda n: "<p>x" + " \n" * 10 * n + "y"),
    "ampersands": (HtmlReader(), lambda n: "&a" * n + "&#" + "9" * n),
    "brackets": (MarkdownReader(), lambda n: "[" * n + "x" + "](" * n),
    "stars": (MarkdownReader(), lambda n: "*a _b " * n),
    "ticks": (MarkdownReader(), lambda n: "`x``" * n),
    "blanks": (MarkdownReader(), lambda n: "x" + " " * 10 * n + "y"),
    "quotes": (MarkdownReader(), lambda n: ">" * n + "x\n" + "> " * n),
    "items": (MarkdownReader(), lambda n: "- " * n + "x\n" + "\n".join(" " * (k % 99) + "- x" for k in range(n // 9))),
    "rows": (MarkdownReader(), lambda n: "a|b\n-|-\n" + "x|y\n" * n),
    "tags": (MarkdownReader(), lambda n: "<a@" * n + "x <!--" * n),
    "elements": (XmlReader(), lambda n: "<a>" * n + "x" + "</a>" * n),
    "characters": (XmlReader(), lambda n: "<a>é" + "x\n&amp;" * n + "</a>"),
    "sections": (
        XmlReader(),
        lambda n: f"<article><front/><body>{'<sec><title>t</title><p>x</p>' * n}{'</sec>' * n}</body></article>",
    ),
    "deep JSON": (FhirReader(), lambda n: '{"resourceType": "A", "a": ' + "[" * n),
    "lines": (FhirReader(), lambda n: '{"resourceType": "Patient"}\n' * n),
}


@pytest.mark.parametrize("name", NASTY)
def test_time_grows_as_the_file_does(name: str) -> None:
    reader, made = NASTY[name]
    small, large = (_seconds(reader, made(size).encode()) for size in (250, 2000))
    # Eight times the file: a quadratic reader takes 64 times as long. Short times are noise.
    assert large < max(24 * small, 0.5)


def _seconds(reader: Reader, content: bytes) -> float:
    """The best of three, of this process alone."""
    times = []
    for _ in range(3):
        before = time.process_time()
        tried_only(reader, content)
        times.append(time.process_time() - before)
    return min(times)


def tried_only(reader: Reader, content: bytes) -> None:
    try:
        list(reader.read(SourceFile("file", content)))
    except UnreadableError:
        return


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("<div>", "</div>"),
        ("<header>", "</header>"),
        ("<div class=footer>", "</div>"),
        ("<div><nav><a href=b>All of our other pages, and the search for them</a></nav>5 mg", "</div>"),
        ("<table><tr><td>", "</table>"),
    ],
)
def test_ten_thousand_nested_elements_read_in_linear_time(opened: str, closed: str) -> None:
    tried(HtmlReader(), (opened * 10_000 + "four small words here" + closed * 10_000).encode())


@pytest.mark.slow
def test_nesting_of_a_hundred_thousand_is_no_crash() -> None:
    tried(HtmlReader(), ("<div>" * 100_000 + "x" + "</div>" * 100_000).encode())
    tried(XmlReader(), ("<a>" * 100_000 + "x" + "</a>" * 100_000).encode())
