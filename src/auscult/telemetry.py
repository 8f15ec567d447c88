"""Switching off what other packages report to their makers: every import of one of them calls this first."""

from __future__ import annotations

import os

OFF = {
    # Read once, when it is imported: without it version 1.32 looks up its maker's host six to eight times a minute, and
    # writes a device id and a database under the user's cache and temporary folders. Its own call comes too late.
    "ORT_DISABLE_TELEMETRY": "1",
    # The client of the model hub would say which packages are installed, and fetch a list of programs to recognise.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Ray sends its makers what a cluster is made of once an hour, and asks a cloud's metadata service where it runs.
    "RAY_USAGE_STATS_ENABLED": "0",
    # FastAPI and the Model Context Protocol's package write traces, with addresses, that an installed SDK exports.
    "FASTAPI_OTEL_AUTO_CONFIGURE": "false",
    "OTEL_SDK_DISABLED": "true",
    # What others have agreed on (https://donottrack.sh).
    "DO_NOT_TRACK": "1",
}
"""Variables of the environment by which packages are told to report nothing."""


def switch_off() -> None:
    """Tell packages that are imported from now on, and processes that are started, to report nothing.

    Values that a user has set are replaced: nothing is sent, whatever a machine's environment says.
    """
    os.environ.update(OFF)
