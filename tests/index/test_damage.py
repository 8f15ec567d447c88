"""Whatever byte of an index is changed: the same answer, or a refusal that names the file; never another answer."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document
from auscult.errors import IndexFolderError
from auscult.index import IndexUpdate, IndexWriter, PassageIndex, backup, optimize, repair
from auscult.index.blocks import BlockFile, BlockWriter
from auscult.search import Searcher, SearchOptions
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


#: Documents that `grown` removes in its last two commits.
REMOVED = {"doc3", "doc4"}


def grown(place: Path) -> tuple[Path, list[Path]]:
    """Copies of an index whose last three commits lie in its log alone, as a reader has held it open since before them.

    Returns:
        The index; and others to swap files with: as it was two commits before, and two copies that changed otherwise,
        one with a log and one without.
    """
    folder = place / "live"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add([*leaflets(), *generated(40)])
        writer.commit()
    closed, other = place / "closed", place / "other-live"
    backup(folder, closed)
    backup(folder, other)
    older, index, fork = place / "older", place / "index", place / "other"
    for copy in (closed, other, folder):
        holder = None if copy == closed else PassageIndex.open(copy)
        # A copy within this process would end the locks that it holds on the database.
        for number, name in enumerate((None, *sorted(REMOVED))):
            with IndexUpdate(copy, ENCODER) as update:
                update.add(generated(3, seed=number + 7 * (copy != folder), prefix=f"new{number}-"))
                if name is not None:
                    update.delete([name if copy == folder else "doc7" if number == 1 else "doc8"])
                update.commit()
            if (copy, number) == (folder, 0):
                subprocess.run(["cp", "-r", str(folder), str(older)], check=True)
        if holder is not None:
            subprocess.run(["cp", "-r", str(copy), str(index if copy == folder else fork)], check=True)
            holder.reader.close()
    return index, [older, fork, closed]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    return grown(tmp_path_factory.mktemp("grown"))


def harms(folder: Path, others: list[Path], chance: random.Random) -> Iterator[tuple[str, Path]]:
    """Kinds of damage and the file that each is done to: every removal and swap once, then flips and cuts for ever."""
    names = files_of(folder)
    for name in names:
        yield "remove", name
        for number in range(len(others)):
            yield f"swap {number}", name
    for number in range(len(others)):
        yield f"swap database {number}", next(name for name in names if name.name == "index.sqlite")
    while True:
        for name in names:
            yield chance.choice(("flip", "flip", "cut")), name


def harm(copy: Path, kind: str, name: Path, others: list[Path], chance: random.Random) -> None:
    """Do some damage to a file of a copy."""
    path = copy / name
    if kind == "flip":
        flip(path, chance.randrange(path.stat().st_size), chance.randrange(8))
    elif kind == "cut":
        with path.open("r+b") as file:
            file.truncate(chance.randrange(path.stat().st_size))
    elif kind == "remove":
        path.unlink()
    else:
        other = others[int(kind[-1])]
        for ending in ("", "-wal", "-shm") if "database" in kind else ("",):
            (found,) = [*other.rglob(path.name + ending), None][:1]
            path.with_name(path.name + ending).unlink(missing_ok=True)
            if found is not None:
                shutil.copy(found, path.with_name(path.name + ending))


def answers(folder: Path) -> list[object]:
    """All that is read of an index for hits, and then of the documents."""
    searcher = Searcher.open(folder, ENCODER)
    said: list[object] = []
    for query in ASKED:
        said += searcher.search(searcher.understand(query).query, 10)
        said += searcher.search(
            query, 5, SearchOptions(group_by="document", scoring="model", where={"source": ["s1", "North"]})
        )
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
    """Files of an index; the database's log and its table of contents only where the log holds something.

    A database that was opened leaves an empty log behind.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    if not any(path.name.endswith("-wal") and path.stat().st_size for path in files):
        files = [path for path in files if not path.name.endswith(("-wal", "-shm"))]
    return sorted(path.relative_to(folder) for path in files)


