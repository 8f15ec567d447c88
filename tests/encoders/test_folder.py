"""Folders of models that an earlier version saved: they open as they were, and are saved again byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from auscult.encoders import load_model, training_record
from auscult.encoders.folder import write_numbers
from auscult_lab.cdv import persistence as cdv
from auscult_lab.graphs import knowledge_vectors
from auscult_lab.opening import load_ranker
from auscult_lab.rankers import scorer as rankers
from places import DATA

Again = Callable[[Path, Path], str]
"""Opens a folder, saves what it holds to another one, and gives its fingerprint."""


def _cdv(kept: Path, again: Path) -> str:
    encoder = cdv.load(kept)
    assert cdv.save(encoder, again, training=training_record(kept)) == encoder.fingerprint
    return load_model(str(kept)).fingerprint


def _ranker(kept: Path, again: Path) -> str:
    scorer = rankers.load(kept)
    rankers.save(scorer.ranker, scorer.vocabulary, again, name=scorer.name, training=training_record(kept))
    return load_ranker(str(kept)).fingerprint


def _knowledge(kept: Path, again: Path) -> str:
    vectors = knowledge_vectors.load(kept)
    knowledge_vectors.save(vectors, again)
    return vectors.fingerprint


@pytest.mark.parametrize(
    ("kind", "save_again", "fingerprint"),
    [
        ("cdv", _cdv, "589fd2cb107c9f08b3946d7ca8f42a30cb2802ee70839ccb56e1a0e690ababca"),
        ("ranker", _ranker, "6c2d763ac0b87f9346b821f750152d32c3403d66b56879e9007a5c248408f5ff"),
        ("knowledge", _knowledge, "3269ae90b575ed24aae22ab1dda99c9e8448e4dbf1d9b4936a13e75d96c69378"),
    ],
)
def test_older_folder_is_saved_again_byte_for_byte(kind: str, save_again: Again, fingerprint: str, tmp_path: Path):
    kept, again = DATA / "models" / kind, tmp_path / "again"
    assert save_again(kept, again) == fingerprint
    assert {each.name: each.read_bytes() for each in again.iterdir()} == {
        each.name: each.read_bytes() for each in kept.iterdir()
    }


def test_written_arrays_have_default_file_permissions(tmp_path: Path) -> None:
    write_numbers(tmp_path / "arrays.safetensors", {"weight": np.ones(3, np.float32)})
    (tmp_path / "other").touch()
    assert (tmp_path / "arrays.safetensors").stat().st_mode == (tmp_path / "other").stat().st_mode
