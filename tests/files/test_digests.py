"""Digests are those that other tools give."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from auscult.files.reading import digest_of_file, digest_of_files, digest_of_unpacked

CONTENT = bytes(range(256)) * 10_000


def test_files_are_digested_as_stored_or_unpacked(tmp_path: Path):
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(CONTENT)
    packed.write_bytes(gzip.compress(CONTENT))
    assert digest_of_file(plain) == digest_of_unpacked(packed) == hashlib.sha256(CONTENT).hexdigest()
    assert digest_of_file(packed) == hashlib.sha256(packed.read_bytes()).hexdigest()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(EOFError):
        digest_of_unpacked(packed)
    with pytest.raises(OSError, match="Not a gzipped file"):
        digest_of_unpacked(plain)


def test_digests_depend_on_names_bytes_and_order(tmp_path: Path):
    (tmp_path / "in").mkdir()
    one, two = tmp_path / "one", tmp_path / "in" / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    by_hand = hashlib.sha256(b"one" + hashlib.sha256(b"1").digest() + b"in/two" + hashlib.sha256(b"2").digest())
    assert digest_of_files([one, two], tmp_path) == by_hand.hexdigest()
    assert digest_of_files([two, one], tmp_path) != by_hand.hexdigest()
    one.rename(tmp_path / "uno")
    assert digest_of_files([tmp_path / "uno", two], tmp_path) != by_hand.hexdigest()
    with pytest.raises(FileNotFoundError) as caught:
        digest_of_files([one], tmp_path)
    assert caught.value.filename == str(one)
