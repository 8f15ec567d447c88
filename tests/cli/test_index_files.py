"""`auscult index` and `add` on files, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest

from auscult.index import PassageIndex
from command import Command, hashed_model

NOTE = "Patient: Anna Weber\nMRN: 0034512-7\n\nPLAN:\nDr. Hagen calls (030) 1234567 on 3 May 2024. Rest the joint.\n"
# Not "2024" alone: four digits stand in some digest by chance.
SECRETS = ("Anna", "Weber", "Hagen", "0034512", "1234567", "3 May", "May 2024", ",2024")
INDEX = ("-m", "model", "-o", "index", "--no-knowledge")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    hashed_model(tmp_path / "model")
    ward = tmp_path / "ward"
    (ward / "sub").mkdir(parents=True)
    (ward / "gout.html").write_text("<!doctype html><title>Gout</title><h1>Gout</h1><h2>Care</h2><p>Rest it.</p>")
    (ward / "sub" / "note.txt").write_text("PLAN:\nDrink water.\n")
    (ward / "empty.txt").write_text("")
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("in.md", "# Flu\n\nStay in bed.\n")
    (tmp_path / "rows.csv").write_text("Nr,Name,Body\n1,Mumps,Keep warm.\n")
    (tmp_path / "lines.jsonl").write_text('{"id": "l1", "title": "Cold", "text": "Blow your nose."}\n')
    return Command(monkeypatch, capfd)


def ids(folder: Path) -> list[str]:
    reader = PassageIndex.open(folder).reader
    return [reader.document_record(row).doc_id for row in reader.documents.tolist()]


def test_each_of_three_headings_without_text_is_found(command: Command, tmp_path: Path) -> None:
    headings = ["Do NOT give with fluconazole", "INR above 8: give vitamin K 5 mg", "NO KNOWN DRUG ALLERGIES"]
    (tmp_path / "warfarin.md").write_text("\n\n".join(("# Warfarin", *(f"## {each}" for each in headings))))
    assert command("index", "warfarin.md", *INDEX).code == 0
    for question, heading in zip(("fluconazole", "vitamin K", "drug allergies"), headings, strict=True):
        assert json.loads(command("search", "index", question, "--json", "-k", "1").out)["heading"] == heading


def test_files_are_found_by_name_unless_de_identified(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ward" / "sub" / "AnnaWeber_letter.txt").write_text("She was well.\n")
    for how, sees in ((), True), (("--read", "deidentify=own_deidentifier:Numbers"), False):
        assert command("index", "ward", *INDEX, "--replace", *how).code == 0
        words = PassageIndex.open(tmp_path / "index").reader.words
        assert [words.holds(term) for term in ("weber", "annaweb", "letter")] == [sees] * 3
        if sees:
            hit = json.loads(command("search", "index", "AnnaWeber_letter.txt", "--json", "-k", "1").out)
            assert hit["metadata"]["file"].endswith("AnnaWeber_letter.txt")


def test_any_mixture_of_paths_is_one_index(command: Command, tmp_path: Path) -> None:
    done = command("index", "ward", "more.zip", "lines.jsonl", "*.csv", *INDEX, "--read", "map=title=Name,text=Body",
                   "--report", "report.json")  # fmt: skip
    assert done.code == 0
    assert done.out.startswith("5 documents, 5 passages, ")
    assert "files: 5; documents read: 4 (HTML 1, Markdown 1, table 1, text 1); not read: 1\n" in done.err
    assert "not read: empty.txt: empty file (expected a file with words, got an empty one;" in done.err
    assert ids(tmp_path / "index") == ["l1", "gout.html", "sub/note.txt", "more.zip/in.md", "rows.csv#2"]
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["files"], report["documents"], report["formats"]["HTML"]) == (5, 4, 1)
    assert [each["file"] for each in report["not_read"]] == ["empty.txt"]
    hit = json.loads(command("search", "index", "rest it", "--json", "-k", "1").out)
    assert (hit["doc_id"], hit["heading"], hit["metadata"]["file"]) == ("gout.html", "Care", "gout.html")
    index = PassageIndex.open(tmp_path / "index")
    original = index.reader.original(index.reader.document_rows["gout.html"])
    assert original is not None
    assert original.content == (tmp_path / "ward" / "gout.html").read_bytes()
    index.verify()


def test_mapping_applies_to_single_tables_and_json_lines(command: Command, tmp_path: Path) -> None:
    assert command("index", "rows.csv", *INDEX, "--read", "map=id=nr,title=name,text=body").code == 0
    assert ids(tmp_path / "index") == ["1"]
    (tmp_path / "own.jsonl").write_text('{"no": 7, "note": {"body": "Rest."}}\n')
    assert command("index", "own.jsonl", *INDEX, "--replace", "--read", "map=text=note.body,id=no").code == 0
    assert ids(tmp_path / "index") == ["7"]
    done = command("index", "rows.csv", *INDEX, "--replace", "--read", "map=text=Text")
    assert done.code == 2
    assert "a column Text, got 3 others" in done.err


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_rows_of_tables_added_one_by_one_stay(command: Command, tmp_path: Path, ending: str) -> None:
    def write(name: str, *texts: str) -> str:
        path = tmp_path / f"{name}{ending}"
        path.parent.mkdir(exist_ok=True)
        rows = [json.dumps({"Body": each}) for each in texts] if ending == ".jsonl" else ["Body", *texts]
        path.write_text("\n".join(rows) + "\n")
        return str(path)

    def standing(*texts: str) -> str:
        return command("add", "index", write(*texts)).out.partition(", gone")[0]

    assert command("index", write("c", "Rest.", "Drink tea."), *INDEX, "--read", "map=text=Body").code == 0
    assert standing("d", "Sleep.", "Eat.") == "new: 2, changed: 0, unchanged: 0"
    # A table of the same name in another folder keeps its own rows.
    assert standing("e/c", "Walk.", "Swim.") == "new: 2, changed: 0, unchanged: 0"
    assert standing("e/c", "Walk.", "Run.") == "new: 0, changed: 1, unchanged: 1"
    assert standing("c", "Rest.", "Drink.") == "new: 0, changed: 1, unchanged: 1"
    reader = PassageIndex.open(tmp_path / "index").reader
    texts = sorted(reader.document(row).text for row in reader.documents.tolist())
    assert texts == ["Drink.", "Eat.", "Rest.", "Run.", "Sleep.", "Walk."]


def test_tables_of_one_name_are_read_together(command: Command, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c.csv").write_text(f"Body\nRest {folder}.\n")
    assert command("index", "one/c.csv", "two/c.csv", *INDEX, "--read", "map=text=Body").code == 0
    assert ids(tmp_path / "index") == ["c.csv#2", "two/c.csv#2"]


def test_an_index_with_bare_row_numbers_keeps_them(command: Command, tmp_path: Path) -> None:
    # Version 0.1 gave rows such ids.
    (tmp_path / "old.csv").write_text("id,text\n2,Rest.\n3,Walk.\n")
    assert command("index", "old.csv", *INDEX).code == 0
    (tmp_path / "old.csv").write_text("Body\nRest.\nSwim.\n")
    (tmp_path / "c.csv").write_text("Body\nRest.\nWalk.\n")
    how = ("--read", "map=text=Body")
    assert command("add", "index", "old.csv", *how).out.startswith("new: 0, changed: 1, unchanged: 1, gone: 0")
    assert command("add", "index", "c.csv", *how).out.startswith("new: 2, changed: 0")
    assert ids(tmp_path / "index") == ["2", "3", "c.csv#2", "c.csv#3"]


def test_a_column_of_ids_names_the_rows(command: Command, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("Nr,Body\n7,Rest.\n,Walk.\n")
    assert command("index", "c.csv", *INDEX, "--read", "map=text=Body,id=Nr").code == 0
    assert ids(tmp_path / "index") == ["7", "c.csv#3"]
    assert command("add", "index", "c.csv").out.startswith("new: 0, changed: 0, unchanged: 2, gone: 0")


def test_adding_reads_changes_and_reports_missing_files(command: Command, tmp_path: Path) -> None:
    command("index", "ward", *INDEX)
    done = command("add", "index", "ward")
    assert done.out.startswith("new: 0, changed: 0, unchanged: 2, gone: 0; 2 documents")
    assert "files: 3; unchanged: 2; documents read: 0; not read: 1\nnot read: empty.txt" in done.err
    generation = PassageIndex.open(tmp_path / "index").manifest.generation
    (tmp_path / "ward" / "sub" / "note.txt").write_text("PLAN:\nDrink tea.\n")
    (tmp_path / "ward" / "copy.html").write_bytes((tmp_path / "ward" / "gout.html").read_bytes())
    (tmp_path / "ward" / "new.md").write_text("# Cold\n\nBlow it.\n")
    done = command("add", "index", "ward")
    assert done.out.startswith("new: 2, changed: 1, unchanged: 0, gone: 0; 3 documents")
    assert "same text as another: 1" in done.err
    assert set(ids(tmp_path / "index")) == {"copy.html", "sub/note.txt", "new.md"}
    (tmp_path / "ward" / "new.md").unlink()
    assert "gone: 1 (still in the index; --prune removes them: new.md)" in command("add", "index", "ward").out
    assert "gone: 1 (removed: new.md)" in command("add", "index", "ward", "--prune").out
    index = PassageIndex.open(tmp_path / "index")
    assert index.manifest.generation == generation + 2, "nothing new is no new generation"
    index.verify()


def test_the_index_is_not_read_into_itself(command: Command, tmp_path: Path) -> None:
    assert command("index", "ward", "-m", "model", "-o", "ward/index", "--no-knowledge").code == 0
    assert command("add", "ward/index", "ward").out.startswith("new: 0, changed: 0, unchanged: 2")


def test_an_index_keeps_what_columns_mean(command: Command, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    (tables / "labs").mkdir(parents=True)
    (tables / "notes.csv").write_text("Body,Result\nFever.,a\n")
    (tables / "labs" / "june.csv").write_text("Body,Result\nb,Urate is high.\n")
    how = ("--read", "map=text=Body", "--read", "map:labs/*.csv=text=Result")
    assert command("index", "tables", *INDEX, *how).code == 0
    (tables / "labs" / "july.csv").write_text("Body,Result\nc,Urate is low.\n")
    done = command("add", "index", "tables")
    assert done.code == 0
    assert "new: 1, changed: 0, unchanged: 2" in done.out
    (tables / "notes.csv").write_text("Plan,Body\nRest.,d\n")
    assert command("add", "index", "tables", "--read", "map=text=Plan").code == 0
    reader = PassageIndex.open(tmp_path / "index").reader
    texts = sorted(reader.document(row).text for row in reader.documents.tolist())
    assert texts == ["Rest.", "Urate is high.", "Urate is low."]


@pytest.mark.parametrize("named", ["ward", "ward/Weber Anna.txt", "more.jsonl"])
def test_de_identified_words_are_nowhere_in_the_index(command: Command, tmp_path: Path, named: str) -> None:
    (tmp_path / "ward" / "Weber Anna.txt").write_text(NOTE)
    record = {"id": "0034512-7", "title": "Letter on Mrs. Weber", "text": NOTE, "metadata": {"patient": "Anna Weber"}}
    (tmp_path / "more.jsonl").write_text(json.dumps(record) + "\n")
    how = ("--read", "deidentify=presidio")
    assert command("index", named, *INDEX, *how).code == 0
    assert command("add", "index", named, *how).out.startswith("new: 0, changed: 0")
    command("search", "index", "rest the joint")
    for path in (tmp_path / "index").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for encoding in ("utf-8", "utf-16-le"):
                assert not [secret for secret in SECRETS if secret.encode(encoding) in content], path
    reader = PassageIndex.open(tmp_path / "index").reader
    texts = [reader.document(row).text for row in reader.documents.tolist()]
    assert any("Dr. <NAME> calls <CONTACT> on <DATE>. Rest the joint." in text for text in texts)
    assert {reader.original(row) for row in reader.documents.tolist()} == {None}


def test_bad_file_messages_are_nowhere_in_the_index(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ward" / "headless.csv").write_text("text,id\nAnna Weber,0034512-7,Dr. Hagen\n")
    done = command("index", "ward", *INDEX, "--read", "deidentify=own_deidentifier:Numbers")
    assert done.code == 0
    assert "not read: headless.csv: broken table" in done.err
    held = b"".join(path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file())
    assert not [secret for secret in (*SECRETS, "headless") if secret.encode() in held]


def test_own_deidentifier_removes_what_it_finds(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ward" / "sub" / "note.txt").write_text("PLAN:\nGive 1961 pills.\n")
    assert command("index", "ward", *INDEX, "--read", "deidentify=own_deidentifier:Numbers").code == 0
    assert b"1961" not in b"".join(path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ward/empty.txt"], "expected a file with words, got empty file: an empty one (empty.txt)"),
        (["none/*.txt"], "files that the pattern names"),
        (["ward", "nowhere"], "nowhere"),
        (["ward", "--read", "shape=round"], "--read with map=, deidentify=, originals=, access="),
        (["ward", "--read", "originals=maybe"], "--read originals=yes or originals=no, got 'maybe'"),
        (["ward", "--read", "map=title=Name"], "say which column holds it: text="),
        (["ward", "--read", "deidentify=nobody"], "a de-identifier: presidio"),
        (["ward", "--report", "ward"], "a file to write, got ward"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing(
    command: Command, tmp_path: Path, arguments: list[str], message: str
) -> None:
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    done = command("index", *arguments, *INDEX)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before


def test_folder_of_unreadable_files_fails_naming_them(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "empty.txt").write_text("")
    done = command("index", "bad", *INDEX)
    assert done.code == 2
    assert "not read: empty.txt" in done.err
    assert "at least one document" in done.err


def wait_for(log: Path, sentence: str, process: subprocess.Popen[bytes]) -> None:
    begun = time.monotonic()
    while sentence not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() - begun < 60, log.read_text()
        time.sleep(0.1)


@pytest.mark.slow
def test_watching_follows_a_folder_until_interrupted(command: Command, tmp_path: Path) -> None:
    assert command("index", "ward", "-o", "index", "--no-knowledge").code == 0
    log = tmp_path / "log"
    with log.open("wb") as file:
        arguments = [sys.executable, "-m", "auscult.cli.main", "add", "index", "ward", "--watch"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        # What a script starts in the background does not hear Ctrl-C, nor do its children: then this one should.
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        process = subprocess.Popen(arguments, cwd=tmp_path, stdout=file, stderr=file, env=environment, preexec_fn=heard)
    try:
        wait_for(log, "watching; Ctrl-C ends it", process)
        (tmp_path / "ward" / "new.txt").write_text("PLAN:\nA new note.\n")
        wait_for(log, "new: 1, changed: 0, unchanged: 2, gone: 0; 3 documents", process)
        (tmp_path / "ward" / "gout.html").unlink()
        wait_for(log, "new: 0, changed: 0, unchanged: 2, gone: 1 (removed: gout.html); 2 documents", process)
        (tmp_path / "ward" / "bad.pdf").write_bytes(b"%PDF-1.7 and no more")
        wait_for(log, "not read: bad.pdf: broken PDF", process)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert set(ids(tmp_path / "index")) == {"sub/note.txt", "new.txt"}
