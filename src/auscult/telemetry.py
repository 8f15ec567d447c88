"""Import other packages: without their telemetry, which is switched off first, and with an error for a missing one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from auscult.errors import MissingExtraError

OFF = {
    # ONNX Runtime reads this once, at import. Without it, version 1.32 looks up its maker's host six to eight times a
    # minute, and writes a device id and a database to the user's cache and temporary folders. Its own function to turn
    # this off comes too late.
    "ORT_DISABLE_TELEMETRY": "1",
    # The client of the Hugging Face hub would send the installed packages, and fetch a list of programs to recognise.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Ray sends the composition of a cluster once an hour, and asks the metadata service of a cloud where it runs.
    "RAY_USAGE_STATS_ENABLED": "0",
    # FastAPI and the package `mcp` write traces with URLs, which an installed OpenTelemetry SDK exports.
    "FASTAPI_OTEL_AUTO_CONFIGURE": "false",
    "OTEL_SDK_DISABLED": "true",
    # A common convention (https://donottrack.sh).
    "DO_NOT_TRACK": "1",
}
"""Environment variables that turn telemetry off."""


def switch_off() -> None:
    """Turn telemetry off for packages imported later, and for child processes.

    Values that the user has set are replaced, so that nothing is ever sent.
    """
    os.environ.update(OFF)


@contextmanager
def naming_extra(extra: str, *packages: str) -> Iterator[None]:
    """Import optional packages in a context in which a missing one raises an error that says what to install.

    Their telemetry is switched off first.

    Args:
        extra: The extra with these packages.
        packages: Packages that may be missing; for any other, the import's own error is raised.

    Raises:
        MissingExtraError: One of the packages is missing.
    """
    switch_off()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in packages:
            raise MissingExtraError(error.name, extra) from error
        raise
