"""Files are unpacked by what they hold, or by what they are called."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from auscult.files.reading import open_as_named, open_unpacked, packing

TEXT = "Ménière's disease\n".encode()


@pytest.mark.parametrize("name", ["file", "file.gz", "file.bz2", "file.txt"])
def test_gzip_is_recognised_by_content_whatever_the_name(name: str, tmp_path: Path):
    path = tmp_path / name
    for content in (TEXT, gzip.compress(TEXT)):
        path.write_bytes(content)
        with open_unpacked(path) as opened:
            assert opened.read() == TEXT


@pytest.mark.parametrize("content", [b"", b"\x1f", b"BZ"])
def test_files_too_short_to_be_packed_are_plain(content: bytes, tmp_path: Path):
    (tmp_path / "file").write_bytes(content)
    with open_unpacked(tmp_path / "file", bzip2=True) as opened:
        assert opened.read() == content


def test_bzip2_is_unpacked_where_it_is_asked_for(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(bz2.compress(TEXT))
    with open_unpacked(path, bzip2=True) as opened:
        assert opened.read() == TEXT
    path.write_bytes(b"BZhz, a gene")
    with open_unpacked(path) as opened:
        assert opened.read() == b"BZhz, a gene"


def test_names_say_what_is_unpacked(tmp_path: Path):
    contents = {"a.gz": gzip.compress(TEXT), "a.bz2": bz2.compress(TEXT), "a": TEXT, "b.txt": gzip.compress(TEXT)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with open_as_named(tmp_path / name) as opened:
            assert opened.read() == (content if name == "b.txt" else TEXT)
    (tmp_path / "a.gz").write_bytes(TEXT)
    with open_as_named(tmp_path / "a.gz") as opened, pytest.raises(gzip.BadGzipFile):
        opened.read()


def test_missing_files_raise_file_not_found(tmp_path: Path):
    for opener in (open_unpacked, open_as_named):
        with pytest.raises(FileNotFoundError):
            opener(tmp_path / "none.gz")


def test_equal_content_gives_equal_gzip_files(tmp_path: Path):
    for name in ("one", "two"):
        with packing(tmp_path / name) as packed:
            packed.write(TEXT)
    one = (tmp_path / "one").read_bytes()
    assert one == (tmp_path / "two").read_bytes()
    assert gzip.decompress(one) == TEXT
    # Neither a name's flag nor a time.
    assert one[3:8] == bytes(5)
