"""Several writers, straight from the files to a real PostgreSQL server: what they make is the index of a folder."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from auscult.documents import Document
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.engines import publish, withdraw
from auscult.errors import DataError, EngineError, MissingExtraError
from auscult.ingest.files import Choices, FilesCorpus
from auscult.ingest.opening import open_corpus
from auscult.ingest.sources import index_sources, open_sources
from auscult.search import Searcher
from auscult_engines.finishing import JobReport
from auscult_engines.tables import server_of, whole_place
from auscult_engines.together import write_together
from command import Command, hashed_model
from encoders import HashedEncoder
from needs import Needs
from served_index import KNOWN, built, wait_until

ENCODER = HashedEncoder()
QUESTIONS = ("What are the symptoms of {}?", "How is {} treated?", "{}", "is {} inherited?")
DOCUMENTS = 120
SEGMENTS = "SELECT count(*) FROM {segments} WHERE name LIKE 'segment-%'"


@pytest.fixture(scope="module")
def medquad(needs: Needs) -> list[Document]:
    needs.data("medquad")
    return [*islice(open_corpus("medquad").documents(), DOCUMENTS)]


@pytest.fixture
def files(tmp_path: Path, medquad: list[Document]) -> Path:
    """Real documents as files in two folders, of which two say the same, and one says nothing."""
    folder = tmp_path / "documents"
    for number, document in enumerate(medquad):
        write(folder / f"{number % 2}" / f"{number:03d}.md", document)
    write(folder / "1" / "again.md", medquad[0])
    (folder / "1" / "blank.txt").write_text(" \n")
    return folder


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Three small files."""
    folder = tmp_path / "few"
    folder.mkdir()
    for name, text in (("gout", "Rest helps against gout."), ("scurvy", "Oranges help."), ("mumps", "Mumps swell.")):
        (folder / f"{name}.md").write_text(f"# {name}\n\n## Treatment\n\n{text}\n")
    return folder


@pytest.fixture
def url(request: pytest.FixtureRequest, postgres: str) -> Iterator[str]:
    """An address of the test's own."""
    address = f"{postgres}#{request.node.name.split('[')[0][-40:]}"
    yield address
    withdraw(address)


def write(path: Path, document: Document) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = [f"## {each.heading}\n\n{document.slice(each)}" for each in document.passages]
    path.write_text("\n\n".join((f"# {document.title}", *sections)), encoding="utf-8")


def together(
    files: Path, url: str, *, processes: int = 1, replace: bool = False, encoder: DocumentEncoder = ENCODER
) -> JobReport:
    model = "fast" if processes > 1 else "hashed"
    return write_together(
        FilesCorpus(files), url, encoder, model, knowledge_base=KNOWN, processes=processes, replace=replace
    )


def of_folder(files: Path, folder: Path, encoder: DocumentEncoder = ENCODER) -> Searcher:
    """The index of the same files in a folder."""
    sources = open_sources([str(files)], Choices(), index=None, skip_bad=False, report=None)
    reading = nullcontext((encoder, lambda documents: documents))
    index_sources(sources, lambda _: reading, folder, knowledge_base=KNOWN, model="")
    return Searcher.open(folder, encoder)


def answers(searcher: Searcher, every: int = 10) -> list[Any]:
    """The first ten hits of real questions, with scores, evidence, marks and offsets; and the documents with files."""
    reader = searcher.index.reader
    rows = reader.documents.tolist()
    questions = [
        question.format(reader.document_record(row).title)
        for number, row in enumerate(rows[::every])
        for question in (QUESTIONS[number % len(QUESTIONS)], "gout")
    ]
    documents = [
        (reader.document(row), kept and (kept.name, kept.content, kept.runs.tobytes()))
        for row in rows
        for kept in [reader.original(row)]
    ]
    return [
        [searcher.search(each, 10) for each in questions],
        documents,
        [*reader.titles],
        searcher.index.manifest.counts,
    ]


def same(at: str, folder: Searcher) -> bool:
    return answers(Searcher.open(at, ENCODER)) == answers(folder)


