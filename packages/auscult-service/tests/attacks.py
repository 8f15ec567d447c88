"""What strangers send: mutated bodies, names that lead elsewhere, bombs; and how an answer to them is judged."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

TRAVERSALS: Final = (
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "%252e%252e%252fetc%252fpasswd",
    "..\\..\\..\\windows\\win.ini",
    "....//....//etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "\\\\server\\share\\secret",
    "file:///etc/passwd",
    "leaflet-gout%00.txt",
    "%00",
    "leaflet-gout/../../keys.json",
    "../keys.json",
    "../audit.jsonl",
    "..",
    ".",
    "%c0%ae%c0%ae/etc/passwd",
    "\u2025/\u2025/etc/passwd",
    "CON",
    "a" * 3_000,
    "x\r\nSet-Cookie: stolen=1",
    "%0d%0aSet-Cookie:%20stolen=1",
    "'; DROP TABLE documents; --",
    "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"),
    "<script>alert(1)</script>",
    "{{7*7}}",
    "${jndi:ldap://127.0.0.1/a}",
)
"""Ids and names that lead elsewhere, or mean something to somebody else."""
OUTSIDE: Final = ("root:x:0:0", "auscult-keys-1", '"previous":', "stolen=1\r\n")
"""What stands in files that nobody may read by any of them."""
_STRANGE: Final = (
    "", " ", "\x00", "\ud800", "\u202e", "\ufffd" * 10, "é" * 100, "x" * 5_000, "NaN", "1e999", "-1", "null", "[]",
    "<script>alert(1)</script>", "' OR 1=1 --", "../../etc/passwd", "\r\nX-Evil: 1", "😀" * 50, "%s%n", "{{7*7}}",
)  # fmt: skip
_VALUES: Final = (
    None, True, False, 0, -1, 1, 10**9, 2**31, 2**63, 10**30, -(2**63), 0.1, 1e308, -1e308, [], {}, [[]], [None],
    {"a": {}}, ["x"] * 200, {"source": ["x"]}, {"source": {"from": "9", "to": "0"}}, {"": ""}, *_STRANGE,
)  # fmt: skip
_BODIES: Final[dict[str, dict[str, Any]]] = {
    "/api/v1/search": {
        "question": "how is gout treated?", "entity": "", "aspects": [], "index": "main", "k": 5, "offset": 0,
        "group_by": "passage", "where": {"source": ["North"]}, "score": "fused", "rerank": 0,
    },
    "/api/v1/explain": {"entity": "Gout", "aspects": ["treatment"], "doc_id": "leaflet-gout", "index": "main"},
    "/api/v1/spans": {
        "question": "gout?", "doc_id": "leaflet-gout", "index": "main", "step": "grow", "first": 1, "last": 2,
    },
    "/api/v1/coverage": {"entities": ["gout", "asthma"], "aspects": ["symptoms"], "index": "main", "where": {}},
    "/api/v1/feedback": {
        "question": "gout?", "doc_id": "leaflet-gout", "passage_id": "gout-1", "relevance": 1, "index": "main",
    },
}  # fmt: skip
_QUERIES: Final[dict[str, dict[str, str]]] = {
    "/api/v1/search": {
        "q": "gout",
        "k": "5",
        "offset": "0",
        "index": "main",
        "where": "source=North",
        "score": "fused",
    },
    "/api/v1/entities": {"prefix": "go", "limit": "5", "index": "main"},
    "/api/v1/aspects": {"prefix": "s", "limit": "5"},
    "/api/v1/documents": {"k": "5", "offset": "0", "where": "source=North..South"},
    "/api/v1/documents/leaflet-gout/places": {"start": "0", "end": "10"},
    "/api/v1/fields": {"index": "main"},
    "/": {"q": "gout", "e": "Gout", "a": "treatment", "index": "main", "page": "1"},
    "/coverage": {"entity": "gout", "index": "main"},
    "/compare": {"q": "gout", "index": "main"},
    "/export.csv": {"q": "gout", "index": "main"},
    "/complete": {"q": "go"},
}


@dataclass(frozen=True)
class Request:
    """One of them.

    Attributes:
        path: With its query, as it goes over the wire.
        body: None where there is none.
    """

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


def mutated(number: int, seed: int = 0, *, most: int = 60_000) -> Iterator[Request]:
    """So many requests, each harmed in one way or several.

    Args:
        number: How many.
        seed: Of what is drawn.
        most: Bytes of the longest body.
    """
    chance = random.Random(seed)
    ways = (_fields, _fields, _fields, _bytes, _bytes, _kinds, _deep, _long, _query, _query, _ids)
    for _ in range(number):
        yield chance.choice(ways)(chance, most)


def _body(chance: random.Random) -> tuple[str, dict[str, Any]]:
    path = chance.choice([*_BODIES])
    return path, dict(_BODIES[path])


def _json(body: Any) -> bytes:
    return json.dumps(body).encode("utf-8", "surrogatepass")


def _post(path: str, body: bytes, kind: str = "application/json") -> Request:
    return Request("POST", path, body, {"Content-Type": kind})


def _fields(chance: random.Random, _: int) -> Request:
    """Fields of another kind or out of range, missing, unknown."""
    path, body = _body(chance)
    for _ in range(chance.randint(1, 3)):
        name = chance.choice([*body, "unknown", "__proto__", "where"])
        if chance.random() < 0.15:
            body.pop(name, None)
        else:
            body[name] = chance.choice(_VALUES)
    content = _json(body)
    if chance.random() < 0.1:
        content = content.replace(b"5", chance.choice((b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5_000)))
    return _post(path, content)


def _bytes(chance: random.Random, _: int) -> Request:
    """Bytes changed, cut, doubled; other encodings."""
    path, body = _body(chance)
    content = bytearray(_json(body))
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(content))
        act = chance.randrange(4)
        if act == 0:
            content[place] = chance.randrange(256)
        elif act == 1:
            del content[place : place + chance.randint(1, 20)]
        elif act == 2:
            content[place:place] = content[place : place + chance.randint(1, 50)]
        else:
            content[place:place] = chance.choice(
                (b"\xff", b"\xed\xa0\x80", b"\x00", b"[" * 40, b'"', b"\\u0000", b"\\ud800")
            )
        content = content or bytearray(b"{")
    found = bytes(content)
    if chance.random() < 0.1:
        found = found.decode("latin-1").encode(chance.choice(("utf-16", "utf-32", "utf-8-sig", "cp500")))
    return _post(path, found)


def _kinds(chance: random.Random, _: int) -> Request:
    """Other types of content, methods and lengths than there are."""
    path, body = _body(chance)
    kind = chance.choice(
        ("text/plain", "", "application/xml", "multipart/form-data", "multipart/form-data; boundary=", "a/b",
         "application/x-www-form-urlencoded", "application/json; charset=utf-16", "APPLICATION/JSON", "text/json")
    )  # fmt: skip
    content = chance.choice((_json(body), b"", b"a=b&c=d", b"--x\r\n\r\n--x--", b"<a/>", b"%ff=%00"))
    return Request(chance.choice(("POST", "PUT", "PATCH", "DELETE", "GET")), path, content, {"Content-Type": kind})


def _deep(chance: random.Random, most: int) -> Request:
    """JSON that is nested without end."""
    path, body = _body(chance)
    depth = chance.choice((10, 31, 33, 100, 2_000, most // 12))
    opening, closing = chance.choice((("[", "]"), ('{"a":', "}")))
    nested = opening * depth + "1" + closing * (depth if chance.random() < 0.7 else 0)
    name = chance.choice([*body])
    return _post(path, _json(body)[:-1] + f', "{name}": {nested}}}'.encode())


def _long(chance: random.Random, most: int) -> Request:
    """Long strings and lists."""
    path, body = _body(chance)
    size = chance.choice((1_000, 2_001, most))
    body[chance.choice([*body])] = chance.choice(
        ("x" * size, ["x"] * (size // 8), {f"f{n}": "v" for n in range(size // 20)})
    )
    return _post(path, _json(body))


def _query(chance: random.Random, _: int) -> Request:
    """Parameters of an address."""
    path = chance.choice([*_QUERIES])
    values: dict[str, str] = dict(_QUERIES[path])
    for _ in range(chance.randint(1, 3)):
        values[chance.choice([*values, "unknown", "where", "score"])] = str(
            chance.choice((*_STRANGE, *map(str, _VALUES)))
        )
    joined = "&".join(f"{name}={quoted(value, chance)}" for name, value in values.items())
    return Request("GET", f"{path}?{joined}")


def _ids(chance: random.Random, _: int) -> Request:
    """Ids that lead elsewhere."""
    name = quoted(chance.choice(TRAVERSALS), chance)
    pattern = chance.choice(
        ("/api/v1/documents/{}", "/api/v1/documents/{}/original", "/api/v1/documents/{}/places?start=0&end=1",
         "/api/v1/jobs/{}", "/d/main/{}", "/d/{}/leaflet-gout", "/static/{}", "/sheet/main/1/{}", "/jobs/{}",
         "/api/v1/documents/leaflet-gout?index={}")
    )  # fmt: skip
    return Request(chance.choice(("GET", "GET", "GET", "DELETE")), pattern.format(name))


def quoted(value: str, chance: random.Random) -> str:
    """As it may stand in an address: quoted as a whole, or as far as it has to be."""
    keep = b"%" if chance.random() < 0.5 else b""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/" + keep
    raw = value.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in plain else f"%{byte:02x}" for byte in raw)


def faults(status: int, headers: dict[str, str], body: bytes, path: str) -> list[str]:
    """What is wrong with an answer to any of these.

    Args:
        status: Of the answer.
        headers: Likewise, by names in lower case.
        body: Likewise.
        path: That was asked.
    """
    problems = []
    if status >= 500 and status not in (501, 503, 507):
        problems.append(f"status {status}")
    text = body.decode("utf-8", "replace")
    problems += [f"gave out {secret!r}" for secret in OUTSIDE if secret in text]
    if "Traceback" in text or 'File "/' in text or "site-packages" in text:
        problems.append("a traceback")
    if "set-cookie" in headers and "stolen" in headers["set-cookie"]:
        problems.append("a header of the caller's")
    if status >= 400 and path.startswith("/api/"):
        try:
            error = json.loads(text)["error"]
            if {*error} != {"code", "message", "remedy", "request_id"} or not all(error.values()):
                problems.append("another shape of error")
        except (ValueError, KeyError, TypeError):
            problems.append("no error of the one shape")
    return problems
