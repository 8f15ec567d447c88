"""A service in a process of its own: its start, changes while it is asked, and its end."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from auscult.encoders import load_model
from auscult.ingest.updating import update_index
from command import Command
from leaflets import generated
from served_index import running, wait_until

EVERYWHERE = "0.0.0.0"  # noqa: S104


def search(url: str, question: str = "How is gout treated?") -> dict[str, Any]:
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(f"{url}/api/v1/search", body, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        assert answer.status == 200
        found: dict[str, Any] = json.load(answer)
        return found


def test_a_service_starts_answers_and_ends_well(fast_index: Path) -> None:
    with running(fast_index, "--no-page") as service:
        assert search(service.url)["hits"][0]["doc_id"] == "leaflet-gout"
        stop, failed = threading.Event(), []

        def ask() -> int:
            number = 0
            while not stop.is_set():
                try:
                    search(service.url)
                    number += 1
                except Exception as error:
                    failed.append(repr(error))
            return number

        with ThreadPoolExecutor(3) as pool:
            asking = [pool.submit(ask) for _ in range(3)]
            # Another generation, by another process.
            update_index({"x": generated(20, prefix="new")}, load_model("fast"), fast_index)
            wait_until(lambda: search(service.url, "topic 3")["hits"][0]["doc_id"].startswith("new"))
            stop.set()
        assert failed == []
        assert all(each.result() for each in asking)
        service.process.send_signal(signal.SIGTERM)
        out, err = service.process.communicate(timeout=30)
        assert (service.process.returncode, out, err) == (0, "", "")


def test_https_is_served_with_the_given_certificate_only(fast_index: Path, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ward")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, secret = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with running(fast_index, "--no-page", "--certificate", str(chain), "--certificate-key", str(secret)) as service:
        assert service.url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(chain))
        with urllib.request.urlopen(f"{service.url}/api/v1/health", timeout=30, context=trusting) as answer:  # noqa: S310
            assert answer.status == 200
        # Who does not know the certificate does not ask, and plain HTTP is not answered.
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(f"{service.url}/api/v1/ready", timeout=30)  # noqa: S310
        with pytest.raises((OSError, http.client.HTTPException)):
            urllib.request.urlopen(f"{service.url.replace('https', 'http')}/api/v1/ready", timeout=30)  # noqa: S310


def test_requests_in_progress_are_answered_before_shutdown(fast_index: Path) -> None:
    with running(fast_index, "--no-page") as service:
        search(service.url)
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            body = json.dumps({"question": "How is gout treated?", "k": 100}).encode()
            head = f"POST /api/v1/search HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-1])
            time.sleep(0.3)
            service.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(body[-1:])
            connection.settimeout(30)
            assert connection.recv(12) == b"HTTP/1.1 200"
        assert service.process.wait(30) == 0


def test_startup_problems_are_reported_in_one_sentence(fast_index: Path, tmp_path: Path) -> None:
    def serve(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "auscult.cli.main", "serve", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stderr

    code, message = serve(str(tmp_path / "none"))
    assert (code, "expected an index at" in message) == (2, True)
    code, message = serve(str(fast_index), "--host", EVERYWHERE)
    assert (code, "expected keys, to listen at 0.0.0.0" in message) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, message = serve(str(fast_index), "--port", str(taken.getsockname()[1]))
    assert (code, "expected an address to listen at" in message) == (2, True)


def test_help_has_an_example(monkeypatch: Any, capfd: Any) -> None:
    for name in ("serve", "feedback"):
        done = Command(monkeypatch, capfd)(name, "--help")
        assert (done.code, f"Example: auscult {name}" in " ".join(done.out.split())) == (0, True)
