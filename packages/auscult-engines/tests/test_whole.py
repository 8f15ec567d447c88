"""All of an index on a real PostgreSQL server: searchers without its folder answer as those that have it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from auscult.documents import Document
from auscult.engines import manifest_at, named_indexes, publish, withdraw
from auscult.engines.contract import Filters
from auscult.errors import ConfigError, EngineError, IndexFolderError
from auscult.ingest.building import build_index
from auscult.ingest.opening import open_corpus
from auscult.search import Searcher
from auscult_engines import ProposedIndex
from auscult_engines.tables import schema_of, whole_places
from auscult_engines.whole import Cache
from auscult_service.settings import Settings
from command import Command
from leaflets import leaflets
from needs import Needs
from served_index import KNOWN, built, note, served, wait_until
from whole_index import ASKED, ENCODER, OPTIONS, answers, ask_about, changed, copies, index_one_note, server_at
from wire import Wire


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of two segments, of which a document was removed."""
    build_index([*leaflets(), note()], ENCODER, tmp_path / "index", knowledge_base=KNOWN)
    changed(tmp_path / "index", [*copies()], remove=["leaflet-asthma"])
    return tmp_path / "index"


def retold(title: str) -> list[Document]:
    return [replace(note(), title=title)]


@pytest.fixture
def url(request: pytest.FixtureRequest, postgres: str) -> Iterator[str]:
    """An address of the test's own."""
    address = f"{postgres}#{request.node.name.split('[')[0][-40:]}"
    yield address
    withdraw(address)


@pytest.fixture
def wire(postgres_server: Any) -> Iterator[Wire]:
    """Between searchers and the server."""
    line = Wire(f"{postgres_server.get_postmaster_info().socket_dir}/.s.PGSQL.5432")
    yield line
    line.close()


def over(wire: Wire, url: str) -> str:
    return f"postgresql://postgres@127.0.0.1:{wire.port}/postgres#{url.partition('#')[2]}"


def test_answers_equal_those_of_the_deleted_folder(folder: Path, url: str) -> None:
    alone = Searcher.open(folder, ENCODER)
    expected = answers(alone)
    views = [], ["ward 4"], ["cardiology", "none"]
    of_views = [answers(alone.seen_by(groups), OPTIONS[:1]) for groups in views]
    report = publish(folder, url)
    assert (report.written, report.removed, report.passages) == (8, 0, alone.index.manifest.counts.passages)
    shutil.rmtree(folder)
    there = Searcher.open(url, ENCODER)
    assert answers(there) == expected
    assert [answers(there.seen_by(groups), OPTIONS[:1]) for groups in views] == of_views


@pytest.mark.slow
def test_medquad_answers_equal_those_of_the_folder(url: str, needs: Needs, tmp_path: Path) -> None:
    needs.data("medquad")
    build_index(islice(open_corpus("medquad").documents(), 0, None, 5), ENCODER, tmp_path / "index")
    publish(tmp_path / "index", url)
    alone, there = Searcher.open(tmp_path / "index", ENCODER), Searcher.open(url, ENCODER)
    titles = [alone.index.reader.document_record(row).title for row in alone.index.reader.documents[::12].tolist()]
    for question in ask_about(titles):
        assert there.search(question) == alone.search(question), question


def test_what_the_server_proposes_is_weighed_exactly(folder: Path, url: str) -> None:
    publish(folder, url, approximate=True)
    there = Searcher.open(url, ENCODER)
    assert isinstance(there.index, ProposedIndex)
    assert answers(there) == answers(Searcher.open(folder, ENCODER))
    with pytest.raises(EngineError, match="made otherwise"):
        publish(folder, url)


def test_proposals_come_from_the_graph(folder: Path, url: str) -> None:
    publish(folder, url, approximate=True)
    query = (
        "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_all_indexes JOIN pg_class ON pg_class.oid = indexrelid"
        " JOIN pg_am ON pg_am.oid = relam WHERE amname = 'hnsw' AND schemaname = %s"
    )
    schema = [schema_of(whole_places(url)[0])]
    assert server_at(url).rows(query, schema)[0][0] == 0
    for _ in range(3):
        Searcher.open(url, ENCODER).search(ASKED[0])
    # The server counts the uses of an index a little later.
    wait_until(lambda: server_at(url).rows(query, schema)[0][0] > 0)


