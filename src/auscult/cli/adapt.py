"""`auscult adapt`: from a folder of clinical notes to a model that searches them."""

from __future__ import annotations

import shutil
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from auscult.cli.train import epoch_table
from auscult.errors import ConfigError, naming_extra


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
            help="A folder of notes, a JSON lines file, MIMIC-III's NOTEEVENTS.csv, or a name `auscult data` lists."
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
        str | None, typer.Option(help="Whose names are looked for in notes; by default all taxonomies at hand.")
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="By default bf16 where the processor knows it, and float32 elsewhere.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 1,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what an earlier adaptation left, and begin anew.")
    ] = False,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Make a model that searches clinical notes, from the notes alone: no labels, nothing leaves the machine.

    Headings become aspects, recognised names entities, and passages under a heading that mention an entity the
    answers. Notes are split by patient; a tenth is held out to choose the best epoch, and another tenth is never
    read, so that the model can be tested on it. An adaptation that was killed goes on where it stopped: give the same
    command again.
    """
    with naming_extra("train", "torch", "lightning", "safetensors", "yaml"):
        from auscult.training import loop
        from auscult.training.capr.experiment import CaprExperiment
        from auscult.training.capr.run import train
        from auscult.training.folder import restart as throw_away
        from auscult.training.precision import native_precision
    console = Console(stderr=True)
    work = out.with_name(f"{out.name}.training")
    if restart:
        throw_away(work)
    elif out.exists() and not (work / "experiment.json").is_file():
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")
    fields = {
        "name": "adapt",
        "title": f"CAPR-{model.value.capitalize()}, adapted",
        "track": "adapted",
        "seed": seed,
        "model": "capr",
        "architecture": model.value,
        "backbone": _encoder(backbone),
        "settings": {**_SETTINGS[model], "max_passage_tokens": tokens},
        "corpora": [{"name": notes}],
        "clinical_notes": [notes],
        "validation": {"corpora": [notes], "documents": validation},
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
        f"On {outcome.record['held_out_queries']:,} queries of held-out patients, each with 64 candidates that BM25 "
        f"ranks high: R@1 {100 * best['validation_R@1']:.1f}, mean reciprocal rank {best['validation_RR']:.3f}."
    )
    typer.echo(out)


def _encoder(backbone: str) -> str:
    """The transformer itself, of a model that was trained before."""
    inside = Path(backbone) / "passages"
    return str(inside) if (inside / "config.json").is_file() else backbone


def _move(trained: Path, out: Path) -> None:
    """Put the model where it was asked for; one of an earlier adaptation in this place gives way.

    Raises:
        ConfigError: The training is finished, and its model has been taken away.
    """
    if not trained.is_dir():
        if not out.is_dir():
            raise ConfigError(f"the model that was trained here in {out}", "none", "pass --restart to train it anew")
        return
    stale = out.with_name(f"{out.name}.stale")
    if out.exists():
        out.rename(stale)
    trained.rename(out)
    if stale.exists():
        shutil.rmtree(stale)
