"""Extensions that other packages register through entry points. The lab and the readers are among them.

| group | name of an entry | object |
|---|---|---|
| `auscult.commands` | the command; `concepts.graph` is a group below `concepts` | a command, or a `typer.Typer` |
| `auscult.corpora` | `EXTENSION/PATTERN`, see `ingest.opening` | a `ingest.opening.CorpusSource` |
| `auscult.models` | the `kind` in a `model.json` | an `encoders.registry.Kind` |
| `auscult.readers` | the reader's name | a class with the protocol `readers.contract.Reader` |
| `auscult.deidentifiers` | the name in `--read deidentify=NAME` | see `readers.deidentify.open_deidentifier` |
| `auscult.tasks` | `check-sources`, `draw-pages` or `rewrite` | see `readers.elsewhere` |
| `auscult.engines` | the scheme of its addresses | a class with the protocol `engines.contract.Engine` |

An entry is loaded only when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal

from auscult.errors import ConfigError

Group = Literal[
    "auscult.commands",
    "auscult.corpora",
    "auscult.models",
    "auscult.readers",
    "auscult.deidentifiers",
    "auscult.tasks",
    "auscult.engines",
]
_REMEDY: Final = "update or remove that package"


@cache
def entries(group: Group) -> Mapping[str, EntryPoint]:
    """Return the entries of a group by name.

    Raises:
        ConfigError: Two packages have registered the same name.
    """
    registered: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if (other := registered.get(entry.name)) is not None and other.value != entry.value:
            raise ConfigError(
                f"one extension called '{entry.name}' in {group}",
                f"'{other.value}' and '{entry.value}'",
                "remove one of the two packages",
            )
        registered[entry.name] = entry
    return registered


def load(group: Group, name: str) -> Any:
    """Load the object of an entry.

    Raises:
        ConfigError: The extension cannot be imported.
        KeyError: There is no such entry.
    """
    entry = entries(group)[name]
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the extension '{entry.value}' of {group}", str(error), _REMEDY) from error
