"""The front door: three lines of Python that build, open and ask, and what they say when something is wrong."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import auscult
from auscult.concepts import Concept, KnowledgeBase
from auscult.errors import AuscultError, ConfigError, CorpusMissingError, DataError, IndexFolderError, ModelError
from auscult.search.hits import SentenceScore, display_name
from leaflets import leaflets
from small_general import save_general

GOUT = "# Gout\n\n## Causes\n\nUric acid causes gout.\n\n## Treatment\n\nGout is treated with colchicine.\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a small model and a folder of one leaflet; no knowledge base is on this machine."""
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    save_general(tmp_path / "model")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "gout.md").write_text(GOUT)
    return tmp_path


def test_three_lines_build_open_and_ask() -> None:
    index = auscult.build_index("folder", out="my-index")
    hits = auscult.open_index("my-index").search("How is gout treated?")
    assert str(index).startswith("1 documents, 2 passages, 2 sentences in ")
    assert hits[0].doc_id == "gout.md"
    assert str(hits[0]) == f"{hits[0].score:.2f}  Gout › {hits[0].heading}: {hits[0].sentences[-1].text}"
    assert {hit.heading for hit in hits} == {"Causes", "Treatment"}


def test_unreadable_files_are_named_and_warned_about(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    (place / "folder" / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    with caplog.at_level(logging.INFO, "auscult"):
        index = auscult.build_index("folder", "index", model="model")
    (line,) = [line for line in index.left_out if line.startswith("not read: ")]
    assert "broken.pdf" in line
    assert [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING] == [line]
    assert index.counts.documents == 1


def test_folder_without_readable_files_warns_why(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    (place / "bad").mkdir()
    (place / "bad" / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    with pytest.raises(DataError, match="at least one document"):
        auscult.build_index("bad", "index", model="model")
    assert "broken.pdf" in caplog.text


def test_documents_and_several_paths_are_indexed_as_well(place: Path) -> None:
    assert auscult.build_index(leaflets(), "index", model="model").counts.documents == 4
    (place / "more.md").write_text(GOUT.replace("Gout", "Scurvy"))
    several = auscult.build_index(["folder", Path("more.md")], "index", model="model")
    assert several.counts.documents == 2
    read = auscult.read_files("folder", "more.md")
    assert sorted(document.title for document in read) == ["Gout", "Scurvy"]
    assert read.report.total == 2


def test_it_is_found_again_from_another_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = auscult.build_index("folder", place / "index", model="model")
    monkeypatch.chdir("folder")
    assert index.open().search("gout", k=1)[0].title == "Gout"


def test_names_are_resolved_with_what_is_named(place: Path) -> None:
    KnowledgeBase([Concept("X:3", "gout", ("podagra",))]).save(place / "known.jsonl.gz")
    known = auscult.build_index("folder", "index", model="model", knowledge=["known.jsonl.gz"]).open()
    hits = known.search("How is podagra treated?")
    assert known.understand(auscult.Query("", "", text="How is podagra treated?")).query.entity == "Gout"
    assert hits[0].title == "Gout"
    assert auscult.build_index("folder", "index", model="model", knowledge=()).open().knowledge_base is None


def test_questions_are_understood_as_by_the_command() -> None:
    searcher = auscult.build_index(leaflets(), "index", model="model").open()
    understood = searcher.understand(auscult.Query("", "", text="How is gout treated?")).query
    options = auscult.SearchOptions(group_by="document")
    assert searcher.search("How is gout treated?", 3, options) == searcher.search(understood, 3, options)
    with pytest.raises(AuscultError, match="an empty query"):
        searcher.search("  ")


@pytest.mark.parametrize(
    ("source", "model", "kind"),
    [
        ("nowhere/", "model", CorpusMissingError),
        ("folder", "no-such-model", ModelError),
        ([], "model", DataError),
        ([3], "model", ConfigError),
        ([*leaflets(), "folder"], "model", ConfigError),
    ],
)
def test_what_is_wrong_is_said(source: object, model: str, kind: type[AuscultError]) -> None:
    with pytest.raises(kind):
        auscult.build_index(source, "index", model=model)  # type: ignore[arg-type]
    with pytest.raises(IndexFolderError):
        auscult.open_index("index")


def test_printed_hit_shows_the_best_sentences_first_words(place: Path) -> None:
    long = "Colchicine " * 20
    sentences = [SentenceScore(0, 4, "Gout", 0.1, 0, 0), SentenceScore(5, 9, f"{long}\nhelps.", 0.9, 0, 0)]
    hit = auscult.Hit(
        rank=1, passage_id="p", doc_id="d", title="", heading="Drugs", source="", url="", text="", start=0, end=9,
        score=1.234, entity_score=0, aspect_score=0, sentences=tuple(sentences), above=("Treatment",),
    )  # fmt: skip
    assert str(hit) == f"1.23  d › Treatment › Drugs: {'Colchicine ' * 7}…"


def test_first_line_of_a_text_is_searchable(place: Path) -> None:
    (place / "texts").mkdir()
    (place / "texts" / "fever_in-2024-05.txt").write_text("It is treated with paracetamol. Rest helps.\n")
    (place / "texts" / "gout.txt").write_text("Podagra and its care\n\nIt is treated with colchicine.\n")
    auscult.build_index("texts", "index", model="model")
    first = auscult.open_index("index").search("podagra")[0]
    assert (first.doc_id, first.title, first.text) == (
        "gout.txt",
        "Podagra and its care",
        "It is treated with colchicine.",
    )
    assert any(name.endswith("label") for name in first.evidence)
    names = {hit.name for hit in auscult.open_index("index").search("How is it treated?")}
    assert names == {"Podagra and its care", "fever in 2024-05"}


def test_documents_without_title_are_called_after_files() -> None:
    assert display_name("", "wards/note_3.txt", "wards/note_3.txt") == "note 3"
    assert display_name("", "f/_.txt", "_.txt") == "f/_.txt"
    assert display_name("", "export.csv#7", "export.csv") == "export.csv#7"
    assert display_name("Gout", "gout.txt", "gout.txt") == "Gout"


def test_exports_exist_and_importing_loads_nothing() -> None:
    assert {name for name in auscult.__all__ if getattr(auscult, name) is not None} == set(auscult.__all__)
    assert set(auscult.__all__) <= set(dir(auscult))
    with pytest.raises(AttributeError, match="no attribute 'Indexes'"):
        auscult.Indexes  # noqa: B018
    program = "import sys, auscult; print(sorted(m for m in sys.modules if m.startswith('auscult') or m == 'numpy'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['auscult']"
