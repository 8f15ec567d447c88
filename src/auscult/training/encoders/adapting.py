"""From notes to a model that searches them: the experiment that this stands for, and a place for the model.

OUT               the model, once it is trained
OUT.training/     everything else (`training.folder`)
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from auscult.concepts.recognition.opening import DICTIONARY
from auscult.corpora.opening import divided_notes
from auscult.errors import ConfigError, ModelError
from auscult.files.writing import put_folder
from auscult.models import kind_of
from auscult.training.encoders.experiment import CaprExperiment
from auscult.training.experiment_files import check_fields, with_fields
from auscult.training.folder import Outcome
from auscult.training.folder import restart as throw_away
from auscult.training.schedule import native_precision
from auscult.training.stages import Say, train

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


def adapt(experiment: CaprExperiment, out: Path, *, restart: bool = False, say: Say, progress: bool = False) -> Outcome:
    """Train a model and put it in a place of its own, or go on with a training of it that was killed.

    Args:
        experiment: Of `notes_experiment`.
        out: Where the model goes; an earlier one of this training gives way.
        restart: Throw away what an earlier training left.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: Something else than a model of this training is in the place, or the model was taken away.
        AuscultError: See `stages.train`.
    """
    work = work_folder(out)
    check_place(out, begun=restart or (work / "experiment.json").is_file())
    if restart:
        throw_away(work)
    return train(experiment, work, say=say, progress=progress)


def work_folder(out: Path) -> Path:
    """Where everything but the model is kept.

    Raises:
        ConfigError: The place has no name to put a suffix to.
    """
    if not out.name:
        raise ConfigError("a name for the model's folder in --out", str(out), "give --out a path that ends in a name")
    return out.with_name(f"{out.name}.training")


def keep_model(outcome: Outcome, out: Path) -> None:
    """Put a trained model in its place, and drop the checkpoints; an earlier model of this training gives way.

    Raises:
        ConfigError: The training is finished, and its model has been taken away; or something else is in its place.
    """
    _move(outcome.model, out)
    shutil.rmtree(work_folder(out) / "checkpoints", ignore_errors=True)


def _encoder(backbone: str) -> str:
    """The transformer itself, of a model that was trained before."""
    inside = (Path(backbone) / name for name in ("passages", "pairs"))
    return next((str(folder) for folder in inside if (folder / "config.json").is_file()), backbone)


def check_place(out: Path, *, begun: bool) -> None:
    """See that nothing is lost where the model goes.

    Args:
        out: The place.
        begun: Whether a model in this place may give way to one that is adapted anew, or goes on being adapted.

    Raises:
        ConfigError: Something else than a model that was adapted is there, or one that was not begun here.
    """
    if out.exists() and not (begun and _is_adapted(out)):
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")


def _is_adapted(folder: Path) -> bool:
    try:
        return kind_of(str(folder)).name == "capr"
    except ModelError:
        return False


def _move(trained: Path, out: Path) -> None:
    """Put the model where it was asked for; one of an earlier adaptation in this place gives way.

    Raises:
        ConfigError: The training is finished, and its model has been taken away; or something else is in its place.
    """
    if not trained.is_dir():
        if not out.is_dir():
            raise ConfigError(f"the model that was trained here in {out}", "none", "pass --restart to train it anew")
        return
    # Hours may have passed since it was looked at first.
    check_place(out, begun=True)
    put_folder(trained, out)
