"""An index over days: the same files by other paths, removed ones, and what changes meanwhile."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auscult.index import PassageIndex
from command import Command, Done, hashed_model

INDEX = ("-m", "model", "-o", "index", "--no-knowledge")
GOUT = "<!doctype html><title>Gout</title><h1>Gout</h1><h2>Care</h2><p>Rest the joint.</p>"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    hashed_model(tmp_path / "model")
    ward = tmp_path / "hospital" / "ward"
    (ward / "sub").mkdir(parents=True)
    (ward / "gout.html").write_text(GOUT)
    (ward / "sub" / "note.txt").write_text("PLAN:\nDrink water.\n")
    (ward / "rows.csv").write_text("id,title,text\n1,Mumps,Keep warm.\n2,Flu,Drink tea.\n")
    command = Command(monkeypatch, capfd)
    assert command("index", "hospital/ward", *INDEX).code == 0
    return command


def documents_in(folder: Path) -> dict[str, list[str]]:
    """The documents of an index, with the other places of each; the index is checked."""
    index = PassageIndex.open(folder)
    index.verify()
    records = map(index.reader.document_record, index.reader.documents.tolist())
    return {each.doc_id: each.metadata.get("also", "").splitlines() for each in records}


WARD: dict[str, list[str]] = {"gout.html": [], "sub/note.txt": [], "rows.csv#1": [], "rows.csv#2": []}


def test_copied_folder_adds_places_but_no_documents(command: Command, tmp_path: Path) -> None:
    assert documents_in(tmp_path / "index") == WARD
    shutil.copytree("hospital/ward", "mirror")
    done = command("add", "index", "mirror")
    assert done.out.startswith("new: 0, changed: 0, unchanged: 0, gone: 0; 4 documents")
    assert "same text as another: 4" in done.err
    both = {name: [f"mirror/{name}"] for name in WARD}
    for again in ("mirror", "hospital/ward", "mirror"):
        assert documents_in(tmp_path / "index") == both
        generation = PassageIndex.open("index").manifest.generation
        command("add", "index", again)
        assert PassageIndex.open("index").manifest.generation == generation, "nothing new is no new generation"
    assert "mirror/gout.html" in command("search", "index", "rest the joint", "--json", "-k", "1").out


def test_what_stays_in_one_of_two_places_stays(command: Command, tmp_path: Path) -> None:
    shutil.copytree("hospital/ward", "mirror")
    command("add", "index", "mirror")
    before = PassageIndex.open("index").reader
    vectors = before.stored(before.passages_of(before.document_rows["gout.html"])[0]).vectors
    (tmp_path / "hospital/ward/gout.html").unlink()
    (tmp_path / "hospital/ward/sub/note.txt").write_text("PLAN:\nAnother plan.\n")
    done = command("add", "index", "hospital/ward", "--prune")
    assert done.out.startswith("new: 0, changed: 1, unchanged: 2, gone: 1 (removed: gout.html); 5 documents")
    rows = {name: [f"mirror/{name}"] for name in ("rows.csv#1", "rows.csv#2")}
    assert documents_in(tmp_path / "index") == rows | {
        "mirror/gout.html": [],
        "mirror/sub/note.txt": [],
        "sub/note.txt": [],
    }
    reader = PassageIndex.open("index").reader
    row = reader.document_rows["mirror/gout.html"]
    moved, original = reader.document(row), reader.original(row)
    assert (moved.source, moved.metadata["file"], moved.title) == ("mirror", "gout.html", "Gout")
    assert original is not None
    assert original.content == GOUT.encode()
    assert (reader.stored(reader.passages_of(row)[0]).vectors == vectors).all()
    shutil.rmtree("mirror/sub")
    (tmp_path / "mirror/gout.html").unlink()
    command("add", "index", "mirror", "--prune")
    assert documents_in(tmp_path / "index") == rows | {"sub/note.txt": []}


@pytest.mark.parametrize("other", ["hospital", "hospital/ward/sub", "link", "hospital/ward/sub/note.txt", "hospital/*"])
def test_another_path_to_files_brings_only_their_changes(command: Command, tmp_path: Path, other: str) -> None:
    (tmp_path / "link").symlink_to("hospital/ward")
    command("add", "index", other)
    assert documents_in(tmp_path / "index") == WARD
    (tmp_path / "hospital/ward/sub/note.txt").write_text("PLAN:\nDrink tea.\n")
    command("add", "index", other)
    assert documents_in(tmp_path / "index") == WARD
    assert "Drink tea" in command("search", "index", "plan", "--json", "-k", "1").out
    command("add", "index", "hospital/ward")
    assert documents_in(tmp_path / "index") == WARD
    if other not in ("hospital/ward/sub/note.txt", "hospital/*"):
        (tmp_path / "hospital/ward/sub/note.txt").unlink()
        command("add", "index", other, "--prune")
        assert "sub/note.txt" not in documents_in(tmp_path / "index")
        command("add", "index", "hospital/ward", "--prune")
        assert "sub/note.txt" not in documents_in(tmp_path / "index")


def test_renamed_file_stays_one_document_without_pruning(command: Command, tmp_path: Path) -> None:
    shutil.move("hospital/ward/gout.html", "hospital/ward/sub/arthritis.html")
    done = command("add", "index", "hospital/ward")
    assert done.out.startswith("new: 1, changed: 0, unchanged: 3, gone: 0; 4 documents")
    assert set(documents_in(tmp_path / "index")) == set(WARD) - {"gout.html"} | {"sub/arthritis.html"}


def test_removed_documents_stay_removed_until_named(command: Command, tmp_path: Path) -> None:
    shutil.copytree("hospital/ward", "mirror")
    (tmp_path / "lines.jsonl").write_text('{"id": "l1", "text": "Blow your nose."}\n')
    command("add", "index", "lines.jsonl")
    assert command("remove", "index", "gout.html", "rows.csv#1", "l1").code == 0
    shutil.copy("hospital/ward/gout.html", "hospital/ward/renamed.html")
    left = {"sub/note.txt", "rows.csv#2"}
    for path in ("hospital/ward", "hospital", "mirror", "lines.jsonl", "hospital/ward"):
        done = command("add", "index", path, "--prune")
        assert set(documents_in(tmp_path / "index")) == left, path
        assert "removed before: " in done.err + done.out
    (tmp_path / "hospital/ward/gout.html").write_text(GOUT.replace("Rest", "Cool"))
    command("add", "index", "hospital/ward")
    assert set(documents_in(tmp_path / "index")) == left, "a new version of what was removed"
    command("add", "index", "lines.jsonl", "--restore", "l1")
    command("add", "index", "hospital/ward/gout.html")
    assert set(documents_in(tmp_path / "index")) == left | {"l1", "gout.html"}
    command("add", "index", "hospital/ward", "--restore", "rows.csv#1")
    command("add", "index", "lines.jsonl")
    assert set(documents_in(tmp_path / "index")) == left | {"l1", "gout.html", "rows.csv#1"}
    assert "Cool the joint" in command("search", "index", "the joint", "--json", "-k", "1").out


def test_one_text_for_two_groups_is_two_documents(command: Command, tmp_path: Path) -> None:
    shutil.copytree("hospital/ward", "closed")
    assert command("add", "index", "closed", "--read", "access=surgery").code == 0
    places = documents_in(tmp_path / "index")
    assert len(places) == 8
    assert not any(places.values()), "no place of one is told with the other"
    seen = PassageIndex.open("index").reader.seen_by([])
    assert {seen.document_record(row).doc_id for row in seen.documents.tolist()} == set(WARD)
    shutil.copytree("closed", "copy")
    command("add", "index", "copy", "--read", "access=surgery")
    places = documents_in(tmp_path / "index")
    assert {name: also for name, also in places.items() if also} == {
        f"closed/{name}": [f"copy/{name}"] for name in WARD
    }
    shutil.rmtree("closed")
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "new.txt").write_text("New.")
    command("add", "index", "closed", "--prune", "--read", "access=surgery")
    reader = PassageIndex.open("index").reader
    moved = [each for each in map(reader.document_record, reader.documents.tolist()) if each.doc_id.startswith("copy/")]
    assert len(moved) == 4
    assert {each.metadata["access"] for each in moved} == {"surgery"}


def test_ignore_files_and_patterns_exclude_files(command: Command, tmp_path: Path) -> None:
    ward = tmp_path / "hospital" / "ward"
    (ward / "old" / "deep").mkdir(parents=True)
    for name in ("old/a.txt", "old/deep/b.txt", "draft.txt", "sub/draft.txt", "sub/keep.txt"):
        (ward / name).write_text(f"Words of {name}.")
    with zipfile.ZipFile(ward / "more.zip", "w") as archive:
        archive.writestr("in.md", "# Flu\n\nStay in bed.\n")
        archive.writestr("draft.md", "# Draft\n\nNot yet.\n")
    (ward / ".auscultignore").write_text("# not ready\ndraft.*\nold/\n*.csv\n")
    (ward / "sub" / ".auscultignore").write_text("!draft.txt\nkeep.txt\n")
    done = command("add", "index", "hospital/ward", "--prune")
    assert set(documents_in(tmp_path / "index")) == {"gout.html", "sub/note.txt", "sub/draft.txt", "more.zip/in.md"}
    assert "ignored: 5\n" in done.err
    command("add", "index", "hospital", "--prune", "--exclude", "ward/*.html", "--exclude", "note.txt")
    assert set(documents_in(tmp_path / "index")) == {"sub/draft.txt", "more.zip/in.md"}
    assert command("add", "index", "hospital/ward/old/a.txt").code == 0, "a file that is named itself"
    command("add", "index", "hospital/ward/*", "--exclude", "sub", "--exclude", "*.zip")
    assert set(documents_in(tmp_path / "index")) == {"sub/draft.txt", "more.zip/in.md", "a.txt", "gout.html"}


@pytest.mark.parametrize("pattern", ["!", "[z-a]", "*a*a*a*b"])
def test_a_pattern_that_is_none_is_one_sentence(command: Command, tmp_path: Path, pattern: str) -> None:
    done = command("add", "index", "hospital", "--exclude", pattern)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert f"expected patterns as in .gitignore (--exclude), got '{pattern}'" in done.err
    (tmp_path / "hospital" / ".auscultignore").write_text(f"*.tmp\n{pattern}\n")
    done = command("add", "index", "hospital")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert ".auscultignore" in done.err


def lines(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_documents_are_listed_and_shown(command: Command) -> None:
    done = command("list", "index")
    assert done.out.splitlines()[0] == "gout.html\tGout\tward\tgout.html"
    assert [each["doc_id"] for each in lines(command("list", "index", "--json", "--where", "format=table"))] == [
        "rows.csv#1",
        "rows.csv#2",
    ]
    done = command("show", "index", "gout.html")
    assert done.out.startswith("id: gout.html\ntitle: Gout\nsource: ward\nformat: HTML\nfile: gout.html\n\n## Care")
    assert done.out.endswith("Rest the joint.\n")
    (shown,) = lines(command("show", "index", "sub/note.txt", "--json"))
    passage = shown["passages"][0]
    assert shown["text"][passage["start"] : passage["end"]].strip() == "Drink water."
    assert (passage["heading"], passage["place"]) == ("PLAN", "line 2")
    done = command("show", "index", "nobody")
    assert (done.code, "'nobody'; see them all: auscult list index" in done.err.replace("\n", " ")) == (2, True)


def test_what_is_exported_is_read_back(command: Command, tmp_path: Path) -> None:
    (tmp_path / "hospital/ward/book.md").write_text("# Book\n\n## Gout\n\nAn illness.\n\n### Care\n\nRest it \u00e9.\n")
    command("add", "index", "hospital/ward", "--read", "access=surgery, ward 3")
    assert command("export", "index", "--out", "all.jsonl", "--vectors", "all.npz").code == 0
    assert command("export", "index").out == (tmp_path / "all.jsonl").read_text()
    assert len(lines(command("export", "index", "--where", "format=table"))) == 2
    assert command("index", "all.jsonl", "-m", "model", "-o", "again", "--no-knowledge").code == 0
    before, after = (PassageIndex.open(name).reader for name in ("index", "again"))
    vectors = np.load("all.npz")
    assert vectors["vectors"].shape == (len(vectors["passage_ids"]), 256)
    for reader in (before, after):
        by_id = {
            reader.passage_id(row): row for row in range(len(reader.passage_documents)) if row not in reader.wordless
        }
        assert set(by_id) == {*vectors["passage_ids"].tolist()}
        for name, vector in zip(vectors["passage_ids"].tolist(), vectors["vectors"], strict=True):
            assert np.allclose(reader.passage_vectors[by_id[name]], vector, atol=1e-6)
    for row in before.documents.tolist():
        old = before.document(row)
        new = after.document(after.document_rows[old.doc_id])
        assert (new.title, new.source, new.metadata) == (old.title, old.source, old.metadata)
        assert [(each.passage_id, each.heading, each.above, new.slice(each)) for each in new.passages] == [
            (each.passage_id, each.heading, each.above, old.slice(each)) for each in old.passages
        ]
