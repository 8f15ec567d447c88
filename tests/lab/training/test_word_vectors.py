"""The word vectors that an experiment names."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.errors import ConfigError
from auscult_lab.cdv.word_vectors import given_word_vectors
from auscult_lab.training.experiment import WordVectorChoice


def test_a_files_name_may_hold_an_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "glove.txt").write_text("gout 1 0\nfever 0 1\n", encoding="utf-8")
    monkeypatch.setenv("WORD_VECTORS", str(tmp_path))
    vectors = given_word_vectors(WordVectorChoice(file=Path("$WORD_VECTORS/glove.txt")))
    assert vectors is not None
    assert vectors.lookup(["fever", "unknown"]).tolist() == [[0, 1], [0, 0]]
    monkeypatch.delenv("WORD_VECTORS")
    with pytest.raises(ConfigError, match=r"\$WORD_VECTORS"):
        given_word_vectors(WordVectorChoice(file=Path("$WORD_VECTORS/glove.txt")))


def test_no_source_gives_no_word_vectors() -> None:
    assert given_word_vectors(WordVectorChoice()) is None
