"""A patient's name in notes, questions, names of files and addresses: in no log, figure, error or message."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from auscult.errors import AuscultError
from auscult.ingest.building import build_index
from auscult_service.settings import AccessOptions
from guarded_service import ENCODER, Guarded, documents, guarded
from places import SOURCES
from supply_chain import copyleft, licences, unsafe_calls

NAME = "Zacharias Quill-Nightingale"
SAID = ("zacharias", "quill-nightingale", "zacharias%20quill")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("canaries")
    note = documents()[2]
    text = note.text.replace("airways", NAME)
    assert text != note.text
    shift = len(NAME) - len("airways")
    at = note.text.index("airways")
    passages = tuple(
        replace(
            passage,
            start=passage.start + shift * (passage.start > at),
            end=passage.end + shift * (passage.end > at),
            sentences=tuple(
                replace(each, start=each.start + shift * (each.start > at), end=each.end + shift * (each.end > at))
                for each in passage.sentences
            ),
        )
        for passage in note.passages
    )
    canary = replace(note, text=text, passages=passages, original=None)
    for name in ("main", "other"):
        build_index([*documents()[:2], canary, documents()[3]], ENCODER, folder / name)
    with guarded(folder, access=AccessOptions(hash_queries=True)) as service:
        yield service


def test_patient_names_appear_only_where_they_belong(service: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    client, shown = service.client, service.headers("admin")
    with caplog.at_level(logging.DEBUG):
        found = client.post("/api/v1/search", json={"question": f"condition of {NAME}"}, headers=shown)
        assert any(NAME in hit["text"] for hit in found.json()["hits"]), "the note is found"
        refused = 0
        for method, path, body in (
            ("GET", f"/api/v1/search?q={NAME}&k=0", None),
            ("GET", f"/api/v1/search?q={NAME}&where=source={NAME}", None),
            ("GET", f"/api/v1/search?q={NAME}&group_by={NAME}", None),
            ("POST", "/api/v1/search", {"question": NAME, "k": NAME}),
            ("POST", "/api/v1/search", {NAME: NAME}),
            ("POST", "/api/v1/search", {"question": NAME, "where": {NAME: [NAME]}}),
            ("POST", "/api/v1/search", {"entity": f"DOID:{NAME}"}),
            ("POST", "/api/v1/explain", {"entity": NAME, "doc_id": NAME}),
            ("POST", "/api/v1/feedback", {"question": NAME, "doc_id": NAME, "passage_id": NAME, "relevance": NAME}),
            ("GET", f"/api/v1/documents/{NAME}", None),
            ("DELETE", f"/api/v1/documents/{NAME}", None),
            ("GET", f"/api/v1/jobs/{NAME}", None),
            ("GET", f"/{NAME}?{NAME}={NAME}", None),
            ("GET", f"/static/{NAME}", None),
            ("PUT", f"/api/v1/{NAME}", {NAME: NAME}),
        ):
            answer = client.request(method, path, json=body, headers=shown)
            if answer.status_code >= 400:
                refused += 1
                response = f"{answer.text} {answer.headers}".lower()
                assert not [canary for canary in SAID if canary in response], (method, path, answer.text)
        assert refused > 10
        figures = client.get("/api/v1/metrics", headers=shown).text.lower()
    # What the test's own client says of itself is no log of the service.
    logged = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))
    )
    for place, text in {"figures": figures, "log": logged.lower()}.items():
        assert not [canary for canary in SAID if canary in text], place
    audit = (service.folder / "audit.jsonl").read_text().lower()
    assert '"query_hash"' in audit
    assert '"query":' not in audit


def test_errors_are_logged_with_place_but_without_content(
    service: Guarded, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError(f"cannot read {NAME}")

    monkeypatch.setattr("auscult_service.answering.search", fails)
    before = (service.folder / "audit.jsonl").read_text().count("\n")
    with caplog.at_level(logging.DEBUG):
        answer = service.client.get("/api/v1/search?q=x", headers=service.headers("admin"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    logged = "\n".join(each.getMessage() for each in caplog.records if not each.name.startswith(("httpx", "httpcore")))
    assert "ValueError at" in logged
    assert not [each for each in SAID if each in f"{logged} {answer.text}".lower()]
    assert (service.folder / "audit.jsonl").read_text().count("\n") == before + 1, "a fault is noted, too"


def test_own_errors_are_reported_without_user_content(service: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise AuscultError(f"a name such as '{NAME}'", f"'{NAME}'", f"leave '{NAME}' out")

    monkeypatch.setattr("auscult_service.answering.search", fails)
    answer = service.client.get("/api/v1/search?q=x", headers=service.headers("admin"))
    assert answer.status_code == 400
    assert not [each for each in SAID if each in answer.text.lower()]


def test_source_code_never_executes_data_or_uses_shells(tmp_path: Path) -> None:
    assert [call for source in SOURCES for call in unsafe_calls(source)] == []
    (tmp_path / "bad.py").write_text(
        "import pickle\nfrom joblib import load\neval('1')\nrun('x', shell=True)\nnp.load(f, allow_pickle=True)\n"
    )
    assert len(unsafe_calls(tmp_path)) == 5


def test_dependencies_of_the_service_have_permissive_licences() -> None:
    found = licences()
    assert {"fastapi", "uvicorn", "numpy", "pyjwt", "cryptography", "starlette"} <= found.keys()
    assert copyleft(found) == []
    assert copyleft({"x": "GNU Affero General Public License v3", "y": "LGPL-2.1", "z": "MIT"}) == [
        "x: GNU Affero General Public License v3"
    ]
