"""Training of bi-, poly- and cross-encoders: pairs, masks, gradient caching, learning, resuming."""

from __future__ import annotations

import gzip
import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel, BertTokenizerFast

from auscult.documents import Section, build_document
from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.build import CANDIDATES, PairObjective, held_out_queries, set_dropout
from auscult_lab.encoders.data import LabelledPassage, PairExamples, PassagePool, label_passages
from auscult_lab.encoders.experiment import (
    CaprExperiment,
    PairLabels,
    PairNegatives,
    PairTraining,
)
from auscult_lab.encoders.gathering import read_notes
from auscult_lab.encoders.persistence import load
from auscult_lab.encoders.registry import create
from auscult_lab.families.table import read_experiment, train
from auscult_lab.modules.encoder_identity import digest_of_weights
from auscult_lab.training import loop
from auscult_lab.training.batches import RowBatches
from auscult_lab.training.experiment import CorpusChoice
from auscult_lab.training.experiment_files import experiments_in
from auscult_lab.training.labels import EntityLabel, label_documents
from places import ROOT

ARCHITECTURES = ("bi", "poly", "cross")
ENTITIES = ["asthma", "gout", "measles", "mumps", "scurvy", "rickets"]
ASPECTS = ["symptoms", "causes", "treatment"]
FILLER = ["people", "often", "feel", "slowly", "doctors", "know", "rare", "well", "family", "early"]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One layer, every word of the task a token."""
    folder = tmp_path_factory.mktemp("backbone")
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*marks, *ENTITIES, *ASPECTS, *FILLER, ".", ";"]), encoding="utf-8")
    tokenizer = BertTokenizerFast.from_pretrained(folder, model_max_length=32)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=32, initializer_range=0.2,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def passages(number: int, seed: int) -> PassagePool:
    """Passages that name their entity and, in a word, their aspect, among words that say nothing."""
    rng = random.Random(seed)
    made = []
    for row in range(number):
        entity, aspect = ENTITIES[row % len(ENTITIES)], ASPECTS[row // len(ENTITIES) % len(ASPECTS)]
        words = [entity, aspect, *rng.choices(FILLER, k=5)]
        rng.shuffle(words)
        made.append(LabelledPassage(PassageText(" ".join(words)), (EntityLabel(f"title:{entity}", entity),), (aspect,)))
    return PassagePool(tuple(made))


def labelled(entity: str, aspect: str, text: str) -> LabelledPassage:
    return LabelledPassage(PassageText(text), (EntityLabel(entity, entity),), (aspect,))


def document(title: str, *sections: tuple[str, str]) -> Any:
    return build_document(doc_id=title, title=title, sections=[Section(heading, text) for heading, text in sections])


def test_unlabelled_passages_are_skipped_and_counted():
    documents = [
        document("Asthma", ("Signs and symptoms", "People feel pain."), ("", "Nothing stands above this.")),
        document("", ("Causes", "A germ.")),
    ]
    pool = label_passages(label_documents(documents, None, None), PairLabels())
    assert [(each.entities[0].name, each.aspects) for each in pool.passages] == [("Asthma", ("signs and symptoms",))]
    assert (pool.without_aspect, pool.without_entity) == (1, 1)
    parts = label_passages(label_documents(documents, None, None), PairLabels(aspects="parts"))
    assert parts.passages[0].aspects == ("signs", "symptoms")


def test_draws_reach_every_label_and_are_reproducible():
    passage = LabelledPassage(
        PassageText("text"), (EntityLabel("a", "asthma"), EntityLabel("g", "gout")), ("symptoms", "causes")
    )
    pool = PassagePool((passage, labelled("mumps", "causes", "other")))
    examples = PairExamples(pool, PairNegatives(), seed=3)
    drawn = [examples[epoch, 0].query for epoch in range(40)]
    assert set(drawn) == {f"{e} ; {a}" for e in ("asthma", "gout") for a in ("symptoms", "causes")}
    assert [PairExamples(pool, PairNegatives(), seed=3)[epoch, 0].query for epoch in reversed(range(40))] == drawn[::-1]


def test_other_answers_in_a_batch_are_spared():
    pool = PassagePool(
        (
            labelled("asthma", "causes", "one"),
            labelled("asthma", "causes", "another"),
            labelled("gout", "causes", "one"),
            labelled("gout", "symptoms", "third"),
        )
    )
    examples = PairExamples(pool, PairNegatives(), seed=0)
    batch = examples.collate([examples[0, row] for row in (0, 1, 2, 3)])
    spared = [
        {
            batch.passages[int(column)].text + ("!" if is_spared else "")
            for column, is_spared in zip(rows[1:], masks[1:], strict=True)
        }
        for rows, masks in zip(batch.rows, batch.spared, strict=True)
    ]
    # The first query's negatives: "another" has its labels, the third passage has its very text.
    assert spared[0] == {"another!", "one!", "third"}
    assert spared[1] == {"one!", "one", "third"}
    assert spared[3] == {"one", "another"}
    assert batch.rows[:, 0].tolist() == [0, 1, 2, 3]
    assert not batch.spared[:, 0].any()


def test_spared_passages_do_not_affect_the_loss(backbone: Path):
    ranker = create("bi", str(backbone)).eval()
    objective = PairObjective(ranker, PairTraining(), [], [])
    ranker.eval()
    own, false = labelled("asthma", "causes", "asthma causes"), labelled("asthma", "causes", "asthma people")
    wrong = labelled("gout", "symptoms", "gout rare")
    spared = PairExamples(PassagePool((own, false, wrong)), PairNegatives(), seed=0)
    loss, rows = objective.loss(spared.collate([spared[0, 0], spared[0, 1], spared[0, 2]]))
    batch = spared.collate([spared[0, 0], spared[0, 1], spared[0, 2]])
    scores = ranker.score_lists(batch.queries, batch.passages, batch.rows)
    by_hand = [
        torch.logsumexp(torch.stack([s for s, m in zip(line, mask, strict=True) if not m]), 0) - line[0]
        for line, mask in zip(scores, batch.spared, strict=True)
    ]
    assert rows == 3
    torch.testing.assert_close(loss, torch.stack(by_hand).mean())


def test_hard_negatives_share_words_and_do_not_answer():
    pool = passages(36, seed=0)
    examples = PairExamples(pool, PairNegatives(in_batch=2, bm25=3, bm25_depth=12), seed=0)
    for row in range(8):
        pair = examples[0, row]
        own = pool.passages[row]
        assert len(pair.hard) == 3
        for hard in pair.hard:
            words = pool.passages[hard].passage.text.split()
            assert {own.entities[0].name, own.aspects[0]} & set(words)
            assert not pool.passages[hard].answers(own.entities[0].key, own.aspects[0])
    batch = examples.collate([examples[0, row] for row in range(8)])
    assert batch.rows.shape == (8, 6)
    for line, mask in zip(batch.rows.tolist(), batch.spared, strict=True):
        assert len(set(line)) == 6
        assert not mask.any()


def test_negatives_of_the_same_entity_answer_another_aspect():
    texts = [labelled("asthma", aspect, f"text {aspect}") for aspect in ("causes", "symptoms", "outlook")]
    pool = PassagePool((*texts, labelled("gout", "causes", "a"), labelled("asthma", "causes", "an answer as well")))
    examples = PairExamples(pool, PairNegatives(in_batch=1, same_entity=1), seed=0)
    drawn = [examples[epoch, 0].hard for epoch in range(20)]
    assert set(drawn) == {(1,), (2,)}
    assert examples[0, 3].hard == (), "nothing else is about gout"
    # The other one of each query is a random passage of the batch.
    batch = examples.collate([examples[0, row] for row in (0, 3)])
    assert batch.rows.shape == (2, 3)
    assert not batch.spared.any()
    both = PairExamples(pool, PairNegatives(in_batch=0, bm25=2, same_entity=2), seed=0)[0, 0].hard
    assert len(both) == len(set(both)) <= 4
    assert {1, 2} <= set(both)
    assert not {0, 4} & set(both)


def test_same_aspect_negatives_are_about_another_entity():
    texts = [labelled(entity, "causes", f"text {entity}") for entity in ("asthma", "gout", "lupus")]
    pool = PassagePool((*texts, labelled("asthma", "symptoms", "a"), labelled("asthma", "causes", "an answer as well")))
    examples = PairExamples(pool, PairNegatives(in_batch=0, same_aspect=1), seed=0)
    assert {examples[epoch, 0].hard for epoch in range(20)} == {(1,), (2,)}
    assert examples[0, 3].hard == (), "nothing else is about symptoms"
    both = PairExamples(pool, PairNegatives(in_batch=0, same_entity=1, same_aspect=2), seed=0)[0, 0].hard
    assert both[0] == 3
    assert set(both[1:]) == {1, 2}


@pytest.mark.parametrize(
    ("asked", "heading", "same"),
    [
        ("signs and symptoms", "symptoms", True),
        ("cause", "causes and risk factors", True),
        ("history of present illness", "past medical history", False),
        ("prevention", "treatment", False),
        ("", "treatment", False),
        ("", "", True),
    ],
)
def test_a_heading_contained_in_another_answers_for_it(asked: str, heading: str, same: bool):
    for one, other in ((asked, heading), (heading, asked)):
        assert labelled("gout", one, "text").answers("gout", other) is same
        assert not labelled("gout", one, "text").answers("asthma", other)


def test_held_out_queries_have_one_answering_candidate():
    pool = passages(200, seed=1)
    queries = held_out_queries(pool, number=10, seed=0)
    assert len(queries) == 10
    for query in queries:
        right = pool.passages[query.rows[0]]
        assert len(set(query.rows)) == CANDIDATES
        assert query.query == f"{right.entities[0].name} ; {right.aspects[0]}"
        assert not any(pool.passages[row].answers(right.entities[0].key, right.aspects[0]) for row in query.rows[1:])


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_chunks_change_neither_loss_nor_gradients(kind: str, backbone: Path):
    examples = PairExamples(passages(12, seed=2), PairNegatives(in_batch=3), seed=0)
    batch = examples.collate([examples[0, row] for row in range(6)])
    results = []
    for chunk in (None, 1, 4):
        torch.manual_seed(0)
        ranker = create(kind, str(backbone))
        objective = PairObjective(ranker, PairTraining(chunk=chunk), [], [])
        ranker.eval()  # Without dropout, which would be drawn for other batches.
        loss, _ = objective.loss(batch)
        loss.backward()
        gradients = {name: weights.grad for name, weights in ranker.named_parameters() if weights.grad is not None}
        results.append((loss.detach(), gradients))
    whole, names = results[0][0], results[0][1].keys()
    for loss, gradients in results[1:]:
        torch.testing.assert_close(loss, whole, rtol=1e-4, atol=1e-5)
        assert gradients.keys() == names
        for name in names:
            torch.testing.assert_close(gradients[name], results[0][1][name], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_architectures_without_dropout_read_alike_in_training(kind: str, backbone: Path):
    torch.manual_seed(0)
    ranker = create(kind, str(backbone), {})
    texts, rows = [PassageText(f"words of passage {number}") for number in range(3)], torch.tensor([[0, 1, 2]])

    def scores(*, training: bool) -> torch.Tensor:
        return ranker.train(training).score_lists(["words"], texts, rows).detach()

    assert not torch.equal(scores(training=True), scores(training=True))
    set_dropout(ranker, 0.0)
    torch.testing.assert_close(scores(training=True), scores(training=False))


@pytest.mark.parametrize("kind", ["bi", *(pytest.param(each, marks=pytest.mark.slow) for each in ("poly", "cross"))])
def test_every_architecture_learns(kind: str, backbone: Path, tmp_path: Path):
    torch.manual_seed(0)
    ranker = create(kind, str(backbone), {"pooling": "mean"} | ({} if kind == "cross" else {"cosine": True}))
    # From random weights and in seconds, no architecture learns with dropout.
    set_dropout(ranker, 0.0)
    held_out = passages(72, seed=77)
    asked = held_out_queries(held_out, number=18, seed=0)
    choice = PairTraining(learning_rate=3e-3, batch_pairs=16)
    objective = PairObjective(ranker, choice, [each.passage for each in held_out.passages], asked)
    assert objective.measures()["R@1"] < 0.7
    examples = PairExamples(passages(432, seed=1), PairNegatives(in_batch="all" if kind != "cross" else 6), seed=0)
    batches = RowBatches(len(examples), per_epoch=432, size=16, seed=0)
    loader: DataLoader[Any] = DataLoader(examples, batch_sampler=batches, collate_fn=examples.collate)
    schedule = loop.Schedule(epochs=6, seed=0, warm_up=0.1, gradient_clip=1.0, accelerator="cpu", patience=None)
    history = loop.fit(objective, loader, schedule, folder=tmp_path, say=lambda _: None, progress=False)
    assert history.epochs[-1]["validation_R@1"] >= 0.9


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pages.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for entity in ENTITIES:
            sections = [
                {"heading": aspect, "text": f"{FILLER[n]} {entity} {aspect} {FILLER[n + 3]}."}
                for n, aspect in enumerate(ASPECTS)
            ]
            file.write(json.dumps({"id": entity, "title": entity, "sections": sections}) + "\n")
    return path


def fields(corpus: Path, backbone: Path, **changes: Any) -> dict[str, Any]:
    training = {
        "epochs": 2, "batch_pairs": 4, "accelerator": "cpu", "checkpoint_minutes": 0, "max_passage_tokens": 16,
        "learning_rate": 1e-3, **changes.pop("training", {}),
    }  # fmt: skip
    return {
        "name": "small", "track": "adapted", "model": "capr", "architecture": "bi", "backbone": str(backbone),
        "corpora": [{"name": str(corpus)}], "validation": {"corpora": [str(corpus)], "documents": 2},
        "training": training, **changes,
    }  # fmt: skip


class KilledError(Exception):
    """Stands for a power cut."""


@pytest.mark.parametrize("step", [2, 4])
def test_training_killed_anywhere_resumes_to_the_same_model(
    step: int, corpus: Path, backbone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Twelve passages, batches of four: steps 0-2 are the first epoch. The backbone has dropout."""
    experiment = CaprExperiment.model_validate(fields(corpus, backbone))
    whole = train(experiment, tmp_path / "whole")
    given = PairObjective.loss
    steps = []

    def dies(self: PairObjective, batch: Any) -> Any:
        if len(steps) == step:
            raise KilledError
        steps.append(1)
        return given(self, batch)

    with monkeypatch.context() as patched:
        patched.setattr(PairObjective, "loss", dies)
        with pytest.raises(KilledError):
            train(experiment, tmp_path / "killed")
    done = []

    def counted(self: PairObjective, batch: Any) -> Any:
        done.append(1)
        return given(self, batch)

    monkeypatch.setattr(PairObjective, "loss", counted)
    resumed = train(experiment, tmp_path / "killed")
    assert len(done) == 6 - step
    left, right = load(whole.model), load(resumed.model)
    for name, value in left.ranker.state_dict().items():
        torch.testing.assert_close(right.ranker.state_dict()[name], value, rtol=0, atol=1e-6, msg=name)
    keys = ("epoch", "loss", "validation_R@1", "validation_RR")
    for one, other in zip(whole.record["history"], resumed.record["history"], strict=True):
        assert [one[key] for key in keys] == pytest.approx([other[key] for key in keys], abs=1e-5)


