"""Options that several commands of `auscult graph` share: which graph, and which part of it where it is large."""

from __future__ import annotations

from typing import Annotated

import typer

from auscult.concepts.graph.reading import Part
from auscult.corpora.knowledge_graph import ACCEPTED

GraphArgument = Annotated[str, typer.Argument(metavar="PATH", help=f"{ACCEPTED[:1].upper()}{ACCEPTED[1:]}.")]
PropertyOption = Annotated[
    list[str] | None,
    typer.Option("--property", help="Of Wikidata, only claims of this property (P780); repeatable."),
]
RootOption = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        help="Of Wikidata, only items that are this one, or an instance or a subclass of it, however far (Q12136: "
        "diseases); repeatable.",
    ),
]
VocabularyOption = Annotated[
    list[str] | None,
    typer.Option("--source", help="Of UMLS, only relations that this vocabulary states (MSH); repeatable."),
]


def part_of(properties: list[str] | None, roots: list[str] | None, sources: list[str] | None) -> Part:
    """What the options name."""
    return Part(tuple(properties or ()), tuple(roots or ()), tuple(sources or ()))


__all__ = ["GraphArgument", "PropertyOption", "RootOption", "VocabularyOption", "part_of"]
