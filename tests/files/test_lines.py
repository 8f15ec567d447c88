"""Lines are read one by one, and what cannot be read is named by file and line."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.errors import DataError
from auscult.files.reading import NotUtf8Error, read_lines
from needs import Needs

PACKINGS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("ending", PACKINGS)
def test_lines_are_numbered_without_endings_and_bom(ending: str, tmp_path: Path):
    path = tmp_path / f"file{ending}"
    path.write_bytes(PACKINGS[ending]("\ufeffone\r\n\n\ufeffthree\u2028\x0b and more\nlast".encode()))
    assert list(read_lines(path)) == [(1, "one"), (2, ""), (3, "\ufeffthree\u2028\x0b and more"), (4, "last")]
    path.write_bytes(PACKINGS[ending](b""))
    assert list(read_lines(path)) == []


@pytest.mark.parametrize("ending", PACKINGS)
def test_lines_before_a_non_utf8_line_are_read(ending: str, tmp_path: Path):
    path = tmp_path / f"file{ending}"
    path.write_bytes(PACKINGS[ending](b"one\ntwo\ncaf\xe9\nfour\n"))
    lines = read_lines(path)
    assert [next(lines), next(lines)] == [(1, "one"), (2, "two")]
    with pytest.raises(NotUtf8Error, match=f"UTF-8 text at {path}:3, got the byte 0xe9; save the file") as caught:
        next(lines)
    assert (caught.value.line, caught.value.byte, caught.value.position) == (3, 0xE9, 3)


@pytest.mark.parametrize("ending", [".gz", ".bz2"])
def test_a_damaged_file_is_named(ending: str, tmp_path: Path):
    path = tmp_path / f"file{ending}"
    whole = PACKINGS[ending](b"".join(b"%d\n" % number for number in range(100_000)))
    for damaged in (whole[: len(whole) // 2], b"plain text\n", whole[:1000] + bytes(1000) + whole[2000:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=rf"a whole compressed file at {path}, got damage behind line \d+: ."):
            list(read_lines(path))


def test_missing_files_and_folders_are_named_with_remedy(tmp_path: Path):
    with pytest.raises(DataError, match=r"none, got No such file or directory; check the path"):
        list(read_lines(tmp_path / "none"))
    with pytest.raises(DataError, match=r"Is a directory; name a file in it"):
        list(read_lines(tmp_path))


def test_unreadable_files_are_named_with_a_remedy(tmp_path: Path, needs: Needs):
    needs.file_modes()
    (tmp_path / "closed").touch(mode=0)
    with pytest.raises(DataError, match=r"closed, got Permission denied; correct its permissions"):
        list(read_lines(tmp_path / "closed"))
