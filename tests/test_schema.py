"""Records made from other records."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from auscult.schema import Removed, SkippedFile, select_fields


@dataclass(frozen=True)
class Upload:
    name: str
    reason: str
    kind: str = "empty file"
    size: int = 3


def test_a_record_takes_fields_of_the_same_name() -> None:
    assert select_fields(SkippedFile, Upload("a.pdf", "empty")) == SkippedFile(
        name="a.pdf", reason="empty", kind="empty file"
    )


def test_a_given_field_replaces_that_of_the_source() -> None:
    made = select_fields(SkippedFile, Upload("a.pdf", "empty"), reason="damaged")
    assert made == SkippedFile(name="a.pdf", reason="damaged", kind="empty file")


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(AttributeError, match="doc_id"):
        select_fields(Removed, Upload("a.pdf", "empty"))
    with pytest.raises(TypeError, match="size"):
        select_fields(SkippedFile, Upload("a.pdf", "empty"), size=4)
