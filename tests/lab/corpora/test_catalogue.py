"""The catalogue: whole, true to the files at hand, and helpful where they are not."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from auscult.catalogue import catalogue, data_dir, entry, locate
from auscult.errors import ConfigError, CorpusMissingError
from auscult.ingest.rows import JsonlCorpus
from auscult_lab.corpora.beir import BeirCorpus
from auscult_lab.corpora.medquad import MedQuadCorpus, MedQuadXmlCorpus
from auscult_lab.corpora.obtain import FileState, check_file
from auscult_lab.corpora.opening import READERS, learnable, open_corpus
from needs import Needs
from places import DATA as OWN_DATA

TINY = OWN_DATA / "medquad_tiny"

CORPORA = {
    "medquad", "enwiki", "simplewiki", "nhs", "openstax", "mtsamples", "aci-bench", "mts-dialog", "primock57",
    "pmc-trials-abstracts", "pmc-trials", "bioasq", "consumer-questions", "covidqa", "pubmedqa",
    "bioasq-7b-11b", "cpgqa", "drug-labels",
}  # fmt: skip
# Their files are brought by people: nothing of them is at hand here.
BROUGHT = {"healthqa", "mimic-iii", "nfcorpus", "wikisection-json", "wikisectionqa", "cdv-train"}


def test_every_entry_is_whole() -> None:
    files = {file for listed in catalogue().values() for file in listed.files}
    assert len({file.path for file in files}) == len(files)
    for listed in catalogue().values():
        assert listed.title
        assert listed.description
        assert listed.licence
        assert listed.licence_class in {"open", "check", "restricted"}
        assert not listed.reader or listed.reader in READERS
        if listed.access.instructed:
            assert listed.instructions
            assert listed.folder
            assert not listed.files
        else:
            assert listed.files
            assert all(re.fullmatch("[0-9a-f]{40}", source.commit) for source in listed.sources)
            assert listed.sources
        for file in listed.files:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert re.fullmatch("[0-9a-f]{64}", file.content_sha256)
            assert file.bytes > 0


def test_the_named_corpora_have_readers() -> None:
    assert {name for name, found in catalogue().items() if found.reader} == CORPORA | BROUGHT


@pytest.mark.parametrize(
    "file", [file for found in catalogue().values() for file in found.files], ids=lambda file: file.path
)
def test_prepared_files_match_the_catalogue(file, needs: Needs) -> None:
    path = needs.file(file.path)
    assert check_file(file, path) in (FileState.SAME, FileState.SAME_CONTENT)
    if check_file(file, path) is FileState.SAME:
        assert path.stat().st_size == file.bytes
    if file.rows:
        header = file.path.endswith(".tsv.gz")
        with gzip.open(path) as lines:
            assert sum(1 for _ in lines) - header == file.rows


def test_data_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "given"))
    assert data_dir() == tmp_path / "given"
    monkeypatch.delenv("AUSCULT_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_dir() == tmp_path / "xdg" / "auscult"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_dir() == tmp_path / ".local" / "share" / "auscult"


def test_a_missing_set_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match=r"run: auscult data get medquad$"):
        locate("medquad", tmp_path)


def test_missing_prepared_set_names_source_and_target_path(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError) as caught:
        locate("nhs", tmp_path)
    assert str(tmp_path / "consumer_health" / "nhs_pages.jsonl.gz") in str(caught.value)
    assert "github.com/Natty4/ai-med-assistant at 7d1c06aad17f" in str(caught.value)
    assert "auscult data get nhs --from" in str(caught.value)


def test_a_restricted_set_says_whom_to_ask(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match=r"physionet\.org.*put it in .*mimic-iii"):
        locate("mimic-iii", tmp_path)


def test_a_restricted_set_that_was_put_there_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "nfcorpus"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text('{"_id": "1", "title": "Tea", "text": "Tea is a drink."}\n')
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    assert [document.title for document in open_corpus("nfcorpus").documents()] == ["Tea"]


def test_two_corpora_are_for_evaluation_only() -> None:
    assert {name for name, found in catalogue().items() if found.measured_only} == {"consumer-questions", "covidqa"}
    assert not learnable("consumer-questions")
    assert not learnable("notes:consumer-questions")
    assert learnable("medquad")
    assert learnable("no-such-place/documents.jsonl")


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean medquad"):
        entry("MedQUAD2")
    with pytest.raises(ConfigError, match="did you mean simplewiki"):
        open_corpus("simple-wiki")
    with pytest.raises(ConfigError, match="see: auscult data list"):
        open_corpus("qqqq")


def test_a_set_without_documents_is_not_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    (tmp_path / "umls").mkdir()
    with pytest.raises(ConfigError, match="umls, which has no reader"):
        open_corpus("umls")


def test_paths_open_by_what_they_hold(tmp_path: Path) -> None:
    lines = tmp_path / "pages.jsonl"
    lines.write_text('{"doc_id": "1", "title": "Tea", "text": "Tea is a drink."}\n')
    assert isinstance(open_corpus(str(lines)), JsonlCorpus)
    (tmp_path / "beir").mkdir()
    (tmp_path / "beir" / "corpus.jsonl").write_text('{"_id": "1", "text": "Tea."}\n')
    assert isinstance(open_corpus(str(tmp_path / "beir")), BeirCorpus)
    assert isinstance(open_corpus(str(TINY / "MedQuAD")), MedQuadXmlCorpus)
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    (prepared / "documents.jsonl.gz").write_bytes(gzip.compress(b""))
    assert isinstance(open_corpus(str(prepared)), MedQuadCorpus)


def test_a_missing_path_is_named() -> None:
    with pytest.raises(CorpusMissingError, match=r"a corpus at nowhere\.jsonl"):
        open_corpus("nowhere.jsonl")
