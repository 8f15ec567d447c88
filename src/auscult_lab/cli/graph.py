"""`auscult concepts graph`: what a knowledge graph holds, what stands around an entity, and what it finds in a text.

`auscult concepts graph embed`: from a graph to vectors of its entities, with link-prediction figures.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from auscult.cli.options import TextArgument, pairs_of, read_text
from auscult.drawing import check_target
from auscult.errors import ConfigError
from auscult.files.writing import check_file, check_folder, write_json
from auscult.telemetry import naming_extra
from auscult_lab.cli.options import (
    GraphArgument,
    ProgressOption,
    PropertyOption,
    RootOption,
    SetOption,
    VocabularyOption,
    part_of,
)
from auscult_lab.evaluation.graph_tables import counts_table, figure_tables, hubs_table, relations_table
from auscult_lab.graphs.graph import graph_statistics
from auscult_lab.graphs.linking import NgramLinker
from auscult_lab.graphs.neighbourhood import neighbourhood
from auscult_lab.graphs.opening import ACCEPTED, open_graph
from auscult_lab.graphs.picture import save_picture

app = typer.Typer(
    help=f"Knowledge graphs: count, draw, link text, train vectors.\n\nA graph is {ACCEPTED}.",
    no_args_is_help=True,
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def stats(
    graph: GraphArgument,
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the entities, relations and triples of a graph, and show how they are connected.

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
    entity: Annotated[str, typer.Argument(help="Id or name of an entity.")],
    out: Annotated[Path, typer.Option(help="The picture to write (.svg, .png, .pdf).")],
    steps: Annotated[int, typer.Option(min=1, help="Largest distance from the entity.")] = 2,
    nodes: Annotated[int, typer.Option(min=1, help="Number of other entities, closest first.")] = 30,
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
) -> None:
    """Draw the entities around an entity.

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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
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


RECORD = "link-prediction.json"


@app.command()
def embed(
    graph: GraphArgument,
    out: Annotated[Path, typer.Option("--out", help="Folder for the vectors; OUT.training holds the rest.")],
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
    changed: SetOption = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Start from the settings of bordes2013, which take far longer.")
    ] = False,
    all_triples: Annotated[
        bool, typer.Option("--all-triples", help="After measuring, train again with all triples.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete what an earlier training left, and start again.")
    ] = False,
    progress: ProgressOption = True,
) -> None:
    """Train TransE vectors of a graph's entities, and measure how well they predict held-out links.

    At most 15 % of the triples are held out, never an entity's last: a third to choose the epoch, the rest to measure.
    The same command continues an interrupted training. `--set` changes model.dim, model.epochs, model.norm,
    model.negatives, model.learning_rate, model.batch, seed or test_triples; the defaults did best on `knowledge-base`.

    Example: `auscult concepts graph embed doid.obo --out vectors`
    """
    with naming_extra("lab", "torch", "lightning", "safetensors"):
        from auscult_lab.graphs.build import KnowledgeExperiment, digest_of_graph, train
        from auscult_lab.graphs.knowledge_vectors import load, save
        from auscult_lab.graphs.transe import AS_PUBLISHED, TransEConfig
        from auscult_lab.training.experiment_files import check_fields, with_fields
    console = Console(stderr=True)
    # A suffix cannot be added to "." and "..".
    place = out.resolve()
    work = place.parent / f"{place.name}.training"
    check_folder(out)
    if out.exists() and not (work / "experiment.json").is_file():
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")
    opened = open_graph(graph, part_of(only_property, root, source))
    base = AS_PUBLISHED if as_published else TransEConfig()
    fields = {
        "graph": Path(graph).name,
        "graph_sha256": digest_of_graph(opened),
        "all_triples": all_triples,
        "model": base.model_dump(),
    }
    said = with_fields(fields, pairs_of("--set", changed))
    experiment = check_fields(said, KnowledgeExperiment, "the graph's experiment with")
    outcome = train(
        opened,
        experiment,
        work,
        anew=restart,
        say=lambda words: console.print(f"[dim]·[/] {escape(words)}"),
        progress=progress,
    )
    save(load(outcome.model), out)
    write_json(out / RECORD, outcome.record)
    shutil.rmtree(work / "checkpoints", ignore_errors=True)
    for table in figure_tables(outcome.record):
        table.print_to(console)
    typer.echo(out)
