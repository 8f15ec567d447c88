"""What every reader keeps to: it knows its own files, its drafts' offsets fit, and what is broken is a user error."""

from __future__ import annotations

import pickle
from importlib import import_module

import pytest

from auscult.errors import AuscultError
from auscult.readers.contract import DraftDocument, Reader, SourceFile
from auscult.readers.elsewhere import FORMATS
from auscult.readers.registry import READERS, Registry, known_readers
from fuzz_readers import check_draft
from good_files import good_files

GOOD = {name: content for name, content in good_files().items() if not name.endswith(".zip")}
# Which reader reads which of them.
READ_BY = {
    "pdf": ["leaflet.pdf", "plain.pdf"],
    "docx": ["leaflet.docx"],
    "rtf": ["letter.rtf"],
    "slides": ["lecture.pptx"],
    "sheets": ["values.xlsx", "medicines.xls", "medicines.ods"],
    "opendocument": ["leaflet.odt", "lecture.odp"],
    "epub": ["joints.epub"],
    "mail": ["letter.eml", "page.mhtml", "letter.msg"],
    "fhir": ["bundle.json", "resources.ndjson"],
    "xml": ["medquad.xml", "article.xml", "letter.xml", "leaflet.xml"],
    "hl7": ["report.hl7"],
    "html": ["page.html"],
    "rows": ["table.csv", "rows.jsonl"],
    "markdown": ["leaflet.md"],
    "note": ["note.txt"],
}
# Their text stands in parts of an archive, or in cells.
PACKED = ("pdf", "docx", "slides", "sheets", "opendocument")
PAIRS = [(name, file) for name, files in READ_BY.items() for file in files]


def reader(name: str) -> Reader:
    module, _, attribute = known_readers()[name].partition(":")
    made = getattr(import_module(module), attribute)()
    assert isinstance(made, Reader)
    return made


def drafts(name: str, file: str) -> list[DraftDocument]:
    return list(reader(name).read(SourceFile(file, GOOD[file])))


def test_every_reader_and_good_file_is_covered() -> None:
    # What recognises words in pictures takes seconds a page: test_scans.py and test_images.py.
    assert {*READ_BY, "image"} == {*FORMATS, *READERS}
    assert sorted(file for files in READ_BY.values() for file in files) == sorted(GOOD)


@pytest.mark.parametrize(("name", "file"), PAIRS)
def test_a_file_is_read_by_its_reader(name: str, file: str) -> None:
    chosen = Registry().reader_of(SourceFile(file, GOOD[file]))
    assert type(chosen) is type(reader(name))
    assert chosen.name
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in chosen.suffixes)


@pytest.mark.parametrize(("name", "file"), PAIRS)
def test_drafts_fit_their_text_and_are_deterministic(name: str, file: str) -> None:
    once, again = drafts(name, file), drafts(name, file)
    assert once
    for draft in once:
        check_draft(draft)
        assert any(section.text.strip() for section in draft.sections)
        assert draft.media_type
    assert pickle.dumps(once) == pickle.dumps(again)
    assert len({draft.key for draft in once}) == len(once)


@pytest.mark.parametrize(("name", "file"), [pair for pair in PAIRS if pair[0] not in PACKED])
def test_runs_point_at_equal_words_in_the_source(name: str, file: str) -> None:
    """Where lengths are equal, so are the characters, but for white space. Packed files have none."""
    compared = 0
    for draft in drafts(name, file):
        assert len(draft.runs), "no run"
        source = (draft.content or GOOD[file]).decode(draft.encoding)
        for start, end, begin, stop in draft.runs.tolist():
            if end - start == stop - begin:
                assert "".join(draft.text[start:end].split()) == "".join(source[begin:stop].split())
                compared += 1
    assert compared


@pytest.mark.parametrize(("name", "file"), PAIRS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_truncated_file_is_read_or_refused_in_words(name: str, file: str, share: float) -> None:
    content = GOOD[file][: int(len(GOOD[file]) * share)]
    try:
        for draft in reader(name).read(SourceFile(file, content)):
            check_draft(draft)
    except AuscultError as error:
        said = error
        assert all((said.expected, said.got, said.remedy)), said
