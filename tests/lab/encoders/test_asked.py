"""Training on a corpus' own questions, pairwise hinge loss, and a rate of its own for what is no encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.build import PairObjective, held_out_queries
from auscult_lab.encoders.data import PairBatch, PairExamples
from auscult_lab.encoders.experiment import CaprExperiment, PairNegatives, PairTraining
from auscult_lab.encoders.gathering import asked_pools
from auscult_lab.encoders.persistence import load
from auscult_lab.encoders.registry import create
from auscult_lab.families.table import read_experiment, train
from auscult_lab.training.experiment_files import experiments_in
from places import ROOT
from study.variants import variant_of
from tiny_bert import save_tiny_bert

TOPICS = ["asthma", "gout", "measles", "mumps", "rubella", "scurvy", "rickets", "croup"]
SHARED = "rest and water help with nearly everything."


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("backbone"), limit=64)


def bioasq(folder: Path) -> str:
    """A question for each topic with two snippets, one for two of them, and a test question that shares a snippet."""

    def question(number: int, body: str, *texts: str) -> dict[str, object]:
        snippets = [{"document": f"http://pubmed/{number}", "text": text} for text in texts]
        return {"id": f"q{number}", "body": body, "snippets": snippets}

    folder.mkdir()
    training = [
        question(n, f"what causes {topic}", f"a germ causes {topic}.", f"the signs of {topic} come slowly.")
        for n, topic in enumerate(TOPICS)
    ]
    training.append(question(9, "which things help", SHARED))
    tested = [question(20, "what helps", SHARED)]
    for name, rows in (("training.json", training), ("12B1_golden.json", tested)):
        (folder / name).write_text(json.dumps({"questions": rows}))
    return str(folder)


def beir(folder: Path) -> str:
    """A document a topic and one that answers nothing; a question a topic, graded, of the split "train"."""
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "title": "", "text": f"a germ causes {each}."} for n, each in enumerate(TOPICS)]
    documents.append({"_id": "none", "title": "", "text": "people with fever often feel pain."})
    questions = [{"_id": f"q{n}", "text": f"causes of {each}"} for n, each in enumerate(TOPICS)]
    for name, rows in (("corpus", documents), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = [f"q{n}\td{n}\t1\n" + f"q{n}\tnone\t0\n" for n in range(len(TOPICS))]
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(judged))
    return str(folder)


def nfcorpus(folder: Path) -> str:
    """The same in the layout of NFCorpus' archive: level 3 is a direct link, 1 a shared topic."""
    folder.mkdir()
    dump = [f"MED-{n}\turl\t{each}\ta germ causes {each}." for n, each in enumerate([*TOPICS, "fever"])]
    (folder / "doc_dump.txt").write_text("\n".join(dump) + "\n")
    (folder / "train.titles.queries").write_text("".join(f"P-{n}\t{each}\n" for n, each in enumerate(TOPICS)))
    judged = [f"P-{n} 0 MED-{n} 3\nP-{n} 0 MED-{len(TOPICS)} 1\n" for n in range(len(TOPICS))]
    (folder / "train.3-2-1.qrel").write_text("".join(judged))
    return str(folder)


def experiment(corpus: str, backbone: Path, **changes: Any) -> CaprExperiment:
    training = {
        "epochs": 2, "batch_pairs": 2, "accelerator": "cpu", "checkpoint_minutes": 0, "loss": "hinge",
        "head_learning_rate": 1e-2, "warm_up": None, **changes.pop("training", {}),
    }  # fmt: skip
    fields = {
        "name": "asked", "track": "adapted", "model": "capr", "architecture": "cross", "backbone": str(backbone),
        "queries": "corpus", "corpora": [{"name": corpus, "split": "train"}],
        "validation": {"corpora": [corpus], "documents": 3}, "negatives": {"in_batch": 0, "bm25": 1},
        "training": training, "validation_candidates": 4,
    }  # fmt: skip
    return CaprExperiment.model_validate(fields | changes)


def silent(_: str) -> None:
    """Says nothing."""


def test_questions_train_and_held_out_questions_validate(backbone: Path, tmp_path: Path):
    corpus = bioasq(tmp_path / "bioasq")
    settings = experiment(
        corpus, backbone, never_learn=[{"name": corpus}], validation={"corpora": [corpus], "documents": 3}
    )
    training, held_out = asked_pools(settings, silent)
    assert len(training.questions) == 6
    assert SHARED not in {answer.passage.text for pool in (training, held_out) for answer in pool.passages}
    examples = PairExamples(training, PairNegatives(in_batch=1, bm25=1), seed=0)
    assert len(examples) == 6
    drawn = {examples[epoch, 0].own for epoch in range(30)}
    assert drawn == set(training.questions[0].answers), "each of a question's answers is drawn, and nothing else"
    for row in range(6):
        pair = examples[0, row]
        topic = pair.query.split()[-1]
        assert pair.query == f"what causes {topic}"
        assert topic in training.passages[pair.own].passage.text
        assert not any(topic in training.passages[hard].passage.text for hard in pair.hard)
    queries = held_out_queries(held_out, number=10, seed=0, candidates=3)
    assert len(queries) == 2
    for query in queries:
        own, *others = (held_out.passages[row].passage.text for row in query.rows)
        topic = query.query.split()[-1]
        assert topic in own
        assert len(others) == 2
        assert not any(topic in other for other in others), "another answer is no candidate"
    assert {query.query for query in queries}.isdisjoint(question.label.name for question in training.questions)


