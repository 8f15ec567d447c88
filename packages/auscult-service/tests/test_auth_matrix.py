"""Every route by every kind of caller: a route that is not in the table fails a test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from auscult_service.audit_files import records, verify
from auscult_service.caller import Caller, asking
from auscult_service.guard.fairness import Buckets
from guarded_service import Guarded, guarded
from service_routes import Route, routes_of

Needs = Literal["nothing", "read", "write", "admin"]
HIDDEN: Final = "leaflet-iga-nephropathy"
"""A document of ward A; Ben is of ward B, and "plain" of none."""
STRANGERS: Final = ("none", "wrong", "revoked", "expired")
WORDS_OF_IT: Final = ("angiotensin", "blood in the urine", HIDDEN)


@dataclass(frozen=True)
class Entry:
    """What a route needs, and a request that it takes.

    Attributes:
        needs: Of a caller's role.
        path: Of the request; where none, the route's.
        of_index: Whether it asks one index.
        of_document: Whether it asks for the document of ward A.
        noted: Whether it leaves a record.
        good: Status when all is well.
    """

    needs: Needs
    path: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    form: Mapping[str, str] | None = None
    file: bool = False
    of_index: bool = False
    of_document: bool = False
    noted: bool = True
    good: int = 200


_IN_MAIN: Final = {"index": "main"}
_ASKED: Final = {"q": "IgA nephropathy symptoms", **_IN_MAIN}
_DOCUMENT: Final = {"of_index": True, "of_document": True}
TABLE: Final[Mapping[Route, Entry]] = {
    ("GET", "/api/v1/health"): Entry("nothing", noted=False),
    ("GET", "/api/v1/ready"): Entry("nothing", noted=False),
    ("GET", "/openapi.json"): Entry("nothing", noted=False),
    ("HEAD", "/openapi.json"): Entry("nothing", noted=False),
    ("GET", "/static/{name}"): Entry("nothing", "/static/page.css", noted=False),
    ("GET", "/language"): Entry("nothing", params={"to": "de"}, noted=False, good=303),
    ("GET", "/theme"): Entry("nothing", params={"to": "dark"}, noted=False, good=303),
    ("GET", "/login"): Entry("nothing", noted=False),
    ("POST", "/login"): Entry("nothing", form={"key": "no key"}, good=401),
    ("GET", "/api/v1/version"): Entry("read", noted=False),
    ("GET", "/api/v1/indexes"): Entry("read"),
    ("GET", "/api/v1/aspects"): Entry("read", params={"prefix": "s"}),
    ("GET", "/api/v1/entities"): Entry("read", params={"prefix": "ig", **_IN_MAIN}, of_index=True),
    ("GET", "/api/v1/fields"): Entry("read", params=_IN_MAIN, of_index=True),
    ("GET", "/api/v1/documents"): Entry("read", params=_IN_MAIN, of_index=True),
    ("GET", "/api/v1/search"): Entry("read", params=_ASKED, of_index=True),
    ("POST", "/api/v1/search"): Entry("read", body={"question": _ASKED["q"], **_IN_MAIN}, of_index=True),
    ("POST", "/api/v1/explain"): Entry(
        "read", body={"entity": "IgA nephropathy", "aspects": ["symptoms"], "doc_id": HIDDEN, **_IN_MAIN}, **_DOCUMENT
    ),
    ("GET", "/api/v1/documents/{doc_id:path}"): Entry("read", f"/api/v1/documents/{HIDDEN}", _IN_MAIN, **_DOCUMENT),
    ("GET", "/api/v1/documents/{doc_id:path}/original"): Entry(
        "read", f"/api/v1/documents/{HIDDEN}/original", _IN_MAIN, **_DOCUMENT
    ),
    ("GET", "/api/v1/documents/{doc_id:path}/places"): Entry(
        "read", f"/api/v1/documents/{HIDDEN}/places", {"start": "0", "end": "5", **_IN_MAIN}, **_DOCUMENT
    ),
    # Not a PDF.
    ("GET", "/api/v1/documents/{doc_id:path}/pages/{page}.png"): Entry(
        "read", f"/api/v1/documents/{HIDDEN}/pages/1.png", _IN_MAIN, good=404, **_DOCUMENT
    ),
    ("POST", "/api/v1/spans"): Entry(
        "read", body={"question": "IgA nephropathy symptoms?", "doc_id": HIDDEN, **_IN_MAIN}, **_DOCUMENT
    ),
    ("POST", "/api/v1/coverage"): Entry(
        "read", body={"entities": ["IgA nephropathy"], "aspects": ["symptoms"], **_IN_MAIN}, of_index=True
    ),
    # No document there names a patient.
    ("POST", "/api/v1/patients"): Entry("read", body={"entity": "gout", **_IN_MAIN}, of_index=True, good=422),
    ("POST", "/api/v1/feedback"): Entry(
        "read",
        body={
            "question": "symptoms?",
            "doc_id": HIDDEN,
            "passage_id": "iga-nephropathy-2",
            "relevance": 1,
            **_IN_MAIN,
        },
        good=201,
        **_DOCUMENT,
    ),
    ("GET", "/"): Entry("read", params=_ASKED, of_index=True),
    ("GET", "/complete"): Entry("read", params={"q": "ig", **_IN_MAIN}, of_index=True),
    ("GET", "/compare"): Entry("read", params=_ASKED, of_index=True),
    ("GET", "/coverage"): Entry("read", params={"entity": "IgA nephropathy", **_IN_MAIN}, of_index=True),
    ("GET", "/d/{index}/{doc_id:path}"): Entry("read", f"/d/main/{HIDDEN}", **_DOCUMENT),
    ("GET", "/export.csv"): Entry("read", params=_ASKED, of_index=True),
    ("GET", "/export.json"): Entry("read", params=_ASKED, of_index=True),
    # Not a PDF.
    ("GET", "/sheet/{index}/{number}/{doc_id:path}"): Entry("read", f"/sheet/main/1/{HIDDEN}", good=404, **_DOCUMENT),
    ("POST", "/feedback"): Entry(
        "read",
        form={"answers": "yes", "document": HIDDEN, "passage": "iga-nephropathy-2", "q": "symptoms?", **_IN_MAIN},
        good=303,
        **_DOCUMENT,
    ),
    ("GET", "/patients"): Entry("read", params=_ASKED, of_index=True),
    ("GET", "/patients.csv"): Entry("read", params=_ASKED, of_index=True, good=422),
    ("GET", "/patients.jsonl"): Entry("read", params=_ASKED, of_index=True, good=422),
    ("GET", "/saved"): Entry("read"),
    ("POST", "/saved"): Entry("read", form={"name": "mine", "address": "/?q=gout&index=main"}, of_index=True, good=303),
    ("POST", "/saved/remove"): Entry("read", form={"name": "mine"}, good=303),
    ("POST", "/logout"): Entry("read", good=303),
    ("GET", "/add"): Entry("write", params=_IN_MAIN, of_index=True, noted=False),
    ("GET", "/jobs"): Entry("write"),
    ("GET", "/jobs/{job_id}"): Entry("write", "/jobs/none", good=404),
    ("GET", "/api/v1/jobs"): Entry("write"),
    ("GET", "/api/v1/jobs/{job_id}"): Entry("write", "/api/v1/jobs/none", good=404),
    ("GET", "/api/v1/metrics"): Entry("admin"),
    # These change the index, and come last.
    ("DELETE", "/api/v1/documents/{doc_id:path}"): Entry("write", f"/api/v1/documents/{HIDDEN}", _IN_MAIN, **_DOCUMENT),
    ("POST", "/api/v1/documents"): Entry("write", form=_IN_MAIN, file=True, of_index=True, good=202),
    ("POST", "/add"): Entry("write", form=_IN_MAIN, file=True, of_index=True, good=303),
}
_RANKS: Final = ("nothing", "read", "write", "admin")
_ROLES: Final = {
    "read": "read",
    "write": "write",
    "admin": "admin",
    "ann": "write",
    "ben": "write",
    "plain": "write",
    "elsewhere": "admin",
}
#: What each may delete while the others still need theirs.
_OWN: Final = {"write": "leaflet-gout", "admin": "leaflet-asthma"}
CALLERS: Final = (*STRANGERS, "read", "ben", "plain", "elsewhere", "write", "admin", "ann")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("matrix")) as service:
        # Strangers try again and again here; that they are slowed down is tried elsewhere.
        service.app.state.gate.failures = Buckets(0)
        yield service


def expected(entry: Entry, caller: str) -> int:
    if entry.needs == "nothing":
        return entry.good
    if caller in STRANGERS:
        return 401
    if _RANKS.index(_ROLES[caller]) < _RANKS.index(entry.needs):
        return 403
    hidden = (caller == "elsewhere" and entry.of_index) or (caller in ("ben", "plain") and entry.of_document)
    return 404 if hidden else entry.good


def send(service: Guarded, route: Route, entry: Entry, caller: str) -> Any:
    path = entry.path or route[1]
    if route[0] == "DELETE":
        path = path.replace(HIDDEN, _OWN.get(caller, HIDDEN))
    files = {"files": ("note.txt", b"A note about sleep.\n", "text/plain")} if entry.file else None
    service.client.cookies.clear()
    return service.client.request(
        route[0],
        path,
        params=dict(entry.params),
        json=entry.body,
        data=dict(entry.form) if entry.form is not None else None,
        files=files,
        headers=service.headers(caller),
    )


def test_the_table_has_every_route_and_no_other(service: Guarded) -> None:
    assert sorted(TABLE) == routes_of(service.app)


def noted(service: Guarded) -> list[dict[str, Any]]:
    return [*records(service.folder / "audit.jsonl")]


@pytest.mark.parametrize("route", [*TABLE], ids=lambda route: f"{route[0]} {route[1]}")
def test_each_caller_gets_what_they_may(service: Guarded, route: Route) -> None:
    entry = TABLE[route]
    for caller in CALLERS:
        before = len(noted(service))
        answer = send(service, route, entry, caller)
        wanted = expected(entry, caller)
        assert answer.status_code == wanted, (caller, answer.text[:300])
        # Whatever comes of it, once.
        is_noted = entry.noted or wanted in (401, 403)
        fresh = noted(service)[before:]
        assert len(fresh) == is_noted, (caller, fresh)
        if fresh:
            name = caller if caller in _ROLES else ""
            assert (fresh[0]["who"], fresh[0]["status"]) == (name, wanted)
        if caller in (*STRANGERS, "ben", "plain") and wanted != 201:
            told = answer.text.replace(entry.path, "")
            assert not [word for word in WORDS_OF_IT if word in told.lower().replace("symptoms?", "")], caller
        if wanted >= 400 and route[1].startswith("/api/"):
            said = answer.json()["error"]
            assert {*said} == {"code", "message", "remedy", "request_id"}


def test_methods_missing_from_a_route_are_refused(service: Guarded) -> None:
    for method, path in TABLE:
        place = TABLE[method, path].path or path
        for other in ("PUT", "PATCH", "TRACE", "POST", "DELETE", "OPTIONS", "CONNECT", "SEARCH"):
            if (other, path) in TABLE:
                continue
            headers = {**service.headers("admin"), "X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
            answer = service.client.request(other, place, headers=headers)
            assert answer.status_code in (404, 405), (other, path, answer.status_code)


def test_the_log_of_all_this_is_whole(service: Guarded) -> None:
    found = verify(service.folder / "audit.jsonl")
    assert not found.problem
    assert found.records > 100
    shown = json.dumps(noted(service))
    assert not [key for key in service.keys.values() if key in shown]


def test_a_restricted_admin_sees_only_own_figures(tmp_path: Path) -> None:
    with guarded(tmp_path) as service:
        for caller, index in (("admin", "main"), ("elsewhere", "other")):
            service.client.get("/api/v1/search", params={"q": "gout", "index": index}, headers=service.headers(caller))

        def metrics_for(caller: str) -> str:
            answer = service.client.get("/api/v1/metrics", headers=service.headers(caller))
            assert answer.status_code == 200
            return answer.text

        whole, part = metrics_for("admin"), metrics_for("elsewhere")
        for index in ("main", "other"):
            assert f'auscult_index_documents{{index="{index}"}} 4.0' in whole
            assert f'auscult_searches_total{{index="{index}",result="found"}}' in whole
        assert 'auscult_index_documents{index="other"} 4.0' in part
        assert 'auscult_searches_total{index="other",result="found"} 1.0' in part
        assert "main" not in part
        # Of the service as a whole: what others ask is among it.
        assert "auscult_requests_total" in whole
        assert "auscult_requests" not in part
        assert "process_" not in part
        service.app.dependency_overrides[asking] = lambda: Caller("ward", "admin", None, frozenset({"ward-a"}))
        assert 'auscult_index_documents{index="main"} 3.0' in metrics_for("admin")


def test_groups_see_and_count_only_their_own_documents(tmp_path: Path) -> None:
    with guarded(tmp_path) as service:

        def fetch(caller: str, path: str, **params: str) -> Any:
            return service.client.get(path, params={**_IN_MAIN, **params}, headers=service.headers(caller)).json()

        for caller, mine, others in (("ann", "IgA nephropathy", "Migraine"), ("ben", "Migraine", "IgA nephropathy")):
            listed = fetch(caller, "/api/v1/documents")
            assert listed["total"] == 3
            assert {document["title"] for document in listed["documents"]} == {mine, "Asthma", "Gout"}
            (index, _) = fetch(caller, "/api/v1/indexes")
            assert (index["documents"], index["passages"]) == (3, 9)
            for disease in (mine, others):
                hits = fetch(caller, "/api/v1/search", q=f"{disease} symptoms", k="50")["hits"]
                assert {hit["title"] for hit in hits} == {mine, "Asthma", "Gout"}
            names = json.dumps([fetch(caller, "/api/v1/entities", prefix=p, limit="50") for p in "imagn"])
            assert mine in names
            assert others not in names
            fields = json.dumps(fetch(caller, "/api/v1/fields"))
            assert ("ward-b" if caller == "ben" else "ward-a") in fields
            wrong = service.client.get(
                "/api/v1/search", params={"q": "x", "where": "source=none", **_IN_MAIN}, headers=service.headers(caller)
            )
            assert others not in wrong.text
            misspelt = fetch(caller, "/api/v1/search", q=f"what is {others[:-2]}{others[-1]}{others[-2]}?")
            assert others not in json.dumps(misspelt["understood"])
            page = service.client.get("/", headers=service.headers(caller)).text
            assert others not in page
