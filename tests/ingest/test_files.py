"""Files of any kind as a corpus: a folder as people have them, read once, and told what was not read."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auscult.documents import Document, check_document
from auscult.errors import CorpusMissingError, DataError, IndexFolderError
from auscult.ingest.corpus import Corpus
from auscult.ingest.file_records import FileDocument, FileRecord, Index, find_duplicates
from auscult.ingest.files import Choices, FilesCorpus
from auscult.ingest.gathered import Gathered
from auscult.ingest.gathering import Gathering
from auscult.ingest.opening import opens_as_files
from auscult.ingest.rows import JsonlCorpus
from auscult.readers.rows import Columns
from auscult_lab.corpora.beir import BeirCorpus
from auscult_lab.corpora.notes import TextFolderCorpus
from auscult_lab.corpora.opening import open_corpus
from small_pdfs import Drawn


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(
        tmp_path / "ward",
        {
            "gout.html": "<!doctype html><title>Gout</title><h1>Gout</h1><h2>Treatment</h2><h3>Drugs</h3><p>Rest it.",
            "a/note.txt": "PLAN:\nRest the joint.\n",
            "table.csv": "id,text,ward\n7,Cough today.,B2\n8,Fever.,B3\n",
            "empty.txt": "",
            "image.png": b"\x89PNG\r\n\x1a\n\0\0",
            "broken.pdf": b"%PDF-1.7 and nothing more",
            "long.txt": "x" * 200_000,
        },
    )
    with zipfile.ZipFile(tmp_path / "ward" / "notes.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in.txt", "COURSE:\nUneventful.\n")
        archive.writestr("../out.txt", "evil")
        archive.writestr("bomb.txt", bytes(20_000_000))
    return tmp_path / "ward"


def read(*paths: Path | str, choices: Choices | None = None) -> tuple[dict[str, Document], FilesCorpus]:
    corpus = FilesCorpus(*paths, choices=choices)
    documents = {each.doc_id: check_document(each) for each in corpus.documents()}
    return documents, corpus


def test_mixed_folders_are_read_and_bad_files_named(folder: Path) -> None:
    corpus: Corpus = open_corpus(str(folder))
    assert isinstance(corpus, FilesCorpus)
    documents = {each.doc_id: check_document(each) for each in corpus.documents()}
    assert list(documents) == ["a/note.txt", "gout.html", "notes.zip/in.txt", "table.csv#7", "table.csv#8"]
    page = documents["gout.html"]
    assert (page.title, page.source, page.metadata["file"], page.metadata["format"]) == (
        "Gout", "ward", "gout.html", "HTML",
    )  # fmt: skip
    (passage,) = page.passages
    assert (passage.heading, passage.above, page.slice(passage)) == ("Drugs", ("Treatment",), "Rest it.")
    assert documents["table.csv#7"].metadata["ward"] == "B2"
    report = corpus.report
    assert {problem.name: problem.kind for problem in report.problems} == {
        "broken.pdf": "broken PDF",
        "empty.txt": "empty file",
        "image.png": "image",
        "long.txt": "word too large",
        "notes.zip/../out.txt": "path traversal",
        "notes.zip/bomb.txt": "zip bomb",
    }
    told = "\n".join(report.lines())
    assert told.startswith("files: 10; documents read: 5 (HTML 1, table 2, text 2); not read: 6\n")
    for problem in report.problems:
        assert f"not read: {problem.name}: {problem.kind} (expected " in told
    assert corpus.bad.total == 6


def test_every_highlight_slices_back_to_the_file(folder: Path) -> None:
    for document in read(folder)[0].values():
        original = document.original
        assert original is not None
        assert original.name == document.metadata["file"]
        source = original.content.decode(original.encoding)
        for sentence in document.sentences:
            pieces = [source[start:end] for start, end in original.source_ranges(sentence.start, sentence.end)]
            assert "".join(pieces).split() == document.slice(sentence).split()


def test_a_pdf_keeps_the_boxes_of_its_words(tmp_path: Path) -> None:
    drawn = Drawn()
    drawn.line(72, 72, "Rest the joint.")
    put(tmp_path, {"x.pdf": drawn.content()})
    (document,) = read(tmp_path)[0].values()
    (sentence,) = document.sentences
    assert document.original is not None
    (box,) = document.original.boxes(sentence.start, sentence.end)
    assert box.page == 0
    assert box.right > box.left


def test_equal_texts_become_one_document_with_several_places(tmp_path: Path) -> None:
    put(tmp_path, {"b/x.txt": "PLAN:\nRest.\n", "a.md": "PLAN: \n\n  Rest.", "c.txt": "Other.", "z.txt": "PLAN: Rest."})
    documents, corpus = read(tmp_path)
    assert list(documents) == ["a.md", "c.txt"]
    assert documents["a.md"].metadata["also"] == "b/x.txt\nz.txt"
    assert corpus.report.duplicates == [("b/x.txt", "a.md"), ("z.txt", "a.md")]


def test_equal_texts_of_other_patients_or_titles_stay(tmp_path: Path) -> None:
    rows = [("7", "Gout", "p1"), ("8", "Flu", "p1"), ("9", "Gout", "p2"), ("10", "Gout", "p1")]
    lines = [json.dumps({"id": i, "title": t, "text": "Normal.", "metadata": {"patient": p}}) for i, t, p in rows]
    put(tmp_path, {"x.jsonl": "\n".join(lines), "y.md": "Other."})
    documents, _ = read(tmp_path)
    assert list(documents) == ["x.jsonl#7", "x.jsonl#8", "x.jsonl#9", "y.md"]
    assert documents["x.jsonl#7"].metadata["also"] == "x.jsonl#10"


def test_ids_are_unique_over_all_that_was_named(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"a/n.txt": "One.", "b/n.txt": "Two.", "c/t.csv": "id,text\n1,Three.\n1,Four.\n", "c/t.csv#1": "Five."},
    )
    documents, _ = read(tmp_path / "a", tmp_path / "b", tmp_path / "c", tmp_path / "a")
    assert {doc_id: document.text for doc_id, document in documents.items()} == {
        "n.txt": "One.", "b/n.txt": "Two.", "t.csv#1": "Three.", "t.csv#1~2": "Four.", "c/t.csv#1": "Five.",
    }  # fmt: skip


def test_reading_choices_are_followed(folder: Path) -> None:
    choices = Choices(columns=Columns.parse("text=text,unit=ward"), originals=False, access="ward-3")
    documents, _ = read(folder, choices=choices)
    assert {document.metadata["access"] for document in documents.values()} == {"ward-3"}
    assert {document.original for document in documents.values()} == {None}
    assert documents["table.csv#2"].metadata["unit"] == "B2"


def test_a_single_unreadable_file_is_an_error(folder: Path) -> None:
    with pytest.raises(DataError, match=r"broken PDF: .*broken\.pdf"):
        read(folder / "broken.pdf")
    corpus = FilesCorpus(folder / "broken.pdf", skip_bad=True)
    assert not list(corpus.documents())
    # One of an archive's members, or of several files, is none.
    assert list(read(folder / "notes.zip")[0]) == ["notes.zip/in.txt"]
    assert list(read(folder / "broken.pdf", folder / "a" / "note.txt")[0]) == ["note.txt"]
    with pytest.raises(CorpusMissingError):
        FilesCorpus()


def test_paths_open_as_the_corpus_of_their_format(tmp_path: Path) -> None:
    line = '{"id": "a", "text": "x"}\n'
    put(tmp_path, {
        "beir/corpus.jsonl": '{"_id": "a", "title": "", "text": "x"}\n', "beir/queries.jsonl": "",
        "beir/qrels/test.tsv": "", "notes/a.txt": "x", "x.jsonl": line, "y.json": line,
        "fhir.json": '{"resourceType": "Bundle"}', "page.html": "<p>x",
    })  # fmt: skip
    kinds = {
        "beir": BeirCorpus, "notes": TextFolderCorpus, "x.jsonl": JsonlCorpus, "y.json": JsonlCorpus,
        "fhir.json": FilesCorpus, "page.html": FilesCorpus, "*.html": FilesCorpus, ".": FilesCorpus,
    }  # fmt: skip
    for name, kind in kinds.items():
        path = str(tmp_path / name)
        assert type(open_corpus(path)) is kind, name
        assert opens_as_files(path) == (kind is FilesCorpus or name == "notes"), name
    assert not opens_as_files("medquad")
    assert not opens_as_files(str(tmp_path / "nowhere"))


Change = Callable[[Path], None]


class StoredDocuments:
    """An index in a dictionary, as `update_index` leaves it."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[str, Document]] = {}
        self.records: dict[str, dict[str, str]] = {}

    def add(self, corpus: FilesCorpus, *, prune: bool = False) -> Gathered:
        index = Index(
            records={
                origin: {key: FileRecord.from_json(record) for key, record in records.items()}
                for origin, records in self.records.items()
            },
            ids={
                origin: {doc_id for doc_id, (place, _) in self.documents.items() if place == origin}
                for origin in corpus.origins
            },
            taken=self.documents.__contains__,
            also={
                doc_id: document.metadata["also"]
                for doc_id, (_, document) in self.documents.items()
                if "also" in document.metadata
            },
        )
        with corpus.gather(index, prune=prune) as gathered:
            given = list(gathered.documents())
            for rewrite in gathered.rewrites:
                self.documents[rewrite.doc_id] = (rewrite.origin, rewrite.apply(self.documents[rewrite.source][1]))
            for doc_id in gathered.dropped:
                del self.documents[doc_id]
            for document in given:
                self.documents[document.doc_id] = (gathered.origins[document.doc_id], document)
            if prune:
                for doc_id in gathered.missing:
                    del self.documents[doc_id]
            self.records |= gathered.files()
        return gathered

    @property
    def contents(self) -> dict[str, tuple[str, dict[str, str]]]:
        return {doc_id: (each.text, dict(each.metadata)) for doc_id, (_, each) in self.documents.items()}


