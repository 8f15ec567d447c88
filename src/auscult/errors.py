"""Errors that a user can fix. Each says what was expected, what came, and what to do.

The command line prints them as one sentence and exits with a non-zero code; the Python API raises them. Any other
exception is a bug and keeps its traceback.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

# C0 and C1 controls, line separators, direction overrides, lone surrogates.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")


class AuscultError(Exception):
    """An error caused by input or environment, with its remedy.

    Args:
        expected: What would have been right, as a noun phrase.
        got: What was found instead, as a noun phrase.
        remedy: What to do about it, as an imperative clause.
    """

    def __init__(self, expected: str, got: str, remedy: str) -> None:
        self.expected = expected
        self.got = got
        self.remedy = remedy
        super().__init__(f"expected {expected}, got {got}; {remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error without its constructor's arguments, so that it can pass between processes."""
        return _restored, (type(self), str(self), vars(self))


def _restored(kind: type[AuscultError], message: str, attributes: dict[str, Any]) -> AuscultError:
    error = kind.__new__(kind, message)
    vars(error).update(attributes)
    return error


class DataError(AuscultError):
    """A file, or a line of it, does not follow its format."""


class CorpusMissingError(AuscultError):
    """A corpus is not on this machine. The remedy says where to get it and where to put it."""


class ModelError(AuscultError):
    """A model folder is missing, damaged, or of a kind that does not support the request."""


class IndexFolderError(AuscultError):
    """An index folder is missing, damaged, locked, or was written with another model."""


class IndexBusyError(IndexFolderError):
    """Another process is changing the index."""


class EngineError(AuscultError):
    """A server with passages of an index cannot be reached, or fails."""


class ServerAwayError(EngineError):
    """A server with passages of an index cannot be reached."""


class ShareAwayError(ServerAwayError):
    """One of the servers that share an index cannot be reached.

    Args:
        share: Number of its share, from 0.
        shares: Number of shares.
        name: Name of the server, for people.
        remedy: What to do about it.
    """

    def __init__(self, share: int, shares: int, name: str, remedy: str) -> None:
        self.share, self.shares = share, shares
        super().__init__(f"an answer of share {share + 1} of {shares} of the index, {name}", "none", remedy)


class QueryError(AuscultError):
    """A query cannot be understood or resolved."""


class ConfigError(AuscultError):
    """An experiment file or an option has a value outside its range."""


class MissingExtraError(AuscultError):
    """An optional dependency is needed.

    Args:
        package: The package that could not be imported.
        extra: The extra of auscult that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"the optional package '{package}'",
            "an installation without it",
            f"run: {_installing(extra)}",
        )


def _installing(extra: str) -> str:
    """Return the pip command for an extra, from the checkout or URL of this installation, else by name."""
    checkout = Path(__file__).parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e '{checkout}[{extra}]'"
    # Imported only here, as it takes a dozen times as long as the rest of this file.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = json.loads(distribution("auscult").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    version_control = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
    place = f" @ {version_control}{origin['url']}" if "url" in origin else ""
    return f"pip install 'auscult[{extra}]{place}'"


def printable(text: str) -> str:
    """Return a text on one line, with spaces for control characters, which could control a terminal."""
    return _CONTROL.sub(" ", text)
