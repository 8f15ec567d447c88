"""Whether an adapted model is better is measured on documents that it did not learn from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.ingest.building import build_index
from auscult.search.searcher import Searcher
from auscult_lab.evaluation.before_after import BEFORE_AFTER, compared
from auscult_lab.fitting.own_questions import own_questions
from auscult_lab.general import adapting
from auscult_lab.general.adapting import divided, documents_experiment
from auscult_lab.general.saving import set_fusion
from small_general import make_general, save_general

WEIGHTS = {"parts": {"question_text": 1.0}, "words": {"question_text": 1.0}, "certainty": {"bias": -1.0}}


def values(*pairs: tuple[float, float]) -> np.ndarray:
    return np.array(pairs)


def test_verdict_follows_the_interval_of_the_difference() -> None:
    rng = np.random.default_rng(0)
    before = np.repeat(rng.uniform(0.2, 0.6, (200, 1)), 2, axis=1)
    noise = rng.normal(0, 0.2, (200, 2))
    better, same, worse = (compared(before, before + gain + noise, "fast") for gain in (0.1, 0.0, -0.1))
    assert (better["better"], same["better"], worse["better"]) == (True, False, False)
    assert "is better" in better["verdict"]
    assert "not better" in same["verdict"]
    assert "is worse" in worse["verdict"]
    assert all("Use 'fast' as it is" in each["verdict"] for each in (same, worse))
    difference = better["difference"]["RR"]
    assert difference["low"] < difference["mean"] < difference["high"]
    assert difference["mean"] == pytest.approx(better["after"]["RR"]["mean"] - better["before"]["RR"]["mean"])
    # Paired: what questions differ in widens both means' intervals, and not that of the difference.
    assert compared(before, before + 0.01, "fast")["better"]


def test_a_model_is_not_better_than_itself() -> None:
    found = compared(values((1, 1), (0.5, 0)), values((1, 1), (0.5, 0)), "best")
    assert found["difference"]["RR"] == {"mean": 0, "low": 0, "high": 0}
    assert not found["better"]


@pytest.fixture
def many(corpus: Path, tmp_path: Path) -> Path:
    """Each title twice, in four versions."""
    versions = ("in infants", "in women", "in men", "in the elderly")
    lines = []
    for line in corpus.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for copy in range(8):
            title = f"{record['title']} {versions[copy // 2]}"
            sections = [each | {"text": f"{each['text']} This is {title}, page {copy}."} for each in record["sections"]]
            lines.append(json.dumps({"id": f"{record['id']}-{copy}", "title": title, "sections": sections}) + "\n")
    path = tmp_path / "many.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_documents_are_divided_without_a_common_title(many: Path) -> None:
    said = [("knowledge", "null"), ("validation.documents", "1000")]
    parts = divided(documents_experiment([{"name": str(many)}], "start", said=said), lambda _: None)
    titles = [{each.title for each in part} for part in parts]
    assert all(titles)
    assert sum(map(len, titles)) == len(set().union(*titles))


def test_documents_with_held_out_titles_are_named(many: Path) -> None:
    said: list[str] = []
    parts = divided(documents_experiment([{"name": str(many)}], "start", said=[("knowledge", "null")]), said.append)
    held_out = {each.title for part in (parts.held_out, parts.measured) for each in part}
    (line,) = [line for line in said if line.startswith("left out ")]
    named = re.findall(r"(\S+) \('(.*?)'\)", line)
    assert 0 < len(named) <= 3
    assert {title for _, title in named} <= held_out
    assert not {doc_id for doc_id, _ in named} & {each.doc_id for each in parts.training}


def test_questions_are_about_the_chosen_documents_alone(tmp_path: Path) -> None:
    documents = [
        build_document(
            doc_id=f"d{row}",
            title=f"{word} fever",
            sections=[Section("Symptoms", f"The {word} fever begins with pains in the {word} joints and a rash.")],
        )
        for row, word in enumerate(("Amber", "Birch", "Cedar", "Delta", "Ember"))
    ]
    build_index(documents, make_general(), tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", make_general())
    asked = [*own_questions(searcher, 60, 1, {"d1", "d3"})]
    rows = {int(row) for question in asked for row in question.relevant}
    assert {searcher.index.reader.passage_id(row).partition("#")[0].partition("/")[0] for row in rows} <= {"d1", "d3"}
    assert len(rows) == 2


def test_the_command_prints_and_keeps_before_and_after(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, out = tmp_path / "start", tmp_path / "mine"
    save_general(start)
    set_fusion(start, WEIGHTS, {})
    fields = ("training.epochs=2", "training.batch_documents=4", "knowledge=null")
    command = ["train", "--documents", many, "--backbone", start, "--out", out, "--no-progress"]
    command += [part for field in fields for part in ("--set", field)]

    def run(*more: str) -> str:
        result = CliRunner().invoke(app, [*map(str, command), *more])
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    unmeasured = run()
    assert "was not measured: that takes 10 held-out documents" in unmeasured
    early = unmeasured.index("before and after will not be compared: that takes 10 held-out documents")
    assert early < unmeasured.index("epoch 0")
    monkeypatch.setattr(adapting, "FEWEST_MEASURED", 3)
    first = run("--restart")
    figures = json.loads((tmp_path / "mine.training" / BEFORE_AFTER).read_text(encoding="utf-8"))
    assert figures["verdict"] in first
    assert "with 95 % intervals" in first
    for row in ("before", "after", "difference"):
        for measure in figures["measures"]:
            assert figures[row][measure]["low"] <= figures[row][measure]["mean"] <= figures[row][measure]["high"]
    assert figures["questions"] > 0
    again = run()
    assert "measuring" not in again
    assert figures["verdict"] in again
