"""Experiment files of bi-, poly- and cross-encoders: backbone, labels, negatives and budget.

Defaults are grundmann2021's where the paper gives them (section 4.3): AdamW, batches of 32, 50 epochs. What wang2021
trains otherwise (section 5.1.5) can be said: pairwise hinge loss, a rate of its own for what is no pre-trained encoder,
and no warm-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from auscult.concepts.recognition.opening import DICTIONARY
from auscult_lab.corpora.opening import divided_notes
from auscult_lab.encoders.base import CaprConfig
from auscult_lab.encoders.registry import ARCHITECTURES, configure
from auscult_lab.training.experiment import (
    DataExperiment,
    EncoderTraining,
    LabelChoice,
    Settings,
    WordVectorChoice,
    backbone_name,
    expanded,
)
from auscult_lab.training.experiment_files import check_experiment, check_fields, with_fields
from auscult_lab.training.schedule import native_precision


class PairLabels(LabelChoice):
    """What a passage's queries are made of.

    Attributes:
        mentions: Besides the title, also the entities mentioned in the passage, linked through the knowledge base.
        aspects: "heading" is one label, as it is asked for ("symptoms and presentation"); "parts" makes each of its
            parts a label of its own.
    """

    mentions: bool = False
    aspects: Literal["heading", "parts"] = "heading"


class PairNegatives(Settings):
    """The passages that a query's answer is told from.

    Attributes:
        in_batch: "all" other passages of the batch (Eq. 1), or so many of them, drawn anew for each query: a
            cross-encoder reads every pair of query and passage, which makes "all" dear (a departure).
        bm25: Also so many drawn from the `bm25_depth` passages that BM25 ranks highest (a departure). They have the
            query's words more often than its answer has: where answers are worded otherwise than under test, a
            cross-encoder that is shown no others learns to distrust these words.
        same_entity: Also so many that share the query's entity and answer another aspect (a departure).
        same_aspect: Also so many that answer the query's aspect of another entity (a departure). Without them, those of
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
        """How many are drawn for a query itself, and not for another one of its batch."""
        return self.bm25 + self.same_entity + self.same_aspect


class PairTraining(EncoderTraining):
    """Optimisation and budget.

    Attributes:
        epochs: Each ends with a validation.
        pairs: At most so many pairs an epoch, drawn without repeats until all passages have been seen; None for all.
        batch_pairs: Pairs a step, of which each is the others' negative.
        loss: "listwise": softmax cross entropy of the answer among its negatives (grundmann2021, Eq. 1); "hinge": each
            of them against the answer (wang2021, section 4.4).
        margin: Of the hinge loss.
        learning_rate: The highest; the paper's figure is missing from its text.
        head_learning_rate: The highest of what is learned besides the pre-trained encoders; None for the same.
        dropout: Share of activations that training leaves out; None for what the encoders' checkpoints say. To draw
            them is a quarter of a step's time on a processor.
        precision: Half precision is the paper's.
        chunk: Texts whose activations are held at once, so that the batch fits a small memory; None for all.
        max_passage_tokens: Passages are cut here in training, and where the settings say afterwards; None for there.
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
        queries: What is asked: "headings", queries drawn from passages' labels, or "corpus", the questions that the
            corpora bring with them, answered as their judgements say.
        backbone: A hub name or a folder; environment variables in it are expanded.
        settings: Of the architecture, where they differ from its paper's; environment variables in a folder that
            they name are expanded.
        clinical_notes: Names among `corpora`: notes, split by patient; their titles name nothing, their entities are
            recognised in the text.
        recognizers: What finds entities in notes, several together: "dictionary" (names of `knowledge`),
            "spacy:PIPELINE", "gliner:MODEL".
        note_aspects: Tables of headings and their aspects, beside the built-in one.
        validation_queries: Asked after each epoch, over the held-out documents.
        validation_candidates: Passages that each of them ranks (grundmann2021, section 4.2: 64).
        least_passages: Fewer usable training passages are an error.
        evaluate: Corpora whose test queries `auscult compare` asks the model.
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


def read_capr_experiment(path: Path) -> CaprExperiment:
    """Read and check an experiment file of a bi-, poly- or cross-encoder.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    experiment = check_experiment(path, CaprExperiment)
    experiment.config()
    return experiment


Architecture = Literal["bi", "poly", "cross"]

# One encoder reads both texts, as sentence-transformers models were trained; see experiments/grundmann2021.
_TOWERS = {"shared": True, "mark": False, "pooling": "mean", "cosine": True}
_SETTINGS: Mapping[Architecture, dict[str, Any]] = {"bi": _TOWERS, "poly": _TOWERS, "cross": {"pooling": "mean"}}
# A cross-encoder reads every pair of query and passage, so that it is shown few wrong passages: a hard one, and one at
# random, lest it learn that the words of a query are a bad sign.
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
        architecture: Which one.
        knowledge: Whose names are looked for; None for the default.
        recognizers: What finds entities; the dictionary where none is named.
        aspects: Tables of headings and their aspects, beside the built-in one.
        skip_bad: Leave notes out that cannot be read.
        said: Fields of the experiment, and what they shall be instead (`with_fields`).

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
        # Of a model that was trained before, the transformer in it.
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
        # Passages are cut alike in training and when they are ranked, unless it is said otherwise.
        changed["training"].setdefault("max_passage_tokens", changed["settings"].get("max_passage_tokens"))
    return check_fields(changed, CaprExperiment, "the notes' experiment with")
