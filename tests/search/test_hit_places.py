"""A hit says in which file it stands, where there, and which article of a book it is of."""

from __future__ import annotations

from pathlib import Path

import pytest

import auscult
from auscult.documents import Section, build_document
from auscult.ingest.building import build_index
from auscult.mcp.library import Library
from auscult.mcp.tools import Tools
from auscult.search import Searcher, SearchOptions
from auscult.search.hits import Hit
from auscult.understanding import Query
from encoders import HashedEncoder
from small_pdfs import BODY, Drawn

ENCODER = HashedEncoder(256)
NOTE = "PLAN:\r\nRest the joint.\r\n\r\nMEDICATIONS:\r\nColchicine twice a day.\r\n"
ROWS = "id,title,text\nn7,Mumps,Keep the child warm.\nn8,Flu,Drink plenty.\n"
#: Half as many words as an article may have.
WARD = " ".join(f"ward{number} rule time nurses staff" for number in range(400))
CHAPTERS = [
    Section(heading, f"{words} {WARD}", above=("Rules", disease))
    for disease, drug in (("Gout", "colchicine"), ("Asthma", "salbutamol"), ("Ulcers", "pantoprazole"))
    for heading, words in (("Causes", f"{disease} has causes."), ("Treatment", f"Take {drug} at noon."))
]


def sheets() -> bytes:
    drawn = Drawn()
    for words in ("Warfarin thins the blood.", "Heparin is injected.", "Aspirin irritates the stomach."):
        drawn.line(60, 90, words, BODY)
        drawn.next_page()
    return drawn.content()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("places")
    ward = place / "ward"
    ward.mkdir()
    (ward / "note.txt").write_bytes(NOTE.encode())
    (ward / "guide.md").write_text("# Scabies\n\nAn itch.\n\n## Treatment\n\nApply permethrin.\n")
    (ward / "rows.csv").write_text(ROWS)
    (ward / "page.html").write_text("<title>Rabies</title><h1>Rabies</h1><p>Wash the bite.</p>")
    (ward / "three.pdf").write_bytes(sheets())
    book = build_document(doc_id="book", title="Handbook", sections=CHAPTERS)
    build_index([*auscult.read_files(ward), book], ENCODER, place / "index")
    return place / "index"


@pytest.fixture(scope="module")
def searcher(folder: Path) -> Searcher:
    return Searcher.open(folder, ENCODER)


def first(searcher: Searcher, words: str) -> Hit:
    return searcher.search(Query("", "", text=words), 1, SearchOptions())[0]


@pytest.mark.parametrize(
    ("words", "file", "place"),
    [
        ("colchicine twice", "note.txt", "line 5"),
        ("rest the joint", "note.txt", "line 2"),
        ("permethrin", "guide.md", "line 7"),
        ("keep the child warm", "rows.csv", "row n7"),
        ("wash the bite", "page.html", ""),
        ("warfarin thins", "three.pdf", "page 1"),
        ("aspirin irritates", "three.pdf", "page 3"),
        ("salbutamol at noon", "", ""),
    ],
)
def test_a_hit_says_where_it_stands(searcher: Searcher, words: str, file: str, place: str) -> None:
    hit = first(searcher, words)
    assert (hit.file, hit.place) == (file, place)


@pytest.mark.parametrize(
    ("disease", "drug"), [("Gout", "colchicine"), ("Asthma", "salbutamol"), ("Ulcers", "pantoprazole")]
)
def test_hits_in_a_book_are_titled_by_article(searcher: Searcher, disease: str, drug: str) -> None:
    hit = first(searcher, f"take {drug} at noon")
    assert (hit.title, hit.book, hit.above, hit.heading) == (disease, "Handbook", ("Rules", disease), "Treatment")
    assert first(searcher, "permethrin").book == ""


def test_tools_return_headings_and_places_of_passages(folder: Path) -> None:
    tools = Tools(Library({"ward": folder}, encoder=ENCODER))
    passage = tools.search("take salbutamol at noon", k=1).passages[0]
    assert (passage.title, passage.book, passage.above) == ("Asthma", "Handbook", ["Rules", "Asthma"])
    (citation,) = tools.cite(passage.answering[:1]).citations
    assert (citation.above, citation.heading) == (("Rules", "Asthma"), "Treatment")
    passage = tools.search("heparin is injected", k=1).passages[0]
    assert (passage.file, passage.place) == ("three.pdf", "page 2")
    (citation,) = tools.cite(passage.answering[:1]).citations
    assert (citation.file, citation.place) == ("three.pdf", "page 2")
    section = tools.read(passage.answering[0], "", "", 0, 0, 0).sections[0]
    assert section.above == ()
