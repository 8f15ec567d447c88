"""Generations change under a service that goes on answering; threads share one index; what is told of it all."""

from __future__ import annotations

import gc
import sqlite3
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from auscult.engines import named_indexes
from auscult.errors import ConfigError
from auscult.index import IndexUpdate
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query
from auscult_service.caller import ANYONE
from auscult_service.settings import ServiceLimits, Settings, with_fields
from auscult_service.state import State
from encoders import HashedEncoder
from leaflets import generated
from served_index import built, note, served, wait_until

EVERYWHERE = "0.0.0.0"  # noqa: S104


def replaced(index: Path, title: str) -> None:
    """Publish another generation."""
    from dataclasses import replace

    with IndexUpdate(index, HashedEncoder()) as update:
        update.replace([replace(note(), title=title)])
        update.commit()


def test_no_request_fails_while_generations_change(index: Path) -> None:
    with served(Settings(indexes={"leaflets": index}, page=False)) as client:
        stop, wrong, titles = threading.Event(), [], set()

        def ask() -> None:
            while not stop.is_set():
                answer = client.post("search", json={"question": "What cures scurvy?", "k": 1})
                if answer.status_code != 200 or not answer.json()["hits"]:
                    wrong.append(answer.text)
                else:
                    titles.add(answer.json()["hits"][0]["title"])

        with ThreadPoolExecutor(4) as pool:
            for _ in range(4):
                pool.submit(ask)
            for number in range(4):
                replaced(index, f"Scurvy {number}")
                wait_until(lambda number=number: client.get("indexes").json()[0]["generation"] == number + 2)
            wait_until(lambda: "Scurvy 3" in titles)
            stop.set()
        assert wrong == []
        assert 'auscult_index_generation{index="leaflets"} 5.0' in client.get("metrics").text


def test_an_index_that_is_built_anew_is_served(index: Path) -> None:
    with served(Settings(indexes={"leaflets": index}, page=False)) as client:
        build_index([note()], HashedEncoder(), index)
        wait_until(lambda: client.get("indexes").json()[0]["documents"] == 1)


def test_old_generations_close_after_their_last_request(index: Path) -> None:
    state = State(Settings(indexes={"leaflets": index}), HashedEncoder())
    state.refresh("leaflets")
    searcher = state.searcher("leaflets", ANYONE)
    reader = weakref.ref(searcher.index.reader)
    replaced(index, "Another")
    state.refresh("leaflets")
    assert state.searcher("leaflets", ANYONE) is not searcher
    assert searcher.search(searcher.understand(Query("", "scurvy")).query)
    store = searcher.index.reader.store
    del searcher
    gc.collect()
    assert reader() is None
    with pytest.raises(sqlite3.ProgrammingError):
        store.key_of("x")


def test_a_damaged_generation_keeps_the_open_one(index: Path, caplog: pytest.LogCaptureFixture) -> None:
    state = State(Settings(indexes={"leaflets": index}), HashedEncoder())
    state.refresh("leaflets")
    before = state.searcher("leaflets", ANYONE)
    current = (index / "CURRENT").read_bytes()
    (index / "CURRENT").write_bytes(b"nonsense\n")
    state.refresh("leaflets")
    state.refresh("leaflets")
    assert state.searcher("leaflets", ANYONE) is before
    assert caplog.text.count("cannot be opened") == 1
    (index / "CURRENT").write_bytes(current)
    replaced(index, "Another")
    state.refresh("leaflets")
    assert state.indexes["leaflets"].trouble is None
    assert state.searcher("leaflets", ANYONE) is not before


def test_eight_threads_read_what_one_reads(tmp_path: Path) -> None:
    build_index(generated(400), HashedEncoder(), tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", HashedEncoder())
    queries = [Query("", f"topic {number}", ("what",), text=f"topic {number}") for number in range(17)]
    alone = [searcher.search(query, 5) for query in queries]
    fresh = Searcher.open(tmp_path / "index", HashedEncoder())

    def ask(turn: int) -> bool:
        query = turn % len(queries)
        return fresh.search(queries[query], 5) == alone[query]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


def test_a_store_is_read_by_eight_threads(tmp_path: Path) -> None:
    build_index(generated(300), HashedEncoder(), tmp_path / "index")
    reader = Searcher.open(tmp_path / "index", HashedEncoder()).index.reader
    ids = [reader.document_record(row).doc_id for row in reader.documents.tolist()]
    barrier = threading.Barrier(8)

    def look(turn: int) -> bool:
        barrier.wait()
        return all(reader.row_of(each) == row for row, each in enumerate(ids)) and all(
            reader.document(row).doc_id == ids[row] for row in range(turn, len(ids), 8)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(8)))


def test_metrics_contain_no_words_of_users(client: TestClient) -> None:
    client.post("search", json={"entity": "gout", "aspects": ["symptoms"]})
    client.get("entities?prefix=Zebulon")
    client.get("documents/Zebulon")
    metrics = client.get("metrics").text
    assert 'auscult_searches_total{index="leaflets",result="found"}' in metrics
    assert 'auscult_requests_total{method="GET",route="/api/v1/documents/{doc_id:path}",status="404"}' in metrics
    assert 'auscult_index_documents{index="leaflets"} 5.0' in metrics
    assert "gout" not in metrics
    assert "Zebulon" not in metrics


def test_settings_are_checked(tmp_path: Path) -> None:
    folders = {"a": tmp_path}
    with pytest.raises(ConfigError, match="an index to serve"):
        Settings(indexes={})
    with pytest.raises(ConfigError, match="an index' name"):
        Settings(indexes={"a/b": tmp_path})
    with pytest.raises(ConfigError, match="keys, to listen at"):
        Settings(indexes=folders, host=EVERYWHERE)
    assert not Settings(indexes=folders, host=EVERYWHERE, keys=tmp_path / "keys").is_local
    assert named_indexes(["x=/a/b", "/c/d/"]) == {"x": Path("/a/b"), "d": Path("/c/d")}
    with pytest.raises(ConfigError, match="'d' twice"):
        named_indexes(["/c/d", "/e/d"])
    told = with_fields(Settings(indexes=folders), [("limits.threads", "2"), ("access.origins", "https://a, https://b")])
    assert told.limits == ServiceLimits(threads=2)
    assert told.access.origins == ("https://a", "https://b")
    for name, value in (("limits.nix", "1"), ("limits.body", "x"), ("limits.body", "-1"), ("access.insecure", "7")):
        with pytest.raises(ConfigError):
            with_fields(Settings(indexes=folders), [(name, value)])


def test_refreshing_an_unchanged_generation_opens_nothing(tmp_path: Path) -> None:
    index = built(tmp_path / "leaflets")
    state = State(Settings(indexes={"leaflets": index}), HashedEncoder())
    assert state.indexes["leaflets"].refresh()
    assert not state.indexes["leaflets"].refresh()


def test_a_new_generation_reuses_the_spelling_corrector(tmp_path: Path) -> None:
    index = built(tmp_path / "leaflets")
    state = State(Settings(indexes={"leaflets": index}), HashedEncoder())
    state.refresh("leaflets")
    state.indexes["leaflets"].warm_up()
    before = state.searcher("leaflets", ANYONE)
    replaced(index, "Another")
    state.refresh("leaflets")
    after = state.searcher("leaflets", ANYONE)
    assert after is not before
    assert after.resolver._built is before.resolver._built is not None
