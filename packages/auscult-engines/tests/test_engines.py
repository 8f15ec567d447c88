"""Passages are proposed by PostgreSQL's graph or by Milvus, and what is found is as in the folder: real servers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auscult.documents import Document
from auscult.engines import open_index, place_of, publish, shown_address, withdraw
from auscult.engines.contract import Filters
from auscult.errors import ConfigError, EngineError, QueryError, ServerAwayError
from auscult.index import Between, IndexUpdate, PassageIndex
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions
from auscult.understanding import Query
from auscult_engines import ProposedIndex, open_engine
from auscult_engines.tables import whole_places
from auscult_engines.waiting import patiently
from auscult_service.settings import Settings
from command import Command
from encoders import HashedEncoder
from leaflets import leaflets
from needs import Needs
from whole_index import index_one_note, server_at

ENCODER = HashedEncoder(64)
TIMES = 8
QUERIES = [Query("", "Gout", ("symptoms",)), Query("", "Asthma", ("treatment",)), Query("", "Migraine")]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a test publishes, and what proposes passages there."""

    url: str
    proposing: dict[str, Any]


@pytest.fixture(scope="module")
def milvus(tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> str:
    needs.package("milvus_lite")
    return f"milvus:{tmp_path_factory.mktemp('milvus') / 'passages.db'}"


@pytest.fixture(params=["graph", "milvus"])
def address(request: pytest.FixtureRequest, postgres: str, milvus: str) -> Iterator[Address]:
    """A collection of the test's own."""
    name = request.node.name.split("[")[0][-40:]
    proposing = {"approximate": True} if request.param == "graph" else {"candidates": f"{milvus}#{name}"}
    yield Address(f"{postgres}#{name}", proposing)
    withdraw(f"{postgres}#{name}")


@pytest.fixture
def candidates(request: pytest.FixtureRequest, postgres: str, milvus: str) -> Iterator[Address]:
    """A collection of the test's own, in Milvus."""
    name = request.node.name[-40:]
    yield Address(f"{postgres}#{name}", {"candidates": f"{milvus}#{name}"})
    withdraw(f"{postgres}#{name}")


def collection() -> list[Document]:
    """Leaflets, and copies by other sources and dates, whose scores tie."""
    return [
        replace(
            leaflet,
            doc_id=f"{leaflet.doc_id}-{number}",
            source=f"source {number % 3}",
            metadata={"date": f"2024-0{1 + number}-15", "it's": 'a "name"'},
            passages=tuple(replace(p, passage_id=f"{p.passage_id}-{number}") for p in leaflet.passages),
        )
        for number in range(TIMES)
        for leaflet in leaflets()
    ]


def shared() -> list[Document]:
    """Copies that some may see."""
    groups = ("ward 3, cardiology", "ward 4", 'the "others"')
    return [
        replace(
            document,
            doc_id=f"secret-{number}",
            metadata={"access": groups[number % len(groups)]},
            passages=tuple(replace(p, passage_id=f"secret-{p.passage_id}") for p in document.passages),
        )
        for number, document in enumerate(collection()[:6])
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_index(collection(), ENCODER, tmp_path / "index")
    return tmp_path / "index"


def hits_of(index: PassageIndex, query: Query, **options: Any) -> list[tuple[str, float]]:
    rows, scores = index.search(ENCODER.encode_queries([query])[0], **options)
    return [(index.reader.passage_id(row), score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]


def kept_in(address: Address) -> set[int]:
    """The documents that a Milvus collection has."""
    engine = open_engine(address.proposing["candidates"])
    documents = engine.documents()
    engine.close()
    return documents


def test_hits_and_scores_equal_those_of_the_folder(folder: Path, address: Address) -> None:
    alone = PassageIndex.open(folder)
    assert publish(folder, address.url, **address.proposing).written == len(collection())
    served = open_index(address.url)
    assert isinstance(served, ProposedIndex)
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
            assert hits_of(served, query, **options) == hits_of(alone, query, **options), (query, options)
    with pytest.raises(QueryError, match="a source of this index"):
        served.search(np.zeros(64, np.float32), where={"source": "no such"})


def test_all_evidence_is_weighed_of_what_is_proposed(folder: Path, address: Address) -> None:
    alone = Searcher.open(folder, ENCODER)
    publish(folder, address.url, **address.proposing)
    served = Searcher.open(address.url, ENCODER)
    for query in (*QUERIES, Query("", "", text="Which crystals are in a swollen joint?")):
        for options in (
            SearchOptions(),
            SearchOptions(where={"source": "source 2"}),
            SearchOptions(group_by="document"),
        ):
            assert served.search(query, options=options) == alone.search(query, options=options)


def test_few_proposals_still_find_every_hit(folder: Path, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Searcher.open(folder, ENCODER)
    publish(folder, address.url, **address.proposing)
    served = Searcher.open(address.url, ENCODER)
    query = QUERIES[0]
    cases = (
        (500, SearchOptions()),
        (3, SearchOptions(group_by="source")),
        (20, SearchOptions(where={"source": "source 1"})),
    )
    expected = [alone.search(query, k, options=options) for k, options in cases]
    monkeypatch.setattr("auscult_engines.proposing._PROPOSED", 2)
    monkeypatch.setattr("auscult.search.weighing.WEIGHED", 2)
    for (k, options), hits in zip(cases, expected, strict=True):
        assert served.search(query, k, options=options) == hits


def test_groups_are_proposed_only_what_they_may_see(folder: Path, address: Address) -> None:
    changed_by(folder, shared())
    publish(folder, address.url, **address.proposing)
    alone, there = Searcher.open(folder, ENCODER), Searcher.open(address.url, ENCODER)
    for groups in ([], ["ward 4"], ["cardiology", "none"], ["ward 3", 'the "others"']):
        view, own = there.seen_by(groups), alone.seen_by(groups)
        assert isinstance(view.index, ProposedIndex)
        for query in QUERIES:
            assert view.search(query) == own.search(query)
            assert hits_of(view.index, query, k=200) == hits_of(own.index, query, k=200)


def changed_by(folder: Path, documents: list[Document]) -> None:
    with IndexUpdate(folder, ENCODER) as update:
        update.replace(documents)
        update.commit()


def test_strange_values_of_fields_are_kept_apart(folder: Path, address: Address) -> None:
    values = ["", "a'b", 'a"b', "a\\b", "a%b", "ä\u2028b", "x\ud800y", "; DROP TABLE auscult_a; --", "null\0byte"]
    some = [replace(each, metadata={"strange": value}) for each, value in zip(collection(), values, strict=False)]
    changed_by(folder, some)
    publish(folder, address.url, **address.proposing)
    served, alone = open_index(address.url), PassageIndex.open(folder)
    for value in values:
        where = {"strange": value}
        assert hits_of(served, QUERIES[0], where=where, k=5) == hits_of(alone, QUERIES[0], where=where, k=5), value


def test_milvus_has_what_postgresql_has(folder: Path, candidates: Address) -> None:
    publish(folder, candidates.url, **candidates.proposing)
    before = open_index(candidates.url)
    expected = hits_of(before, QUERIES[0])
    with IndexUpdate(folder, ENCODER) as update:
        update.delete(["leaflet-gout-0"])
        update.replace([replace(shared()[0], doc_id="another")])
        update.commit()
    report = publish(folder, candidates.url, **candidates.proposing)
    assert (report.written, report.removed) == (1, 1)
    assert hits_of(before, QUERIES[0]) == expected
    after = open_index(candidates.url)
    assert hits_of(after, QUERIES[0]) == hits_of(PassageIndex.open(folder), QUERIES[0])
    assert publish(folder, candidates.url, **candidates.proposing).written == 0
    keys = {key for (key,) in server_at(candidates.url).rows("SELECT key FROM {documents}")}
    assert kept_in(candidates) == keys
    assert withdraw(candidates.url)
    engine = open_engine(candidates.proposing["candidates"])
    assert engine.published() is None
    engine.close()


def test_interrupted_publishing_is_invisible_and_resumes(
    folder: Path, candidates: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine(candidates.proposing["candidates"])
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
    monkeypatch.setattr("auscult_engines.rows._TOGETHER", 20)
    with pytest.raises(KeyboardInterrupt):
        publish(folder, candidates.url, **candidates.proposing)
    with pytest.raises(EngineError, match="an index on"):
        open_index(candidates.url)
    assert 0 < len(kept_in(candidates)) < len(collection())
    publish(folder, candidates.url, **candidates.proposing)
    assert len(kept_in(candidates)) == len(collection())
    assert hits_of(open_index(candidates.url), QUERIES[0], k=40) == hits_of(PassageIndex.open(folder), QUERIES[0], k=40)


def test_other_indexes_stay_and_lost_vectors_are_named(folder: Path, candidates: Address, tmp_path: Path) -> None:
    publish(folder, candidates.url, **candidates.proposing)
    build_index(leaflets(), ENCODER, tmp_path / "other")
    other = f"{candidates.url}_b"
    with pytest.raises(EngineError, match="got another's"):
        publish(tmp_path / "other", other, **candidates.proposing)
    withdraw(other)
    with pytest.raises(EngineError, match="made otherwise"):
        publish(folder, candidates.url)
    with pytest.raises(ConfigError, match="got two"):
        publish(folder, candidates.url, approximate=True, **candidates.proposing)
    engine = open_engine(candidates.proposing["candidates"])
    engine.destroy()
    engine.close()
    with pytest.raises(EngineError, match="got none; publish the index again, with --candidates"):
        open_index(candidates.url)


def test_a_lost_connection_is_made_again(folder: Path, address: Address) -> None:
    publish(folder, address.url, **address.proposing)
    served = Searcher.open(address.url, ENCODER)
    expected = served.search(QUERIES[0])
    if "candidates" in address.proposing:
        served.index._proposer.close()  # type: ignore[attr-defined]
    else:
        server_at(address.url).rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle'"
        )
    assert served.search(QUERIES[0]) == expected


def test_a_server_that_is_not_there_is_named(folder: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_engines.waiting._WAITS", (0.0,))
    monkeypatch.setattr("auscult_engines.milvus._SECONDS", 1)
    away = f"{postgres}#away"
    for url, options in (
        ("postgresql://nobody@localhost:1/none", {}),
        (away, {"candidates": "milvus://localhost:1"}),
    ):
        with pytest.raises(ServerAwayError, match="localhost"):
            publish(folder, url, **options)
    withdraw(away)


def test_slow_engine_raises_an_error(milvus: str) -> None:
    engine: Any = open_engine(milvus)

    def late(client: object) -> None:
        raise engine._unanswered

    with pytest.raises(EngineError, match="to answer in 10 s, got no answer"):
        engine._attempt(late)
    engine.close()


def test_only_lost_connections_are_retried_until_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auscult_engines.waiting._WAITS", (0.0, 0.0))
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
        ("milvus://root:Milvus@host:19530", "without a password"),
        ("http://host", "milvus://HOST:PORT"),
        ("postgresql://host/db", "milvus://HOST:PORT"),
        ("milvus://host#a;drop", "letters, digits and _"),
    ],
)
def test_an_address_is_checked(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        open_engine(url)
    assert ":Milvus" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cr3t@host/db",
        "postgresql://me:s3c?r3t@host/db",
        "postgresql://me:a/s3cr3t@host/db?sslmode=require",
        "postgresql://me:a#s3cr3t@host/db",
        "postgresql://host/db?password=s3cr3t",
        "postgresql://host/db?sslmode=require&sslpassword=a,s3cr3t;s3cr3t&connect_timeout=3",
        "postgresql://host/db?pass%77ord=s3cr3t#notes",
        "postgresql://host/db?PASSWORD=a#s3cr3t",
        "postgresql://host/db#notes?password=s3cr3t",
        "postgresql://host/db?scram_client_key=s3cr3t",
        "postgresql://host/db?oauth_client_secret=s3cr3t",
        "milvus:https://root:s3cr3t@host#notes",
        "milvus://host?token=s3cr3t",
    ],
)
def test_an_address_with_a_secret_is_refused_unprinted(url: str) -> None:
    for parse in (place_of, whole_places, open_engine):
        with pytest.raises(ConfigError, match="without a password") as told:
            parse(url)
        assert "s3c" not in str(told.value)
    with pytest.raises(ConfigError) as told:
        Settings(indexes={"x": url})
    assert "s3c" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me@[::1]:5432/db?sslmode=verify-full&sslkey=a.key&passfile=p&user=a@b:1#notes",
        "postgresql://me@a/db?sslmode=require,postgresql://me@b/db#notes",
        "milvus:file.db#notes",
    ],
)
def test_an_address_without_a_secret_is_printed_whole(url: str) -> None:
    assert shown_address(url) == url


def test_several_addresses_hide_each_secret() -> None:
    given = "postgresql://h/db?password=a,b,postgres://me:c@h/db#notes"
    assert shown_address(given) == "postgresql://h/db?password=...,postgres://me:...@h/db#notes"


def test_the_command_publishes_with_candidates(
    candidates: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Command(monkeypatch, capsys)
    index = index_one_note(command, tmp_path)
    done = command("publish", index, candidates.url, "--candidates", candidates.proposing["candidates"])
    assert "written: 1 documents" in done.out, done.err
    shutil.rmtree(index)
    assert "Rest helps." in command("search", candidates.url, "What helps against gout?").out
    assert "withdrawn from" in command("publish", index, candidates.url, "--withdraw").out


def test_filters_are_of_any_kind() -> None:
    assert Filters() == Filters({}, frozenset())
