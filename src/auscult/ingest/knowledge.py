"""Open the knowledge base for an index. The default one is compiled once per machine.

Parsing its taxonomies takes five seconds of a processor, and compiling them two more. So both is done once, and kept in
the user's cache folder under a digest of the data and of the code that reads them: `knowledge-DIGEST`, the file in
which names are looked up (`index.knowledge`), and `knowledge-DIGEST.packed`, the whole as an index's store has it. An
index gets copies of these.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Final

from auscult.catalogue import data_dir, entry
from auscult.concepts import KnowledgeBase
from auscult.concepts.opening import (
    DEFAULT_FOLDER,
    SPANISH,
    TOPICS,
    default_is_here,
    open_for_questions,
    open_knowledge_base,
)
from auscult.errors import AuscultError
from auscult.index.knowledge import compile_knowledge, open_compiled, packed_beside
from auscult.version import __version__

_HOUR: Final = 3600
_KEPT: Final = 3
"""Compiled knowledge bases that are kept, the last used ones: of other data, or other versions of this package."""
_READ_BY: Final = ("auscult.concepts", "auscult.documents", "auscult.index")


def knowledge_for(named: str | Path | Sequence[str | Path] | None) -> KnowledgeBase | None:
    """Open the knowledge base that a user names, or else the default one for questions, if it is on this machine.

    Args:
        named: A value for `open_knowledge_base`; None or empty for the default.

    Raises:
        CorpusMissingError, ConfigError, DataError: See `open_knowledge_base`.
    """
    return open_knowledge_base(named) if named else find_knowledge()


def find_knowledge() -> KnowledgeBase | None:
    """Open the default knowledge base for questions; None if it is not on this machine: names then go by words alone.

    Where nothing can be kept, it is parsed each time.
    """
    if not default_is_here():
        return None
    try:
        place = _cache_folder() / f"knowledge-{_digest()}"
    except (OSError, RuntimeError):
        # A file cannot be read, which parsing will say; or the user has no home.
        return open_for_questions()
    with suppress(OSError, AuscultError):
        return _opened(place)
    known = open_for_questions()
    with suppress(OSError, AuscultError):
        compile_knowledge(place, known)
        _remove_old(place.parent)
        return _opened(place)
    return known


def _opened(place: Path) -> KnowledgeBase:
    known = open_compiled(place)
    # The time of the last use, which many disks do not keep.
    os.utime(place)
    return known


def _cache_folder() -> Path:
    """Return the folder of this package in the user's cache folder (`XDG_CACHE_HOME`, an absolute path)."""
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "auscult"


def _digest() -> str:
    """Return a digest of the data and of the code that reads them."""
    versions = (__version__, version("PyStemmer"), unicodedata.unidata_version)
    total = hashlib.sha256("\n".join(versions).encode())
    for path in (*_data_files(), *_code_files()):
        content = path.read_bytes()
        total.update(f"{path.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()[:24]


def _data_files() -> Iterator[Path]:
    yield from sorted(each for each in (data_dir() / DEFAULT_FOLDER).iterdir() if each.is_file())
    for name in (TOPICS, SPANISH):
        paths = (data_dir() / each.path for each in entry(name).files)
        yield from (path for path in paths if path.is_file())


def _code_files() -> Iterator[Path]:
    for package in _READ_BY:
        folder = Path(str(files(package)))
        yield from sorted(each for each in folder.iterdir() if each.is_file())


def _remove_old(folder: Path) -> None:
    every = sorted(folder.glob("knowledge-*"), key=lambda each: each.stat().st_mtime, reverse=True)
    whole = [each for each in every if not each.suffix]
    for old in whole[_KEPT:]:
        for path in (old, packed_beside(old)):
            path.unlink(missing_ok=True)
    # What a killed process has left.
    for left in (each for each in every if each.is_dir() and time.time() - each.stat().st_mtime > _HOUR):
        shutil.rmtree(left, ignore_errors=True)
