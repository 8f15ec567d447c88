"""What browsers are told, and whom a service for this machine answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from auscult_service.app import create_app
from auscult_service.settings import AccessOptions, Settings
from guarded_service import ENCODER, Guarded, guarded


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("headers")) as service:
        yield service


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/api/v1/search?q=gout", "read"),
        ("/api/v1/search?q=gout", "none"),
        ("/api/v1/search", "read"),
        ("/none-such", "read"),
        ("/", "read"),
        ("/login", "none"),
        ("/d/main/leaflet-gout", "read"),
        ("/api/v1/health", "none"),
        ("/api/v1/documents/none", "read"),
    ],
)
def test_responses_forbid_inline_scripts_and_caching(service: Guarded, path: str, key: str) -> None:
    headers = service.client.get(path, headers=service.headers(key)).headers
    policy = dict(each.strip().partition(" ")[::2] for each in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    for kind in ("script-src", "style-src"):
        assert policy.get(kind, "'none'") in ("'self'", "'none'"), kind
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_files_of_the_page_may_be_kept(service: Guarded) -> None:
    assert "max-age" in service.client.get("/static/page.css?v=1").headers["cache-control"]
    # Scripts import it so; after an upgrade it must not be the old one.
    assert service.client.get("/static/saying.js").headers["cache-control"] == "no-cache"


def test_only_named_origins_may_send_cross_site_requests(tmp_path: Path) -> None:
    mine = "https://portal.example.org"
    with guarded(tmp_path, access=AccessOptions(origins=(mine,))) as service:
        preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        allowed = service.client.options("/api/v1/search", headers={"Origin": mine, **preflight})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == mine
        assert "access-control-allow-credentials" not in allowed.headers
        other = service.client.options("/api/v1/search", headers={"Origin": "https://evil.example", **preflight})
        assert "access-control-allow-origin" not in other.headers
        headers = {"Origin": mine, **service.headers("read")}
        answer = service.client.get("/api/v1/search?q=gout", headers=headers)
        assert answer.headers["access-control-allow-origin"] == mine


@pytest.fixture(scope="module")
def local(service: Guarded) -> Iterator[TestClient]:
    """A service for this machine alone, without keys."""
    app = create_app(Settings(indexes={"main": service.folder / "main"}), ENCODER)
    with TestClient(app, raise_server_exceptions=False, base_url="http://127.0.0.1:8470") as client:
        yield client


@pytest.mark.parametrize("host", ["127.0.0.1:8470", "localhost", "LOCALHOST:1", "[::1]:8470", "127.0.0.1"])
def test_requests_naming_the_local_host_are_answered(local: TestClient, host: str) -> None:
    assert local.get("/api/v1/search?q=gout", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8470",
        "",
        "[",
        "evil@127.0.0.1.x",
        "192.168.1.2",
    ],
)
def test_requests_naming_another_host_are_refused(local: TestClient, host: str) -> None:
    answer = local.get("/api/v1/search?q=gout", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (421, "other_host")


def test_other_sites_cannot_use_a_service_without_keys(local: TestClient) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert local.post("/api/v1/search", json={"question": "gout"}, headers=headers).status_code == 403
        assert local.delete("/api/v1/documents/leaflet-gout", headers=headers).status_code == 403
    own = {"Origin": "http://127.0.0.1:8470", "Sec-Fetch-Site": "same-origin"}
    assert local.post("/api/v1/search", json={"question": "gout"}, headers=own).status_code == 200


def test_oversized_headers_and_urls_are_refused(local: TestClient) -> None:
    assert local.get("/api/v1/health", headers={"X-Long": "x" * 40_000}).status_code == 431
    assert local.get(f"/api/v1/health?{'x' * 40_000}").status_code == 431
