"""Without the engines of this package, each address and each task of theirs names the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.cli.main import main
from auscult.engines import manifest_at, open_index, publish, signs_of, withdraw
from auscult.errors import ConfigError
from auscult.ingest.elsewhere import encode_in_bulk
from auscult.search import Searcher
from encoders import HashedEncoder

ADDRESS = "postgresql://localhost/notes"


@pytest.mark.parametrize("address", [ADDRESS, "postgres://db/notes,postgres://db2/notes#ward"])
def test_addresses_name_the_missing_package(address: str, alone: None, tmp_path: Path) -> None:
    for refused in (Searcher.open, open_index, manifest_at, withdraw, lambda there: publish(tmp_path, there)):
        with pytest.raises(ConfigError, match="are opened by auscult-engines: pip install auscult-engines"):
            refused(address)
    assert signs_of(address) is None


def test_addresses_of_nobody_are_refused(alone: None) -> None:
    with pytest.raises(ConfigError, match="postgresql://USER@HOST/DATABASE, which keeps an index"):
        open_index("mysql://localhost/notes")
    with pytest.raises(ConfigError, match="without a password"):
        open_index("mysql://me:secret@localhost/notes")


def test_encoding_in_bulk_names_the_package(alone: None, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="are encoded in chunks by auscult-engines: pip install auscult-engines"):
        encode_in_bulk(HashedEncoder(), "fast", tmp_path / "index", executor="processes", workers=2)


def test_commands_name_the_missing_package(alone: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "gout.md"
    notes.write_text("# Gout\n\nRest helps.\n")
    for command in (["search", ADDRESS, "gout?"], ["index", str(notes), "--to", ADDRESS]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 2
        assert "pip install auscult-engines" in " ".join(capsys.readouterr().err.split())


def test_folders_need_no_package(alone: None, tmp_path: Path) -> None:
    notes, index = tmp_path / "gout.md", str(tmp_path / "index")
    notes.write_text("# Gout\n\nRest helps.\n")
    with pytest.raises(SystemExit) as ended:
        main(["index", str(notes), "--out", index, "--no-knowledge"])
    assert ended.value.code == 0
    assert Searcher.open(index).search("What helps against gout?")
