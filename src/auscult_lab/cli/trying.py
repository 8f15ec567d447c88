"""`auscult try`: models tried on a user's own data, and the page about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import TaskID
from rich.table import Table

from auscult.errors import ConfigError
from auscult.files.writing import check_folder
from auscult_lab.cli.options import ProgressOption, progress_bars
from auscult_lab.evaluation.tables import result_tables
from auscult_lab.workbench.assemble import assemble
from auscult_lab.workbench.folder import WorkFolder
from auscult_lab.workbench.page import write_page
from auscult_lab.workbench.plan import Wishes
from auscult_lab.workbench.preparing import Prepared, prepare
from auscult_lab.workbench.running import Watcher, find_experiments, run
from auscult_lab.workbench.userdata import Fault, UnusableDataError

_SHOWN_OF_A_KIND = 10


def try_models(
    mydata: Annotated[Path, typer.Argument(help="A folder with questions, passages and judgements, or one file.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder for everything; default: `NAME-workbench`.")] = None,
    title: Annotated[str, typer.Option(help="Name of the data on the page.")] = "",
    models: Annotated[
        str,
        typer.Option(help="These models (also your own), with commas, instead of those that fit in the time."),
    ] = "",
    backbone: Annotated[str, typer.Option(help="A pre-trained encoder (folder or hub name) to use and to train.")] = "",
    graph: Annotated[str, typer.Option(help="Folder of trained knowledge-graph vectors, for `ck`.")] = "",
    minutes: Annotated[float, typer.Option(min=0.1, help="Approximate time for everything.")] = 15.0,
    plan_only: Annotated[bool, typer.Option("--plan-only", help="Check the data and plan; train nothing.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Only write the page again; MYDATA is the run's folder.")
    ] = False,
    progress: ProgressOption = True,
) -> None:
    """Compare models on your own questions, passages and judgements, and write a page about it.

    All faults of the data are shown first. The same command continues an interrupted one. Experiments are in
    `OUT/experiments/`.

    Example: `auscult try my-questions --minutes 30`
    """
    console = Console(stderr=True)
    if report:
        _write_page(console, WorkFolder(mydata))
        return
    work = WorkFolder(out if out is not None else Path(f"{mydata.resolve().name.partition('.')[0]}-workbench"))
    check_folder(work.root)
    names = tuple(name.strip() for name in models.split(",") if name.strip())
    wishes = Wishes(models=names, backbone=backbone, graph=graph, minutes=minutes)
    try:
        prepared = prepare(mydata, work, wishes, title=title)
    except UnusableDataError as error:
        _show_faults(console, error)
        raise
    _show_plan(console, prepared)
    if plan_only:
        if prepared.trained:
            console.print(f"Experiments: {escape(str(work.experiments))}", soft_wrap=True)
        return
    experiments = find_experiments(work, prepared.trained)
    with progress_bars() as bars:
        tasks: dict[str, TaskID] = {}
        bars.disable = not progress

        def ranked(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(escape(label), total=total)
            bars.update(tasks[label], completed=done)

        def say(name: str, words: str) -> None:
            bars.console.print(f"[bold]{escape(name)}[/] [dim]{escape(words)}[/]")

        # The training library would draw bars of its own, and break these.
        comparison = run(work, prepared.description, experiments, Watcher(say, ranked))
    # Whatever the user's folder is called, the published data set of that name is another.
    for each in result_tables(comparison.records, beside=False):
        each.print_to(Console())
    _write_page(console, work)


def _write_page(console: Console, work: WorkFolder) -> None:
    write_page(assemble(work), work.page)
    console.print(f"Results: {escape(str(work.records))}", soft_wrap=True)
    console.print(f"Open in a browser: {escape(str(work.page.resolve()))}", soft_wrap=True)


def _show_faults(console: Console, error: UnusableDataError) -> None:
    """Print a table of the faults, a few of each kind."""
    table = Table("File", "Line", "What is wrong", "Found", "What to do", title="The data cannot be used yet")
    kinds: dict[str, list[Fault]] = {}
    for fault in error.faults:
        kinds.setdefault(fault.kind, []).append(fault)
    for kind, faults in kinds.items():
        for fault in faults[:_SHOWN_OF_A_KIND]:
            line = str(fault.place.line) if fault.place.line else ""
            table.add_row(*map(escape, (fault.place.file, line, kind, fault.got, fault.remedy)))
        if len(faults) > _SHOWN_OF_A_KIND:
            table.add_row("", "", f"and {len(faults) - _SHOWN_OF_A_KIND:,} more: {escape(kind)}", "", "")
    console.print(table)
    for warning in error.warnings:
        console.print(f"[yellow]also odd:[/] {escape(warning)}", soft_wrap=True)


def _show_plan(console: Console, prepared: Prepared) -> None:
    description = prepared.description
    counts = ", ".join(f"{number:,} {name}" for name, number in description.counts.items())
    console.print(f"[bold]{escape(description.title)}[/]: {counts}", soft_wrap=True)
    for warning in description.warnings:
        console.print(f"[yellow]odd:[/] {escape(warning)}", soft_wrap=True)
    everything = description.protocol == "end-to-end"
    console.print("All passages are ranked." if everything else "The passages that BM25 finds are ranked.")
    table = Table("", "Model", "Minutes, about", "Why")
    for proposal in prepared.proposals:
        mark = "yes" if proposal.chosen else "no"
        minutes = f"{proposal.seconds / 60:.1f}" if proposal.seconds else "?"
        table.add_row(mark, proposal.name, minutes, escape(proposal.reason))
    console.print(table)
    if not any(proposal.chosen for proposal in prepared.proposals):
        raise ConfigError("a model to try", "none", "give more --minutes or name --models")
