"""Servers that keep an index where one machine is too small: its passages' vectors, or all of it (`publish_whole`)."""

from auscult.engines.contract import Engine, EngineRow, Filters, Published, is_address, open_engine, place_of
from auscult.engines.opening import open_index, signs_of
from auscult.engines.publishing import publish_whole, withdraw_whole
from auscult.engines.served import PublishReport, ServedIndex, publish, withdraw
from auscult.engines.whole import manifest_at, without_shares

__all__ = [
    "Engine",
    "EngineRow",
    "Filters",
    "PublishReport",
    "Published",
    "ServedIndex",
    "is_address",
    "manifest_at",
    "open_engine",
    "open_index",
    "place_of",
    "publish",
    "publish_whole",
    "signs_of",
    "withdraw",
    "withdraw_whole",
    "without_shares",
]