@pytest.mark.parametrize(
    ("change", "read_again"),
    [
        (lambda folder: put(folder, {"new.txt": "New words."}), 1),
        (lambda folder: put(folder, {"b.txt": "Other words."}), 1),
        (lambda folder: put(folder, {"t.csv": "id,text\n1,Row one.\n3,Row three.\n"}), 2),
        (lambda folder: (folder / "a.txt").unlink(), 1),
        (lambda folder: (folder / "b.txt").unlink(), 0),
        (lambda folder: (folder / "c.txt").unlink(), 0),
        (lambda folder: put(folder, {"0.txt": "Same words."}), 1),
        (lambda folder: put(folder, {"d.txt": "same WORDS."}), 1),
        (lambda folder: put(folder, {"bad.txt": "Good now."}), 1),
        (lambda folder: put(folder, {"sub/x.txt": "Same words.", "sub/y.txt": "Y."}), 2),
        (lambda folder: os.utime(folder / "c.txt", (1, 1)), 0),
    ],
)
def test_an_update_reads_changes_and_equals_a_rebuild(tmp_path: Path, change: Change, read_again: int) -> None:
    folder = tmp_path / "in"
    put(
        folder,
        {"a.txt": "Same words.", "b.txt": "Same  words.", "c.txt": "Lonely.",
         "t.csv": "id,text\n1,Row one.\n2,Row two.\n", "bad.txt": ""},
    )  # fmt: skip
    corpus = FilesCorpus(folder)
    stored = StoredDocuments()
    stored.add(corpus)
    assert set(stored.contents) == {"a.txt", "c.txt", "t.csv#1", "t.csv#2"}
    change(folder)
    stored.add(corpus, prune=True)
    assert corpus.report.documents.total() == read_again
    fresh = StoredDocuments()
    fresh.add(FilesCorpus(folder))
    assert stored.contents == fresh.contents
    # And once more: everything is known now.
    gathered = stored.add(corpus, prune=True)
    assert corpus.report.documents.total() == 0
    assert (list(gathered.documents()), gathered.dropped) == ([], set())
    assert stored.contents == fresh.contents


