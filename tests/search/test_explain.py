"""Score curves, and their pictures."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from auscult.documents import Document, Passage, Section, build_document
from auscult.errors import ConfigError, QueryError
from auscult.ingest.building import build_index
from auscult.search import ScoreCurves, Searcher, SearchOptions, explain
from auscult.search.figures import save_figure
from auscult.search.terminal import render_curves
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(256)
QUERY = Query("", "Gout", ("symptoms",))
WORDLESS = Document("blank", "Blank", "   ", (Passage("blank-1", "Nothing", 0, 3),))


def long_document() -> Document:
    sections = [
        Section(f"Part {n} costs $5 or $6", " ".join(f"Sentence {i} of part {n}." for i in range(6)), f"long-{n}")
        for n in range(60)
    ]
    return build_document(doc_id="long", title="A long one \x1b[31m", sections=sections)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("explain") / "index"
    build_index([*leaflets(), WORDLESS, long_document()], ENCODER, folder)
    return Searcher.open(folder, ENCODER)


def drawn(curves: ScoreCurves, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    console.print(render_curves(curves, width))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_curves_are_the_sentence_scores_of_the_document(searcher: Searcher) -> None:
    curves = explain(searcher, QUERY, "leaflet-gout")
    document = leaflets()[3]
    assert curves.document == document
    vector = ENCODER.encode_queries([QUERY])[0]
    exact = ENCODER.encode_documents([document])[0]
    np.testing.assert_allclose(curves.combined, exact @ vector, atol=5e-4)
    np.testing.assert_allclose(curves.entity, exact[:, :128] @ vector[:128], atol=5e-4)
    np.testing.assert_allclose(np.add(curves.entity, curves.aspect), curves.combined, atol=1e-12)
    covered = [n for span in curves.passages for n in range(span.first, span.last)]
    assert covered == list(range(len(document.sentences)))
    hits = {
        hit.passage_id: hit.score
        for hit in searcher.search(QUERY, options=SearchOptions(documents=["leaflet-gout"], scoring="model"))
    }
    for span in curves.passages:
        assert span.score == pytest.approx(hits[span.passage_id], abs=1e-9)
    assert curves.best is not None
    assert curves.passages[curves.best].passage_id == "gout-2"


def test_without_a_document_the_best_hits_is_taken(searcher: Searcher) -> None:
    assert explain(searcher, QUERY).document.doc_id == "leaflet-gout"


def test_unknown_documents_and_empty_queries_are_refused(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="'leaflet-flu'"):
        explain(searcher, QUERY, "leaflet-flu")
    with pytest.raises(QueryError, match="an empty query"):
        explain(searcher, Query("", ""))


@pytest.mark.parametrize("width", [30, 80, 200])
def test_the_terminal_drawing_fits_and_names_every_passage(searcher: Searcher, width: int) -> None:
    for doc_id in ("leaflet-gout", "long", "blank"):
        curves = explain(searcher, QUERY, doc_id)
        lines = drawn(curves, width)
        assert max(map(len, lines)) <= width
        assert "\x1b" not in "".join(lines)
        assert sum(bool(re.match(r" *\d+ +(\d+-\d+|none) ", line)) for line in lines) == len(curves.passages)
        assert ("←" in "".join(lines)) == (curves.best is not None)


def test_the_tallest_column_stands_at_the_highest_sentence(searcher: Searcher) -> None:
    curves = explain(searcher, QUERY, "leaflet-gout")
    lines = drawn(curves, 100)
    row = next(n for n, line in enumerate(lines) if line.strip().startswith("combined"))
    top = lines[row - 2][10:]
    repeat = 3
    highest = int(np.argmax(curves.combined))
    assert top[highest * repeat] == "█"
    assert len(lines[row][10:].rstrip()) <= repeat * len(curves.combined)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
@pytest.mark.parametrize("doc_id", ["leaflet-gout", "long"])
def test_pictures_are_written_whole(searcher: Searcher, tmp_path: Path, doc_id: str, suffix: str) -> None:
    path = tmp_path / f"curves{suffix}"
    save_figure(explain(searcher, QUERY, doc_id), path)
    content = path.read_bytes()
    assert content.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if suffix == ".svg":
        text = content.decode()
        assert "symptoms of Gout" in text
        headings = ["Symptoms", "Treatment"] if doc_id == "leaflet-gout" else ["Part 3 costs $5 or $6"]
        assert all(heading in text for heading in headings)
        save_figure(explain(searcher, QUERY, doc_id), tmp_path / "again.svg")
        assert (tmp_path / "again.svg").read_bytes() == content


def test_pictures_that_cannot_be_drawn_say_why(searcher: Searcher, tmp_path: Path) -> None:
    curves = explain(searcher, QUERY)
    with pytest.raises(ConfigError, match=r"'curves\.bmp'"):
        save_figure(curves, tmp_path / "curves.bmp")
    with pytest.raises(ConfigError, match="existing folder"):
        save_figure(curves, tmp_path / "nowhere" / "curves.png")
    with pytest.raises(ConfigError, match="'blank' without"):
        save_figure(explain(searcher, QUERY, "blank"), tmp_path / "curves.png")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ConfigError, match="a folder; give another name"):
        save_figure(curves, tmp_path / "folder.png")
