"""The encoder for four languages: some pieces are kept, texts are read as written, towers learn several languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.encoders import load_model
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.towers import unit
from auscult.encoders.onnx_runtime import open_session
from auscult.understanding import Query
from auscult_lab.general.data import TowerExamples
from auscult_lab.general.experiment import TowerTraining
from auscult_lab.general.reading import read_documents
from auscult_lab.general.saving import save
from packed_e5 import save_packed_e5
from places import ROOT
from study.shipped.multilingual_texts import MOST_CHARACTERS, MOST_PASSAGES, shortened
from study.shipped.packed_e5 import PackedE5
from study.shipped.phrased import headings_by_aspect, read_aspect_words, with_known_headings
from study.shipped.spoken import Forms, SpokenExamples, train_spoken
from study.shipped.towers import AskedExamples, AskedNetwork, AskedObjective, Phrasings
from study.shipped.vocabulary import count_in_words, count_pieces, kept_pieces, reading_of

WORDS = ["▁pain", "▁fever", "▁gout", "▁asthma", "▁dolor", "▁fiebre", "▁gota", "▁痛み", "▁Schmerz", "en"]
LETTERS = [f"{space}{letter}" for letter in "abcdefghijklmnopqrstuvwxyzSQ.:" for space in ("", "▁")]
READING = {"asked": "query:", "told": "passage:", "window": 64, "as_written": True}
FORMS = {"symptoms": ("síntomas", "symptome"), "treatment": ("tratamiento",)}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> PackedE5:
    return PackedE5(save_packed_e5(tmp_path_factory.mktemp("packed") / "e5.bin", ["▁", *WORDS, *LETTERS]))


def open_reader(packed: PackedE5, kept: list[int], folder: Path) -> WindowReader:
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(packed.as_onnx(kept, 64))
    packed.tokenizer(kept).save(str(folder / "tokenizer.json"))
    transformer = Transformer(open_session(folder / "model.onnx", threads=1))
    return WindowReader(transformer, open_tokenizer(folder / "tokenizer.json"), packed.width, **READING)


@pytest.fixture(scope="module")
def kept(packed: PackedE5) -> list[int]:
    counts = count_pieces(packed.tokenizer(), ["pain fever gout", "fever"] * 6)
    words = count_in_words(packed.tokenizer(), {"dolor": 1e-3, "schmerz": 1e-4, "gota": 1e-9})
    none = np.zeros(len(counts))
    return kept_pieces(packed.pieces, packed.special, in_texts=counts, in_names=none, in_words=[words])


@pytest.fixture(scope="module")
def reader(packed: PackedE5, kept: list[int], tmp_path_factory: pytest.TempPathFactory) -> WindowReader:
    return open_reader(packed, kept, tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [
        build_document(
            doc_id=f"{name}{number}",
            title=name,
            sections=[Section("Symptoms", f"fever fever {name}. pain."), Section("Tratamiento", f"gota {name}. gota.")],
        )
        for name in ("gout", "asthma", "dolor")
        for number in range(4)
    ]


def test_pieces_that_occur_are_kept(packed: PackedE5, kept: list[int]) -> None:
    pieces = {packed.pieces[number] for number in kept}
    assert {"▁pain", "▁fever", "▁gout", "▁dolor", "▁Schmerz", "a", "▁a", "<s>", "<unk>"} <= pieces
    assert not {"▁asthma", "▁fiebre", "▁gota", "▁痛み"} & pieces


def test_kept_pieces_are_read_as_with_all(packed: PackedE5, kept: list[int], tmp_path: Path) -> None:
    some, every = (
        open_reader(packed, numbers, tmp_path / name)
        for name, numbers in (("some", kept), ("every", [*range(len(packed.pieces))]))
    )
    texts = ["pain fever", "dolor", "Schmerz"]
    assert np.allclose(some.ask(texts), every.ask(texts), atol=1e-4)
    read, counts = some.read([["pain fever.", "gout."], ["dolor"]])
    of_all, counts_of_all = every.read([["pain fever.", "gout."], ["dolor"]])
    assert counts.tolist() == counts_of_all.tolist()
    assert np.allclose(read, of_all, atol=1e-4)


def test_left_out_pieces_are_read_as_shorter_ones(packed: PackedE5, kept: list[int]) -> None:
    whole, some = packed.tokenizer(), packed.tokenizer(kept)
    unknown = some.token_to_id("<unk>")
    found = reading_of(whole, some, ["asthma", "fever"], unknown)
    assert found == {"pieces_a_word_of_all": 1.0, "pieces_a_word": 3.5, "unknown": 0.0, "read_alike": 0.5}
    assert reading_of(whole, some, ["痛み"], unknown)["unknown"] > 0


def test_texts_are_read_as_written(packed: PackedE5, kept: list[int], tmp_path: Path) -> None:
    as_written = open_reader(packed, kept, tmp_path / "r")
    respelled = WindowReader(
        Transformer(open_session(tmp_path / "r" / "model.onnx", threads=1)),
        open_tokenizer(tmp_path / "r" / "tokenizer.json"), packed.width, **(READING | {"as_written": False}),
    )  # fmt: skip
    assert len(as_written.cut([["analyse"]])[0][0]) == len(respelled.cut([["analyse"]])[0][0])
    assert as_written.cut([["analyse"]]) != respelled.cut([["analyse"]]) == as_written.cut([["analyze"]])


def test_documents_are_shortened_at_sentence_ends() -> None:
    long = build_document(
        doc_id="1", title="Gout", sections=[Section("Signs", "Pain comes slowly. " * 60)] * (MOST_PASSAGES + 1)
    )
    short = shortened(long)
    assert len(short.passages) == MOST_PASSAGES
    lengths = [len(short.slice(passage)) for passage in short.passages]
    assert max(lengths) <= MOST_CHARACTERS < min(lengths) + 30
    assert short.slice(short.passages[0]).endswith("slowly.")


def test_every_aspect_has_words_in_three_languages() -> None:
    words = read_aspect_words(ROOT / "data" / "questions")
    by_aspect: dict[str, set[str]] = {}
    for each in words:
        by_aspect.setdefault(each.aspect, set()).add(each.lang)
        assert each.headings, each
        assert bool(each.phrasings) == (each.lang != "en"), each
    assert set(load_aspects()) == set(by_aspect)
    assert all({"fr", "es", "de"} <= languages for languages in by_aspect.values())
    chance = np.random.default_rng(0)
    asked = [text for each in words for text in each.asked(["gota"], chance)]
    assert not any("{" in text for text in asked)
    assert any("gota" in text for text in asked)


def load_aspects() -> tuple[str, ...]:
    encoder = load_model("best")
    return encoder.aspects  # type: ignore[attr-defined, no-any-return]


def test_headings_in_other_languages_name_their_aspect(documents: list[Document]) -> None:
    headings = headings_by_aspect(read_aspect_words(ROOT / "data" / "questions"))
    aspects = {heading: aspect for aspect, found in headings.items() for heading in found}
    known = with_known_headings(documents[0], aspects)
    assert [passage.heading for passage in known.passages] == ["Symptoms", "treatment"]
    assert known.text == documents[0].text


def test_names_are_drawn_in_other_languages(reader: WindowReader) -> None:
    forms = Forms.of(["symptoms", "research"], FORMS, reader)
    chance = np.random.default_rng(0)
    drawn = [forms.drawn(chance) for _ in range(40)]
    assert all(np.array_equal(each[1], forms.own[1]) for each in drawn)
    others = [any(np.array_equal(each[0], other) for other in forms.others[:2]) for each in drawn]
    assert 8 < sum(others) < 38


def test_towers_learn_and_the_model_opens(
    packed: PackedE5, kept: list[int], reader: WindowReader, documents: list[Document], tmp_path: Path
) -> None:
    read = read_documents(documents, reader, tmp_path / "read", lambda line: None)
    aspects = ["symptoms", "treatment"]
    vectors = torch.from_numpy(unit(reader.ask(["pain", "gota", "fever", "dolor", "pain pain", "gota gota"])))
    phrasings = Phrasings(vectors, torch.tensor([0, 1, 0, 1, 0, 1]))
    examples = SpokenExamples(read, reader, FORMS, {"gout": ("gota",)}, seed=0)
    asked = AskedExamples(examples, vectors[:2].numpy(), np.array([0, 1]), seed=0)
    choice = TowerTraining(epochs=6, batch_documents=6, learning_rate=0.01)
    network = AskedNetwork(reader.dim, 16, 8, torch.from_numpy(unit(reader.ask(aspects))), dropout=0.0)
    objective = AskedObjective(network, choice, TowerExamples(read, reader, seed=0), asked, phrasings, seed=0)
    history = train_spoken(network, objective, asked, choice, 0, lambda line: None)
    assert history[-1]["loss"] < history[0]["loss"]
    assert max(row["all"] for row in history) >= history[0]["all"]
    save(
        tmp_path / "model", network.arrays(), np.zeros(reader.dim), name="tiny", start_share=0.5,
        tokenizer=packed.tokenizer(kept).to_str().encode(), transformer=packed.as_onnx(kept, 64),
        reader={"dim": reader.dim, **READING}, aspects=aspects,
    )  # fmt: skip
    encoder = load_model(str(tmp_path / "model"))
    sentences = encoder.encode_documents(documents[:1])[0]
    assert sentences.shape == (len(documents[0].sentences), encoder.dim)
    assert encoder.encode_queries([Query("", "gota", ("tratamiento",))]).any()
