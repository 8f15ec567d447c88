"""Tuning a reader on written questions: it reads as the encoder does, and learns from right and wrong passages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.towers import Towers, unit
from auscult.understanding import Query
from auscult_lab.general import reading
from auscult_lab.general.data import TowerExamples
from auscult_lab.general.experiment import TowerTraining
from auscult_lab.modules.backbone import Backbone, open_backbone
from places import ROOT
from small_general import make_general
from study.shipped.aspects import fit_aspects
from study.shipped.candidates import Found, Siblings, candidates, nearest_by_terms, nearest_windows
from study.shipped.teacher import Choice, Teacher, TeacherSettings, is_kept
from study.shipped.towers import AskedExamples, AskedNetwork, AskedObjective, Phrasings
from study.shipped.tuning import AskedPassage, Tuning, TuningSettings, first_right
from study.shipped.windows import AskedReader, Windows
from study.shipped.written import (
    WrittenQuestion,
    half_of,
    is_held_out,
    read_near_misses,
    read_phrasings,
    read_questions,
    right_passages,
)
from tiny_bert import save_tiny_bert

WRITTEN = ROOT / "data" / "questions"
ASKED = ["signs of gout", "treatment of asthma", "a gene causes it"]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    sections = [
        Section("Symptoms", " ".join(["People with gout often feel pain.", "Fever and pain come slowly."] * 6)),
        Section("", "A germ causes it. A gene causes asthma and the fever."),
        Section("Treatment", "Pain."),
    ]
    return [
        build_document(doc_id="1", title="Gout", sections=sections),
        build_document(doc_id="2", title="", sections=sections[1:]),
        build_document(doc_id="3", title="Asthma", sections=sections[2:]),
    ]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> GeneralEncoder:
    # In single precision; the saved form of a transformer has fewer digits.
    small, backbone = make_general(), open_tiny(tmp_path_factory.mktemp("exact"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "native_precision", lambda: "float32")
        exact = reading.reader_of(backbone, {"window": backbone.limit})
    return GeneralEncoder(exact, small.towers, name="exact", centre=small.centre, fusion={})


@pytest.fixture
def reader(encoder: GeneralEncoder, documents: list[Document], tmp_path: Path) -> AskedReader:
    windows = Windows.of(documents, encoder.reader, most=8)
    return AskedReader(open_tiny(tmp_path), windows, torch.from_numpy(np.array(encoder.centre, np.float32)))


def open_tiny(folder: Path) -> Backbone:
    """The transformer of the small general encoder."""
    return open_backbone(str(save_tiny_bert(folder / "bert", width=32))).eval()


def tokens(encoder: GeneralEncoder, texts: list[str]) -> list[tuple[int, ...]]:
    return [tuple(row) for row in encoder.reader.cut([[text] for text in texts])[0]]


def test_passages_are_read_as_by_the_encoder(
    encoder: GeneralEncoder, documents: list[Document], reader: AskedReader
) -> None:
    assert np.diff(reader.windows.edges).max() > 1
    given = np.concatenate([passages for _, passages in encoder.encode_passages(documents)])
    given = given[:, encoder.parts["question"]]
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    assert np.allclose(reader.all_passages().numpy(), given, atol=1e-3)


def test_questions_are_read_as_by_the_encoder(encoder: GeneralEncoder, reader: AskedReader) -> None:
    given = encoder.encode_queries([Query(text, "", text=text) for text in ASKED])[:, encoder.parts["question"]]
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    with torch.no_grad():
        own = reader.question_part(tokens(encoder, ASKED)).numpy()
    assert np.allclose(own, given, atol=1e-3)


def test_hiding_titles_changes_only_passages_with_one(reader: AskedReader) -> None:
    changed = (reader.all_passages() - reader.all_passages(hidden=True)).abs().amax(dim=1) > 1e-5
    assert changed.tolist() == reader.windows.labelled.tolist()


def test_few_windows_keep_first_and_answer(reader: AskedReader) -> None:
    counts = np.diff(reader.windows.edges)
    passage = int(counts.argmax())
    last = int(counts[passage]) - 1
    rows, places = reader.windows.rows(
        np.array([passage]), most=2, kept=np.array([last]), chance=np.random.default_rng(0)
    )
    begin = int(reader.windows.edges[passage])
    assert rows.tolist() == [begin, begin + last]
    assert places.tolist() == [0, 0]
    assert reader.windows.window_of(passage, 2) >= reader.windows.window_of(passage, 0) == 0
    assert reader.windows.window_of(passage, -1) == -1


def asked_passages(encoder: GeneralEncoder) -> list[AskedPassage]:
    rows = zip(tokens(encoder, ASKED), ([0], [2, 4, 5], [1, 3]), ((1, 2), (0, 1), (0, 5)), strict=True)
    return [
        AskedPassage(asked, "notes", right[0], tuple(right), wrong, taught=(2.0, 1.0, 3.0 if number else 0.0))
        for number, (asked, right, wrong) in enumerate(rows)
    ]


def test_a_step_lowers_its_loss(encoder: GeneralEncoder, reader: AskedReader) -> None:
    questions = asked_passages(encoder)
    settings = TuningSettings(learning_rate=1e-3, epochs=1, batch_questions=3, wrong=2, most_windows=8, warm_up=0.0)
    tuning = Tuning(reader, settings, questions)
    batch = tuning.batch(questions)
    # What the teacher puts before the right passage is left out.
    assert (batch.own >= 0).sum(dim=1).tolist() == [3, 2, 2]
    before = tuning.step(batch)
    assert float(tuning.loss(batch).detach()) < before


def test_another_right_passage_is_no_wrong_one(encoder: GeneralEncoder, reader: AskedReader) -> None:
    questions = asked_passages(encoder)
    batch = Tuning(reader, TuningSettings(wrong=2), questions).batch(questions)
    for row, each in enumerate(questions):
        left_out = {int(batch.passages[place]) for place in batch.left_out[row].nonzero().flatten()}
        assert left_out <= set(each.right)
        assert not batch.left_out[row, batch.own[row, 0]]


def test_a_tuning_keeps_its_best_epoch(encoder: GeneralEncoder, reader: AskedReader) -> None:
    questions, seen = asked_passages(encoder), list[Mapping[str, float]]()
    settings = TuningSettings(learning_rate=3e-3, epochs=4, batch_questions=3, wrong=2)
    collections = ["notes"] * len(reader.windows)
    best = Tuning(reader, settings, questions).run(questions, collections, seen.append)
    assert len(seen) == 5
    assert best == max(each["notes"] for each in seen)
    assert first_right(reader, questions, collections)["notes"] == best


def test_candidates_come_in_order_and_are_wrong() -> None:
    found = Found([3], page=[2, 3, 4], siblings=[9, 3], terms=[4, 11, 12, 13, 14, 15], readers=[[11, 3, 20], [21]])
    chosen = candidates(found, chance=np.random.default_rng(0))
    assert [each.kind for each in chosen] == [*["page"] * 2, "sibling", *["terms"] * 4, *["reader"] * 2, "terms"]
    assert {each.passage for each in chosen} == {2, 4, 9, 11, 12, 13, 14, 15, 20, 21}
    assert candidates(found, most=4, chance=np.random.default_rng(0)) == chosen[:4]


def test_searches_find_the_nearest(encoder: GeneralEncoder, reader: AskedReader) -> None:
    assert nearest_by_terms([[5, 6], [7]], [[1, 2], [5, 6, 9], [5, 7]], most=2) == [[1, 2], [2, 0]]
    siblings = Siblings.of(["Gout", "Asthma", "Gout"], ["1", "2", "3"], ["Signs", "signs", "signs"], encoder.reader)
    assert siblings.nearest(0) == [2, 1]
    windows = nearest_windows(reader, tokens(encoder, ASKED), [[0], [0, 1], [5]])
    assert [len(each) for each in windows] == [1, 2, 1]
    assert windows[2] == [0]


def test_a_teacher_learns_and_scores(encoder: GeneralEncoder, reader: AskedReader) -> None:
    rows = tokens(encoder, ASKED)
    choices = [Choice(rows[0], [0, 1, 5], [1, 0, 0]), Choice(rows[1], [2, 0], [0, 0]), Choice(rows[2], [1, 2], [0, 0])]
    settings = TeacherSettings(learning_rate=3e-3, epochs=30, batch_questions=3)
    teacher = Teacher(reader.backbone, reader.windows, settings)
    losses = teacher.train(choices)
    assert len(losses) == 30
    assert losses[-1] < losses[0]
    scores = teacher.scores(choices)
    assert [len(each) for each in scores] == [3, 2, 2]
    assert float(teacher.loss(choices).detach()) < losses[0]
    assert sum(each[0] == max(each) for each in scores) >= 2


def test_only_found_questions_without_better_sections_are_kept() -> None:
    assert is_kept([1.0, 3.0], ["page"], by_readers=[50], by_terms=None)
    assert not is_kept([1.0, 4.5], ["page"], by_readers=[1], by_terms=1)
    assert is_kept([1.0, 4.5], ["terms"], by_readers=[1], by_terms=1)
    lost = [0.0, 1.0, 1.0, 1.0]
    assert not is_kept(lost, ["terms"] * 3, by_readers=[21, 30], by_terms=None)
    assert is_kept(lost, ["terms"] * 3, by_readers=[21, 30], by_terms=16)
    assert is_kept(lost, ["terms"] * 3, by_readers=[20, 30], by_terms=None)


def test_towers_learn_what_questions_ask(encoder: GeneralEncoder, documents: list[Document], tmp_path: Path) -> None:
    def vectors(texts: list[str]) -> torch.Tensor:
        return torch.from_numpy(unit(encoder.reader.ask(texts)))

    read = reading.read_documents(documents, encoder.reader, tmp_path, lambda _: None)
    examples = TowerExamples(read, encoder.reader, seed=0)
    asked = vectors(["signs of this", "treatment of this", "causes of this"])
    questions = AskedExamples(examples, asked.numpy(), np.array([0, 2, 1]), seed=0)
    batch = questions.batch(range(len(questions)), 0)
    assert sorted(batch.passages.tolist()) == [0, 1, 2]
    phrasings = Phrasings(
        vectors(["pain", "the signs of this", "treatment", "how it feels"]), torch.tensor([0, 0, 1, 0])
    )
    torch.manual_seed(0)
    network = AskedNetwork(encoder.reader.dim, 16, 8, vectors(["symptoms", "treatment"]), dropout=0.0)
    objective = AskedObjective(network, TowerTraining(), examples, questions, phrasings, seed=0)
    assert len(objective.terms(batch)) == 3
    optimizer, losses = objective.optimizer(), []
    for _ in range(20):
        loss = objective.loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    assert {*objective.measures()} == {"aspect", "entity", "question", "phrasing", "all"}
    towers = Towers(network.arrays())
    places = towers.ask("asked", asked.numpy())
    assert np.allclose(places, network.asked(asked).detach().numpy(), atol=1e-3)
    assert not towers.read_questions


def test_aspects_of_questions_are_learned_and_place_them() -> None:
    chance = np.random.default_rng(0)
    centres = unit(chance.normal(size=(3, 16)).astype(np.float32))
    right = np.repeat([0, 1, 2], 30)
    vectors = unit(centres[right] + 0.1 * chance.normal(size=(90, 16)).astype(np.float32))
    weight, bias = fit_aspects(vectors, right, np.ones(90, np.float32), 3)
    tower = {
        f"asked.{layer}.{part}": chance.normal(size=shape).astype(np.float32)
        for layer in ("first", "second")
        for part, shape in (("weight", (16, 16)), ("bias", (16,)))
    }
    known = unit(chance.normal(size=(3, 16)).astype(np.float32))
    sizes = {"aspect.bias": np.zeros(16), "aspect.first.weight": np.zeros((16, 16))}
    towers = Towers({**tower, **sizes, "known": known, "asks.weight": weight, "asks.bias": bias})
    assert towers.read_questions
    assert (towers.likely(vectors).argmax(axis=1) == right).all()
    # What is certain stands where the aspect is; what is not, nearer to where the question itself is.
    assert np.allclose((towers.asked(vectors) * known[right]).sum(axis=1), 1, atol=0.05)
    unsure = unit(vectors[:1] + vectors[40:41])
    placed = towers.asked(unsure)
    assert 0.3 < towers.likely(unsure).max() < 0.8
    assert float((placed @ towers.ask("asked", unsure).T)[0, 0]) > float(
        (known[:1] @ towers.ask("asked", unsure).T)[0, 0]
    )


def test_written_questions_are_whole() -> None:
    questions = read_questions(WRITTEN)
    assert len(questions) == 12_088
    assert all(each.answers and each.passage >= 0 and each.question for each in questions)
    for each in questions:
        edges = [edge for answer in each.answers for edge in answer]
        assert edges == sorted(edges)
        assert edges[0] >= 0
    assert len(read_near_misses(WRITTEN)) == 2_690
    assert len(read_phrasings(WRITTEN)) == 2_125
    assert all("{e}" not in text for each in read_phrasings(WRITTEN) for text in each.without_name())
    ids = {each.doc_id for each in questions}
    assert 0.4 < np.mean([half_of(doc_id) for doc_id in ids]) < 0.6
    assert 0.05 < np.mean([is_held_out(doc_id) for doc_id in ids]) < 0.12


def test_the_same_text_elsewhere_is_as_right(documents: list[Document]) -> None:
    own = WrittenQuestion("1", "nhs", "1", 1, "", "phone", "what causes it", ((0, 17),))
    assert right_passages([own], documents) == [[("1", 1), ("2", 0)]]
    passage = documents[0].passages[1]
    assert own.sentence(passage) == 0
