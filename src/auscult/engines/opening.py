"""An index wherever it is: in a folder, or at the address of a server."""

from __future__ import annotations

from pathlib import Path

from auscult.engines.contract import is_address
from auscult.engines.whole import manifest_at, open_whole
from auscult.errors import AuscultError
from auscult.index import PassageIndex
from auscult.index.storage import signs_of_change


def open_index(index: str | Path) -> PassageIndex:
    """Open an index.

    Args:
        index: Its folder, or the address that it was published to (`publish`).

    Raises:
        ConfigError: An address is none.
        IndexFolderError: There is no index, or it is damaged.
        EngineError: A server cannot be reached, or there is no index at the address.
    """
    return open_whole(str(index)) if is_address(index) else PassageIndex.open(index)


def signs_of(index: str | Path) -> object:
    """Return a value that changes with every generation of an index, without opening it; None if that is unknown."""
    if not is_address(index):
        return signs_of_change(Path(index))
    try:
        return manifest_at(str(index))
    except AuscultError:
        return None
