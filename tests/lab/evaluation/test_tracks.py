"""The track of a model follows from what it read and what it is evaluated on."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.errors import ConfigError, ModelError
from auscult_lab.corpora.opening import collections_of
from auscult_lab.evaluation.tracks import fitted_on_questions_of, track_on

WIKI = [{"name": "enwiki", "split": "train"}, {"name": "nhs", "split": None}]
MEDQUAD = [{"name": "medquad", "split": "train-disjoint"}]


def texts(*choices: dict[str, object]) -> dict[str, object]:
    return {"corpora": [{"name": "nhs"}], "experiment": {"word_vectors": {"texts": list(choices), "dim": 128}}}


@pytest.mark.parametrize(
    ("training", "corpus", "track"),
    [
        ({"corpora": WIKI}, "medquad", "zero-shot"),
        ({"corpora": WIKI}, "wikisection", "adapted"),
        ({"corpora": WIKI}, "enwiki", "adapted"),
        ({"corpora": WIKI}, "simplewiki", "zero-shot"),
        ({"corpora": [{"name": "wikisection", "split": "train"}]}, "simplewiki", "adapted"),
        ({"corpora": MEDQUAD}, "medquad", "adapted"),
        ({"corpora": [{"name": "medquad", "split": "train-strict"}]}, "medquad", "adapted"),
        ({"corpora": MEDQUAD, "track": "adapted"}, "wikisection", "zero-shot"),
        ({"corpora": WIKI, "track": "zero-shot"}, "wikisection", "adapted"),
        ({"corpora": WIKI, "backbone_corpora": MEDQUAD}, "medquad", "adapted"),
        (texts({"name": "medquad", "split": "train"}), "medquad", "adapted"),
        (texts({"name": "openstax"}), "medquad", "zero-shot"),
        (
            {"corpora": [{"name": "nhs"}], "experiment": {"sentences": {"vectors": {"texts": MEDQUAD}}}},
            "medquad",
            "adapted",
        ),
    ],
)
def test_shared_documents_decide(training: dict[str, object], corpus: str, track: str) -> None:
    assert track_on("m", training, corpus, "test") == track
    assert track_on("m", training, corpus, "test", user_track=track) == track


@pytest.mark.parametrize(
    ("training", "corpus", "split"),
    [
        ({"corpora": [{"name": "medquad", "split": None}]}, "medquad", "test"),
        ({"corpora": [{"name": "nhs"}, {"name": "medquad", "split": "test"}]}, "medquad", "test"),
        ({"corpora": [{"name": "simplewiki"}]}, "wikisection", "test"),
        ({"corpora": MEDQUAD}, "medquad", "train"),
        ({"corpora": [{"name": "medquad", "split": "train-strict"}]}, "medquad", "train-disjoint"),
        (texts({"name": "medquad"}), "medquad", "test"),
        ({"corpora": WIKI, "backbone_corpora": [{"name": "medquad"}]}, "medquad", "test"),
    ],
)
def test_models_trained_on_test_documents_are_refused(training: dict[str, object], corpus: str, split: str) -> None:
    with pytest.raises(ConfigError, match=f"was trained on its {split} documents"):
        track_on("m", training, corpus, split)


def test_the_users_track_counts_only_without_a_record() -> None:
    assert track_on("m", {}, "medquad", "test", user_track="adapted") == "adapted"
    assert track_on("m", {"track": "zero-shot"}, "medquad", "test") == "zero-shot"
    with pytest.raises(ConfigError, match="--track"):
        track_on("m", {}, "medquad", "test")
    for training in ({"corpora": MEDQUAD}, {"track": "adapted"}):
        with pytest.raises(ConfigError, match="got --track zero-shot"):
            track_on("m", training, "medquad", "test", user_track="zero-shot")


def test_a_malformed_record_is_named() -> None:
    with pytest.raises(ModelError, match=r"corpora\.0\.name"):
        track_on("m", {"corpora": [{"split": "train"}]}, "medquad", "test")


def test_paths_are_named_by_the_corpus_they_contain(tmp_path: Path) -> None:
    prepared = tmp_path / "copy"
    prepared.mkdir()
    (prepared / "documents.jsonl.gz").write_bytes(b"")
    assert collections_of(str(prepared)) == {"medquad"}
    (tmp_path / "ours").mkdir()
    assert collections_of(str(tmp_path / "ours")) == {"ours"}
    assert collections_of("elsewhere/leaflets.jsonl.gz") == {"leaflets"}
    assert collections_of("wikisection") == {"enwiki", "simplewiki"}


@pytest.mark.parametrize(
    ("fusion", "corpus", "expected"),
    [
        ({"words_fitted_on": ["bioasq-7b-11b", "cpgqa"]}, "bioasq", True),
        ({"words_and_certainty": {"words_fitted_on": ["cpgqa"]}}, "cpgqa", True),
        ({"words_fitted_on": ["bioasq-7b-11b"]}, "pubmedqa", False),
        ({"certainty": {"asked_by_people": {"bioasq": 5}}}, "bioasq", False),
        ({"certainty": {"asked": {"cpgqa": 300}}}, "cpgqa", True),
        ({}, "medquad", False),
    ],
)
def test_fusion_fitted_on_corpus_questions_is_detected(fusion: dict[str, object], corpus: str, expected: bool) -> None:
    assert fitted_on_questions_of({"fusion": fusion}, corpus) is expected
