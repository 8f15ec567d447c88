"""Signs of vectors: products that are estimated from them are near, and those of an index without them exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auscult.encoders.contract import FloatArray
from auscult.index.blocks import BlockFile, BlockWriter
from auscult.index.codes import CodeWriter, add_products

CHANCE = np.random.default_rng(0)


def estimated(
    folder: Path, vectors: FloatArray, columns: tuple[int, int], query: FloatArray, part: float
) -> FloatArray:
    file = BlockWriter(folder / "segment")
    codes = CodeWriter()
    for first in range(0, len(vectors), 7_000):
        codes.add(vectors[first : first + 7_000])
    codes.write(file)
    found = np.zeros(len(vectors), np.float32)
    add_products(found, BlockFile(folder / "segment", file.close({})), columns, query, part)
    return found


@pytest.mark.parametrize("columns", [(0, 384), (40, 300), (320, 384)])
def test_products_of_any_columns_are_about_right(tmp_path: Path, columns: tuple[int, int]) -> None:
    # Of lengths from 1 to 3, more rows than are counted at a time.
    vectors = CHANCE.standard_normal((20_000, 384), np.float32) + CHANCE.standard_normal(384, np.float32) / 2
    vectors *= np.linspace(1, 3, 20_000, dtype=np.float32)[:, None] / np.linalg.norm(vectors, axis=1, keepdims=True)
    width = columns[1] - columns[0]
    query = vectors[7, slice(*columns)] + CHANCE.standard_normal(width, np.float32) / 40
    exact = vectors[:, slice(*columns)] @ query
    estimates = estimated(tmp_path, vectors, columns, query, float(np.sqrt(width / 384)))
    # Of vectors without any structure it is the square root of 2 / pi, .80.
    assert np.corrcoef(estimates, exact)[0, 1] > 0.75
    assert np.argmax(estimates[:100]) == 7
    assert np.polyfit(exact, estimates, 1)[0] == pytest.approx(1, abs=0.2)


def test_what_has_no_length_has_no_product(tmp_path: Path) -> None:
    vectors = np.zeros((3, 64), np.float32)
    vectors[1] = 1 / 8
    assert estimated(tmp_path, vectors, (0, 64), vectors[1], 1.0)[[0, 2]].tolist() == [0, 0]
