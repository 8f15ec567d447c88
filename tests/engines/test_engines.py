"""A PostgreSQL and a Milvus server find what the index alone finds: real servers, of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auscult.documents import Document
from auscult.engines import Filters, ServedIndex, open_engine, open_index, publish, withdraw
from auscult.engines.contract import patiently
from auscult.errors import AuscultError, ConfigError, EngineError, QueryError
from auscult.index import Between, IndexUpdate, PassageIndex
from auscult.search import Searcher, SearchOptions, build_index
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import leaflets
from needs import Needs

ENCODER = HashedEncoder(64)
TIMES = 8
QUERIES = [Query("", "Gout", ("symptoms",)), Query("", "Asthma", ("treatment",)), Query("", "Migraine")]


@pytest.fixture(scope="module")
def servers(postgres: str, tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> dict[str, str]:
    needs.package("milvus_lite")
    return {"postgres": postgres, "milvus": f"milvus:{tmp_path_factory.mktemp('milvus') / 'passages.db'}"}


@pytest.fixture(params=["postgres", "milvus"])
def url(request: pytest.FixtureRequest, servers: dict[str, str]) -> Iterator[str]:
    """A collection of the test's own."""
    name = f"{servers[request.param]}#{request.node.name.split('[')[0][:40]}"
    yield name
    engine = open_engine(name)
    if engine.published() is not None:
        engine.destroy()
    engine.close()


