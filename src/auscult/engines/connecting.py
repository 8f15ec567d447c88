"""Connect to a server of candidates by its address: to Milvus, or by an extension."""

from __future__ import annotations

from typing import Final

from auscult.engines.contract import MILVUS, Engine, place_of
from auscult.errors import ConfigError
from auscult.extensions import entries, load

_GROUP: Final = "auscult.engines"


def open_engine(url: str) -> Engine:
    """Connect to a server of candidates.

    Args:
        url: "milvus://HOST:PORT#COLLECTION" (with TLS "milvus:https://HOST:PORT"), "milvus:FILE.db#COLLECTION" for
            Milvus Lite, or an address whose scheme an extension registers.

    Raises:
        ConfigError: The address is none of these.
        MissingExtraError: The server's library is not installed.
        EngineError: The server cannot be reached.
    """
    place = place_of(url)
    # Only where they are asked for: a client's library takes a second to import.
    if place.server.startswith(MILVUS):
        from auscult.engines.milvus import MilvusEngine

        return MilvusEngine(place)
    if (scheme := place.server.partition(":")[0]) in entries(_GROUP):
        engine: Engine = load(_GROUP, scheme)(place)
        return engine
    known = ["milvus://HOST:PORT", *(f"{name}:..." for name in entries(_GROUP))]
    raise ConfigError(f"{', '.join(known)} or milvus:FILE.db", f"'{url}'", "write it as one of these")
