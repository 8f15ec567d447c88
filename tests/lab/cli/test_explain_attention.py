"""`auscult explain` of a ranker with attention, as a user types it: the attention of a small HAR over one passage."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.documents import Section, build_document
from auscult.errors import DataError, ModelError
from auscult.understanding import Query
from auscult_lab.cli import model_views
from auscult_lab.opening import load_ranker
from auscult_lab.rankers.evidence import find_evidence
from auscult_lab.rankers.scorer import RankerScorer, save
from auscult_lab.scorers.lexical import passage_words
from command import Command
from rankers import make_ranker, small_vocabulary

SENTENCES = [
    "Gouta and gene-b hurt.",
    "\u2014",
    "Asthmaa comes with feverb, and paina is rare.",
    "It is unread, all of it.",
]
TEXT = "\n\n".join(SENTENCES)
SMALL = {"gru_dim": 5, "attention_dim": 6, "max_sentence_words": 4, "max_sentences": 4}
QUERY = ("-e", "asthmaa", "-a", "feverb")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of each kind, a text, and a corpus that holds the same text."""
    folder = tmp_path_factory.mktemp("evidence")
    for kind in ("har", "har-wca", "har-simple", "knrm"):
        vocabulary = small_vocabulary()
        save(make_ranker(kind, vocabulary, **SMALL), vocabulary, folder / kind, name=f"my {kind}")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    (folder / "empty.txt").write_text(" \u2014 ", encoding="utf-8")
    sections = [{"heading": "Causes", "text": "Geneb."}, {"heading": "Signs", "text": TEXT}]
    page = {"id": "page", "title": "Asthmaa", "sections": sections}
    (folder / "pages.jsonl").write_text(json.dumps(page) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["har", "har-wca"])
def test_explained_weights_cover_only_the_pieces_read(command: Command, place: Path, kind: str) -> None:
    done = command("explain", str(place / kind), *QUERY, "--text", str(place / "text.txt"), "--json")
    assert done.code == 0, done.err
    explanation = json.loads(done.out)
    assert [sentence["text"] for sentence in explanation["sentences"]] == SENTENCES
    weights = [sentence["weight"] for sentence in explanation["sentences"]]
    assert weights[1] is None, "no words"
    assert weights[3] is None, "beyond the ranker's four pieces"
    assert weights[0] + weights[2] == pytest.approx(1)
    assert [word for word, _ in explanation["query"]] == ["asthmaa", "feverb"]
    assert sum(weight for _, weight in explanation["query"]) == pytest.approx(1)
    words = [word for word, _ in explanation["sentences"][2]["words"]]
    assert words == ["asthmaa", "comes", "with", "feverb", "and", "paina", "is", "rare"]
    for sentence, weight in zip(explanation["sentences"], weights, strict=True):
        assert sum(share for _, share in sentence["words"]) == pytest.approx(weight or 0, abs=1e-6)

    # The second long sentence is two pieces, whose weights the ranker gives one by one.
    scorer = load_ranker(str(place / kind))
    document = build_document(doc_id="d", title="", sections=[Section("", TEXT, "d#1")])
    ids = [scorer.lexicon.ids(sentence_words) for sentence_words in passage_words(document, document.passages[0])]
    pieces = scorer.ranker.pieces(ids)
    assert [piece.sentence for piece in pieces] == [0, 0, 2, 2]
    scorer.prepare([document])
    score = scorer.score(Query("", "asthmaa", ("feverb",)), ["d#1"])[0]
    assert explanation["score"] == pytest.approx(float(score), abs=1e-5)


