"""`auscult evaluate`, on a small MedQuAD written for the test."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from auscult.cli.all_commands import app
from auscult.errors import AuscultError, ConfigError, CorpusMissingError, DataError, ModelError
from auscult_lab.evaluation.records import evaluation_records, read_records
from auscult_lab.evaluation.trec import read_qrels, read_run
from small_medquad import packed, write_data, write_model


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path / "data")
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], terminal_width=160)


def failure(kind: type[AuscultError], *arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code != 0
    assert isinstance(result.exception, kind), result.exception
    return str(result.exception)


def test_the_table_the_records_and_the_runs(data: Path) -> None:
    out = data / "out.json"
    result = run("evaluate", "medquad", "--model", "bm25", "--model", "tfidf", "--json", out, "--by", "source")
    assert result.exit_code == 0, result.output
    for expected in ("BM25", "TF-IDF", "29.48", "HAR", "GARD"):
        assert expected in result.output
    bm25, tfidf = evaluation_records(read_records(out))
    assert (bm25.corpus, bm25.protocol, bm25.track, bm25.model) == ("medquad", "rerank", "untrained", "BM25")
    assert (bm25.queries, bm25.documents, bm25.candidates) == (9, 3, 9.0)
    assert bm25.ms_per_query > 0
    # A name occurs in the first passage only, and one treatment passage says "treatment".
    assert bm25.measures["R@10"] == tfidf.measures["R@10"] == 1.0
    assert 1 / 3 <= bm25.measures["R@1"] < 1.0
    folder = data / "out-runs"
    assert sorted(path.name for path in folder.iterdir()) == [
        "medquad-rerank-untrained-bm25.run.gz",
        "medquad-rerank-untrained-tf-idf.run.gz",
        "medquad.qrels",
    ]
    assert len(read_run(folder / "medquad-rerank-untrained-bm25.run.gz")) == 9
    assert len(read_qrels(folder / "medquad.qrels")) == 9
    measured = run(
        "evaluate",
        folder / "medquad-rerank-untrained-bm25.run.gz",
        folder / "medquad.qrels",
    )
    assert measured.exit_code == 0, measured.output
    assert f"{100 * bm25.measures['MAP']:.2f}" in measured.output


def test_subsets(data: Path) -> None:
    (data / "ids.txt").write_text("q2\nq5\n\n")
    result = run("evaluate", "medquad", "-m", "bm25", "--queries", data / "ids.txt", "--json", data / "a.json")
    assert result.exit_code == 0, result.output
    assert (
        run("evaluate", "medquad", "-m", "bm25", "--queries", 4, "--seed", 3, "--json", data / "a.json").exit_code == 0
    )
    given, drawn = evaluation_records(read_records(data / "a.json"))
    assert given.queries == 2
    assert re.fullmatch(r"2 given ids, sha256 [0-9a-f]{12}", given.query_subset)
    assert (drawn.queries, drawn.query_subset, drawn.seed) == (4, "random 4, seed 3", 3)
    assert [each.query_id for each in read_run(data / "a-runs" / "medquad-rerank-untrained-bm25.run.gz")] != [
        "q2",
        "q5",
    ]


def test_other_splits_are_named_without_published_figures(data: Path) -> None:
    query = {
        "query_id": "t1",
        "text": "",
        "entity": "Psoriasis",
        "entity_id": "Q179945",
        "aspect": "treatment",
        "aspect_heading": "treatment",
        "relevant": [{"passage_id": "Psoriasis-3", "doc_id": "Psoriasis", "relevance": 1}],
    }
    packed(data / "data" / "medquad" / "queries_train.jsonl.gz", [query])
    done = run("evaluate", "medquad", "-m", "bm25", "--split", "train", "--json", data / "a.json")
    assert done.exit_code == 0, done.output
    assert "medquad (split train)" in done.output
    assert "publ" not in done.output.lower()
    (found,) = evaluation_records(read_records(data / "a.json"))
    assert (found.split, found.queries) == ("train", 1)
    assert "arnold2020, Table 3" in run("evaluate", "medquad", "-m", "bm25").output


def test_records_are_replaced_only_by_the_same_queries(data: Path) -> None:
    out = data / "a.json"
    for ids in ("q2\nq5\n", "q5\nq2\nq2\n", "q1\nq3\n"):
        (data / "ids.txt").write_text(ids)
        assert run("evaluate", "medquad", "-m", "bm25", "--queries", data / "ids.txt", "--json", out).exit_code == 0
    for seed in (1, 2, 2):
        assert run("evaluate", "medquad", "-m", "bm25", "--queries", 4, "--seed", seed, "--json", out).exit_code == 0
    subsets = [each.query_subset for each in evaluation_records(read_records(out))]
    assert len(subsets) == len(set(subsets)) == 4
    assert subsets[2:] == ["random 4, seed 1", "random 4, seed 2"]


def test_one_title_on_two_tracks_in_one_call(data: Path) -> None:
    write_model(data / "one" / "tiny", {"corpora": [{"name": "nhs"}]}, seed=1)
    write_model(data / "two" / "tiny", {"corpora": [{"name": "medquad", "split": "train-disjoint"}]}, seed=2)
    arguments = ("evaluate", "medquad", "-m", data / "one" / "tiny", "-m", data / "two" / "tiny")
    out = data / "t.json"
    result = run(*arguments, "--json", out)
    assert result.exit_code == 0, result.output
    records = evaluation_records(read_records(out))
    assert [(each.model, each.track) for each in records] == [("tiny", "zero-shot"), ("tiny", "adapted")]
    runs = [read_run(data / "t-runs" / f"medquad-rerank-{each.track}-tiny.run.gz") for each in records]
    assert runs[0] != runs[1]
    # The same folder by two names is one model.
    again = data / "two" / ".." / "one" / "tiny"
    twice = failure(ConfigError, "evaluate", "medquad", "-m", data / "one" / "tiny", "-m", again)
    assert "'tiny, zero-shot' twice" in twice


def test_models_trained_on_test_documents_are_refused(data: Path) -> None:
    write_model(data / "peeked", {"corpora": [{"name": "medquad", "split": None}]})
    assert "was trained on its test documents" in failure(ConfigError, "evaluate", "medquad", "-m", data / "peeked")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["medquad", "-m", "bm25", "--track", "adapted"], "--track"),
        (["medquad", "-m", "bm25:parts"], "'bm25:parts'"),
        (["medquad", "-m", "bm25", "--protocol", "rerank:50"], "'rerank:50'"),
        (["medquad", "-m", "bm25", "--protocol", "end-to-end:9"], "at least 10 passages"),
        (["x.run"], "auscult evaluate RUN QRELS"),
        *(
            (["x.run", "x.qrels", *option], f"{option[0]} beside")
            for option in (["--json", "x"], ["--by", "source"], ["--seed", "1"], ["--model", "bm25"])
        ),
    ],
)
def test_an_option_without_effect_is_refused(data: Path, arguments: list[str], named: str) -> None:
    assert named in failure(ConfigError, "evaluate", *arguments)


def test_queries_missing_from_run_or_qrels_are_reported(data: Path) -> None:
    (data / "a.qrels").write_text("q1 0 p1 1\nq2 0 p2 1\nq3 0 p3 1\n")
    (data / "part.run").write_text("q1 Q0 p1 1 2.0 x\nq9 Q0 p1 1 2.0 x\n")
    result = run("evaluate", data / "part.run", data / "a.qrels")
    assert result.exit_code == 0, result.output
    assert "2 of 3 judged queries are not in the run and count 0." in result.output
    assert "1 of 2 queries of the run have no true answer" in result.output
    (data / "other.run").write_text("q8 Q0 p1 1 2.0 x\n")
    assert "no query in common" in failure(DataError, "evaluate", data / "other.run", data / "a.qrels")


def test_outputs_are_checked_before_the_work(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("auscult_lab.cli.evaluate.compare_named", work)
    file, folder = data / "file", data / "folder"
    file.write_text("{not json")
    folder.mkdir()
    for option, place, message in (
        ("--json", folder, "which is a folder"),
        ("--json", file, "a JSON file of result records"),
        ("--json", file / "under.json", "which is a file"),
        ("--runs", file, "which is a file"),
        ("--runs", file / "under" / "it", "which is a file"),
    ):
        assert message in failure(DataError, "evaluate", "medquad", "-m", "bm25", option, place)
    assert sorted(data.iterdir()) == sorted([data / "data", file, folder])


def test_models_are_measured_together_too(data: Path) -> None:
    write_model(data / "tiny", {"track": "adapted", "epochs": 0})
    out = data / "f.json"
    both = ("evaluate", "medquad", "-m", "bm25", "-m", data / "tiny")
    parted = ("evaluate", "medquad", "-m", "bm25", "-m", f"{data / 'tiny'}:parts")
    assert run(*parted, "--fuse", f"bm25+{data / 'tiny'}", "--json", out).exit_code == 0
    records = evaluation_records(read_records(out))
    assert [each.label for each in records][-1] == "BM25 + tiny, adapted"
    assert len(read_run(data / "f-runs" / "medquad-rerank-adapted-bm25_+_tiny.run.gz")) == 9
    assert "joined by '+'" in failure(ConfigError, *both, "--fuse", "bm25")
    assert "end-to-end" in failure(ConfigError, *both, "--fuse", f"bm25+{data / 'tiny'}", "--protocol", "end-to-end")


def test_neural_models_tell_their_track_and_their_parts(data: Path) -> None:
    write_model(data / "tiny", {"track": "adapted", "epochs": 0})
    out = data / "n.json"
    result = run("evaluate", "medquad", "-m", "bm25", "-m", f"{data / 'tiny'}:parts", "--json", out)
    assert result.exit_code == 0, result.output
    assert "adapted track" in result.output
    records = evaluation_records(read_records(out))
    assert [(record.model, record.track) for record in records] == [
        ("BM25", "untrained"),
        ("tiny", "adapted"),
        ("tiny (entity only)", "adapted"),
        ("tiny (aspect only)", "adapted"),
    ]
    assert records[1].training == {"track": "adapted", "epochs": 0}
    assert len(records[1].fingerprint) == 64
    assert records[1].prepare_seconds > 0
    assert len({json.dumps(record.measures) for record in records}) > 2
    assert run("evaluate", "medquad", "-m", f"{data / 'tiny'}:fused", "--json", out).exit_code == 0
    fused = evaluation_records(read_records(out))[-1]
    assert (fused.model, fused.track) == ("auscult search, tiny", "adapted")
    assert fused.measures != records[1].measures
    assert "adapted" in failure(ConfigError, "evaluate", "medquad", "-m", data / "tiny", "--track", "zero-shot")
    assert "--precision" in failure(ConfigError, "evaluate", "medquad", "-m", "bm25", "--precision", "bf16")


def test_a_model_without_a_track_needs_one(data: Path) -> None:
    write_model(data / "mute", {})
    assert "--track" in failure(ConfigError, "evaluate", "medquad", "-m", data / "mute")
    result = run("evaluate", "medquad", "-m", data / "mute", "--track", "zero-shot")
    assert result.exit_code == 0, result.output
    assert "zero-shot track" in result.output


def test_end_to_end_ranks_train_documents_too(data: Path) -> None:
    result = run(
        "evaluate",
        "medquad",
        "-m",
        "bm25",
        "--protocol",
        "end-to-end",
        "--runs",
        data / "runs",
        "--json",
        data / "e.json",
    )
    assert result.exit_code == 0, result.output
    (record,) = evaluation_records(read_records(data / "e.json"))
    assert (record.documents, record.candidates) == (4, None)
    (path,) = (data / "runs").glob("*.run.gz")
    assert any("Psoriasis-1" in ranking.passage_ids for ranking in read_run(path))


def test_mistakes_are_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--model" in failure(ConfigError, "evaluate", "medquad")
    assert "twice" in failure(ConfigError, "evaluate", "medquad", "-m", "bm25", "-m", "bm25")
    assert "between 1 and 9" in failure(ConfigError, "evaluate", "medquad", "-m", "bm25", "--queries", 10)
    assert "nowhere" in failure(ModelError, "evaluate", "medquad", "-m", data / "nowhere")
    assert "x.run" in failure(DataError, "evaluate", data / "x.run", data / "x.qrels")
    assert "x.ids" in failure(DataError, "evaluate", "medquad", "-m", "bm25", "--queries", data / "x.ids")
    failure(ConfigError, "evaluate", "medquadd", "-m", "bm25")
    monkeypatch.setenv("AUSCULT_DATA", str(data / "empty"))
    failure(CorpusMissingError, "evaluate", "medquad", "-m", "bm25", "--json", data / "never.json")
    assert not (data / "never.json").exists()


@pytest.mark.parametrize(("kind", "name"), [("cosine", "CD"), ("cosine-idf", "CD_idf"), ("cosine-q", "CD_q")])
def test_word_vectors_are_a_model_by_their_cosines(data: Path, kind: str, name: str) -> None:
    words = data / "words.vec"
    words.write_text("gout 1 0\nasthma 0 1\ntreatment 0.5 0.5\nsigns 0.2 -0.5\n")
    out = data / "c.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("auscult_lab.evaluation.contenders.read_questions", lambda: ["what is gout", "what is asthma"])
        done = run("evaluate", "medquad", "-m", f"{kind}:{words}", "--json", out)
    assert done.exit_code == 0, (done.output, done.exception)
    (record,) = evaluation_records(read_records(out))
    assert (record.model, record.track) == (name, "untrained")
    assert len(record.fingerprint) == 64
    assert 0 < record.measures["MAP"] <= 1
    assert "nowhere.vec" in failure(ModelError, "evaluate", "medquad", "-m", f"{kind}:nowhere.vec")


def test_end_to_end_rankings_have_the_requested_depth(data: Path) -> None:
    asked = ("evaluate", "medquad", "-m", "bm25", "--runs", data / "runs", "--protocol")
    for protocol, kept in (("end-to-end", 12), ("end-to-end:10", 10)):
        assert run(*asked, protocol).exit_code == 0
        (path,) = (data / "runs").glob("*.run.gz")
        assert {len(ranking.passage_ids) for ranking in read_run(path)} == {kept}


def test_a_folder_in_beirs_layout_is_searched_whole(tmp_path: Path) -> None:
    """Its passages are all asked, by nDCG@10 first; aspects are told nothing of, and rows may be one document."""
    folder = tmp_path / "mine"
    (folder / "qrels").mkdir(parents=True)
    texts = {"gout-1": "Gout hurts.", "gout-2": "Its treatment is rest.", "flu-1": "Flu is caught."}
    rows = [{"_id": name, "title": "", "text": text} for name, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "does gout hurt"}))
    (folder / "qrels/test.tsv").write_text("q\tgout-1\t1\n")
    done = run("evaluate", folder, "-m", "bm25", "--parent", "(.+)-[0-9]+", "--json", tmp_path / "m.json")
    assert done.exit_code == 0, (done.output, done.exception)
    (record,) = evaluation_records(read_records(tmp_path / "m.json"))
    assert (record.protocol, record.documents, record.match_rates) == ("end-to-end", 2, {})
    columns = [line for line in done.output.splitlines() if line.startswith("Model")]
    assert columns[0].split()[:3] == ["Model", "nDCG@10", "R@1"]
    assert "aspect" not in done.output
    assert "--parent" in failure(ConfigError, "evaluate", "medquad", "-m", "bm25", "--parent", "(.+)")
