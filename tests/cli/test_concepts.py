"""`auscult concepts`, run as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.cli.concepts import app
from auscult.errors import CorpusMissingError, DataError, QueryError
from foreign_files import write_name_files
from places import DATA

TAXONOMIES = DATA / "concepts"
FILES = [str(TAXONOMIES / name) for name in ("small.obo", "entities.tsv", "triples.tsv", "codes.tsv")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("kb") / "kb.jsonl.gz"
    result = CliRunner().invoke(app, ["build", str(out), *FILES])
    assert result.exit_code == 0, result.output
    assert "22 concepts of 24 records" in result.output
    return str(out)


def run(*arguments: str, stdin: str | None = None) -> str:
    result = CliRunner().invoke(app, list(arguments), input=stdin, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_show(built: str) -> None:
    text = run("show", "heart attack", "--kb", built)
    assert "myocardial infarction  DOID:5844" in text
    assert "coronary artery disease (DOID:3393)" in text
    record = json.loads(run("show", "alzhimers", "--kb", built, "--limit", "1", "--json"))
    assert (record["concept_id"], record["kind"]) == ("DOID:10652", "fuzzy")


def test_show_nothing(built: str) -> None:
    with pytest.raises(QueryError, match="zzzz"):
        run("show", "zzzz", "--kb", built)


def test_link_text_file_and_standard_input(built: str, tmp_path: Path) -> None:
    text = "A heart attack and a [headache]."
    expected = [{"start": 2, "end": 14, "concept_id": "DOID:5844", "name": "heart attack"}]
    expected.append({"start": 22, "end": 30, "concept_id": "SYMP:0000504", "name": "headache"})
    path = tmp_path / "note.txt"
    path.write_text(text)
    for output in (
        run("link", text, "--kb", built, "--json"),
        run("link", str(path), "--kb", built, "--json"),
        run("link", "-", "--kb", built, "--json", stdin=text),
    ):
        assert [json.loads(line) for line in output.splitlines()] == expected
    assert "myocardial infarction" in run("link", text, "--kb", built)


def test_link_a_binary_file(built: str, tmp_path: Path) -> None:
    path = tmp_path / "note.bin"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        run("link", str(path), "--kb", built)


@pytest.mark.parametrize("wrong", [b"gout \xe9", b"\xff\xfe\x00"])
def test_standard_input_is_decoded_as_strictly_as_files(built: str, wrong: bytes) -> None:
    result = CliRunner().invoke(app, ["link", "-", "--kb", built], input=wrong)
    assert isinstance(result.exception, DataError), result.exception
    assert "UTF-8 text in standard input" in str(result.exception)


def test_a_knowledge_base_is_opened_in_every_form(built: str) -> None:
    for given in (["--kb", built], ["--kb", str(TAXONOMIES)], [word for file in FILES for word in ("--kb", file)]):
        assert "DOID:5844" in run("show", "heart attack", "--limit", "1", *given)


def test_missing_knowledge_base_error_names_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    for asked in (("show", "gout"), ("link", "gout"), ("complete", "go")):
        with pytest.raises(CorpusMissingError, match=r"pass --kb .*auscult data show knowledge-base$"):
            run(*asked)


def test_complete(built: str) -> None:
    assert run("complete", "infarc", "--kb", built) == "DOID:5844\tmyocardial infarction\n"
    assert json.loads(run("complete", "heart at", "--kb", built, "--json"))["matched"] == "heart attack"


def test_absent_knowledge_base(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match="no such file"):
        run("complete", "a", "--kb", str(tmp_path / "absent"))
    with pytest.raises(DataError, match="auscult data show knowledge-base"):
        run("complete", "a", "--kb", str(tmp_path))


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "bad.obo"
    bad.write_text("[Term]\nid: X:1\n")
    with pytest.raises(DataError, match=r"bad.obo:1"):
        run("build", str(tmp_path / "kb.jsonl.gz"), str(bad))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.obo"]


def test_argument_too_long_for_a_path_is_text(built: str) -> None:
    assert run("link", "ä" * 200, "--kb", built, "--json") == ""


def test_names_are_added_with_their_licence(tmp_path: Path) -> None:
    names = write_name_files(tmp_path)
    out = str(tmp_path / "kb.jsonl.gz")
    options = [f"--names={name}" for name in ("everyday-names", names["orphadata"], names["babelon"])]
    output = run("build", out, *FILES, *options)
    assert "Everyday names: " in output
    licence = "Licence: Creative Commons Attribution 4.0 International (CC-BY-4.0)"
    assert f"Orphadata: 0 names in German (3 more belong to none of these concepts). {licence}" in output
    text = run("show", "Herzinfarkt", "--kb", out)
    assert "myocardial infarction  DOID:5844" in text
    assert "matched     Herzinfarkt (synonym, German, 1.00)" in text
    assert "Spanish     infarto de miocardio;" in text
    record = json.loads(run("show", "los infartos", "--kb", out, "--language", "es", "--json"))
    assert (record["concept_id"], record["matched"], record["language"]) == ("DOID:5844", "infarto", "es")
    assert "AVC" not in str(record["names"])
    assert "crise cardiaque" in record["names"]["fr"]
