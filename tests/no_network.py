"""Tests with every address but this machine's shut off: `python tests/no_network.py tests/search`.

Counts who tried to reach another all the same; the last line is what was counted, as JSON.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

import pytest

_HERE = ("127.", "::1", "localhost", "0.0.0.0", "testserver")  # noqa: S104


def main(arguments: list[str]) -> int:
    """Run tests."""
    tried: list[str] = []
    connect, connect_ex, lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def is_here(place: Any) -> bool:
        host = place[0] if isinstance(place, tuple) else place
        return host is None or not isinstance(place, tuple) or str(host).startswith(_HERE) or not host

    def shut(place: Any) -> None:
        if not is_here(place):
            tried.append(str(place))
            raise OSError(101, "Network is unreachable")

    def connecting(own: socket.socket, place: Any) -> None:
        shut(place)
        connect(own, place)

    def connecting_ex(own: socket.socket, place: Any) -> int:
        shut(place)
        return connect_ex(own, place)

    def looking_up(host: Any, *more: Any, **named: Any) -> Any:
        if host and not str(host).replace(".", "").isdigit():
            shut((host, 0))
        return lookup(host, *more, **named)

    socket.socket.connect = connecting  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = connecting_ex  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = looking_up
    passed = 0

    class Count:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            nonlocal passed
            passed += report.when == "call" and report.passed

    code = pytest.main(["-m", "not slow", "-p", "no:cacheprovider", *arguments], plugins=[Count()])
    print(
        json.dumps({"tests": passed, "tried to reach others": len(tried), "whom": ", ".join(sorted(set(tried)))[:200]})
    )
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
