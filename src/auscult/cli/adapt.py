"""`auscult adapt`: from a folder of clinical notes to a model that searches them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from auscult.cli.train import epoch_table
from auscult.concepts.recognition.opening import DICTIONARY
from auscult.corpora.knowledge import ACCEPTED, DEFAULT
from auscult.corpora.opening import divided_notes
from auscult.errors import ConfigError, ModelError, naming_extra
from auscult.models import model_kind


class Architecture(StrEnum):
    """What can be adapted."""

    BI = "bi"
    POLY = "poly"
    CROSS = "cross"


class Precision(StrEnum):
    """What is computed in."""

    FLOAT32 = "float32"
    BF16 = "bf16"
    HALF = "16-mixed"


# One encoder reads both texts, as sentence-transformers models were trained; see experiments/grundmann2021.
_TOWERS = {"shared": True, "mark": False, "pooling": "mean", "cosine": True}
_SETTINGS: dict[Architecture, dict[str, Any]] = {
    Architecture.BI: _TOWERS,
    Architecture.POLY: _TOWERS,
    Architecture.CROSS: {"pooling": "mean"},
}
# A cross-encoder reads every pair of query and passage, so that it is shown few wrong passages: a hard one, and one at
# random, lest it learn that the words of a query are a bad sign.
_NEGATIVES: dict[Architecture, dict[str, Any]] = {Architecture.CROSS: {"in_batch": 1, "bm25": 1}}
_TRAINING: dict[Architecture, dict[str, Any]] = {
    Architecture.CROSS: {"batch_pairs": 16, "learning_rate": 1e-4, "head_learning_rate": 1e-3, "dropout": 0.0}
}


def adapt(
    notes: Annotated[
        str,
        typer.Argument(
            help="A folder of notes as text (`patients:FOLDER` where each folder in it is one patient's), a table, a "
            "JSON lines file, MIMIC-III's NOTEEVENTS.csv, or a name that `auscult data list` has."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the model goes; OUT.training beside it holds the rest.")],
    backbone: Annotated[
        str,
        typer.Option(
            envvar="AUSCULT_BACKBONE",
            help="The transformer to begin with: a folder, a name of the hub, or a model that was adapted before, "
            "such as the bi-encoder of the same notes for a cross-encoder.",
        ),
    ],
    model: Annotated[Architecture, typer.Option("--model", help="Which architecture.")] = Architecture.BI,
    epochs: Annotated[int, typer.Option(min=1, help="Validations, and passes of at most --pairs passages.")] = 4,
    pairs: Annotated[int, typer.Option(min=2, help="Passages an epoch, each with a query drawn anew.")] = 2000,
    tokens: Annotated[
        int, typer.Option(min=16, help="Where passages are cut, in training and when they are ranked.")
    ] = 256,
    validation: Annotated[int, typer.Option(min=2, help="Notes held out to choose the epoch, at most.")] = 300,
    least: Annotated[int, typer.Option(min=2, help="Refuse to train on fewer passages than this.")] = 200,
    knowledge: Annotated[
        str | None, typer.Option(help=f"Whose names are looked for in notes: {ACCEPTED}. Default: `{DEFAULT}`.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave notes out that cannot be read, and count them.")
    ] = False,
    recognizer: Annotated[
        list[str] | None,
        typer.Option(
            help="What finds entities: dictionary, spacy:PIPELINE or gliner:MODEL, by name or folder; repeatable, of "
            "overlapping ones the longest counts. By default the dictionary."
        ),
    ] = None,
    aspects: Annotated[
        list[Path] | None,
        typer.Option(help="A table of headings and their aspects, between tabs, beside the built-in one; repeatable."),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(help="By default half precision where what trains has instructions for it, else float32."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 1,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what an earlier adaptation left, and begin anew.")
    ] = False,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Make a model that searches clinical notes, from the notes alone: no labels, nothing leaves the machine.

    Headings become aspects, recognised names entities, and passages under a heading that mention an entity the
    answers. Notes are split by patient, where they say whose they are; a tenth is held out to choose the best epoch,
    and another tenth is never read, so that the model can be tested on it: auscult evaluate notes:NOTES -m OUT. An
    adaptation that was killed goes on where it stopped: give the same command again.
    """
    with naming_extra("train", "torch", "lightning", "safetensors", "yaml"):
        from auscult.training import loop
        from auscult.training.capr.experiment import CaprExperiment
        from auscult.training.capr.run import train
        from auscult.training.folder import restart as throw_away
        from auscult.training.precision import native_precision
    console = Console(stderr=True)
    out = out.absolute()
    if not out.name:
        raise ConfigError("a name for the model's folder in --out", str(out), "give --out a path that ends in a name")
    work = out.with_name(f"{out.name}.training")
    _check_place(out, begun=restart or (work / "experiment.json").is_file())
    if restart:
        throw_away(work)
    source = divided_notes(notes)
    fields = {
        "name": "adapt",
        "title": f"CAPR-{model.value.capitalize()}, adapted",
        "track": "adapted",
        "seed": seed,
        "model": "capr",
        "architecture": model.value,
        "backbone": _encoder(backbone),
        "settings": {**_SETTINGS[model], "max_passage_tokens": tokens},
        "corpora": [{"name": source, "split": split, "skip_bad": skip_bad} for split in ("train", "validation")],
        "clinical_notes": [source],
        "validation": {"corpora": [source], "documents": validation},
        "recognizers": recognizer or [DICTIONARY],
        "note_aspects": [path.absolute() for path in aspects or ()],
        "knowledge": knowledge,
        "negatives": _NEGATIVES.get(model, {}),
        "training": {
            "patience": 3,
            **_TRAINING.get(model, {}),
            "epochs": epochs,
            "pairs": pairs,
            "precision": precision or native_precision(),
            "max_passage_tokens": tokens,
        },
        "least_passages": least,
    }
    experiment = CaprExperiment.model_validate(fields)
    outcome = train(experiment, work, say=lambda words: console.print(f"[dim]·[/] {escape(words)}"), progress=progress)
    if not loop.is_main_process():
        return
    _move(outcome.model, out)
    shutil.rmtree(work / "checkpoints", ignore_errors=True)
    console.print(epoch_table(outcome.record))
    best = outcome.record["validation"]
    console.print(
        f"On {outcome.record['held_out_queries']:,} queries of held-out notes, each asked among up to "
        f"{experiment.validation_candidates} passages, first those that BM25 ranks high: "
        f"R@1 {100 * best['validation_R@1']:.1f}, mean reciprocal rank {best['validation_RR']:.3f}."
    )
    labels = _said(
        ("--knowledge", [knowledge] if knowledge else []), ("--recognizer", recognizer), ("--aspects", aspects)
    )
    test = f"On notes it has not read: auscult evaluate '{source}' -m bm25 -m '{out}'{labels}"
    console.print(escape(test), soft_wrap=True)
    typer.echo(out)


def _said(*options: tuple[str, Sequence[str | Path] | None]) -> str:
    """Options as they are typed again."""
    return "".join(f" {option} '{value}'" for option, values in options for value in values or ())


def _encoder(backbone: str) -> str:
    """The transformer itself, of a model that was trained before."""
    inside = (Path(backbone) / name for name in ("passages", "pairs"))
    return next((str(folder) for folder in inside if (folder / "config.json").is_file()), backbone)


def _check_place(out: Path, *, begun: bool) -> None:
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
        return model_kind(str(folder)) == "capr"
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
    _check_place(out, begun=True)
    stale = out.with_name(f"{out.name}.stale")
    if out.exists():
        out.rename(stale)
    trained.rename(out)
    if stale.exists():
        shutil.rmtree(stale)
