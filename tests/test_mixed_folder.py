"""The folder of the example: thirty files, of which all good ones are read and all bad ones named."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from auscult.documents import Document
from auscult.files.limits import VARIABLE
from auscult.ingest.files import FilesCorpus
from needs import Needs
from places import ROOT

BAD = {
    "archives/bomb.zip/zeros.txt": "zip bomb",
    "archives/traversal.zip/../../outside.txt": "path traversal",
    "leaflets/empty.txt": "empty file",
    "scans/interrupted-download.pdf": "broken PDF",
    "scans/letter-1998.pdf": "scanned PDF",
}


@pytest.fixture(autouse=True)
def without_recognition(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where nothing that recognises scans is installed."""
    monkeypatch.setenv(VARIABLE, "scan=0")


@pytest.fixture(scope="module")
def example() -> ModuleType:
    place = ROOT / "examples" / "make_mixed_folder.py"
    sys.path.insert(0, str(place.parent))
    spec = importlib.util.spec_from_file_location("make_mixed_folder", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(folder: Path) -> list[Document]:
    corpus = FilesCorpus(folder)
    documents = list(corpus.documents())
    assert {problem.name: problem.kind for problem in corpus.report.problems} == BAD
    assert all(problem.remedy for problem in corpus.report.problems)
    assert not (folder.parent / "outside.txt").exists()
    assert len({document.metadata["format"] for document in documents}) >= 7
    return documents


def test_without_data_it_is_made_of_the_leaflets(example: ModuleType, tmp_path: Path) -> None:
    assert len(example.make(tmp_path / "mixed", None)) == 30
    read(tmp_path / "mixed")


@pytest.mark.slow
def test_folder_is_deterministic_and_documents_have_passages(example: ModuleType, needs: Needs, tmp_path: Path) -> None:
    data = needs.data("medquad/documents.jsonl.gz", "consumer_health/nhs_pages.jsonl.gz")
    names = example.make(tmp_path / "mixed", data)
    example.make(tmp_path / "again", data)
    assert [
        name for name in names if (tmp_path / "mixed" / name).read_bytes() != (tmp_path / "again" / name).read_bytes()
    ] == []
    documents = read(tmp_path / "mixed")
    assert len(documents) >= 30
    assert [each.doc_id for each in documents if not each.passages] == []
    # Notes are the ones that do not say what they are called.
    assert {each.metadata["file"].rpartition(".")[2] for each in documents if not each.title} <= {"txt"}


def test_a_folder_that_is_there_is_left_alone(example: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match="name another"):
        example.make(tmp_path, None)
    assert (tmp_path / "mine.txt").read_text() == "mine"
