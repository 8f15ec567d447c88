"""The protocol of an engine, a server that proposes passages; addresses, filters and waiting, which all servers share.

An engine keeps the vectors of an index that is in PostgreSQL (`engines.whole`), and *proposes* passages: those whose
vectors are nearest to a query's. Words, scores, evidence and texts come from PostgreSQL. Keys are the store's: a key is
never given to other content, so that writing a row twice changes nothing, and publishing is a difference of sets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeVar
from urllib.parse import unquote

from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError, ServerAwayError
from auscult.index import Between

_T = TypeVar("_T")
_WAITS: Final = (0.2, 1.0, 3.0)
"""Seconds before a deed is tried again."""
DEFAULT_COLLECTION: Final = "auscult"
LAYOUT: Final = 3
"""Version of what a collection has of each passage (`EngineRow`)."""
MILVUS = "milvus:"
POSTGRES: Final = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A passage, as an engine keeps it.

    Attributes:
        key: The store's.
        document: The store's key of its document.
        doc_id: Of its document.
        vector: (dim,), as the index holds it.
        fields: What its document says of itself (`index.fields`).
        access: Groups that may see it; None where everybody may.
    """

    key: int
    document: int
    doc_id: str
    vector: FloatArray
    fields: Mapping[str, str]
    access: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be proposed.

    Attributes:
        where: By field, the values or the range that a document may have. All fields must match.
        documents: Ids that a document may have; empty for any.
        groups: Groups of the caller; None for all passages. Passages of documents that none of these groups may see are
            not proposed. The searcher checks the proposed passages again.
        left_out: Numbers of PostgreSQL servers that are away. A proposer that cannot tell which passages are there may
            propose them: they are left out afterwards.
    """

    where: Mapping[str, frozenset[str] | Between] = field(default_factory=dict)
    documents: frozenset[str] = frozenset()
    groups: frozenset[str] | None = None
    left_out: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Published:
    """What a collection holds.

    Attributes:
        dim: Dimension of the vectors.
        fingerprint: Fingerprint of the model that made the vectors.
        store: Identity of their index: no other index may write here.
        generation: Last generation of that index whose passages are all here; -1 for none.
        layout: Version of the columns. Raise `LAYOUT` when they change: a collection has columns of one version.
    """

    dim: int
    fingerprint: str
    store: str
    generation: int
    layout: int = LAYOUT


class Proposer(Protocol):
    """Finds passages by their vectors. May raise EngineError: a server cannot be reached, or refuses."""

    def nearest(self, vector: FloatArray, k: int, filters: Filters) -> list[int]:
        """Return the keys of about the k passages of largest inner product with a vector, best first.

        Args:
            vector: Vector, (dim,).
            k: How many. Fewer are returned only if fewer pass the filters.
            filters: Which passages may be returned.
        """
        ...


class Engine(Proposer, Protocol):
    """One collection on a server. Every method may raise EngineError: it cannot be reached, or refuses."""

    name: str
    """What it is, and where, for people; without a password."""

    def published(self) -> Published | None:
        """Return what the collection holds; None where there is none."""
        ...

    def create(self, published: Published) -> None:
        """Create the collection if it is missing."""
        ...

    def finish(self, published: Published) -> None:
        """Store the description of the contents, after all was written."""
        ...

    def documents(self) -> set[int]:
        """Return the keys of all documents that it has."""
        ...

    def put(self, rows: Sequence[EngineRow]) -> None:
        """Write passages. Those with the same keys are replaced, so that writing them again changes nothing."""
        ...

    def drop(self, documents: Collection[int]) -> None:
        """Remove all passages of documents."""
        ...

    def destroy(self) -> None:
        """Remove the collection."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


def is_address(given: str | Path) -> bool:
    """Whether an index is named by the address of a server, rather than by a folder."""
    return isinstance(given, str) and ("://" in given or given.startswith(MILVUS))


_HIDDEN: Final = "..."
# The part before "@" is a user, and what follows a colon in it a password. People forget to encode "/" and "?" in one.
_USER: Final = re.compile(r"(://[^/:]*:)(?:(?:(?!,\w+://)[^?])+|[^/]+)(?=@)")
# A value may have commas, and a whole index may have several addresses with commas between them.
_OPTION: Final = re.compile(r"(?<=[?&;])([^=&;]*)=[^&]+?(?=&|,\w+://|\Z)")
# The name of a file with passwords is no secret.
_SECRET: Final = re.compile(
    r"pass(?!file)|pwd|secret|token|credential|(?:scram\w*|api|access|private)_?key", re.IGNORECASE
)


def shown_address(address: str) -> str:
    """Return an address for messages, with "..." for a password, also in its options ("?sslpassword=...")."""

    def hidden(option: re.Match[str]) -> str:
        return f"{option[1]}={_HIDDEN}" if _SECRET.search(unquote(option[1])) else option[0]

    return _OPTION.sub(hidden, _USER.sub(rf"\1{_HIDDEN}", address))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a collection is.

    Attributes:
        server: As the server's own library takes it.
    """

    server: str
    collection: str


def place_of(url: str) -> Place:
    """Parse "SERVER#COLLECTION".

    Raises:
        ConfigError: It has a password, or the collection's name is not valid.
    """
    server, _, collection = url.partition("#")
    if shown_address(url) != url:
        remedy = "leave it out, and set it in the environment (PGPASSWORD, PGPASSFILE or AUSCULT_MILVUS_TOKEN)"
        got = f"one with it, {shown_address(url)}"
        raise ConfigError("an address without a password, which others could read", got, remedy)
    collection = collection or DEFAULT_COLLECTION
    if not (collection.isidentifier() and collection.isascii() and len(collection) <= 48):
        raise ConfigError("a collection of letters, digits and _ behind #", f"'{collection}'", "choose another name")
    return Place(server, collection)


REACH: Final = "see that it runs and can be reached"
"""The remedy of errors that a server cannot be reached."""


def patiently(
    deed: Callable[[], _T],
    lost: Callable[[Exception], bool],
    again: Callable[[], None],
    name: str,
    waits: Sequence[float] | None = None,
) -> _T:
    """Run a function on a server. If the connection is lost, connect and run it again, a few times.

    Args:
        deed: The function; it may run twice.
        lost: Returns whether an error means that the connection was lost.
        again: Drops the connection, so that `deed` connects again.
        name: Name of the engine.
        waits: Seconds before each further try.

    Raises:
        ServerAwayError: It was lost each time.
    """
    for wait in (*(_WAITS if waits is None else waits), None):
        try:
            return deed()
        except Exception as error:
            if not lost(error):
                raise
            if wait is None:
                raise ServerAwayError(f"an answer of {name}", f"none ({first_line(error)})", REACH) from error
            time.sleep(wait)
            again()
    raise AssertionError("the last try returns or raises")


def first_line(error: Exception) -> str:
    """Return an error's message in one line."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def printable_value(value: str) -> str:
    """Return a field's value as servers can keep it: without NUL and halves of characters."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
