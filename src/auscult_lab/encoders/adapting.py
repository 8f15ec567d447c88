"""From notes to a model that searches them: the experiment that this stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from auscult.concepts.recognition.opening import DICTIONARY
from auscult_lab.corpora.opening import divided_notes
from auscult_lab.encoders.experiment import CaprExperiment
from auscult_lab.training.experiment_files import check_fields, with_fields
from auscult_lab.training.schedule import native_precision

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
    """What is trained of a collection of notes.

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
    fields: dict[str, Any] = {
        "name": "adapt",
        "title": f"CAPR-{architecture.capitalize()}, adapted",
        "track": "adapted",
        "seed": 1,
        "model": "capr",
        "architecture": architecture,
        "backbone": _encoder(backbone),
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


def _encoder(backbone: str) -> str:
    """The transformer itself, of a model that was trained before."""
    inside = (Path(backbone) / name for name in ("passages", "pairs"))
    return next((str(folder) for folder in inside if (folder / "config.json").is_file()), backbone)
