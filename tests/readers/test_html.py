from __future__ import annotations

import pytest

from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.html.reader import HtmlReader
from readings import SAMPLES, read, read_sample, sources_of

READER = HtmlReader()
GOUT = """Gout

Gout is a type of arthritis that causes sudden, severe joint\u00a0pain.

Symptoms of gout

Symptoms can include:

- severe pain
- hot skin
- swelling & redness
  - often of the big toe

Ask for an urgent appointment if

1. you have a high temperature
2. the pain gets worse
or spreads

Treatment

Treatment is usually by a GP.
Ask about:

Medicines
Medicine: Allopurinol | Dose: 100\u202fmg
Medicine: Allopurinol | Dose: 300\u202fmg
Medicine: Colchicine

Uric acid: A waste product.

Tophi:

- lumps under the skin

Related conditions"""


def text_of(page: str) -> str:
    return read(READER, page)[0].text


def test_a_page_is_read_as_people_read_it() -> None:
    (draft,) = read_sample(READER, "gout.html")
    assert draft.text == GOUT
    assert [(section.heading, path) for section, path in zip(draft.sections, draft.heading_paths, strict=True)] == [
        ("", ()),
        ("Symptoms of gout", ()),
        ("Ask for an urgent appointment if", ("Symptoms of gout",)),
        ("Treatment", ()),
    ]
    assert (draft.title, draft.source, draft.url) == ("Gout", "Patient Leaflets", "https://leaflets.example/gout")
    assert draft.metadata == {"language": "en", "date": "2024-03-05", "author": "Ann Lee"}
    assert (draft.media_type, draft.encoding, draft.content) == ("text/html", "utf-8", None)


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        ("swelling & redness", ["swelling &amp; redness"]),
        ("causes sudden, severe", ["causes\n         ", "sudden", ", severe"]),
        ("joint\u00a0pain", ["joint&nbsp;pain"]),
        ("Treatment is usually", ["Treatment is ", "usually"]),
        ("- hot skin", ["hot skin"]),
        ("Medicine: Allopurinol | Dose: 300\u202fmg", ["300&#8239;mg"]),
    ],
)
def test_a_highlight_goes_back_to_the_source(words: str, marked: list[str]) -> None:
    content = (SAMPLES / "gout.html").read_bytes()
    (draft,) = read(READER, content)
    assert sources_of(draft, words, content) == marked


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a<p>b<div>c<p>d</div>e", "a\n\nb\n\nc\n\nd\n\ne"),
        ("a<b>b</i>c</b><br>d<br/><br>e", "abc\nd\n\ne"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"),
        ("<ul><li></li><li> </li></ul><p>a", "a"),
        ("<pre>\n a  b\n\tc </pre>d", " a  b\n\tc \n\nd"),
        ("<textarea>t</textarea><p>a<select><option>b<option selected>c</select>", "t\n\na c"),
        ("<b>a</b> b<i> c </i>\n d&#32;e", "a b c d e"),
        ("a<!-- b -->c<!doctype x>d<?php e ?>f", "acdf"),
        ("a < b &amp c &notit; &bogus; &#x41;&#0;&#99999999999;", "a < b & c ¬it; &bogus; A\ufffd\ufffd"),
        ("<h2><div>A</div></h2>b", "A\n\nb"),
        ("4 &times; 10<sup>9</sup>/L in m<sup>2</sup>", "4 × 10^9/L in m2"),
        ("a<sup><a href=#n1>[1]</a></sup> b<wbr>c", "a bc"),
        ("<p>a<title>b</p>c", "a\n\nc"),
        ("<dl><dt>a<dd>b<dt>c:<dd>d<dt>e<dd></dl>f", "a: b\n\nc: d\n\ne\n\nf"),
        ("<head><title>t</title><style>s</style><p>a<body>b", "a\n\nb"),
        ("<head><title>t</title>a", "a"),
        ("<math><mfrac><mi>a</mi></mfrac><msup><mi>b</mi></msup></math>", "ab"),
        ("<p>a<p>&nbsp;<p>\u00a0&nbsp;b&nbsp;c", "a\n\nb\u00a0c"),
        ("<details><summary>a</summary>b</details>", "a\n\nb"),
        ("x<script>a</scripty>b</SCRIPT >y", "xy"),
        (
            "<noscript>a</noscript><svg><text>b</text></svg><p aria-hidden=true>c<p style=';display:none'>d<p>e",
            "b\n\ne",
        ),
        ("<![CDATA[a]]>b", "ab"),
    ],
)
def test_markup_is_read_as_browsers_do(page: str, text: str) -> None:
    assert text_of(page) == text


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("<tr><th>Drug<th>Dose<tr><td>A<td>1<tr><td>B<td>2", ["Drug: A | Dose: 1", "Drug: B | Dose: 2"]),
        ("<tr><td>A<td>1<tr><td>B<td>2", ["A | 1", "B | 2"]),
        ("<tr><th>Dose<td>1 mg<td>x<tr><th>When?<td>daily", ["Dose: 1 mg | x", "When? daily"]),
        ("<tr><th rowspan=2>Drug<th colspan=2>Dose<tr><th>old<th>young<tr><td>A<td>1<td>2",
         ["Drug: A | Dose old: 1 | Dose young: 2"]),
        ("<tr><th>Drug<th>Dose<tr><td colspan=2>Adults<tr><td>A<td>1", ["Adults", "Drug: A | Dose: 1"]),
        ("<tr><th>Drug<th>Use<tr><td>A<td><p>one<p>two<ul><li>three<li>four</ul>",
         ["Drug: A | Use: one; two; three; four"]),
        ("<tr><th>A<th>B", ["A | B"]),
    ],
)  # fmt: skip
def test_each_table_row_is_understandable_alone(table: str, lines: list[str]) -> None:
    assert text_of(f"<p>Table</p><table>{table}</table><p>after").split("\n\n") == ["Table", "\n".join(lines), "after"]


