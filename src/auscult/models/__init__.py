"""Models: lexical scorers, CDV, neural rankers, CAPR's architectures.

`load_model` opens what places passages and queries in one space, for an index; `load_scorer` opens what scores pairs.
Torch is imported only when one is opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.errors import ModelError, naming_extra
from auscult.interfaces import DocumentEncoder, Precision

if TYPE_CHECKING:
    from auscult.models.capr.scorer import CaprScorer
    from auscult.models.rankers.scorer import RankerScorer

SENTENCE_TRANSFORMER = "sentence-transformer"
"""The kind of a bare sentence-transformers folder, which has no `model.json`."""

_RANKER = "ranker"
_NEURAL = ("torch", "safetensors")
SHIPPED = {"default": "default"}


def load_model(name_or_path: str) -> DocumentEncoder:
    """Open a model.

    Args:
        name_or_path: "default" (the shipped model), or a model folder.

    Raises:
        ModelError: When there is no such model, or its folder is damaged.
        MissingExtraError: When the package it runs on is not installed.
    """
    folder = model_folder(name_or_path)
    kind = _kind(folder)
    if kind not in _LOADERS:
        raise ModelError(f"a model of kind {' or '.join(_LOADERS)}", f"{kind!r} in {folder}", "check the path")
    return _LOADERS[kind](folder)


def model_kind(name_or_path: str) -> str:
    """What a saved model is: "cdv", "ranker", "capr", or "sentence-transformer" for a bare folder of such a model.

    Raises:
        ModelError: There is no such model, or its folder is damaged.
    """
    return _kind(model_folder(name_or_path))


def is_ranker(name_or_path: str) -> bool:
    """Whether a saved model is a neural ranker that reads words.

    Raises:
        ModelError: There is no such model, or its folder is damaged.
    """
    return model_kind(name_or_path) == _RANKER


def is_scorer(name_or_path: str) -> bool:
    """Whether `load_scorer` opens a saved model, because it scores passages by itself.

    Raises:
        ModelError: There is no such model, or its folder is damaged.
    """
    return model_kind(name_or_path) in _SCORERS


def load_ranker(path: str) -> RankerScorer:
    """Open a neural ranker as a scorer.

    Raises:
        ModelError: There is none, or its folder is damaged.
        MissingExtraError: When the package it runs on is not installed.
    """
    return _load_ranker(model_folder(path))


def load_scorer(path: str, *, precision: Precision = "float32") -> RankerScorer | CaprScorer:
    """Open a neural ranker, an architecture of CAPR, or a sentence-transformers folder as a scorer.

    Args:
        path: The folder.
        precision: What transformers compute in (`CaprScorer`); a ranker has none, and is not touched by it.

    Raises:
        ModelError: There is none, or its folder is damaged.
        MissingExtraError: When the package it runs on is not installed.
    """
    folder = model_folder(path)
    kind = _kind(folder)
    if kind not in _SCORERS:
        raise ModelError(f"a model of kind {' or '.join(_SCORERS)}", f"{kind!r} in {folder}", "check the path")
    return _load_ranker(folder) if kind == _RANKER else _load_capr(folder, precision)


def model_folder(name_or_path: str) -> Path:
    """The folder of a shipped model, or the given path.

    Raises:
        ModelError: This installation lacks the shipped model.
    """
    if name_or_path not in SHIPPED:
        return Path(name_or_path)
    folder = Path(str(files("auscult.models") / "pretrained" / SHIPPED[name_or_path]))
    if not folder.is_dir():
        remedy = "reinstall auscult, or give a model folder"
        raise ModelError(f"the shipped model '{name_or_path}'", "an installation without it", remedy)
    return folder


def training_record(folder: Path) -> dict[str, object]:
    """What a model folder says about its training: track, data, seed, hardware, date; empty when it says nothing.

    Raises:
        ModelError: The folder holds no readable model.
    """
    record = _settings(folder).get("training")
    return dict(record) if isinstance(record, dict) else {}


def _kind(folder: Path) -> str:
    return str(_settings(folder).get("kind"))


def _settings(folder: Path) -> dict[str, object]:
    described = folder / "model.json"
    if not described.is_file():
        if (folder / "modules.json").is_file():
            return {"kind": SENTENCE_TRANSFORMER}
        names = ", ".join(repr(name) for name in SHIPPED)
        remedy = "give the folder that 'auscult train' wrote, or a shipped name"
        raise ModelError(f"{names} or a folder with a model.json", repr(str(folder)), remedy)
    try:
        settings = json.loads(described.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError("a readable model.json", f"{described} ({error})", "copy the model again") from error
    if not isinstance(settings, dict):
        raise ModelError("a readable model.json", f"{described} without fields", "copy the model again")
    return settings


def _load_cdv(folder: Path) -> DocumentEncoder:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.cdv.persistence import load
    return load(folder)


def _load_ranker(folder: Path) -> RankerScorer:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.rankers.persistence import load
    return load(folder)


def _load_bi(folder: Path) -> DocumentEncoder:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.capr.opening import open_encoder
    return open_encoder(folder)


def _load_capr(folder: Path, precision: Precision) -> CaprScorer:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.capr.opening import open_scorer
    return open_scorer(folder, precision=precision)


_LOADERS: dict[str, Callable[[Path], DocumentEncoder]] = {
    "cdv": _load_cdv,
    "capr": _load_bi,
    SENTENCE_TRANSFORMER: _load_bi,
}
_SCORERS = (_RANKER, "capr", SENTENCE_TRANSFORMER)
