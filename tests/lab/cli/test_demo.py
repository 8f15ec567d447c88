"""The demonstration, as a newcomer runs it, on the leaflets of the package and the shipped model."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.encoders import load_model
from auscult.search import Searcher
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.demo import LEAFLETS
from encoders import HashedEncoder


def test_the_leaflets_are_a_dozen_readable_documents():
    documents = list(open_corpus(str(LEAFLETS)).documents())
    assert len(documents) == 12
    assert all(len(document.passages) == 3 and document.sentences for document in documents)


def test_the_demo_indexes_and_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "empty"))
    done = CliRunner().invoke(app, ["demo", "--leaflets", "--out", str(tmp_path / "index")])
    assert done.exit_code == 0, done.output
    assert "12 documents, 36 passages" in done.output
    assert "No knowledge base" in done.output
    assert done.output.count("IgA nephropathy  leaflets") == 1
    assert "Most begin where fat has narrowed a heart artery" in done.output
    assert "autosomal recessive" in done.output
    # The last thing it says is how to open the page on what it has just indexed.
    assert f"serve {tmp_path / 'index'}   the page" in done.output
    searcher = Searcher.open(tmp_path / "index", load_model("fast"))
    assert searcher.index.manifest.counts.documents == 12


def test_demo_without_knowledge_base_asks_only_answerable_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Paths are printed as they are, though they look like markup."""
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "[/bold] [red]empty"))
    monkeypatch.setattr("auscult_lab.cli.demo.load_model", lambda name: HashedEncoder())
    done = CliRunner().invoke(app, ["demo", "--leaflets", "--out", str(tmp_path / "[link]index")])
    assert done.exit_code == 0, done.output
    told = "".join(done.output.split())
    assert "auscultdatashowknowledge-base" in told
    assert "[link]index--entity" in told
    assert "IgA nephropathy" in done.output
    assert "How is gout treated?" not in done.output
