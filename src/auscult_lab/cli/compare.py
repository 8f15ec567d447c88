"""`auscult compare`: train and evaluate many models, skipping what is done, and put them into one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from auscult.cli.options import PrecisionOption
from auscult.errors import ConfigError
from auscult.ingest.corpus import Corpus
from auscult.telemetry import naming_extra
from auscult_lab.cli.options import FuseOption, JsonRecordsOption, ProgressOption, SeedOption, progress_bars, query_bars
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.bench_tables import bench_table, learning_table, question_type_table
from auscult_lab.evaluation.comparing import Entry, compare_models, open_entries
from auscult_lab.evaluation.comparison import Comparison, Contender
from auscult_lab.evaluation.contenders import LEXICAL
from auscult_lab.evaluation.ensembles import check_ensembles, ensembles_of
from auscult_lab.evaluation.records import check_records, write_records
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.evaluation.tracks import TRACKS
from auscult_lab.workbench.experiments import Trainable, open_all


def compare(
    experiments: Annotated[
        list[Path],
        typer.Argument(help="Experiment files (YAML) of rankers or CAPR models, FILE:VARIANT, or folders."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for all trainings, one subfolder per model.")] = Path(
        "runs"
    ),
    json: JsonRecordsOption = None,
    baseline: Annotated[
        list[str] | None, typer.Option(help="A term-based model to compare with. Repeatable. Default: all.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--corpus", help="Evaluate on this corpus only, of those in the experiments. Repeatable."),
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="At most so many queries of each corpus, drawn at random.")
    ] = None,
    seed: SeedOption = 0,
    precision: PrecisionOption = "float32",
    fuse: FuseOption = None,
    train_only: Annotated[bool, typer.Option("--train-only", help="Train now, evaluate later.")] = False,
    progress: ProgressOption = True,
) -> None:
    """Train several models, evaluate them under the same protocol, and print one table per corpus.

    The same command continues an interrupted comparison. A file with variants is all of them. Each model ranks the
    corpora that its experiment lists under `evaluate`, or those of them given with `--corpus`.

    Example: `auscult compare experiments/arnold2020-rankers-adapted.yaml --json out/medquad.json`
    """
    # Check all files and names first: a wrong one should fail before hours of training.
    planned = open_all(experiments)
    planned_pairs = [(experiment.name, other) for experiment in planned.values() for other in experiment.compare_with]
    lexical = list(baseline if baseline is not None else LEXICAL)
    corpora = _choose_corpora(planned.values(), only or ())
    _check_names(planned, corpora, lexical=lexical, fuse=fuse or (), json=json)
    opened = {corpus: open_corpus(corpus) for corpus in corpora}
    for corpus, source in opened.items():
        # Corpora of the catalogue are verified. A wrong judgement of a user's corpus should fail before training, too.
        if not train_only and Path(corpus).exists():
            _build_task(source, queries, seed)
    console = Console(stderr=True)

    def teller(name: str) -> Callable[[str], None]:
        return lambda words: console.print(f"[bold]{escape(name)}[/] [dim]{escape(words)}[/]")

    with naming_extra("lab", "torch", "lightning"):
        from auscult_lab.training.folder import locked
    # The folders of trainings also get the evaluations.
    with locked(*(out / experiment.name for experiment in planned.values())):
        models: dict[str, Path] = {}
        for number, experiment in enumerate(planned.values(), start=1):
            console.print(f"[dim]{number} of {len(planned)}[/] {escape(experiment.name)}")
            models[experiment.name] = experiment.train(out / experiment.name, teller(experiment.name), progress)
        if train_only:
            return
        for corpus in corpora:
            task = _build_task(opened[corpus], queries, seed)
            entries = [Entry(model=name, runs=out / name / "evaluation") for name in lexical]
            entries += [
                Entry(
                    model=str(models[experiment.name]),
                    experiment=experiment.name,
                    runs=out / experiment.name / "evaluation",
                )
                for experiment in planned.values()
                if corpus in experiment.evaluate
            ]
            opened_models = open_entries(entries, corpus, precision=precision)
            with progress_bars() as bars:
                comparison = compare_models(
                    task,
                    opened_models.contenders,
                    ensembles=ensembles_of(fuse or (), opened_models.by_name, task.protocol),
                    pairs=_label_pairs(planned_pairs, opened_models.by_name),
                    progress=query_bars(bars),
                )
            if json is not None:
                write_records(json, comparison.records)
            _print_tables(comparison)


def _build_task(corpus: Corpus, most: int | None, seed: int) -> Task:
    """Return the task of a corpus: `most` of its queries, or all where it has no more than that."""
    enough = most is not None and most < len(list(corpus.queries("test")))
    return build_task(corpus, number=most if enough else None, seed=seed)


def _label_pairs(pairs: Sequence[tuple[str, str]], models: Mapping[str, Contender]) -> list[tuple[str, str]]:
    """Return the labels of the pairs whose models are both in a comparison."""
    distinct = dict.fromkeys(pairs)
    return [(models[a].label, models[b].label) for a, b in distinct if a in models and b in models]


def _print_tables(comparison: Comparison) -> None:
    console = Console()
    tracks = [track for track in TRACKS if any(record.track == track for record in comparison.records)]
    for track in tracks:
        shown = [record for record in comparison.records if record.track in ("untrained", track)]
        for table in (bench_table(shown, track), question_type_table(shown), learning_table(shown)):
            if table.rows:
                table.print_to(console)


def _choose_corpora(experiments: Iterable[Trainable], only: Sequence[str]) -> list[str]:
    """Return the corpora on which any experiment is evaluated; where some are named, these."""
    listed = list(dict.fromkeys(corpus for experiment in experiments for corpus in experiment.evaluate))
    for name in only:
        if name not in listed:
            expected = f"a corpus that an experiment lists under 'evaluate' ({', '.join(listed)})"
            raise ConfigError(expected, f"--corpus {name}", "choose one of them")
    return [name for name in listed if not only or name in only]


def _check_names(
    planned: dict[Path, Trainable],
    corpora: Sequence[str],
    *,
    lexical: list[str],
    fuse: Sequence[str],
    json: Path | None,
) -> None:
    names = [experiment.name for experiment in planned.values()]
    for path, experiment in planned.items():
        if names.count(experiment.name) > 1:
            raise ConfigError(
                "experiments of different names", f"'{experiment.name}' again in {path}", "rename one of them"
            )
    for name in lexical:
        if name not in LEXICAL:
            raise ConfigError(f"a term-based model ({', '.join(LEXICAL)})", f"--baseline {name}", "choose one of them")
    for corpus in corpora:
        compared = [experiment.name for experiment in planned.values() if corpus in experiment.evaluate]
        remedy = f"name experiments by the 'name' in their files, and only such as list {corpus} under 'evaluate'"
        check_ensembles(fuse, [*lexical, *compared], remedy)
    if json is not None:
        check_records(json)
