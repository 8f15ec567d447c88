"""Following the changes of files and folders until an interrupt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from auscult.errors import naming_extra
from auscult.readers.walking import place_of


def changes(paths: Sequence[str], without: Path) -> Iterator[None]:
    """Yield each time that something below the paths has changed; changes that come together count once.

    Args:
        paths: Files, folders and patterns.
        without: A folder whose changes do not count.

    Raises:
        MissingExtraError: The package is not installed.
    """
    with naming_extra("watch", "watchfiles"):
        import watchfiles
    own = without.resolve()
    # A file that is replaced is another one: its folder tells.
    places = {place if place.is_dir() else place.parent for place in map(place_of, paths)}
    try:
        for found in watchfiles.watch(*places, watch_filter=None, raise_interrupt=True):
            if any(not Path(path).resolve().is_relative_to(own) for _, path in found):
                yield
    except KeyboardInterrupt:
        return