def nearly_equal(one: Any, other: Any) -> bool:
    """Check whether nested values are equal, with floats within 1e-4: a model's rounding depends on its batches."""
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=0, abs_tol=1e-4)
    if is_dataclass(one):
        names = [each.name for each in fields(one) if each.compare]
        return type(one) is type(other) and all(
            nearly_equal(getattr(one, name), getattr(other, name)) for name in names
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(nearly_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(nearly_equal, one, other))
    return bool(one == other)


def by_document(searcher: Searcher, question: str) -> dict[str, Any]:
    """Hits without their places, since of documents with equal scores the older comes first."""
    hits = searcher.search(question, 10)
    return {each.doc_id: (each.score, each.evidence, each.sentences, each.start) for each in hits}


def done(url: str) -> tuple[int, int]:
    """How many shares of the job under way are written, and how many are not; none where there is no job yet."""
    # One query, since a job that begins between two takes the shares of the one before away.
    query = "SELECT count(kept), count(*) - count(kept) FROM {items}"
    try:
        (written, left), *_ = server_of(whole_place(url)).rows(query)
        return int(written), int(left)
    except EngineError:
        return 0, 0


def is_in_the_middle(url: str) -> bool:
    """Whether a share of the job is written and two are not, so that it has not ended before its writer is killed."""
    written, left = done(url)
    return written > 0 and left > 1


def test_answers_equal_those_of_a_folder_index(files: Path, url: str, tmp_path: Path) -> None:
    corpus = FilesCorpus(files)
    report = write_together(corpus, url, ENCODER, "hashed", knowledge_base=KNOWN)
    alone = of_folder(files, tmp_path / "index")
    assert (report.written, report.unchanged, report.removed) == (DOCUMENTS, 0, 0)
    assert report.counts == alone.index.manifest.counts
    assert same(url, alone)
    there = Searcher.open(url, ENCODER)
    assert there.index.reader.store.knowledge() == alone.index.reader.store.knowledge()
    told = corpus.report.summary()
    assert told == "files: 122; documents read: 121 (Markdown 121); same text as another: 1; not read: 1"
    assert corpus.report.duplicates == [("1/again.md", "0/000.md")]


def test_two_writers_at_once_make_one_index(files: Path, url: str, tmp_path: Path) -> None:
    reports: list[JobReport] = []
    writers = [threading.Thread(target=lambda: reports.append(together(files, url))) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [(report.written, report.generation) for report in reports] == [(DOCUMENTS, 1)] * 2
    assert same(url, of_folder(files, tmp_path / "index"))


@pytest.mark.slow
def test_other_process_finishes_a_killed_ones_share(files: Path, url: str, tmp_path: Path) -> None:
    fast = load_model("fast")
    reports: list[JobReport] = []
    writing = threading.Thread(target=lambda: reports.append(together(files, url, processes=2, encoder=fast)))
    writing.start()
    wait_until(lambda: done(url)[0] > 1, 240)
    os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
    writing.join()
    assert [each.written for each in reports] == [DOCUMENTS]
    assert nearly_equal(answers(Searcher.open(url, fast)), answers(of_folder(files, tmp_path / "index", fast)))


@pytest.mark.slow
def test_killed_command_resumes_and_readers_keep_the_generation(
    files: Path, url: str, tmp_path: Path, medquad: list[Document]
) -> None:
    fast = load_model("fast")
    away = tmp_path / "away"
    (files / "0").rename(away)
    (files / "0").mkdir()
    for file in sorted(away.iterdir())[:10]:
        file.rename(files / "0" / file.name)
    together(files, url, encoder=fast)
    before = answers(Searcher.open(url, fast))
    for file in away.iterdir():
        file.rename(files / "0" / file.name)
    command = [sys.executable, "-m", "auscult.cli.main", "index", str(files), "--to", url, "--no-knowledge"]
    killed = subprocess.Popen([*command, "--workers", "1"], start_new_session=True, stderr=subprocess.DEVNULL)
    wait_until(lambda: is_in_the_middle(url), 240)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    # The server may still be busy with ending what was killed, and does not answer then.
    wait_until(lambda: done(url)[0] > 0, 60)
    assert answers(Searcher.open(url, fast)) == before
    again = subprocess.run([*command, "--workers", "2"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "unchanged: 70, removed: 0; 120 documents" in again.stdout
    alone = of_folder(files, tmp_path / "index", fast)
    there = Searcher.open(url, fast)
    for document in medquad[::20]:
        question = f"How is {document.title} treated?"
        assert nearly_equal(by_document(there, question), by_document(alone, question))


def test_the_same_command_given_twice_changes_nothing(files: Path, url: str) -> None:
    together(files, url)
    encoded = ENCODER.documents_encoded
    report = together(files, url)
    assert (report.written, report.unchanged, report.removed, report.generation) == (0, DOCUMENTS, 0, 1)
    assert ENCODER.documents_encoded == encoded


def test_changed_document_replaces_the_old_one(
    few: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auscult_engines.readers.PATIENCE", 0.0)
    together(few, url)
    before = Searcher.open(url, ENCODER)
    (few / "gout.md").write_text("# gout\n\n## Treatment\n\nAllopurinol helps against gout.\n")
    (few / "mumps.md").unlink()
    (few / "rabies.md").write_text("# rabies\n\n## Treatment\n\nVaccination helps.\n")
    report = together(few, url)
    assert (report.written, report.unchanged, report.removed, report.removed_ids) == (2, 1, 2, ["gout.md", "mumps.md"])
    assert before.search("gout", 1)[0].text.endswith("Rest helps against gout.")
    there, alone = Searcher.open(url, ENCODER), of_folder(few, tmp_path / "index")
    for question in ("gout treatment", "What helps?", "vaccination", "mumps"):
        assert by_document(there, question) == by_document(alone, question)
    # What left is removed when nobody reads it any more, though nothing has changed.
    assert server_of(whole_place(url)).rows("SELECT count(*) FROM {documents}")[0][0] == 5
    del before
    together(few, url)
    assert server_of(whole_place(url)).rows("SELECT count(*) FROM {documents}")[0][0] == 3
    assert server_of(whole_place(url)).rows(SEGMENTS)[0][0] == 1
    del there
    (few / "scurvy.md").unlink()
    (few / "measles.md").write_text("# measles\n\nVaccination helps.\n")
    together(few, url)
    assert server_of(whole_place(url)).rows("SELECT count(*) FROM {documents}")[0][0] == 3
    assert len(Searcher.open(url, ENCODER).index.manifest.segments) == 1
    assert server_of(whole_place(url)).rows(f"{SEGMENTS} AND gone IS NULL")[0][0] == 1


def test_killed_last_step_is_repeated(few: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    together(few, url)
    (few / "rabies.md").write_text("# rabies\n\n## Treatment\n\nVaccination helps.\n")
    for step, generation in (("show_generation", 1), ("give_space_back", 2)):
        with monkeypatch.context() as killing:
            killing.setattr(f"auscult_engines.finishing.{step}", ended)
            with pytest.raises(KeyboardInterrupt):
                together(few, url)
        assert Searcher.open(url, ENCODER).index.manifest.generation == generation
    assert together(few, url).generation == 2
    assert Searcher.open(url, ENCODER).search("vaccination", 1)[0].doc_id == "rabies.md"


def test_different_index_at_the_address_is_refused(few: Path, url: str, tmp_path: Path) -> None:
    together(few, url)
    with pytest.raises(EngineError, match="the model 'hashed-64', which made the index"):
        together(few, url, encoder=HashedEncoder(32))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Scurvy\n\nOranges help.")
    with pytest.raises(EngineError, match=r"got an index of .*few .*name them all, or say --replace"):
        together(other, url)
    assert together(other, url, replace=True).removed == 3
    with pytest.raises(EngineError, match="one that `auscult index --to` writes"):
        publish(built(tmp_path / "built"), url)
    withdraw(url)
    publish(tmp_path / "built", url)
    with pytest.raises(EngineError, match="got one of a folder"):
        together(few, url)
    assert publish(tmp_path / "built", url).written == 0


def test_replace_drops_another_unfinished_job(few: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    for generation in (1, 2):
        with monkeypatch.context() as killing:
            killing.setattr("auscult_engines.together.finish", ended)
            with pytest.raises(KeyboardInterrupt):
                together(few, url)
        (few / f"new-{generation}.md").write_text(f"# New {generation}\n\nSomething else.")
        with pytest.raises(EngineError, match="no other job under way"):
            together(few, url)
        report = together(few, url, replace=True)
        assert (report.generation, report.counts.documents) == (generation, 3 + generation)
        rows = server_of(whole_place(url)).rows("SELECT count(*) FROM {documents} WHERE gone IS NULL")
        assert rows[0][0] == report.counts.documents
        (few / "gout.md").write_text(f"# Gout\n\n## Treatment\n\nRest {generation} helps against gout.")


def test_a_folder_without_documents_leaves_nothing_behind(few: Path, url: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "blank.txt").write_text(" ")
    with pytest.raises(DataError, match="at least one document to index"):
        together(empty, url)
    assert together(few, url).written == 3


def test_an_error_of_a_process_reaches_the_command() -> None:
    for error in (DataError("a", "b", "c"), MissingExtraError("x", "y")):
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(copy), str(copy), copy.remedy) == (type(error), str(error), error.remedy)


def test_the_command_and_what_it_refuses(
    few: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Command(monkeypatch, capsys)
    model = str(hashed_model(tmp_path / "model"))
    said = "index", str(few), "--to", url, "--no-knowledge", "--model", model, "--workers", "1"
    told = command(*said)
    assert told.code == 0, told.err
    assert "written: 3 documents, unchanged: 0, removed: 0; 3 documents, 3 passages" in told.out
    assert "Rest helps" in command("search", url, "What helps against gout?").out
    lines = tmp_path / "d.jsonl"
    lines.write_text('{"id": "a", "title": "Gout", "text": "Gout hurts."}\n')
    away = "postgresql://nobody@localhost:1/none"
    for arguments, expected in (
        (["index", str(few)], "--out FOLDER or --to ADDRESS, got neither"),
        (["index", str(few), "--to", url, "--out", "x"], "got both"),
        (["index", str(few), "--to", url, "--executor", "here"], "leave --executor out"),
        (["index", str(few), "--to", url, "--workers", "-1"], "--workers of at least 0"),
        (["index", str(lines), "--to", url], "files and folders with --to"),
        (["index", str(few), "--to", "milvus:x.db", "--model", model], "which keeps an index"),
        (["index", str(few), "--to", away, "--model", model], "an answer of the PostgreSQL server localhost/none"),
    ):
        failed = command(*arguments, "--no-knowledge")
        assert failed.code == 2, arguments
        assert expected in failed.err
        assert len(failed.err.strip().splitlines()) <= 2, failed.err
