"""What an index survives, at full length and with figures: run as `make reliability`, in some ten minutes.

Each check is a function that returns what it counted, or raises AssertionError; the tests have small versions of them.
Writes benchmarks/results/reliability.json, from which `make results` makes docs/explanation/reliability.md. Exits
with 1 where a check fails. Words choose checks: `python tests/reliability.py R1 C5`.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from auscult.documents import Document, Section, build_document
from auscult.encoders import load_model
from auscult.errors import AuscultError, IndexFolderError
from auscult.index import IndexUpdate, IndexWriter, PassageIndex, backup, optimize, repair
from auscult.index import storage as storage_room
from auscult.index.manifest import FORMAT_VERSION, Manifest
from auscult.index.passage_index import take_best
from auscult.index.store import Store
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query
from counted import Counted, count
from encoders import HashedEncoder
from index.test_damage import REMOVED, answers, files_of, flip, grown, harm, harms, told
from index.test_durability import SEARCHER
from leaflets import generated, leaflets
from places import ROOT, TESTS

RESULT = ROOT / "benchmarks" / "results" / "reliability.json"
ENCODER = HashedEncoder()

# Adds, replaces and removes single documents for ever, and says of each that it is done.
WRITER = """
import random, sys
sys.path.insert(0, sys.argv[1])
from encoders import HashedEncoder
from leaflets import generated
from auscult.index import IndexUpdate, PassageIndex, optimize
from dataclasses import replace

folder, seed = sys.argv[2], int(sys.argv[3])
chance = random.Random(seed)
reader = PassageIndex.open(folder).reader
held = [reader.document_record(row).doc_id for row in reader.documents]
pool = generated(40, seed=seed, prefix=f"k{seed}-")
print("ready", flush=True)
while True:
    act = chance.choice(("add", "add", "replace", "remove", "optimize"))
    if act == "optimize":
        if chance.random() < 0.3:
            optimize(folder)
        continue
    with IndexUpdate(folder, HashedEncoder()) as update:
        if act == "add" or len(held) < 5:
            if not pool:
                continue
            document = pool.pop()
            act = "add"
            print("try add", document.doc_id, flush=True)
            update.add([document])
        else:
            name = chance.choice(held)
            print("try", act, name, flush=True)
            if act == "remove":
                update.delete([name])
            else:
                reader = PassageIndex.open(folder).reader
                old = reader.document(reader.document_rows[name])
                update.replace([replace(old, title=old.title + " x")])
        update.commit()
    name = document.doc_id if act == "add" else name
    if act == "add":
        held.append(name)
    elif act == "remove":
        held.remove(name)
    print("done", act, name, flush=True)
