"""Following the changes of files and folders until an interrupt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from auscult.errors import naming_extra
from auscult.readers.walking import place_of

#: Milliseconds after which nothing that has happened is told, too: the first time it says that watching has begun.
_TIMEOUT = 1_000


def changes(paths: Sequence[str], without: Path) -> Iterator[None]:
    """Yield when changes are noticed from now on, and then each time that something below the paths has changed.

    Changes that come together count once.

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
        begun = False
        for found in watchfiles.watch(
            *places, watch_filter=None, raise_interrupt=True, rust_timeout=_TIMEOUT, yield_on_timeout=True
        ):
            if not begun or any(not Path(path).resolve().is_relative_to(own) for _, path in found):
                begun = True
                yield
    except KeyboardInterrupt:
        return