def test_weights_sum_over_the_pieces_of_a_sentence() -> None:
    vocabulary = small_vocabulary()
    ranker = make_ranker("har", vocabulary, **SMALL)
    scorer = RankerScorer(ranker, vocabulary)
    document = build_document(doc_id="d", title="", sections=[Section("", TEXT, "d#1")])
    evidence = find_evidence(scorer, Query("", "asthmaa"), document, document.passages[0])
    ids = [scorer.lexicon.ids(each) for each in passage_words(document, document.passages[0])]
    query = torch.tensor([scorer.lexicon.ids(["asthmaa"])])
    rows = ranker.lay_out_passage(ids).unsqueeze(0)
    from auscult_lab.rankers.base import Tokens

    raw = ranker.explain(Tokens(query, query != 0), Tokens(rows, rows != 0)).sentences[0]
    expected = [float(raw[0] + raw[1]), float(raw[2] + raw[3])]
    np.testing.assert_allclose([evidence.sentences[0].weight, evidence.sentences[2].weight], expected, rtol=1e-5)
    assert expected[0] != pytest.approx(expected[1], abs=1e-4)


def test_corpus_passage_is_printed_and_drawn(command: Command, place: Path, tmp_path: Path) -> None:
    asked = ("-c", str(place / "pages.jsonl"), "-p", "page#2", "--out", str(tmp_path / "new" / "evidence.svg"))
    done = command("explain", str(place / "har"), *QUERY, *asked)
    assert done.code == 0, done.err
    assert "my har" in done.out
    assert "Asthmaa, Signs, page#2" in done.out
    assert done.out.count("not read") == 2
    assert "feverb" in done.out
    assert "█" in done.out
    assert "evidence.svg" in done.err
    drawn = (tmp_path / "new" / "evidence.svg").read_text()
    assert ">feverb</text>" in drawn
    assert "Gouta and gene-b hurt." in drawn
    assert "2 of 4 sentences not read" in drawn
    assert "It is unread" not in drawn


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("knrm", [*QUERY, "-t", "text.txt"], "'knrm', which has none; take a ranker of the kind har or har-wca"),
        ("har-simple", [*QUERY, "-t", "text.txt"], "attention over sentences"),
        ("nowhere", [*QUERY, "-t", "text.txt"], "nowhere"),
        ("har", ["-t", "text.txt"], "a question, an entity or an aspect"),
        ("har", ["-q", "??", "-t", "text.txt"], "a query with words"),
        ("har", [*QUERY], "--corpus with --passage, or --text alone"),
        ("har", [*QUERY, "-c", "pages.jsonl"], "--corpus"),
        ("har", [*QUERY, "-p", "page#2"], "--passage"),
        ("har", [*QUERY, "-t", "text.txt", "-c", "pages.jsonl"], "--corpus, --text"),
        ("har", [*QUERY, "-c", "pages.jsonl", "-p", "page#9"], "'page#9'"),
        ("har", [*QUERY, "-t", "none.txt"], "none.txt"),
        ("har", [*QUERY, "-t", "empty.txt"], "a passage with words"),
        ("har", [*QUERY, "-t", "text.txt", "--out", "evidence.gif"], "evidence.gif"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_2(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch, model: str, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(place)
    done = command("explain", model, *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_read_only_output_fails_before_the_model_loads(
    command: Command, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    monkeypatch.setattr(model_views, "load_ranker", None)
    done = command("explain", str(place / "har"), *QUERY, "-t", str(place / "text.txt"), "-o", str(tmp_path / "x.svg"))
    assert (done.code, done.out) == (2, "")
    assert f"{tmp_path}, which may not be written to" in done.err


def test_an_encoder_is_sent_to_its_own_command(command: Command, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"kind": "cdv"}')
    (tmp_path / "text.txt").write_text(TEXT)
    done = command("explain", str(tmp_path), *QUERY, "-t", str(tmp_path / "text.txt"))
    assert done.code == 2
    assert "auscult explain" in done.err


def test_the_errors_of_the_python_interface() -> None:
    vocabulary = small_vocabulary()
    document = build_document(doc_id="d", title="", sections=[Section("", "Gouta.", "d#1"), Section("", "", "d#2")])
    first, empty = document.passages
    with pytest.raises(ModelError, match="har or har-wca"):
        find_evidence(RankerScorer(make_ranker("dssm", vocabulary), vocabulary), Query("", "gouta"), document, first)
    with pytest.raises(DataError, match="d#2"):
        find_evidence(RankerScorer(make_ranker("har", vocabulary), vocabulary), Query("", "gouta"), document, empty)