"""


def r1_killed(place: Path, times: int = 200) -> Counted:
    """SIGKILL at random times while documents are added, replaced and removed, and the index optimized."""
    chance = random.Random(1)
    folder = place / "index"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(generated(30))
        writer.commit()
    known = {document.doc_id for document in generated(30)}
    acknowledged, slowest = 0, 0.0
    for number in range(times):
        arguments = [sys.executable, "-c", WRITER, str(TESTS), str(folder), str(number)]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        said = [line.split() for line in process.stdout.read().splitlines()]
        process.wait()
        open_to: set[str] = set()
        for word, act, name in (line for line in said if len(line) == 3):
            if word == "try":
                open_to = {name}
                continue
            open_to = set()
            acknowledged += 1
            known = known - {name} if act == "remove" else known | {name}
        begun = time.perf_counter()
        index = PassageIndex.open(folder)
        slowest = max(slowest, time.perf_counter() - begun)
        index.verify()
        reader = index.reader
        doc_ids = [reader.document_record(row).doc_id for row in reader.documents]
        assert len(doc_ids) == len(set(doc_ids)), "a document twice"
        # The one that was not acknowledged may be there or not.
        assert known - open_to <= set(doc_ids) <= known | open_to, (known ^ set(doc_ids), open_to)
        known = set(doc_ids)
        for row in reader.documents:
            assert reader.document(row).passages is not None
        reader.close()
    return {"kills": times, "acknowledged changes": acknowledged, "lost": 0, "slowest opening, s": round(slowest, 3)}


def r2_failing_disk(place: Path) -> Counted:
    """Each N-th call of storage fails (no space, I/O error, rename), until none is left to fail."""
    failures = 0
    faults = [(storage_room.os, "fsync"), (storage_room.os, "replace"), (Store, "_write")]
    for owner, name in faults:
        real = getattr(owner, name)
        for number in (28, 5):
            fatal = 0
            while True:
                fatal += 1
                folder = place / f"{name}-{number}-{fatal}"
                with IndexWriter(folder, ENCODER) as writer:
                    writer.add(leaflets())
                    writer.commit()
                calls = 0

                def fail(*args: Any, real: Any = real, fatal: int = fatal, number: int = number) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls == fatal:
                        raise OSError(number, os.strerror(number))
                    return real(*args)

                setattr(owner, name, fail)
                told_of = False
                try:
                    with IndexUpdate(folder, ENCODER) as update:
                        update.delete(["leaflet-gout"])
                        update.add(generated(2))
                        update.commit()
                    if name == "replace":
                        optimize(folder)
                except IndexFolderError as error:
                    told_of = os.strerror(number) in str(error)
                    assert told_of, error  # noqa: PT017
                finally:
                    setattr(owner, name, real)
                assert told_of or calls < fatal, "a call failed, and nobody was told"
                index = PassageIndex.open(folder)
                index.verify()
                assert index.manifest.counts.documents in (4, 5)
                index.reader.close()
                shutil.rmtree(folder)
                if calls < fatal:
                    break
                failures += 1
    return {"calls that failed": failures, "unreadable afterwards": 0}


def r3_power(place: Path) -> Counted:
    """All that a generation names was synced before it was named: nothing else may be there after the power went."""
    synced: dict[int, int] = {}
    order: list[tuple[str, int]] = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor: int) -> None:
        real_sync(descriptor)
        state = os.fstat(descriptor)
        synced[state.st_ino] = state.st_size
        order.append(("sync", state.st_ino))

    def rename(source: Any, target: Any) -> None:
        order.append(("rename", Path(source).stat().st_ino))
        real_replace(source, target)

    storage_room.os.fsync, storage_room.os.replace = sync, rename  # type: ignore[assignment]
    generations = files = 0
    try:
        folder = place / "index"
        with IndexWriter(folder, ENCODER) as writer:
            writer.add(leaflets())
            writer.commit()
        for document in generated(20):
            with IndexUpdate(folder, ENCODER) as update:
                update.add([document])
                update.commit()
            if document.doc_id.endswith("9"):
                optimize(folder)
            index = PassageIndex.open(folder)
            store = index.reader.path
            for segment in index.manifest.segments:
                state = (store / segment.name).stat()
                assert synced.get(state.st_ino) == state.st_size, (
                    f"{segment.name} was named before all of it was synced"
                )
                files += 1
            # The folder that it stands in, and what tells of the folder.
            assert store.stat().st_ino in synced
            assert folder.stat().st_ino in synced
            current = (folder / "CURRENT").stat()
            assert synced.get(current.st_ino) == current.st_size
            with Store(store / "index.sqlite", "rw")._connection as connection:
                (level,) = connection.execute("PRAGMA synchronous").fetchone()
            assert level == 2, "SQLite syncs its log at each commit"
            generations += 1
            index.reader.close()
        for place_of_rename, (what, node) in enumerate(order):
            if what == "rename":
                assert ("sync", node) in order[:place_of_rename]
    finally:
        storage_room.os.fsync, storage_room.os.replace = real_sync, real_replace
    return {"generations": generations, "files that they name": files, "not synced before": 0}


def r4_readers(place: Path, generations: int = 50) -> Counted:
    """Four readers at full speed while generations are published: each answer comes from one of them."""
    folder = place / "index"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(leaflets())
        writer.commit()
    command = [sys.executable, "-c", SEARCHER, str(TESTS), str(folder), str(generations + 1)]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    for number, document in enumerate(generated(generations)):
        with IndexUpdate(folder, ENCODER) as update:
            update.add([document])
            if number:
                update.delete([f"doc{number - 1}"])
            update.commit()
    total = 0
    for reader in readers:
        said, _ = reader.communicate(timeout=120)
        assert reader.returncode == 0
        total += int(said.split()[1])
    return {"generations": generations, "answers": total, "failed or mixed": 0}


def r5_damage(place: Path, positions: int = 500) -> Counted:
    """A byte flipped, or a file cut, at many places of every file."""
    folder = place / "index"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add([*leaflets(), *generated(40)])
        writer.commit()
    with IndexUpdate(folder, ENCODER) as update:
        update.add(generated(5, prefix="new"))
        update.commit()
    expected, chance, copy = answers(folder), random.Random(5), place / "copy"
    harmed = refused = wrong = unseen = unused = repaired = 0
    for name in files_of(folder):
        size = (folder / name).stat().st_size
        for number in range(min(size, positions)):
            at = chance.randrange(size)
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            if number % 5:
                flip(copy / name, at, chance.randrange(8))
            else:
                os.truncate(copy / name, at)
            harmed += 1
            found, refusal = told(copy)
            wrong += not refusal and found != expected
            refused += bool(refusal)
            try:
                PassageIndex.open(copy).verify()
                # Of the database, places that hold nothing that an answer is made of.
                unused += name.name == "index.sqlite"
                unseen += name.name != "index.sqlite"
            except IndexFolderError as error:
                assert name.name in str(error) or name.name == "CURRENT", error  # noqa: PT017
                if name.name.startswith("segment") and number % 25 == 1:
                    repair(copy)
                    assert answers(copy) == expected
                    repaired += 1
    assert (wrong, unseen) == (0, 0), (wrong, unseen, refused, harmed)
    return {
        "harmed": harmed, "answers refused": refused, "wrong answers": wrong, "not seen by verify": unseen,
        "not seen, in unused places of the database": unused,
        "segments derived again": repaired,
    }  # fmt: skip


# Holds one index after the other open, as a service does.
HOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
from auscult.index import PassageIndex

for line in sys.stdin:
    held = None
    held = PassageIndex.open(line.strip())
    print("open", flush=True)
"""


