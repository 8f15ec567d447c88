"""The general encoder: what it reads, how it places, and that its two forms (torch to train, NumPy to ask) agree."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.documents import Section, build_document
from auscult.encoders import load_model
from auscult.encoders.contract import PassageEncoder
from auscult.encoders.general import towers
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.readers import MOST_CHARACTERS, WindowReader
from auscult.encoders.general.towers import SIDES, Stretches, Towers, _erf, stretch_sums, unit
from auscult.errors import ModelError
from auscult.search.fusion import Fusion
from auscult.understanding import Query
from auscult.understanding.query import describe
from auscult_lab.general.data import TowerBatch
from auscult_lab.general.objective import TowerNetwork, listwise
from auscult_lab.general.saving import set_fusion
from leaflets import leaflets
from random_cdv import documents
from small_general import make_general, save_general


@pytest.fixture(scope="module")
def encoder() -> GeneralEncoder:
    return make_general()


@pytest.fixture(scope="module")
def reader(encoder: GeneralEncoder) -> WindowReader:
    assert isinstance(encoder.reader, WindowReader)
    return encoder.reader


def test_it_places_passages_itself(encoder: GeneralEncoder) -> None:
    assert isinstance(encoder, PassageEncoder)
    for document, (sentences, passages) in zip(documents(), encoder.encode_passages(documents()), strict=True):
        assert sentences.shape == (len(document.sentences), encoder.dim)
        assert passages.shape == (len(document.passages), encoder.dim)
        worded = np.array([bool(passage.sentences) for passage in document.passages])
        np.testing.assert_allclose(np.linalg.norm(passages, axis=1), worded, atol=1e-5)
        for part in encoder.parts.values():
            np.testing.assert_allclose(np.linalg.norm(sentences[:, part], axis=1), 3**-0.5, atol=1e-5)


def test_title_and_headings_are_read_before_a_passage(encoder: GeneralEncoder) -> None:
    text = "People often feel pain in one toe. It comes at night."
    named, bare = (
        build_document(doc_id="d", title=title, sections=[Section(heading, text)])
        for title, heading in (("Gout", "Signs"), ("", ""))
    )
    ((sentences, with_label), (alone, without)) = encoder.encode_passages([named, bare])
    assert sentences.shape == alone.shape, "a label is no sentence of its own"
    question = encoder.parts["question"]
    asked = encoder.encode_queries([Query("", "", text="signs of gout")])[0][question]
    assert with_label[0][question] @ asked > without[0][question] @ asked


def test_windows_hold_whole_sentences_of_one_passage(reader: WindowReader) -> None:
    long = "asthma " * 100
    tokens, windows = reader.cut([["gout causes pain."] * 12, ["people feel fever.", long, "it."], [], [""]])
    assert [number for window in windows for number in window] == list(range(len(tokens)))
    room = 40 - 2
    assert all(sum(len(tokens[number]) for number in window) <= room for window in windows)
    assert len(tokens[13]) == room, "a longer sentence is cut"
    assert not any({11, 12} <= set(window) or {14, 15} <= set(window) for window in windows)
    sums, counts = reader.read([["gout."], [""]])
    assert counts.tolist() == [2, 0]
    assert not sums[1].any()


def test_skipped_words_are_read_only_as_word_beginnings(tmp_path: Path) -> None:
    save_general(tmp_path / "all")
    settings = json.loads((tmp_path / "all" / "model.json").read_text(encoding="utf-8"))
    settings["reader"]["skipped"] = ["a", "the", "."]
    (tmp_path / "all" / "model.json").write_text(json.dumps(settings), encoding="utf-8")
    encoder = load_model(str(tmp_path / "all"))
    assert isinstance(encoder, GeneralEncoder)
    whole, counts = encoder.reader.read([["the gout causes a fever."], ["gout causes fever"], ["the."], [""]])
    assert counts.tolist() == [3, 3, 0, 0]
    np.testing.assert_allclose(whole[0], whole[1], atol=1e-4)
    assert not encoder.encode_queries([Query("", "", text="The?"), Query("", "", text="a")])[1].any()
    tokens, _ = encoder.reader.cut([["a", "ab"]])
    assert [len(each) for each in tokens] == [0, 2]


def test_only_the_beginning_of_endless_sentences_is_tokenized(
    reader: WindowReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    cut = reader._tokenizer.encode_batch_fast

    class Counting:
        def encode_batch_fast(self, texts: list[str], **options: bool) -> object:
            given.extend(map(len, texts))
            return cut(texts, **options)

    monkeypatch.setattr(reader, "_tokenizer", Counting())
    tokens, _ = reader.cut([["gout " * 10**6, *["The toe is red."] * 9]])
    assert max(given) == MOST_CHARACTERS
    assert len(tokens[0]) == reader.room


def test_a_sentence_is_read_with_its_neighbours(reader: WindowReader) -> None:
    alone, _ = reader.read([["it causes pain."]])
    beside, _ = reader.read([["asthma comes slowly.", "it causes pain."]])
    assert np.abs(beside[1] - alone[0]).max() > 1e-2


def test_both_forms_of_the_towers_agree() -> None:
    torch.manual_seed(0)
    network = TowerNetwork(6, 10, 4, dropout=0.3, noise=0.5).eval()
    rng = np.random.default_rng(0)
    rows, tokens = unit(rng.normal(size=(9, 6)).astype(np.float32)), rng.integers(1, 9, 9)
    passages, edges = np.array([0, 2, 3, 7, 9]), np.array([0, 1, 4])
    names = unit(rng.normal(size=(3, 6)).astype(np.float32))
    batch = TowerBatch(
        torch.from_numpy(rows), torch.from_numpy(tokens).float(), torch.from_numpy(passages), torch.from_numpy(edges),
        *(torch.zeros(0) for _ in range(4)),
    )  # fmt: skip
    towers = Towers(network.arrays())
    placed = towers.place(rows, tokens, Stretches(passages, edges))
    with torch.no_grad():
        for side in SIDES:
            by_passage = unit(stretch_sums(placed[side] * tokens[:, None], passages))
            np.testing.assert_allclose(network.place(batch)[side].numpy(), by_passage, atol=1e-5)
            np.testing.assert_allclose(
                network.ask(side, torch.from_numpy(names)).numpy(), towers.ask(side, names), atol=1e-5
            )


def test_question_part_combines_passage_and_first_window(encoder: GeneralEncoder) -> None:
    first, second = "asthma causes pain.", "people with gout feel fever " * 7 + "."
    document = build_document(doc_id="d", title="", sections=[Section("", f"{first} {second}")])
    ((_, passages),) = encoder.encode_passages([document])
    sums, counts = encoder.reader.read([[first, second]])
    assert counts.sum() > encoder.reader.room >= counts[0]
    sentences = unit(unit(sums) - encoder.centre) * counts[:, None]
    whole, start = (unit(rows.sum(axis=0, keepdims=True))[0] for rows in (sentences, sentences[:1]))
    found = passages[0, encoder.parts["question"]] * 3**0.5
    np.testing.assert_allclose(found, unit((whole + start)[None])[0], atol=1e-5)


def test_queries_fill_only_the_parts_they_specify(encoder: GeneralEncoder) -> None:
    asked = encoder.encode_queries(
        [Query("", "gout"), Query("", "", ("symptoms",)), Query("", "", text="why the pain")]
    )
    filled = [[bool(row[part].any()) for part in encoder.parts.values()] for row in asked]
    assert filled == [[True, False, True], [False, True, True], [False, False, True]]
    assert describe(Query("", "gout", ("causes", "symptoms"))) == "causes, symptoms of gout"


def test_evidence_weights_do_not_change_the_fingerprint(tmp_path: Path) -> None:
    before = save_general(tmp_path / "m", training={"seed": 1})
    assert Fusion.of(load_model(str(tmp_path / "m"))).to_json() == Fusion.of(object()).to_json()
    set_fusion(tmp_path / "m", {"parts": {"question_text": 2.0}, "words": {}, "certainty": {}}, {"questions": 5})
    again = load_model(str(tmp_path / "m"))
    assert again.fingerprint == before
    assert Fusion.of(again).to_json()["parts"] == {"question_text": 2.0}


@pytest.mark.parametrize("name", ["model.onnx", "towers.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    save_general(tmp_path / "m")
    content = bytearray((tmp_path / "m" / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "m" / name).write_bytes(content)
    with pytest.raises(ModelError, match="files as they were saved"):
        load_model(str(tmp_path / "m"))


def test_listwise_counts_all_that_is_right() -> None:
    scores = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 9.0], [1.0, 2.0, 3.0]])
    right = torch.tensor([[True, True, False], [True, False, False], [False, False, False]])
    among = torch.tensor([[True, True, True], [True, True, False], [True, True, True]])
    odds = np.exp([2, 1, 0])
    expected = (-np.log((odds[0] + odds[1]) / odds.sum()) + np.log(2)) / 2
    assert float(listwise(scores, right, among)) == pytest.approx(expected, rel=1e-5)
    assert float(listwise(scores[2:], right[2:])) == 0


def test_encoding_in_pieces_equals_encoding_at_once(encoder: GeneralEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [*leaflets(), build_document(doc_id="empty", title="", sections=[Section("", "")])]
    whole = encoder.encode_passages(documents)
    sizes: list[int] = []
    dense = Towers._dense
    monkeypatch.setattr(towers, "_AT_ONCE", 2)
    monkeypatch.setattr(Towers, "_dense", lambda own, name, rows: sizes.append(len(rows)) or dense(own, name, rows))
    for (sentences, passages), (pieces, others) in zip(whole, encoder.encode_passages(documents), strict=True):
        np.testing.assert_allclose(pieces, sentences, atol=1e-6)
        np.testing.assert_allclose(others, passages, atol=1e-6)
    assert max(sizes) == 2


def test_error_function_has_single_precision_accuracy() -> None:
    values = np.linspace(-6, 6, 4001, dtype=np.float32)
    expected = [math.erf(value) for value in values.tolist()]
    np.testing.assert_allclose(_erf(values), expected, atol=5e-7)
