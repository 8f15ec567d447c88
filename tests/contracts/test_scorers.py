"""What every scorer promises: BM25 and its like, weighted cosine, encoders, neural rankers, CAPR's architectures."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from architectures import VARIANTS, make
from auscult.documents import Document
from auscult.encoders.contract import Scorer
from auscult.errors import DataError, ModelError
from auscult.understanding import Query
from auscult_lab.encoders.scorer import CaprScorer
from auscult_lab.evaluation.contenders import LEXICAL
from auscult_lab.fitting.fused_scorer import FusedScorer
from auscult_lab.modules.vocabulary import build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.rankers.scorer import RankerScorer
from auscult_lab.scorers.cosine import CosineScorer, InverseDocumentFrequencies
from auscult_lab.scorers.encoder_scorer import EncoderScorer
from classes import classes_with
from encoders import HashedEncoder
from leaflets import generated, leaflets
from rankers import make_ranker

QUERY = Query("q", "Migraine", ("symptoms",))
IDS = [passage.passage_id for each in leaflets() for passage in each.passages]
TEXTS = [each.slice(passage).lower().split() for each in leaflets() for passage in each.passages]
KNOWN = sorted({word.strip(".") for text in TEXTS for word in text})
VECTORS = PlainTable(KNOWN, np.random.default_rng(0).normal(size=(len(KNOWN), 8)).astype(np.float32))
QUESTIONS = InverseDocumentFrequencies.of_texts(["What are the symptoms?", "What is gout?"])


def _ranker(kind: str) -> RankerScorer:
    vocabulary = build_vocabulary(TEXTS, VECTORS, queries=[KNOWN])
    return RankerScorer(make_ranker(kind, vocabulary), vocabulary, batch_size=5)


EXACT: dict[str, Callable[[Path], Scorer]] = {
    **{name: lambda _, made=made: made() for name, made in LEXICAL.items()},
    "cosine": lambda _: CosineScorer(VECTORS),
    "cosine-passages": lambda _: CosineScorer(VECTORS, "passages"),
    "cosine-questions": lambda _: CosineScorer(VECTORS, QUESTIONS),
    "encoder": lambda _: EncoderScorer(HashedEncoder()),
    "encoder-batches": lambda _: EncoderScorer(HashedEncoder(), batch_size=3),
    "all-evidence": lambda _: FusedScorer(HashedEncoder()),
    "encoder-part": lambda _: EncoderScorer(HashedEncoder()).only("entity"),
}
NEURAL: dict[str, Callable[[Path], Scorer]] = {
    **{kind: lambda _, kind=kind: _ranker(kind) for kind in RANKERS},
    **{variant: lambda backbone, variant=variant: CaprScorer(make(variant, backbone)) for variant in VARIANTS},
}
SCORERS = EXACT | NEURAL
every_scorer = pytest.mark.parametrize("name", SCORERS)


def alike(name: str, given: object, expected: object) -> None:
    """Equal, but for what a network's sums differ by where they are added in another order."""
    np.testing.assert_allclose(given, expected, rtol=0, atol=0 if name in EXACT else 1e-4)


def prepared(name: str, backbone: Path, documents: list[Document] | None = None) -> Scorer:
    scorer = SCORERS[name](backbone)
    # Whoever prepares may have a stream only.
    scorer.prepare(iter(leaflets() if documents is None else documents))
    return scorer


def test_no_scorer_escapes(backbone: Path) -> None:
    assert {type(make(backbone)) for make in SCORERS.values()} == classes_with("prepare", "score")


@every_scorer
def test_order_and_company_never_change_a_score(name: str, backbone: Path) -> None:
    scorer = prepared(name, backbone)
    assert isinstance(scorer, Scorer)
    assert scorer.name
    together = scorer.score(QUERY, IDS)
    assert (together.dtype, together.shape) == (np.float32, (len(IDS),))
    assert np.isfinite(together).all()
    assert len(set(together.tolist())) > 1
    of = dict(zip(IDS, together, strict=True))
    shuffled = random.Random(1).sample(IDS, len(IDS))
    alike(name, scorer.score(QUERY, shuffled), [of[each] for each in shuffled])
    alike(name, [scorer.score(QUERY, [each])[0] for each in IDS], together)
    alike(name, scorer.score(QUERY, [IDS[3], IDS[0], IDS[3]]), [of[IDS[3]], of[IDS[0]], of[IDS[3]]])
    assert scorer.score(QUERY, []).shape == (0,)


@every_scorer
def test_the_order_of_documents_does_not_matter(name: str, backbone: Path) -> None:
    first, second = prepared(name, backbone), prepared(name, backbone, leaflets()[::-1])
    alike(name, second.score(QUERY, IDS), first.score(QUERY, IDS))


@every_scorer
def test_questions_score_differently_and_leave_no_trace(name: str, backbone: Path) -> None:
    scorer = prepared(name, backbone)
    before = scorer.score(QUERY, IDS)
    other = scorer.score(Query("q2", "Gout", ("treatment",)), IDS)
    assert not np.array_equal(other, before)
    assert np.array_equal(scorer.score(QUERY, IDS), before)


@every_scorer
def test_preparing_again_forgets_the_first_collection(name: str, backbone: Path) -> None:
    scorer = prepared(name, backbone)
    scorer.prepare(leaflets()[:3])
    with pytest.raises(DataError, match="gout-1"):
        scorer.score(QUERY, ["gout-1"])
    alone = prepared(name, backbone, leaflets()[:3])
    alike(name, scorer.score(QUERY, IDS[:9]), alone.score(QUERY, IDS[:9]))


@every_scorer
def test_wrong_use_is_named(name: str, backbone: Path) -> None:
    scorer = SCORERS[name](backbone)
    with pytest.raises(ModelError, match="prepare"):
        scorer.score(QUERY, IDS[:1])
    with pytest.raises(DataError, match=f"'{IDS[0]}' twice"):
        scorer.prepare([*leaflets(), *leaflets()])
    scorer.prepare(leaflets())
    with pytest.raises(DataError, match="'nowhere'"):
        scorer.score(QUERY, [IDS[0], "nowhere"])


@pytest.mark.parametrize("name", [*LEXICAL, "encoder"])
def test_what_learns_nothing_puts_the_right_document_first(name: str, backbone: Path) -> None:
    scores = prepared(name, backbone).score(QUERY, IDS)
    assert IDS[int(scores.argmax())].startswith("migraine")


@pytest.mark.parametrize("name", LEXICAL)
def test_the_order_of_many_documents_does_not_matter(name: str, backbone: Path) -> None:
    documents = generated(40, seed=3)
    ids = [passage.passage_id for each in documents for passage in each.passages]
    query = Query("q", "wört3 wört77", ("wört12",))
    first, second = (prepared(name, backbone, each).score(query, ids) for each in (documents, documents[::-1]))
    np.testing.assert_allclose(first, second, rtol=1e-5)
    assert first.max() > 0
