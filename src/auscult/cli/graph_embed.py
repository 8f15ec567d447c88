"""`auscult graph embed`: from a graph, such as an OBO file, to vectors of entities, with link-prediction figures."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from auscult.cli.graph_part import GraphArgument, PropertyOption, RootOption, VocabularyOption, part_of
from auscult.corpora.knowledge_graph import open_graph
from auscult.errors import ConfigError, naming_extra
from auscult.evaluation.tables import TextTable
from auscult.evaluation.writing import check_folder, write_json

RECORD = "link-prediction.json"
_SHOWN = ("MRR", "Hits@1", "Hits@3", "Hits@10")
_RELATIONS = 12


def embed(
    graph: GraphArgument,
    out: Annotated[Path, typer.Option("--out", help="Where the vectors go; OUT.training beside it holds the rest.")],
    only_property: PropertyOption = None,
    root: RootOption = None,
    source: VocabularyOption = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Length of a vector.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the training triples, at most.")] = None,
    norm: Annotated[int | None, typer.Option(min=1, max=2, help="Of the distance: 1 or 2.")] = None,
    negatives: Annotated[int | None, typer.Option(min=1, help="Entities that a triple is told apart from.")] = None,
    learning_rate: Annotated[float | None, typer.Option(min=1e-9, help="Of a step.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Triples a step.")] = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Begin with the settings of bordes2013, which take far longer.")
    ] = False,
    all_triples: Annotated[
        bool, typer.Option("--all-triples", help="Train the vectors anew on the held-out triples too, once measured.")
    ] = False,
    test_triples: Annotated[
        int, typer.Option(min=1, help="At most so many held-out triples are ranked, each among all entities.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the split and all draws.")] = 1,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what an earlier training left, and begin anew.")
    ] = False,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Train TransE vectors of a graph's entities, and measure how well they predict links that were held out.

    At most 15 % of the triples are held out, none of them an entity's last: a third to choose the epoch, the rest to
    measure. Without options the settings are those that did best on validation triples of `knowledge-base`. A training
    that was killed goes on where it stopped: give the same command again.
    """
    with naming_extra("train", "torch", "lightning", "safetensors"):
        from auscult.models.knowledge_vectors import load, save
        from auscult.training.knowledge.run import KnowledgeExperiment, digest_of_graph, train
        from auscult.training.knowledge.transe import AS_PUBLISHED, TransEConfig
    console = Console(stderr=True)
    # "." and ".." are no names to put a suffix to.
    place = out.resolve()
    work = place.parent / f"{place.name}.training"
    check_folder(out)
    if out.exists() and not (work / "experiment.json").is_file():
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")
    opened = open_graph(graph, part_of(only_property, root, source))
    chosen = {
        "dim": dim,
        "epochs": epochs,
        "norm": norm,
        "negatives": negatives,
        "learning_rate": learning_rate,
        "batch": batch,
    }
    base = AS_PUBLISHED if as_published else TransEConfig()
    given = {name: value for name, value in chosen.items() if value is not None}
    experiment = KnowledgeExperiment(
        graph=Path(graph).name,
        graph_sha256=digest_of_graph(opened),
        seed=seed,
        test_triples=test_triples,
        all_triples=all_triples,
        model=TransEConfig.model_validate(base.model_dump() | given),
    )
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


def figure_tables(record: Mapping[str, Any]) -> tuple[TextTable, TextTable]:
    """Figures of all held-out triples, and of each relation's, as tables.

    Args:
        record: As `link-prediction.json` holds it.
    """
    triples = record["triples"]
    models = {"TransE": record["figures"], "relation frequency": record["relation_frequency"]}
    rows = tuple(
        (f"{model}, {kind}", side, *_cells(figures[kind][side]), f"{figures[kind][side]['mean_rank']:,.0f}")
        for model, figures in models.items()
        for kind in ("filtered", "raw")
        for side in ("both", "tail", "head")
    )
    ranked = record["figures"]["triples"]
    few = f", {ranked:,} of them ranked" if ranked < triples["test"] else ""
    note = (
        f"{triples['test']:,} triples held out for testing{few}, {triples['training']:,} trained on, among "
        f"{record['entities']:,} entities; tail asks for the object, head for the subject."
    )
    whole = TextTable(f"{record['data']}: link prediction", ("Model", "asks for", *_SHOWN, "mean rank"), rows, (note,))
    baseline = record["relation_frequency"]["by_relation"]
    listed = list(record["figures"]["by_relation"].items())
    relations = tuple(
        (name, f"{own['triples']:,}", *(_percent(each[side][measure]) for measure in ("MRR", "Hits@10")
         for side in ("tail", "head") for each in (own, baseline[name])))
        for name, own in listed[:_RELATIONS]
    )  # fmt: skip
    columns = (
        "Relation",
        "triples",
        *(f"{name}\n{column}" for name in ("MRR", "H@10") for side in ("tail", "head") for column in (side, "freq.")),
    )
    left = len(listed) - _RELATIONS
    notes = (
        "Filtered; freq.: relation frequency, of the same side.",
        *((f"{left} rarer relations left out.",) if left > 0 else ()),
    )
    return whole, TextTable("By relation, TransE", columns, relations, notes)


def _cells(figures: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(_percent(figures[name]) for name in _SHOWN)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"


__all__ = ["RECORD", "embed", "figure_tables"]
