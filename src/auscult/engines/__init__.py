"""Servers that keep an index' passage vectors where one machine is too small; answers are those of the index itself."""

from auscult.engines.contract import Engine, EngineRow, Filters, Published, open_engine
from auscult.engines.publishing import PublishReport, publish, withdraw
from auscult.engines.served import ServedIndex, open_index

__all__ = [
    "Engine",
    "EngineRow",
    "Filters",
    "PublishReport",
    "Published",
    "ServedIndex",
    "open_engine",
    "open_index",
    "publish",
    "withdraw",
]