def r12_log(place: Path, damages: int = 500) -> Counted:
    """Flips, cuts, swaps and removals in every file of an index whose last three commits are in its log alone."""
    folder, others = grown(place)
    chance, copy = random.Random(12), place / "copy"
    shutil.copytree(folder, copy)
    expected = answers(copy)
    command = [sys.executable, "-c", HOLDER, str(TESTS)]
    counted: Counter[str] = Counter()
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for number, (kind, name) in enumerate(islice(harms(folder, others, chance), damages)):
        copy = place / f"copy-{number}"
        shutil.copytree(folder, copy)
        if number % 2:
            # A reader holds this very copy: SQLite does not replay the log, but trusts the table of its pages.
            assert holder.stdin is not None
            assert holder.stdout is not None
            holder.stdin.write(f"{copy}\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == "open\n"
        harm(copy, kind, name, others, chance)
        actual, refusal = told(copy)
        counted["harmed"] += 1
        counted["answers refused"] += bool(refusal)
        counted["other answers"] += not refusal and actual != expected
        returned = REMOVED & {each.doc_id for each in actual if isinstance(each, Document)}
        counted["removed documents that came back"] += len(returned)
        try:
            PassageIndex.open(copy).verify()
            counted["damage of the log that verify did not see"] += name.name.endswith("-wal")
        except IndexFolderError:
            pass
        shutil.rmtree(copy)
    holder.kill()
    holder.wait()
    assert not counted["other answers"], counted
    assert not counted["removed documents that came back"], counted
    assert not counted["damage of the log that verify did not see"], counted
    return dict(counted)


def r6_writers(place: Path) -> Counted:
    """A second writer is told who writes; a dead one's lock is taken over."""
    folder = place / "index"
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from encoders import HashedEncoder; from leaflets import leaflets; from auscult.index import IndexWriter\n"
        "with IndexWriter(sys.argv[2], HashedEncoder()) as writer:\n"
        "    writer.add(leaflets()); print('ready', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(TESTS), str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        IndexWriter(folder, ENCODER)
        raise AssertionError("two writers")
    except IndexFolderError as error:
        assert str(process.pid) in str(error), error  # noqa: PT017
    process.kill()
    process.wait()
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(leaflets())
        writer.commit()
    return {"second writers let in": 0, "dead locks in the way": 0}


def r7_formats(place: Path) -> Counted:
    """Indexes of older and newer formats are refused."""
    folder = place / "index"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(leaflets())
        writer.commit()
    store = Store(PassageIndex.open(folder).reader.path / "index.sqlite", "rw")
    others, manifest = [*range(1, FORMAT_VERSION), 99], store.manifest().to_json()
    for version in others:
        other = manifest.replace(f'"format_version": {FORMAT_VERSION}', f'"format_version": {version}')
        try:
            Manifest.parse(other, str(folder))
            raise AssertionError(f"format {version} was opened")
        except IndexFolderError as error:
            assert "build the index again" in str(error), error  # noqa: PT017
    return {"other formats": len(others), "opened": 0}


def r8_small_updates(place: Path, updates: int = 10_000) -> Counted:
    """Many commits of one document each, then `optimize`, beside a fresh build."""
    folder, fresh = place / "index", place / "fresh"
    documents = generated(500)
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(documents)
        writer.commit()
    most = 0
    for number in range(updates):
        document = documents[number % len(documents)]
        with IndexUpdate(folder, ENCODER) as update:
            update.replace([replace(document, title=f"{document.title} {number}")])
            update.commit()
        if number % 100 == 0:
            most = max(most, sum(1 for path in folder.rglob("*") if path.is_file()))
    before = _size(folder)
    optimize(folder)
    index = PassageIndex.open(folder)
    with IndexWriter(fresh, ENCODER) as writer:
        writer.add([index.reader.document(row) for row in index.reader.documents])
        writer.commit()
    ratio = _size(folder) / _size(fresh)
    assert ratio <= 1.5, ratio
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {
        "updates": updates, "most files": most, "disk before, of a fresh build": round(before / _size(fresh), 2),
        "disk after, of a fresh build": round(ratio, 3), "most memory of this process, MB": round(peak),
    }  # fmt: skip


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def r9_twice(place: Path) -> Counted:
    """The same documents built twice, by `fast`: equal ids, scores and runs."""
    encoder = load_model("fast")
    runs = []
    for number in range(2):
        build_index([*leaflets(), *generated(60)], encoder, place / str(number))
        searcher = Searcher.open(place / str(number), encoder)
        asked = [Query(str(n), name, (aspect,)) for n, (name, aspect) in enumerate(_pairs())]
        runs.append([searcher.search(query, 50) for query in asked])
    largest = max(
        abs(a.score - b.score) for one, other in zip(*runs, strict=True) for a, b in zip(one, other, strict=True)
    )
    first, second = ([[hit.passage_id for hit in hits] for hits in run] for run in runs)
    assert first == second
    assert largest <= 1e-6
    return {"questions": len(runs[0]), "other orders": 0, "largest difference of a score": largest}


def _pairs() -> list[tuple[str, str]]:
    return [(each.title, aspect) for each in leaflets() for aspect in ("symptoms", "treatment", "information")]


def r11_backup(place: Path, questions: int = 1000) -> Counted:
    """A backup taken while documents are written answers as the index did at that moment."""
    folder, copy = place / "index", place / "copy"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(generated(300))
        writer.commit()
    expected = PassageIndex.open(folder)
    with IndexUpdate(folder, ENCODER) as update:
        update.add(generated(50, prefix="new"))
        backup(folder, copy)
        update.commit()
    restored = PassageIndex.open(copy)
    restored.verify()
    chance = np.random.default_rng(11)
    for _ in range(questions):
        vector = chance.standard_normal(ENCODER.dim).astype(np.float32)
        vector /= np.linalg.norm(vector)
        for one, other in zip(expected.search(vector, 20), restored.search(vector, 20), strict=True):
            assert one.tobytes() == other.tobytes()
    return {"questions": questions, "other answers": 0}


_PIECES = (
    *("Gout hurts. ", "\r\n", "a\x00b ", "שלום. ", "😀😀 ", "e\u0301té? ", "- item\n", "<b>x</b> ", "\u202eabc "),
    *("Dr. A. ", "1.5 mg. ", "\n\n", "\u00a0", "…"),
)


def c1_offsets(place: Path, documents: int = 20_000) -> Counted:
    """Any text: sentences slice back to it, and hold every visible character once and in order."""
    chance = random.Random(1)
    sentences = 0
    for number in range(documents):
        text = "".join(chance.choices(_PIECES, k=chance.randrange(1, 30))) + chr(chance.randrange(32, 0xD7FF))
        document = build_document(doc_id=str(number), title="t", sections=[Section("h", text)])
        for passage in document.passages:
            whole = document.text[passage.start : passage.end]
            assert whole == text
            rebuilt = "".join(document.text[s.start : s.end] for s in passage.sentences)
            assert "".join(rebuilt.split()) == "".join(whole.split())
            sentences += len(passage.sentences)
    line = build_document(doc_id="long", title="t", sections=[Section("h", "a line without an end " * 480_000)])
    assert line.passages[0].sentences[-1].end <= len(line.text)
    return {"documents": documents, "sentences": sentences, "line of characters": len(line.text), "violations": 0}


def c3_identity(place: Path) -> Counted:
    """Eq. 14 of arnold2020: a passage's score is the mean of its sentences' cosines."""
    encoder = load_model("cdv")
    build_index([*leaflets(), *generated(80)], encoder, place / "index")
    index = PassageIndex.open(place / "index")
    largest = largest_half = 0.0
    for name, aspect in _pairs():
        query = encoder.encode_queries([Query("", name, (aspect,))])[0]
        rows, scores = index.search(query, 200)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            kept = index.reader.stored(row).vectors.astype(np.float64) @ query
            largest_half = max(largest_half, abs(float(kept.mean()) - float(score)))
        for document in leaflets():
            vectors, at = encoder.encode_documents([document])[0], 0
            for passage in document.passages:
                exact = float((vectors[at : at + len(passage.sentences)] @ query).mean())
                at += len(passage.sentences)
                row = next(r for r in rows.tolist() if index.reader.passage_id(r) == passage.passage_id)
                largest = max(largest, abs(float(scores[rows.tolist().index(row)]) - exact))
    assert largest <= 1e-5
    assert largest_half <= 5e-3
    return {"largest difference": largest, "largest difference, half precision": largest_half}


def c5_c6_filters_and_groups(place: Path) -> Counted:
    """Filters and groups always give as many as there are, and the exact order of what passes."""
    folder, documents = place / "index", []
    for number, document in enumerate(generated(10_000)):
        share = {"half": str(number % 2), "hundredth": str(number % 100 == 7), "one": str(number == 4321)}
        documents.append(replace(document, metadata=share))
    with IndexWriter(folder, HashedEncoder(32)) as writer:
        for first in range(0, len(documents), 500):
            writer.add(documents[first : first + 500])
        writer.commit()
    index = PassageIndex.open(folder)
    chance = np.random.default_rng(5)
    searches = 0
    for _ in range(50):
        vector = chance.standard_normal(32).astype(np.float32)
        vector /= np.linalg.norm(vector)
        whole, scores = index.search(vector, len(index.reader.passage_documents))
        for where in ({}, {"half": "1"}, {"hundredth": "True"}, {"one": "True"}):
            passing = [
                row
                for row in whole.tolist()
                if all(documents[index.reader.passage_documents[row]].metadata[f] == v for f, v in where.items())
            ]
            for k in (1, 10, 1000):
                found, _ = index.search(vector, k, where=where)
                assert found.tolist() == passing[:k]
                owners = list(dict.fromkeys(index.reader.passage_documents[passing].tolist()))
                grouped, _ = index.search(vector, k, where=where, group_by="document")
                assert index.reader.passage_documents[grouped].tolist() == owners[:k]
                searches += 2
        assert take_best(scores.astype(np.float32), 5)[0].tolist() == [0, 1, 2, 3, 4]
    return {"documents": len(documents), "searches": searches, "short or wrong": 0}


def c10_models(place: Path) -> Counted:
    """Shipped models hold no code: JSON, safetensors, ONNX and a tokenizer alone; a pickle is refused."""
    import pickle

    allowed = {".json", ".safetensors", ".onnx", ".md", ".txt"}
    folder = ROOT / "src" / "auscult" / "encoders" / "pretrained"
    strange = [path.name for path in folder.rglob("*") if path.is_file() and path.suffix not in allowed]
    assert not strange, strange
    files = sum(1 for path in folder.rglob("*") if path.is_file())
    for name in ("fast", "cdv"):
        copy = place / name
        shutil.copytree(folder / name, copy)
        assert np.array_equal(
            *(load_model(str(each)).encode_queries([Query("", "Gout")]) for each in (copy, folder / name))
        )
        weights = next(path for path in copy.iterdir() if path.suffix == ".safetensors")
        weights.write_bytes(pickle.dumps({"a": 1}))
        try:
            load_model(str(copy))
            raise AssertionError("a pickle was opened")
        except AuscultError:
            pass
    return {"files": files, "other than data": 0, "pickles opened": 0}


CHECKS: dict[str, Callable[[Path], Counted]] = {
    "R1": r1_killed, "R2": r2_failing_disk, "R3": r3_power, "R4": r4_readers, "R5": r5_damage, "R6": r6_writers,
    "R7": r7_formats, "R8": r8_small_updates, "R9": r9_twice, "R11": r11_backup, "R12": r12_log, "C1, C2": c1_offsets,
    "C3": c3_identity, "C5, C6": c5_c6_filters_and_groups, "C10": c10_models,
}  # fmt: skip


if __name__ == "__main__":
    count(CHECKS, sys.argv[1:], "Reliability", RESULT)
