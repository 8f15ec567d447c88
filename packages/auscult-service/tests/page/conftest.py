"""A service over real documents and a browser, for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from auscult.search import Searcher
from auscult_service.settings import Settings
from needs import Needs
from page_service import Watched, chromium, clinic_index, fast_encoder, listening, medquad_index, ward_index


@dataclass(frozen=True)
class Service:
    """What is served, and where."""

    base: str
    medquad: Searcher
    ward: Searcher
    data: Path


@pytest.fixture(scope="session")
def service(needs: Needs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    needs.data("medquad")
    folder = tmp_path_factory.mktemp("page")
    encoder = fast_encoder()
    indexes = {
        "medquad": medquad_index(folder / "medquad", encoder),
        "ward": ward_index(folder / "ward", encoder),
        "clinic": clinic_index(folder / "clinic", encoder),
    }
    settings = Settings(indexes=indexes, data=folder / "data")
    opened = {name: Searcher.open(path, encoder) for name, path in indexes.items()}
    with listening(settings, encoder) as base:
        yield Service(base, opened["medquad"], opened["ward"], folder / "data")


# Of one file: while Playwright runs, no test in the same process can run a loop of its own.
@pytest.fixture(scope="module")
def browser(needs: Needs) -> Iterator[Any]:
    with chromium(needs.chromium()) as started:
        yield started


@pytest.fixture
def watched(browser: Any, service: Service) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    seen = Watched(context.new_page(), service.base)
    yield seen
    context.close()
    assert seen.faults == []
    assert seen.elsewhere == []
