"""Downloads over a real connection: progress, resume, checksums, and errors in one sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult_lab.corpora.download import download
from file_server import FileServer, serving

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving({"/file": CONTENT}) as running:
        yield running


def test_progress_reaches_the_total_leaving_only_the_file(server: FileServer, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "new" / "file"
    assert download(f"{server.url}/file", target, sha256=SHA256, progress=lambda *told: seen.append(told)) == (target)
    assert target.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert list(target.parent.iterdir()) == [target]


def test_a_broken_transfer_is_resumed_where_it_stopped(server: FileServer, tmp_path: Path) -> None:
    server.cuts = [100_000]
    download(f"{server.url}/file", tmp_path / "file", sha256=SHA256, pause=0)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.requests == [("/file", ""), ("/file", "bytes=100000-")]


def test_next_call_resumes_after_all_attempts_failed(server: FileServer, tmp_path: Path) -> None:
    server.cuts = [70_000, 30_000]
    with pytest.raises(CorpusMissingError, match=r"only 100000 of 512000 bytes; .*goes on where it stopped"):
        download(f"{server.url}/file", tmp_path / "file", attempts=2, pause=0)
    assert not (tmp_path / "file").exists()
    assert (tmp_path / "file.part").read_bytes() == CONTENT[:100_000]
    download(f"{server.url}/file", tmp_path / "file", sha256=SHA256)
    assert server.requests[-1] == ("/file", "bytes=100000-")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_without_ranges_starts_over(server: FileServer, tmp_path: Path) -> None:
    server.ranges = False
    server.cuts = [100_000]
    download(f"{server.url}/file", tmp_path / "file", sha256=SHA256, pause=0)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_is_already_whole_is_taken(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT)
    download(f"{server.url}/file", tmp_path / "file", sha256=SHA256)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_overlong_partial_file_is_discarded(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    download(f"{server.url}/file", tmp_path / "file", sha256=SHA256, pause=0)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_wrong_checksum_is_refused_without_leaving_files(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="with SHA-256 000000000000"):
        download(f"{server.url}/file", tmp_path / "file", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_request_to_a_busy_server_is_repeated(server: FileServer, tmp_path: Path) -> None:
    server.statuses = [503, 429]
    download(f"{server.url}/file", tmp_path / "file", sha256=SHA256, pause=0)
    assert len(server.requests) == 3


def test_not_found_is_one_sentence_and_never_retried(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError) as caught:
        download(f"{server.url}/absent", tmp_path / "file")
    assert str(caught.value) == (
        f"expected a file at {server.url}/absent, got HTTP 404 Not Found; check the address, or get the file elsewhere"
    )
    assert len(server.requests) == 1


def test_a_refused_connection_is_one_sentence(tmp_path: Path) -> None:
    with serving({}) as gone:
        url = gone.url
    with pytest.raises(CorpusMissingError, match="no whole answer"):
        download(f"{url}/file", tmp_path / "file", attempts=2, pause=0)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://example.org/file", "file"])
def test_other_addresses_than_http_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="an http or https address"):
        download(url, tmp_path / "file")
