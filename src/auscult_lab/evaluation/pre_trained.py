"""The pre-trained encoders that models began with, as records tell of them and as tables say it.

An encoder that was trained elsewhere may have read anything, the test too: what is zero-shot by a model's own training
is then a pre-trained retriever, of which that cannot be known.
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
        name: As it is published, or what its folder or its model is called.
        sha256: Of its weights.
        through: Models made here whose training it went through before, first to last.
        training_known: Whether all that it was trained on is told.
        words_only: Whether the model reads its table of word pieces alone (CK-HQA without context).
    """

    name: str
    sha256: str = ""
    through: tuple[str, ...] = ()
    training_known: bool = False
    words_only: bool = False

    @property
    def short(self) -> str:
        """Name and the beginning of the digest: what tables show of the encoder itself."""
        return f"{self.name} {self.sha256[:_SHOWN]}".strip()

    def __str__(self) -> str:
        """Add the models that it went through, and the part of it that is read."""
        told = f"{self.short}, through {' → '.join(self.through)}" if self.through else self.short
        return f"{told} (word pieces)" if self.words_only else told


def encoders_of(training: Mapping[str, Any]) -> tuple[Encoder, ...]:
    """Return the encoders that a model, or each model of an ensemble, began with by its training record.

    Args:
        training: Of an `EvaluationRecord`.
    """
    found: list[Encoder] = []
    if told := training.get("encoder"):
        settings = (training.get("experiment") or {}).get("settings") or {}
        encoder = Encoder(
            name=str(told.get("name", "")),
            sha256=str(told.get("sha256", "")),
            through=tuple(map(str, told.get("through", ()))),
            training_known=told.get("training_known") is True,
            words_only=settings.get("context") == "words",
        )
        found.append(encoder)
    for model in (training.get("models") or {}).values():
        found += [each for each in encoders_of(model) if each not in found]
    return tuple(found)


def bare_encoder(name: str, digest: str) -> dict[str, Any]:
    """Return the field of a record of an encoder that is evaluated as it is."""
    return {"name": name, "sha256": digest, "through": [], "training_known": False}


def encoder_cell(training: Mapping[str, Any]) -> str:
    """Format a model's encoders for a table; empty for a model without."""
    return "; ".join(map(str, encoders_of(training)))


def is_pre_trained(training: Mapping[str, Any]) -> bool:
    """Whether a model began with an encoder of which is not known in full what it was trained on."""
    return any(not each.training_known for each in encoders_of(training))


def encoder_notes(trainings: Sequence[tuple[str, Mapping[str, Any]]], track: str) -> list[str]:
    """Return a table's notes on encoders whose training is not known in full.

    Args:
        trainings: What rows are called in the note, and their training records.
        track: Of those that have learned.
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
