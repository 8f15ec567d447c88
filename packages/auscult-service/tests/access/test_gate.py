"""The door of a running app: keys in headers, sessions by cookie, tokens, and where it may listen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from access.test_tokens import AUDIENCE, ISSUER, key_set, token
from auscult.errors import ConfigError
from auscult_service.access.gate import check_binding
from auscult_service.access.keys import new_key, revoke
from auscult_service.guard.fairness import Buckets
from auscult_service.settings import AccessOptions, Settings
from guarded_service import Guarded, guarded

_ASKED = {"question": "how is gout treated?"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("gate")
    (folder / "issuer.json").write_text(json.dumps(key_set()))
    access = AccessOptions(issuer=ISSUER, audience=AUDIENCE, issuer_keys=str(folder / "issuer.json"))
    with guarded(folder, access=access) as service:
        yield service


def test_wrong_revoked_and_expired_keys_are_answered_alike(service: Guarded) -> None:
    answers = set()
    for key in ("none", "wrong", "revoked", "expired"):
        answer = service.client.post("/api/v1/search", json=_ASKED, headers=service.headers(key))
        told = answer.json()["error"]
        told.pop("request_id")
        kept = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
        answers.add((answer.status_code, json.dumps(told), json.dumps(kept)))
    assert len(answers) == 1
    assert next(iter(answers))[0] == 401


@pytest.mark.parametrize(
    "shown", ["", "Bearer", "Bearer ", "Basic abc", "bearer", "Bearer \x00", "Bearer é", "Bearer a.b.c", "Bearer " * 50]
)
def test_malformed_authorization_headers_are_refused(service: Guarded, shown: str) -> None:
    headers = {b"Authorization": shown.encode("latin-1")}
    assert service.client.post("/api/v1/search", json=_ASKED, headers=headers).status_code == 401  # type: ignore[arg-type]


def test_tokens_grant_what_their_claims_name(service: Guarded) -> None:
    def ask(index: str, **claims: object) -> int:
        headers = {"Authorization": f"Bearer {token('ES256', **claims)}"}
        answer = service.client.post("/api/v1/search", json={**_ASKED, "index": index}, headers=headers)
        return int(answer.status_code)

    assert ask("main") == 200
    assert ask("main", auscult_indexes=["other"]) == 404
    assert ask("other", auscult_indexes=["other"]) == 200
    assert ask("main", aud="else") == 401
    headers = {"Authorization": f"Bearer {token(groups=['ward-b'])}"}
    listed = service.client.get("/api/v1/documents", headers=headers).json()
    assert {each["doc_id"] for each in listed["documents"]} == {"leaflet-migraine", "leaflet-asthma", "leaflet-gout"}


def test_a_session_lasts_until_logout_or_revocation(service: Guarded) -> None:
    client = service.client
    client.cookies.clear()
    assert client.get("/", headers={"Accept": "text/html"}).status_code == 303
    wrong = client.post("/login", data={"key": new_key(), "next": "/"})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    entered = client.post("/login", data={"key": service.keys["ann"], "next": "/?q=gout"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/?q=gout")
    (cookie,) = (each.lower() for each in entered.headers.get_list("set-cookie") if "session" in each)
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "max-age" not in cookie
    assert "expires" not in cookie
    assert client.get("/?q=gout").status_code == 200
    assert client.get("/api/v1/entities", params={"prefix": "g"}).status_code == 200
    # A header says who asks, whatever a cookie says.
    assert client.get("/api/v1/entities", params={"prefix": "g"}, headers=service.headers("wrong")).status_code == 401
    left = client.post("/logout")
    assert left.status_code == 303
    assert client.get("/?q=gout", headers={"Accept": "text/html"}).status_code == 303
    client.post("/login", data={"key": service.keys["ben"]})
    assert client.get("/?q=gout").status_code == 200
    revoke(service.folder / "keys.json", "ben")
    assert client.get("/?q=gout", headers={"Accept": "text/html"}).status_code == 303
    assert client.get("/api/v1/entities", params={"prefix": "g"}).status_code == 401
    expired = client.post("/feedback", data={"answers": "yes"}, headers={"Accept": "text/html"})
    assert (expired.status_code, expired.headers["location"]) == (303, "/login")
    client.cookies.clear()


def test_sessions_begun_over_tls_need_tls(service: Guarded) -> None:
    service.client.cookies.clear()
    entered = service.client.post("https://testserver/login", data={"key": service.keys["read"]})
    (cookie,) = (each for each in entered.headers.get_list("set-cookie") if "session" in each)
    assert cookie.startswith("__Host-auscult_session=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert entered.headers["strict-transport-security"].startswith("max-age=")
    name, _, value = cookie.partition(";")[0].partition("=")
    headers = {"Cookie": f"{name}={value}"}
    assert service.client.get("http://testserver/?q=gout", headers=headers).status_code == 401
    assert service.client.get("https://testserver/?q=gout", headers=headers).status_code == 200
    service.client.cookies.clear()


def test_forms_posted_from_other_sites_are_refused(service: Guarded) -> None:
    client = service.client
    client.cookies.clear()
    client.post("/login", data={"key": service.keys["write"]})
    elsewhere: list[dict[str, str]] = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver.evil.example"},
        {"Origin": "http://testserver:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
    ]
    for headers in elsewhere:
        assert client.delete("/api/v1/documents/leaflet-gout", headers=headers).status_code == 403, headers
        assert client.post("/feedback", data={"answers": "yes"}, headers=headers).status_code == 403, headers
        assert client.get("/api/v1/search", params={"q": "gout"}, headers=headers).status_code == 403, headers
    for headers in ({"Origin": "http://testserver"}, {"Sec-Fetch-Site": "same-origin"}, {}):
        assert client.get("/api/v1/search", params={"q": "gout"}, headers=headers).status_code == 200, headers
    client.cookies.clear()


def test_only_wrong_keys_are_rate_limited_by_address(tmp_path: Path) -> None:
    with guarded(tmp_path) as service:
        # However slow the machine is.
        service.app.state.gate.failures = Buckets(60, lambda: 0.0)
        found = [service.client.get("/api/v1/version", headers=service.headers("wrong")).status_code for _ in range(80)]
        assert found[:60] == [401] * 60
        assert set(found[60:]) == {429}
        assert service.client.get("/api/v1/version", headers=service.headers("read")).status_code == 200
        assert service.client.get("/api/v1/version").status_code == 401
        typed = service.client.post("/login", data={"key": new_key()})
        assert (typed.status_code, "Retry-After" in typed.headers) == (429, True)


def settings(**more: object) -> Settings:
    return Settings(indexes={"main": Path("index")}, **more)  # type: ignore[arg-type]


def test_listening_beyond_this_machine_requires_keys_or_tokens(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.2", "example.org"):  # noqa: S104
        with pytest.raises(ConfigError, match="auscult keys add"):
            check_binding(settings(host=host))
        check_binding(settings(host=host, keys=tmp_path / "keys.json"))
        check_binding(settings(host=host, access=AccessOptions(issuer=ISSUER)))
        check_binding(settings(host=host, access=AccessOptions(insecure=True)))
    for host in ("127.0.0.1", "::1", "localhost"):
        check_binding(settings(host=host))


def test_tls_takes_a_certificate_and_its_key(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.pem", tmp_path / "bad.pem"
    good.write_text("-----BEGIN CERTIFICATE-----\n")
    bad.write_bytes(b"\x30\x82")
    check_binding(settings(access=AccessOptions(certificate=good, certificate_key=good)))
    for certificate, key, said in (
        (good, None, "and its key"),
        (None, good, "and its key"),
        (good, bad, "PEM"),
        (tmp_path / "none", good, "No such file"),
    ):
        # Said when it is set, or when it is looked at.
        with pytest.raises(ConfigError, match=said):
            check_binding(settings(access=AccessOptions(certificate=certificate, certificate_key=key)))
