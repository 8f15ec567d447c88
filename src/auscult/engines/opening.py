"""An index wherever it is: in a folder, or at the address of a server, which a package for its scheme opens.

Packages register a scheme by an entry point of `auscult.servers` (`extensions`): "postgresql" for "postgresql://...".
The package `auscult-engines` has PostgreSQL's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from auscult.engines.addresses import is_address, no_whole_index, places_of, scheme_of
from auscult.engines.contract import IndexServer, PublishReport
from auscult.errors import AuscultError
from auscult.extensions import entries, load_from
from auscult.index.manifest import Manifest
from auscult.index.passage_index import PassageIndex
from auscult.index.storage import signs_of_change

PACKAGE: Final = "auscult-engines"
_SCHEMES: Final = ("postgresql", "postgres")
"""Schemes of `PACKAGE`."""
_SERVERS: Final = "auscult.servers"


def open_index(index: str | Path) -> PassageIndex:
    """Open an index.

    Args:
        index: Its folder, or the address that it was published to (`publish`).

    Raises:
        ConfigError: An address is none, or the package for it is not installed.
        IndexFolderError: There is no index, or it is damaged.
        EngineError: A server cannot be reached, or there is no index at the address.
    """
    return _server_of(str(index)).open_index(str(index)) if is_address(index) else PassageIndex.open(index)


def signs_of(index: str | Path) -> object:
    """Return a value that changes with every generation of an index, without opening it; None if that is unknown."""
    if not is_address(index):
        return signs_of_change(Path(index))
    try:
        return manifest_at(str(index))
    except AuscultError:
        return None


def manifest_at(address: str) -> Manifest | None:
    """Return the manifest of the generation that is published at an address; None where there is none.

    Raises:
        ConfigError: The address is none, or the package for it is not installed.
        EngineError: The server cannot be reached, or has an index of a newer version.
        IndexFolderError: The manifest is of another version's format.
    """
    return _server_of(address).manifest_at(address)


def publish(
    folder: str | Path,
    address: str,
    *,
    approximate: bool = False,
    candidates: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> PublishReport:
    """Publish the index of a folder at an address (`IndexServer.publish`)."""
    return _server_of(address).publish(
        folder, address, approximate=approximate, candidates=candidates, progress=progress
    )


def withdraw(address: str) -> str | None:
    """Delete the index at an address (`IndexServer.withdraw`)."""
    return _server_of(address).withdraw(address)


def _server_of(address: str) -> IndexServer:
    """Return what opens the indexes of an address' scheme.

    Raises:
        ConfigError: The address is none, or the package for it is not installed.
    """
    scheme = scheme_of(address)
    if scheme not in (*_SCHEMES, *entries(_SERVERS)):
        places_of(address)
        raise no_whole_index(address)
    server: IndexServer = load_from(PACKAGE, _SERVERS, scheme, "indexes in PostgreSQL are opened")
    return server
