"""`auscult train`: train a model from an experiment file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from auscult.cli.plugin import PluginOption, run_plugins
from auscult.errors import naming_extra


def train(
    experiment: Annotated[Path, typer.Argument(help="The experiment file (YAML); see experiments/ for examples.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for everything the training writes; by default runs/NAME."),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what the folder holds and begin anew.")
    ] = False,
    plugin: PluginOption = None,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Train a model without labels, from titles, headings and mentions.

    A training that was killed goes on where it stopped: give the same command again. The model is written to
    `OUT/model`, which `auscult index` and `auscult evaluate` take as `--model`; an encoder that was pre-trained
    (`model: mlm`) is what `auscult adapt` takes as `--backbone`.
    """
    with naming_extra("train", "torch", "lightning", "safetensors", "yaml"):
        from auscult.training import loop, run
        from auscult.training.capr.experiment import read_capr_experiment
        from auscult.training.capr.run import train as train_capr
        from auscult.training.experiment import read_experiment, read_model_name
        from auscult.training.folder import Outcome
        from auscult.training.folder import restart as throw_away
        from auscult.training.masked.experiment import read_masked_experiment
        from auscult.training.masked.run import train as train_masked
        from auscult.training.ranking.experiment import read_ranking_experiment
        from auscult.training.ranking.run import train as train_ranker
    run_plugins(plugin)
    console = Console(stderr=True)

    def say(words: str) -> None:
        console.print(f"[dim]·[/] {escape(words)}")

    kinds: Mapping[str, tuple[Callable[[Path], Any], Callable[..., Outcome]]] = {
        "cdv": (read_experiment, run.train),
        "capr": (read_capr_experiment, train_capr),
        "mlm": (read_masked_experiment, train_masked),
    }
    # Any other name is a ranker's.
    read, train_it = kinds.get(read_model_name(experiment), (read_ranking_experiment, train_ranker))
    settings = read(experiment)
    folder = out or Path("runs") / settings.name
    if restart:
        throw_away(folder)
    outcome = train_it(settings, folder, say=say, progress=progress)
    if not loop.is_main_process():
        return
    console.print(epoch_table(outcome.record))
    typer.echo(outcome.model)


def epoch_table(record: Mapping[str, Any]) -> Table:
    """How the epochs of a training went.

    Args:
        record: The content of `training.json`.
    """
    measured = [name for name in next(iter(record["history"]), {}) if name.startswith("validation_")]
    columns = ("epoch", "loss", *measured, "seconds")
    table = Table(title=f"{record['model']}: best epoch {record['best_epoch']}")
    for column in columns:
        table.add_column(column, justify="right")
    for epoch in record["history"]:
        table.add_row(*(str(epoch.get(column, "")) for column in columns))
    return table
