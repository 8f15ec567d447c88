"""`auscult explain` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.ingest.building import build_index
from command import Command, hashed_model
from encoders import HashedEncoder
from leaflets import leaflets


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("cli")
    model = hashed_model(place / "model")
    build_index(leaflets(), HashedEncoder(256), place / "index", model_path=str(model))
    return str(place / "index")


def test_curves_are_drawn_in_the_terminal(command: Command, index: str) -> None:
    done = command("explain", index, "--entity", "gout", "--aspect", "symptoms")
    assert done.code == 0
    assert "symptoms of gout" in done.out
    assert "leaflet-gout" in done.out
    assert all(name in done.out for name in ("entity", "aspect", "combined", "█"))
    assert "Symptoms  ← best" in done.out


def test_a_chosen_document_is_drawn_to_a_file(command: Command, index: str, tmp_path: Path) -> None:
    asked = ("explain", index, "-e", "gout", "-a", "treatment", "-d", "leaflet-asthma")
    done = command(*asked, "--out", str(tmp_path / "curves.svg"))
    assert done.code == 0
    assert "in Asthma" in done.out
    assert "curves.svg" in done.err
    assert "treatment of gout" in (tmp_path / "curves.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-e", "gout", "--document", "nobody"], "'nobody'"),
        ([], "a question, an entity or an aspect"),
        (["-e", "gout", "--out", "curves.gif"], "curves.gif"),
        (["-e", "gout", "--out", "nowhere/curves.png"], "nowhere"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_2(command: Command, index: str, arguments: list[str], message: str) -> None:
    done = command("explain", index, *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_curves_are_told_as_json(command: Command, index: str) -> None:
    done = command("explain", index, "--entity", "gout", "--aspect", "symptoms", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert (told["document"], told["entity"], told["aspects"]) == ("leaflet-gout", "gout", ["symptoms"])
    assert sum(each["sentences"] for each in told["passages"]) == len(told["sentences"]) > 5
    for each in told["sentences"]:
        assert each["start"] < each["end"]
        assert -1 <= each["combined"] <= 1


@pytest.mark.parametrize("option", ["--text", "--corpus", "--passage", "--layers"])
def test_model_only_options_are_refused_for_an_index(command: Command, index: str, option: str) -> None:
    done = command("explain", index, "-e", "gout", option, "last")
    assert done.code == 2
    assert f"got {option}" in done.err
