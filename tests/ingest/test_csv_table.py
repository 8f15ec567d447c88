"""Tables of notes, as systems export them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Corpus
from auscult.ingest.rows import CsvCorpus
from auscult_lab.corpora.opening import collections_of, open_corpus

ROWS = (
    'ID{0}Patient{0}Ward{0}Text\n1{0}p7{0}B2{0}"PMH: asthma\nPLAN: rest, and {0} water"\n'
    '2{0}p7{0}{0}"No ""findings""."\n'
)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_row_is_a_note(tmp_path: Path, separator: str, packed: bool) -> None:
    path = tmp_path / ("notes.csv.gz" if packed else "notes.csv")
    content = b"\xef\xbb\xbf" + ROWS.format(separator).replace("\n", "\r\n").encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    corpus: Corpus = open_corpus(str(path))
    assert isinstance(corpus, CsvCorpus)
    first, second = corpus.documents()
    check_document(first)
    assert (first.doc_id, first.metadata) == ("1", {"patient": "p7", "ward": "B2"})
    assert [first.slice(passage).strip() for passage in first.passages] == ["asthma", f"rest, and {separator} water"]
    assert (second.metadata, second.text) == ({"patient": "p7"}, 'No "findings".')
    assert corpus.name == "notes"
    assert collections_of(str(path)) == {"notes"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"number,text\n1,words\n", r"columns id, text in .*notes\.csv, got no id; name the columns"),
        (b"", "an empty file"),
        (b"id,text\n1,one,two\n", r"expected 2 columns, got 3 \(.*notes\.csv, line 2\)"),
        (
            "id,text\n2,caf\u00e9\n".encode() + b"1,caf\xe9\n",
            r"byte 0xe9 at position 5 \(.*notes\.csv, line 3\); save the file as UTF-8",
        ),
        # In another line than where the row began, and than where a block of the file does.
        (
            b"id,text\n" + b'1,"' + "w\u00f6rds\n".encode() * 9000 + b'caf\xe9\n"',
            r"byte 0xe9 at position 3 \(.*line 9002\)",
        ),
        (b"id,text\r1,words\r2\r", r"expected 2 columns, got 1 \(.*notes\.csv, line 3\)"),
        (b"id,text\n1,one\n1,again\n", r"an id of its own for each document, got '1' again \(.*line 3\)"),
        (b"id,text\n1,\n", "a document with words"),
        (b"id,text,text\n1,a,b\n", r"a name of its own for each column, got one name for columns 2 and 3 of .*notes"),
        (b"id,text,Unit, unit\n1,a,mg,ml\n", "one name for columns 3 and 4"),
    ],
)
def test_a_bad_table_is_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(open_corpus(str(path)).documents())


def test_bad_rows_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id,text\n1,one\n2,two,three\n3,three\n")
    with pytest.raises(RecordError):
        list(CsvCorpus(path).documents())
    corpus = CsvCorpus(path, skip_bad=True)
    assert [note.doc_id for note in corpus.documents()] == ["1", "3"]
    assert corpus.bad.counts == {"malformed row": 1}


def test_a_text_file_is_a_one_document_corpus(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Some words.")
    (note,) = open_corpus(str(tmp_path / "note.txt")).documents()
    assert (note.doc_id, note.text) == ("note.txt", "Some words.")
    with pytest.raises(CorpusMissingError, match="no such file or folder"):
        open_corpus("./nowhere")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_tables_of_windows_are_read(tmp_path: Path, encoding: str, packed: bool) -> None:
    path = tmp_path / f"notes.csv{'.gz' * packed}"
    content = "id;text\r\n1;\u201eHusten\u201c f\u00fcr 3 \u20ac\r\n2;\u00dcbelkeit\r\n".encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    texts = [document.text for document in open_corpus(str(path)).documents()]
    assert texts == ["\u201eHusten\u201c f\u00fcr 3 \u20ac", "\u00dcbelkeit"]


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r"])
def test_tables_in_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes("id;text\r\n1;Аллергии нет.\r\n2;Варфарин отменить.\r\n".encode(encoding))
    texts = [document.text for document in open_corpus(str(path)).documents()]
    assert texts == ["Аллергии нет.", "Варфарин отменить."]
