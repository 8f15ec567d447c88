"""Addresses of indexes and of engines: "SCHEME://SERVER#COLLECTION", several servers with commas between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from auscult.errors import ConfigError

DEFAULT_COLLECTION: Final = "auscult"
_MILVUS: Final = "milvus:"
#: Comma between the addresses of two servers. A comma within an address separates hosts of the same data (libpq).
_BETWEEN: Final = re.compile(r",(?=\w+://)")
_HIDDEN: Final = "..."
# The part before "@" is a user, and what follows a colon in it a password. People forget to encode "/" and "?" in one.
_USER: Final = re.compile(r"(://[^/:]*:)(?:(?:(?!,\w+://)[^?])+|[^/]+)(?=@)")
# A value may have commas, and a whole index may have several addresses with commas between them.
_OPTION: Final = re.compile(r"(?<=[?&;])([^=&;]*)=[^&]+?(?=&|,\w+://|\Z)")
# The name of a file with passwords is no secret.
_SECRET: Final = re.compile(
    r"pass(?!file)|pwd|secret|token|credential|(?:scram\w*|api|access|private)_?key", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a collection is.

    Attributes:
        server: As the server's own library takes it.
    """

    server: str
    collection: str


def is_address(given: str | Path) -> bool:
    """Whether an index is named by the address of a server, rather than by a folder."""
    return isinstance(given, str) and ("://" in given or given.startswith(_MILVUS))


def scheme_of(address: str) -> str:
    """Return the part of an address that says which kind of server it is of."""
    return address.partition(":")[0]


def shown_address(address: str) -> str:
    """Return an address for messages, with "..." for a password, also in its options ("?sslpassword=...")."""

    def hidden(option: re.Match[str]) -> str:
        return f"{option[1]}={_HIDDEN}" if _SECRET.search(unquote(option[1])) else option[0]

    return _OPTION.sub(hidden, _USER.sub(rf"\1{_HIDDEN}", address))


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


def places_of(address: str) -> list[Place]:
    """Parse the address of a whole index: one server, or several with commas between them, each with a share.

    Raises:
        ConfigError: It has a password, or the collection's name is not valid.
    """
    servers, mark, collection = address.partition("#")
    return [place_of(f"{server}{mark}{collection}") for server in _BETWEEN.split(servers)]


def no_whole_index(address: str) -> ConfigError:
    """Return the error for an address of a server that cannot have a whole index."""
    expected = "postgresql://USER@HOST/DATABASE, which keeps an index"
    return ConfigError(expected, f"'{address}'", "name such a database, or the index' folder")


def named_indexes(given: Sequence[str]) -> dict[str, Path | str]:
    """Parse `FOLDER` or `ADDRESS`, each with an optional `NAME=` before it, to index folders and addresses by name.

    Raises:
        ConfigError: Two have the same name, or an address is invalid.
    """
    indexes: dict[str, Path | str] = {}
    for text in given:
        name, equals, place = text.partition("=")
        if is_address(name):
            # An address may have equals signs in its options.
            name, equals, place = "", "", text
        place = place if equals else text
        index = place if is_address(place) else Path(place)
        if not equals:
            name = place_of(index).collection if isinstance(index, str) else index.resolve().name
        if name in indexes:
            raise ConfigError("a name of its own for each index", f"'{name}' twice", "name one: NAME=FOLDER")
        indexes[name] = index
    return indexes