def test_another_answer_in_the_batch_is_spared(backbone: Path, tmp_path: Path):
    training, _ = asked_pools(experiment(bioasq(tmp_path / "bioasq"), backbone), silent)
    examples = PairExamples(training, PairNegatives(), seed=0)
    twice = [next(pair for epoch in range(50) if (pair := examples[epoch, 0]).own == own)
             for own in training.questions[0].answers]  # fmt: skip
    batch = examples.collate([*twice, examples[0, 1]])
    assert batch.spared.tolist()[0] == [False, True, False]
    assert batch.spared.tolist()[2] == [False, False, False]


@pytest.mark.parametrize("layout", [bioasq, beir, nfcorpus])
def test_every_collection_with_questions_trains_a_model(layout: Any, backbone: Path, tmp_path: Path):
    corpus = layout(tmp_path / "corpus")
    outcome = train(experiment(corpus, backbone), tmp_path / "run")
    questions = {"bioasq": 7, "beir": 5, "nfcorpus": 5}[layout.__name__]
    assert outcome.record["questions"] == questions
    assert [epoch["queries"] for epoch in outcome.record["history"]] == [questions, 2 * questions]
    assert 0 < outcome.record["validation"]["validation_RR"] <= 1
    ranker = load(outcome.model).ranker
    scores = ranker.score_kept("what causes gout", ranker.keep([PassageText("a germ"), PassageText("gout")]))
    assert scores.shape == (2,)


def test_passages_that_answer_nothing_are_negatives(backbone: Path, tmp_path: Path):
    training, _ = asked_pools(experiment(beir(tmp_path / "beir"), backbone), silent)
    assert "people with fever often feel pain." in {each.passage.text for each in training.passages}


@pytest.mark.parametrize(("context", "head"), [("layers", "knrm"), ("words", "drmm-tks"), ("layers", "pacrr")])
def test_a_variant_of_ck_hqa_trains_on_questions(context: str, head: str, backbone: Path, tmp_path: Path):
    settings = {"head": head, "context": context, "cls": context == "layers"}
    asked = experiment(bioasq(tmp_path / "bioasq"), backbone, architecture="ck", settings=settings, title="small")
    before = create("ck", str(backbone), settings)
    outcome = train(asked, tmp_path / "run")
    after = load(outcome.model)
    assert (after.name, outcome.record["kind"]) == ("small", "capr")
    learned = dict(after.ranker.backbones()["pairs"].named_parameters())
    begun = dict(before.backbones()["pairs"].named_parameters())
    moved = {name for name, value in learned.items() if not torch.equal(value, begun[name])}
    assert moved, "the encoder is trained too"
    assert any("layer.1" in name for name in moved) is (context == "layers")


def test_hinge_loss_averages_over_unspared_negatives(backbone: Path):
    ranker = create("cross", str(backbone))
    objective = PairObjective(ranker, PairTraining(loss="hinge", margin=0.5), [], [])
    ranker.eval()
    texts = [PassageText(text) for text in ("a germ causes gout", "pain and fever", "the signs of asthma")]
    rows, spared = torch.tensor([[0, 1, 2], [2, 1, 0]]), torch.tensor([[False, False, True], [False, False, False]])
    batch = PairBatch(["gout causes", "asthma signs"], texts, rows, spared)
    loss, number = objective.loss(batch)
    scores = ranker.score_lists(batch.queries, texts, rows).detach()
    wrong = [(0, 1), (1, 1), (1, 2)]
    by_hand = sum(max(0.0, 0.5 - float(scores[q, 0]) + float(scores[q, column])) for q, column in wrong) / 3
    assert number == 2
    assert float(loss.detach()) == pytest.approx(by_hand, abs=1e-5)
    assert by_hand > 0
    loss.backward()
    assert all(torch.isfinite(each.grad).all() for each in ranker.parameters() if each.grad is not None)


def test_the_head_may_have_its_own_learning_rate(backbone: Path):
    ranker = create("cross", str(backbone))
    choice = PairTraining(learning_rate=2e-5, head_learning_rate=1e-3, weight_decay=0.0)
    rate_of = {
        id(parameter): group["lr"]
        for group in PairObjective(ranker, choice, [], []).optimizer().param_groups
        for parameter in group["params"]
    }
    trained = {name: each for name, each in ranker.named_parameters() if each.requires_grad}
    for name, parameter in trained.items():
        assert rate_of.pop(id(parameter)) == (1e-3 if name.startswith("head.") else 2e-5), name
    assert not rate_of
    alike = PairObjective(ranker, PairTraining(learning_rate=3e-5), [], []).optimizer()
    assert {group["lr"] for group in alike.param_groups} == {3e-5}
    assert sum(len(group["params"]) for group in alike.param_groups) == len(trained)


