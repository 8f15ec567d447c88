"""Every kind of saved model: what it is, and what opens it. A new kind is added here; everything else asks.

`load_model` opens what places passages and queries in one space, for an index; `load_scorer` opens what scores pairs.
What opens a model is imported when one is opened, and torch with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.errors import ModelError, naming_extra
from auscult.interfaces import DocumentEncoder, Precision
from auscult.models.folder import RERANKER, SENTENCE_TRANSFORMER, model_folder, read_settings

if TYPE_CHECKING:
    from auscult.models.encoders.scorer import CaprScorer
    from auscult.models.general.reranker import Reranker
    from auscult.models.rankers.scorer import RankerScorer

_NEURAL = ("torch", "safetensors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a saved model is.

    Attributes:
        name: In its `model.json`.
        encoder: Opens it as what an index is made with; None for what makes no vectors. Of CAPR's architectures, only
            a bi-encoder does, which is known when it is opened.
        scorer: Opens it as what scores passages by itself, its transformers computing in a precision; None for what
            is evaluated by its vectors.
        reads_words: Whether it is a ranker that reads words: it has no transformer, and no precision.
        told: Whether its folder says what it was trained on.
    """

    name: str
    encoder: Callable[[Path], DocumentEncoder] | None = None
    scorer: Callable[[Path, Precision], RankerScorer | CaprScorer] | None = None
    reads_words: bool = False
    told: bool = True


def _cdv(folder: Path) -> DocumentEncoder:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.cdv.persistence import load
    return load(folder)


def _ranker(folder: Path, _: Precision = "float32") -> RankerScorer:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.rankers.persistence import load
    return load(folder)


def _bi(folder: Path) -> DocumentEncoder:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.encoders.opening import open_encoder
    return open_encoder(folder)


def _general(folder: Path) -> DocumentEncoder:
    from auscult.models.general.persistence import load

    return load(folder)


def _capr(folder: Path, precision: Precision) -> CaprScorer:
    with naming_extra("neural", *_NEURAL):
        from auscult.models.encoders.opening import open_scorer
    return open_scorer(folder, precision=precision)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(name="general", encoder=_general),
        # Reads the first hits of a search: `load_reranker`.
        Kind(name="reranker"),
        Kind(name="cdv", encoder=_cdv),
        Kind(name="ranker", scorer=_ranker, reads_words=True),
        Kind(name="capr", encoder=_bi, scorer=_capr),
        Kind(name=SENTENCE_TRANSFORMER, encoder=_bi, scorer=_capr, told=False),
        # An encoder that has read documents and not learned to search them: a backbone.
        Kind(name="mlm"),
    )
}


def kind_of(name_or_path: str) -> Kind:
    """What a saved model is.

    Raises:
        ModelError: There is no such model, its folder is damaged, or it is of a kind that there is not.
    """
    folder = model_folder(name_or_path)
    name = str(read_settings(folder).get("kind"))
    if name not in KINDS:
        raise ModelError(f"a model of kind {' or '.join(KINDS)}", f"{name!r} in {folder}", "check the path")
    return KINDS[name]


def load_model(name_or_path: str) -> DocumentEncoder:
    """Open a model that places passages and queries in one space.

    Args:
        name_or_path: "cdv" (the shipped model), or a model folder.

    Raises:
        ModelError: When there is no such model, it makes no vectors, or its folder is damaged.
        MissingExtraError: When the package it runs on is not installed.
    """
    kind, folder = kind_of(name_or_path), model_folder(name_or_path)
    if kind.encoder is None:
        able = " or ".join(each.name for each in KINDS.values() if each.encoder is not None)
        raise ModelError(f"a model of kind {able}", f"{kind.name!r} in {folder}", "check the path")
    return kind.encoder(folder)


def load_scorer(name_or_path: str, *, precision: Precision = "float32") -> RankerScorer | CaprScorer:
    """Open a model that scores passages by itself.

    Args:
        name_or_path: The folder of a neural ranker, of an architecture of CAPR, or of sentence-transformers.
        precision: What transformers compute in (`CaprScorer`); a ranker has none, and is not touched by it.

    Raises:
        ModelError: There is none, or its folder is damaged.
        MissingExtraError: When the package it runs on is not installed.
    """
    kind, folder = kind_of(name_or_path), model_folder(name_or_path)
    if kind.scorer is None:
        able = " or ".join(each.name for each in KINDS.values() if each.scorer is not None)
        raise ModelError(f"a model of kind {able}", f"{kind.name!r} in {folder}", "check the path")
    return kind.scorer(folder, precision)


def load_ranker(name_or_path: str) -> RankerScorer:
    """Open a neural ranker that reads words.

    Raises:
        ModelError: There is none, or its folder is damaged.
        MissingExtraError: When the package it runs on is not installed.
    """
    return _ranker(model_folder(name_or_path))


def load_reranker(name_or_path: str = RERANKER) -> Reranker:
    """Open what reads the first hits of a search once more, with the question.

    Args:
        name_or_path: A re-ranker's folder; the shipped one by default.

    Raises:
        ModelError: There is none, or its folder is damaged.
    """
    from auscult.models.general.reranker import load

    return load(model_folder(name_or_path))