def test_layout_tables_are_read_as_blocks() -> None:
    page = "<table><tr><td><h2>A</h2><p>one</td><td><p>two<table><tr><td>x<td>y</table></td></tr></table>"
    assert text_of(page) == "A\n\none\n\ntwo\n\nx | y"


def test_boilerplate_around_the_text_is_omitted() -> None:
    around = (
        "<div class='site-header'>Site</div><nav>Menu</nav><aside>Aside</aside><div id='cookie-notice'>Cookies</div>"
        "<ul><li><a href=/a>one</a><li><a href=/b>two</a><li><a href=/c>three</a></ul><form>Search</form>"
    )
    assert (
        text_of(f"<body>{around}<p>{'The text. ' * 20}</p><footer>Foot</footer>").strip() == ("The text. " * 20).strip()
    )


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        (
            "<p>Symptoms include:</p><ul><li><a href=/a>pain</a><li><a href=/b>heat</a><li><a href=/c>cold</a></ul>",
            "Symptoms include:\n\n- pain\n- heat\n- cold",
        ),
        ("<section class='recommendations social-history'><p>Offer one.</p></section>", "Offer one."),
        ("<h3><button>What is gout?</button></h3><p>A disease.</p>", "What is gout?\n\nA disease."),
        ("<header><h1>Gout</h1><p>What all should know.</p></header>", "Gout\n\nWhat all should know."),
        ("<form><p>Much text of a page in a form.</p></form>", "Much text of a page in a form."),
    ],
)
def test_parts_that_may_be_text_are_kept(kept: str, text: str) -> None:
    assert text_of(f"<p>Before.</p>{kept}<p>End.") == f"Before.\n\n{text}\n\nEnd."


def test_only_the_main_element_is_read_if_substantial() -> None:
    assert text_of("<div>Beside</div><main><p>The text.</main><div>Below</div>") == "The text."
    assert "Beside" in text_of(f"<div>{'Beside. ' * 20}</div><main>x</main>")


def test_a_page_with_only_navigation_is_read() -> None:
    assert "Gout" in text_of("<nav><a href=/gout>Gout</a></nav>")


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Gout - NHS</title><p>x", "Gout"),
        ("<title>Gout - symptoms and causes</title><p>x", "Gout - symptoms and causes"),
        ("<title>Site: a | Gout</title><meta property=og:site_name content='Site: a'><p>x", "Gout"),
        ("<title>Gout | The Clinic</title><h1>The Clinic</h1><h1>Gout</h1><p>x", "Gout"),
        ("<title>About gout</title><h1>Causes</h1><p>x<h1>Treatment</h1><p>y", "About gout"),
        ("<title>Gout | The Clinic</title><h1>The Clinic</h1><p>x", "Gout"),
        ("<title>The Clinic - Gout</title><meta property=og:site_name content='The clinic'><p>x", "Gout"),
        ("<h1>Gout</h1><p>x", "Gout"),
        ("<p>x", ""),
    ],
)  # fmt: skip
def test_title_is_the_first_heading_or_title_element(page: str, title: str) -> None:
    assert read(READER, page)[0].title == title


def test_xhtml_is_read_by_the_rules_of_xml() -> None:
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><body><div/>a<br></br>b<title/><p/>c</body></html>"
    assert text_of(page) == "a\nb\n\nc"


