"""A writer killed at any moment leaves the old index or the new one, whole, and the next writer cleans up."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from auscult.errors import IndexFolderError
from auscult.index import IndexUpdate, IndexWriter, PassageIndex
from auscult.index import storage as storage_room
from auscult.index.blocks import BlockWriter
from auscult.index.storage import Current, current_store, read_current
from auscult.index.store import Store
from encoders import HashedEncoder
from leaflets import generated, leaflets
from places import TESTS

ENCODER = HashedEncoder()
OLD = leaflets()
NEW_COUNT = 120

# For each line of input, a child rebuilds or updates an index; with a call number, it kills itself just before that
# storage call. Children are forked, so that modules are imported once.
WRITER = """
import json, os, pathlib, shutil, signal, sys
sys.path.insert(0, sys.argv[1])
from encoders import HashedEncoder
from leaflets import generated, leaflets
from auscult.index import IndexUpdate, IndexWriter
from auscult.index.store import Store

calls = []

def watch(owner, name, fatal):
    real = getattr(owner, name)
    def watched(*args, **kwargs):
        calls.append("COMMIT" if "COMMIT" in args else name)
        if len(calls) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    setattr(owner, name, watched)

def write(folder, act, fatal, count):
    for owner, name in [(os, "fsync"), (os, "replace"), (shutil, "rmtree"), (pathlib.Path, "mkdir"),
                        (pathlib.Path, "unlink"), (pathlib.Path, "open"), (Store, "_write")]:
        watch(owner, name, fatal)
    print("ready", os.getpid(), flush=True)
    writer = (IndexWriter if act == "rebuild" else IndexUpdate)(folder, HashedEncoder())
    with writer:
        for document in generated(count):
            writer.add([document])
        if act == "update":
            writer.delete(["leaflet-gout"])
        writer.commit()

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        write(*json.loads(line))
        print(*calls, flush=True)
        os._exit(0)
    print(" ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Writers:
    """Processes that write into indexes, one after the other."""

    def __init__(self) -> None:
        arguments = [sys.executable, "-c", WRITER, str(TESTS)]
        self.parent = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, folder: Path, act: str, fatal: int = 0) -> int:
        """Start a writer; its process id."""
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        self.parent.stdin.write(json.dumps([str(folder), act, fatal, NEW_COUNT]) + "\n")
        self.parent.stdin.flush()
        ready, process = self.parent.stdout.readline().split()
        assert ready == "ready"
        return int(process)

    def wait(self) -> tuple[int, list[str]]:
        """Wait for the end of the writer: how it ended, and its storage calls if nothing killed it."""
        assert self.parent.stdout is not None
        said = ""
        while " ended " not in said:
            line = self.parent.stdout.readline()
            assert line, "the writers' parent has ended"
            said += line
        calls, _, code = said.rpartition(" ended ")
        return int(code), calls.split()


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    running = Writers()
    yield running
    running.parent.communicate()


def build_old(folder: Path) -> None:
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(OLD)
        writer.commit()


def check_whole(folder: Path, act: str) -> bool:
    """Check that the index is exactly the old or the new one; whether it is the new one."""
    new = generated(NEW_COUNT) if act == "rebuild" else [*(d for d in OLD if d.title != "Gout"), *generated(NEW_COUNT)]
    index = PassageIndex.open(folder)
    index.verify()
    found = [index.reader.document(row) for row in index.reader.documents]
    assert found in (OLD, new)
    index.search(ENCODER.encode_documents(OLD)[0][0], k=5)
    return found == new


def check_cleaned(folder: Path) -> None:
    """The next writer works, and leaves nothing but its own generation."""
    build_old(folder)
    current = current_store(folder)
    assert current is not None
    assert sorted(path.name for path in folder.iterdir()) == ["CURRENT", current.name]
    assert sorted(path.name for path in current.iterdir()) == ["index.sqlite", "segment-000001"]


def check_followed(folder: Path) -> None:
    """The next change says so in CURRENT, whether the killed writer did or not."""
    before = PassageIndex.open(folder).manifest.generation
    with IndexUpdate(folder, ENCODER) as update:
        assert read_current(folder) == Current(update._path.name, before, update._opened()[0].checksum())
        update.add(generated(1, prefix="next"))
        update.commit()
    current = read_current(folder)
    assert current is not None
    assert current.generation == before + 1 == PassageIndex.open(folder).manifest.generation


@pytest.mark.slow
@pytest.mark.parametrize("act", ["rebuild", "update"])
def test_killed_at_many_times(tmp_path: Path, writers: Writers, act: str) -> None:
    chance = random.Random(7)
    build_old(tmp_path / "timed")
    writers.start(tmp_path / "timed", act)
    begun = time.monotonic()
    assert writers.wait()[0] == 0
    whole_run = time.monotonic() - begun
    outcomes = []
    for n in range(15):
        folder = tmp_path / f"index{n}"
        build_old(folder)
        process = writers.start(folder, act)
        time.sleep(whole_run * (n + chance.random()) / 15)
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        writers.wait()
        outcomes.append(check_whole(folder, act))
        check_cleaned(folder)
    assert False in outcomes, "no kill came early enough to leave the old index"


