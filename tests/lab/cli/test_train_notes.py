"""`auscult train --notes`: from raw notes to a model that searches them, in one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from transformers import BertConfig, BertModel, BertTokenizerFast
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.encoders import training_record
from auscult.errors import AuscultError, ConfigError, CorpusMissingError, ModelError
from auscult.understanding import Query
from auscult_lab.encoders import gathering
from auscult_lab.encoders.build import PairObjective
from auscult_lab.encoders.data import PassagePool
from auscult_lab.evaluation.tracks import track_on
from auscult_lab.opening import load_scorer

CONDITIONS = ["asthma", "gout", "measles", "mumps", "scurvy", "rickets"]
ONTOLOGY = "format-version: 1.2\n" + "".join(
    f"\n[Term]\nid: DOID:{row}\nname: {name}\n" for row, name in enumerate(CONDITIONS, start=1)
)
NOTE = """CHIEF COMPLAINT: Patient {n} comes with {one} since Monday.

PAST MEDICAL HISTORY:
Known {two}. No {three}.

ALLERGIES: None known.

PLAN:
1. Treat {one} with tablets.
2. Return to the ward in {n} days.
"""


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backbone")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [
        *marks,
        *CONDITIONS,
        "plan",
        "history",
        "complaint",
        *letters,
        ".",
        ";",
        *(f"##{each}" for each in letters),
    ]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    tokenizer = BertTokenizerFast.from_pretrained(folder, model_max_length=64)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, initializer_range=0.3,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for n in range(20):
        one, two, three = (CONDITIONS[(n * step + step) % len(CONDITIONS)] for step in (1, 5, 7))
        (folder / f"note-{n}.txt").write_text(NOTE.format(n=n, one=one, two=two, three=three), encoding="utf-8")
    return folder


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    path = tmp_path / "conditions.obo"
    path.write_text(ONTOLOGY, encoding="utf-8")
    return path


def call(notes: Path | str, out: Path, backbone: Path | str, ontology: Path, *further: str) -> Any:
    arguments = ["train", "--notes", str(notes), "--out", str(out), "--backbone", str(backbone)]
    arguments += ["--read", f"knowledge={ontology}", "--set", "training.epochs=2", "--set", "least_passages=10"]
    arguments += ["--no-progress", *further]
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize("kind", ["bi", "poly", "cross"])
def test_raw_notes_become_a_model_that_scores(kind: str, notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    out = tmp_path / "model"
    done = call(notes, out, backbone, ontology, "--architecture", kind)
    assert done.exit_code == 0, done.output
    assert "skipped" in done.output
    assert "held-out notes" in done.output
    from auscult_lab.corpora.opening import open_corpus

    documents = list(open_corpus(str(notes)).documents())
    scorer = load_scorer(out)
    scorer.prepare(documents)
    asked = [passage.passage_id for passage in documents[0].passages]
    scores = scorer.score(Query(query_id="", entity="asthma", aspects=("plan",)), asked)
    assert len(set(scores.tolist())) == len(asked) == 4
    assert not (tmp_path / "model.training" / "checkpoints").exists()
    # The tenth that no training reads can be asked for.
    record = json.loads((tmp_path / "model.training" / "training.json").read_text(encoding="utf-8"))
    assert track_on("model", record, f"notes:{notes}", "test") == "adapted"
    assert f"evaluate 'notes:{notes}' -m bm25 -m '{out}' --read 'knowledge={ontology}'" in done.output


def test_queries_are_labelled_as_the_model_learned(
    notes: Path, ontology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "nothing"))
    table = tmp_path / "ours.tsv"
    table.write_text("plan\twhat comes next\n", encoding="utf-8")
    records = tmp_path / "records.json"
    arguments = ["evaluate", f"notes:{notes}", "-m", "bm25", "--split", "train", "--json", str(records)]
    runs = tmp_path / "records-runs"
    done = CliRunner().invoke(app, [*arguments, "--read", f"knowledge={ontology}", "--read", f"aspects={table}"])
    assert done.exit_code == 0, (done.output, done.exception)
    (record,) = json.loads(records.read_text(encoding="utf-8"))
    assert record["corpus"] == "notes:notes (conditions.obo, ours.tsv)"
    assert "what comes next" in {group["name"] for group in record["by_aspect"]}
    # No name that some systems refuse.
    assert sorted(file.name for file in runs.iterdir()) == [
        "notes_notes_conditions.obo_ours.tsv-rerank-untrained-bm25.run.gz",
        "notes_notes_conditions.obo_ours.tsv.qrels",
    ]
    # Without them the catalogue's are meant, which this machine lacks.
    missing = CliRunner().invoke(app, arguments).exception
    assert isinstance(missing, CorpusMissingError)
    assert "pass --read knowledge=" in str(missing)
    refused = CliRunner().invoke(app, ["evaluate", str(notes), "-m", "bm25", "--read", f"aspects={table}"])
    assert "notes:NOTES as the corpus" in str(refused.exception)


def test_an_adapted_bi_encoder_is_searchable(notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    out, index = tmp_path / "model", tmp_path / "index"
    assert call(notes, out, backbone, ontology).exit_code == 0
    made = CliRunner().invoke(app, ["index", str(notes), "--model", str(out), "--out", str(index), "--no-knowledge"])
    assert made.exit_code == 0, (made.output, made.exception)
    found = CliRunner().invoke(app, ["search", str(index), "--entity", "gout", "--aspect", "plan"])
    assert found.exit_code == 0, (found.output, found.exception)
    assert "note-" in found.output


def test_cross_encoder_starts_from_an_adapted_bi_encoder(notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    first, out = tmp_path / "bi", tmp_path / "cross"
    assert call(notes, first, backbone, ontology).exit_code == 0
    done = call(notes, out, first, ontology, "--architecture", "cross")
    assert done.exit_code == 0, (done.output, done.exception)
    begun = json.loads((tmp_path / "cross.training" / "experiment.json").read_text(encoding="utf-8"))
    assert begun["backbone"] == str(first / "passages")
    # What the encoder had read before is the new model's, too.
    own, before = (training_record(folder) for folder in (out, first))
    assert own["backbone_corpora"] == before["corpora"] == own["corpora"]
    assert "backbone_corpora" not in before
    again = call(notes, tmp_path / "again", out, ontology, "--architecture", "cross")
    assert again.exit_code == 0, (again.output, again.exception)
    begun = json.loads((tmp_path / "again.training" / "experiment.json").read_text(encoding="utf-8"))
    assert begun["backbone"] == str(out / "pairs")


def test_adaptation_resumes_and_does_not_run_twice(
    notes: Path, backbone: Path, ontology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class KilledError(Exception):
        """Stands for a power cut."""

    out = tmp_path / "model"
    measures = PairObjective.measures
    done: list[int] = []

    def dies(self: PairObjective) -> Any:
        if len(done) == 1:
            raise KilledError
        done.append(1)
        return measures(self)

    with monkeypatch.context() as patched:
        patched.setattr(PairObjective, "measures", dies)
        assert isinstance(call(notes, out, backbone, ontology).exception, KilledError)
    assert not out.exists()
    resumed = call(notes, out, backbone, ontology)
    assert resumed.exit_code == 0, resumed.output
    assert "epoch 0: loss" not in resumed.output
    assert "epoch 1: loss" in resumed.output
    again = call(notes, out, backbone, ontology)
    assert again.exit_code == 0, again.output
    assert "already trained" in again.output
    other = call(notes, out, backbone, ontology, "--set", "seed=2")
    assert isinstance(other.exception, ConfigError)
    anew = call(notes, out, backbone, ontology, "--set", "seed=2", "--restart")
    assert anew.exit_code == 0, anew.output


def test_what_fails_at_once_leaves_no_folder(notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    before = sorted(tmp_path.iterdir())
    for encoder, further in (("./nothing", ()), (backbone, ("--set", "least_passages=5000"))):
        done = call(notes, tmp_path / "model", encoder, ontology, *further)
        assert isinstance(done.exception, AuscultError)
        assert sorted(tmp_path.iterdir()) == before


def test_an_empty_folder_is_named(backbone: Path, ontology: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    done = call(tmp_path / "empty", tmp_path / "model", backbone, ontology)
    assert isinstance(done.exception, AuscultError)
    assert isinstance(done.exception, CorpusMissingError)
    assert "empty" in str(done.exception)


def test_notes_without_headings_are_refused(backbone: Path, ontology: Path, tmp_path: Path):
    folder = tmp_path / "plain"
    folder.mkdir()
    for n in range(12):
        (folder / f"{n}.txt").write_text(f"He came on day {n} with gout and went home again.\n", encoding="utf-8")
    done = call(folder, tmp_path / "model", backbone, ontology)
    assert isinstance(done.exception, ConfigError)
    assert "notes with headings" in str(done.exception)


def test_missing_backbone_fails_before_notes_are_read(notes: Path, ontology: Path, tmp_path: Path):
    done = call(notes, tmp_path / "model", tmp_path / "nowhere", ontology)
    assert isinstance(done.exception, ModelError)
    assert "notes" not in done.output


def test_too_few_passages_are_counted(notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    done = call(notes, tmp_path / "model", backbone, ontology, "--set", "least_passages=500")
    assert isinstance(done.exception, ConfigError)
    assert "500 passages or more" in str(done.exception)
    assert "least_passages" in str(done.exception)


def test_a_mistake_is_mended_by_the_right_command(notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    out = tmp_path / "model"
    for encoder, taxonomy, least in ((tmp_path, ontology, "10"), (backbone, tmp_path / "no.obo", "500")):
        assert call(notes, out, encoder, taxonomy, "--set", f"least_passages={least}").exit_code != 0
    assert call(notes, out, backbone, ontology, "--set", "least_passages=500").exit_code != 0
    done = call(notes, out, backbone, ontology)
    assert done.exit_code == 0, (done.output, done.exception)


def test_missing_knowledge_base_error_names_the_option(
    notes: Path, backbone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "empty"))
    done = CliRunner().invoke(
        app, ["train", "--notes", str(notes), "--out", str(tmp_path / "m"), "--backbone", str(backbone)]
    )
    assert isinstance(done.exception, CorpusMissingError)
    assert "--read knowledge=" in done.exception.remedy
    # However long the path of this machine's folder is.
    assert len(str(done.exception).replace(str(tmp_path), "")) < 340


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("further", [(), ("--restart",)])
def test_a_folder_of_something_else_is_kept(
    further: tuple[str, ...], begun: bool, notes: Path, backbone: Path, ontology: Path, tmp_path: Path
):
    out, work = tmp_path / "model", tmp_path / "model.training"
    out.mkdir()
    (out / "letter.txt").write_text("mine")
    if begun:
        work.mkdir()
        (work / "experiment.json").write_text("{}")
    done = call(notes, out, backbone, ontology, *further)
    assert isinstance(done.exception, ConfigError)
    assert "choose another one" in str(done.exception)
    assert (out / "letter.txt").read_text() == "mine"
    assert work.exists() is begun, "what was begun is not thrown away before"


def test_files_added_to_output_during_training_are_kept(
    notes: Path, backbone: Path, ontology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "model"
    measures = PairObjective.measures

    def another(self: PairObjective) -> Any:
        out.mkdir(exist_ok=True)
        (out / "letter.txt").write_text("mine")
        return measures(self)

    monkeypatch.setattr(PairObjective, "measures", another)
    assert isinstance(call(notes, out, backbone, ontology).exception, ConfigError)
    assert (out / "letter.txt").read_text() == "mine"
    assert (tmp_path / "model.training" / "model" / "model.json").is_file(), "nor is the model lost"


def test_a_place_without_a_name_is_refused(notes: Path, backbone: Path, ontology: Path):
    assert "ends in a name" in str(call(notes, Path("/"), backbone, ontology).exception)


def test_undecodable_note_is_named_or_skipped_on_request(notes: Path, backbone: Path, ontology: Path, tmp_path: Path):
    (notes / "latin.txt").write_bytes("PLAN: Café au lait spots, gout.\n".encode("latin-1"))
    refused = call(notes, tmp_path / "model", backbone, ontology)
    assert isinstance(refused.exception, AuscultError)
    assert "latin.txt" in str(refused.exception)
    assert "--skip-bad" in str(refused.exception)
    assert not (tmp_path / "model").exists()
    done = call(notes, tmp_path / "model", backbone, ontology, "--skip-bad", "--restart")
    assert done.exit_code == 0, (done.output, done.exception)
    assert "left out 1 x invalid UTF-8" in " ".join(done.output.split())


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A spaCy pipeline that finds "tablets", which no taxonomy names."""
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns([{"label": "DRUG", "pattern": "tablets"}])
    made.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def test_recognizers_and_an_aspect_table_can_be_chosen(
    notes: Path, pipeline: Path, backbone: Path, ontology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    table = tmp_path / "ours.tsv"
    table.write_text("plan\tour plan\n", encoding="utf-8")
    pools: list[PassagePool] = []
    check = gathering._check
    monkeypatch.setattr(gathering, "_check", lambda *found: (pools.append(found[1]), check(*found)))
    asked = ("--read", "recognizer=dictionary", "--read", f"recognizer=spacy:{pipeline}", "--read", f"aspects={table}")
    done = call(notes, tmp_path / "model", backbone, ontology, *asked)
    assert done.exit_code == 0, (done.output, done.exception)
    plans = [each for each in pools[0].passages if each.aspects == ("our plan",)]
    assert plans
    for each in plans:
        names = {entity.name for entity in each.entities}
        assert "tablets" in names
        assert names & set(CONDITIONS)


@pytest.mark.parametrize(("said", "error"), [("tagger", ConfigError), ("spacy:nowhere", ModelError)])
def test_missing_recognizer_fails_before_notes_are_read(
    said: str, error: type[AuscultError], notes: Path, backbone: Path, ontology: Path, tmp_path: Path
):
    done = call(notes, tmp_path / "model", backbone, ontology, "--read", f"recognizer={said}")
    assert isinstance(done.exception, error)
    assert said.removeprefix("spacy:") in str(done.exception)
    assert "notes" not in done.output
