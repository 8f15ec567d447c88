"""The default knowledge base, compiled once per machine."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from auscult.concepts import KnowledgeBase
from auscult.concepts.opening import DEFAULT_FOLDER
from auscult.index.knowledge import packed_beside
from auscult.ingest import knowledge
from auscult.ingest.knowledge import find_knowledge, knowledge_for
from needs import Needs

# Asthma is among the first.
_LINES = 2_500


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this package in an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "auscult"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """An item for each time that taxonomies were parsed."""
    times: list[None] = []
    opened = knowledge.open_for_questions

    def parse() -> KnowledgeBase:
        times.append(None)
        return opened()

    monkeypatch.setattr(knowledge, "open_for_questions", parse)
    return times


@pytest.fixture
def data(needs: Needs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the beginning of each real taxonomy."""
    folder = tmp_path / "data" / DEFAULT_FOLDER
    folder.mkdir(parents=True)
    for file in needs.file(DEFAULT_FOLDER).iterdir():
        if file.name.endswith(".tsv.gz"):
            lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
            (folder / file.name).write_bytes(gzip.compress(b"".join(lines[:_LINES])))
    monkeypatch.setenv("AUSCULT_DATA", str(folder.parent))
    return folder


def compiled(cache: Path) -> list[Path]:
    return sorted(each for each in cache.iterdir() if not each.suffix)


@pytest.mark.usefixtures("data")
def test_taxonomies_are_parsed_once(cache: Path, parsed: list[None]) -> None:
    first, second = find_knowledge(), find_knowledge()
    assert len(parsed) == 1
    assert first is not None
    assert second is not None
    plain = knowledge.open_for_questions()
    assert len(second) == len(plain)
    assert [*second.by_name("asthma")] == [*plain.by_name("asthma")] != []
    assert {key: dict(names) for key, names in second.foreign.of_concepts.items()} == plain.foreign.of_concepts != {}
    again = KnowledgeBase.from_bytes(second.to_bytes(), "a test")
    assert again.concepts == dict(plain.concepts.items())
    assert {each.suffix for each in cache.iterdir()} == {"", ".packed"}


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("damage", ["file", "packed", "missing"])
def test_damaged_files_are_written_anew(cache: Path, parsed: list[None], damage: str) -> None:
    find_knowledge()
    (file,) = compiled(cache)
    path = file if damage == "file" else packed_beside(file)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink() if damage == "missing" else path.write_bytes(content)
    known = find_knowledge()
    assert known is not None
    assert known.by_name("asthma")
    assert len(parsed) == 2
    find_knowledge()
    assert len(parsed) == 2


@pytest.mark.usefixtures("data")
def test_without_a_cache_folder_names_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[None]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    known = find_knowledge()
    assert known is not None
    assert known.by_name("asthma")
    assert len(parsed) == 1


def test_other_data_is_compiled_beside_it(cache: Path, data: Path) -> None:
    find_knowledge()
    with gzip.open(data / "entities.tsv.gz", "at", encoding="utf-8") as entities:
        entities.write("DOID:0\tward fever\tDO\t\t\t\n")
    known = find_knowledge()
    assert known is not None
    assert known.by_name("ward fever")
    assert len(compiled(cache)) == 2


def test_without_taxonomies_there_is_none(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    assert knowledge_for(None) is None
    assert not cache.exists()
