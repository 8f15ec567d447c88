"""What every neural ranker promises, whatever its architecture. A ranker in the registry cannot escape these tests."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

import auscult_lab.rankers
from auscult.documents import Section, build_document
from auscult.errors import ModelError
from auscult.understanding import Query
from auscult_lab.rankers.base import Ranker, ReadsPassagesAlone, ReadsPassagesFirst, Tokens, pad
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.rankers.scorer import RankerScorer, keep_places, load, save
from auscult_lab.scorers.lexical import passage_words, query_words
from rankers import WORDS, lay_out, make_ranker, random_texts, small_vocabulary

TOLERANCE = 1e-5
every_ranker = pytest.mark.parametrize("kind", RANKERS)


def test_every_ranker_in_the_package_is_registered():
    # An abstract class is what several rankers share.
    concrete = set()
    for module in iter_modules(auscult_lab.rankers.__path__):
        content = import_module(f"auscult_lab.rankers.{module.name}")
        concrete |= {
            each
            for _, each in inspect.getmembers(content, inspect.isclass)
            if issubclass(each, Ranker) and not inspect.isabstract(each)
        }
    assert {kind.ranker for kind in RANKERS.values()} == concrete
    assert all(name == kind.ranker.kind for name, kind in RANKERS.items())


@every_ranker
def test_padding_never_changes_a_score(kind: str):
    ranker = make_ranker(kind, small_vocabulary()).eval()
    query, passage = lay_out(ranker, *random_texts(np.random.default_rng(1), 12, len(WORDS)))
    plain = ranker(query, passage)
    longer = ranker(_padded(query, 5), _padded(passage, 7))
    assert plain.shape == (12,)
    assert torch.isfinite(plain).all()
    torch.testing.assert_close(longer, plain, atol=TOLERANCE, rtol=0)


def _padded(tokens: Tokens, more: int) -> Tokens:
    """More padding at the end of every dimension but the batch's."""
    sizes = (0, more) * (tokens.ids.dim() - 1)
    ids = torch.nn.functional.pad(tokens.ids, sizes)
    return Tokens(ids, ids != 0)


