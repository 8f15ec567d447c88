"""Connect to a server of candidates by its address: to Milvus, or by an extension."""

from __future__ import annotations

from typing import Final

from auscult.engines.addresses import place_of, scheme_of
from auscult.engines.contract import Engine
from auscult.errors import ConfigError
from auscult.extensions import entries, load

_GROUP: Final = "auscult.engines"
_MILVUS: Final = "milvus"


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
    if (scheme := scheme_of(place.server)) in entries(_GROUP):
        engine: Engine = load(_GROUP, scheme)(place)
        return engine
    known = ["milvus://HOST:PORT", *(f"{name}:..." for name in entries(_GROUP) if name != _MILVUS)]
    raise ConfigError(f"{', '.join(known)} or milvus:FILE.db", f"'{url}'", "write it as one of these")
