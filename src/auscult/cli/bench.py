"""`auscult bench`: train and evaluate many models, skipping what is done, and put them into one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import TaskID

from auscult.cli import bench_init
from auscult.cli.default_group import DEFAULT, default_group
from auscult.cli.evaluate import progress_bars
from auscult.cli.plugin import PluginOption, run_plugins
from auscult.cli.scoring import FuseOption, PrecisionOption
from auscult.corpora import open_corpus
from auscult.errors import ConfigError
from auscult.evaluation.bench import kept_run
from auscult.evaluation.bench_figures import draw_learning_curves, draw_question_types
from auscult.evaluation.bench_tables import bench_table, in_table_order, learning_table, question_type_table
from auscult.evaluation.comparison import Comparison, Contender, call_by, check_distinct, compare_runs, shares_label
from auscult.evaluation.contenders import LEXICAL, open_contenders
from auscult.evaluation.context_knowledge import context_knowledge_tables, figure_records
from auscult.evaluation.figures import check_figures
from auscult.evaluation.fusion import check_fused, fusions_of
from auscult.evaluation.length_figure import draw_lengths
from auscult.evaluation.records import check_records, write_records
from auscult.evaluation.task import Task, build_task
from auscult.evaluation.tracks import TRACKS
from auscult.evaluation.writing import file_name
from auscult.interfaces import Precision
from auscult.workbench.experiments import BenchExperiment, open_experiment


def bench(
    experiments: Annotated[list[Path], typer.Argument(help="Experiment files (YAML) of rankers or CAPR models.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of all trainings; one folder a model.")] = Path("runs"),
    json: Annotated[
        Path | None, typer.Option("--json", help="Write records (merged into what the file holds).")
    ] = None,
    plugin: PluginOption = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder for learning curves and results by question type, as PNG and SVG.")
    ] = None,
    baseline: Annotated[
        list[str] | None, typer.Option(help="Also compare with these term-based models; repeatable.")
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Ask only a random subset of this size of each corpus' queries.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the subset, the shuffled candidates and the statistics.")] = 0,
    precision: PrecisionOption = "float32",
    fuse: FuseOption = None,
    train_only: Annotated[bool, typer.Option("--train-only", help="Train, and evaluate another time.")] = False,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Train and evaluate a whole list of models under the same protocol, and compare them in one table a corpus.

    What is done is skipped, so that a bench that was killed goes on when the same command is given again: a training
    from its last epoch, an evaluation from its last finished model. Each model is asked the corpora that its
    experiment lists under `evaluate`, together with the term-based models.
    """
    run_plugins(plugin)
    # All files and names first: a wrong one should fail before hours of training.
    planned = {path: open_experiment(path) for path in experiments}
    lexical = list(baseline if baseline is not None else LEXICAL)
    _check(planned, lexical=lexical, fuse=fuse or (), json=json)
    if figures is not None:
        check_figures(figures)
    corpora = list(dict.fromkeys(corpus for each in planned.values() for corpus in each.evaluate))
    opened = {corpus: open_corpus(corpus) for corpus in corpora}
    for corpus, source in opened.items():
        # What the catalogue has was verified; of a user's own a wrong judgement should be known before training, too.
        if not train_only and Path(corpus).exists():
            build_task(source, number=queries, seed=seed)
    console = Console(stderr=True)

    def teller(name: str) -> Callable[[str], None]:
        return lambda words: console.print(f"[bold]{escape(name)}[/] [dim]{escape(words)}[/]")

    models: dict[str, Path] = {}
    for number, each in enumerate(planned.values(), start=1):
        console.print(f"[dim]{number} of {len(planned)}[/] {escape(each.name)}")
        models[each.name] = each.train(out / each.name, teller(each.name), progress)
    if train_only:
        return
    for corpus in corpora:
        task = build_task(opened[corpus], number=queries, seed=seed)
        named = [(name, name, out / name) for name in lexical]
        named += [
            (str(models[each.name]), each.name, out / each.name) for each in planned.values() if corpus in each.evaluate
        ]
        comparison = _compare(task, corpus, named, precision, fuse or ())
        if json is not None:
            write_records(json, comparison.records)
        if figures is not None:
            _draw(figures, task.corpus, comparison)
        _print(comparison)


