"""`auscult compare`: rankers trained, ranked and compared; what is done is not done again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.errors import ConfigError
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.training.folder import locked
from places import ROOT
from small_experiment import CAUSES, ENTITIES, SYMPTOMS, TREATMENT

PAGE = (ROOT / "docs" / "tutorials" / "rank-with-your-own.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[0]
TEXTS = {"Symptoms": SYMPTOMS, "Causes": CAUSES, "Treatment": TREATMENT}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with pages to train on, a test collection of other diseases, and common settings."""
    pages = [
        {
            "id": name,
            "title": name,
            "sections": [{"heading": h, "text": t.format(name, name)} for h, t in TEXTS.items()],
        }
        for name in ENTITIES
    ]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    test = tmp_path / "test"
    (test / "qrels").mkdir(parents=True)
    rows = [(f"{d}-{h}", f"{d} {h.lower()}", t.format(d, d)) for d in ("lupus", "cholera") for h, t in TEXTS.items()]
    (test / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": i, "title": "", "text": t}) + "\n" for i, _, t in rows)
    )
    (test / "queries.jsonl").write_text("".join(json.dumps({"_id": i, "text": q}) + "\n" for i, q, _ in rows))
    judged = "".join(f"{i}\t{i}\t1\n" for i, _, _ in rows)
    (test / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    base = {
        "track": "zero-shot",
        "corpora": [{"name": str(tmp_path / "pages.jsonl")}],
        "validation": {"corpora": [str(tmp_path / "pages.jsonl")], "documents": 2},
        "word_vectors": {"dim": 8, "epochs": 2, "buckets": 300, "min_count": 1, "glossary": False},
        "negatives": {"same_entity": 1, "bm25": 1, "random": 1, "in_batch": 1},
        "training": {"epochs": 2, "batch_queries": 4, "accelerator": "cpu"},
        "min_count": 1,
        "evaluate": [str(test)],
    }
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(base))
    for name, model, others in (("one", "knrm", ["two", "elsewhere"]), ("two", "soft-match", [])):
        own = {"base": "base.yaml", "name": name, "model": model, "compare_with": others}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(own))
    (tmp_path / "soft_match.py").write_text(EXAMPLE)
    return tmp_path


@pytest.fixture
def registry():
    before = dict(RANKERS)
    yield
    RANKERS.clear()
    RANKERS.update(before)


def run(place: Path, *arguments: str, before: tuple[str, ...] = ()) -> str:
    done = CliRunner().invoke(app, [*before, "compare", *arguments, "--out", str(place / "runs"), "--no-progress"])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def test_second_comparison_in_a_folder_is_refused(place: Path):
    runs = place / "runs"
    with locked(runs / "one"):
        done = CliRunner().invoke(app, ["compare", str(place / "one.yaml"), "--out", str(runs)])
    assert isinstance(done.exception, ConfigError)
    assert "one by pid" in str(done.exception)
    assert not list(runs.iterdir())


