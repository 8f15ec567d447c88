"""`auscult graph`: what a knowledge graph holds, what stands around an entity, and what it finds in a text."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from auscult.cli.graph_embed import embed
from auscult.cli.graph_part import GraphArgument, PropertyOption, RootOption, VocabularyOption, part_of
from auscult.concepts.graph.graph import KnowledgeGraph
from auscult.concepts.graph.neighbourhood import neighbourhood
from auscult.concepts.graph.ngram_linker import NgramLinker
from auscult.concepts.graph.picture import check_target, save_picture
from auscult.concepts.graph.statistics import GraphStatistics, graph_statistics
from auscult.corpora.knowledge_graph import open_graph
from auscult.errors import ConfigError, DataError
from auscult.evaluation.writing import check_file

app = typer.Typer(help="Knowledge graphs: count, draw, link text, make vectors.", no_args_is_help=True)
app.command()(embed)

JsonOption = Annotated[bool, typer.Option("--json", help="JSON, for programs.")]


@app.command()
def stats(
    graph: GraphArgument,
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the entities, relations and triples of a graph, and see how they hang together."""
    opened = open_graph(graph, part_of(only_property, root, source))
    counted = graph_statistics(opened)
    if as_json:
        typer.echo(json.dumps(asdict(counted), ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(_counts(counted), _relations(counted), _hubs(counted, opened), sep="\n")


@app.command()
def picture(
    graph: GraphArgument,
    entity: Annotated[str, typer.Argument(help="Its id or a name.")],
    out: Annotated[Path, typer.Option(help="The picture to write (.svg, .png, .pdf).")],
    steps: Annotated[int, typer.Option(min=1, help="How far from the entity.")] = 2,
    nodes: Annotated[int, typer.Option(min=1, help="How many other entities, the closest first.")] = 30,
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
) -> None:
    """Draw what stands around an entity."""
    check_target(out)
    check_file(out)
    around = neighbourhood(open_graph(graph, part_of(only_property, root, source)), entity, steps, nodes)
    save_picture(around, out)
    typer.echo(f"{out}: {around.graph.names[0][0]} and {len(around.links)} of {around.within:,} entities around it")


@app.command()
def link(
    graph: GraphArgument,
    text: Annotated[str | None, typer.Option(help="The text itself.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file with the text, or - for standard input.")] = None,
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Find the entities of a graph that a text names."""
    if (text is None) == (file is None):
        raise ConfigError("one of --text and --file", "both" if text is not None else "neither", "give one of them")
    content = text if text is not None else _read(file or Path("-"))
    opened = open_graph(graph, part_of(only_property, root, source))
    names = dict(zip(opened.entities, opened.names, strict=True))
    table = Table("start", "end", "text", "entity", "id")
    for span in NgramLinker.from_graph(opened).link(content):
        record = {**asdict(span), "text": content[span.start : span.end], "name": names[span.entity_id][0]}
        if as_json:
            typer.echo(json.dumps(record, ensure_ascii=False))
        table.add_row(
            *(escape(str(record[column])) for column in ("start", "end", "text", "name", "entity_id")),
        )
    if not as_json:
        Console(highlight=False).print(table)


def _read(path: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"a readable file of UTF-8 text at {path}", str(error), "check the file") from error


def _counts(counted: GraphStatistics) -> Table:
    table = Table("", "", title="Graph", show_header=False)
    table.columns[1].justify = "right"
    for name, value in (
        ("entities", f"{counted.entities:,}"),
        ("relations", f"{counted.relations:,}"),
        ("triples", f"{counted.triples:,}"),
        ("triples an entity is in: mean", f"{counted.degree_mean:.2f}"),
        ("median", f"{counted.degree_median:g}"),
        ("most", f"{counted.degree_max:,}"),
        ("entities in one triple", f"{counted.leaf_share:.1%}"),
        ("entities by themselves", f"{counted.isolated_share:.1%}"),
        ("connected components", f"{counted.components:,}"),
        ("entities in the largest", f"{counted.largest_component:,}"),
    ):
        table.add_row(name, value)
    return table


def _relations(counted: GraphStatistics) -> Table:
    table = Table("relation", "triples", "share", title="Relations")
    table.columns[1].justify = table.columns[2].justify = "right"
    for relation, count in counted.triples_per_relation:
        table.add_row(escape(relation), f"{count:,}", f"{count / counted.triples:.1%}")
    return table


def _hubs(counted: GraphStatistics, graph: KnowledgeGraph) -> Table:
    names = dict(zip(graph.entities, graph.names, strict=True))
    table = Table("entity", "id", "triples", title="Entities in the most triples")
    table.columns[2].justify = "right"
    for entity, degree in counted.hubs:
        table.add_row(escape(names[entity][0]), escape(entity), f"{degree:,}")
    return table


__all__ = ["app"]
