"""Options that several commands of the lab share (notes, graphs, records, seeds), and progress bars of rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from auscult.cli.options import pairs_of
from auscult.errors import ConfigError
from auscult_lab.corpora.note_labels import NoteLabeller, open_labeller
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.graphs.opening import Part

FuseOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Also rank by several models, `NAME+NAME`: the mean of their scores, standardised per query. Repeatable."
    ),
]
JsonRecordsOption = Annotated[
    Path | None, typer.Option("--json", help="Write records to this file, beside those that it has.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of the subset, the order of candidates and the statistics.")]
ProgressOption = Annotated[bool, typer.Option(help="Show progress bars.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the experiment, such as `training.epochs=2`. Repeatable.",
    ),
]

GraphArgument = Annotated[str, typer.Argument(metavar="PATH", help="The graph; see `auscult concepts graph --help`.")]
PropertyOption = Annotated[
    list[str] | None,
    typer.Option("--property", help="Wikidata: only claims of this property (P780). Repeatable."),
]
RootOption = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        help="Wikidata: only this item, with instances and subclasses at any depth (Q12136: diseases). Repeatable.",
    ),
]
VocabularyOption = Annotated[
    list[str] | None,
    typer.Option("--source", help="UMLS: only relations of this vocabulary (MSH). Repeatable."),
]


@dataclass(frozen=True, slots=True)
class NoteReading:
    """Options for reading notes.

    Attributes:
        knowledge: Knowledge base with the names to find; None for the default.
        recognizers: Recognizers of entities; empty for the default.
        aspects: Tables of headings and their aspects.
    """

    knowledge: str | None = None
    recognizers: list[str] = field(default_factory=list)
    aspects: list[Path] = field(default_factory=list)

    def labeller(self) -> NoteLabeller:
        """Open the labeller for this reading.

        Raises:
            AuscultError: See `open_labeller`.
        """
        how = "pass --read knowledge=FILE with a taxonomy"
        return open_labeller(self.recognizers, knowledge=self.knowledge, tables=self.aspects, how=how)

    def __str__(self) -> str:
        """Format the options as they are typed."""
        own = [("knowledge", [self.knowledge] if self.knowledge else [])]
        own += [("recognizer", self.recognizers), ("aspects", [str(table) for table in self.aspects])]
        return "".join(f" --read '{key}={value}'" for key, values in own for value in values)


def note_reading(texts: Sequence[str] | None) -> NoteReading:
    """Parse `--read`.

    Raises:
        ConfigError: A key is unknown, or there are two knowledge bases.
    """
    keys: dict[str, list[str]] = {"knowledge": [], "recognizer": [], "aspects": []}
    for key, value in pairs_of("--read", texts):
        if key not in keys:
            raise ConfigError(f"--read with {', '.join(f'{name}=' for name in keys)}", f"'{key}='", "name one of them")
        keys[key].append(value)
    if len(keys["knowledge"]) > 1:
        raise ConfigError("one knowledge base", f"{len(keys['knowledge'])} of --read knowledge=", "name one")
    knowledge = keys["knowledge"][0] if keys["knowledge"] else None
    return NoteReading(knowledge, keys["recognizer"], [Path(table) for table in keys["aspects"]])


def part_of(properties: list[str] | None, roots: list[str] | None, sources: list[str] | None) -> Part:
    """Return the part of a graph that the options name."""
    return Part(tuple(properties or ()), tuple(roots or ()), tuple(sources or ()))


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Show progress bars until the end of the block."""
    # On stderr, so that the tables can be piped.
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield progress


def query_bars(bars: Progress) -> Callable[[Contender], Callable[[int, int], None]]:
    """Return a function that adds a bar for a contender's queries. The bar disappears when they are ranked."""

    def bar_of(contender: Contender) -> Callable[[int, int], None]:
        bar = bars.add_task(escape(contender.label), total=None)
        return lambda done, total: bars.update(bar, completed=done, total=total, visible=done < total)

    return bar_of
