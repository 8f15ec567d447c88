"""Experiment files: what a file is based on, its variants, and what is told of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.errors import ConfigError
from auscult_lab.families.table import read_experiment
from auscult_lab.rankers.experiment import RankingExperiment
from auscult_lab.training.experiment_files import (
    Published,
    check_experiment,
    experiments_in,
    read_compared,
    read_model_name,
    read_published,
    variant_path,
)

SHARED = """
track: adapted
published: { table: zhu2019_table2 }
corpora: [{ name: pages }]
validation: { corpora: [pages], documents: 5 }
training: { epochs: 3, learning_rate: 0.5 }
"""
VARIANTS = """
variants:
  of-words:
    title: KNRM
    model: knrm
    training: { epochs: 7 }
  of-words-slowly:
    base: of-words
    title: KNRM, slowly
    published: { row: KNRM }
    training: { learning_rate: 0.1 }
  of-none:
    base: of-words-slowly
    published: null
    corpora: [{ name: pages }, { name: leaflets }]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "paper.yaml"
    path.write_text(SHARED + VARIANTS, encoding="utf-8")
    return path


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_variant_says_only_what_differs(file: Path):
    first, slowly, last = (read_experiment(path) for path in experiments_in(file))
    assert [variant.name for variant in (first, slowly, last)] == ["of-words", "of-words-slowly", "of-none"]
    assert [variant.model for variant in (first, slowly, last)] == ["knrm"] * 3
    assert [(variant.training.epochs, variant.training.learning_rate) for variant in (first, slowly, last)] == [
        (7, 0.5),
        (7, 0.1),
        (7, 0.1),
    ]
    assert [[corpus.name for corpus in variant.corpora] for variant in (first, last)] == [
        ["pages"],
        ["pages", "leaflets"],
    ]
    assert {variant.validation.documents for variant in (first, slowly, last)} == {5}


def test_variant_equals_a_file_of_its_own(file: Path, tmp_path: Path):
    alone = "name: of-words\ntitle: KNRM\nmodel: knrm\n" + SHARED.replace("epochs: 3", "epochs: 7")
    own = read_experiment(written(tmp_path / "alone.yaml", alone))
    assert own.model_dump_json() == read_experiment(variant_path(file, "of-words")).model_dump_json()
    assert "published" not in own.model_dump_json()


def test_base_is_the_shared_part_or_one_variant(file: Path, tmp_path: Path):
    shared = "base: paper.yaml\nname: mine\nmodel: drmm\n"
    mine = read_experiment(written(tmp_path / "mine.yaml", shared))
    assert (mine.name, mine.model, mine.title, mine.training.epochs) == ("mine", "drmm", "", 3)
    assert read_published(tmp_path / "mine.yaml") is None
    chosen = "base: paper.yaml:of-words-slowly\nname: mine\ntraining: { epochs: 1 }\n"
    mine = read_experiment(written(tmp_path / "chosen.yaml", chosen))
    assert (mine.model, mine.training.epochs, mine.training.learning_rate) == ("knrm", 1, 0.1)
    assert read_published(tmp_path / "chosen.yaml") is None


def test_files_and_folders_expand_to_all_variants(file: Path, tmp_path: Path):
    alone = written(tmp_path / "alone.yaml", "name: alone\nmodel: mlm\n")
    names = ("of-words", "of-words-slowly", "of-none")
    assert experiments_in(tmp_path) == [alone, *(variant_path(file, name) for name in names)]
    assert experiments_in(alone) == [alone]
    assert experiments_in(variant_path(file, "of-none")) == [variant_path(file, "of-none")]
    (tmp_path / "empty").mkdir()
    assert experiments_in(tmp_path / "empty") == []
    assert [read_model_name(path) for path in experiments_in(tmp_path)] == ["mlm", "knrm", "knrm", "knrm"]


def test_file_names_may_contain_a_colon(tmp_path: Path):
    path = written(tmp_path / "of:words.yaml", "name: x\nmodel: knrm\n")
    assert experiments_in(path) == [path]
    assert read_model_name(path) == "knrm"


def test_published_figures_are_found_by_title_or_row(file: Path):
    told = [read_published(path) for path in experiments_in(file)]
    assert told == [Published(table="zhu2019_table2", row="KNRM"), Published(table="zhu2019_table2", row="KNRM"), None]


def test_planned_comparisons_are_no_setting_and_not_inherited(tmp_path: Path):
    file = written(
        tmp_path / "paper.yaml",
        "model: mlm\ncompare_with: [base]\n"
        "variants:\n  one: { compare_with: [two, elsewhere] }\n  two: { base: one }\n",
    )
    assert read_compared(variant_path(file, "one")) == ("two", "elsewhere")
    assert read_compared(variant_path(file, "two")) == ("base",), "what a file says is said of all its variants"
    other = written(tmp_path / "other.yaml", "base: paper.yaml:one\nname: other\n")
    assert read_compared(other) == ()
    wrong = written(tmp_path / "wrong.yaml", "name: x\nmodel: knrm\ncompare_with: one\n")
    for read in (read_compared, read_experiment):
        with pytest.raises(ConfigError, match="'compare_with' with names of experiments"):
            read(wrong)


def test_one_of_several_variants_has_to_be_chosen(file: Path, tmp_path: Path):
    for read in (read_model_name, read_experiment, read_published):
        with pytest.raises(ConfigError, match=r"paper\.yaml:of-words does: of-words, of-words-slowly, of-none"):
            read(file)
    for given in ([str(file)], [str(file), "--variant", "of-wards"], [f"{file}:of-wards"]):
        done = CliRunner().invoke(app, ["train", *given, "--out", str(tmp_path / "out")])
        assert isinstance(done.exception, ConfigError)
        assert "of-words, of-words-slowly, of-none" in str(done.exception)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("variants: []", r"'variants' with fields by name.*wrong\.yaml"),
        ("variants: {}", "'variants' with fields by name"),
        ("variants: { one: knrm }", "'variants' with fields by name"),
        ("name: mine\nvariants: { one: {} }", r"'name' in .*wrong\.yaml;"),
        ("variants: { one: { name: mine } }", r"'name' in .*wrong\.yaml:one;"),
        ("variants: { one: { base: two } }", r"variant of .*wrong\.yaml, got 'two'.*choose one of one"),
        ("variants:\n  one: { base: two }\n  two: { base: one }", r"'base' that ends.*wrong\.yaml"),
        ("variants:\n  one: {}\n  one: { model: drmm }", r"line 3, column 3: 'one' twice"),
        ("base: wrong.yaml\nvariants: { one: {} }", r"'base' that ends.*wrong\.yaml"),
        ("published: zhu2019_table2\nvariants: { one: {} }", r"wrong\.yaml:one with published"),
        ("published: { table: x, figure: 5 }\nvariants: { one: {} }", r"wrong\.yaml:one with published figure"),
        ("variants: { one: { model: knrm, colour: red } }", r"wrong\.yaml:one with .*colour"),
    ],
)
def test_wrong_file_is_named_with_the_error_place(text: str, words: str, tmp_path: Path):
    path = variant_path(written(tmp_path / "wrong.yaml", text), "one")
    with pytest.raises(ConfigError, match=words):
        check_experiment(path, RankingExperiment)


def test_a_file_without_variants_has_none_to_choose(tmp_path: Path):
    path = written(tmp_path / "alone.yaml", "name: alone\nmodel: knrm\n")
    with pytest.raises(ConfigError, match=r"a variant 'one', got .*alone\.yaml without variants"):
        read_model_name(variant_path(path, "one"))
