"""The experiments that are shipped: each is valid, has a name of its own, and stands beside figures that there are."""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from auscult_lab.evaluation.published_figures import published_tables
from auscult_lab.families.table import read_experiment
from auscult_lab.training.experiment_files import experiments_in, read_published
from places import ROOT

FOLDER = ROOT / "experiments"
FILES = sorted(FOLDER.glob("*.yaml"))
SHIPPED = experiments_in(FOLDER)
PUBLISHED = resources.files("auscult_lab.evaluation").joinpath("published")


def test_experiments_are_in_one_folder_with_unique_names() -> None:
    assert sorted(FOLDER.rglob("*.yaml")) == FILES
    names = Counter(read_experiment(path).name for path in SHIPPED)
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_each_is_valid_and_called_as_it_stands(path: Path) -> None:
    assert read_experiment(path).name == (path.stem if path.suffix == ".yaml" else path.name.rpartition(":")[2])


@pytest.mark.parametrize("path", [path for path in SHIPPED if read_published(path)], ids=lambda path: path.name)
def test_published_figures_are_those_that_tables_put_beside(path: Path) -> None:
    published = read_published(path)
    assert published is not None
    table = json.loads(PUBLISHED.joinpath(f"{published.table}.json").read_text(encoding="utf-8"))
    assert published.row in [row["model"] for row in table["rows"]]
    title = read_experiment(path).title
    corpora = [table["corpus"]] if "corpus" in table else list(table["queries"] or table["track"])
    beside = [
        row.model
        for corpus in corpora
        for each in published_tables(corpus)
        if (each.citation, each.table) == (table["citation"], table["table"]) and (row := each.find(title))
    ]
    # Rankers are called as their architecture is; the encoder in a model's name is its run's.
    assert set(beside) <= {published.row}


def test_every_file_is_explained_and_listed_among_models() -> None:
    page = (ROOT / "docs" / "explanation" / "models.md").read_text(encoding="utf-8")
    for file in FILES:
        assert file.read_text(encoding="utf-8").startswith("# "), file
        assert f"`{file.name}`" in page, file
