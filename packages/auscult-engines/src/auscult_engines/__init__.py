"""Servers that keep an index where one machine is too small, and many cores or machines that encode one.

The package implements `auscult.engines.contract.IndexServer` for PostgreSQL.
"""

from auscult_engines.connecting import open_engine
from auscult_engines.proposing import ProposedIndex
from auscult_engines.publishing import publish, withdraw
from auscult_engines.whole import manifest_at, open_index

__all__ = [
    "ProposedIndex",
    "manifest_at",
    "open_engine",
    "open_index",
    "publish",
    "withdraw",
]