@pytest.mark.parametrize("act", ["rebuild", "update"])
def test_killed_before_every_kind_of_storage_call(tmp_path: Path, writers: Writers, act: str) -> None:
    build_old(tmp_path / "counted")
    writers.start(tmp_path / "counted", act)
    _, calls = writers.wait()
    everything = {"fsync", "replace", "rmtree", "mkdir", "unlink", "open", "_write", "COMMIT"}
    assert (everything if act == "rebuild" else {"_write", "COMMIT", "open", "fsync", "replace"}) <= set(calls)
    # Every call around the one that publishes, and the first and last of each kind. Of an update that is the commit,
    # after which CURRENT is written, synced and renamed, and the log is moved.
    swap = calls.index("replace" if act == "rebuild" else "COMMIT")
    writes = [n for n, name in enumerate(calls) if name == "_write"]
    points = {swap + n for n in range(-3, 9)} | {calls.index(name) for name in calls}
    points |= {len(calls) - 1 - calls[::-1].index(name) for name in calls}
    points |= {writes[len(writes) // 3]}
    outcomes = {}
    for point in sorted(points):
        if not 0 <= point < len(calls):
            continue
        folder = tmp_path / f"index{point}"
        build_old(folder)
        writers.start(folder, act, fatal=point + 1)
        assert writers.wait() == (-signal.SIGKILL, [])
        outcomes[point] = check_whole(folder, act)
        check_followed(folder)
        check_cleaned(folder)
    assert outcomes == {point: point > swap for point in outcomes}, "one call, and only it, publishes"
    assert set(outcomes.values()) == {False, True}


def test_killed_first_build_leaves_a_buildable_folder(tmp_path: Path, writers: Writers) -> None:
    folder = tmp_path / "index"
    writers.start(folder, "rebuild", fatal=15)
    assert writers.wait() == (-signal.SIGKILL, [])
    assert folder.exists()
    with pytest.raises(IndexFolderError, match="a folder without the file CURRENT, which a first build writes"):
        PassageIndex.open(folder)
    check_cleaned(folder)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_disk_failure_is_reported_and_keeps_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    folder = tmp_path / "index"
    build_old(folder)
    real = getattr(os, call)
    for fatal in range(1, 40):
        calls = 0

        def fail(*args: object, fatal: int = fatal) -> object:
            nonlocal calls
            calls += 1
            if calls == fatal:
                raise OSError(28, "No space left on device")
            return real(*args)

        with monkeypatch.context() as patched:
            patched.setattr(storage_room.os, call, fail)
            try:
                with (IndexUpdate if call == "fsync" else IndexWriter)(folder, ENCODER) as writer:
                    writer.add(generated(3))
                    writer.commit()
            except IndexFolderError as error:
                assert "No space left on device" in str(error)  # noqa: PT017
                assert "free some space" in str(error)  # noqa: PT017
        if calls < fatal:
            break
        published = PassageIndex.open(folder)
        published.verify()
        assert published.manifest.counts.documents in (len(OLD), len(OLD) + 3, 3)
        build_old(folder)
    assert fatal > 1


def change(update: IndexUpdate) -> None:
    update.delete(["leaflet-gout"])
    update.add(generated(2))
    update.commit()


@pytest.mark.parametrize("fatal", range(1, 9))
def test_full_database_is_reported_and_keeps_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    folder = tmp_path / "index"
    build_old(folder)
    real = Store._write
    calls = 0

    def fail(store: Store, statement: str, values: tuple[object, ...] = ()) -> None:
        nonlocal calls
        calls += 1
        if calls == fatal:
            raise OSError(28, "No space left on device")
        real(store, statement, values)

    monkeypatch.setattr(Store, "_write", fail)
    with IndexUpdate(folder, ENCODER) as update, pytest.raises(IndexFolderError, match=r"No space.*free some space"):
        change(update)
    monkeypatch.undo()
    published = PassageIndex.open(folder)
    published.verify()
    assert published.manifest.counts.documents == len(OLD)


def test_what_a_full_disk_leaves_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "index"
    build_old(folder)
    close = BlockWriter.discard

    def discard(file: BlockWriter) -> None:
        close(file)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(BlockWriter, "discard", discard)
        with IndexUpdate(folder, ENCODER) as update:
            update.add(generated(3))
    assert [path.name for path in (folder / "store-000001").glob("segment*")] == ["segment-000001"]


SEARCHER = """
import sys
sys.path.insert(0, sys.argv[1])
from encoders import HashedEncoder
from leaflets import leaflets
from auscult.index import PassageIndex

encoder = HashedEncoder()
vector = encoder.encode_documents(leaflets())[0][0]
print("ready", flush=True)
seen, answers = set(), 0
while True:
    index = PassageIndex.open(sys.argv[2])
    manifest, reader = index.manifest, index.reader
    rows, _ = index.search(vector, k=1000)
    for row in rows:
        reader.passage_text(row)
    ids = [reader.document_record(row).doc_id for row in reader.documents]
    # Generation n is that of n - 1 changes, each of which adds one document and takes the one before it away.
    here = [each for each in ids if each.startswith("doc")]
    assert len(ids) == manifest.counts.documents, (ids, manifest.counts)
    assert here == ([f"doc{manifest.generation - 2}"] if manifest.generation > 1 else []), (here, manifest.generation)
    seen.add(manifest.generation)
    answers += 1
    if manifest.generation == int(sys.argv[3]):
        print(len(seen), answers, flush=True)
        break
"""


def test_readers_see_whole_generations_while_a_writer_writes(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_old(folder)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", SEARCHER, str(TESTS), str(folder), "26"], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    before = PassageIndex.open(folder)
    for number, document in enumerate(generated(25)):
        with IndexUpdate(folder, ENCODER) as update:
            update.add([document])
            if number:
                update.delete([f"doc{number - 1}"])
            update.commit()
    for reader in readers:
        told, _ = reader.communicate(timeout=60)
        assert reader.returncode == 0
        generations, _ = map(int, told.split())
        assert generations > 1, "it should have seen the index change"
    assert [before.reader.document(row) for row in before.reader.documents] == OLD
