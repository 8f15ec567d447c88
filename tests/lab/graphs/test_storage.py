"""Knowledge vectors at rest: the same after reading, and refused when they are not what was written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.errors import ModelError
from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors, load, save


@pytest.fixture
def vectors() -> KnowledgeVectors:
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(2, 4)).astype(np.float32)
    names = (("gout", "Gicht"), ("fever",), ("müde",))
    return KnowledgeVectors(("X:1", "X:2", "X:3"), names, arrays[0], ("is_a", "has"), arrays[1], {"seed": 3})


def test_read_as_written(vectors: KnowledgeVectors, tmp_path: Path) -> None:
    save(vectors, tmp_path / "deep" / "folder")
    read = load(tmp_path / "deep" / "folder")
    assert (read.entities, read.names, read.relations) == (vectors.entities, vectors.names, vectors.relations)
    assert read.training == {"seed": 3}
    np.testing.assert_array_equal(read.vectors, vectors.vectors)
    np.testing.assert_array_equal(read.relation_vectors, vectors.relation_vectors)
    assert read.vectors.dtype == np.float32
    assert sorted(path.name for path in (tmp_path / "deep" / "folder").iterdir()) == [
        "knowledge.json", "knowledge.safetensors",
    ]  # fmt: skip


def test_fingerprint_follows_the_content(vectors: KnowledgeVectors, tmp_path: Path) -> None:
    save(vectors, tmp_path / "one")
    assert load(tmp_path / "one").fingerprint == vectors.fingerprint
    assert replace(vectors, training={}).fingerprint == vectors.fingerprint
    assert replace(vectors, vectors=vectors.vectors + 1).fingerprint != vectors.fingerprint
    assert replace(vectors, names=(("gout",), *vectors.names[1:])).fingerprint != vectors.fingerprint


def test_saving_again_replaces_the_folder(vectors: KnowledgeVectors, tmp_path: Path) -> None:
    save(vectors, tmp_path)
    newer = replace(vectors, vectors=-vectors.vectors)
    save(newer, tmp_path)
    assert load(tmp_path).fingerprint == newer.fingerprint


def test_vectors_of_another_training_are_refused(vectors: KnowledgeVectors, tmp_path: Path) -> None:
    save(vectors, tmp_path / "one")
    save(replace(vectors, vectors=-vectors.vectors), tmp_path / "two")
    (tmp_path / "two" / "knowledge.safetensors").replace(tmp_path / "one" / "knowledge.safetensors")
    with pytest.raises(ModelError, match="others in"):
        load(tmp_path / "one")


@pytest.mark.parametrize("name", ["knowledge.json", "knowledge.safetensors"])
def test_missing_and_cut_files_are_refused(vectors: KnowledgeVectors, tmp_path: Path, name: str) -> None:
    save(vectors, tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="graph embed"):
        load(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ModelError, match="graph embed"):
        load(tmp_path)


def test_the_order_of_an_earlier_format_is_refused(vectors: KnowledgeVectors, tmp_path: Path) -> None:
    save(vectors, tmp_path)
    record = json.loads((tmp_path / "knowledge.json").read_text(encoding="utf-8"))
    del record["format"]
    (tmp_path / "knowledge.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ModelError, match=r"most triples first, got format 1 .*graph embed --restart"):
        load(tmp_path)


def test_rows_that_fit_no_ids_are_refused(vectors: KnowledgeVectors, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="3 entities"):
        save(replace(vectors, vectors=vectors.vectors[:2]), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    save(vectors, tmp_path)
    record = json.loads((tmp_path / "knowledge.json").read_text(encoding="utf-8"))
    record["relations"] = ["is_a"]
    (tmp_path / "knowledge.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ModelError, match="1 relations"):
        load(tmp_path)
