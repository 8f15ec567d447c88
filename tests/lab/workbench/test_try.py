"""`auscult try`: plan, training, comparison and page, and going on after a kill."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.encoders.contract import FloatArray
from auscult.errors import AuscultError, ConfigError, DataError, ModelError
from auscult.search.hits import Ranking
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.contenders import open_contenders
from auscult_lab.evaluation.task import Names
from auscult_lab.evaluation.trec import write_run
from auscult_lab.families.table import read_experiment
from auscult_lab.scorers.encoder_scorer import EncoderScorer
from auscult_lab.workbench import plan
from auscult_lab.workbench.assemble import assemble, cut_excerpt, highlights, read_published_tables
from auscult_lab.workbench.folder import Description, WorkFolder
from auscult_lab.workbench.plan import RATES, Wishes, choose_protocol, propose
from auscult_lab.workbench.preparing import prepare
from auscult_lab.workbench.running import Watcher, find_experiments, read_rankings, run
from encoders import HashedEncoder
from small_general import save_general
from user_data import questions, write_beir, write_folder, write_table


def described(training: int, *, passages: int = 3000, words: float = 100.0) -> Description:
    counts = {
        "questions": training * 2,
        "passages": passages,
        "judgements": training * 2,
        "relevant passages": training,
        "training questions": training,
        "development questions": training // 3,
        "test questions": training // 3,
    }
    return Description(title="Mine", name="mine", digest="", counts=counts, words=words, warnings=[], protocol="rerank")


def invoke(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def chosen(description: Description, **wishes: object) -> set[str]:
    return {each.name for each in propose(description, Wishes(**wishes)) if each.chosen}


def test_models_are_proposed_by_data_size():
    few, some, many = (chosen(described(number), minutes=600.0) for number in (40, 300, 5000))
    assert few == {"bm25", *plan.general_encoders(), "tfidf", "ql", "cdv"}
    assert some - few == {"drmm", "knrm", "drmm-tks", "match-pyramid"}
    assert many - some == {"pacrr", "conv-knrm", "har"}
    assert "bi" in chosen(described(300), backbone="somewhere", minutes=600.0)
    assert all(each.reason and each.seconds > 0 for each in propose(described(300), Wishes()))


def test_time_limits_models_unless_the_user_chooses():
    assert chosen(described(300, words=300.0), minutes=0.1) == {"bm25", "tfidf", "ql"}
    left = {each.name: each.reason for each in propose(described(300, words=300.0), Wishes(minutes=0.1))}
    assert "--minutes" in left["knrm"]
    assert chosen(described(40), models=("ql", "har"), minutes=0.1) == {"ql", "har"}
    assert choose_protocol(described(30, passages=500), 15) == "end-to-end"
    assert choose_protocol(described(3000, passages=500), 15) == "rerank"
    assert choose_protocol(described(30, passages=6000), 60) == "rerank"
    with pytest.raises(ConfigError, match="bert"):
        propose(described(40), Wishes(models=("bert",)))
    with pytest.raises(ConfigError, match="--backbone"):
        propose(described(40), Wishes(models=("cross",)))


def test_plan_lists_every_model_and_missing_inputs():
    lacks = {
        proposal.name: (proposal.chosen, proposal.reason)
        for proposal in propose(described(5000), Wishes(minutes=6000.0))
    }
    assert set(RATES) - {"general"} == set(lacks) - set(plan.general_encoders())
    for name, advice in (("backbone", "give --backbone"), ("bi", "give --backbone."), ("cross", "give --backbone.")):
        assert advice in lacks[name][1]
        assert not lacks[name][0]
    assert "give --backbone and --graph." in lacks["ck"][1]
    given = {proposal.name: proposal.reason for proposal in propose(described(5000), Wishes(backbone="hub/name"))}
    assert "give --graph." in given["ck"]


def test_plan_names_the_shipped_models_training_corpora():
    from auscult.encoders import model_folder, training_record

    (reason,) = (each.reason for each in propose(described(300), Wishes()) if each.name == "cdv")
    said = {"medquad": "MedQuAD", "enwiki": "two Wikipedias", "simplewiki": "two Wikipedias", "nhs": "NHS"}
    assert {said[each["name"]] for each in training_record(model_folder("cdv"))["corpora"]} == set(said.values())
    assert all(words in reason for words in said.values())


def test_general_encoder_comes_after_bm25_using_all_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    model = tmp_path / "general"
    save_general(model, training={"corpora": [{"name": "enwiki", "split": "train"}]})
    monkeypatch.setattr(plan, "general_encoders", lambda: [str(model)])
    # Without the prepared taxonomies, which take ten seconds to open.
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "no-data"))
    first, second, *_ = propose(described(40), Wishes())
    assert (first.name, second.name, second.chosen) == ("bm25", str(model), True)
    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    assert "auscult search, general" in invoke("try", str(mydata), "--out", str(work), "--models", f"bm25,{model}")
    records = {each["model"]: each for each in json.loads((work / "records.json").read_text())}
    assert records["auscult search, general"]["track"] == "zero-shot"


def test_experiments_are_named_where_there_are_any(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    command = ("try", str(mydata), "--out", str(work), "--plan-only", "--models")
    assert "Experiments:" not in invoke(*command, "bm25,ql")
    assert f"Experiments: {work / 'experiments'}" in invoke(*command, "bm25,knrm")
    assert (work / "experiments" / "knrm.yaml").is_file()


def test_from_nothing_to_the_page_and_again(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    command = ("try", str(mydata), "--out", str(work), "--models", "bm25,drmm-tks", "--title", "My <data>")
    out = invoke(*command)
    assert "DRMM-TKS" in out
    records = {item["model"]: item for item in json.loads((work / "records.json").read_text())}
    assert set(records) == {"BM25", "DRMM-TKS"}
    assert records["DRMM-TKS"]["track"] == "adapted"
    assert records["DRMM-TKS"]["training"]["history"]
    assert (work / "report.html").stat().st_size > 1000
    content = assemble(WorkFolder(work))
    assert content.title == "My <data>"
    assert content.counts["test questions"] == len(content.questions) == 10
    assert any("all 45 passages were ranked" in warning for warning in content.warnings)
    for question in content.questions:
        assert set(question.answers) == set(question.measures) == {"BM25", "DRMM-TKS, adapted"}
        for answers in question.answers.values():
            assert len(answers) == 10
            assert [item.score for item in answers] == sorted((item.score for item in answers), reverse=True)
        first = question.answers["BM25"][0]
        words = {first.text[start:end].lower() for start, end in first.highlights}
        assert words & set(question.text.lower().strip("?!").split())
        assert question.measures["BM25"]["P@1"] == float(first.relevance > 0)
        assert question.relevant == 1
    trained = work / "runs" / "drmm-tks"
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*") if path.is_file()}
    again = invoke(*command)
    assert "already trained" in again
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (work / "report.html").unlink()
    invoke("try", str(work), "--report")
    assert (work / "report.html").is_file()
    # What was written down is an experiment like any other.
    listed = invoke(
        "compare", str(work / "experiments" / "drmm-tks.yaml"), "--out", str(work / "runs"), "--no-progress"
    )
    assert "already trained" in listed


def test_a_killed_workbench_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):

    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    command = ("try", str(mydata), "--out", str(work), "--models", "ql,drmm-tks,knrm")
    from auscult_lab.rankers.build import RankingObjective

    measures = RankingObjective.measures
    epochs = []

    def dies(self: RankingObjective):
        # In the second epoch of the second training.
        epochs.append((work / "runs" / "drmm-tks" / "training.json").is_file())
        if epochs.count(True) == 2:
            raise KeyboardInterrupt
        return measures(self)

    monkeypatch.setattr(RankingObjective, "measures", dies)
    # As of any interrupt, though the training library makes an exit of its own of it.
    invoke(*command, code=130)
    assert epochs.count(True) == 2
    assert not (work / "records.json").exists()
    monkeypatch.setattr(RankingObjective, "measures", measures)
    out = invoke(*command)
    assert "drmm-tks already trained" in " ".join(out.split())
    assert {each["model"] for each in json.loads((work / "records.json").read_text())} == {"QL", "DRMM-TKS", "KNRM"}


def test_edited_experiments_and_other_data_are_noticed(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    invoke("try", str(mydata), "--out", str(work), "--models", "knrm", "--plan-only")
    file = work / "experiments" / "knrm.yaml"
    file.write_text(file.read_text().replace('"random": 3', '"random": 5'))
    invoke("try", str(mydata), "--out", str(work), "--models", "knrm", "--plan-only")
    assert '"random": 5' in file.read_text()
    assert not (work / "runs").exists()
    with (mydata / "questions.csv").open("a") as questions:
        questions.write("new,Who is there?\n")
    done = CliRunner().invoke(app, ["try", str(mydata), "--out", str(work)])
    assert isinstance(done.exception, ConfigError)
    assert "--out" in str(done.exception)


def test_copied_experiments_are_compared_and_edited_ones_retrained(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    command = ("try", str(mydata), "--out", str(work), "--models", "bm25,drmm-tks")
    invoke(*command, "--plan-only")
    original, copy = work / "experiments" / "drmm-tks.yaml", work / "experiments" / "copy.yaml"
    copy.write_text(original.read_text().replace('"drmm-tks"', '"wide"', 1))
    out = invoke(*command)
    assert re.search(r"yes.*wide.*An experiment of your own", out)
    records = {record["model"]: record for record in json.loads((work / "records.json").read_text())}
    assert set(records) == {"BM25", "DRMM-TKS", "DRMM-TKS (wide)"}
    copy.write_text(copy.read_text().replace('"random": 3', '"random": 2'))
    out = invoke(*command)
    assert "wide its settings have changed" in " ".join(out.split())
    assert "drmm-tks already trained" in " ".join(out.split())
    kept = json.loads((work / "runs" / "wide" / "experiment.json").read_text())
    assert kept["negatives"]["random"] == 2
    # A title that is another's already does not hide either of them.
    for file in (original, copy):
        file.write_text(file.read_text() + "title: Mine\n")
    invoke("try", str(mydata), "--out", str(work), "--models", "wide,drmm-tks")
    assert {record["model"] for record in json.loads((work / "records.json").read_text())} == {"Mine", "Mine (wide)"}
    listed = invoke("compare", str(original), str(copy), "--out", str(work / "runs"), "--no-progress")
    assert "Mine (wide)" in listed


def test_names_of_experiments_are_checked_before_anything_runs(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    wishes = Wishes(models=("knrm",))
    prepare(mydata, work, wishes)
    file, copy = work.experiments / "knrm.yaml", work.experiments / "copy.yaml"
    text = file.read_text()
    for name, told in (("KNRM", "different names"), ("bm25", "a name of its own")):
        copy.write_text(text.replace('"knrm"', f'"{name}"', 1))
        with pytest.raises(ConfigError, match=told):
            prepare(mydata, work, wishes)
    copy.unlink()
    file.write_text(text.replace('"knrm"', '"mine"', 1))
    with pytest.raises(ConfigError, match="rename the file"):
        prepare(mydata, work, wishes)
    file.rename(copy)
    assert prepare(mydata, work, wishes).trained == {"knrm", "mine"}


def test_planned_models_and_the_users_experiments_run(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    prepare(mydata, work, Wishes(models=("knrm", "drmm-tks")))
    file = work.experiments / "knrm.yaml"
    (work.experiments / "copy.yaml").write_text(file.read_text().replace('"knrm"', '"mine"', 1))
    later = prepare(mydata, work, Wishes())
    assert {each.name: each.chosen for each in later.proposals}["knrm"] is False
    assert [each.name for each in find_experiments(work, later.trained)] == ["mine"]
    only = prepare(mydata, work, Wishes(models=("bm25", "drmm-tks")))
    assert [each.name for each in find_experiments(work, only.trained)] == ["drmm-tks", "mine"]


def test_another_encoder_needs_its_experiment_deleted_first(tmp_path: Path):
    from tiny_bert import save_tiny_bert

    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    places = [str(save_tiny_bert(tmp_path / name)) for name in ("one", "two")]
    first, second = (Wishes(models=("bi",), backbone=place) for place in places)
    prepare(mydata, work, first)
    prepare(mydata, work, first)
    with pytest.raises(ConfigError, match=r"--backbone .*one, which .*bi\.yaml names, got .*two"):
        prepare(mydata, work, second)
    (work.experiments / "bi.yaml").unlink()
    prepare(mydata, work, second)
    assert places[1] in (work.experiments / "bi.yaml").read_text()


@pytest.mark.parametrize(("model", "wrong"), [("bi", "backbone"), ("ck", "backbone"), ("ck", "graph")])
def test_unopenable_encoder_or_graph_is_refused_before_writing(model: str, wrong: str, tmp_path: Path):
    from auscult_lab.graphs.knowledge_vectors import save as save_vectors
    from small_knowledge import small_vectors
    from tiny_bert import save_tiny_bert

    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    given = {"backbone": str(save_tiny_bert(tmp_path / "bert")), "graph": str(tmp_path / "graph")}
    save_vectors(small_vectors(), tmp_path / "graph")
    with pytest.raises(ModelError, match="nosuch"):
        prepare(mydata, work, Wishes(models=("knrm", model), **{**given, wrong: str(tmp_path / "nosuch")}))
    assert not work.experiments.exists()
    assert model in prepare(mydata, work, Wishes(models=(model,), **given)).trained


def test_an_encoder_of_another_layout_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=f"got {tmp_path} without modules.json"):
        propose(described(300), Wishes(models=("backbone",), backbone=str(tmp_path)))


def test_faults_are_a_table_and_one_error(tmp_path: Path):
    mydata = write_folder(tmp_path / "mine")
    path = mydata / "judgements.csv"
    path.write_text(path.read_text().replace("P-gout-", "P-flu-"))
    done = CliRunner().invoke(app, ["try", str(mydata), "--out", str(tmp_path / "work")])
    assert isinstance(done.exception, DataError)
    assert "judgements.csv" in done.output
    assert "unknown" in done.output
    assert not (tmp_path / "work").exists()


def test_only_the_shipped_model_is_told_the_entity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from auscult_lab.evaluation import comparing

    class Listening(HashedEncoder):
        def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
            heard.extend(queries)
            return super().encode_queries(queries)

    def opened(model: str, corpus: str, *, names: Names) -> list[Contender]:
        assert names == "shown"
        if model != "cdv":
            return open_contenders(model, corpus, names=names)
        return [Contender(scorer=EncoderScorer(Listening()), track="zero-shot")]

    heard: list[Query] = []
    monkeypatch.setattr(comparing, "open_contenders", opened)
    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    rows = [(*row, row[0].partition("-")[0], row[0].partition("-")[2]) for row in questions()]
    write_table(mydata / "questions.csv", ("id", "question", "entity", "aspects"), rows)
    description = prepare(mydata, work, Wishes(models=("bm25", "cdv"))).description
    run(work, description, [], Watcher(lambda *_: None, lambda *_: None))
    assert [(query.entity, *query.aspects) for query in heard] == [tuple(query.query_id.split("-")) for query in heard]
    assert len(heard) == description.counts["test questions"]
    # By "gout" alone, BM25 could not tell the answers to three questions on gout apart.
    first = {ranking.query_id: ranking.passage_ids[0] for ranking in read_rankings(work, "BM25").values()}
    plain = prepare(write_folder(tmp_path / "plain" / "mine"), WorkFolder(tmp_path / "other"), Wishes(models=("bm25",)))
    run(WorkFolder(tmp_path / "other"), plain.description, [], Watcher(lambda *_: None, lambda *_: None))
    words = read_rankings(WorkFolder(tmp_path / "other"), "BM25")
    assert first == {ranking.query_id: ranking.passage_ids[0] for ranking in words.values()}


def test_a_report_wants_a_finished_workbench(tmp_path: Path):
    with pytest.raises(ConfigError, match="auscult try"):
        assemble(WorkFolder(tmp_path))
    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    invoke("try", str(mydata), "--out", str(work), "--models", "bm25", "--plan-only")
    with pytest.raises(ConfigError, match="results"):
        assemble(WorkFolder(work))


def test_highlights_follow_stems_and_skip_stop_words():
    text = "The causes of gout: one cause, which does what gout does, is food."
    marked = [text[start:end] for start, end in highlights("What is causing gout in the end, and how does it?", text)]
    assert marked == ["causes", "gout", "cause", "gout"]


def test_all_five_papers_have_their_tables():
    tables = read_published_tables()
    assert {each.citation for each in tables} == {"arnold2020", "zhu2019", "wang2021", "grundmann2021", "galko2017"}
    assert len({(each.title, each.corpus) for each in tables}) == len(tables)
    assert all(0 <= value <= 1 for each in tables for row in each.rows for value in row.measures.values())


def test_own_encoders_and_graphs_are_trained_too(tmp_path: Path):
    from auscult_lab.graphs.knowledge_vectors import save as save_vectors
    from small_knowledge import small_vectors
    from tiny_bert import save_tiny_bert

    mydata, work = write_folder(tmp_path / "mine"), tmp_path / "work"
    backbone, graph = save_tiny_bert(tmp_path / "bert", limit=160), tmp_path / "graph"
    save_vectors(small_vectors(), graph)
    options = ("--backbone", str(backbone), "--graph", str(graph), "--models", "bm25,bi,cross,ck")
    out = invoke("try", str(mydata), "--out", str(work), *options)
    assert "CK-HQA" in out
    records = json.loads((work / "records.json").read_text())
    assert {each["model"] for each in records} == {"BM25", "CAPR-Bi", "CAPR-Cross", "CK-HQA"}
    assert (work / "report.html").is_file()
    content = assemble(WorkFolder(work))
    assert len(content.questions[0].answers) == 4


def test_a_failed_call_leaves_nothing_behind(tmp_path: Path):
    work, other = WorkFolder(tmp_path / "work"), write_folder(tmp_path / "other" / "mine")
    mydata = write_beir(tmp_path / "mine")
    for wishes in (
        Wishes(models=("nosuch",)),
        Wishes(models=("ck",)),
        Wishes(models=("bi",), backbone=str(tmp_path / "none")),
    ):
        with pytest.raises(AuscultError):
            prepare(mydata, work, wishes)
        assert not work.root.exists()
    # A call that was killed while it wrote leaves files without a description.
    prepare(mydata, work, Wishes(models=("bm25",)))
    work.described.unlink()
    work.entities.write_text('{"gout-signs": {"entity": "flu"}}')
    with (other / "questions.csv").open("a") as file:
        file.write("new,Who is there?\n")
    description = prepare(other, work, Wishes(models=("bm25",))).description
    assert not work.entities.exists()
    corpus = open_corpus(str(work.data(description.name)))
    assert sum(len(corpus.judgements(split)) for split in ("train", "dev", "test")) == 45
    assert len(corpus.judgements("test")) == description.counts["test questions"] == 10


def test_the_data_itself_is_never_written_over(tmp_path: Path):
    mydata = write_beir(tmp_path / "data" / "mine")
    before = {path: path.read_bytes() for path in mydata.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match="another --out"):
        prepare(mydata, WorkFolder(tmp_path), Wishes(models=("bm25",)))
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", [".", "..", ".hidden", "-", "_"])
def test_an_experiment_is_no_other_folder(tmp_path: Path, name: str):
    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    prepare(mydata, work, Wishes(models=("knrm",)))
    file = work.experiments / "knrm.yaml"
    (work.experiments / "copy.yaml").write_text(file.read_text().replace('"knrm"', f'"{name}"', 1))
    with pytest.raises(ConfigError, match="name"):
        prepare(mydata, work, Wishes(models=("knrm",)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"split": "train"', '"split": "training"', "name such a one as 'split': train or dev or test"),
        ('"name": "{data}", "split": "train"', '"name": "{data}x", "split": "train"', "no such file"),
        ('"name": "{data}", "split": "train"', '"name": "{other}", "split": "dev"', "the splits"),
    ],
)
def test_experiment_corpora_are_checked_before_any_training(tmp_path: Path, old: str, new: str, message: str):
    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    prepare(mydata, work, Wishes(models=("knrm",)))
    places = {"data": str(work.data("mine")), "other": str(write_beir(tmp_path / "beir", splits=False))}
    old, new = (each.format(**places) if "{" in each else each for each in (old, new))
    text = (work.experiments / "knrm.yaml").read_text().replace('"knrm"', '"own"', 1)
    assert old in text
    (work.experiments / "own.yaml").write_text(text.replace(old, new))
    with pytest.raises(AuscultError, match=message):
        prepare(mydata, work, Wishes(models=("bm25",)))
    (work.experiments / "own.yaml").write_text(text)
    work.described.unlink()
    assert prepare(mydata, work, Wishes(models=("bm25",))).trained == {"own"}


def test_given_and_named_encoders_are_always_opened(tmp_path: Path):
    from tiny_bert import save_tiny_bert

    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    encoder = str(save_tiny_bert(tmp_path / "bert"))
    for wrong in ({"backbone": str(tmp_path / "none")}, {"graph": str(tmp_path / "none")}):
        with pytest.raises(ModelError, match="none"):
            prepare(mydata, work, Wishes(models=("bm25",), **wrong))
    prepared = prepare(mydata, work, Wishes(models=("bi",), backbone=encoder))
    (reason,) = (each.reason for each in prepared.proposals if each.name == "backbone")
    assert f"Left out: {encoder} is no folder as sentence-transformers saves it." in reason
    text = (work.experiments / "bi.yaml").read_text()
    (work.experiments / "own.yaml").write_text(text.replace('"bi"', '"own"', 1).replace(encoder, encoder + "-gone"))
    with pytest.raises(ModelError, match="bert-gone"):
        prepare(mydata, work, Wishes(models=("bm25",)))
    (tmp_path / "bert" / "modules.json").write_text("[]")
    (work.experiments / "own.yaml").unlink()
    with pytest.raises(ModelError):
        prepare(mydata, work, Wishes(models=("backbone",), backbone=encoder))


def test_an_interrupt_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from auscult.cli.main import main
    from auscult_lab.cli import trying

    def interrupted(work: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trying, "assemble", interrupted)
    with pytest.raises(SystemExit) as end:
        main(["try", "anywhere", "--report"])
    assert end.value.code == 130
    assert "auscult: stopped before the end; the same command can be given again" in capsys.readouterr().err


def test_damaged_workbench_files_are_named_or_rebuilt(tmp_path: Path):
    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    command = ("try", str(mydata), "--out", str(work.root), "--models", "bm25")
    invoke(*command)
    (kept,) = work.runs.glob("bm25/evaluation/*.json")
    good = kept.read_text()
    for damaged in ("{", "[]", "{}"):
        kept.write_text(damaged)
        invoke(*command)
        assert json.loads(kept.read_text())["identity"] == json.loads(good)["identity"]
    first, *others = read_rankings(work, "BM25").values()
    write_run(work.rankings / "bm25.run.gz", others, "BM25")
    with pytest.raises(DataError, match=f"a ranking of every test question.*{first.query_id}"):
        assemble(work)
    renamed = Ranking(first.query_id, ("elsewhere", *first.passage_ids[1:]), first.scores)
    write_run(work.rankings / "bm25.run.gz", [renamed, *others], "BM25")
    with pytest.raises(DataError, match=r"rankings of the data's passages.*'elsewhere'"):
        assemble(work)
    invoke(*command)
    assemble(work)
    content = json.loads(work.described.read_text())
    for counts in ({}, {"passages": 3}, [], None):
        work.described.write_text(json.dumps(content | {"counts": counts}))
        with pytest.raises(DataError, match=r"workbench\.json"):
            prepare(mydata, work, Wishes())


def test_a_damaged_record_of_a_training_is_named(tmp_path: Path):
    from auscult_lab.training.folder import begin

    mydata, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    prepare(mydata, work, Wishes(models=("knrm",)))
    experiment, folder = read_experiment(work.experiments / "knrm.yaml"), work.runs / "knrm"
    assert begin(experiment, folder, print) is None
    (folder / "words").mkdir()
    (folder / "training.json").write_text('{"track"')
    with pytest.raises(DataError, match=r"training\.json"):
        begin(experiment, folder, print)


def test_long_answers_are_excerpted_around_matching_words():
    filler = "Nothing of it here. " * 40
    text = f"{filler}Measles spot the skin, and a spot of measles fades. {filler}Measles again."
    shown = cut_excerpt("What spots come with measles?", text)
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) <= 404
    assert "Measles spot the skin, and a spot of measles fades." in shown
    assert set(shown.split()) <= {*text.split(), "…"}
    beginning = cut_excerpt("What of it?", filler)
    assert beginning.startswith("Nothing of it here.")
    assert cut_excerpt("Anything?", "short") == "short"
    assert cut_excerpt("字?", "字" * 1000) == "字" * 400 + " …"
    assert cut_excerpt("measles?", f"{filler}The end: measles").endswith("The end: measles")
