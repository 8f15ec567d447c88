"""`auscult train`: train a model from an experiment file or on notes, or convert a trained one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from auscult.cli.options import pairs_of
from auscult.concepts.opening import default_is_here
from auscult.encoders import SHIPPED, kind_of
from auscult.errors import ConfigError, ModelError
from auscult.ingest.sources import NO_KNOWLEDGE
from auscult.telemetry import naming_extra
from auscult_lab.cli.options import NoteReading, ProgressOption, SetOption, note_reading
from auscult_lab.corpora.opening import divided_notes
from auscult_lab.fitting.weighing import GENERAL, weigh_evidence


class Architecture(StrEnum):
    """Architectures that can be trained on notes."""

    BI = "bi"
    POLY = "poly"
    CROSS = "cross"


class Form(StrEnum):
    """What a model can be written as."""

    HALF = "half"
    ONNX = "onnx"
    ONNX_INT8 = "onnx-int8"


def train(
    context: typer.Context,
    experiment: Annotated[
        Path | None,
        typer.Argument(
            metavar="EXPERIMENT|MODEL",
            help="An experiment file (YAML), or FILE:VARIANT; with --convert, a model folder.",
        ),
    ] = None,
    variant: Annotated[str | None, typer.Option(help="A variant of the file.")] = None,
    notes: Annotated[
        str,
        typer.Option(
            help="Train on notes: a folder of texts (`patients:FOLDER`: a subfolder per patient), a table, JSON lines, "
            "MIMIC-III's NOTEEVENTS.csv, or a data set."
        ),
    ] = "",
    documents: Annotated[
        str, typer.Option(help="Adapt a general encoder to documents, given as for `auscult index`.")
    ] = "",
    backbone: Annotated[
        str,
        typer.Option(
            envvar="AUSCULT_BACKBONE",
            help="With --documents or --notes: the model to start from. A general encoder; for notes also a "
            "transformer (folder or hub name) or a trained model.",
        ),
    ] = "",
    architecture: Annotated[Architecture, typer.Option(help="With --notes: the architecture.")] = Architecture.BI,
    read: Annotated[
        list[str] | None,
        typer.Option(
            "--read",
            metavar="KEY=VALUE",
            help="How to read notes. Repeatable. `knowledge=`: as for `auscult index --knowledge`. `recognizer=`: "
            "`dictionary` (default), `spacy:PIPELINE` or `gliner:MODEL`; of several, the longest name counts. "
            "`aspects=`: a table of headings and aspects, separated by tabs, beside the built-in one.",
        ),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Leave out unreadable records and count them."),
    ] = False,
    changed: SetOption = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed in place of the experiment's; the folder is then runs/NAME-seed-N."),
    ] = None,
    convert: Annotated[
        Form | None,
        typer.Option(
            help="Train nothing; write a model to --out as `half` (CDV, half as large), `onnx` or `onnx-int8` (bi-, "
            "poly- or cross-encoder, faster on processors)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for the training, default: runs/NAME; with --backbone, for the model.",
        ),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete what an earlier training left, and start again.")
    ] = False,
    progress: ProgressOption = True,
) -> None:
    """Train a model without labels, from titles, headings and mentions. Nothing leaves the machine.

    The same command continues an interrupted training. The model is in `OUT/model`; with --documents or --notes it is
    OUT, and OUT.training holds the rest.

    --documents trains a general encoder further on titles and headings. Questions made from a held-out tenth compare
    it with the model before (`OUT.training/before-after.json`). --notes takes headings as aspects, names as entities,
    and the text below as the answer. A tenth of the patients chooses the epoch, another is for `auscult evaluate
    notes:NOTES`.

    Example: `auscult train experiments/cdv-adapted.yaml --seed 2`, or
    `auscult train --documents DOCUMENTS --backbone MODEL --out model`
    """
    console = Console(stderr=True)

    def say(words: str) -> None:
        console.print(f"[dim]·[/] {escape(words)}")

    sources = {param: context.get_parameter_source(param) for param in context.params}
    typed = {param for param, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    if convert is not None:
        _refuse(typed - {"experiment", "convert", "out"}, "--convert")
        _convert(experiment, convert, out)
    elif documents or notes:
        _refuse(typed & {"experiment", "variant"}, "--documents" if documents else "--notes")
        if notes and documents:
            raise ConfigError("--documents or --notes", "both", "leave one out")
        if not backbone or out is None:
            remedy = "give a pre-trained encoder, and a folder for the model"
            raise ConfigError("--backbone and --out", "one of them missing", remedy)
        try:
            general = bool(documents) or kind_of(backbone).name == GENERAL
        except ModelError:
            general = False
        overrides = [*pairs_of("--set", changed), *([] if seed is None else [("seed", str(seed))])]
        if general:
            _refuse(typed & {"architecture", "read"}, "a transformer that is trained on notes")
            _adapt_general(console, say, documents, notes, backbone, out, overrides, skip_bad, restart, progress)
        else:
            wishes = {"architecture": architecture.value, "skip_bad": skip_bad, "said": overrides}
            _train_notes(console, say, notes, backbone, out, note_reading(read), wishes, restart, progress)
    else:
        _refuse(typed & {"backbone", "architecture", "read", "skip_bad", "changed"}, "an experiment file")
        _train_experiment(console, say, experiment, variant, seed, out, restart, progress)


def _train_experiment(
    console: Console,
    say: Callable[[str], None],
    experiment: Path | None,
    variant: str | None,
    seed: int | None,
    out: Path | None,
    restart: bool,
    progress: bool,
) -> None:
    if experiment is None:
        raise ConfigError(
            "an experiment file, or --notes", "neither", "try: auscult train experiments/cdv-adapted.yaml"
        )
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.families.table import read_experiment
        from auscult_lab.families.table import train as train_model
        from auscult_lab.training import loop
        from auscult_lab.training.experiment_files import variant_path
        from auscult_lab.training.folder import locked
        from auscult_lab.training.folder import restart as throw_away
    settings = read_experiment(experiment if variant is None else variant_path(experiment, variant))
    name = settings.name
    if seed is not None:
        settings, name = settings.model_copy(update={"seed": seed}), f"{name}-seed-{seed}"
    folder = out or Path("runs") / name
    with locked(folder):
        if restart:
            throw_away(folder)
        outcome = train_model(settings, folder, say=say, progress=progress)
        if not loop.is_main_process():
            return
        weigh_evidence(settings, outcome, folder, say)
    console.print(epoch_table(outcome.record))
    typer.echo(outcome.model)


def _adapt_general(
    console: Console,
    say: Callable[[str], None],
    documents: str,
    notes: str,
    backbone: str,
    out: Path,
    overrides: Sequence[tuple[str, str]],
    skip_bad: bool,
    restart: bool,
    progress: bool,
) -> None:
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.evaluation.before_after import measure_before_after
        from auscult_lab.families.adapting import adapt, keep_model, work_folder
        from auscult_lab.general.adapting import documents_experiment
        from auscult_lab.training import loop
        from auscult_lab.training.folder import locked
    source = divided_notes(notes) if notes else documents
    splits = ("train", "validation") if notes else (None,)
    corpora = [{"name": source, "split": split, "skip_bad": skip_bad} for split in splits]
    start = backbone if backbone in SHIPPED else str(Path(backbone).absolute())
    if "knowledge" not in dict(overrides) and not default_is_here():
        say(NO_KNOWLEDGE)
        overrides = [*overrides, ("knowledge", "null")]
    experiment = documents_experiment(corpora, start, notes=bool(notes), said=overrides)
    place, work = out.absolute(), work_folder(out.absolute())
    with locked(work):
        outcome = adapt(experiment, place, restart=restart, say=say, progress=progress)
        if not loop.is_main_process():
            return
        weigh_evidence(experiment, outcome, work, say)
        model = outcome.model if outcome.model.is_dir() else place
        figures = measure_before_after(experiment, model, work, say)
        keep_model(outcome, place)
    console.print(epoch_table(outcome.record))
    if "difference" in figures:
        console.print(_before_after_table(figures))
    console.print(escape(figures["verdict"]), soft_wrap=True)
    typer.echo(place)


def _before_after_table(figures: Mapping[str, Any]) -> Table:
    counted = (
        f"{figures['questions']:,} questions made of {figures['documents']:,} documents that were not learned from"
    )
    table = Table("", "mean reciprocal rank", "first hit answers", title=counted, caption="with 95 % intervals")
    for row in ("before", "after", "difference"):
        sign = "+" if row == "difference" else ""
        cells = [
            f"{figure['mean']:{sign}.3f} ({figure['low']:{sign}.3f} to {figure['high']:{sign}.3f})"
            for figure in figures[row].values()
        ]
        table.add_row(row, *cells)
    return table


def _train_notes(
    console: Console,
    say: Callable[[str], None],
    notes: str,
    backbone: str,
    out: Path,
    reading: NoteReading,
    wishes: Mapping[str, Any],
    restart: bool,
    progress: bool,
) -> None:
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.encoders.experiment import notes_experiment
        from auscult_lab.families.adapting import adapt, keep_model, work_folder
        from auscult_lab.training import loop
        from auscult_lab.training.folder import locked
    place = out.absolute()
    work = work_folder(place)
    experiment = notes_experiment(
        notes,
        backbone,
        knowledge=reading.knowledge,
        recognizers=reading.recognizers,
        aspects=reading.aspects,
        **wishes,
    )
    with locked(work):
        outcome = adapt(experiment, place, restart=restart, say=say, progress=progress)
        if not loop.is_main_process():
            return
        keep_model(outcome, place)
    console.print(epoch_table(outcome.record))
    best = outcome.record["validation"]
    console.print(
        f"On {outcome.record['held_out_queries']:,} queries of held-out notes, each asked among up to "
        f"{experiment.validation_candidates} passages, first those that BM25 ranks high: "
        f"R@1 {100 * best['validation_R@1']:.1f}, mean reciprocal rank {best['validation_RR']:.3f}."
    )
    test = f"On notes it has not read: auscult evaluate '{experiment.clinical_notes[0]}' -m bm25 -m '{place}'{reading}"
    console.print(escape(test), soft_wrap=True)
    typer.echo(place)


def _convert(model: Path | None, form: Form, out: Path | None) -> None:
    if model is None or out is None:
        raise ConfigError("a model folder and --out beside --convert", "one of them missing", "give both")
    # Which form needs what is found out on the way.
    with naming_extra("lab", "torch", "safetensors"), naming_extra("lab", "transformers"):
        from auscult_lab.families.adapting import convert_model

        convert_model(str(model), out, form.value)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    typer.echo(f"{out}: {size / 1e6:.1f} MB")


def _refuse(params: set[str], beside: str) -> None:
    """Refuse options that would change nothing: whoever typed one expects that it does."""
    if params:
        name = min(params)
        option = {"experiment": "EXPERIMENT", "changed": "--set"}.get(name, f"--{name.replace('_', '-')}")
        raise ConfigError(f"options that say something of {beside}", option, f"leave {option} out")


def epoch_table(record: Mapping[str, Any]) -> Table:
    """Build a table of the epochs of a training.

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
