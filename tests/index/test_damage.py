"""Whatever byte of an index is changed: the same answer, or a refusal that names the file; never another answer."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from auscult.errors import IndexFolderError
from auscult.index import IndexUpdate, IndexWriter, PassageIndex, repair
from auscult.index.blocks import BlockFile, BlockWriter
from auscult.search import Searcher
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import generated, leaflets

ENCODER = HashedEncoder()
ASKED = [
    Query("", "Migraine", ("Symptoms",)),
    Query("", "topic 3 wört7", ("heading 4",), text="what are the signs of wört12?"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("damage") / "index"
    with IndexWriter(place, ENCODER) as writer:
        writer.add([*leaflets(), *generated(40)])
        writer.commit()
    with IndexUpdate(place, ENCODER) as update:
        update.add(generated(5, prefix="new"))
        update.delete(["doc3"])
        update.commit()
    return place


def answers(folder: Path) -> list[object]:
    """All that is read of an index for hits, and then of the documents."""
    searcher = Searcher.open(folder, ENCODER)
    said: list[object] = []
    for query in ASKED:
        said += searcher.search(searcher.understand(query).query, 10)
        said += searcher.search(query, 5, group_by="document", scoring="model", where={"source": ["s1", "North"]})
    reader = searcher.index.reader
    said += [reader.document(row) for row in reader.documents]
    return said


def told(folder: Path) -> tuple[list[object], str]:
    """The answers, or what was said in their place."""
    try:
        return answers(folder), ""
    except IndexFolderError as error:
        return [], str(error)


def files_of(folder: Path) -> list[Path]:
    """What an index is made of; a database that was opened leaves an empty log and its table of contents behind."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return sorted(path.relative_to(folder) for path in files)


def flip(path: Path, place: int, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def test_a_flipped_byte_never_changes_an_answer(folder: Path, tmp_path: Path) -> None:
    chance = random.Random(11)
    expected = answers(folder)
    copy = tmp_path / "copy"
    refused: dict[str, int] = {}
    for name in files_of(folder):
        size = (folder / name).stat().st_size
        for place in chance.sample(range(size), min(size, 60)):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            flip(copy / name, place, chance.randrange(8))
            found, refusal = told(copy)
            assert (name.name in refusal or name.name == "CURRENT") if refusal else found == expected, (name, place)
            refused[name.name] = refused.get(name.name, 0) + bool(refusal)
            if name.name.startswith("segment"):
                with pytest.raises(IndexFolderError, match=r"segment-\d+.*auscult verify"):
                    PassageIndex.open(copy).verify()
    assert min(refused.values()) > 0
    assert len(refused) == 4
    assert refused["index.sqlite"] > 30, "most of it are texts and vectors"


@pytest.mark.parametrize("size", [0, 3, 100, 5000])
def test_a_file_cut_short_is_refused(folder: Path, tmp_path: Path, size: int) -> None:
    for name in files_of(folder):
        if size >= (folder / name).stat().st_size:
            continue
        copy = tmp_path / name.name
        shutil.copytree(folder, copy)
        with (copy / name).open("r+b") as file:
            file.truncate(size)
        with pytest.raises(IndexFolderError):
            answers(copy)


def edited(folder: Path, copy: Path, old: bytes, new: bytes) -> Path:
    """A copy whose store says something else of the same length."""
    shutil.copytree(folder, copy)
    (store,) = copy.rglob("index.sqlite")
    content = store.read_bytes()
    assert old in content
    assert len(old) == len(new)
    store.write_bytes(content.replace(old, new))
    return copy


def test_an_edit_of_the_same_length_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = edited(folder, tmp_path / "copy", b"throbbing pain", b"never any pain")
    with pytest.raises(IndexFolderError, match=r"damaged row \d+ in passages"):
        answers(copy)
    with pytest.raises(IndexFolderError, match="put a backup in its place"):
        repair(copy)


@pytest.mark.parametrize(
    ("table", "columns"), [("passages", "text"), ("passages", "vectors, sum"), ("documents", "record, sum")]
)
def test_rows_in_each_others_place_are_refused(folder: Path, tmp_path: Path, table: str, columns: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (store,) = copy.rglob("index.sqlite")
    connection = sqlite3.connect(store)
    first, second = connection.execute(f"SELECT key, {columns} FROM {table} ORDER BY key LIMIT 2").fetchall()  # noqa: S608
    names = ", ".join(f"{name} = ?" for name in columns.split(", "))
    for (key, *_), (_, *values) in ((first, second), (second, first)):
        connection.execute(f"UPDATE {table} SET {names} WHERE key = ?", (*values, key))  # noqa: S608
    connection.commit()
    connection.close()
    with pytest.raises(IndexFolderError, match=rf"damaged row \d+ in {table}"):
        answers(copy)
    with pytest.raises(IndexFolderError, match=rf"damaged row \d+ in {table}"):
        PassageIndex.open(copy).verify()


@pytest.mark.parametrize("harm", ["missing", "flipped", "another's", "both"])
def test_segments_are_derived_again(folder: Path, tmp_path: Path, harm: str) -> None:
    expected = answers(folder)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert repair(copy) == [], "all is well"
    first, second = sorted(copy.rglob("segment*"))
    if harm in ("missing", "both"):
        first.unlink()
    if harm in ("flipped", "both"):
        flip(second, second.stat().st_size // 2, 3)
    if harm == "another's":
        shutil.copy(first, second)
    with pytest.raises(IndexFolderError, match="auscult verify"):
        PassageIndex.open(copy).verify()
    renewed = {"missing": [first.name], "both": [first.name, second.name]}.get(harm, [second.name])
    assert repair(copy) == renewed
    assert answers(copy) == expected
    PassageIndex.open(copy).verify()
    assert len(list(copy.rglob("segment*"))) == 2


def test_blocks_are_checked_when_they_are_read(tmp_path: Path) -> None:
    writer = BlockWriter(tmp_path / "file")
    numbers = np.arange(100_000, dtype="<i8")
    writer.add("numbers", numbers, "<i8")
    writer.add("none", numbers[:0], "<i4")
    end = writer.close({"said": "so"})
    file = BlockFile(writer.path, end)
    assert file.array("numbers").tolist() == numbers.tolist()
    assert file.array("numbers", 70_000, 70_003).tolist() == [70_000, 70_001, 70_002]
    assert file.array("none").tolist() == []
    assert file.notes == {"said": "so"}
    flip(writer.path, 8 * 50_000, 0)
    harmed = BlockFile(writer.path, end)
    assert harmed.array("numbers", 90_000, 90_002).tolist() == [90_000, 90_001]
    for first, last in ((49_999, 50_002), (0, None)):
        with pytest.raises(IndexFolderError, match=r"at byte 393,216 of .*file"):
            harmed.array("numbers", first, last)
    with pytest.raises(IndexFolderError, match="other content"):
        BlockFile(writer.path, end + 1)
