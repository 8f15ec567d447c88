"""Errors that a user can mend: each says what was expected, what came, and what to do.

The command line prints them as one sentence and exits non-zero; the Python API raises them. Anything else that
escapes is a bug of ours and keeps its traceback.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# C0 and C1, line separators, direction overrides, half surrogate pairs.
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
        """Let an error of a worker reach the process that started it, whatever its class takes."""
        return _restored, (type(self), str(self), vars(self))


def _restored(kind: type[AuscultError], message: str, said: dict[str, Any]) -> AuscultError:
    error = kind.__new__(kind, message)
    vars(error).update(said)
    return error


class DataError(AuscultError):
    """A file, or a line of one, does not hold what its format promises."""


class CorpusMissingError(AuscultError):
    """A corpus is not on this machine (or may not be copied); the remedy says where to get it and put it."""


class ModelError(AuscultError):
    """A model folder is absent, damaged, or of a kind that cannot do what was asked."""


class IndexFolderError(AuscultError):
    """An index folder is absent, damaged, locked, or was written with another model."""


class IndexBusyError(IndexFolderError):
    """Another writer is at work on an index."""


class EngineError(AuscultError):
    """A server that keeps passages cannot be reached, or does not do what was asked."""


class ServerAwayError(EngineError):
    """A server that keeps passages cannot be reached."""


class ShareAwayError(ServerAwayError):
    """One of the servers that share an index cannot be reached.

    Args:
        share: Its number, from 0.
        shares: How many there are.
        name: Of the server, for people.
        remedy: What to do about it.
    """

    def __init__(self, share: int, shares: int, name: str, remedy: str) -> None:
        self.share, self.shares = share, shares
        super().__init__(f"an answer of share {share + 1} of {shares} of the index, {name}", "none", remedy)


class QueryError(AuscultError):
    """A query names something that cannot be understood or resolved."""


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
    """How pip brings an extra: from where this installation came, a checkout or a wheel, or else by the name."""
    checkout = Path(__file__).parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e '{checkout}[{extra}]'"
    # Imported when something is missing: it takes as long as all else of this file, a dozen times.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        told = json.loads(distribution("auscult").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        told = {}
    version_control = f"{told['vcs_info']['vcs']}+" if "vcs_info" in told else ""
    place = f" @ {version_control}{told['url']}" if "url" in told else ""
    return f"pip install 'auscult[{extra}]{place}'"


@contextmanager
def naming_extra(extra: str, *packages: str) -> Iterator[None]:
    """Around imports of optional packages: a missing one becomes an error that says what to install.

    What they report to their makers is switched off first.

    Args:
        extra: The extra they belong to.
        packages: The packages that may be missing; of any other, the import's own error stays.

    Raises:
        MissingExtraError: One of the packages is missing.
    """
    # Only here: all else of this file stands alone, and says what to install where nothing works.
    from auscult import telemetry

    telemetry.switch_off()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in packages:
            raise MissingExtraError(error.name, extra) from error
        raise


def printable(text: str) -> str:
    """Return a text on one line, with blanks for control characters, which could steer a terminal."""
    return _CONTROL.sub(" ", text)
