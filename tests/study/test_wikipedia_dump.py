"""Articles out of a small dump that is written here, in MediaWiki's export format."""

from __future__ import annotations

import bz2
import gzip
import json
import sys
from html import escape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.documents import check_document
from auscult.errors import ConfigError, CorpusMissingError, DataError, MissingExtraError
from auscult_lab.corpora.opening import open_corpus
from study.__main__ import app
from study.wikipedia import dump as wikipedia_dump
from study.wikipedia.dump import Progress, convert_dump, read_list
from study.wikipedia.wikitext import read_wikitext

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
  </siteinfo>
"""
GOUT = """{{Short description|Arthritis}}
{{Infobox medical condition | name = Gout | field = {{ubl|Rheumatology|[[Medicine]]}} }}
'''Gout''' is a form of [[Arthritis|inflammatory arthritis]]<ref name="a">{{cite book|title=Gout}}</ref> with
[[pain]]s &amp; [[#Signs|swelling]].<!-- not so -->

It is common.
[[File:Gout.png|thumb|A [[foot]] with gout]]
{| class="wikitable"
! Joint !! Share
|-
| Toe || 50%
|}
== Signs and ''symptoms'' ==
* Red [[skin]]
* Fever<ref>Another</ref>
== Treatment ==
=== Drugs ===
[[Ibuprofen]] {{nowrap|and others}} help[https://example.org them], so does H<sub>2</sub>O.
==== Dose ====
== References ==
{{reflist}}
[[Category:Rheumatology]]
[[de:Gicht]]
"""


def page(title: str, page_id: int, text: str, *, ns: int = 0, redirect: str = "") -> str:
    forward = f'<redirect title="{escape(redirect)}" />' if redirect else ""
    return f"""  <page>
    <title>{escape(title)}</title>
    <ns>{ns}</ns>
    <id>{page_id}</id>
    {forward}
    <revision>
      <id>{page_id + 1000}</id>
      <format>text/x-wiki</format>
      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>
    </revision>
  </page>
"""


def dump_of(*pages: str) -> bytes:
    return (HEAD + "".join(pages) + "</mediawiki>\n").encode()


PAGES = [
    page("Gout", 11, GOUT),
    page("Talk:Gout", 12, "Is it <page> or </page>?", ns=1),
    page("Podagra", 13, "#REDIRECT [[Gout]]", redirect="Gout"),
    page("Crohn's & others", 14, "'''Crohn's''' is a disease."),
    page("Tea", 15, "Tea is a drink."),
    page("Ménière's disease", 16, "It makes dizzy."),
    page("1984", 17, "{{empty}}"),
]
LIST = """# comments are passed over
gout\tQ133087
https://en.wikipedia.org/wiki/M%C3%A9ni%C3%A8re%27s_disease
Podagra
Nowhere
14
"""


@pytest.fixture
def titles(tmp_path: Path) -> Path:
    path = tmp_path / "titles.txt"
    path.write_text(LIST)
    return path


def test_sections_headings_and_links() -> None:
    lead, signs, drugs = read_wikitext(GOUT)
    assert (lead.heading, signs.heading, drugs.heading) == ("Abstract", "Signs and symptoms", "Treatment | Drugs")
    assert lead.text == "Gout is a form of inflammatory arthritis with\npains & swelling.\n\nIt is common."
    assert signs.text == "- Red skin\n- Fever"
    assert drugs.text == "Ibuprofen helpthem, so does H2O."
    links = [
        (link.target, section.text[link.start : link.end]) for section in (lead, signs, drugs) for link in section.links
    ]
    assert links == [
        ("Arthritis", "inflammatory arthritis"),
        ("pain", "pain"),
        ("skin", "skin"),
        ("Ibuprofen", "Ibuprofen"),
    ]


def test_spaces_inside_a_link_stay_outside_its_range() -> None:
    (section,) = read_wikitext("one[[ two | two ]]three [[uric_acid ]]four<br>five\n\n\n\nsix")
    assert section.text == "one two three uric_acid four\nfive\n\nsix"
    ranges = [section.text[link.start : link.end] for link in section.links]
    assert (ranges, [link.target for link in section.links]) == (["two", "uric_acid"], ["two", "uric acid"])


def test_damaged_wikitext_is_read_as_far_as_possible() -> None:
    text = "".join(
        s.text for s in read_wikitext("'''Bold {{open [[link | {| table\n== Heading ==\nwords <ref>never closed")
    )
    assert "words" in text


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".bz2", bz2.compress), (".gz", gzip.compress)], ids=["xml", "bz2", "gz"]
)
def test_listed_articles_become_a_corpus(tmp_path: Path, titles: Path, ending: str, pack) -> None:
    dump = tmp_path / f"enwiki-pages-articles.xml{ending}"
    dump.write_bytes(pack(dump_of(*PAGES)))
    seen: list[Progress] = []
    done = convert_dump(dump, read_list(titles), tmp_path / "out" / "wiki.jsonl", report=seen.append)
    assert (done.pages, done.written, done.wanted) == (7, 3, 5)
    assert done.found == ["Gout", "14", "Ménière's disease"]
    assert done.redirects == {"Podagra": "Gout"}
    assert seen[-1] is done
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["wiki.jsonl"]
    gout, crohn, meniere = (check_document(d) for d in open_corpus(str(tmp_path / "out" / "wiki.jsonl")).documents())
    assert (gout.doc_id, gout.title, gout.source) == ("enwiki:11", "Gout", "enwiki")
    assert gout.entity_ids == ("Q133087",)
    assert dict(gout.metadata) == {"page_id": "11", "revision": "1011"}
    assert [p.heading for p in gout.passages] == ["Abstract", "Signs and symptoms", "Treatment | Drugs"]
    assert (crohn.title, crohn.text) == ("Crohn's & others", "Crohn's is a disease.")
    assert meniere.url == "https://en.wikipedia.org/wiki/M%C3%A9ni%C3%A8re%27s_disease"
    first = json.loads((tmp_path / "out" / "wiki.jsonl").read_text().splitlines()[0])
    assert first["sections"][1]["links"] == [{"target": "skin", "start": 6, "end": 10}]


class KilledError(Exception):
    """Stands for whatever ends the process."""


@pytest.mark.parametrize("pack", [bytes, bz2.compress], ids=["xml", "bz2"])
def test_a_killed_conversion_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack) -> None:
    monkeypatch.setattr(wikipedia_dump, "_CHECKPOINT_PAGES", 10)
    monkeypatch.setattr(wikipedia_dump, "_CHUNK", 700)
    pages = [page(f"Disease {n}", n, f"It is number {n}, with ü.\n== Causes ==\nUnknown.") for n in range(55)]
    dump, titles = tmp_path / "dump.xml", tmp_path / "titles.txt"
    dump.write_bytes(pack(dump_of(*pages)))
    titles.write_text("\n".join(f"Disease {n}" for n in range(0, 55, 2)))
    wanted = read_list(titles)
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    convert_dump(dump, wanted, whole)
    read: list[str] = []
    genuine = wikipedia_dump.read_wikitext

    def dying(source: str):
        read.append(source)
        if len(read) == 14:
            raise KilledError
        return genuine(source)

    monkeypatch.setattr(wikipedia_dump, "read_wikitext", dying)
    with pytest.raises(KilledError):
        convert_dump(dump, wanted, broken)
    assert not broken.exists()
    # As if the kill had come in the middle of a write.
    with (tmp_path / "broken.jsonl.part").open("ab") as part:
        part.write(b'{"id": "half a li')
    read.clear()
    monkeypatch.setattr(wikipedia_dump, "read_wikitext", lambda source: read.append(source) or genuine(source))
    done = convert_dump(dump, wanted, broken)
    assert len(read) == 28 - 10, "what was written before the last checkpoint is not converted again"
    assert (done.pages, done.written) == (55, 28)
    assert broken.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob("broken.jsonl.*"))


def test_conversion_does_not_resume_with_another_list(tmp_path: Path, titles: Path) -> None:
    dump, out = tmp_path / "dump.xml", tmp_path / "wiki.jsonl"
    dump.write_bytes(dump_of(*PAGES)[: -len("</mediawiki>\n")])
    with pytest.raises(DataError, match="cut short"):
        convert_dump(dump, read_list(titles), out)
    state = tmp_path / "wiki.jsonl.state.json"
    state.write_text(json.dumps({"job": {"dump": "another"}, "kept": 0, "progress": {}}))
    with pytest.raises(ConfigError, match="the dump and list"):
        convert_dump(dump, read_list(titles), out)
    state.write_text("{")
    with pytest.raises(DataError, match="remove it to begin anew"):
        convert_dump(dump, read_list(titles), out)


def test_wrong_files_are_named(tmp_path: Path, titles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, out, dump = read_list(titles), tmp_path / "wiki.jsonl", tmp_path / "dump.xml.bz2"
    with pytest.raises(CorpusMissingError, match="a dump at"):
        convert_dump(dump, wanted, out)
    dump.write_bytes(b"<html>not found</html>")
    with pytest.raises(DataError, match="another kind of file"):
        convert_dump(dump, wanted, out)
    dump.write_bytes(bz2.compress(dump_of(*PAGES * 50))[:-40])
    with pytest.raises(DataError, match="a whole dump"):
        convert_dump(dump, wanted, out)
    titles.write_text("# nothing\n")
    with pytest.raises(DataError, match="titles or page ids"):
        read_list(titles)
    out.write_text("precious")
    with pytest.raises(ConfigError, match="remove it, or name another"):
        convert_dump(dump, wanted, out)
    assert out.read_text() == "precious"
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    with pytest.raises(MissingExtraError, match=r"\[dev\]"):
        convert_dump(dump, wanted, tmp_path / "new.jsonl")


def test_the_command(tmp_path: Path, titles: Path) -> None:
    dump, out = tmp_path / "dump.xml.bz2", tmp_path / "wiki.jsonl"
    dump.write_bytes(bz2.compress(dump_of(*PAGES)))
    result = CliRunner().invoke(
        app, ["wikipedia-dump", str(dump), "--titles", str(titles), "--out", str(out), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "path": str(out),
        "pages": 7,
        "articles": 3,
        "redirects": {"Podagra": "Gout"},
        "missing": ["Nowhere"],
    }
    out.unlink()
    told = CliRunner().invoke(app, ["wikipedia-dump", str(dump), "--titles", str(titles), "--out", str(out)])
    assert told.stdout.splitlines()[0] == str(out)
    assert "not in the dump: Nowhere" in told.output