def _compare(
    task: Task, corpus: str, named: list[tuple[str, str, Path]], precision: Precision, fuse: Sequence[str]
) -> Comparison:
    """Rank with every model, or take its kept run; `named` holds what opens it, its name and its folder."""
    contenders: list[Contender] = []
    folders: list[Path] = []
    by_name: dict[str, Contender] = {}
    for model, name, folder in named:
        try:
            opened = open_contenders(model, corpus, precision=precision)
        except ConfigError as error:
            remedy = f"take {corpus} off 'evaluate' or train without it ({error.remedy})"
            raise ConfigError(error.expected, f"{name}: {error.got}", remedy) from error
        if model not in LEXICAL and shares_label(opened[0], contenders):
            call_by(opened[0], name)
        contenders += opened
        folders += [folder] * len(opened)
        by_name[name] = opened[0]
    fusions = fusions_of(fuse, by_name, task.protocol)
    check_distinct([*contenders, *fusions])
    runs = []
    with progress_bars() as bars:
        whole = bars.add_task(f"{escape(corpus)}: models", total=len(contenders))
        for contender, folder in zip(contenders, folders, strict=True):
            bar = bars.add_task(escape(contender.label), total=len(task.queries))

            def done(count: int, _: int, bar: TaskID = bar) -> None:
                bars.update(bar, completed=count)

            runs.append(kept_run(task, contender, folder / "evaluation", done))
            bars.remove_task(bar)
            bars.advance(whole)
    return compare_runs(task, contenders, runs, fusions=fusions)


def _draw(folder: Path, corpus: str, comparison: Comparison) -> None:
    """Learning curves, results by question type where the corpus has questions (zhu2019), by length for variants."""
    folder.mkdir(parents=True, exist_ok=True)
    records = in_table_order(comparison.records)
    learned = [record for record in records if record.training.get("history")]
    asked = [record for record in records if record.by_question_type]
    lengths = figure_records(records)
    for suffix in (".svg", ".png"):
        if learned:
            draw_learning_curves(folder / f"{file_name(corpus)}-learning{suffix}", learned)
        if asked:
            draw_question_types(folder / f"{file_name(corpus)}-question-types{suffix}", asked)
        if lengths:
            draw_lengths(folder / f"{file_name(corpus)}-lengths{suffix}", lengths)


def _print(comparison: Comparison) -> None:
    console = Console()
    tracks = [track for track in TRACKS if any(record.track == track for record in comparison.records)]
    for track in tracks:
        own = [record for record in comparison.records if record.track in ("untrained", track)]
        for table in (bench_table(own, track), question_type_table(own), learning_table(own)):
            if table.rows:
                table.print_to(console)
        for table in context_knowledge_tables([record for record in own if record.track == track]):
            table.print_to(console)


def _check(planned: dict[Path, BenchExperiment], *, lexical: list[str], fuse: Sequence[str], json: Path | None) -> None:
    names = [each.name for each in planned.values()]
    for path, each in planned.items():
        if names.count(each.name) > 1:
            raise ConfigError("experiments of different names", f"'{each.name}' again in {path}", "rename one of them")
    for name in lexical:
        if name not in LEXICAL:
            raise ConfigError(f"a term-based model ({', '.join(LEXICAL)})", f"--baseline {name}", "choose one of them")
    for corpus in dict.fromkeys(corpus for each in planned.values() for corpus in each.evaluate):
        asked = [each.name for each in planned.values() if corpus in each.evaluate]
        remedy = f"name experiments by the 'name' in their files, and only such as list {corpus} under 'evaluate'"
        check_fused(fuse, [*lexical, *asked], remedy)
    if json is not None:
        check_records(json)


app = default_group("Train and compare many models: those of experiment files, or those that fit your own data.")
app.command(DEFAULT)(bench)
app.command("init")(bench_init.init)
app.command("report")(bench_init.report)