def test_an_unclosed_long_heading_is_body_text() -> None:
    (draft,) = read(READER, f"<h2>{'word ' * 100}")
    assert [section.heading for section in draft.sections] == [""]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("<p>Müller".encode("cp1252"), "cp1252"),
        ("<p>Müller".encode(), "utf-8"),
        ("\ufeff<p>Müller".encode(), "utf-8-sig"),
        ("<p>Müller".encode("utf-16"), "utf-16"),
        (b"<meta charset=iso-8859-1>" + "<p>Müller’".encode("cp1252"), "cp1252"),
        (b"<meta http-equiv=Content-Type content='a; charset=koi8-r'>" + "<p>Mller Подагра".encode("koi8-r"), "koi8-r"),
        (b"<meta charset=rot13>" + "<p>Müller".encode(), "utf-8"),
        (b"<meta charset=utf-8>" + "<p>Müller".encode("cp1252"), "cp1252"),
    ],
)  # fmt: skip
def test_the_encoding_is_found(content: bytes, encoding: str) -> None:
    (draft,) = read(READER, content)
    assert draft.encoding == encoding
    assert draft.text.startswith("M")
    assert "ller" in draft.text


@pytest.mark.parametrize("page", ["", " ", "<html><body></body></html>", "<p>…</p>", "<script>words</script>"])
def test_a_page_without_words_is_refused(page: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        list(READER.read(SourceFile("x.html", page.encode())))
    assert raised.value.kind == "empty file"


@pytest.mark.parametrize(
    ("name", "head", "told"),
    [
        ("a", b"<!-- x --><!DOCTYPE html>", True),
        ("a", b"\xef\xbb\xbf <HTML>", True),
        ("a", b"<?xml version='1.0'?><!DOCTYPE html>", True),
        ("a.htm", b"<p>x", True),
        ("a.txt", b"<p>x", False),
        ("a.html", b"%PDF-1.7", False),
        ("a.xml", b"<?xml version='1.0'?><article>", False),
        ("a", b"<!---->" * 500, False),
    ],
)
def test_html_is_recognised_by_its_beginning(name: str, head: bytes, told: bool) -> None:
    assert READER.recognises(SourceFile(name, head)) is told


def test_lone_headings_are_read_unless_links_are_omitted() -> None:
    links = "".join(f"<li><a href='/{name}'>{name} of many words</a></li>" for name in ("Gout", "Lupus", "Sepsis"))
    page = f"<main><h1>Warfarin</h1><p>{'A long text. ' * 20}</p><h2>Related</h2><h3>Do NOT give with fluconazole</h3>"
    (draft,) = read(READER, f"{page}<h2>Related conditions</h2><ul>{links}</ul></main>")
    assert [section.heading for section in draft.sections] == ["", "Do NOT give with fluconazole"]
    assert draft.sections[1].text == "Do NOT give with fluconazole"


def test_a_page_with_only_navigation_headings_is_read() -> None:
    (draft,) = read(READER, "<h2>Related conditions</h2><h2>Contents</h2>")
    assert [section.text for section in draft.sections] == ["Related conditions", "Contents"]


TEXT = f"<p>{'The text of a page. ' * 20}</p>"
LONG = "a long cell " * 7 + "end"
SHOWN = ("The text of a page. " * 20).strip()


@pytest.mark.parametrize(
    "panels",
    [
        "<h2><button aria-expanded=false aria-controls=a>Signs</button></h2><div id=a hidden><p>Pain.</p></div>",
        "<button aria-controls=a>Signs</button><div id=a aria-hidden=true style='display:none'>Pain.</div>",
        "<button class=accordion>Signs</button><div style='display: none'>Pain.</div>",
        "<details><summary>Signs</summary><p>Pain.</p></details>",
        "<ul class=nav><li><a data-toggle=tab href=#a>Signs</a></ul><div class=tab-pane id=a hidden>Pain.</div>",
        "<div><button role=tab id=t>Signs</button></div><div role=tabpanel id=a aria-labelledby=t hidden>Pain.</div>",
        "<div><button role=tab aria-controls=a>Signs</button></div><div role=tabpanel id=a><h2>Signs</h2>Pain.</div>",
        "<h2 id=t>Signs</h2><div role=region aria-labelledby=t hidden>Pain.</div>",
    ],
)
def test_collapsed_panels_are_read_below_their_control(panels: str) -> None:
    (draft,) = read(READER, f"<h1>Gout</h1>{TEXT}{panels}")
    assert [(section.heading, section.text) for section in draft.sections] == [("", SHOWN), ("Signs", "Pain.")]


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>Loading</div>",
        "<div style='display:none'>Loading</div>",
        "<button aria-haspopup=true aria-controls=m>Menu</button><div id=m hidden>Loading</div>",
        "<div role=dialog aria-labelledby=t hidden><b id=t>Loading</b></div>",
    ],
)
def test_hidden_words_are_omitted_and_counted(hidden: str) -> None:
    (draft,) = read(READER, TEXT + hidden)
    assert draft.text == SHOWN
    (remark,) = draft.remarks
    assert "1 word (" in remark


