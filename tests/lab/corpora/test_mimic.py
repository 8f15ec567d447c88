"""MIMIC-III's NOTEEVENTS.csv, in its true format; all notes here are invented."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import RecordError
from auscult_lab.corpora.notes import MimicCorpus
from auscult_lab.corpora.opening import open_corpus

HEADER = [
    "ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CHARTTIME", "STORETIME", "CATEGORY", "DESCRIPTION", "CGID",
    "ISERROR", "TEXT",
]  # fmt: skip
TEXT = (
    "Admission Date:  [**2151-7-16**]       Discharge Date:  [**2151-8-4**]\n\n\nService:\nADDENDUM:\n\n"
    'History of Present Illness:\nThis is a "brittle", 64 year old man, known to\n[**First Name (STitle) **].\n\n'
    "Medications on Admission:\n1. Aspirin 81 mg, daily\n\nDischarge Medications:\n1. Aspirin.\n"
)


def row(number: int, category: str = "Discharge summary", text: str = TEXT, error: str = "") -> list[str]:
    return [
        str(number), "22532", "167853", "2151-08-04", "", "", category, "Report", "", error, text,
    ]  # fmt: skip


ROWS = [row(174), row(175, "Nursing", "PLAN: Rest."), row(176, error="1"), row(177, "Physician ", "Imp: Gout.")]


def write(path: Path, rows: list[list[str]], header: list[str] | None = None) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        # The file quotes texts (and names of columns), not numbers.
        writer = csv.writer(stream, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
        writer.writerow(HEADER if header is None else header)
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("by_folder", [False, True])
def test_discharge_summaries_are_read(tmp_path: Path, packed: bool, by_folder: bool) -> None:
    path = write(tmp_path / "NOTEEVENTS.csv", ROWS)
    if packed:
        data = path.read_bytes()
        path.unlink()
        path = tmp_path / "NOTEEVENTS.csv.gz"
        path.write_bytes(gzip.compress(data))
    corpus = open_corpus(str(tmp_path if by_folder else path))
    (document,) = map(check_document, corpus.documents())
    assert (document.doc_id, document.text, document.source) == ("174", TEXT, "MIMIC-III")
    assert document.metadata["patient"] == "22532"
    assert document.metadata["admission"] == "167853"
    sections = {p.heading: document.slice(p) for p in document.passages}
    assert sections["Medications on Admission"] == "1. Aspirin 81 mg, daily"
    assert sections["Discharge Medications"] == "1. Aspirin."
    assert sections["History of Present Illness"].endswith("known to\n[**First Name (STitle) **].")


def test_the_catalogue_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mimic-iii").mkdir()
    write(tmp_path / "mimic-iii" / "NOTEEVENTS.csv", ROWS)
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    corpus = open_corpus("mimic-iii")
    assert corpus.name == "mimic-iii"
    assert [d.doc_id for d in corpus.documents("train")] == ["174"]


def test_categories_are_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "NOTEEVENTS.csv", ROWS)
    assert [d.doc_id for d in MimicCorpus(path, categories=["nursing", "physician"]).documents()] == ["175", "177"]
    assert [d.doc_id for d in MimicCorpus(path, categories=[]).documents()] == ["174", "175", "177"]


@pytest.mark.parametrize(
    ("bad", "kind", "message"),
    [
        (row(178)[:-1], "malformed row", r"11 columns, got 10 \(.*, line \d+\)"),
        (row(174), "duplicate id", "'174' again"),
        (row(178, text=" "), "empty document", "'178' without any"),
        ([cell if n != 1 else "" for n, cell in enumerate(row(178))], "missing field", "SUBJECT_ID"),
    ],
)
def test_a_bad_row_is_named_or_skipped(tmp_path: Path, bad: list[str], kind: str, message: str) -> None:
    path = write(tmp_path / "NOTEEVENTS.csv", [row(174), bad, row(179)])
    with pytest.raises(RecordError, match=message) as caught:
        list(MimicCorpus(path).documents())
    assert caught.value.kind == kind
    corpus = MimicCorpus(path, skip_bad=True)
    assert [d.doc_id for d in corpus.documents()] == ["174", "179"]
    assert dict(corpus.bad.counts) == {kind: 1}


def test_damage_ends_the_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "NOTEEVENTS.csv", [row(n) for n in range(1000)])
    whole = path.read_bytes()
    packed = gzip.compress(whole)
    for damaged in (packed[: len(packed) // 2], whole[:-40]):
        path.write_bytes(damaged)
        with pytest.raises(RecordError, match=r"damaged file: .*NOTEEVENTS\.csv, behind line \d+"):
            list(MimicCorpus(path).documents())
        corpus = MimicCorpus(path, skip_bad=True)
        assert len(list(corpus.documents())) < 1000
        assert corpus.bad.counts["damaged file"] == 1


def test_a_table_of_another_kind_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "NOTEEVENTS.csv", [], header=["ROW_ID", "SUBJECT_ID", "TEXT"])
    with pytest.raises(DataError, match="got no HADM_ID, CHARTDATE, CATEGORY, DESCRIPTION, ISERROR"):
        list(MimicCorpus(path).documents())
    path.write_text("")
    with pytest.raises(DataError, match="got an empty file"):
        list(MimicCorpus(path).documents())
    with pytest.raises(CorpusMissingError, match=r"NOTEEVENTS\.csv or"):
        MimicCorpus(tmp_path / "none")
    with pytest.raises(CorpusMissingError, match="correct the path"):
        open_corpus(str(tmp_path / "none" / "NOTEEVENTS.csv"))


def test_skipped_rows_are_counted(tmp_path: Path) -> None:
    corpus = MimicCorpus(write(tmp_path / "NOTEEVENTS.csv", ROWS))
    kept = len(list(corpus.documents()))
    assert kept + corpus.bad.total == len(ROWS)
    assert corpus.bad.counts["note of another category"] == 2


def test_a_wrong_byte_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "NOTEEVENTS.csv", ROWS)
    before, _, behind = path.read_bytes().replace(b"man", b"m\xc3\xa4n", 1).rpartition(b"e")
    path.write_bytes(before + b"\xe4" + behind)
    with pytest.raises(RecordError, match=r"byte 0xe4 .*NOTEEVENTS\.csv.*save the file as UTF-8"):
        list(MimicCorpus(path).documents())
