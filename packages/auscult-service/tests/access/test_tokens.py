"""OpenID Connect tokens, signed here, with the issuer's keys from a file and over loopback."""

from __future__ import annotations

import hmac
import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from auscult.errors import ConfigError
from auscult_service.access.tokens import Tokens

ISSUER, AUDIENCE = "https://login.example.org", "auscult"
_KINDS: dict[str, tuple[Any, Any]] = {
    "RS256": (rsa.generate_private_key(65537, 2048), jwt.algorithms.RSAAlgorithm),
    "ES256": (ec.generate_private_key(ec.SECP256R1()), jwt.algorithms.ECAlgorithm),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate(), jwt.algorithms.OKPAlgorithm),
}
_OTHER = rsa.generate_private_key(65537, 2048)


def key_set() -> dict[str, Any]:
    made = []
    for name, (private, kind) in _KINDS.items():
        made.append({**kind.to_jwk(private.public_key(), as_dict=True), "kid": name, "alg": name, "use": "sig"})
    return {"keys": made}


CLAIMS = {"role_claim": "auscult_role", "groups_claim": "groups"}


def token(algorithm: str = "RS256", key: Any = None, kid: str = "", **claims: Any) -> str:
    now = int(time.time())
    payload = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 60, "auscult_role": "read",
        "groups": ["ward-a"], **claims,
    }  # fmt: skip
    payload = {name: value for name, value in payload.items() if value is not None}
    return jwt.encode(payload, key or _KINDS[algorithm][0], algorithm, headers={"kid": kid or algorithm})


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    place = tmp_path / "keys.json"
    place.write_text(json.dumps(key_set()))
    return Tokens(ISSUER, AUDIENCE, str(place), **CLAIMS)


@pytest.mark.parametrize("algorithm", [*_KINDS])
def test_valid_tokens_are_accepted(tokens: Tokens, algorithm: str) -> None:
    found = tokens.find(token(algorithm, auscult_indexes="notes"))
    assert found is not None
    assert (found.name, found.role, found.groups, found.indexes) == ("ann", "read", {"ward-a"}, {"notes"})


def test_claim_names_can_be_configured(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(json.dumps(key_set()))
    tokens = Tokens(ISSUER, AUDIENCE, str(tmp_path / "keys.json"), role_claim="roles", groups_claim="wards")
    found = tokens.find(token(roles=["nurse", "write", "read"], wards="ward-b"))
    assert found is not None
    assert (found.name, found.role, found.groups, found.indexes) == ("ann", "write", {"ward-b"}, None)


def confused(body: str) -> str:
    """A token whose signature is made with the issuer's public key, as of a shared secret."""
    public = _KINDS["RS256"][0].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "RS256"}).encode()).rstrip(b"=")
    signed = head + b"." + body.encode()
    return (signed + b"." + urlsafe_b64encode(hmac.digest(public, signed, "sha256")).rstrip(b"=")).decode()


def test_invalid_tokens_are_refused(tokens: Tokens) -> None:
    now = int(time.time())
    good = token()
    head, body, signature = good.split(".")
    wrong = {
        "another key": token(key=_OTHER),
        "an unknown key": token(kid="none"),
        "another issuer": token(iss="https://login.example.net"),
        "another audience": token(aud="else"),
        "no audience": token(aud=None),
        "expired": token(exp=now - 61),
        "never expires": token(exp=None),
        "not yet": token(nbf=now + 120),
        "no role": token(auscult_role=None),
        "an unknown role": token(auscult_role="root"),
        "a role of another kind": token(auscult_role={"admin": True}),
        "no name": token(sub=None),
        "a name of nothing": token(sub=" "),
        "unsigned": jwt.encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "x", "exp": now + 60}, None, "none"),
        "signed with the public key": confused(body),
        "changed": f"{head}.{body}.{'A' * len(signature)}",
        "another algorithm": token("RS256", kid="ES256"),
        "cut": good[:-10],
        "empty": "..",
        "none": "",
        "long": "a" * 20_000,
    }
    assert tokens.find(good) is not None
    for why, shown in wrong.items():
        assert tokens.find(shown) is None, why


def test_clocks_may_differ_by_a_minute(tokens: Tokens) -> None:
    now = int(time.time())
    assert tokens.find(token(exp=now - 30)) is not None
    assert tokens.find(token(nbf=now + 30, iat=now + 30)) is not None


@dataclass
class Issuer:
    url: str
    asked: int = 0


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked += 1
            content = json.dumps(key_set()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    served = Issuer(f"http://127.0.0.1:{server.server_port}/keys")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()


def test_the_issuers_keys_are_fetched_once_for_many(issuer: Issuer) -> None:
    tokens = Tokens(ISSUER, AUDIENCE, issuer.url, **CLAIMS)
    assert all(tokens.find(token(kind)) for kind in ("RS256", "ES256", "RS256"))
    assert issuer.asked == 1


def test_tokens_are_refused_without_the_issuers_keys() -> None:
    tokens = Tokens(ISSUER, AUDIENCE, "http://127.0.0.1:9/keys", **CLAIMS)
    assert tokens.find(token()) is None


@pytest.mark.parametrize("keys", ["", "http://example.org/keys", "ftp://example.org/keys", "no-such-file.json"])
def test_keys_come_from_a_file_or_over_tls(keys: str) -> None:
    with pytest.raises(ConfigError):
        Tokens(ISSUER, AUDIENCE, keys, **CLAIMS)


def test_a_key_set_without_keys_is_reported(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"keys": []}')
    with pytest.raises(ConfigError, match="JSON Web Key Set"):
        Tokens(ISSUER, AUDIENCE, str(tmp_path / "keys.json"), **CLAIMS)