def test_unset_variables_of_settings_are_named(backbone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings = experiment("here", backbone, architecture="ck", settings={"knowledge": "$AUSCULT_NO_GRAPH"})
    monkeypatch.delenv("AUSCULT_NO_GRAPH", raising=False)
    with pytest.raises(ConfigError, match=r"settings\.knowledge"):
        train(settings, tmp_path / "run")
    monkeypatch.setenv("AUSCULT_NO_GRAPH", "/graphs/one")
    assert settings.expanded_settings() == {"knowledge": "/graphs/one"}


def test_corpus_questions_refuse_label_and_note_settings(backbone: Path):
    with pytest.raises(ValueError, match="queries: corpus"):
        experiment("here", backbone, labels={"aspects": "parts"})
    with pytest.raises(ValueError, match="queries: corpus"):
        experiment("here", backbone, clinical_notes=["here"])
    for kind in ("same_entity", "same_aspect"):
        with pytest.raises(ValueError, match="same_entity and same_aspect are not for"):
            experiment("here", backbone, negatives={kind: 1})


SHIPPED = [path for file in sorted(ROOT.glob("experiments/wang2021-*.yaml")) for path in experiments_in(file)]
GRAPHS = {"$AUSCULT_GENERAL_GRAPH": "W", "$AUSCULT_DOMAIN_GRAPH": "U", "": ""}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_shipped_experiment_is_what_its_title_says(path: Path):
    shipped = read_experiment(path)
    part = "notes" if shipped.clinical_notes else "bioasq" if shipped.queries == "corpus" else shipped.track
    assert shipped.name == f"ck-{part}-{shipped.title.lower()}"
    variant = variant_of(shipped.title)
    assert variant is not None
    assert variant.name == shipped.title
    settings = shipped.settings
    assert settings["head"] == variant.head.lower()
    domain = shipped.backbone == "$AUSCULT_DOMAIN_BACKBONE"
    if settings.get("context") == "words":
        context = ""
    elif settings.get("cls", True):
        context = "SC" if domain else "BC"
    else:
        context = "B"
    assert domain or shipped.backbone == "$AUSCULT_BACKBONE"
    graph = GRAPHS[settings.get("knowledge", "")] if settings.get("linker") != "none" else "NONE"
    # Beside the paper's sum, entities are compared in a matrix of their own.
    graph += "M" if settings.get("fusion") == "matrix" else ""
    given = [part for part in (context, graph) if part]
    assert "-".join(given) == variant.given
    assert (shipped.training.loss, shipped.training.head_learning_rate, shipped.training.learning_rate) == (
        "hinge",
        1e-3,
        1e-4,
    )
    # An epoch of the paper is 512 pairs; what it has not has several wrong passages for each of fewer queries.
    queries, wrong, random = 32 * 16, 1, 0
    if shipped.track == "zero-shot":
        queries, wrong = 320, 3
    elif shipped.clinical_notes:
        queries, random = 320, 1
    assert (shipped.training.pairs, shipped.training.batch_pairs) == (queries, 16)
    assert (shipped.negatives.drawn, shipped.negatives.in_batch) == (wrong, random)
    names = {(corpus.name, corpus.split) for corpus in shipped.corpora}
    if shipped.track == "zero-shot":
        assert not any("medquad" in name for name, _ in names)
    elif shipped.queries == "corpus":
        assert names == {("bioasq", "train")}
        assert [(corpus.name, corpus.split) for corpus in shipped.never_learn] == [("bioasq", "test")]
    elif shipped.clinical_notes:
        assert names == {("clinical-notes", "train")}
        assert shipped.clinical_notes == ["clinical-notes"]
    else:
        assert names == {("medquad", "train-disjoint")}


def test_every_paper_variant_is_shipped_for_every_head():
    titles = [read_experiment(path).title for path in SHIPPED if "medquad-adapted" in path.name]
    given = ["", "W", "U", "B", "BC", "BC-W", "BC-U", "SC-W", "SC-U"]
    wanted = {
        "-".join(part for part in (head, each) if part) for head in ("KNRM", "PACRR", "DRMM-TKS") for each in given
    }
    controls = {"DRMM-TKS-NONE", "DRMM-TKS-BC-NONE", "KNRM-NONE", "PACRR-NONE"}
    controls |= {f"{head}-UM" for head in ("KNRM", "PACRR", "DRMM-TKS")}
    assert (set(titles), len(titles)) == (wanted | controls, len(wanted) + len(controls))
