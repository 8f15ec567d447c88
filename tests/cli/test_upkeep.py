"""`auscult add`, `remove`, `info`, `verify`, `optimize` and `backup` as a user types them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auscult.documents import Document
from auscult.index import IndexUpdate
from auscult.readers.contract import DraftDocument
from auscult_readers.pdf import text_layer
from auscult_readers.source_words.comparison import LostWord, lost_words
from command import Command, hashed_model
from good_files import HTML
from small_pdfs import leaflet as pdf_leaflet


def leaflet(name: str, text: str = "makes people tired.", **more: object) -> dict[str, Any]:
    sections = [{"heading": "Symptoms", "text": f"{name} {text}"}]
    return {"id": name.lower(), "title": name, "source": "Ward 3", "sections": sections, **more}


def write(path: Path, *leaflets: dict[str, Any]) -> None:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in leaflets))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    hashed_model(tmp_path / "model")
    write(tmp_path / "leaflets.jsonl", leaflet("Flu"), leaflet("Measles"), leaflet("Mumps"))
    (tmp_path / "taxonomy.obo").write_text(
        'format-version: 1.2\n\n[Term]\nid: DOID:8622\nname: measles\nsynonym: "rubeola" EXACT []\n'
    )
    command = Command(monkeypatch, capfd)
    made = command("index", "leaflets.jsonl", "-m", "model", "-o", "index", "--knowledge", "taxonomy.obo")
    assert made.code == 0, made.err
    return command


_OF_PDF = text_layer.lost_words


def pdf_without_the_last_passage(
    text: str, passages: list[tuple[int, int]], *rest: Any
) -> tuple[int, list[text_layer.LostWord]]:
    return _OF_PDF(text, passages[:-1], *rest)


def without_the_last_passages(
    documents: Sequence[Document], parts: Sequence[DraftDocument], told: Sequence[str]
) -> tuple[int, list[LostWord]]:
    return lost_words([replace(each, passages=each.passages[:-1]) for each in documents], parts, told)


def found_ids(command: Command, *arguments: str) -> list[str]:
    done = command("search", "index", *arguments, "--json")
    assert done.code == 0, done.err
    return [json.loads(line)["doc_id"] for line in done.out.splitlines()]


def test_add_says_what_is_new_changed_and_gone(command: Command, tmp_path: Path) -> None:
    zoster = leaflet("Zoster", entity_ids=["UMLS:C0019360"])
    write(tmp_path / "leaflets.jsonl", leaflet("Flu"), leaflet("Measles", "brings spots."), zoster)
    done = command("add", "index", "leaflets.jsonl")
    assert done.code == 0, done.err
    assert done.out.startswith(
        "new: 1, changed: 1, unchanged: 1, gone: 1 (still in the index; --prune removes them: mumps); "
        "4 documents, 4 passages, 4 sentences in "
    )
    assert "brings spots" in command("search", "index", "-e", "rubeola", "-a", "symptoms", "-k", "1").out
    assert found_ids(command, "-e", "UMLS:C0019360", "-a", "symptoms")[0] == "zoster", "what a new document is about"
    assert "mumps" in found_ids(command, "-e", "Mumps")
    done = command("add", "index", "leaflets.jsonl", "--prune")
    assert done.out.startswith("new: 0, changed: 0, unchanged: 3, gone: 1 (removed: mumps); 3 documents")
    assert "mumps" not in found_ids(command, "-e", "Mumps")
    generation = command("info", "index").out
    done = command("add", "index", "leaflets.jsonl", "--prune")
    assert done.out.startswith("new: 0, changed: 0, unchanged: 3, gone: 0; 3 documents")
    assert command("info", "index").out == generation, "nothing to write"


def test_what_cannot_be_added_changes_nothing(command: Command, tmp_path: Path) -> None:
    write(tmp_path / "twice.jsonl", leaflet("Zoster"), leaflet("Rabies"))
    done = command("add", "index", "twice.jsonl", "twice.jsonl")
    assert done.code == 0, "one place named twice is one place"
    write(tmp_path / "again.jsonl", leaflet("Zoster", "hurts."))
    done = command("add", "index", "twice.jsonl", "again.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "every document id once, got 'zoster' a second time" in done.err
    assert "hurts" not in command("search", "index", "-e", "Zoster").out
    hashed_model(tmp_path / "other", seed=1)
    done = command("add", "index", "again.jsonl", "--model", "other")
    assert done.code == 2
    assert "build the index again with this one" in done.err
    done = command("add", "nowhere", "again.jsonl")
    assert done.code == 2
    assert "nothing there" in done.err
    assert not (tmp_path / "nowhere").exists()


def test_remove_takes_all_or_none(command: Command) -> None:
    done = command("remove", "index", "flu", "nobody")
    assert done.code == 2
    assert "'nobody'" in done.err
    done = command("remove", "index", "flu", "mumps")
    assert done.out == "removed: 2; 1 documents, 1 passages, 1 sentences: index\n"
    assert set(found_ids(command, "-e", "Flu")) == {"measles"}


def test_second_writer_is_told_the_lock_holder(command: Command) -> None:
    with IndexUpdate("index"):
        done = command("remove", "index", "flu")
    assert done.code == 2
    assert "locked by pid" in done.err


def test_info_counts_by_field(command: Command, tmp_path: Path) -> None:
    write(tmp_path / "more.jsonl", leaflet("Rabies", source="Ward 4", metadata={"audience": "staff"}))
    assert command("add", "index", "more.jsonl").code == 0
    command("remove", "index", "flu")
    told = command("info", "index").out
    assert "holds: 3 documents" in told
    assert "segments: 1, 1 removed (auscult optimize frees them)" in told
    assert "source: Ward 3 2, Ward 4 1" in told
    assert command("info", "index", "--field", "source").out == "Ward 3\t2\nWard 4\t1\n"
    assert command("info", "index", "--field", "audience").out == "staff\t1\n"
    done = command("info", "index", "--field", "ward")
    assert done.code == 2
    assert "'ward'" in done.err


def test_verify_names_what_is_damaged_and_repairs_it(command: Command, tmp_path: Path) -> None:
    assert command("verify", "index").out.startswith("whole: 3 documents")
    (segment,) = (tmp_path / "index").rglob("segment*")
    content = segment.read_bytes()
    segment.write_bytes(content[:50] + bytes([content[50] ^ 4]) + content[51:])
    done = command("search", "index", "-e", "Mumps")
    assert (done.code, done.out) == (2, "")
    assert "segment-000001" in done.err
    assert "auscult verify INDEX --repair" in done.err
    assert command("verify", "index").code == 2
    done = command("verify", "index", "--repair")
    assert done.out.startswith("derived again: segment-000001\nwhole: 3 documents")
    assert found_ids(command, "-e", "Mumps")[0] == "mumps"


def test_optimize_frees_and_backup_is_an_index(command: Command, tmp_path: Path) -> None:
    assert command("backup", "index", "copy").out == "3 documents, 3 passages, 3 sentences: copy\n"
    command("remove", "index", "flu")
    assert command("optimize", "index").out == "2 documents, 2 passages, 2 sentences in 1 segment: index\n"
    assert "removed" not in command("info", "index").out
    assert not [path for path in (tmp_path / "index").rglob("*") if path.is_file() and b"Flu" in path.read_bytes()]
    assert command("verify", "copy").out.startswith("whole: 3 documents")
    assert command("search", "copy", "-e", "Flu").code == 0
    command("backup", "index", "copy")
    assert command("verify", "copy").out.startswith("whole: 2 documents")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("")
    done = command("backup", "index", "mine")
    assert done.code == 2
    assert "notes.txt" in done.err


def test_missing_source_words_are_reported_with_a_reason(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "gout.pdf").write_bytes(pdf_leaflet(3).content())
    (tmp_path / "files" / "page.html").write_text(HTML)
    assert command("add", "index", "files").code == 0
    done = command("verify", "index", "--sources")
    assert done.code == 0, done.out + done.err
    assert "  page 2, header, footer or number: " in done.out
    assert "  page, navigation, forms and other parts around the text: " in done.out
    assert "files compared: 2, as shown: " in done.out
    with monkeypatch.context() as broken:
        broken.setattr("auscult_readers.pdf.text_layer.lost_words", pdf_without_the_last_passage)
        done = command("verify", "index", "--sources")
    assert done.code == 1
    assert "  FAULT: page 3, no reason known: " in done.out
    monkeypatch.setattr("auscult_readers.source_words.checking.lost_words", without_the_last_passages)
    done = command("verify", "index", "--sources")
    assert done.code == 1
    assert "  FAULT: page, no reason known: " in done.out


def test_files_whose_rows_are_kept_are_compared_whole(command: Command, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    table = tmp_path / "rows" / "doses.csv"
    table.write_text("id,title,text,unit\n1,Gout,Take colchicine in the evening.,mg\n")
    assert command("add", "index", "rows").code == 0
    assert "FAULT" not in command("verify", "index", "--sources").out
    table.write_text("id,title,text,unit\n1,Gout,Take colchicine in the evening.,ml\n")
    done = command("verify", "index", "--sources")
    assert done.code == 1
    assert "  FAULT: cells, no reason known: ml\n" in done.out
    # The index keeps only the row of a file that is gone.
    table.unlink()
    assert "FAULT" not in command("verify", "index", "--sources").out


def test_columns_left_out_by_mappings_are_no_faults(command: Command, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("number,words,ward\n1,Take colchicine in the evening.,seven\n")
    assert command("add", "index", "own.csv", "--read", "map=id=number,text=words").code == 0
    done = command("verify", "index", "--sources")
    assert (done.code, "FAULT" in done.out) == (0, False), done.out
