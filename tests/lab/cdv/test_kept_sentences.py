"""Sentence vectors of a frozen transformer are made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document, Passage, Sentence
from auscult.encoders.contract import FloatArray
from auscult.errors import DataError
from auscult_lab.cdv import data
from auscult_lab.cdv.data import kept_sentences as kept


class Reader:
    """Tells what it reads, and may be stopped."""

    kind, dim = "transformer", 2

    def __init__(self, stops_at: str = "") -> None:
        self.asked: list[str] = []
        self._stops_at = stops_at

    def encode_texts(self, texts: list[str], *, max_tokens: int | None = None) -> FloatArray:
        """Return the number in each sentence, twice."""
        if self._stops_at in texts:
            raise KeyboardInterrupt
        self.asked += texts
        return np.array([[float(text)] * 2 for text in texts], np.float32).reshape(-1, 2)


def document(number: int, sentences: int) -> Document:
    spans = tuple(Sentence(at * 2, at * 2 + 1) for at in range(sentences))
    text = f"{number} " * sentences
    return Document(str(number), "", text, (Passage(f"{number}-0", "", 0, len(text), spans),) if sentences else ())


DOCUMENTS = [document(number, number % 3) for number in range(7)]


def test_reading_resumes_after_the_last_saved_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_DOCUMENTS", 2)
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        kept(DOCUMENTS, Reader(stops_at="5"), tmp_path, said.append, max_tokens=8)
    reader = Reader()
    found = kept(DOCUMENTS, reader, tmp_path, said.append, max_tokens=8)
    assert reader.asked == ["4", "5", "5"]
    assert [each.tolist() for each in found] == [[[number, number]] * (number % 3) for number in range(7)]
    assert said[0] == "sentences of 2 of 7 documents read"
    again = Reader()
    assert len(kept(DOCUMENTS, again, tmp_path, said.append, max_tokens=8)) == 7
    assert again.asked == []


def test_vectors_of_other_documents_are_not_taken(tmp_path: Path) -> None:
    kept(DOCUMENTS, Reader(), tmp_path, print, max_tokens=8)
    with pytest.raises(DataError, match="delete the file"):
        kept(DOCUMENTS[:3], Reader(), tmp_path, print, max_tokens=8)
