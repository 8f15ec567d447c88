"""`auscult concepts graph`: what a knowledge graph holds, what stands around an entity, and what it finds in a text."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from auscult.cli.texts import TextArgument, read_text
from auscult.drawing import check_target
from auscult.files.writing import check_file
from auscult_lab.cli.graph_embed import embed
from auscult_lab.cli.options import GraphArgument, PropertyOption, RootOption, VocabularyOption, part_of
from auscult_lab.evaluation.graph_tables import counts_table, hubs_table, relations_table
from auscult_lab.graphs.linking import NgramLinker
from auscult_lab.graphs.neighbourhood import neighbourhood
from auscult_lab.graphs.opening import open_graph
from auscult_lab.graphs.picture import save_picture
from auscult_lab.graphs.structure import graph_statistics

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
    """Count the entities, relations and triples of a graph, and see how they hang together.

    Example: `auscult concepts graph stats doid.obo`
    """
    opened = open_graph(graph, part_of(only_property, root, source))
    counted = graph_statistics(opened)
    if as_json:
        typer.echo(json.dumps(asdict(counted), ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(counts_table(counted), relations_table(counted), hubs_table(counted, opened), sep="\n")


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
    """Draw what stands around an entity.

    Example: `auscult concepts graph picture knowledge-base asthma --out asthma.svg`
    """
    check_target(out)
    check_file(out)
    around = neighbourhood(open_graph(graph, part_of(only_property, root, source)), entity, steps, nodes)
    save_picture(around, out)
    typer.echo(f"{out}: {around.graph.names[0][0]} and {len(around.links)} of {around.within:,} entities around it")


@app.command()
def link(
    graph: GraphArgument,
    text: TextArgument,
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Find the entities of a graph that a text names.

    Example: `auscult concepts graph link knowledge-base "fever and a dry cough"`
    """
    content = read_text(text)
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