def test_groups_are_proposed_only_what_they_may_see(folder: Path, url: str) -> None:
    publish(folder, url, approximate=True)
    alone, there = Searcher.open(folder, ENCODER), Searcher.open(url, ENCODER)
    reader = alone.index.reader
    for groups in ([], ["ward 4"], ["cardiology", "none"], ["ward 3", "ward 4"]):
        view, own = there.seen_by(groups), alone.seen_by(groups)
        assert isinstance(view.index, ProposedIndex)
        assert answers(view, OPTIONS[:1]) == answers(own, OPTIONS[:1])
        visible = own.index.reader.living[reader.passage_documents]
        asking = frozenset(groups)
        for filters in (Filters(groups=asking), Filters({"source": frozenset(["source 1"])}, groups=asking)):
            keys = view.index._proposer.nearest(reader.passage_vectors[[0]][0], 500, filters)
            assert set(keys) <= set(reader.passage_keys[visible].tolist())
            assert filters.where or len(keys) == visible.sum()


def rows_gone(url: str) -> tuple[int, int, int]:
    """How many documents there are, and how many of these and of the segments no later generation has."""
    query = (
        "SELECT (SELECT count(*) FROM {documents}), (SELECT count(*) FROM {documents} WHERE gone IS NOT NULL),"
        " (SELECT count(*) FROM {segments} WHERE gone IS NOT NULL)"
    )
    (found,) = server_at(url).rows(query)
    documents, gone, segments = found
    return documents, gone, segments