def test_content_hidden_until_a_script_runs_is_read() -> None:
    assert text_of(f"<body style='visibility: hidden'>{TEXT}") == SHOWN
    assert text_of(f"<p>Please wait.</p><div style='display:none'>{TEXT}</div>").endswith(SHOWN)


@pytest.mark.parametrize(
    "kept",
    [
        "<div class=comments><p>The sample was haemolysed: send another.</p></div>",
        "<aside><p>Do not give it to children under twelve.</p></aside>",
        "<div class=sidebar><p>Stop it before contrast medium is given.</p></div>",
        "<footer><p>Store it in a dry and dark place.</p></footer>",
        "<div><label>Diagnosis</label> <span>acute gout</span></div>",
        "<p>Step one: <img alt='Shake the inhaler five times.' src=1.png></p>",
    ],
)
def test_class_names_alone_do_not_make_text_boilerplate(kept: str) -> None:
    (draft,) = read(READER, TEXT + kept)
    words = kept.replace("<img alt='", "<b>").replace("' src=1.png>", "</b>")
    assert draft.text == f"{SHOWN}\n\n{text_of(words)}"
    assert not draft.remarks


@pytest.mark.parametrize(
    "around",
    [
        "<div id=comments><p>I think so, too.</p><div class=comment-reply><a href=/r>Reply</a></div></div>",
        "<form><label>Your address</label><input type=email><input type=submit value=Send></form>",
        "<form role=search><label>Search</label><input name=q></form>",
        "<footer>\u00a9 2024 The clinic in the town</footer>",
        "<div class=sidebar><a href=/a>What is new in the clinic</a></div>",
        "<img alt=IMG_1234.jpg src=x><img alt='' src=y>",
    ],
)
def test_comments_forms_footers_and_sidebars_are_omitted(around: str) -> None:
    assert text_of(TEXT + around) == SHOWN


def test_forms_are_read_with_ticks_and_entered_values() -> None:
    form = (
        "<form><fieldset><legend>Do you smoke?</legend><label><input type=radio checked>Yes</label>"
        "<label><input type=radio>No</label></fieldset><label>How many a day <input type=number value=12></label>"
        "<select><option>some<option selected>weekly</select><textarea>since March</textarea></form>"
    )
    asked = "Do you smoke?\n\n☒ Yes ☐ No\n\nHow many a day 12 weekly since March"
    assert text_of(TEXT + form) == f"{SHOWN}\n\n{asked}"


def test_bold_lines_are_headings_without_other_headings() -> None:
    page = (
        "<h1>Naproxen</h1><p><b>Side effects</b></p><p>Pain.</p><div><strong>Storage:</strong><br>Below 25 °C.</div>"
        "<p style='font-weight: 700'>Overdose</p><p><b>At once</b> call for help.</p><p><b>Take it with food.</b></p>"
    )
    (draft,) = read(READER, page)
    assert [section.heading for section in draft.sections] == ["Side effects", "Storage:", "Overdose"]
    (draft,) = read(READER, f"<h2>Uses</h2><p>Gout.</p>{page}")
    assert [section.heading for section in draft.sections] == ["Uses", ""]


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("<tr><th>Age<th>Weight<th>Dose<tr><td>Child<td colspan=2>7 mg", ["Age: Child | 7 mg"]),
        ("<tr><th>Age<th>Dose old<th>Dose new<tr><td>Child<td colspan=2>7 mg", ["Age: Child | Dose: 7 mg"]),
        (f"<tr><th>A<th>B<tr><td rowspan=2>{LONG}<td>1<tr><td>2", [f"A: {LONG} | B: 1", "B: 2"]),
        ("<tr><th>A<th>B<th>C<tr><td rowspan=0>x<td>1<td>2<tr><td colspan=2>3", ["A: x | B: 1 | C: 2", "A: x | 3"]),
        ("<tr><th>A<th>B<tr><td>x<td><div>one</div>two<p>three", ["A: x | B: one; two; three"]),
        ("<tr><th>A<th>B<tr><td>x<td><b>5</b> <i>mg</i><span> a </span>day", ["A: x | B: 5 mg a day"]),
        ("<tr><th>Serum<br>salt<th>B<tr><td>x<td>36<br>hours<br>(or so)", ["Serum salt: x | B: 36 hours (or so)"]),
        ("<tr><th>Drug<th>Dose<tr><td><del>Old</del>New<td><s>1</s>2", ["Drug: New | Dose: 2"]),
    ],
)  # fmt: skip
def test_cells_have_the_labels_of_their_columns(table: str, lines: list[str]) -> None:
    assert text_of(f"<p>Table</p><table>{table}</table>").split("\n\n")[1].split("\n") == lines


