"""Kinds of files that are not read are named, with what to do."""

from __future__ import annotations

import io
import zipfile

import pytest

from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.registry import Registry, problem_of
from small_office_files import book, compound, open_text, slides, workbook
from small_pdfs import leaflet
from small_word_files import saved, word_leaflet


def archive(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, content in members.items():
            packed.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


KINDS = {
    "encrypted Office file": (compound({"EncryptedPackage": b"x"}), "without a password"),
    "old Office file": (compound({"Something": b"x"}), "newer form"),
    "image": (b"GIF89a" + bytes(40), "save it as PNG"),
    "packed file": (b"7z\xbc\xaf\x27\x1c" + bytes(40), "unpack it"),
    "sound or film": (b"RIFF\x00\x00\x00\x00WAVEfmt ", "leave it out"),
    "program": (b"\x7fELF" + bytes(40), "leave it out"),
    "database": (b"SQLite format 3\x00" + bytes(40), ".csv"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_named_with_what_to_do(kind: str) -> None:
    content, remedy = KINDS[kind]
    with pytest.raises(UnreadableError) as error:
        # Not by its name: people rename files.
        Registry().reader_of(SourceFile("note.txt", content))
    assert error.value.kind == kind
    assert remedy in error.value.remedy


@pytest.mark.parametrize(
    ("stream", "kind", "remedy"),
    [
        ("WordDocument", "old Word file", "save it as .docx"),
        ("PowerPoint Document", "presentation", "save it as .pptx"),
    ],
)
def test_office_files_before_2007_are_passed_to_conversion(stream: str, kind: str, remedy: str) -> None:
    file = SourceFile("note.txt", compound({stream: b"x" * 5000}))
    (draft,) = Registry().reader_of(file).read(file)
    assert (draft.to_rewrite, draft.text) == ("note.txt", "")
    problem = problem_of(file)
    assert problem is not None
    assert (problem.kind, problem.remedy.endswith(remedy)) == (kind, True)


@pytest.mark.parametrize(
    "content",
    [b"BMI is the body mass index.", b"ID and name", b"MZ twins have one egg.", leaflet(1).content()],
    ids=["BMI", "ID", "MZ", "PDF"],
)
def test_readable_content_is_no_unsupported_file(content: bytes) -> None:
    assert problem_of(SourceFile("note.txt", content)) is None


@pytest.mark.parametrize("content", [workbook(), slides(), open_text(), book()])
def test_truncated_archives_are_reported_as_broken(content: bytes) -> None:
    with pytest.raises(UnreadableError) as error:
        Registry().reader_of(SourceFile("file.bin", content[: len(content) // 2]))
    assert error.value.kind == "broken archive"


def test_word_files_and_archives_are_no_unsupported_files() -> None:
    assert problem_of(SourceFile("a.docx", saved(word_leaflet()))) is None
    assert problem_of(SourceFile("a.zip", archive(note_txt="Gout"))) is None
    assert problem_of(SourceFile("a.zip", b"PK\x03\x04broken")) is None
