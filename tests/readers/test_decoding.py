from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.readers.decoding import decode_text


@pytest.mark.parametrize(
    ("content", "declared", "encoding"),
    [
        ("é".encode(), "", "utf-8"),
        ("é".encode("cp1252"), "", "cp1252"),
        ("é".encode("cp1252"), "utf-8", "cp1252"),
        ("é".encode("cp1252"), "Latin-1", "cp1252"),
        ("é".encode("iso-8859-15"), "iso-8859-15", "iso8859-15"),
        ("é".encode(), "unicode_escape", "utf-8"),
        ("é".encode(), "no-such", "utf-8"),
        ("\ufeffé".encode(), "cp1252", "utf-8-sig"),
        ("\ufeffé".encode("utf-16-be"), "", "utf-16"),
        ("\ufeffé".encode("utf-32-le"), "", "utf-32"),
    ],
)
def test_byte_order_marks_win_over_declarations_then_guesses(content: bytes, declared: str, encoding: str) -> None:
    assert decode_text(content, declared)[:2] == ("é", encoding)


@given(st.binary(max_size=40), st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "big5", "cp1252", "ascii"]))
def test_the_returned_encoding_decodes_the_content_again(content: bytes, declared: str) -> None:
    text, encoding, _ = decode_text(content, declared)
    assert content.decode(encoding, "replace") == text
