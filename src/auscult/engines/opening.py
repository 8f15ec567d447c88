"""From an address to an engine."""

from __future__ import annotations

from auscult.engines.contract import Engine, place_of
from auscult.errors import ConfigError

_POSTGRES = ("postgresql://", "postgres://")
_MILVUS = "milvus:"


def open_engine(url: str) -> Engine:
    """Connect to a server.

    Args:
        url: "postgresql://USER@HOST/DATABASE#COLLECTION", "milvus://HOST:PORT#COLLECTION" (with TLS
            "milvus:https://HOST:PORT"), or "milvus:FILE.db#COLLECTION" for Milvus Lite.

    Raises:
        ConfigError: The address is none of these.
        MissingExtraError: The server's library is not installed.
        EngineError: The server cannot be reached.
    """
    place = place_of(url)
    # Only where they are asked for: a client's library takes a second to import.
    if place.server.startswith(_POSTGRES):
        from auscult.engines.postgres import PostgresEngine

        return PostgresEngine(place)
    if place.server.startswith(_MILVUS):
        from auscult.engines.milvus import MilvusEngine

        return MilvusEngine(place)
    remedy = "write it as one of these"
    raise ConfigError("postgresql://USER@HOST/DATABASE, milvus://HOST:PORT or milvus:FILE.db", f"'{url}'", remedy)