def test_files_are_reread_after_removals_and_changed_options(tmp_path: Path) -> None:
    put(tmp_path / "in", {"a.txt": "One.", "b.txt": "Two."})
    corpus = FilesCorpus(tmp_path / "in")
    stored = StoredDocuments()
    stored.add(corpus)
    del stored.documents["a.txt"]
    stored.add(corpus)
    assert set(stored.contents) == {"a.txt", "b.txt"}
    assert corpus.report.documents.total() == 1
    other = FilesCorpus(tmp_path / "in", choices=Choices(access="x"))
    stored.add(other)
    assert other.report.documents.total() == 2
    assert {metadata["access"] for _, metadata in stored.contents.values()} == {"x"}


def test_an_unreadable_file_keeps_its_documents(tmp_path: Path) -> None:
    put(tmp_path / "in", {"a.txt": "One.", "b.txt": "Two."})
    corpus = FilesCorpus(tmp_path / "in")
    stored = StoredDocuments()
    stored.add(corpus)
    put(tmp_path / "in", {"a.txt": b"\0\0\0"})
    for _ in range(2):
        stored.add(corpus, prune=True)
        assert [problem.name for problem in corpus.report.problems] == ["a.txt"]
        assert stored.contents["a.txt"][0] == "One."
    put(tmp_path / "in", {"a.txt": "One."})
    stored.add(corpus, prune=True)
    assert not corpus.report.problems