PROSE = "<p>Gout is a kind of arthritis that begins at night with sudden and severe pain in a joint.</p>"
ARTICLE = f"<div><h1>Gout</h1>{PROSE * 8}</div>"
TEASERS = "".join(
    f"<div><a href=/{number}>Another page on a joint, number {number}</a> Its first words.</div>" for number in range(4)
)


@pytest.mark.parametrize(
    "around",
    [
        f"<div>{TEASERS}</div>",
        "<div><span>Next:</span> <a href=/next>Pain of the knee</a></div>",
        "<a href=/asthma><h3>Asthma</h3><p>When it is hard to breathe.</p></a>",
        "<article><h2><a href=/asthma>Asthma</a></h2>Breath.</article>",
        "<aside>Read: <a href=/asthma>Living with asthma</a></aside>",
        "<div><p><a href=/asthma>Living with asthma</a></p></div>",
        f"<div><section><h2>More of this kind</h2><div class=contentRelated>{TEASERS}</div></section></div>",
        f"<div class=box><span>Weitere Themen</span><div>{TEASERS}</div></div>",
        "<div class=cnt_share-buttons><span>Tell others of it</span></div>",
        f"<div class=post-author-box><p>{'Ann writes of joints and more. ' * 3}</p><a href=/ann>More of Ann</a></div>",
    ],
)
def test_links_around_the_article_are_omitted_and_counted(around: str) -> None:
    page = f"<div>{ARTICLE}</div>"
    (draft,) = read(READER, page.replace("</div></div>", f"</div>{around}</div>"))
    assert draft.text == text_of(page)
    assert "around the text" in draft.remarks[0]


@pytest.mark.parametrize(
    "kept",
    [
        "<table><tr><th>Medicine</th><th>Dose</th></tr>"
        "<tr><td><a href=/a><p>Allopurinol</p></a></td><td>100 mg</td></tr>"
        "<tr><td><a href=/c><p>Colchicine</p></a></td><td>500 micrograms</td></tr></table>",
        "<div><h2>References</h2><ol><li>Smith A. Gout in adults. <a href=/1>Journal of joints</a></li></ol></div>",
        "<div><h2>Emergencies</h2><a href=tel:112><p>Call 112 at once</p></a><p>Do not drive yourself.</p></div>",
        "<div><a href=#dose><h2>Dose</h2></a><p>Take it once a day.</p></div>",
        "<aside><p>Do not take it with <a href=/a>azathioprine</a> unless a doctor says so.</p></aside>",
        "<div><p>Stop it before surgery.</p></div>",
        "<div class=social-history><p>Lives alone.</p></div>",
        "<div class=trialSponsor><p>A firm in Basel</p></div>",
        "<div class=recommendation><p>Offer <a href=/c>colchicine</a> or a steroid to all who have pain.</p></div>",
        "<div class=alcohol-related><p>More than two beers a day</p></div>",
        "<table><tr><th>Drug</th><td class=credits>5 mg a day</td></tr></table>",
        "<div class=related-drugs><p>Azathioprine: half of <a href=/a>its dose</a> when given with this one.</p></div>",
    ],
)
def test_possibly_relevant_parts_around_the_article_are_kept(kept: str) -> None:
    (draft,) = read(READER, f"<div>{ARTICLE}{kept}</div>")
    assert draft.text == f"{text_of(ARTICLE)}\n\n{text_of(kept)}"
    assert not draft.remarks


@pytest.mark.parametrize("kept", ["<h2>Do NOT give with Rifadin</h2>", "<p>Call 112 at once</p>", "<b>Stop it.</b>"])
def test_informative_text_beside_omitted_share_buttons_is_kept(kept: str) -> None:
    share = "<div class=share-buttons><a href=/f>Facebook</a> <a href=/m>Mail</a> <a href=/c>Copy the link</a></div>"
    script = f"<script>{'let it = 1; ' * 40}</script>"
    (draft,) = read(READER, f"<div>{ARTICLE}<div>{kept}{share}{script}</div></div>")
    assert draft.text == f"{text_of(ARTICLE)}\n\n{text_of(kept)}"
