"""Opening the lab's saved models. Torch is imported when one is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from auscult.encoders import load_scorer as load_scorer_of_kind
from auscult.encoders import model_folder
from auscult.encoders.contract import DocumentEncoder, Precision
from auscult.telemetry import naming_extra

if TYPE_CHECKING:
    from auscult_lab.encoders.scorer import CaprScorer
    from auscult_lab.rankers.scorer import RankerScorer

_EXTRA: Final = "lab"
_PACKAGES: Final = ("torch", "safetensors")


def open_cdv(folder: Path) -> DocumentEncoder:
    """Open a CDV model."""
    with naming_extra(_EXTRA, *_PACKAGES):
        from auscult_lab.cdv.persistence import load
    return load(folder)


def open_ranker(folder: Path, _: Precision = "float32") -> RankerScorer:
    """Open a neural ranker of words, which has no precision."""
    with naming_extra(_EXTRA, *_PACKAGES):
        from auscult_lab.rankers.scorer import load
    return load(folder)


def open_bi_encoder(folder: Path) -> DocumentEncoder:
    """Open a bi-encoder of CAPR, or a sentence encoder."""
    with naming_extra(_EXTRA, *_PACKAGES):
        from auscult_lab.encoders.persistence import open_encoder
    return open_encoder(folder)


def open_architecture(folder: Path, precision: Precision) -> CaprScorer:
    """Open an architecture of CAPR, or a sentence encoder, as a scorer."""
    with naming_extra(_EXTRA, *_PACKAGES):
        from auscult_lab.encoders.persistence import open_scorer
    return open_scorer(folder, precision=precision)


def load_ranker(name_or_path: str) -> RankerScorer:
    """Open a neural ranker of words.

    Raises:
        ModelError: There is none, or its folder is damaged.
        MissingExtraError: A package that it needs is not installed.
    """
    return open_ranker(model_folder(name_or_path))


def load_scorer(name_or_path: str, *, precision: Precision = "float32") -> RankerScorer | CaprScorer:
    """Open one of the lab's scorers; see `auscult.encoders.load_scorer`."""
    return cast("RankerScorer | CaprScorer", load_scorer_of_kind(name_or_path, precision=precision))
