"""Before anything is known of who asks: probes are always answered, and nobody is led elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from auscult_service.access.gate import Gate
from auscult_service.access.keys import new_key
from auscult_service.settings import ServiceLimits
from guarded_service import Guarded, guarded
from service_routes import routes_of

PROBES = ("/api/v1/health", "/api/v1/ready")
ELSEWHERE = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("door"), host="0.0.0.0") as service:  # noqa: S104 - any Host is taken there
        yield service


def test_probes_are_answered_however_often_somebody_asks(tmp_path: Path) -> None:
    with guarded(tmp_path, ServiceLimits(per_minute=5)) as service:
        for headers in ({}, service.headers("read")):
            asked = [service.client.get("/api/v1/version", headers=headers).status_code for _ in range(12)]
            assert 429 in asked or not headers
            login = [service.client.get("/login", headers=headers).status_code for _ in range(12)]
            assert 429 in login
            for path in PROBES:
                assert {service.client.get(path, headers=headers).status_code for _ in range(20)} == {200}


def test_addresses_that_sent_wrong_keys_may_still_probe(service: Guarded) -> None:
    def shown(path: str) -> int:
        return service.client.get(path, headers={"Authorization": f"Bearer {new_key()}"}).status_code

    assert 429 in {shown("/api/v1/version") for _ in range(80)}
    assert {shown(path) for path in PROBES} == {200}


def test_probes_look_at_no_key(service: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Gate, "caller", never)
    for path in PROBES:
        headers = {"Authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.e30.x", "Cookie": "auscult_session=x"}
        assert service.client.get(path, headers=headers).status_code == 200


def test_no_redirect_leads_to_another_host(service: Guarded) -> None:
    led = 0
    for method, pattern in routes_of(service.app):
        path = pattern.replace("{doc_id:path}", "leaflet-gout").replace("{index}", "main").replace("{page}", "1")
        path = path.replace("{number}", "1").replace("{name}", "page.css").replace("{job_id}", "none")
        for wanted in (path, f"{path}/", f"{path}//", f"//evil.example{path}/"):
            for key in ("none", "admin"):
                headers = {**service.headers(key), **ELSEWHERE, "Accept": "text/html"}
                # An address with a host in it is taken for another host's by the client.
                url = f"http://evil.example{wanted}?q=secret"
                answer = service.client.request(method, url, headers=headers)
                location = answer.headers.get("location")
                assert "evil" not in (location or "").split("?")[0], (method, wanted, location)
                if location is not None:
                    led += 1
                    assert location.startswith("/"), (method, wanted, location)
                    assert not urlsplit(location).netloc, (method, wanted, location)
    assert led > 20, "those to the login, and after what a form has done"


@pytest.mark.parametrize("path", ["/search/", "/api/v1/search/", "/api/v1/health/", "/jobs/", "/add/", "/login/"])
def test_paths_with_an_extra_slash_do_not_exist(service: Guarded, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = service.client.request(method, f"{path}?q=secret", headers=service.headers("admin"))
        assert answer.status_code in (404, 405)
        assert "location" not in answer.headers


def test_only_upload_routes_accept_files(service: Guarded) -> None:
    note = {"files": ("long.md", b"# Long\n\n" + b"gout " * 300_000, "text/markdown")}
    statuses = {}
    for path in ("/api/v1/documents", "/add", "/login", "/feedback", "/api/v1/search", "/logout"):
        answer = service.client.post(path, files=note, headers=service.headers("write"))
        statuses[path] = answer.status_code
    assert statuses.pop("/api/v1/documents") == 202
    assert statuses.pop("/add") == 303
    assert set(statuses.values()) == {413}, statuses
