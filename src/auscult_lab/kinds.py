"""The lab's kinds of saved models: entry points of the group `auscult.models`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from auscult.encoders import SENTENCE_TRANSFORMER, Kind
from auscult.errors import ConfigError
from auscult_lab.opening import open_architecture, open_bi_encoder, open_cdv, open_ranker

if TYPE_CHECKING:
    from auscult.documents import Document, Passage
    from auscult.understanding import Query


def _view_attention(
    model: Path,
    query: Query,
    document: Document,
    passage: Passage,
    *,
    layers: str,
    figure: Path | None,
    as_json: bool,
) -> None:
    from auscult_lab.cli.model_views import show_attention

    if layers:
        raise ConfigError("options that a ranker has", "--layers", "leave --layers out")
    show_attention(model, query, document, passage, figure=figure, as_json=as_json)


def _view_token_pairs(
    model: Path,
    query: Query,
    document: Document,
    passage: Passage,
    *,
    layers: str,
    figure: Path | None,
    as_json: bool,
) -> None:
    from auscult_lab.cli.model_views import show_token_pairs

    words = document.slice(passage)
    show_token_pairs(model, query, words, layers=layers or "last", figure=figure, as_json=as_json)


CDV = Kind(name="cdv", encoder=open_cdv)
RANKER = Kind(name="ranker", scorer=open_ranker, view=_view_attention, reads_words=True)
CAPR = Kind(name="capr", encoder=open_bi_encoder, scorer=open_architecture, view=_view_token_pairs)
SENTENCE_ENCODER = Kind(
    name=SENTENCE_TRANSFORMER,
    encoder=open_bi_encoder,
    scorer=open_architecture,
    view=_view_token_pairs,
    told=False,
)
# An encoder that has read documents and has not learned to search them: a backbone.
MASKED = Kind(name="mlm")