def collection() -> list[Document]:
    """Leaflets, and copies by other sources and dates, whose scores tie."""
    return [
        replace(
            each,
            doc_id=f"{each.doc_id}-{number}",
            source=f"source {number % 3}",
            metadata={"date": f"2024-0{1 + number}-15", "it's": 'a "name"'},
            passages=tuple(replace(p, passage_id=f"{p.passage_id}-{number}") for p in each.passages),
        )
        for number in range(TIMES)
        for each in leaflets()
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_index(collection(), ENCODER, tmp_path / "index")
    return tmp_path / "index"


def found(index: PassageIndex, query: Query, **options: Any) -> list[tuple[str, float]]:
    rows, scores = index.search(ENCODER.encode_queries([query])[0], **options)
    return [(index.reader.passage_id(row), score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]


@pytest.mark.parametrize("approximate", [False, True])
def test_what_is_found_and_how_it_scores_is_as_without(folder: Path, url: str, approximate: bool) -> None:
    alone = PassageIndex.open(folder)
    report = publish(folder, url, approximate=approximate)
    assert report.written == len(collection())
    served = open_index(folder)
    assert isinstance(served, ServedIndex)
    for query in QUERIES:
        for options in (
            {},
            {"k": 30},
            {"where": {"source": "source 1"}},
            {"where": {"source": ["source 1", "source 2"], "date": Between("2024-02", "2024-05")}, "k": 7},
            {"where": {"it's": 'a "name"'}},
            {"documents": ["leaflet-gout-1", "leaflet-gout-2"], "k": 50},
            {"group_by": "document", "k": 20},
            {"group_by": "source", "k": 5},
        ):
            assert found(served, query, **options) == found(alone, query, **options), (query, options)
    with pytest.raises(QueryError, match="a source of this index"):
        served.search(np.zeros(64, np.float32), where={"source": "no such"})


def test_all_evidence_is_weighed_of_what_is_proposed(folder: Path, url: str) -> None:
    alone = Searcher.open(folder, ENCODER)
    publish(folder, url)
    served = Searcher.open(folder, ENCODER)
    assert isinstance(served.index, ServedIndex)
    for query in (*QUERIES, Query("", "", text="Which crystals are in a swollen joint?")):
        for options in (
            SearchOptions(),
            SearchOptions(where={"source": "source 2"}),
            SearchOptions(group_by="document"),
        ):
            assert served.search(query, options=options) == alone.search(query, options=options)


def test_as_many_are_found_as_there_are_though_few_are_proposed(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = Searcher.open(folder, ENCODER)
    publish(folder, url)
    served = Searcher.open(folder, ENCODER)
    query = QUERIES[0]
    asked = (
        (500, SearchOptions()),
        (3, SearchOptions(group_by="source")),
        (20, SearchOptions(where={"source": "source 1"})),
    )
    expected = [alone.search(query, k, options=options) for k, options in asked]
    monkeypatch.setattr("auscult.engines.served._PROPOSED", 2)
    monkeypatch.setattr("auscult.search.searcher.WEIGHED", 2)
    for (k, options), hits in zip(asked, expected, strict=True):
        assert served.search(query, k, options=options) == hits


def test_publishing_again_writes_what_is_new_and_removes_what_is_gone(folder: Path, url: str) -> None:
    publish(folder, url)
    assert publish(folder, url).written == 0
    with IndexUpdate(folder, ENCODER) as update:
        update.delete(["leaflet-gout-0"])
        update.replace([replace(collection()[0], doc_id="another", passages=collection()[1].passages[:0])])
        update.commit()
    with pytest.raises(EngineError, match="an earlier or unfinished one"):
        open_index(folder)
    report = publish(folder, url)
    assert (report.written, report.removed) == (1, 1)
    assert found(open_index(folder), QUERIES[0]) == found(PassageIndex.open(folder), QUERIES[0])
    assert withdraw(folder)
    assert not isinstance(open_index(folder), ServedIndex)
    engine = open_engine(url)
    assert engine.published() is None
    engine.close()


def test_writing_twice_changes_nothing_and_what_was_ended_goes_on(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine(url)
    puts = type(engine).put
    engine.close()
    calls = 0

    def ends(self: Any, rows: Any) -> None:
        nonlocal calls
        calls += 1
        puts(self, rows)
        puts(self, rows)
        if calls == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(type(engine), "put", ends)
    monkeypatch.setattr("auscult.engines.served._PASSAGES", 20)
    with pytest.raises(KeyboardInterrupt):
        publish(folder, url)
    assert not isinstance(open_index(folder), ServedIndex)
    report = publish(folder, url)
    assert 0 < report.written < len(collection())
    assert found(open_index(folder), QUERIES[0], k=40) == found(PassageIndex.open(folder), QUERIES[0], k=40)


def test_another_index_is_not_overwritten(folder: Path, url: str, tmp_path: Path) -> None:
    publish(folder, url)
    build_index(leaflets(), ENCODER, tmp_path / "other")
    with pytest.raises(EngineError, match="another"):
        publish(tmp_path / "other", url)
    build_index(leaflets(), ENCODER, folder)
    with pytest.raises(EngineError, match="another index"):
        open_index(folder)


def test_a_lost_connection_is_made_again(folder: Path, url: str) -> None:
    publish(folder, url)
    served = open_index(folder)
    assert isinstance(served, ServedIndex)
    expected = found(served, QUERIES[0])
    if url.startswith("postgres"):
        other: Any = open_engine(url)
        other.server.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle'"
        )
        other.close()
    else:
        served.engine.close()
    assert found(served, QUERIES[0]) == expected


def test_a_server_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult.engines.contract._WAITS", (0.0,))
    for url in ("postgresql://nobody@localhost:1/none", "milvus://localhost:1"):
        with pytest.raises(EngineError, match="localhost") as told:
            publish(folder, url)
        assert "--withdraw" in str(told.value)
        assert not (folder / "engine.json").exists()


def test_a_deed_is_done_again_as_often_as_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult.engines.contract._WAITS", (0.0, 0.0))
    failing = [ConnectionError("gone"), ConnectionError("gone")]

    def deed() -> str:
        if failing:
            raise failing.pop()
        return "done"

    def is_lost(error: Exception) -> bool:
        return isinstance(error, ConnectionError)

    again: list[int] = []
    assert patiently(deed, is_lost, lambda: again.append(1), "it") == "done"
    assert again == [1, 1]
    failing += [ConnectionError("gone")] * 3
    with pytest.raises(EngineError, match="an answer of it, got none"):
        patiently(deed, is_lost, lambda: None, "it")
    failing[:] = [ValueError("other")]
    with pytest.raises(ValueError, match="other"):
        patiently(deed, is_lost, lambda: None, "it")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:secret@host/db", "without a password"),
        ("milvus://root:Milvus@host:19530", "without a password"),
        ("http://host", "postgresql://USER@HOST"),
        ("postgresql://host/db#a;drop", "letters, digits and _"),
    ],
)
def test_an_address_is_checked(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        open_engine(url)
    assert "secret" not in str(told.value)


def test_strange_values_of_fields_are_kept_apart(folder: Path, url: str) -> None:
    values = ["", "a'b", 'a"b', "a\\b", "a%b", "ä\u2028b", "x\ud800y", "; DROP TABLE auscult_a; --", "null\0byte"]
    with IndexUpdate(folder, ENCODER) as update:
        some = [replace(each, metadata={"strange": value}) for each, value in zip(collection(), values, strict=False)]
        update.replace(some)
        update.commit()
    publish(folder, url)
    served, alone = open_index(folder), PassageIndex.open(folder)
    for value in values:
        where = {"strange": value}
        assert found(served, QUERIES[0], where=where, k=5) == found(alone, QUERIES[0], where=where, k=5), value


def test_the_command_publishes_and_searches(
    folder: Path, servers: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from auscult.cli.main import main

    docs = tmp_path / "d.jsonl"
    docs.write_text('{"id": "a", "title": "Gout", "text": "Gout hurts. Rest helps."}\n')
    index = str(tmp_path / "own")
    main_quietly = [
        ["index", str(docs), "--out", index, "--no-knowledge"],
        ["publish", index, f"{servers['postgres']}#own"],
    ]
    for words in (*main_quietly, ["search", index, "What helps against gout?"], ["publish", index, "--withdraw"]):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0, capsys.readouterr().err
    out = capsys.readouterr().out
    assert "written: 1 documents" in out
    assert "Rest helps." in out
    assert "withdrawn from" in out
    with pytest.raises(SystemExit):
        main(["publish", index])
    assert "the address of a server, or --withdraw" in capsys.readouterr().err
    assert "AUSCULT" not in os.environ.get("PGPASSWORD", "")


def test_filters_are_of_any_kind() -> None:
    assert Filters() == Filters({}, frozenset())
    assert issubclass(EngineError, AuscultError)
