"""Experiment files of bi-, poly- and cross-encoders: backbone, labels, negatives and budget.

Defaults are grundmann2021's where the paper gives them (section 4.3): AdamW, batches of 32, 50 epochs. wang2021's
choices (section 5.1.5) can be set: pairwise hinge loss, another learning rate outside the pre-trained encoder, and no
warm-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from auscult_lab.corpora.opening import divided_notes
from auscult_lab.encoders.base import CaprConfig
from auscult_lab.encoders.registry import ARCHITECTURES, configure
from auscult_lab.recognition.opening import DICTIONARY
from auscult_lab.training.experiment import (
    DataExperiment,
    EncoderTraining,
    LabelChoice,
    Settings,
    WordVectorChoice,
    backbone_name,
    expanded,
)
from auscult_lab.training.experiment_files import check_fields, with_fields
from auscult_lab.training.schedule import native_precision


class PairLabels(LabelChoice):
    """The labels of a passage from which its queries are made.

    Attributes:
        mentions: Besides the title, also the entities mentioned in the passage, linked through the knowledge base.
        aspects: "heading" makes one label of a heading ("symptoms and presentation"); "parts" makes one of each of its
            parts.
    """

    mentions: bool = False
    aspects: Literal["heading", "parts"] = "heading"


class PairNegatives(Settings):
    """The negatives of a query.

    Attributes:
        in_batch: "all" other passages of the batch (Eq. 1), or a number of them, drawn for each query (a departure). A
            cross-encoder reads every pair of query and passage, which makes "all" expensive.
        bm25: Number of negatives drawn from the `bm25_depth` passages that BM25 ranks highest (a departure). They have
            the query's words more often than its answer. Where answers are worded differently in the test, a
            cross-encoder trained on no other negatives learns to distrust these words.
        same_entity: Number of negatives of the query's entity and another aspect (a departure).
        same_aspect: Number of negatives of the query's aspect and another entity (a departure). Without them, those of
            the same entity teach that only the aspect matters.
    """

    in_batch: int | Literal["all"] = "all"
    bm25: int = Field(default=0, ge=0)
    bm25_depth: int = Field(default=64, ge=1)
    same_entity: int = Field(default=0, ge=0)
    same_aspect: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _some(self) -> PairNegatives:
        if self.in_batch != "all" and (self.in_batch < 0 or self.in_batch + self.drawn == 0):
            raise ValueError("at least one negative a query is needed")
        return self

    @property
    def drawn(self) -> int:
        """Number of negatives drawn for the query itself, rather than taken from its batch."""
        return self.bm25 + self.same_entity + self.same_aspect


class PairTraining(EncoderTraining):
    """Optimisation and budget.

    Attributes:
        epochs: Each ends with a validation.
        pairs: Largest number of pairs per epoch, drawn without repeats until all passages were drawn; None for all.
        batch_pairs: Pairs per step; each is a negative of the others.
        loss: "listwise": softmax cross entropy of the answer among its negatives (grundmann2021, Eq. 1); "hinge": each
            of them against the answer (wang2021, section 4.4).
        margin: Margin of the hinge loss.
        learning_rate: Peak learning rate; the paper does not give it.
        head_learning_rate: Peak learning rate outside the pre-trained encoders; None for the same.
        dropout: Dropout in training; None for that of the encoders' checkpoints. Drawing its masks takes a quarter of a
            step's time on a processor.
        precision: Half precision is the paper's.
        chunk: Texts whose activations are in memory at the same time; None for all.
        max_passage_tokens: Limit of passages in training only; None for the limit in `settings`.
    """

    epochs: int = Field(default=50, ge=1)
    pairs: int | None = Field(default=None, ge=2)
    batch_pairs: int = Field(default=32, ge=2)
    loss: Literal["listwise", "hinge"] = "listwise"
    margin: float = Field(default=1.0, gt=0)
    learning_rate: float = Field(default=5e-5, gt=0)
    head_learning_rate: float | None = Field(default=None, gt=0)
    warm_up: float | None = Field(default=0.1, ge=0, lt=1)
    dropout: float | None = Field(default=None, ge=0, lt=1)
    chunk: int | None = Field(default=None, ge=1)
    max_passage_tokens: int | None = Field(default=None, ge=3)


class CaprExperiment(DataExperiment):
    """An experiment of one architecture.

    Attributes:
        architecture: "bi", "poly", "cross", "ck" and so on.
        queries: "headings" for queries drawn from passages' labels, or "corpus" for the corpora's own questions and
            judgements.
        backbone: A hub name or a folder; environment variables in it are expanded.
        settings: Settings of the architecture that differ from its paper's; environment variables in folders are
            expanded.
        clinical_notes: Those of `corpora` that are notes. They are split by patient, and their entities are recognised
            in the text, not taken from titles.
        recognizers: Recognisers of entities in notes, used together: "dictionary" (names of `knowledge`),
            "spacy:PIPELINE", "gliner:MODEL".
        note_aspects: Tables of headings and their aspects, beside the built-in one.
        validation_queries: Number of queries for validation after each epoch, over the held-out documents.
        validation_candidates: Candidates of each of these queries (grundmann2021, section 4.2: 64).
        least_passages: Smallest number of usable training passages; fewer are an error.
        evaluate: Corpora on whose test queries `auscult compare` evaluates the model.
    """

    model: Literal["capr"]
    architecture: str
    queries: Literal["headings", "corpus"] = "headings"
    backbone: str = Field(min_length=1)
    settings: dict[str, Any] = Field(default_factory=dict)
    labels: PairLabels = PairLabels()
    clinical_notes: list[str] = Field(default_factory=list)
    recognizers: list[str] = Field(default=[DICTIONARY], min_length=1)
    note_aspects: list[Path] = Field(default_factory=list)
    knowledge: str | None = None
    negatives: PairNegatives = PairNegatives()
    training: PairTraining = PairTraining()
    validation_queries: int = Field(default=150, ge=1)
    validation_candidates: int = Field(default=64, ge=2)
    least_passages: int = Field(default=2, ge=2)
    evaluate: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _fields_fit(self) -> CaprExperiment:
        if self.architecture not in ARCHITECTURES:
            raise ValueError(f"architecture: {self.architecture!r} is none of {', '.join(ARCHITECTURES)}")
        if self.word_vectors != WordVectorChoice() or self.labels.substitute or self.validation.calibrate:
            raise ValueError("word_vectors, labels.substitute and validation.calibrate are not for transformers")
        names = {corpus.name for corpus in self.corpora}
        if unknown := set(self.clinical_notes) - names:
            raise ValueError(f"clinical_notes: {', '.join(sorted(unknown))} is none of 'corpora'")
        if self.queries == "corpus" and (self.clinical_notes or self.labels != PairLabels()):
            raise ValueError("clinical_notes and labels are not for 'queries: corpus', which are asked as they are")
        if self.queries == "corpus" and (self.negatives.same_entity or self.negatives.same_aspect):
            raise ValueError("negatives.same_entity and same_aspect are not for 'queries: corpus', which name neither")
        # The architecture has these settings.
        self.config()
        return self

    def config(self) -> CaprConfig:
        """Return the architecture's settings.

        Raises:
            ConfigError: A setting the architecture does not have, or a wrong value.
        """
        return configure(self.architecture, self.settings)

    def backbone_name(self) -> str:
        """Return the backbone with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return backbone_name(self.backbone, "backbone")

    def begins_with(self) -> list[str]:
        """Return the backbone."""
        return [self.backbone_name()]

    def expanded_settings(self) -> dict[str, Any]:
        """Return the architecture's settings with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return {
            name: expanded(value, f"settings.{name}") if isinstance(value, str) else value
            for name, value in self.settings.items()
        }


Architecture = Literal["bi", "poly", "cross"]

# One encoder reads both texts, as sentence-transformers models were trained; see experiments/grundmann2021.
_TOWERS = {"shared": True, "mark": False, "pooling": "mean", "cosine": True}
_SETTINGS: Mapping[Architecture, dict[str, Any]] = {"bi": _TOWERS, "poly": _TOWERS, "cross": {"pooling": "mean"}}
# A cross-encoder reads every pair of query and passage, so it gets few negatives: a hard one, and a random one, without
# which it would learn that the words of a query are a bad sign.
_NEGATIVES: Mapping[str, dict[str, Any]] = {"cross": {"in_batch": 1, "bm25": 1}}
_TRAINING: Mapping[str, dict[str, Any]] = {
    "cross": {"batch_pairs": 16, "learning_rate": 1e-4, "head_learning_rate": 1e-3, "dropout": 0.0}
}
_TOKENS = 256


def notes_experiment(
    notes: str,
    backbone: str,
    *,
    architecture: Architecture = "bi",
    knowledge: str | None = None,
    recognizers: Sequence[str] = (),
    aspects: Sequence[Path] = (),
    skip_bad: bool = False,
    said: Iterable[tuple[str, str]] = (),
) -> CaprExperiment:
    """Return the experiment that trains a model for searching a collection of notes.

    Args:
        notes: As `divided_notes` takes them.
        backbone: The transformer to begin with, or a model that was trained before.
        architecture: Name of the architecture.
        knowledge: Knowledge base whose names are searched for; None for the default.
        recognizers: Recognisers of entities; empty for the dictionary.
        aspects: Tables of headings and their aspects, beside the built-in one.
        skip_bad: Leave notes out that cannot be read.
        said: Changes to fields of the experiment (`with_fields`).

    Raises:
        ConfigError: A field is wrong.
        CorpusMissingError: There are no notes.
    """
    source = divided_notes(notes)
    inside = (Path(backbone) / name for name in ("passages", "pairs"))
    fields: dict[str, Any] = {
        "name": "adapt",
        "title": f"CAPR-{architecture.capitalize()}, adapted",
        "track": "adapted",
        "seed": 1,
        "model": "capr",
        "architecture": architecture,
        # For a model that was trained before, its transformer.
        "backbone": next((str(folder) for folder in inside if (folder / "config.json").is_file()), backbone),
        "settings": {**_SETTINGS[architecture], "max_passage_tokens": _TOKENS},
        "corpora": [{"name": source, "split": split, "skip_bad": skip_bad} for split in ("train", "validation")],
        "clinical_notes": [source],
        "validation": {"corpora": [source], "documents": 300},
        "recognizers": list(recognizers) or [DICTIONARY],
        "note_aspects": [path.absolute() for path in aspects],
        "knowledge": knowledge,
        "negatives": _NEGATIVES.get(architecture, {}),
        "training": {
            "patience": 3,
            **_TRAINING.get(architecture, {}),
            "epochs": 4,
            "pairs": 2000,
            "precision": native_precision(),
        },
        "least_passages": 200,
    }
    changed: dict[str, Any] = with_fields(fields, said)
    if isinstance(changed["training"], dict) and isinstance(changed["settings"], dict):
        # By default, passages are cut alike in training and in ranking.
        changed["training"].setdefault("max_passage_tokens", changed["settings"].get("max_passage_tokens"))
    return check_fields(changed, CaprExperiment, "the notes' experiment with")
