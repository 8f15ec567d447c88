"""Servers that keep an index where one machine is too small."""

from auscult.engines.connecting import open_engine
from auscult.engines.contract import (
    Engine,
    EngineRow,
    Filters,
    Proposer,
    Published,
    is_address,
    place_of,
    shown_address,
)
from auscult.engines.opening import open_index, signs_of
from auscult.engines.proposing import ProposedIndex
from auscult.engines.publishing import PublishReport, publish, withdraw
from auscult.engines.whole import manifest_at, without_shares

__all__ = [
    "Engine",
    "EngineRow",
    "Filters",
    "ProposedIndex",
    "Proposer",
    "PublishReport",
    "Published",
    "is_address",
    "manifest_at",
    "open_engine",
    "open_index",
    "place_of",
    "publish",
    "shown_address",
    "signs_of",
    "withdraw",
    "without_shares",
]
