"""Without the readers of this package, each of their files is refused, and the package is named."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from auscult.cli.main import main
from auscult.errors import ConfigError, DataError
from auscult.ingest.files import FilesCorpus
from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.deidentify import open_deidentifier
from auscult.readers.elsewhere import FORMATS, OLD_OFFICE, MissingReader, load_task, open_page_renderer
from auscult.readers.process.worker import ReadingProcess
from auscult.readers.registry import Registry, known_readers
from good_files import good_files

FILES = good_files()
HERE = [name for name in FILES if name.endswith((".txt", ".md", ".html", ".csv", "rows.jsonl"))]
ELSEWHERE = {name: content for name, content in FILES.items() if name not in HERE and not name.endswith(".zip")}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_files_of_missing_readers_are_refused(name: str, alone: None) -> None:
    with pytest.raises(UnreadableError, match="pip install auscult-readers"):
        list(Registry().read(SourceFile(name, ELSEWHERE[name])))


@pytest.mark.parametrize("name", ["leaflet.pdf", "letter.rtf", "report.hl7", "article.xml", "bundle.json"])
def test_text_under_another_name_is_refused_too(name: str, alone: None) -> None:
    reader = Registry().reader_of(SourceFile("saved.txt", ELSEWHERE[name]))
    assert isinstance(reader, MissingReader)


class OwnReader:
    """A reader of PDF by somebody else."""

    name, suffixes = "own", (".pdf",)

    def recognises(self, file: SourceFile) -> bool:
        return file.suffix in self.suffixes


def test_another_packages_reader_may_stand_in(alone: None) -> None:
    places = known_readers()
    note = places.pop("note")
    registry = Registry(readers={**places, "own": f"{__name__}:OwnReader", "note": note})
    registry._opened["own"] = OwnReader()  # type: ignore[assignment]
    assert registry.reader_of(SourceFile("leaflet.pdf", ELSEWHERE["leaflet.pdf"])).name == "own"


@pytest.mark.parametrize("name", HERE)
def test_what_is_read_here_needs_no_package(name: str, alone: None) -> None:
    assert list(Registry().read(SourceFile(name, FILES[name])))


def test_the_reading_process_names_the_package(alone: None) -> None:
    with ReadingProcess() as process, pytest.raises(UnreadableError, match="a PDF is read by auscult-readers"):
        list(process.read(SourceFile("leaflet.pdf", ELSEWHERE["leaflet.pdf"])))


def test_a_single_missing_file_is_an_error(alone: None, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(ELSEWHERE["leaflet.pdf"])
    with pytest.raises(DataError, match="a PDF is read by auscult-readers: pip install auscult-readers"):
        list(FilesCorpus(str(tmp_path / "a.pdf")))


def test_the_command_names_the_package(alone: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pdf").write_bytes(ELSEWHERE["leaflet.pdf"])
    with pytest.raises(SystemExit) as ended:
        main(["index", str(tmp_path / "a.pdf"), "--out", str(tmp_path / "index")])
    assert ended.value.code == 2
    assert "a PDF is read by auscult-readers: pip install auscult-readers" in " ".join(capsys.readouterr().err.split())


def test_other_tasks_name_the_package(alone: None) -> None:
    with pytest.raises(ConfigError, match="sources are checked by auscult-readers: pip install auscult-readers"):
        load_task("check-sources", "sources are checked")
    with pytest.raises(ConfigError, match="pip install auscult-readers"):
        open_deidentifier("presidio")
    with pytest.raises(UnreadableError, match="pip install auscult-readers"):
        open_page_renderer().render(ELSEWHERE["leaflet.pdf"], 0, 1.0)


def test_a_missing_parser_is_named_by_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(UnreadableError, match="a PDF is read by auscult-readers"):
        list(Registry().read(SourceFile("leaflet.pdf", ELSEWHERE["leaflet.pdf"])))


def test_the_table_has_the_suffixes_of_the_readers() -> None:
    for name, place in known_readers().items():
        if name in FORMATS or name == OLD_OFFICE:
            module, _, attribute = place.partition(":")
            suffixes = set(getattr(import_module(module), attribute).suffixes)
            # JSON lines are read here.
            assert set(MissingReader(name).suffixes) == suffixes - {".ndjson"}
