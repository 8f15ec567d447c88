"""The plugin of docs/how-to/extend.md: installed beside Auscult, its command, reader and corpus are there."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from auscult.errors import ConfigError
from auscult.extensions import entries
from auscult.ingest.opening import open_corpus
from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.elsewhere import FORMATS
from auscult.readers.registry import READERS, Registry, known_readers
from auscult_engines import open_engine
from places import ROOT

PLUGIN = ROOT / "examples" / "plugin"
EXPORT = PLUGIN / "auscult_pubmed" / "example.nbib"


def install(site: Path, groups: dict[str, dict[str, str]], name: str = "auscult-pubmed") -> None:
    """Write what pip writes of a package: which entry points it has."""
    described = site / f"{name.replace('-', '_')}-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in of.items()) for group, of in groups.items()
    )
    (described / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the plugin in it, its entry points as its `pyproject.toml` has them."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "auscult_pubmed").symlink_to(PLUGIN / "auscult_pubmed")
    install(folder, tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]["entry-points"])
    return folder


@pytest.fixture
def fresh_entries() -> Iterator[None]:
    """Entry points are read when they are asked for, and forgotten afterwards."""
    entries.cache_clear()
    yield
    entries.cache_clear()


def auscult(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "auscult.cli.main", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_command_is_a_command_of_auscult(site: Path) -> None:
    done = auscult(site, "titles", str(EXPORT))
    assert done.stdout.splitlines() == [
        "Colchicine for acute gout in primary care.",
        "Inhalers for asthma: a made-up abstract.",
    ]


def test_its_files_are_indexed_and_found(site: Path, tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    done = auscult(site, "index", str(EXPORT), "--out", index, "--no-knowledge")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 documents, 2 passages, 4 sentences")
    first = auscult(site, "search", index, "How is gout treated?", "-k", "1").stdout
    assert "Colchicine for acute gout in primary care" in first


def test_without_it_the_same_file_is_one_note() -> None:
    assert Registry().reader_of(SourceFile(EXPORT.name, EXPORT.read_bytes())).name == "text"
    with pytest.raises(ConfigError, match="pubmed-example"):
        open_corpus("pubmed-example")


def test_its_corpus_is_opened_by_name(site: Path, monkeypatch: pytest.MonkeyPatch, fresh_entries: None) -> None:
    monkeypatch.syspath_prepend(site)
    titles = [document.title for document in open_corpus("pubmed-example").documents()]
    assert titles == ["Colchicine for acute gout in primary care.", "Inhalers for asthma: a made-up abstract."]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_entries: None) -> Path:
    """A folder of packages that this process looks into."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_plugin_readers_are_tried_before_refusing_a_file(installed: Path) -> None:
    database = SourceFile("notes.sqlite", b"SQLite format 3\0 Gout hurts.")
    with pytest.raises(UnreadableError, match="database"):
        Registry().reader_of(database)
    (installed / "database.py").write_text(
        "class Reader:\n"
        "    name, suffixes = 'database', ('.sqlite',)\n"
        "    def recognises(self, file): return file.content.startswith(b'SQLite')\n"
    )
    install(installed, {"auscult.readers": {"sqlite": "database:Reader"}}, "database")
    entries.cache_clear()
    assert list(known_readers()) == [*FORMATS, *list(READERS)[:-1], "sqlite", "old-office", "note"]
    assert Registry().reader_of(database).name == "database"


def test_plugins_cannot_take_a_built_in_readers_name(installed: Path) -> None:
    install(installed, {"auscult.readers": {"html": "mine:Reader"}}, "mine")
    with pytest.raises(ConfigError, match="'mine:Reader', called 'html'"):
        known_readers()


def test_engine_is_chosen_by_the_address_scheme(installed: Path) -> None:
    with pytest.raises(ConfigError, match="'nearby://host/a'"):
        open_engine("nearby://host/a")
    (installed / "nearby.py").write_text(
        "class Engine:\n    def __init__(self, place): self.name = f'{place.server} {place.collection}'\n"
    )
    install(installed, {"auscult.engines": {"nearby": "nearby:Engine"}}, "nearby")
    entries.cache_clear()
    assert open_engine("nearby://host/a#notes").name == "nearby://host/a notes"
