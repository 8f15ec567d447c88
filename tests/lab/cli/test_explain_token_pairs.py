"""`auscult explain` of a small CK-HQA model, as a user types it: its cosines, printed, as JSON, and drawn."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.errors import DataError, QueryError
from auscult_lab.encoders.ck.ranker import CkConfig, CkRanker, find_interactions
from auscult_lab.encoders.persistence import save
from auscult_lab.encoders.registry import create
from auscult_lab.evaluation.figures import draw_interactions
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.opening import load_scorer
from command import Command
from small_knowledge import small_vectors
from tiny_bert import LAYERS, save_tiny_bert

QUERY = ("--question", "signs of gout")
TEXT = "people with gout often feel pain. " * 8


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CK-HQA, a cross-encoder and a text."""
    folder = tmp_path_factory.mktemp("interactions")
    backbone = str(save_tiny_bert(folder / "backbone"))
    torch.manual_seed(0)
    save(CkRanker(CkConfig(), open_backbone(backbone), small_vectors()), folder / "ck", name="my ck")
    save(create("cross", backbone), folder / "cross")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    (folder / "empty.txt").write_text(" \n", encoding="utf-8")
    (folder / "latin.txt").write_bytes(b"caf\xe9 au lait")
    return folder


@pytest.mark.parametrize("text", ["text.txt", TEXT])
def test_all_matrices_are_told(command: Command, place: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(place)
    done = command("explain", "ck", *QUERY, "--text", text, "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    interactions = find_interactions(load_scorer(str(place / "ck")), QUERY[1], TEXT)
    assert printed["model"] == "my ck"
    assert printed["query"] == ["signs", "of", "gout"]
    assert printed["query_entities"] == ["", "", "gout"]
    assert printed["passage_entities"].count("fever") == 8, "the preferred name of pain"
    assert printed["score"] == pytest.approx(interactions.score, abs=1e-5)
    assert np.array(printed["matrices"]).shape == (LAYERS + 1, 3, len(printed["passage"]))
    np.testing.assert_allclose(printed["matrices"], interactions.matrices, atol=1e-4)


def test_best_token_pairs_are_printed_and_all_drawn(command: Command, place: Path, tmp_path: Path) -> None:
    figure = tmp_path / "new" / "picture.svg"
    asked = ("--text", str(place / "text.txt"), "--out", str(figure), "--layers", "mean")
    done = command("explain", str(place / "ck"), *QUERY, *asked)
    assert done.code == 0, done.err
    assert "my ck" in done.out
    found = find_interactions(load_scorer(str(place / "ck")), QUERY[1], TEXT)
    row = found.view("mean")[2]
    best = int(row.argmax())
    assert f"{found.passage[best]} {row[best]:.2f}" in done.out
    drawn = figure.read_text()
    assert drawn.count(">people</text>") == 8
    assert drawn.count(">signs</text>") == 2, "a band for each 40 tokens"
    assert "Entities: gout, fever" in drawn
    assert "my ck: signs of gout" in drawn
    assert "picture.svg" in done.err


def test_a_figure_of_other_numbers_is_another(tmp_path: Path) -> None:
    query, passage = [("a", ""), ("$b$", "B")], [("c", ""), ("d", "D"), ("e", "")]
    for name, scale in (("one", 1.0), ("same", 1.0), ("other", -1.0)):
        draw_interactions(
            tmp_path / f"{name}.png", query, passage, scale * np.arange(6.0).reshape(2, 3), title=name[:0]
        )
    one, same, other = ((tmp_path / f"{name}.png").read_bytes() for name in ("one", "same", "other"))
    assert one == same
    assert one != other
    with pytest.raises(DataError, match=r"\(2, 3\)"):
        draw_interactions(tmp_path / "x.png", query, passage, np.zeros((3, 2)))
    with pytest.raises(DataError, match="tokens"):
        draw_interactions(tmp_path / "x.png", query, [], np.zeros((2, 0)))


def test_long_texts_report_how_much_was_read(command: Command, place: Path, tmp_path: Path) -> None:
    long = TEXT * 20
    arguments = ("explain", str(place / "ck"), *QUERY, "--text")
    printed = json.loads(command(*arguments, long, "--json").out)
    read = printed["passage_characters_read"]
    assert printed["passage_characters"] == len(long) > read
    assert len(long[:read].replace(".", " .").split()) == len(printed["passage"]) == CkConfig().max_passage_tokens
    printed = json.loads(command(*arguments, TEXT, "--json").out)
    assert printed["passage_characters_read"] == printed["passage_characters"] == len(TEXT)
    figure = tmp_path / "long.svg"
    done = command(*arguments, long, "--out", str(figure))
    assert f"Only the first {read:,} of {len(long):,} characters of the text were read." in done.out
    assert f"the first {read:,} of {len(long):,} characters" in figure.read_text()
    assert "characters" not in command(*arguments, TEXT).out


def test_unreadable_file_is_an_error_not_a_text(command: Command, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "my notes").mkdir()
    monkeypatch.chdir(place)

    def refuse(self: Path, *_: object, **__: object) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    for text, reason in (("my notes", "Is a directory"), ("closed text.txt", "Permission denied")):
        done = command("explain", "ck", *QUERY, "--text", text)
        assert done.code == 2
        assert f"{text}: {reason}" in done.err
        monkeypatch.setattr(Path, "read_bytes", refuse)


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("cross", [*QUERY, "--text", "text.txt"], "'cross'"),
        ("nowhere", [*QUERY, "--text", "text.txt"], "nowhere"),
        ("ck", ["--question", " ", "--text", "text.txt"], "a question, an entity or an aspect"),
        ("ck", [*QUERY, "--text", "none.txt"], "none.txt"),
        ("ck", [*QUERY, "--text", "empty.txt"], "a passage with words"),
        ("ck", [*QUERY, "--text", "latin.txt"], "UTF-8"),
        ("ck", [*QUERY, "--text", "text.txt", "--out", "picture.gif"], "picture.gif"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_2(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch, model: str, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(place)
    done = command("explain", model, *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    # The library that opens backbones draws its progress in the error stream.
    told = [line for line in done.err.splitlines() if line and not line.startswith("Loading weights")]
    assert len(told) == 1
    assert told[0].startswith("auscult: ")


def test_an_encoder_is_sent_to_its_own_command(command: Command, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"kind": "cdv"}')
    done = command("explain", str(tmp_path), *QUERY, "--text", "some words")
    assert done.code == 2
    assert "auscult explain" in done.err


def test_a_query_without_tokens_is_refused(place: Path) -> None:
    with pytest.raises(QueryError, match="words"):
        find_interactions(load_scorer(str(place / "ck")), "\u200b", "some words")
