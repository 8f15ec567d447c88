"""Tables on knowledge graphs: their content, and how well vectors of their entities predict links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from auscult_lab.evaluation.tables import TextTable
from auscult_lab.graphs.graph import GraphStatistics, KnowledgeGraph

_SHOWN = ("MRR", "Hits@1", "Hits@3", "Hits@10")
_RELATIONS = 12


def counts_table(counted: GraphStatistics) -> Table:
    """Build a table of a graph's size and connectedness."""
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


def relations_table(counted: GraphStatistics) -> Table:
    """Build a table of the triples of each relation."""
    table = Table("relation", "triples", "share", title="Relations")
    table.columns[1].justify = table.columns[2].justify = "right"
    for relation, count in counted.triples_per_relation:
        table.add_row(escape(relation), f"{count:,}", f"{count / counted.triples:.1%}")
    return table


def hubs_table(counted: GraphStatistics, graph: KnowledgeGraph) -> Table:
    """Build a table of the entities that are in the most triples."""
    names = dict(zip(graph.entities, graph.names, strict=True))
    table = Table("entity", "id", "triples", title="Entities in the most triples")
    table.columns[2].justify = "right"
    for entity, degree in counted.hubs:
        table.add_row(escape(names[entity][0]), escape(entity), f"{degree:,}")
    return table


def figure_tables(record: Mapping[str, Any]) -> tuple[TextTable, TextTable]:
    """Build tables of figures over all held-out triples, and by relation.

    Args:
        record: Content of `link-prediction.json`.
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