def test_missing_files_stay_indexed_until_pruned(tmp_path: Path) -> None:
    put(tmp_path / "in", {"a.txt": "One.", "b.txt": "Two."})
    corpus = FilesCorpus(tmp_path / "in")
    stored = StoredDocuments()
    stored.add(corpus)
    shutil.move(tmp_path / "in" / "a.txt", tmp_path / "a.txt")
    stored.add(corpus)
    assert set(stored.contents) == {"a.txt", "b.txt"}
    shutil.move(tmp_path / "a.txt", tmp_path / "in" / "a.txt")
    stored.add(corpus)
    assert corpus.report.unchanged == 2


def test_folders_with_equal_file_names_keep_separate_ids(tmp_path: Path) -> None:
    put(tmp_path, {"a/n.txt": "One.", "b/n.txt": "Two."})
    stored = StoredDocuments()
    for name in ("a", "b", "a", "b"):
        stored.add(FilesCorpus(tmp_path / name))
        assert stored.contents["n.txt"][0] == "One."
    assert set(stored.contents) == {"n.txt", "b/n.txt"}


def test_of_several_places_the_first_is_the_document() -> None:
    said = [
        FileDocument("a", "a.txt", "x"),
        FileDocument("b", "b.txt", "y"),
        FileDocument("c", "c.txt", "x"),
        FileDocument("d", "d.txt", "x"),
    ]
    assert find_duplicates((each, "") for each in said) == {"a": ("c.txt", "d.txt"), "b": (), "c": None, "d": None}


def test_records_survive_json_and_damaged_ones_are_reported() -> None:
    record = FileRecord(
        digest="d", stem="s", said=(FileDocument("a", "b", "c"),), problem=("k", "e", "g", "r"), remarks=("m",)
    )
    assert FileRecord.from_json(record.to_json()) == record
    for content in ("", "{}", '["d"]', '["d", "s", [["a"]], [], []]'):
        with pytest.raises(IndexFolderError):
            FileRecord.from_json(content)


def test_repeated_keys_are_numbered_in_linear_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    class Ids(set[str]):
        def __contains__(self, item: object) -> bool:
            nonlocal looks
            looks += 1
            return super().__contains__(item)

    beginning = Gathering.__init__

    def begin(own: Gathering, *arguments: Any, **named: Any) -> None:
        beginning(own, *arguments, **named)
        own._ids = Ids()

    monkeypatch.setattr(Gathering, "__init__", begin)
    lines = [json.dumps({"id": "1", "title": "Gout", "text": f"Gout {number} hurts."}) for number in range(300)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with FilesCorpus(tmp_path).gather(None) as gathered:
        assert [*gathered.origins][:3] == ["a.jsonl#1", "a.jsonl#1~2", "a.jsonl#1~3"]
        assert len(gathered.origins) == 300
    assert looks < 3 * 300
