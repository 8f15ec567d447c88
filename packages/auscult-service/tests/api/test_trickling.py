"""A served index while others send slowly, read slowly, or send nothing."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from auscult.documents import Original
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult_service.access.keys import new_key
from auscult_service.settings import ServiceLimits
from guarded_service import make_keys
from leaflets import leaflets
from served_index import Running, running, wait_until
from tricklers import BEGIN, FRAMINGS, trickling, upload_head

NOTE = {"files": ("note.md", b"# Scabies\n\n## Treatment\n\nPermethrin cream cures scabies.\n", "text/markdown")}


def client(service: Running, key: str = "") -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=f"{service.url}/api/v1/", headers=headers, timeout=60)


def wired(service: Running, sent: bytes) -> socket.socket:
    """A connection on which something was sent."""
    place = urlsplit(service.url)
    wire = socket.create_connection((str(place.hostname), place.port or 80), timeout=60)
    wire.sendall(sent)
    return wire


def answered(wire: socket.socket, every: float = 0.0) -> bytes:
    """All that comes until the service ends the connection; meanwhile a byte is sent every so often."""
    content = b""
    wire.settimeout(every or 60)
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        try:
            piece = wire.recv(65_536)
        except TimeoutError:
            if not every:
                raise
            wire.sendall(b"x")
            continue
        except ConnectionError:
            return content
        content += piece
        if not piece:
            return content
    raise AssertionError("the connection does not end")


@pytest.mark.slow
def test_uploads_that_trickle_hold_up_nobody_else(fast_index: Path, tmp_path: Path) -> None:
    keys: Mapping[str, str] = {**make_keys(tmp_path / "keys.json"), "none": "", "wrong": new_key()}
    # No trickling upload is given up for its slowness here: each holds what it can.
    options = ("--no-page", "--keys", str(tmp_path / "keys.json"), "--set", "limits.patience=600")
    with running(fast_index, *options) as service, client(service, keys["ben"]) as other:
        for role in ("none", "wrong", "read", "write", "admin"):
            heads = [upload_head(keys[role], FRAMINGS[number % 3]) for number in range(4)]
            with trickling(service.url, heads, pause=0.5) as tricklers:
                assert other.post("documents", files=NOTE).status_code == 202
                assert other.post("search", json={"question": "How is gout treated?"}).json()["hits"]
                # The test can fail: those who may upload are still at it.
                assert tricklers.sending >= (4 if role in ("write", "admin") else 0), role
                if role not in ("write", "admin"):
                    wait_until(lambda each=tricklers: sum(each.statuses.values()) >= 4)
                    # More than 60 wrong keys a minute are answered with 429.
                    assert set(tricklers.statuses) <= ({403} if role == "read" else {401, 429}), tricklers.statuses


@pytest.mark.slow
def test_connections_that_trickle_are_closed(fast_index: Path, tmp_path: Path) -> None:
    options = ("--set", "limits.patience=1", "--set", "limits.body_seconds=1")
    keys = make_keys(tmp_path / "keys.json")
    health = b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head = f"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {keys['write']}\r\n".encode()
    with running(fast_index, "--no-page", "--keys", str(tmp_path / "keys.json"), *options) as service:
        for what, sent, status in (
            ("an upload", upload_head(keys["write"]) + BEGIN, b" 408 "),
            ("a refused upload", upload_head(keys["read"]) + BEGIN, b" 403 "),
            ("an upload of a stranger", upload_head() + BEGIN, b" 401 "),
            ("a form of files to the login", upload_head(path="/login") + BEGIN, b" 408 "),
            ("a question", head + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", b" 408 "),
            ("a probe with a body", health + b"Content-Length: 100\r\n\r\n", b" 200 "),
            ("headers", health + b"X-Slow: ", b""),
            ("nothing", b"", b""),
            ("headers after an answer", health + b"\r\nGET /", b" 200 "),
        ):
            with wired(service, sent) as wire:
                assert status in answered(wire, every=0.3).split(b"\r\n")[0], what
        with client(service, keys["write"]) as quick:
            assert quick.post("documents", files=NOTE).status_code == 202


@pytest.mark.slow
def test_an_upload_without_pauses_still_times_out(fast_index: Path) -> None:
    with running(fast_index, "--no-page", "--set", "limits.upload_seconds=2") as service:
        with wired(service, upload_head(framing="Content-Length: 200000000") + BEGIN) as wire:
            sent = 0
            wire.settimeout(0.01)
            while True:
                try:
                    if wire.recv(65_536).startswith(b"HTTP/1.1 408"):
                        break
                except TimeoutError:
                    sent += wire.send(bytes(1000))
        assert sent > 2 * ServiceLimits().least_rate


@pytest.mark.slow
def test_responses_read_too_slowly_are_cut_off(tmp_path: Path) -> None:
    long = bytes(30_000_000)
    document = replace(leaflets()[0], original=Original(name="long.bin", media_type="text/plain", content=long))
    build_index([document], load_model("fast"), tmp_path / "long", model_path="fast")
    path = f"/api/v1/documents/{document.doc_id}/original"
    with running(tmp_path / "long", "--no-page", "--set", "limits.patience=2") as service:
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()
        with wired(service, request + b"\r\n") as slow:
            for _ in range(30):
                slow.recv(500)
                time.sleep(0.2)
            # What the system had taken already still comes.
            assert len(answered(slow)) < len(long) / 2
        # Whoever reads on gets all of it, pauses or not.
        with wired(service, request + b"Connection: close\r\n\r\n") as steady:
            time.sleep(0.5)
            assert len(answered(steady)) > len(long)
