"""Options of commands in which models score passages."""

from __future__ import annotations

from typing import Annotated

import typer

from auscult.interfaces import Precision

PrecisionOption = Annotated[
    Precision,
    typer.Option(
        help="What transformers compute in. `bf16` is about twice as fast on processors that have instructions for it."
    ),
]
FuseOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Also rank by several of the models together, `NAME+NAME`: the mean of their scores, each standardised "
        "over a query's candidates; repeatable."
    ),
]
