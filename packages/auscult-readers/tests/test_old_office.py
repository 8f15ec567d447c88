"""Files of before 2007 are rewritten by LibreOffice: without a network, within limits; else they are named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from auscult.files.limits import VARIABLE
from auscult.ingest.files import FilesCorpus
from auscult_readers import old_office
from good_files import zipped
from needs import Needs
from small_office_files import compound, mail, slides
from small_word_files import saved, word_leaflet

Install = Callable[[str], None]
# What LibreOffice is told stands at the end: ... --convert-to FORM --outdir FOLDER FILE.
PROGRAM = """#!{python}
import pathlib, sys, time
form, folder, file = sys.argv[-4], pathlib.Path(sys.argv[-2]), pathlib.Path(sys.argv[-1])
networks = [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line]
assert networks == ["lo"], networks
assert file.read_bytes().startswith(bytes.fromhex("d0cf11e0")) and "--headless" in sys.argv
assert "MacroSecurityLevel" in (folder / "profile/user/registrymodifications.xcu").read_text()
{does}
"""


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needs: Needs) -> Iterator[Install]:
    """Put a program in LibreOffice's place, of which the last lines are given."""
    needs.command(*old_office.APART, "true")

    def install(does: str) -> None:
        program = tmp_path / "bin" / "soffice"
        program.parent.mkdir()
        program.write_text(PROGRAM.format(python=sys.executable, does=does))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    old_office.office_program.cache_clear()
    yield install
    old_office.office_program.cache_clear()


def read(tmp_path: Path, **files: bytes) -> FilesCorpus:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return FilesCorpus(folder)


DOC, PPT = compound({"WordDocument": b"x" * 5000}), compound({"PowerPoint Document": b"x" * 5000})


def test_converted_files_are_read_and_originals_kept(office: Install, tmp_path: Path) -> None:
    (tmp_path / "new.docx").write_bytes(saved(word_leaflet()))
    (tmp_path / "new.pptx").write_bytes(slides())
    office(f"(folder / f'file.{{form}}').write_bytes(pathlib.Path({str(tmp_path)!r}, f'new.{{form}}').read_bytes())")
    word, lecture = read(tmp_path, a_doc=DOC, b_ppt=PPT).documents()
    assert (word.title, word.metadata["format"], word.metadata["file"]) == ("Gout", "Word", "a.doc")
    assert (lecture.title, lecture.metadata["format"]) == ("Gout", "PowerPoint")
    assert word.original is not None
    assert (word.original.content, word.original.media_type) == (DOC, "application/msword")


def test_attached_and_archived_files_are_converted_and_read(office: Install, tmp_path: Path) -> None:
    (tmp_path / "new.docx").write_bytes(saved(word_leaflet()))
    (tmp_path / "new.pptx").write_bytes(slides())
    office(f"(folder / f'file.{{form}}').write_bytes(pathlib.Path({str(tmp_path)!r}, f'new.{{form}}').read_bytes())")
    letter = mail(("leaflet.doc", DOC), ("all.zip", zipped({"in/b.ppt": PPT})), text="See what is attached.")
    corpus = read(tmp_path, letter_eml=letter, packed_zip=zipped({"a.doc": DOC}))
    found = {each.doc_id: each for each in corpus.documents()}
    assert [*found] == ["letter.eml#leaflet.doc", "letter.eml#all.zip/in/b.ppt", "letter.eml", "packed.zip/a.doc"]
    attached = found["letter.eml#leaflet.doc"]
    assert (attached.title, attached.metadata["format"]) == ("Gout", "Word")
    assert (attached.metadata["message"], attached.metadata["date"]) == ("Discharge letter", "2024-03-05")
    assert attached.original is not None
    assert (attached.original.content, attached.original.media_type) == (DOC, "application/msword")
    assert not corpus.report.problems


def test_an_attachment_that_cannot_be_rewritten_is_named(office: Install, tmp_path: Path) -> None:
    office("raise SystemExit(1)")
    corpus = read(tmp_path, letter_eml=mail(("leaflet.doc", DOC), text="See what is attached."))
    assert [each.doc_id for each in corpus.documents()] == ["letter.eml"]
    assert corpus.report.remarks == [
        ("letter.eml", "attachment leaflet.doc: broken Office file (one that LibreOffice does not read)")
    ]


@pytest.mark.parametrize(
    ("does", "kind"),
    [("", "broken Office file"), ("time.sleep(60)", "timed out"), ("raise SystemExit(1)", "broken Office file")],
)
def test_files_libreoffice_cannot_convert_in_time_are_reported(
    office: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, kind: str
) -> None:
    office(does)
    monkeypatch.setenv(VARIABLE, "seconds=3")
    corpus = read(tmp_path, a_doc=DOC, note_txt=b"Gout hurts.")
    assert [document.doc_id for document in corpus.documents()] == ["note.txt"]
    assert [problem.kind for problem in corpus.report.problems] == [kind]


def test_without_libreoffice_files_are_reported_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_office, "office_program", tuple)
    letter = mail(("leaflet.doc", DOC), text="See what is attached.")
    corpus = read(tmp_path, a_doc=DOC, letter_eml=letter, note_txt=b"Gout hurts.")
    assert [each.doc_id for each in corpus.documents()] == ["letter.eml", "note.txt"]
    assert corpus.report.remarks == [("letter.eml", "attachment leaflet.doc: old Word file (an old Word file (.doc))")]
    assert [(each.kind, each.remedy) for each in corpus.report.problems] == [
        ("old Word file", "install LibreOffice, or save it as .docx")
    ]
