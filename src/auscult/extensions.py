"""Extensions that other packages register through entry points: the lab, the readers, the engines, the service, others.

| group | name of an entry | object |
|---|---|---|
| `auscult.commands` | the command; `concepts.graph` is a group below `concepts` | a command, or a `typer.Typer` |
| `auscult.corpora` | `EXTENSION/PATTERN`, see `ingest.opening` | a `ingest.opening.CorpusSource` |
| `auscult.models` | the `kind` in a `model.json` | an `encoders.registry.Kind` |
| `auscult.readers` | the reader's name | a class with the protocol `readers.contract.Reader` |
| `auscult.deidentifiers` | the name in `--read deidentify=NAME` | see `readers.deidentify.open_deidentifier` |
| `auscult.tasks` | `check-sources`, `draw-pages` or `rewrite` | see `readers.elsewhere` |
| `auscult.tasks` | `encode-in-bulk` or `write-files` | see `ingest.elsewhere` |
| `auscult.tasks` | `recognise-names` | a class as `auscult_lab.recognition.spacy_pipeline.SpacyRecognizer` |
| `auscult.servers` | the scheme of its addresses | an object with the protocol `engines.contract.IndexServer` |
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
    "auscult.servers",
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


def load_from(package: str, group: Group, name: str, done: str) -> Any:
    """Load the object of an entry that a package of this project has.

    Args:
        package: The package.
        group: The group.
        name: The entry.
        done: What its object does, as a passive sentence without an agent ("sources are checked").

    Raises:
        ConfigError: Neither this package nor another one with such an entry is installed.
    """
    if name not in entries(group):
        remedy = f"{done} by {package}: pip install {package}"
        raise ConfigError(f"a package with '{name}' of {group}", "an installation without it", remedy)
    return load(group, name)
