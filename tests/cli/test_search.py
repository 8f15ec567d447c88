"""`auscult search` as a user types it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from auscult.concepts import KnowledgeBase
from auscult.concepts.concept import Concept
from auscult.documents import Section, build_document
from auscult.ingest.building import build_index
from auscult.search.fusion import Fusion
from auscult.search.hits import Hit, SentenceScore
from command import Command, hashed_model
from encoders import HashedEncoder
from leaflets import leaflets
from small_reranker import REREADING, save_reranker, small_network

KNOWN = KnowledgeBase(
    [
        Concept("DOID:2986", "IgA nephropathy", ("Berger's disease",)),
        Concept("DOID:2841", "asthma", ("bronchial asthma",)),
    ]
)
HOSTILE = build_document(
    doc_id="hostile",
    title="[bold]Scabies[/bold]",
    sections=[Section("Symptoms \x1b[2J", "Itching \x1b]0;owned\x07 of the skin. More [/red] text.", "hostile-1")],
    source="South",
)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("cli")
    folder = place / "index"
    model = hashed_model(place / "model")
    documents = [*leaflets(), HOSTILE]
    build_index(documents, HashedEncoder(256), folder, knowledge_base=KNOWN, model_path=str(model))
    return str(folder)


def test_a_question_needs_no_option(command: Command, index: str) -> None:
    bare = command("search", index, "What are the symptoms of asthma?", "-k", "2", "--json")
    assert bare.code == 0
    assert bare.err.startswith("understood as: asthma (DOID:2841), matched its name")


def test_another_language_is_named_as_the_reason(command: Command, index: str) -> None:
    done = command("search", index, "Was hilft bei Asthma, und was sind die Symptome?", "--json")
    understood, reason = done.err.splitlines()
    assert understood.startswith("question in German; ")
    assert reason.startswith("The question is in German, and the model of this index reads English only.")
    assert {json.loads(line)["probability"] for line in done.out.splitlines()} == {None}


def test_a_question_follows_earlier_ones(command: Command, index: str) -> None:
    earlier = ["--conversation", "What is scabies?", "--conversation", "What are the symptoms of asthma?"]
    done = command("search", index, "and in children?", *earlier, "-k", "1", "--json")
    assert done.code == 0
    assert done.err.splitlines()[0].endswith("from before: Asthma, symptoms")
    assert json.loads(done.out)["passage_id"] == "asthma-2"


def test_stdout_has_only_hits_as_json_lines(command: Command, index: str) -> None:
    done = command("search", index, "--entity", "berger's disease", "--aspect", "symptoms", "-k", "3", "--json")
    assert done.code == 0
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [record["rank"] for record in records] == [1, 2, 3]
    for record in records:
        sentences = tuple(SentenceScore(**sentence) for sentence in record.pop("sentences"))
        assert record.pop("note") == ""
        hit = Hit(**record, sentences=sentences)
        assert hit.score == pytest.approx(sum(hit.evidence.values()), abs=1e-5)
        assert hit.sentences
        assert "".join(hit.text.split()) == "".join("".join(s.text.split()) for s in hit.sentences)
    assert done.err.startswith("understood as: IgA nephropathy (DOID:2986), matched synonym")


def test_readable_hits_name_and_highlight(command: Command, index: str) -> None:
    done = command("search", index, "-e", "DOID:2841", "-a", "symptoms", "-k", "1")
    assert done.code == 0
    assert "Symptoms" in done.out
    assert "Asthma  South  asthma-2" in done.out
    assert "https://example.org/asthma" in done.out
    best = json.loads(command("search", index, "-e", "DOID:2841", "-a", "symptoms", "-k", "1", "--json").out)
    starred = re.findall(r"\*\*(.*?)\*\*", " ".join(done.out.split()))
    assert starred == [sentence["text"] for sentence in best["sentences"] if sentence["marked"]]
    assert 0 < len(starred) < len(best["sentences"])
    shares = {
        kind: sum(share for name, share in best["evidence"].items() if name.startswith(kind))
        for kind in ("entity", "aspect", "question")
    }
    told = " + ".join(f"{kind} {share:.2f}" for kind, share in shares.items())
    assert f"{best['score']:.2f}  may answer   Asthma  South  asthma-2" in done.out
    assert told in " ".join(done.out.split())
    assert "matched identifier DOID:2841" in done.err


def test_score_option_selects_the_models_score_alone(command: Command, index: str) -> None:
    done = command("search", index, "-e", "asthma", "-a", "symptoms", "-k", "1", "--score", "model", "--json")
    hit = json.loads(done.out)
    assert hit["score"] == pytest.approx(hit["entity_score"] + hit["aspect_score"], abs=1e-6)
    assert (hit["evidence"], hit["probability"]) == ({}, None)
    shown = command("search", index, "-e", "asthma", "-a", "symptoms", "-k", "1", "--score", "model").out
    assert f"entity {hit['entity_score']:.2f} + aspect {hit['aspect_score']:.2f}" in " ".join(shown.split())


@pytest.mark.parametrize("option", [("--reranker", "r"), ("--precision", "bf16"), ("--fuse",)])
def test_rerank_options_are_refused_without_rerank(command: Command, index: str, option: tuple[str, ...]) -> None:
    done = command("search", index, "-e", "asthma", *option)
    assert done.code != 0
    assert f"--rerank beside it, got {option[0]} without" in done.err


def test_first_hits_are_read_once_more(
    command: Command, index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = Fusion.of(None)
    save_reranker(tmp_path / "reranker", small_network(tmp_path / "bert"))
    arguments = ("search", index, "How is asthma treated?", "-k", "6", "--json", "--rerank", "4")
    refused = command(*arguments, "--reranker", str(tmp_path / "reranker"))
    assert "expected a model with weights for re-ranking" in refused.err
    monkeypatch.setattr(Fusion, "of", lambda encoder: replace(fitted, rereading=REREADING))
    done = command(*arguments, "--reranker", str(tmp_path / "reranker"))
    assert ["reranker" in json.loads(line)["evidence"] for line in done.out.splitlines()] == [True] * 4 + [False] * 2
    shown = command(*arguments[:-3], "--rerank", "4", "--reranker", str(tmp_path / "reranker"))
    assert "+ reranker " in " ".join(shown.out.split())
    missing = command(*arguments)
    assert missing.code == 2
    assert "expected the shipped model 'reranker'" in missing.err


def test_a_question_in_words(command: Command, index: str) -> None:
    done = command("search", index, "How is asthma treated?", "--json", "-k", "1")
    assert json.loads(done.out)["passage_id"] == "asthma-3"
    assert "understood as: asthma (DOID:2841)" in done.err


def test_grouping_and_fields(command: Command, index: str) -> None:
    arguments = ("search", index, "--aspect", "symptoms", "--group", "document", "--json")
    assert len(command(*arguments).out.splitlines()) == 5
    lines = command(*arguments, "--where", "source=North").out.splitlines()
    assert {json.loads(line)["title"] for line in lines} == {"Migraine", "Gout"}
    assert len(command(*arguments, "--where", "source=North", "--where", "source=South").out.splitlines()) == 5
    lines = command(*arguments, "--where", "source=P..Z").out.splitlines()
    assert {json.loads(line)["source"] for line in lines} == {"South"}
    arguments = ("search", index, "--aspect", "symptoms", "--group", "source", "--json")
    assert sorted(json.loads(line)["source"] for line in command(*arguments).out.splitlines()) == ["North", "South"]


def test_text_from_documents_cannot_steer_the_terminal(command: Command, index: str) -> None:
    done = command("search", index, "-e", "scabies itching skin", "-k", "1")
    assert done.code == 0
    assert "[bold]Scabies[/bold]" in done.out
    assert "More [/red] text." in " ".join(done.out.split())
    assert "\x1b" not in done.out
    assert "\x07" not in done.out


def test_two_aspects_lie_between_one_and_the_other(command: Command, index: str) -> None:
    asked = ("search", index, "-e", "asthma", "--json", "-k", "100")
    scores = []
    for aspects in (["symptoms"], ["treatment"], ["symptoms", "treatment"]):
        lines = command(*asked, *(word for aspect in aspects for word in ("-a", aspect))).out.splitlines()
        records = [json.loads(line) for line in lines]
        scores.append({r["passage_id"]: r["aspect_score"] for r in records})
    for passage in ("asthma-2", "asthma-3"):
        both = [scores[0][passage], scores[1][passage]]
        assert min(both) < scores[2][passage] < max(both)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "-e", "asthma"], "expected an index at nowhere, got nothing there"),
        (["INDEX"], "expected a question, an entity or an aspect, got none of them"),
        (["INDEX", "-e", "  ", "-a", ""], "expected a question, an entity or an aspect, got none of them"),
        (["INDEX", "-e", "asthma", "-k", "0"], "at least 1, got 0"),
        (["INDEX", "-e", "asthma", "--where", "source=West"], "a source of this index (North, South), got 'West'"),
        (["INDEX", "-e", "DOID:404"], "DOID:404"),
        (["INDEX", "-e", "asthma", "--model", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_2(command: Command, index: str, arguments: list[str], message: str) -> None:
    done = command("search", *(index if a == "INDEX" else a for a in arguments))
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_moved_model_can_be_given_by_option(command: Command, index: str, tmp_path: Path) -> None:
    moved = hashed_model(tmp_path / "moved")
    asked = ("search", index, "-e", "asthma", "-a", "symptoms", "--json")
    assert command(*asked, "--model", str(moved)).out == command(*asked).out
    other = hashed_model(tmp_path / "other", seed=5)
    done = command(*asked, "--model", str(other))
    assert done.code == 2
    assert "build the index again with this one" in done.err


def test_similar_but_different_disease_is_pointed_out(command: Command, tmp_path: Path) -> None:
    model = hashed_model(tmp_path / "model")
    one = build_document(
        doc_id="11", title="Spastic paraplegia 11", sections=[Section("Treatment", "Walking aids help.", "11-1")]
    )
    build_index([one], HashedEncoder(256), tmp_path / "index", model_path=str(model))
    done = command("search", str(tmp_path / "index"), "-e", "Spastic paraplegia 8", "-a", "treatment")
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "similar, but not the one asked: 'Spastic paraplegia 11', where 'Spastic paraplegia 8' was asked for" in told
    asked = command("search", str(tmp_path / "index"), "-e", "Spastic paraplegia XI", "-a", "treatment")
    assert "not the one asked" not in asked.out


def test_unaffirmed_sentences_are_labelled_and_can_be_excluded(command: Command, tmp_path: Path) -> None:
    notes = {"now": "He has gout.", "denied": "He denies gout."}
    documents = [
        build_document(doc_id=name, title="", sections=[Section("Note", text)]) for name, text in notes.items()
    ]
    model = hashed_model(tmp_path / "model")
    build_index(documents, HashedEncoder(256), tmp_path / "index", model_path=str(model))
    arguments = ("search", str(tmp_path / "index"), "--entity", "gout")
    shown = command(*arguments).out
    assert "**He denies gout.** [negated]" in shown
    assert "**He has gout.**\n" in shown
    only = command(*arguments, "--assertion", "affirmed", "--json")
    (record,) = map(json.loads, only.out.splitlines())
    assert (record["doc_id"], record["sentences"][0]["assertions"]) == ("now", ["affirmed"])
    both = command(*arguments, "--assertion", "affirmed", "--assertion", "negated", "--json")
    assert len(both.out.splitlines()) == 2
    wrong = command(*arguments, "--assertion", "maybe")
    assert wrong.code == 2
    assert "hypothetical" in wrong.err