def test_finished_training_is_recorded_and_reused(corpus: Path, backbone: Path, tmp_path: Path):
    """The model reads whole passages, though its training cut them at 16 tokens."""
    experiment = CaprExperiment.model_validate(fields(corpus, backbone))
    outcome = train(experiment, tmp_path / "run")
    assert load(outcome.model).ranker.config.max_passage_tokens == 512
    assert outcome.record["kind"] == "capr"
    assert outcome.record["encoder"] == {
        "name": backbone.name,
        "sha256": digest_of_weights(backbone),
        "through": [],
        "training_known": False,
    }
    assert outcome.record["passages"] == 12
    assert [epoch["queries"] for epoch in outcome.record["history"]] == [12, 24]
    said: list[str] = []
    again = train(experiment, tmp_path / "run", say=said.append)
    assert again.record == json.loads((tmp_path / "run" / "training.json").read_text())
    assert said == [f"already trained: {outcome.model}"]


def test_changed_documents_are_refused(corpus: Path, backbone: Path, tmp_path: Path):
    copy = tmp_path / corpus.name
    copy.write_bytes(corpus.read_bytes())
    experiment = CaprExperiment.model_validate(fields(copy, backbone))
    train(experiment, tmp_path / "run")
    (tmp_path / "run" / "training.json").unlink()
    with gzip.open(copy, "at", encoding="utf-8") as file:
        sections = [{"heading": "causes", "text": "people know."}]
        file.write(json.dumps({"id": "new", "title": "new", "sections": sections}) + "\n")
    with pytest.raises(ConfigError, match="documents that this training was begun with"):
        train(experiment, tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"architecture": "tri"}, "none of bi, poly, cross"),
        ({"negatives": {"in_batch": 0}}, "at least one negative"),
        ({"clinical_notes": ["elsewhere"]}, "none of 'corpora'"),
        ({"word_vectors": {"dim": 5}}, "not for transformers"),
        ({"settings": {"colour": 1}}, "settings of 'bi'"),
    ],
)
def test_wrong_experiments_are_refused(
    changes: dict[str, Any], words: str, corpus: Path, backbone: Path, tmp_path: Path
):
    path = tmp_path / "experiment.yaml"
    path.write_text(json.dumps(fields(corpus, backbone, **changes)), encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        read_experiment(path)


def test_an_unset_variable_of_the_backbone_is_named(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AUSCULT_NOT_SET", raising=False)
    experiment = CaprExperiment.model_validate(fields(corpus, Path("$AUSCULT_NOT_SET")))
    with pytest.raises(ConfigError, match="AUSCULT_NOT_SET"):
        train(experiment, tmp_path / "run")


def test_too_few_passages_are_an_error(corpus: Path, backbone: Path, tmp_path: Path):
    experiment = CaprExperiment.model_validate(fields(corpus, backbone, least_passages=100))
    with pytest.raises(ConfigError, match="100 passages or more"):
        train(experiment, tmp_path / "run")


def test_batches_go_on_inside_an_epoch():
    batches = RowBatches(10, per_epoch=7, size=2, seed=0)
    batches.set_epoch(1)
    whole = list(batches)
    assert [len(batch) for batch in whole] == [2, 2, 2, 1]
    batches.resume(1, 3)
    assert list(batches) == whole[3:]
    batches.set_epoch(2)
    assert len(list(batches)) == 4


def test_the_rate_rises_and_falls_in_straight_lines():
    rates = [loop._rate(step, 100, 0.1) for step in range(100)]
    assert rates.index(max(rates)) == 10
    assert rates[10] == 1.0
    assert rates[55] == pytest.approx(0.5)
    assert 0 < rates[0] < rates[5]
    assert rates[99] == pytest.approx(1 / 90)


@pytest.mark.parametrize("known_by", ["patient", "text"])
def test_notes_of_one_patient_are_held_out_together(known_by: str, tmp_path: Path):
    """Three notes of each of twelve, who are told apart by name, or by what their notes repeat."""
    rows = []
    for person, number in product("abcdefghijkl", range(3)):
        words = " ".join(f"{person}{'' if known_by == 'text' else number}{word}" for word in range(40))
        metadata = {"patient": person} if known_by == "patient" else {}
        section = {"heading": "Plan", "text": f"Visit {number}. {words}."}
        rows.append({"id": f"{person}-{number}", "title": "Note", "sections": [section], "metadata": metadata})
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    choice = CorpusChoice(name=str(tmp_path / "notes.jsonl"))
    for most in (3, 100):
        split = read_notes([choice], validation=most, say=lambda _: None)
        held_out, trained = ({note.doc_id[0] for note in part} for part in (split.validation, split.training))
        assert held_out
        assert trained
        assert not held_out & trained


SHIPPED = [path for file in sorted(ROOT.glob("experiments/grundmann2021-*.yaml")) for path in experiments_in(file)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_experiments_are_valid(path: Path):
    experiment = read_experiment(path)
    assert experiment.name.startswith("capr-")
    assert path.name.endswith(f":{experiment.name}")
    if experiment.track == "zero-shot":
        assert not any("medquad" in corpus.name for corpus in experiment.corpora)
