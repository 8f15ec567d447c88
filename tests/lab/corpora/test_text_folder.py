"""A folder of plain-text notes, and every way one can be bad."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.errors import CorpusMissingError
from auscult.files.records import RecordError
from auscult_lab.corpora.notes import TextFolderCorpus
from auscult_lab.corpora.opening import open_corpus

NOTE = "Seen today.\r\n\r\nPMH: Asthma, [**Hospital1 18**]\r\nPLAN:\r\nRest.\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p1" / "2020").mkdir(parents=True)
    (tmp_path / "p1" / "2020" / "b.txt").write_bytes(NOTE.encode())
    (tmp_path / "p1" / "a.TXT").write_text("\ufeffALLERGIES: café", encoding="utf-8")
    (tmp_path / "c.txt").write_text("No headings here.")
    (tmp_path / "read.md").write_text("Not a note.")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "d.txt").write_text("Not a note either.")
    return tmp_path


def test_every_text_file_is_a_note(folder: Path) -> None:
    corpus = TextFolderCorpus(folder)
    documents = {d.doc_id: check_document(d) for d in corpus.documents()}
    assert list(documents) == sorted(documents)
    assert set(documents) == {"c", "p1/a", "p1/2020/b"}
    note = documents["p1/2020/b"]
    assert note.text == NOTE
    assert [(p.heading, note.slice(p)) for p in note.passages] == [
        ("", "Seen today."),
        ("PMH", "Asthma, [**Hospital1 18**]"),
        ("PLAN", "Rest."),
    ]
    assert documents["p1/a"].text == "ALLERGIES: café"
    assert [p.heading for p in documents["c"].passages] == [""]
    assert {d.metadata["patient"] for d in documents.values()} == set(documents)


def test_folder_with_only_notes_opens_as_text_folder(folder: Path) -> None:
    (folder / "read.md").unlink()
    assert isinstance(open_corpus(str(folder)), TextFolderCorpus)


def test_folders_of_patients(folder: Path) -> None:
    corpus = TextFolderCorpus(folder, patient_folders=True, name="ours")
    assert corpus.name == "ours"
    assert {d.doc_id: d.metadata["patient"] for d in corpus.documents()} == {
        "c": "c",
        "p1/a": "p1",
        "p1/2020/b": "p1",
    }


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"PLAN: caf\xe9", "invalid UTF-8", r"byte 0xe9 \(.*d\.txt, byte 9\)"),
        (b"\xef\xbb\xbfcaf\xe9", "invalid UTF-8", r"byte 0xe9 \(.*d\.txt, byte 6\)"),
        ("PLAN: Rest.".encode("utf-16"), "binary file", r"null byte.*d\.txt, byte 3\)"),
        (b"", "empty document", r"'d' without any \(.*d\.txt"),
        (b"PLAN:\n", "empty document", r"'d' without any"),
    ],
)
def test_a_bad_file_is_named_or_skipped(folder: Path, content: bytes, kind: str, message: str) -> None:
    (folder / "d.txt").write_bytes(content)
    with pytest.raises(RecordError, match=message) as caught:
        list(TextFolderCorpus(folder).documents())
    assert caught.value.kind == kind
    corpus = TextFolderCorpus(folder, skip_bad=True)
    for _ in range(2):
        assert len(list(corpus.documents())) == 3
        assert dict(corpus.bad.counts) == {kind: 1, "file that is not *.txt": 1}


def test_folders_without_notes(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match="got no files; put files there"):
        open_corpus(str(tmp_path))
    with pytest.raises(CorpusMissingError, match=r"no file \*\.txt in it or below"):
        TextFolderCorpus(tmp_path)
    with pytest.raises(CorpusMissingError, match="no such folder"):
        TextFolderCorpus(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusMissingError, match="a file"):
        TextFolderCorpus(tmp_path / "file")


def test_one_note_of_two_megabytes(tmp_path: Path) -> None:
    line = "The dose was 2.5 mg p.o. b.i.d. for a week. It was then stopped.\n"
    text = "HOSPITAL COURSE:\n" + line * (2_000_000 // len(line))
    (tmp_path / "big.txt").write_text(text)
    (document,) = TextFolderCorpus(tmp_path).documents()
    assert [p.heading for p in document.passages] == ["HOSPITAL COURSE"]
    assert len(document.sentences) == 2 * text.count("for a week.")


def test_every_skipped_file_is_reported(tmp_path: Path) -> None:
    for name in ("a/one.txt", "a/scan.pdf", "a/two.rtf", "elsewhere/three.txt", ".hidden/four.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Plan:\nRest.\n")
    (tmp_path / "a" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a" / "round").symlink_to(tmp_path / "a")
    corpus = TextFolderCorpus(tmp_path / "a")
    assert [note.doc_id for note in corpus.documents()] == ["linked/three", "one"]
    assert corpus.bad.counts == {"file that is not *.txt": 2}
    assert "scan.pdf" in corpus.bad.lines()[0]


def test_unreadable_patient_folder_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scandir(place: str) -> object:
        # Tests may run as root, who may read everything.
        if str(place) != str(folder):
            raise PermissionError(13, "Permission denied", str(place))
        return real(place)

    real = os.scandir
    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(CorpusMissingError, match="Permission denied; correct its permissions"):
        open_corpus(f"patients:{folder}")


def test_folders_of_patients_by_name(folder: Path) -> None:
    named = open_corpus(f"patients:{folder}").documents()
    asked = TextFolderCorpus(folder, patient_folders=True).documents()
    assert [note.metadata["patient"] for note in named] == [note.metadata["patient"] for note in asked]
