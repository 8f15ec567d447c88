"""The option that says what transformers compute in where they score."""

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