def flip(path: Path, place: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (old,) = file.read(1)
        file.seek(place)
        file.write(bytes([old ^ 1 << bit]))


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


def test_damage_never_brings_an_older_generation_back(live: tuple[Path, list[Path]], tmp_path: Path) -> None:
    folder, others = live
    chance = random.Random(12)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    expected = answers(copy)
    assert not REMOVED & {each.doc_id for each in expected if isinstance(each, Document)}
    refused = dict.fromkeys(map(str, files_of(folder)), 0)
    for kind, name in islice(harms(folder, others, chance), 120):
        shutil.rmtree(copy)
        shutil.copytree(folder, copy)
        harm(copy, kind, name, others, chance)
        found, refusal = told(copy)
        assert refusal or found == expected, (kind, name)
        refused[str(name)] += bool(refusal)
    assert {name for name, count in refused.items() if not count} == {"store-000001/index.sqlite-shm"}


@pytest.mark.parametrize("kind", ["flip", "cut", "remove", "swap 0", "swap 1"])
def test_losing_a_commit_from_the_log_is_detected(live: tuple[Path, list[Path]], tmp_path: Path, kind: str) -> None:
    folder, others = live
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (log,) = copy.rglob("*-wal")
    harm(copy, kind, log.relative_to(copy), others, random.Random(3))
    for act in (PassageIndex.open, repair, optimize, IndexUpdate, lambda place: backup(place, tmp_path / "kept")):
        with pytest.raises(IndexFolderError, match=r"generation 4 in .*index\.sqlite"):
            act(copy)
    # The folder was only looked at: with the log put back all is there.
    original = next(folder.rglob("*-wal"))
    shutil.copy(original, log)
    assert PassageIndex.open(copy).manifest.generation == 4


def test_verify_checks_the_log_beside_open_readers(live: tuple[Path, list[Path]], tmp_path: Path) -> None:
    folder, _ = live
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    holder = PassageIndex.open(copy)
    PassageIndex.open(copy).verify()
    expected = answers(copy)
    (log,) = copy.rglob("*-wal")
    # The checksum of the first frame: no answer is made of it, but nothing behind it would be replayed.
    flip(log, 32 + 17, 2)
    assert answers(copy) == expected
    with pytest.raises(IndexFolderError, match=r"index\.sqlite-wal.*auscult optimize"):
        holder.verify()
    optimize(copy)
    PassageIndex.open(copy).verify()
    assert answers(copy) == expected


def test_current_tells_the_last_generation(live: tuple[Path, list[Path]], tmp_path: Path) -> None:
    folder, (older, *_) = live
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    content = (copy / "CURRENT").read_bytes()
    assert content.startswith(b"store-000001\ngeneration 4\nmanifest ")
    (copy / "CURRENT").write_bytes((older / "CURRENT").read_bytes())
    with pytest.raises(IndexFolderError, match=r"generation 2 in .*another generation, with number 4"):
        PassageIndex.open(copy)
    (copy / "CURRENT").write_bytes(b"store-000001\n")
    with pytest.raises(IndexFolderError, match="the name and generation of a store"):
        PassageIndex.open(copy)
    (copy / "CURRENT").unlink()
    with pytest.raises(IndexFolderError, match="CURRENT"):
        PassageIndex.open(copy)
    (copy / "CURRENT").write_bytes(content)
    assert PassageIndex.open(copy).manifest.generation == 4


def test_index_of_another_normal_form_needs_repair(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    monkeypatch.setattr("auscult.index.segment.ANALYSIS", 1)
    shutil.copytree(folder, old)
    repaired = repair(old)
    monkeypatch.undo()
    with pytest.raises(IndexFolderError, match=r"normal form.*auscult verify INDEX --repair"):
        PassageIndex.open(old)
    with pytest.raises(IndexFolderError, match="--repair"), IndexUpdate(old, ENCODER) as update:
        update.delete(["doc5"])
    assert len(repair(old)) == len(repaired)
    assert answers(old) == answers(folder)


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
