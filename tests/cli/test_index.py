"""`auscult index` as a user types it."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from auscult.index import PassageIndex
from command import Command, hashed_model

LEAFLETS = [
    {
        "id": f"leaflet-{name}",
        "title": name,
        "source": "Ward 3",
        "entity_ids": [f"UMLS:C000000{n}"],
        "split": "train" if n else "test",
        "sections": [
            {"heading": "Symptoms", "text": f"{name} makes people tired. Some have a fever."},
            {"heading": "Treatment", "text": f"{name} is treated at home."},
        ],
    }
    for n, name in enumerate(["Flu", "Measles", "Mumps"])
]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    hashed_model(tmp_path / "model")
    lines = [json.dumps(leaflet) for leaflet in LEAFLETS]
    (tmp_path / "leaflets.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "bad.jsonl").write_text("\n".join([lines[0], "{not json", lines[1]]) + "\n")
    (tmp_path / "taxonomy.obo").write_text(
        'format-version: 1.2\n\n[Term]\nid: DOID:8622\nname: measles\nsynonym: "rubeola" EXACT []\n'
    )
    return Command(monkeypatch, capfd)


def test_a_file_is_indexed_and_the_summary_counts(command: Command, tmp_path: Path) -> None:
    done = command("index", "leaflets.jsonl", "--model", "model", "--out", "index")
    assert done.code == 0
    counted, speed = done.out.strip().split(" in ")
    assert counted == "3 documents, 6 passages, 9 sentences"
    assert re.fullmatch(r"[\d.]+ s \([\d,]+ sentences/s\), peak memory [\d,]+ MB: index", speed)
    manifest = PassageIndex.open(tmp_path / "index").manifest
    assert manifest.counts.documents == 3
    assert manifest.corpus == "leaflets"
    assert manifest.model.path == str(tmp_path / "model"), "found again from any folder"
    assert PassageIndex.open(tmp_path / "index").reader.known() is None


def test_index_answers_by_synonym_and_document_identifier(command: Command, tmp_path: Path) -> None:
    command("index", "leaflets.jsonl", "-m", "model", "-o", "index", "--knowledge", "taxonomy.obo")
    for entity, title in [("rubeola", "measles"), ("UMLS:C0000002", "Mumps")]:
        done = command("search", "index", "-e", entity, "-a", "symptoms", "--json", "-k", "1")
        assert done.code == 0
        assert f"understood as: {title} (" in done.err
    assert json.loads(done.out)["doc_id"] == "leaflet-Mumps"


def test_without_a_knowledge_base_titles_and_grammar_read(command: Command) -> None:
    assert command("index", "leaflets.jsonl", "-m", "model", "-o", "index", "--no-knowledge").code == 0
    done = command("search", "index", "-e", "UMLS:C0000002")
    assert done.code == 2
    assert "an identifier of the knowledge base" in done.err
    done = command("search", "index", "How is flu treated?", "--json", "-k", "1")
    assert (done.code, json.loads(done.out)["title"].lower()) == (0, "flu")


def test_knowledge_is_repeatable_and_may_be_a_folder(command: Command, tmp_path: Path) -> None:
    more = 'format-version: 1.2\n\n[Term]\nid: DOID:10264\nname: mumps\nsynonym: "parotitis" EXACT []\n'
    (tmp_path / "more.obo").write_text(more)
    for given in (["--knowledge", "taxonomy.obo", "--knowledge", "more.obo"], ["--knowledge", "."]):
        assert command("index", "leaflets.jsonl", "-m", "model", "-o", "index", "--replace", *given).code == 0
        for entity, name in (("rubeola", "measles"), ("parotitis", "mumps")):
            assert name in command("search", "index", "-e", entity, "-k", "1").err.lower()


def test_index_is_replaced_only_on_request(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = ("index", "leaflets.jsonl", "-m", "model", "-o", "index", "--split", "train")
    assert command(*again[:-2]).code == 0
    before = PassageIndex.open(tmp_path / "index").manifest.identity
    done = command(*again)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "no index at index yet, got an index of 3 documents" in done.err
    assert "auscult add index PATH" in done.err
    for answer, replaced in (("n", False), ("y", True)):
        monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
        done = command(*again)
        assert "index holds an index of 3 documents. Replace it?" in done.err
        assert (done.code, PassageIndex.open(tmp_path / "index").manifest.identity != before) == (
            2 - 2 * replaced,
            replaced,
        )
    assert command(*again, "--replace").code == 0
    for path in (tmp_path / "index").glob("store*/*"):
        path.unlink()
    monkeypatch.setattr("sys.stdin", Terminal(""))
    assert "an index that cannot be opened" in command(*again).err
    assert command(*again, "--replace").code == 0


class Terminal(io.StringIO):
    """Standard input as a person has it."""

    def isatty(self) -> bool:
        return True


def test_one_split_only(command: Command, tmp_path: Path) -> None:
    assert command("index", "leaflets.jsonl", "-m", "model", "-o", "index", "--split", "train").code == 0
    assert PassageIndex.open(tmp_path / "index").manifest.counts.documents == 2


def test_bad_records_stop_the_build_or_are_counted(command: Command, tmp_path: Path) -> None:
    assert command("index", "leaflets.jsonl", "-m", "model", "-o", "index").code == 0
    done = command("index", "bad.jsonl", "-m", "model", "-o", "index", "--replace")
    assert done.code == 2
    assert "bad.jsonl" in done.err
    assert PassageIndex.open(tmp_path / "index").manifest.counts.documents == 3, "the old index is still there"
    done = command("index", "bad.jsonl", "-m", "model", "-o", "index", "--replace", "--skip-bad")
    assert done.code == 0
    assert "skipped: 1 x" in done.err
    assert PassageIndex.open(tmp_path / "index").manifest.counts.documents == 2


def test_section_ids_shared_by_documents_are_bad_records(command: Command, tmp_path: Path) -> None:
    lines = [{"id": name, "sections": [{"text": "Some words.", "id": "intro"}]} for name in ("a", "b")]
    (tmp_path / "shared.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = command("index", "shared.jsonl", "-m", "model", "-o", "index")
    assert (done.code, "shared.jsonl, line 2" in done.err) == (2, True)
    assert command("index", "shared.jsonl", "-m", "model", "-o", "index", "--skip-bad").code == 0
    assert PassageIndex.open(tmp_path / "index").manifest.counts.documents == 1


def test_folder_named_like_the_shipped_model_is_ignored(command: Command, tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    assert command("index", "leaflets.jsonl", "-o", "index").code == 0
    assert PassageIndex.open(tmp_path / "index").manifest.model.path == "fast"


@pytest.mark.parametrize("name", ["n" * 300, "a/" + "n" * 300])
def test_overlong_name_is_refused_in_one_sentence(command: Command, name: str) -> None:
    done = command("index", name, "-m", "model", "-o", "index")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    done = command("search", name, "-e", "gout")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_an_error_cannot_steer_the_terminal(command: Command) -> None:
    done = command("index", "odd\x1b[31m.jsonl", "-m", "model", "-o", "index")
    assert done.code == 2
    assert "odd [31m.jsonl" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["leaflets.jsonl", "-m", "nowhere", "-o", "index"], "nowhere"),
        (["nowhere.jsonl", "-m", "model", "-o", "index"], "nowhere.jsonl"),
        (["leaflets.jsonl", "-m", "model", "-o", "model"], "a folder with other files ('model.json')"),
        (["leaflets.jsonl", "-m", "model", "-o", "taxonomy.obo"], "a file at taxonomy.obo"),
        (["leaflets.jsonl", "-m", "model", "-o", "index", "--split", "test2"], "at least one document"),
        (["leaflets.jsonl", "-m", "model", "-o", "index", "--knowledge", "nowhere.obo"], "nowhere.obo"),
        (["leaflets.jsonl", "-m", "model", "-o", "index", "--batch-size", "0"], "batch size"),
        (
            ["leaflets.jsonl", "-m", "model", "-o", "index", "--knowledge", "taxonomy.obo", "--no-knowledge"],
            "leave one out",
        ),
    ],
)
def test_mistakes_exit_2_with_one_sentence_leaving_nothing(
    command: Command, tmp_path: Path, arguments: list[str], message: str
) -> None:
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    done = command("index", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_command_stopped_while_loading_says_so(number: signal.Signals) -> None:
    program = (
        "import os, signal, auscult.cli.application as application, auscult.cli.main as main\n"
        # A shell's background processes, as this run of tests may be one, begin with it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"application.import_module = lambda name: os.kill(os.getpid(), {int(number)})\n"
        "main.main(['info', 'index'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + number
    assert done.stderr.startswith("auscult: stopped before the end")
    assert "Traceback" not in done.stderr
