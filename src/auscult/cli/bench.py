"""`auscult bench`: train and evaluate many models, skipping what is done, and put them into one table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from auscult.cli.evaluate import print_comparison, progress_bars
from auscult.corpora import open_corpus
from auscult.errors import ConfigError, MissingExtraError
from auscult.evaluation.bench import kept_run
from auscult.evaluation.comparison import Contender, check_distinct, compare_runs
from auscult.evaluation.contenders import LEXICAL, open_contenders
from auscult.evaluation.records import check_records, write_records
from auscult.evaluation.task import build_task


def bench(
    experiments: Annotated[list[Path], typer.Argument(help="Experiment files (YAML) of rankers.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of all trainings; one folder a model.")] = Path("runs"),
    json: Annotated[
        Path | None, typer.Option("--json", help="Write records (merged into what the file holds).")
    ] = None,
    baseline: Annotated[
        list[str] | None, typer.Option(help="Also compare with these term-based models; repeatable.")
    ] = None,
    train_only: Annotated[bool, typer.Option("--train-only", help="Train, and evaluate another time.")] = False,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Train and evaluate a whole list of models under the same protocol, and compare them in one table a corpus.

    What is done is skipped, so that a bench that was killed goes on when the same command is given again: a training
    from its last epoch, an evaluation from its last finished model. Each model is asked the corpora that its
    experiment lists under `evaluate`, together with the term-based models.
    """
    try:
        from auscult.training.ranking.experiment import read_ranking_experiment
        from auscult.training.ranking.run import train
    except ModuleNotFoundError as error:
        if error.name in ("torch", "lightning", "safetensors", "yaml"):
            raise MissingExtraError(error.name, "train") from error
        raise
    # All files and names first: a wrong one should fail before hours of training.
    settings = {path: read_ranking_experiment(path) for path in experiments}
    lexical = list(baseline if baseline is not None else LEXICAL)
    _check(settings={path: each.name for path, each in settings.items()}, lexical=lexical, json=json)
    corpora = list(dict.fromkeys(corpus for each in settings.values() for corpus in each.evaluate))
    opened = {corpus: open_corpus(corpus) for corpus in corpora}
    console = Console(stderr=True)

    def teller(name: str) -> Callable[[str], None]:
        return lambda words: console.print(f"[bold]{escape(name)}[/] [dim]{escape(words)}[/]")

    models: dict[str, Path] = {}
    for number, each in enumerate(settings.values(), start=1):
        console.print(f"[dim]{number} of {len(settings)}[/] {escape(each.name)}")
        models[each.name] = train(each, out / each.name, say=teller(each.name), progress=progress).model
    if train_only:
        return
    for corpus in corpora:
        task = build_task(opened[corpus])
        asked = [each.name for each in settings.values() if corpus in each.evaluate]
        pairs = [(contender, out / name) for name in lexical for contender in open_contenders(name, corpus)]
        pairs += [
            (contender, models[name]) for name in asked for contender in open_contenders(str(models[name]), corpus)
        ]
        contenders: list[Contender] = [contender for contender, _ in pairs]
        check_distinct(contenders)
        runs = []
        with progress_bars() as bars:
            whole = bars.add_task(f"{escape(corpus)}: models", total=len(pairs))
            for contender, folder in pairs:
                bar = bars.add_task(escape(contender.label), total=len(task.queries))

                def done(count: int, _: int, bar: int = bar) -> None:
                    bars.update(bar, completed=count)  # type: ignore[arg-type]

                runs.append(kept_run(task, contender, folder.parent / folder.name / "evaluation", done))
                bars.remove_task(bar)
                bars.advance(whole)
        comparison = compare_runs(task, contenders, runs)
        if json is not None:
            write_records(json, comparison.records)
        print_comparison(Console(), comparison)


def _check(*, settings: dict[Path, str], lexical: list[str], json: Path | None) -> None:
    names = list(settings.values())
    for path, name in settings.items():
        if names.count(name) > 1:
            raise ConfigError("experiments of different names", f"'{name}' again in {path}", "rename one of them")
    for name in lexical:
        if name not in LEXICAL:
            raise ConfigError(f"a term-based model ({', '.join(LEXICAL)})", f"--baseline {name}", "choose one of them")
    if json is not None:
        check_records(json)
