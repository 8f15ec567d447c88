"""Progress bars of commands that rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from auscult_lab.evaluation.comparison import Contender


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Progress bars on stderr, gone when the work is done."""
    # On stderr, so that the tables can be piped.
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield progress


def query_bars(bars: Progress) -> Callable[[Contender], Callable[[int, int], None]]:
    """What makes a bar of a contender's queries, which is gone when they are ranked."""

    def bar_of(contender: Contender) -> Callable[[int, int], None]:
        bar = bars.add_task(escape(contender.label), total=None)
        return lambda done, total: bars.update(bar, completed=done, total=total, visible=done < total)

    return bar_of
