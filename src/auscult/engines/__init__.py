"""Servers that keep an index' passage vectors where one machine is too small; answers are those of the index itself."""

from auscult.engines.contract import Engine, EngineRow, Filters, Published, open_engine
from auscult.engines.served import PublishReport, ServedIndex, open_index, publish, withdraw

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
