"""Register the kinds of saved models, and open models of any kind.

The general encoder and the re-ranker are built in; other kinds are entry points of the group `auscult.models`.
`load_model` opens models that encode passages and queries for an index; `load_scorer` opens models that score pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from auscult.encoders.contract import DocumentEncoder, Precision, Scorer
from auscult.encoders.folder import RERANKER, model_folder, read_settings
from auscult.errors import ModelError
from auscult.extensions import entries, load

if TYPE_CHECKING:
    from auscult.documents.document import Document, Passage
    from auscult.encoders.reranker import Reranker
    from auscult.understanding.query import Query


class View(Protocol):
    """Function that shows how a model reads a passage, in the terminal, as JSON or as a picture."""

    def __call__(
        self,
        model: Path,
        query: Query,
        document: Document,
        passage: Passage,
        *,
        layers: str,
        figure: Path | None,
        as_json: bool,
    ) -> None:
        """Print how the model reads the passage, and draw it if `figure` names a file.

        Args:
            model: Folder of the model.
            query: Entity and aspects, or a question in words.
            document: The document of the passage.
            passage: The passage.
            layers: "last" or "mean", or empty for the default; an error for a model without a choice of layers.
            figure: File of a picture to draw; None for none.
            as_json: Whether to print one JSON object.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of saved model.

    Attributes:
        name: The `kind` in `model.json`.
        encoder: Function that opens the model to encode an index; None for a model without vectors. Of CAPR's
            architectures only a bi-encoder has vectors, which is checked when it is opened.
        scorer: Function that opens the model to score passages, with its transformers at a precision; None for a model
            that is evaluated by its vectors.
        view: Function that shows how the model reads a passage; None for a model without such a view.
        reads_words: Whether the model is a ranker of words, without transformer and precision.
        told: Whether the model's folder has a training record.
    """

    name: str
    encoder: Callable[[Path], DocumentEncoder] | None = None
    scorer: Callable[[Path, Precision], Scorer] | None = None
    view: View | None = None
    reads_words: bool = False
    told: bool = True


def _open_general(folder: Path) -> DocumentEncoder:
    from auscult.encoders.general.persistence import load as load_general

    return load_general(folder)


BUILT_IN: Final[Mapping[str, Kind]] = {
    "general": Kind(name="general", encoder=_open_general),
    "reranker": Kind(name="reranker"),
}
_GROUP: Final = "auscult.models"


def kinds() -> Mapping[str, Kind]:
    """Return every kind of model by name, including those of all extensions."""
    return {**BUILT_IN, **{name: load(_GROUP, name) for name in entries(_GROUP)}}


def kind_of(name_or_path: str) -> Kind:
    """Return the kind of a saved model.

    Raises:
        ModelError: There is no such model, its folder is damaged, or no installed package provides its kind.
    """
    folder = model_folder(name_or_path)
    name = str(read_settings(folder).get("kind"))
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name not in entries(_GROUP):
        known = " or ".join([*BUILT_IN, *entries(_GROUP)])
        raise ModelError(f"a model of kind {known}", f"{name!r} in {folder}", "check the path")
    kind: Kind = load(_GROUP, name)
    return kind


def load_model(name_or_path: str) -> DocumentEncoder:
    """Open a model that encodes passages and queries in one space.

    Args:
        name_or_path: The name of a shipped model ("fast", "best", "multilingual", "cdv"), or a model folder.

    Raises:
        ModelError: There is no such model, it has no vectors, or its folder is damaged.
        MissingExtraError: A package that it needs is not installed.
    """
    kind, folder = kind_of(name_or_path), model_folder(name_or_path)
    if kind.encoder is None:
        able = " or ".join(name for name, each in kinds().items() if each.encoder is not None)
        raise ModelError(f"a model of kind {able}", f"{kind.name!r} in {folder}", "check the path")
    return kind.encoder(folder)


def load_scorer(name_or_path: str, *, precision: Precision = "float32") -> Scorer:
    """Open a model that scores passages itself.

    Args:
        name_or_path: The folder of a neural ranker, of an architecture of CAPR, or of sentence-transformers.
        precision: Precision of the model's transformers; a ranker of words has none and ignores it.

    Raises:
        ModelError: There is no such model, or its folder is damaged.
        MissingExtraError: A package that it needs is not installed.
    """
    kind, folder = kind_of(name_or_path), model_folder(name_or_path)
    if kind.scorer is None:
        able = " or ".join(name for name, each in kinds().items() if each.scorer is not None)
        raise ModelError(f"a model of kind {able}", f"{kind.name!r} in {folder}", "check the path")
    return kind.scorer(folder, precision)


def load_reranker(name_or_path: str = RERANKER) -> Reranker:
    """Open a re-ranker, which reads the first hits of a search again, together with the question.

    Args:
        name_or_path: A re-ranker's folder; the shipped one by default.

    Raises:
        ModelError: There is no such model, or its folder is damaged.
    """
    from auscult.encoders.reranker import load as load_folder

    return load_folder(model_folder(name_or_path))
