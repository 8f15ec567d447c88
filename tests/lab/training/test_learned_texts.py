"""A model knows the texts it learned from, whatever they are called and however they are cut."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.errors import ModelError
from auscult_lab.training.learned_texts import LEARNED_FROM, has_learned_from, read_learned, texts_of, write_learned

WORDS = [a + b + c for a in "bdfgklmnprst" for b in ("a", "e", "io", "u") for c in ("l", "mus", "ren", "tis")]


def text(seed: int, words: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words)).capitalize() + "."


def document(name: str, *sections: str) -> Document:
    return build_document(doc_id=name, title=f"Title of {name}", sections=[Section("Part", each) for each in sections])


def learned(folder: Path, *documents: Document) -> np.ndarray:
    write_learned(folder, texts_of(documents))
    return read_learned(folder)


def test_a_copy_is_known_by_its_words(tmp_path: Path) -> None:
    sections = [text(seed, 300) for seed in range(3)]
    known = learned(tmp_path, document("a", *sections))
    assert has_learned_from(known, [document("renamed", *sections)])
    assert has_learned_from(known, [document("joined", " ".join(sections))])
    assert all(has_learned_from(known, [document("a part", each)]) for each in sections)
    assert has_learned_from(known, [document("cut short", sections[0][:1500])])
    assert has_learned_from(known, [document("typeset", *(each.upper().replace(" ", ",\n") for each in sections))])
    assert has_learned_from(known, [document("new", text(8, 400)), document("old", *sections)])
    assert not has_learned_from(known, [document("a", text(9, 900))])
    assert not has_learned_from(known, [document("quotes", text(9, 900) + sections[0][:300])])


def test_short_texts_count_by_share_of_the_collection(tmp_path: Path) -> None:
    known = learned(tmp_path, *(document(str(seed), text(seed, 12)) for seed in range(60)))
    fresh = [document(f"new {seed}", text(1000 + seed, 12)) for seed in range(200)]
    assert has_learned_from(known, [*fresh, *(document(f"old {seed}", text(seed, 12)) for seed in range(60))])
    # One notice that many collections repeat.
    assert not has_learned_from(known, [*fresh, document("notice", text(0, 12))])


def test_one_document_of_hundreds_makes_no_collection_known(tmp_path: Path) -> None:
    """Encyclopedias quote public-domain texts that test collections hold, too."""
    shared = document("shared", text(1, 300))
    known = learned(tmp_path, shared)
    others = [document(str(seed), text(seed, 300)) for seed in range(2, 202)]
    assert not has_learned_from(known, [*others, shared])
    assert has_learned_from(known, [*others[:50], shared])


def test_texts_learned_from_earlier_stay_recorded(tmp_path: Path) -> None:
    before, after = document("before", text(1, 200)), document("after", text(2, 200))
    learned(tmp_path / "start", before)
    write_learned(tmp_path / "model", texts_of([after]), [tmp_path / "start", tmp_path / "none"])
    known = read_learned(tmp_path / "model")
    assert has_learned_from(known, [before])
    assert has_learned_from(known, [after])
    assert (tmp_path / "model" / LEARNED_FROM).stat().st_size < len(before.text + after.text) / 10


def test_missing_file_means_none_and_damage_is_refused(tmp_path: Path) -> None:
    assert not len(learned(tmp_path, document("short", "Tea is a drink.")))
    assert not (tmp_path / LEARNED_FROM).exists()
    assert not has_learned_from(read_learned(tmp_path), [document("any", text(1, 200))])
    learned(tmp_path, document("a", text(1, 200)))
    content = (tmp_path / LEARNED_FROM).read_bytes()
    for damaged in (content[:-3], content[8:] + content[:8]):
        (tmp_path / LEARNED_FROM).write_bytes(damaged)
        with pytest.raises(ModelError, match="copy the model again"):
            read_learned(tmp_path)
