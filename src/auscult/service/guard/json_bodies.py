"""Bodies of JSON that would make a reader stumble: nested without end, or with what JSON has no numbers for."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from auscult.service.errors import Refusal

DEEPEST: Final = 32
_STRINGS: Final = re.compile(rb'"(?:[^"\\]+|\\.)*+"', re.DOTALL)
_OPENING, _CLOSING = (np.frombuffer(each, np.uint8) for each in (b"[{", b"]}"))
_NO_NUMBERS: Final = re.compile(rb"NaN|Infinity")


def json_refusal(body: bytes) -> Refusal | None:
    """What is wrong with a body of JSON before it is read; None where nothing is, as far as can be seen."""
    bare = _STRINGS.sub(b"", body)
    letters = np.frombuffer(bare, np.uint8)
    steps = np.isin(letters, _OPENING).astype(np.int32) - np.isin(letters, _CLOSING)
    if len(steps) and int(np.cumsum(steps).max()) > DEEPEST:
        return _refusal(f"JSON nested {DEEPEST} deep at most", "deeper")
    if _NO_NUMBERS.search(bare):
        return _refusal("JSON, whose numbers are finite", "NaN or Infinity")
    return None


def _refusal(expected: str, got: str) -> Refusal:
    return Refusal(400, "bad_json", f"expected {expected}, got {got}", "send JSON as /openapi.json describes it")
