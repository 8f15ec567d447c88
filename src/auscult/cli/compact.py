"""`auscult compact`: store a model in half precision, for shipping."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import ModelError
from auscult.models import load_model, model_folder, training_record


def compact(
    model: Annotated[str, typer.Argument(help="A model folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the smaller model.")],
) -> None:
    """Write a copy of a model with weights in half precision: half the size, practically the same vectors.

    The copy has a fingerprint of its own: an index made with the original refuses it.
    """
    encoder = load_model(model)
    from auscult.models.cdv.encoder import CdvEncoder
    from auscult.models.cdv.persistence import save

    if not isinstance(encoder, CdvEncoder):
        raise ModelError("a CDV model", type(encoder).__name__, "only CDV models can be stored in half precision")
    save(encoder, out, training=training_record(model_folder(model)), half=True)
    size = sum(file.stat().st_size for file in out.iterdir() if file.is_file())
    typer.echo(f"{out}: {size / 1e6:.1f} MB")
