"""`auscult data`, as typed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from auscult.catalogue import catalogue
from auscult.errors import AuscultError, ConfigError, CorpusMissingError, DataError
from auscult_lab.cli.data import app
from auscult_lab.corpora.medquad_build import rebuild
from needs import Needs
from places import DATA as OWN_DATA

TINY = OWN_DATA / "medquad_tiny"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(*arguments: str, error: type[AuscultError] | None = None) -> Result:
    result = CliRunner().invoke(app, arguments)
    if error is None:
        assert result.exception is None, result.output
    else:
        assert isinstance(result.exception, error)
        assert result.exit_code != 0
    return result


def test_json_list_has_every_entry_and_its_state(root: Path) -> None:
    rebuild(TINY / "MedQuAD", TINY / "cdv", root / "medquad")
    (root / "kg").mkdir()
    (root / "kg" / "entities.tsv.gz").write_bytes(b"")
    (root / "mimic-iii").mkdir()
    rows = {row["name"]: row for row in map(json.loads, run("list", "--json").stdout.splitlines())}
    assert list(rows) == list(catalogue())
    assert rows["medquad"]["state"] == "present"
    assert rows["knowledge-base"]["state"] == "incomplete"
    assert rows["enwiki"]["state"] == "missing"
    assert rows["mimic-iii"]["state"] == "present"
    assert rows["umls"]["state"] == "restricted"
    assert rows["mtsamples"]["licence_class"] == "check"
    assert rows["enwiki"]["bytes"] == 4_708_967


def test_list_as_a_table(root: Path) -> None:
    output = run("list").stdout
    for found in catalogue().values():
        assert found.name in output
    assert "restricted" in output
    assert "missing" in output


def test_rows_fit_two_lines_in_a_narrow_terminal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("list").stdout.splitlines()
    rows = [line for line in lines[3:-1] if not line.startswith(" ")]
    assert [row.split()[0] for row in rows] == list(catalogue())
    for number, line in enumerate(lines[3:-1], start=3):
        assert len(line) <= 80
        assert not (line.startswith(" ") and lines[number + 1].startswith(" ")), line
    assert any("check" in row for row in rows)


def test_show_describes_a_data_set_and_its_download(root: Path) -> None:
    output = run("show", "medquad").stdout
    assert "https://github.com/abachaa/MedQuAD/tree/577bd37b96c02d1833b2c9eed2de9f96964e96cb" in output
    assert "CC BY 4.0" in output
    assert "5,486 rows" in output
    assert "to get it: run: auscult data get medquad" in output
    details = json.loads(run("show", "medquad", "--json").stdout)
    assert details["path"] == str(root / "medquad")
    assert details["remedy"] == "run: auscult data get medquad"


def test_verify_tells_the_wrong_file(root: Path) -> None:
    rebuild(TINY / "MedQuAD", TINY / "cdv", root / "medquad")
    assert "state" not in json.loads(run("show", "medquad", "--json").stdout)["files"][0]
    result = run("show", "medquad", "--verify", "--json", error=DataError)
    assert {file["state"] for file in json.loads(result.stdout)["files"]} == {"different"}
    assert "medquad/documents.jsonl.gz" in str(result.exception)


def test_sets_without_download_are_refused_in_one_sentence(root: Path) -> None:
    result = run("get", "nhs", error=CorpusMissingError)
    assert "--from FOLDER_OR_URL" in str(result.exception)
    assert "\n" not in str(result.exception)
    result = run("get", "healthqa", error=CorpusMissingError)
    assert "ask the authors" in str(result.exception)
    assert list(root.iterdir()) == []


def test_get_refuses_a_tree_at_another_commit(root: Path) -> None:
    result = run(
        *("get", "medquad", "--tree", str(TINY / "MedQuAD"), "--annotations", str(TINY / "cdv")),
        error=DataError,
    )
    assert "take tree and annotations at the commits of" in str(result.exception)
    assert not (root / "medquad").exists()


def test_get_from_a_folder_refuses_another_file(root: Path) -> None:
    mirror = root / "mirror"
    mirror.mkdir()
    (mirror / "symp.obo.gz").write_bytes(gzip.compress(b"format-version: 1.2\n"))
    run("get", "symptom-ontology", "--from", str(mirror), error=DataError)
    assert not list((root / "kg").iterdir())


def test_an_unknown_name(root: Path) -> None:
    result = run("show", "medquat", error=ConfigError)
    assert "did you mean medquad" in str(result.exception)


def test_get_copies_verified_files_and_prints_their_paths(root: Path, needs: Needs) -> None:
    output = run("get", "symptom-ontology", "--from", str(needs.data("kg/symp.obo.gz"))).stdout
    assert output == f"{root / 'kg' / 'symp.obo.gz'}\n"
    assert "symp.obo.gz (49.0 kB): same" in run("show", "symptom-ontology", "--verify").stdout