def test_generations_are_kept_while_they_have_readers(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_engines.readers.PATIENCE", 0.0)
    publish(folder, url)
    before = Searcher.open(url, ENCODER)
    view = before.seen_by(["ward 4"])
    changed(folder, retold("Scurvy of sailors"))
    expected = answers(Searcher.open(folder, ENCODER))
    report = publish(folder, url)
    assert (report.written, report.removed, report.removed_ids) == (1, 1, [note().doc_id])
    assert answers(Searcher.open(url, ENCODER)) == expected
    changed(folder, retold("Scurvy once more"))
    # What had left before is not reported again.
    assert publish(folder, url).removed == 1
    assert rows_gone(url)[:2] == (10, 2)
    assert before.search("What cures scurvy?", 1)[0].title == "Scurvy"
    del before
    publish(folder, url)
    assert rows_gone(url)[1] == 2
    assert view.search("What cures scurvy?", 1)[0].title == "Scurvy"
    del view
    publish(folder, url)
    assert rows_gone(url) == (8, 0, 0)


def test_unread_rows_are_deleted_by_the_publish_command(folder: Path, url: str) -> None:
    publish(folder, url)
    before = [Searcher.open(url, ENCODER)]
    changed(folder, retold("Scurvy of sailors"))
    # A service opens the next generation while the command waits.
    threading.Timer(1.0, before.clear).start()
    assert publish(folder, url).removed == 1
    assert not before
    assert rows_gone(url) == (8, 0, 0)


def test_disconnected_readers_do_not_delay_deletion(folder: Path, url: str) -> None:
    publish(folder, url)
    idle = Searcher.open(url, ENCODER).index.reader
    row = idle.row_of(note().doc_id)
    assert row is not None
    server_at(url).rows(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
    )
    changed(folder, retold("Scurvy of sailors"))
    publish(folder, url)
    assert rows_gone(url) == (8, 0, 0)
    with pytest.raises(EngineError, match="a later generation"):
        idle.document_record(row)


def test_partial_generation_is_never_seen_and_publishing_resumes(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(folder, url)
    expected = answers(Searcher.open(url, ENCODER))
    changed(folder, [*retold("Scurvy of sailors"), *(replace(each, url="x") for each in copies())])
    for place in ("put_file", "show_generation", "give_space_back"):

        def ended(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as killing:
            killing.setattr(f"auscult_engines.publishing.{place}", ended)
            with pytest.raises(KeyboardInterrupt):
                publish(folder, url)
        if place != "give_space_back":
            assert answers(Searcher.open(url, ENCODER)) == expected
    assert publish(folder, url).written == 0
    assert answers(Searcher.open(url, ENCODER)) == answers(Searcher.open(folder, ENCODER))


def test_one_publisher_at_a_time(folder: Path, url: str) -> None:
    key = schema_of(whole_places(url)[0])
    with server_at(url).alone(key), pytest.raises(EngineError, match="one at work; wait until"):
        publish(folder, url)
    assert publish(folder, url).written == 8


def test_another_index_or_an_earlier_copy_is_refused(folder: Path, url: str, tmp_path: Path) -> None:
    earlier, apart = tmp_path / "earlier", tmp_path / "apart"
    shutil.copytree(folder, earlier)
    shutil.copytree(folder, apart)
    changed(folder, retold("Scurvy of sailors"))
    changed(apart, retold("Scurvy elsewhere"))
    publish(folder, url)
    for other, said in (
        (earlier, "of another copy"),
        (apart, "of another copy"),
        (built(tmp_path / "b"), "got another"),
    ):
        with pytest.raises(EngineError, match=said):
            publish(other, url)
    assert Searcher.open(url, ENCODER).search("What cures scurvy?", 1)[0].title == "Scurvy of sailors"


def test_a_searcher_of_another_version_refuses(folder: Path, url: str) -> None:
    publish(folder, url)
    server = server_at(url)

    def change(query: str) -> None:
        server.transact(lambda run: run.execute(server.composed(query)))

    for other in (5, 60):
        change(f"""UPDATE {{state}} SET manifest = regexp_replace(manifest, '(format_version": )\\d+', '\\1{other}')""")  # noqa: S608
        with pytest.raises(IndexFolderError, match="upgrade auscult"):
            Searcher.open(url, ENCODER)
    change("UPDATE {state} SET version = version + 1")
    with pytest.raises(EngineError, match=r"tables of version 3 .* got version 4; upgrade auscult"):
        Searcher.open(url, ENCODER)
    change("DELETE FROM {state}")
    with pytest.raises(EngineError, match="got none; publish one"):
        Searcher.open(url, ENCODER)
    assert manifest_at(url) is None


def all_of(searcher: Searcher) -> None:
    """Read what answers are made of; the knowledge base in one piece is read for views alone."""
    answers(searcher)
    assert searcher.index.reader.store.knowledge()


def test_damage_is_noticed(folder: Path, url: str) -> None:
    publish(folder, url)
    server = server_at(url)
    for table, column, said in (
        ("passages", "text", "a damaged row"),
        ("blocks", "content", "other bytes"),
        ("knowledge", "content", "a damaged row 1 in knowledge"),
    ):
        # Done twice it is as before.
        flips = f"UPDATE {{{table}}} SET {column} = set_byte({column}, 9, 255 - get_byte({column}, 9))"  # noqa: S608
        server.transact(lambda run, flips=flips: run.execute(server.composed(flips)))
        with pytest.raises(IndexFolderError, match=said):
            all_of(Searcher.open(url, ENCODER))
        server.transact(lambda run, flips=flips: run.execute(server.composed(flips)))
    answers(Searcher.open(url, ENCODER))


def test_rows_are_a_second_wall(folder: Path, url: str) -> None:
    publish(folder, url)
    server, schema = server_at(url), schema_of(whole_places(url)[0])
    for statement in (
        "CREATE ROLE searchers LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO searchers",
        *(
            f"GRANT SELECT ON {schema}.{name} TO searchers"
            for name in ("state", "documents", "passages", "originals", "segments", "blocks", "knowledge")
        ),
    ):
        server.transact(lambda run, statement=statement: run.execute(statement))
    try:
        limited = url.replace("://postgres:@", "://searchers@")
        assert answers(Searcher.open(limited, ENCODER)) == answers(Searcher.open(folder, ENCODER))
        reading = server_at(limited)
        for groups, count in ((",", 4), (",ward 4,", 6), (",nobody,ward 3,", 6), (",ward 3,ward 4,", 8), ("*", 8)):
            assert reading.rows("SELECT count(*) FROM {documents}", seen_by=groups)[0][0] == count
            passages = "SELECT count(DISTINCT document) FROM {passages}"
            assert reading.rows(passages, seen_by=groups)[0][0] == count
        with pytest.raises(EngineError, match="permission denied"):
            reading.rows("SELECT count(*) FROM {documents0}")
        # Whatever a searcher asks for: the server gives rows of its view's groups alone.
        view = Searcher.open(limited, ENCODER).seen_by(["ward 4"]).index.reader
        hidden = set(view.store.document_keys) - set(view.document_keys[view.documents])
        assert len(hidden) == 2
        with pytest.raises(EngineError, match="what this role may read"):
            view.store.document(max(hidden))
    finally:
        server.transact(lambda run: [run.execute(each) for each in ("DROP OWNED BY searchers", "DROP ROLE searchers")])


def test_a_slow_server_is_not_waited_for(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_engines.postgres_server._READ_MILLISECONDS", 1000)
    publish(folder, url)
    there = Searcher.open(url, ENCODER)
    expected = answers(Searcher.open(folder, ENCODER))
    server = server_at(url)
    with server.alone("other") as run, run.transaction():
        run.execute(server.composed("LOCK TABLE {passages} IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(EngineError, match="to answer in 1 s, got no answer"):
            there.search("What cures scurvy?")
    assert answers(there) == expected


def test_silent_server_counts_as_gone(folder: Path, url: str, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_engines.postgres_server._READ_MILLISECONDS", 200)
    monkeypatch.setattr("auscult_engines.postgres_server._GRACE", 0.2)
    monkeypatch.setattr("auscult_engines.postgres_server._SECONDS", 2)
    publish(folder, url)
    there = Searcher.open(over(wire, url), ENCODER)
    with wire.silent(), pytest.raises(EngineError, match=r"an answer of .* got none"):
        there.search("What cures scurvy?")
    assert answers(there) == answers(Searcher.open(folder, ENCODER))


def test_service_reports_a_lost_server_and_recovers(folder: Path, url: str, wire: Wire, tmp_path: Path) -> None:
    publish(folder, url)
    settings = Settings(indexes={"notes": over(wire, url)}, changes=False, page=False, data=tmp_path / "data")
    bodies = [{"question": question, "k": 3} for question in ASKED]
    with served(settings, ENCODER) as client:
        wait_until(lambda: client.get("entities?prefix=a").json()["complete"])
        right = client.post("search", json=bodies[0]).json()["hits"]
        assert [hit["doc_id"] for hit in right][:1] == ["leaflet-gout"]
        assert client.delete("documents/leaflet-gout").json()["error"]["code"] == "read_only"
        with wire.cut():
            for body in bodies[1:]:
                answer = client.post("search", json=body)
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), answer.text
                assert answer.json()["error"]["code"] == "engine_unavailable"
        assert client.post("search", json=bodies[0]).json()["hits"] == right
        assert all(client.post("search", json=body).status_code == 200 for body in bodies)
        changed(folder, retold("Scurvy of sailors"))
        publish(folder, url)
        generation = manifest_at(url).generation  # type: ignore[union-attr]
        wait_until(lambda: client.get("indexes").json()[0]["generation"] == generation)
        assert client.post("search", json=bodies[1]).json()["hits"][0]["title"] == "Scurvy of sailors"


def test_several_threads_ask_at_once(folder: Path, url: str) -> None:
    publish(folder, url)
    there, expected = Searcher.open(url, ENCODER), answers(Searcher.open(folder, ENCODER))
    received: list[Any] = []
    threads = [threading.Thread(target=lambda: received.append(answers(there))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert received == [expected] * 4


def test_the_commands_publish_search_and_withdraw(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Command(monkeypatch, capsys)
    index = index_one_note(command, tmp_path)
    done = command("publish", index, url)
    assert "written: 1 documents" in done.out, done.err
    shutil.rmtree(index)
    assert "Rest helps." in command("search", url, "What helps against gout?").out
    away = command("search", "postgresql://nobody@localhost:1/none", "What helps against gout?")
    assert away.code == 2
    assert "an answer of the PostgreSQL server localhost/none, got none" in away.err
    assert "only" not in away.out
    assert "withdrawn from" in command("publish", index, url, "--withdraw").out
    assert "publish one: auscult publish" in command("search", url, "gout?").err


def test_addresses_are_told_from_folders(tmp_path: Path) -> None:
    named = named_indexes(["postgresql://a@h/db?sslmode=verify-full#notes", f"x={tmp_path}", "y=postgres://h/db", "b"])
    assert named == {
        "notes": "postgresql://a@h/db?sslmode=verify-full#notes",
        "x": tmp_path,
        "y": "postgres://h/db",
        "b": Path("b"),
    }
    with pytest.raises(ConfigError, match="serve with --read-only"):
        Settings(indexes=named)
    assert Settings(indexes={"notes": "postgres://h/db"}, changes=False).data_folder.name == "notes.service"
    with pytest.raises(ConfigError, match="which keeps an index"):
        Searcher.open("milvus://localhost:1", ENCODER)
    with pytest.raises(ConfigError, match="without a password"):
        Searcher.open("postgresql://a:secret@h/db", ENCODER)


def test_the_cache_is_bounded() -> None:
    cache = Cache(10)
    cache.put({1: b"aaaa", 2: b"bbbb"})
    assert cache.get([1]) == {1: b"aaaa"}
    cache.put({3: b"cccc"})
    assert cache.get([1, 2, 3]) == {1: b"aaaa", 3: b"cccc"}
