"""Experiment files of masked language modelling: `model: mlm`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from auscult_lab.training.experiment import (
    DataExperiment,
    EncoderTraining,
    LabelChoice,
    WordVectorChoice,
    backbone_name,
)


class MaskedTraining(EncoderTraining):
    """Optimisation and budget.

    Attributes:
        texts: Most texts per epoch, none twice until all have been seen; null for all.
        batch_texts: Texts per step.
    """

    texts: int | None = Field(default=None, ge=1)
    batch_texts: int = Field(default=32, ge=1)


class MaskedExperiment(DataExperiment):
    """An experiment of masked language modelling: an encoder that reads documents before it learns to search them.

    Documents with the title of a held-out one are not trained on. `training.json` has, per epoch, the share of masked
    held-out tokens that are predicted and their mean log-likelihood; of the best epoch also the perplexity.

    Attributes:
        model: `mlm`.
        backbone: Hub name or folder to start from.
        encoder: Changes to the configuration of the backbone, such as `{ num_hidden_layers: 4 }`, for random weights
            with its tokenizer; null starts from its weights.
        masked: Share of tokens to predict (devlin2019: 0.15). Of these 80 % are masked, 10 % replaced, 10 % kept.
        max_tokens: Tokens per text that documents are cut into.
    """

    model: Literal["mlm"]
    backbone: str = Field(min_length=1)
    encoder: dict[str, int] | None = None
    masked: float = Field(default=0.15, gt=0, lt=1)
    max_tokens: int = Field(default=128, ge=8)
    training: MaskedTraining = MaskedTraining()

    @model_validator(mode="after")
    def _fields_fit(self) -> MaskedExperiment:
        labels = self.labels != LabelChoice() or self.never_learn
        if self.word_vectors != WordVectorChoice() or labels or self.validation.calibrate:
            raise ValueError("word_vectors, labels, never_learn and validation.calibrate are not for masked texts")
        return self

    def backbone_name(self) -> str:
        """Return the backbone with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return backbone_name(self.backbone, "backbone")

    def begins_with(self) -> list[str]:
        """Return the backbone; none for random weights, because the tokenizer does not count."""
        return [self.backbone_name()] if self.encoder is None else []
