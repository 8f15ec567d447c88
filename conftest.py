"""Fixtures shared by the tests of several rooms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from auscult.concepts import KnowledgeBase
from auscult.extensions import entries
from kept_readers import end_readers, keep_readers
from needs import Needs
from places import ROOT, TESTS
from small_experiment import ONTOLOGY, leaflets

pytest_plugins = ("workers",)


@pytest.fixture(autouse=True)
def no_encoder_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which encoder the machine's user has chosen is nothing to a test."""
    monkeypatch.delenv("AUSCULT_BACKBONE", raising=False)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Auscult without any other package."""
    monkeypatch.setattr("auscult.extensions.entry_points", lambda group: [])
    entries.cache_clear()
    yield
    entries.cache_clear()


@pytest.fixture(scope="session")
def readers_end() -> Iterator[None]:
    yield
    end_readers()


@pytest.fixture(autouse=True)
def kept_readers(request: pytest.FixtureRequest, readers_end: None) -> Iterator[None]:
    """Processes that read files serve several tests, but for those of the readers themselves."""
    with pytest.MonkeyPatch.context() as patched:
        if not {TESTS / "readers", ROOT / "packages/auscult-readers/tests"} & {*request.path.parents}:
            keep_readers(patched)
        yield


@pytest.fixture(scope="session")
def needs() -> Needs:
    return Needs()


@pytest.fixture(scope="session")
def taxonomies(needs: Needs) -> KnowledgeBase:
    """The knowledge base of the prepared taxonomies, read once."""
    return KnowledgeBase.from_folder(needs.data("kg") / "kg")


@pytest.fixture(scope="session")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT, and `knowledge` beside it: vectors of entities that its words name. Nothing is to change them."""
    from auscult_lab.graphs.knowledge_vectors import save
    from small_knowledge import small_vectors
    from tiny_bert import save_tiny_bert

    folder = tmp_path_factory.mktemp("bert")
    save(small_vectors(), folder / "knowledge")
    return save_tiny_bert(folder / "backbone")


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    path = tmp_path / "small.obo"
    path.write_text(ONTOLOGY, encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "leaflets.jsonl"
    path.write_text(leaflets(), encoding="utf-8")
    return path
