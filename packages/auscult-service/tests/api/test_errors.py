"""Everything that goes wrong has one shape, says what to do, and repeats nothing that anybody wrote."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from auscult.documents import Section, build_document
from auscult.ingest.updating import update_index
from auscult_service import answering
from auscult_service.settings import Settings
from encoders import HashedEncoder
from served_index import check_shape, served

CANARY = "Zebulon Quux"
JUDGED = {"doc_id": "leaflet-gout", "passage_id": "gout-3", "relevance": 1}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "search", {}, 422, "nothing_asked"),
        ("POST", "search", {"question": "  "}, 422, "nothing_asked"),
        ("POST", "search", {CANARY: 1, "question": "x"}, 422, "invalid"),
        ("POST", "search", {"question": "x", "k": CANARY}, 422, "invalid"),
        ("POST", "search", {"question": "x", "k": 0}, 422, "invalid"),
        ("POST", "search", {"question": "x", "k": 10**9}, 422, "invalid"),
        ("POST", "search", {"question": [CANARY]}, 422, "invalid"),
        ("POST", "search", {"question": CANARY * 1000}, 422, "invalid"),
        ("POST", "search", {"question": CANARY, "k": 100, "offset": 999}, 422, "too_far"),
        ("POST", "search", {"question": CANARY, "index": CANARY}, 404, "unknown_index"),
        ("POST", "search", {"question": CANARY, "group_by": CANARY}, 422, "bad_query"),
        ("POST", "search", {"question": CANARY, "where": {CANARY: "x"}}, 422, "bad_query"),
        ("POST", "search", {"question": CANARY, "where": {"source": CANARY}}, 422, "bad_query"),
        ("POST", "search", {"question": CANARY, "where": {"source": {CANARY: 1}}}, 422, "invalid"),
        ("POST", "search", {"question": CANARY, "score": CANARY}, 422, "invalid"),
        ("POST", "search", {"entity": "ZEBULON:123456"}, 422, "bad_query"),
        ("GET", f"search?q=x&where={CANARY}", None, 422, "invalid"),
        ("GET", f"search?q=x&k={CANARY}", None, 422, "invalid"),
        ("GET", f"documents/{CANARY}", None, 404, "unknown_document"),
        ("GET", f"documents/{CANARY}/original", None, 404, "unknown_document"),
        ("GET", "documents/leaflet-gout/original", None, 404, "no_original"),
        ("GET", f"jobs/{CANARY}", None, 404, "unknown_job"),
        ("GET", f"{CANARY}", None, 404, "not_found"),
        ("PUT", "search", {"question": CANARY}, 405, "method_not_allowed"),
        ("POST", "explain", {"entity": CANARY, "doc_id": CANARY}, 404, "unknown_document"),
        ("POST", "feedback", {**JUDGED, "question": CANARY, "passage_id": CANARY}, 404, "unknown_passage"),
        ("POST", "feedback", {**JUDGED, "question": CANARY, "doc_id": CANARY}, 404, "unknown_document"),
        ("POST", "feedback", {**JUDGED, "question": CANARY, "relevance": 9}, 422, "invalid"),
        ("POST", "feedback", JUDGED, 422, "nothing_asked"),
        ("DELETE", f"documents/{CANARY}", None, 404, "unknown_document"),
    ],
)  # fmt: skip
def test_all_errors_have_one_shape(
    client: TestClient, caplog: pytest.LogCaptureFixture, method: str, path: str, body: object, status: int, code: str
) -> None:
    answer = client.request(method, path, json=body) if body is not None else client.request(method, path)
    told = check_shape(answer, status, code)
    for word in CANARY.split():
        assert word.lower() not in (answer.text + caplog.text).lower()
    assert "these" not in told["remedy"]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 5000, b"NaN", b'"x"', b"", b'{"question": 1e999}'])
def test_invalid_json_bodies_are_answered_in_that_shape(client: TestClient, body: bytes) -> None:
    answer = client.post("search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    check_shape(answer, answer.status_code, answer.json()["error"]["code"])


def test_internal_errors_are_reported_without_their_message(
    index: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(answering, "search", fail)
    with served(Settings(indexes={"leaflets": index}, page=False)) as client, caplog.at_level(logging.DEBUG):
        told = check_shape(client.post("search", json={"question": "gout"}), 500, "internal")
        assert f"request {told['request_id']} failed: ValueError at test_errors.py:" in caplog.text
        assert CANARY not in caplog.text
        assert "auscult_faults_total 1.0" in client.get("metrics").text


def test_a_missing_index_is_not_ready(tmp_path: Path) -> None:
    from auscult_service.app import create_app

    app = create_app(Settings(indexes={"later": tmp_path / "later"}, page=False))
    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.get("/api/v1/ready")
        check_shape(answer, 503, "not_ready")
        assert answer.headers["retry-after"]
        assert client.get("/api/v1/health").status_code == 200


def test_lone_surrogates_in_text_are_answered(index: Path) -> None:
    """Half a surrogate pair, anywhere in a document."""
    section = Section("He\ud801ad", "Half a pair \ud800 stands here.", "odd-1")
    odd = build_document(doc_id="odd", title="Odd \udc00 title", sections=[section], metadata={"a": "b\udfff"})
    update_index({"x": [odd]}, HashedEncoder(), index)
    with served(Settings(indexes={"leaflets": index}, page=False)) as client:
        hit = client.post("search", json={"question": "half a pair"}).json()["hits"][0]
        assert (hit["title"], hit["heading"], hit["metadata"]) == ("Odd \udc00 title", "He\ud801ad", {"a": "b\udfff"})
        assert client.get("documents/odd").json()["text"] == "Half a pair \ud800 stands here."
        for path in ("documents", "fields", "entities?prefix=odd"):
            assert client.get(path).status_code == 200
        body = b'{"question": "\\ud800"}'
        asked = client.post("search", content=body, headers={"Content-Type": "application/json"})
        check_shape(asked, 422, "invalid")
