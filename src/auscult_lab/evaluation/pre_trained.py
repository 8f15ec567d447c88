"""The pre-trained encoders that models began with, from records and for tables.

An encoder that was trained elsewhere may have read anything, including the test. A model that is zero-shot by its own
training is then called a pre-trained retriever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auscult_lab.modules.encoder_identity import KNOWN

PRE_TRAINED = "zero-shot, pre-trained retriever"
"""What tables call a zero-shot model whose encoder's training is not known in full."""

_SHOWN = 8
"""Digits of a digest in tables."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder that a model began with (`training.stages`).

    Attributes:
        name: Published name, or name of its folder or model.
        sha256: Digest of its weights.
        through: Earlier models trained with it here, first to last.
        training_known: Whether all of its training data is recorded.
        words_only: Whether the model reads its table of word pieces only (CK-HQA without context).
    """

    name: str
    sha256: str = ""
    through: tuple[str, ...] = ()
    training_known: bool = False
    words_only: bool = False

    @property
    def short(self) -> str:
        """Name and beginning of the digest, as tables show them."""
        return f"{self.name} {self.sha256[:_SHOWN]}".strip()

    def __str__(self) -> str:
        """Return `short`, the earlier models, and the part of the encoder that is read."""
        told = f"{self.short}, through {' → '.join(self.through)}" if self.through else self.short
        return f"{told} (word pieces)" if self.words_only else told


def encoders_of(training: Mapping[str, Any]) -> tuple[Encoder, ...]:
    """Return from a training record the encoders that a model, or the models of an ensemble, began with.

    Args:
        training: The `training` of an `EvaluationRecord`.
    """
    encoders: list[Encoder] = []
    if recorded := training.get("encoder"):
        settings = (training.get("experiment") or {}).get("settings") or {}
        encoder = Encoder(
            name=str(recorded.get("name", "")),
            sha256=str(recorded.get("sha256", "")),
            through=tuple(map(str, recorded.get("through", ()))),
            training_known=recorded.get("training_known") is True,
            words_only=settings.get("context") == "words",
        )
        encoders.append(encoder)
    for model in (training.get("models") or {}).values():
        encoders += [each for each in encoders_of(model) if each not in encoders]
    return tuple(encoders)


def bare_encoder(name: str, digest: str) -> dict[str, Any]:
    """Return the record field of an encoder that is evaluated without training."""
    return {"name": name, "sha256": digest, "through": [], "training_known": False}


def encoder_cell(training: Mapping[str, Any]) -> str:
    """Format a model's encoders for a table; empty for a model without."""
    return "; ".join(map(str, encoders_of(training)))


def is_pre_trained(training: Mapping[str, Any]) -> bool:
    """Check whether a model began with an encoder whose training data is not fully known."""
    return any(not each.training_known for each in encoders_of(training))


def encoder_notes(trainings: Sequence[tuple[str, Mapping[str, Any]]], track: str) -> list[str]:
    """Return a table's notes on encoders whose training data is not fully known.

    Args:
        trainings: Names of rows in the note, and their training records.
        track: Track of the trained models.
    """
    begun = [(name, training) for name, training in trainings if encoders_of(training)]
    unknown = [name for name, training in begun if is_pre_trained(training)]
    if not unknown:
        return []
    whose = f" ({', '.join(unknown)})" if len(unknown) < len(begun) else ""
    encoders = {
        each.short: KNOWN.get(each.sha256)
        for _, training in begun
        for each in encoders_of(training)
        if not each.training_known
    }
    told = [f"{short}: {known.learned_from}" for short, known in encoders.items() if known is not None]
    what = PRE_TRAINED.capitalize() if track == "zero-shot" else "Pre-trained retriever"
    return [". ".join([f"{what}: what the encoder was trained on is not known in full{whose}", *told]) + "."]