def test_trainings_of_two_seeds_stand_apart(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(place)
    for seed in (3, 4):
        done = CliRunner().invoke(app, ["train", "one.yaml", "--seed", str(seed), "--no-progress"])
        assert done.exit_code == 0, done.output
        record = json.loads((place / "runs" / f"one-seed-{seed}" / "training.json").read_text())
        assert (record["seed"], record["experiment"]["seed"], record["experiment"]["name"]) == (seed, seed, "one")


def test_short_documented_plugin_ranker_runs_in_the_bench(place: Path, registry: None):
    assert len(EXAMPLE.splitlines()) <= 60
    files = [str(place / "one.yaml"), str(place / "two.yaml")]
    records = place / "records.json"
    plugin = ("--with", str(place / "soft_match.py"))
    out = run(place, *files, "--json", str(records), before=plugin)
    assert "Soft match" in out
    assert "KNRM" in out
    by_model = {record["model"]: record for record in json.loads(records.read_text())}
    assert {"BM25", "TF-IDF", "KNRM", "Soft match"} <= set(by_model)
    assert by_model["Soft match"]["track"] == "zero-shot"
    assert by_model["Soft match"]["training"]["history"][0]["queries"] > 0
    planned = [(model, each["than"]) for model, record in by_model.items() for each in record["differences"]]
    assert planned == [("KNRM", "Soft match, zero-shot")]
    arguments = ["evaluate", str(place / "test"), "-m", str(place / "runs" / "two" / "model")]
    RANKERS.pop("soft-match")
    refused = CliRunner().invoke(app, arguments)
    assert "registered by a file: --with" in str(refused.exception)
    done = CliRunner().invoke(app, [*plugin, *arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Soft match" in done.output
    RANKERS.pop("soft-match")
    train = ["train", str(place / "two.yaml"), "--out", str(place / "runs" / "two"), "--no-progress"]
    assert "registered by a file: --with" in str(CliRunner().invoke(app, train).exception)
    done = CliRunner().invoke(app, [*plugin, *train])
    assert done.exit_code == 0, (done.output, done.exception)


def test_a_corpus_with_fewer_queries_is_asked_all(place: Path):
    subsets = []
    for most in ("5", "50"):
        records = place / f"{most}.json"
        run(place, str(place / "one.yaml"), "--queries", most, "--json", str(records))
        subsets += [(record["query_subset"], record["queries"]) for record in json.loads(records.read_text())]
    assert set(subsets) == {("random 5, seed 0", 5), ("", 6)}


def test_only_the_named_corpora_are_ranked(place: Path):
    base = yaml.safe_load((place / "base.yaml").read_text())
    other = shutil.copytree(place / "test", place / "other")
    (place / "base.yaml").write_text(yaml.safe_dump({**base, "evaluate": [*base["evaluate"], str(other)]}))
    records, file = place / "records.json", str(place / "one.yaml")
    run(place, file, "--corpus", str(other), "--json", str(records))
    assert {record["corpus"] for record in json.loads(records.read_text())} == {"other"}
    done = CliRunner().invoke(app, ["compare", file, "--out", str(place / "runs"), "--corpus", "nowhere"])
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception).startswith("expected a corpus that an experiment lists under 'evaluate' (")


def test_own_judgements_are_checked_before_any_training(place: Path):
    judged = place / "test" / "qrels" / "test.tsv"
    judged.write_text(judged.read_text() + "lupus-Symptoms\tnowhere\t1\n")
    done = CliRunner().invoke(app, ["compare", str(place / "one.yaml"), "--out", str(place / "runs"), "--no-progress"])
    assert done.exit_code != 0
    assert "got 'nowhere' of query 'lupus-Symptoms' (1 of 7 unknown)" in str(done.exception)
    assert not (place / "runs").exists()


def test_what_is_done_is_not_done_again(place: Path):
    first = run(place, str(place / "one.yaml"))
    assert "epoch 0" in first
    kept = {path: path.stat().st_mtime_ns for path in (place / "runs").rglob("*") if path.is_file()}
    second = run(place, str(place / "one.yaml"))
    assert "already trained" in second
    assert "epoch 0" not in second
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.parametrize("model", ["knrm", "har", "duet"])
def test_a_killed_training_goes_on_and_ends_alike(model: str, place: Path, monkeypatch: pytest.MonkeyPatch):
    """The last two have dropout."""

    (place / "one.yaml").write_text(yaml.safe_dump({"base": "base.yaml", "name": "one", "model": model}))
    run(place, str(place / "one.yaml"))
    whole = json.loads((place / "runs" / "one" / "training.json").read_text())
    (place / "runs").rename(place / "whole")
    # The word vectors are made by two threads, and so differ: those of the first run are kept for the second.
    for words in (place / "whole").glob("words-*"):
        (place / "runs").mkdir(exist_ok=True)
        words.rename(place / "runs" / words.name)
    from auscult_lab.rankers.build import RankingObjective

    measures = RankingObjective.measures
    calls = []

    def dies_in_the_second_epoch(self: RankingObjective):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measures(self)

    monkeypatch.setattr(RankingObjective, "measures", dies_in_the_second_epoch)
    killed = CliRunner().invoke(
        app, ["compare", str(place / "one.yaml"), "--out", str(place / "runs"), "--no-progress"]
    )
    assert killed.exit_code != 0
    monkeypatch.setattr(RankingObjective, "measures", measures)
    run(place, str(place / "one.yaml"))
    resumed = json.loads((place / "runs" / "one" / "training.json").read_text())
    for before, after in zip(whole["history"], resumed["history"], strict=True):
        assert {**before, "seconds": 0} == {**after, "seconds": 0}


def test_files_and_folders_expand_to_all_their_experiments(place: Path):
    base = yaml.safe_load((place / "base.yaml").read_text())
    folder = place / "experiments"
    folder.mkdir()
    said = {**base, "model": "knrm", "variants": {"first": {}, "second": {"title": "KNRM, again", "seed": 2}}}
    (folder / "paper.yaml").write_text(yaml.safe_dump(said))
    run(place, f"{folder / 'paper.yaml'}:second", "--train-only")
    trained = place / "runs" / "second" / "training.json"
    before = trained.stat().st_mtime_ns
    assert list((place / "runs").glob("*/training.json")) == [trained]
    run(place, str(folder), "--fuse", "first+second")
    assert {path.parent.name for path in (place / "runs").glob("*/training.json")} == {"first", "second"}
    assert trained.stat().st_mtime_ns == before
    (place / "nothing").mkdir()
    done = CliRunner().invoke(app, ["compare", str(place / "nothing"), "--out", str(place / "runs")])
    assert isinstance(done.exception, ConfigError)
    assert "folder of experiment files" in str(done.exception)


def test_wrong_input_fails_before_any_training(place: Path):
    cases = {
        "two.yaml": "soft-match",
        "missing.yaml": "missing.yaml",
    }
    for name, message in cases.items():
        done = CliRunner().invoke(
            app, ["compare", str(place / "one.yaml"), str(place / name), "--out", str(place / "runs")]
        )
        assert done.exit_code != 0
        assert message in str(done.exception)
    assert not (place / "runs").exists()


def test_changed_settings_are_refused_naming_what_to_delete(place: Path):
    file = place / "one.yaml"
    run(place, str(file))
    file.write_text(yaml.safe_dump({"base": "base.yaml", "name": "one", "model": "knrm", "seed": 2}))
    done = CliRunner().invoke(app, ["compare", str(file), "--out", str(place / "runs")])
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception).endswith(f"or delete {place / 'runs' / 'one'}")


def test_failed_experiment_leaves_no_folder_to_block_retries(place: Path):
    base = yaml.safe_load((place / "base.yaml").read_text())
    wrong = {**base, "corpora": [*base["corpora"], {"name": str(place / "nowhere.jsonl")}]}
    (place / "base.yaml").write_text(yaml.safe_dump(wrong))
    file = str(place / "one.yaml")
    assert CliRunner().invoke(app, ["compare", file, "--out", str(place / "runs")]).exit_code != 0
    assert not (place / "runs" / "one").exists()
    (place / "base.yaml").write_text(yaml.safe_dump(base))
    run(place, file)


def test_fused_models_are_checked_by_name_before_training(place: Path):
    (place / "file.yaml").write_text(yaml.safe_dump({"base": "base.yaml", "name": "other", "model": "knrm"}))
    (place / "unasked.yaml").write_text(
        yaml.safe_dump({"base": "base.yaml", "name": "unasked", "model": "knrm", "evaluate": []})
    )
    files = [str(place / f"{name}.yaml") for name in ("one", "file", "unasked")]
    for wrong in ("one", "one+file", "one+unasked"):
        done = CliRunner().invoke(app, ["compare", *files, "--out", str(place / "runs"), "--fuse", wrong])
        assert isinstance(done.exception, ConfigError)
        assert "two or more of bm25, tfidf, ql, one, other joined" in str(done.exception)
        assert "'name' in their files" in str(done.exception)
    assert not (place / "runs").exists()


def test_capr_models_are_put_on_a_bench_too(tmp_path: Path):
    from auscult_lab.training.experiment_files import variant_path
    from auscult_lab.workbench.experiments import open_experiment

    file = ROOT / "experiments" / "grundmann2021-medquad-adapted.yaml"
    plan = open_experiment(variant_path(file, "capr-adapted-bi"))
    assert plan.name == "capr-adapted-bi"
    assert list(plan.evaluate) == ["medquad"]
    bad = {
        "base": str(file),
        "name": "x",
        "architecture": "tri",
    }
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(bad))
    with pytest.raises(ConfigError, match="architecture: 'tri'"):
        open_experiment(tmp_path / "bad.yaml")
    wrong = CliRunner().invoke(app, ["compare", str(tmp_path / "bad.yaml"), "--out", str(tmp_path / "runs")])
    assert wrong.exit_code != 0
    assert not (tmp_path / "runs").exists()
