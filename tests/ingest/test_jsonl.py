"""Users' own documents, and every way a JSON lines file can be bad."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.errors import CorpusMissingError
from auscult.files.records import BadRecords, RecordError, read_records
from auscult.ingest.rows import JsonlCorpus

GOOD = {"id": "a", "title": "Gout", "sections": [{"heading": "Symptoms", "text": "It hurts. It is red."}]}
PLAIN = {
    "id": "b",
    "text": "Seen today. No complaints.",
    "url": "https://example.org",
    "metadata": {"ward": "3"},
}


def write(path: Path, *lines: object) -> Path:
    path.write_bytes(
        b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    )
    return path


def test_the_documented_schema(tmp_path: Path) -> None:
    corpus = JsonlCorpus(write(tmp_path / "mine.jsonl", GOOD, PLAIN | {"entity_ids": ["UMLS:C1"], "split": "test"}))
    assert corpus.name == "mine"
    a, b = corpus.documents()
    assert (a.doc_id, a.title, a.source) == ("a", "Gout", "mine")
    assert [(p.passage_id, p.heading, a.slice(p)) for p in a.passages] == [("a#1", "Symptoms", "It hurts. It is red.")]
    assert [b.slice(s) for s in b.sentences] == ["Seen today.", "No complaints."]
    assert (b.title, b.url, b.entity_ids, dict(b.metadata)) == (
        "",
        "https://example.org",
        ("UMLS:C1",),
        {"ward": "3", "patient": "b"},
    )
    assert [d.doc_id for d in corpus.documents("train")] == ["a"]
    assert [d.doc_id for d in corpus.documents("test")] == ["b"]
    assert corpus.bad.total == 0
    assert not corpus.queries("test")
    assert not corpus.judgements("test")
    assert not corpus.candidates("test")


def test_text_is_split_at_headings_and_kept_whole(tmp_path: Path) -> None:
    text = "Seen today.\n\nPMH: Asthma [**2151**]\nPlan:\nRest.\n"
    note = {"id": "n", "text": text, "metadata": {"patient": "p7"}}
    (document,) = JsonlCorpus(write(tmp_path / "x.jsonl", note)).documents()
    assert document.text == text
    assert [(p.passage_id, p.heading, document.slice(p)) for p in document.passages] == [
        ("n#1", "", "Seen today."),
        ("n#2", "PMH", "Asthma [**2151**]"),
        ("n#3", "Plan", "Rest."),
    ]
    assert document.metadata["patient"] == "p7"


def test_gzip_is_recognised_and_files_are_combined(tmp_path: Path) -> None:
    packed = tmp_path / "one.data"
    packed.write_bytes(gzip.compress(json.dumps(GOOD).encode()))
    corpus = JsonlCorpus(packed, write(tmp_path / "two.jsonl", b"\xef\xbb\xbf" + json.dumps(PLAIN).encode(), b""))
    assert [d.doc_id for d in corpus.documents()] == ["a", "b"]


def test_wordless_sections_are_skipped_without_renumbering(tmp_path: Path) -> None:
    sections = [{"heading": "--", "text": " -- "}, {"text": "Words."}, {"id": "own", "text": "More."}]
    (document,) = JsonlCorpus(write(tmp_path / "x.jsonl", {"id": "d", "sections": sections})).documents()
    assert [p.passage_id for p in document.passages] == ["d#2", "own"]


def test_a_heading_without_text_is_its_sections_text(tmp_path: Path) -> None:
    sections = [{"heading": "No known drug allergies", "text": ""}, {"heading": "Plan", "text": "Rest."}]
    (document,) = JsonlCorpus(write(tmp_path / "x.jsonl", {"id": "d", "sections": sections})).documents()
    assert document.text == "No known drug allergies\n\nRest."
    assert [document.slice(passage) for passage in document.passages] == ["No known drug allergies", "Rest."]


BAD_LINES: list[tuple[object, str, str]] = [
    (b'{"id": "x", "text": "caf\xe9"}', "invalid UTF-8", "byte 0xe9"),
    (b'{"id": "x", "text": "half \\ud83d"}', "invalid Unicode", "surrogate"),
    (b'{"id": "x", "text": ', "malformed JSON", "malformed JSON"),
    (b"[" * 100_000, "malformed JSON", "nested too deeply"),
    (b'{"id": "x", "text": ' + b"9" * 5000 + b"}", "malformed JSON", "malformed JSON"),
    (["a", "list"], "not an object", "a JSON list"),
    ({"text": "Words."}, "missing field", "'id'"),
    ({"id": "x"}, "missing field", "'sections' or 'text'"),
    ({"id": "x", "sections": [{"heading": "h"}]}, "missing field", "'text'"),
    ({"id": 7, "text": "Words."}, "wrong type", "a int"),
    ({"id": "x", "sections": "Words."}, "wrong type", "list of objects in 'sections'"),
    ({"id": "x", "text": "Words.", "entity_ids": "C1"}, "wrong type", "list of strings in 'entity_ids'"),
    ({"id": "x", "text": "Words.", "metadata": {"n": 1}}, "wrong type", "'metadata'"),
    ({"id": "x", "text": "Words.", "sections": []}, "ambiguous record", "either 'sections' or 'text'"),
    ({"id": "", "text": "Words."}, "missing field", "an id"),
    ({"id": "a", "text": "Words."}, "duplicate id", "'a' again"),
    (
        {"id": "x", "sections": [{"id": "p", "text": "One."}, {"id": "p", "text": "Two."}]},
        "duplicate id",
        "a repeat in 'x'",
    ),
    (b'{"id": "x", "text": "Words.", "text": "Others."}', "repeated field", "two called 'text'"),
    (b'{"id": "x", "sections": [{"text": "One.", "heading": "h", "heading": "h"}]}', "repeated field", "'heading'"),
    ({"id": "x\0y", "text": "Words."}, "unusable id", r"'x\x00y'"),
    ({"id": "x", "sections": [{"id": "p\n", "text": "One."}]}, "unusable id", r"'p\n'"),
    ({"id": "x", "text": " \n -- \u200b"}, "empty document", "'x' without any"),
    ({"id": "x", "sections": []}, "empty document", "'x' without any"),
]


@pytest.mark.parametrize(
    ("line", "kind", "reason"), BAD_LINES, ids=[f"{k}-{i}" for i, (_, k, _) in enumerate(BAD_LINES)]
)
def test_bad_lines_are_named_or_skipped_and_counted(tmp_path: Path, line: object, kind: str, reason: str) -> None:
    path = write(tmp_path / "mine.jsonl", GOOD, line, PLAIN)
    with pytest.raises(RecordError, match="line 2") as caught:
        list(JsonlCorpus(path).documents())
    assert caught.value.kind == kind
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)

    corpus = JsonlCorpus(path, skip_bad=True)
    for _ in range(2):  # a second pass counts anew
        assert [d.doc_id for d in corpus.documents()] == ["a", "b"]
        assert dict(corpus.bad.counts) == {kind: 1}
    assert corpus.bad.lines() == [f"1 x {kind}, first: {corpus.bad.examples[kind][0]}"]
    assert "line 2" in corpus.bad.examples[kind][0]


def make_image(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")


def make_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("documents.jsonl", json.dumps(GOOD) * 200)


def make_utf16(path: Path) -> None:
    path.write_text(json.dumps(GOOD), encoding="utf-16")


def make_image_in_gzip(path: Path) -> None:
    make_image(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


@pytest.mark.parametrize("make", [make_image, make_utf16, make_image_in_gzip])
def test_a_binary_file_is_one_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "mine.jsonl"
    make(path)
    with pytest.raises(RecordError, match=r"binary content .*mine\.jsonl, line 1"):
        list(JsonlCorpus(path).documents())
    corpus = JsonlCorpus(path, write(tmp_path / "good.jsonl", GOOD), skip_bad=True)
    assert [d.doc_id for d in corpus.documents()] == ["a"]
    assert dict(corpus.bad.counts) == {"binary file": 1}


def make_zip_in_gzip(path: Path) -> None:
    make_zip(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def make_pdf(path: Path) -> None:
    path.write_bytes(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\nendobj\n")


def make_page(path: Path) -> None:
    path.write_text("\ufeff\n <!DOCTYPE html><p>Gout hurts.")


@pytest.mark.parametrize(
    ("make", "kind"),
    [(make_zip, "a zip archive"), (make_zip_in_gzip, "a zip archive"), (make_pdf, "a PDF"), (make_page, "HTML or XML")],
)
def test_files_of_another_kind_are_named_as_such(tmp_path: Path, make: Callable[[Path], None], kind: str) -> None:
    path = tmp_path / "x.pdf"
    make(path)
    with pytest.raises(RecordError, match=rf"JSON lines in UTF-8, got {kind}.* \(.*x\.pdf, line 1\); write its text"):
        list(JsonlCorpus(path).documents())
    corpus = JsonlCorpus(path, write(tmp_path / "good.jsonl", GOOD), skip_bad=True)
    assert [d.doc_id for d in corpus.documents()] == ["a"]
    assert dict(corpus.bad.counts) == {"file of another kind": 1}


@pytest.mark.parametrize("damage", ["truncated", "flipped", "header"])
def test_a_damaged_gzip_stream(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "mine.jsonl.gz"
    lines = b"".join(
        json.dumps({"id": str(n), "text": f"Number {n * 7919 % 10007} here."}).encode() + b"\n" for n in range(5000)
    )
    packed = bytearray(gzip.compress(lines))
    if damage == "truncated":
        del packed[len(packed) // 2 :]
    elif damage == "flipped":
        packed[len(packed) // 2 : len(packed) // 2 + 64] = bytes(64)
    else:
        packed[2:] = b"not a gzip stream"
    path.write_bytes(packed)
    with pytest.raises(RecordError, match=r"mine\.jsonl\.gz, line \d+"):
        list(JsonlCorpus(path).documents())
    corpus = JsonlCorpus(path, skip_bad=True)
    kept = [d.doc_id for d in corpus.documents()]
    assert kept[:10] == [str(n) for n in range(len(kept))][:10]
    assert len(kept) < 5000
    assert corpus.bad.counts["damaged file"] == 1


@pytest.mark.slow
def test_a_document_of_50_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paragraph = f"{'ACGT' * 250}\nThe dose was 2.5 mg p.o. b.i.d. for a week. It was then stopped.\n"
    text = paragraph * (50_000_000 // len(paragraph))
    path = write(tmp_path / "big.jsonl", {"id": "big", "text": text}, PLAIN)
    with pytest.raises(RecordError, match="at most 100,000 sentences"):
        next(JsonlCorpus(path).documents())
    monkeypatch.setenv("AUSCULT_LIMITS", "sentences=2000000")
    big, small = JsonlCorpus(path).documents()
    assert len(big.text) == len(text) >= 49_999_000
    assert len(big.sentences) == 3 * text.count(paragraph)
    assert big.slice(big.sentences[-1]) == "It was then stopped."
    assert small.doc_id == "b"


def test_reading_is_lazy(tmp_path: Path) -> None:
    stream = JsonlCorpus(write(tmp_path / "mine.jsonl", GOOD, b"broken")).documents()
    assert next(stream).doc_id == "a"
    with pytest.raises(RecordError):
        next(stream)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match="no such file"):
        list(JsonlCorpus(tmp_path / "none.jsonl", skip_bad=True).documents())
    with pytest.raises(CorpusMissingError, match="a folder"):
        list(JsonlCorpus(tmp_path).documents())
    with pytest.raises(CorpusMissingError, match="at least one file"):
        JsonlCorpus()


def test_an_empty_file_has_no_documents(tmp_path: Path) -> None:
    path = write(tmp_path / "empty.jsonl")
    assert list(JsonlCorpus(path).documents()) == []


def test_only_the_first_examples_are_kept(tmp_path: Path) -> None:
    report = BadRecords(keep=2)
    path = write(tmp_path / "mine.jsonl", *[b"x"] * 5)
    assert list(read_records(path, skip_bad=True, report=report)) == []
    assert report.total == 5
    assert len(report.examples["malformed JSON"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"id": "a", "text": "One."}]),
        json.dumps([{"id": "a", "text": "One."}], indent=2),
        json.dumps({"id": "a", "text": "One."}, indent=2),
        '{"id": "a",\n "text": "One."}\n',
    ],
)
def test_json_arrays_instead_of_lines_are_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "whole.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError, match=r"one JSON object a line, not an array .*line 1"):
        list(JsonlCorpus(path).documents())
