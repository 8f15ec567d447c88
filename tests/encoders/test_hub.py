"""Models of the Hugging Face hub, from where it keeps what it has fetched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from auscult.encoders import model_folder
from auscult.errors import ModelError
from leaflets import leaflets
from small_general import save_general

COMMIT = "0" * 40


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The hub's folder of kept models, with one."""
    place = tmp_path / "hub" / "models--clinic--small"
    save_general(place / "snapshots" / COMMIT)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(COMMIT)
    return tmp_path / "hub"


def test_hub_model_builds_and_reopens_an_index(kept: Path, tmp_path: Path) -> None:
    records = [{"id": each.doc_id, "title": each.title, "text": each.text} for each in leaflets()]
    (tmp_path / "leaflets.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    for command in (
        ["index", "leaflets.jsonl", "--out", "index", "--model", "hf:clinic/small", "--no-knowledge"],
        ["search", "index", "gout"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", "from auscult.cli.main import main; import sys; main(sys.argv[1:])", *command],
            cwd=tmp_path, env={"HF_HUB_CACHE": str(kept), "HF_HUB_OFFLINE": "1"}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "gout" in done.stdout.lower()


def test_model_missing_from_the_hub_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hf:clinic/none", "hf:no name"):
        with pytest.raises(ModelError, match=f"a model of the Hugging Face hub for '{name}'"):
            model_folder(name)
    # A folder that is not there is never looked for on the hub.
    monkeypatch.setattr("huggingface_hub.snapshot_download", pytest.fail)
    assert model_folder("runs/model") == Path("runs/model")