@every_ranker
def test_company_and_order_never_change_a_score(kind: str):
    ranker = make_ranker(kind, small_vocabulary()).eval()
    queries, passages = random_texts(np.random.default_rng(2), 10, len(WORDS))
    together = ranker(*lay_out(ranker, queries, passages))
    alone = torch.cat([ranker(*lay_out(ranker, [q], [p])) for q, p in zip(queries, passages, strict=True)])
    backwards = ranker(*lay_out(ranker, queries[::-1], passages[::-1])).flip(0)
    torch.testing.assert_close(alone, together, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(backwards, together, atol=TOLERANCE, rtol=0)


@every_ranker
def test_gradients_reach_every_parameter(kind: str):
    ranker = make_ranker(kind, small_vocabulary()).train()
    query, passage = lay_out(ranker, *random_texts(np.random.default_rng(3), 32, len(WORDS)))
    weights = torch.from_numpy(np.random.default_rng(4).standard_normal(32)).float()
    (ranker(query, passage) * weights).sum().backward()
    trained = {name: each for name, each in ranker.named_parameters() if each.requires_grad}
    untouched = [name for name, each in trained.items() if each.grad is None or not each.grad.abs().sum() > 0]
    assert trained
    assert untouched == []


@every_ranker
def test_scores_depend_on_query_and_passage(kind: str):
    ranker = make_ranker(kind, small_vocabulary()).eval()
    queries, passages = random_texts(np.random.default_rng(5), 16, len(WORDS))
    scores = ranker(*lay_out(ranker, queries, passages))
    others = ranker(*lay_out(ranker, queries[1:] + queries[:1], passages))
    assert scores.unique().numel() > 8
    assert not torch.allclose(scores, others)


@every_ranker
def test_evaluation_is_deterministic(kind: str):
    ranker = make_ranker(kind, small_vocabulary()).eval()
    batch = lay_out(ranker, *random_texts(np.random.default_rng(6), 8, len(WORDS)))
    assert torch.equal(ranker(*batch), ranker(*batch))


@every_ranker
def test_a_saved_ranker_scores_exactly_alike(kind: str, tmp_path: Path):
    vocabulary = small_vocabulary()
    ranker = make_ranker(kind, vocabulary)
    document = build_document(
        doc_id="d",
        title="Asthma",
        sections=[
            Section("Signs", "Asthmaa comes with feverb. Paina is rare.", "d#1"),
            Section("Causes", "A geneb or a genec, and never-seen words.", "d#2"),
        ],
    )
    query = Query(query_id="", entity="asthmaa", aspects=("paina unknownword",))
    before = RankerScorer(ranker, vocabulary)
    before.prepare([document])
    save(ranker, vocabulary, tmp_path, name="mine", training={"track": "adapted"})
    after = load(tmp_path)
    after.prepare([document])
    scores = before.score(query, ["d#1", "d#2"])
    assert np.array_equal(scores, after.score(query, ["d#1", "d#2"]))
    np.testing.assert_allclose(scores[::-1], after.score(query, ["d#2", "d#1"]), atol=TOLERANCE)
    assert scores[0] != scores[1]
    assert after.name == "mine"


def _kept(kind: str) -> bool:
    ranker = make_ranker(kind, small_vocabulary())
    return isinstance(ranker, ReadsPassagesAlone) and ranker.keeps_passages


def test_rankers_whose_vectors_need_no_query_keep_passages():
    assert {"arc-i", "cdssm", "dssm", "har-simple", "har-wca"} <= set(filter(_kept, RANKERS))


@pytest.mark.parametrize("kind", [kind for kind in RANKERS if _kept(kind)])
def test_stored_passages_are_encoded_once_and_score_equally(kind: str, monkeypatch: pytest.MonkeyPatch):
    vocabulary = small_vocabulary()
    ranker = make_ranker(kind, vocabulary).eval()
    encoded: list[int] = []
    encode = ranker.encode_passage

    def counted(passage: Tokens) -> torch.Tensor:
        encoded.append(len(passage.ids))
        return encode(passage)

    monkeypatch.setattr(ranker, "encode_passage", counted)
    rng = np.random.default_rng(7)
    texts = [" ".join(f"{word}." if rng.random() < 0.2 else word for word in rng.choice(WORDS, 25)) for _ in range(9)]
    sections = [Section("", text, f"d#{number}") for number, text in enumerate(texts)]
    document = build_document(doc_id="d", title="", sections=sections)
    scorer = RankerScorer(ranker, vocabulary, batch_size=4)
    scorer.prepare([document])
    passage_ids = [passage.passage_id for passage in document.passages]
    for entity in ("asthmaa paina", "geneb", "feverc gouta goutb"):
        query = Query(query_id="", entity=entity)
        kept = scorer.score(query, passage_ids[::-1])
        query_tokens = ranker.lay_out_query(scorer.lexicon.ids(query_words(query)))
        laid_out = [
            ranker.lay_out_passage([scorer.lexicon.ids(words) for words in passage_words(document, passage)])
            for passage in document.passages[::-1]
        ]
        assert sum(encoded) == len(texts)
        with torch.no_grad():
            fresh = torch.cat([ranker.match(pad([query_tokens]), encode(pad([tokens]))) for tokens in laid_out]).numpy()
        np.testing.assert_allclose(kept, fresh, atol=1e-6, rtol=1e-5)
        assert kept.std() > 2e-5


def _reads_first(kind: str) -> bool:
    return isinstance(make_ranker(kind, small_vocabulary()), ReadsPassagesFirst)


def test_rankers_that_read_passages_first_are_listed():
    assert set(filter(_reads_first, RANKERS)) == {"arc-ii", "duet", "mv-lstm"}


@pytest.mark.parametrize("kind", [kind for kind in RANKERS if _reads_first(kind)])
def test_passages_are_read_once_and_score_as_fresh(kind: str, monkeypatch: pytest.MonkeyPatch):
    vocabulary = small_vocabulary()
    ranker = make_ranker(kind, vocabulary)
    read: list[int] = []
    plain = ranker.read_passage

    def counted(passage: Tokens) -> torch.Tensor:
        read.append(len(passage.ids))
        return plain(passage)

    rng = np.random.default_rng(8)
    texts = [" ".join(rng.choice(WORDS, size)) + "." for size in (40, 1, 7, 23, 2, 31, 16, 9)]
    document = build_document(doc_id="d", title="", sections=[Section("", t, f"d#{n}") for n, t in enumerate(texts)])
    passage_ids = [passage.passage_id for passage in document.passages]
    keeping, fresh = (RankerScorer(ranker, vocabulary, batch_size=3, keep_bytes=most) for most in (1 << 20, 0))
    fresh.prepare([document])
    monkeypatch.setattr(ranker, "read_passage", counted)
    keeping.prepare([document])
    assert sum(read) == len(texts)
    for entity in ("asthmaa paina", "geneb", "feverc gouta goutb"):
        query = Query(query_id="", entity=entity)
        kept = keeping.score(query, passage_ids[::-1])
        assert sum(read) == len(texts)
        monkeypatch.setattr(ranker, "read_passage", plain)
        np.testing.assert_allclose(kept, fresh.score(query, passage_ids[::-1]), atol=TOLERANCE, rtol=0)
        monkeypatch.setattr(ranker, "read_passage", counted)
        assert kept.std() > 2e-5


def test_places_that_do_not_fit_are_not_kept():
    ranker = make_ranker("mv-lstm", small_vocabulary()).eval()
    passages = [torch.tensor([1, 2, 3]), torch.tensor([], dtype=torch.long), torch.tensor([4])]
    # Three words, one place for the passage without words, one word.
    needed = 5 * ranker.read_passage(pad(passages)).shape[2] * 4
    assert keep_places(ranker, passages, batch_size=2, most=needed - 1) is None
    kept = keep_places(ranker, passages, batch_size=2, most=needed)
    assert kept is not None
    assert pad_sequence([kept[2], kept[0]], batch_first=True).shape[:2] == (2, 3)
    torch.testing.assert_close(kept[0].unsqueeze(0), ranker.read_passage(pad(passages[:1])))


def test_a_damaged_folder_is_refused(tmp_path: Path):
    vocabulary = small_vocabulary()
    save(make_ranker("knrm", vocabulary), vocabulary, tmp_path, name="mine")
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\x00\x01\x02\x03")
    with pytest.raises(ModelError, match="others in"):
        load(tmp_path)


def test_texts_are_padded_in_every_dimension():
    tokens = pad([torch.tensor([[1, 2], [3, 0]]), torch.tensor([[4]])])
    assert tokens.ids.tolist() == [[[1, 2], [3, 0]], [[4, 0], [0, 0]]]
    assert tokens.mask.tolist() == [[[True, True], [True, False]], [[True, False], [False, False]]]
