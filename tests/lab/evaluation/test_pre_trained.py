"""Which encoder a model began with stands in its row, and beneath the table that it may have read anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult_lab.encoders.bi import BiConfig, BiEncoder
from auscult_lab.encoders.persistence import save
from auscult_lab.evaluation.bench_tables import bench_table
from auscult_lab.evaluation.contenders import open_contenders
from auscult_lab.evaluation.pre_trained import encoder_cell, encoders_of
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import result_tables
from auscult_lab.modules import encoder_identity
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.modules.encoder_identity import KNOWN, KnownEncoder, digest_of_weights
from result_records import record, row_of
from tiny_bert import save_tiny_bert

((DIGEST, MINILM),) = KNOWN.items()
ENCODER = {"name": MINILM.name, "sha256": DIGEST, "through": [], "training_known": False}
PASSED_ON = {**ENCODER, "through": ["CAPR-Bi"]}
OWN = {"name": "MLM", "sha256": "ab" * 32, "through": [], "training_known": True}


def trained(model: str, encoder: dict[str, object] | None, **changes: object) -> EvaluationRecord:
    settings = {"settings": {"context": "words"}} if model == "Words" else {}
    training = {"kind": "capr", "experiment": settings, **({"encoder": encoder} if encoder else {})}
    return record(model, training=training, **changes)


def test_rows_say_which_encoder_they_began_with() -> None:
    both = {"models": {"a": {"encoder": ENCODER}, "b": {"encoder": PASSED_ON}, "c": {"encoder": ENCODER}, "d": {}}}
    records = [
        record("BM25", "untrained"),
        trained("CAPR-Bi", ENCODER),
        trained("CAPR-Cross", PASSED_ON),
        trained("Words", ENCODER),
        trained("Own", OWN),
        record("HAR"),
        record("Bi + Cross", training={"kind": "fusion", **both}),
    ]
    for table in (bench_table(records, "zero-shot"), *result_tables(records)):
        encoders = {row.model: row_of(table, row.model)["encoder"] for row in records}
        short = f"{MINILM.name} {DIGEST[:8]}"
        assert encoders == {
            "BM25": "",
            "CAPR-Bi": short,
            "CAPR-Cross": f"{short}, through CAPR-Bi",
            "Words": f"{short} (word pieces)",
            "Own": "MLM abababab",
            "HAR": "",
            "Bi + Cross": f"{short}; {short}, through CAPR-Bi",
        }
        (note,) = [note for note in table.notes if note.startswith("Zero-shot, pre-trained retriever")]
        letters = {row[0].split("  ")[-1]: row[0][0] for row in table.rows}
        rows = ", ".join(sorted(letters[name] for name in ("CAPR-Bi", "CAPR-Cross", "Words", "Bi + Cross")))
        assert f"is not known in full ({rows})" in note
        assert note.count(MINILM.learned_from) == 1
    (table,) = result_tables(records[:4])
    assert any("is not known in full. all-MiniLM" in note for note in table.notes)


def test_a_stated_track_never_changes_the_record() -> None:
    assert {trained("CAPR-Bi", ENCODER).track, trained("Own", OWN).track} == {"zero-shot"}
    assert trained("CAPR-Bi", ENCODER).track_told == "zero-shot, pre-trained retriever"
    assert trained("CAPR-Bi", ENCODER).label == "CAPR-Bi, zero-shot"
    assert trained("CAPR-Bi", ENCODER, track="adapted").track_told == "adapted"
    assert trained("Own", OWN).track_told == record("HAR").track_told == "zero-shot"


def test_tables_without_encoders_omit_the_encoder_column() -> None:
    records = [record("BM25", "untrained"), record("HAR"), trained("CAPR-Bi", None)]
    for table in (bench_table(records, "zero-shot"), *result_tables(records)):
        assert "encoder" not in table.columns
        assert not any("pre-trained" in note for note in table.notes)


def test_adapted_models_also_note_their_pre_trained_retriever() -> None:
    (table,) = result_tables([trained("CAPR-Bi", ENCODER, track="adapted")])
    assert any(note.startswith("Pre-trained retriever: what") for note in table.notes)


@pytest.mark.parametrize("known", [False, True])
def test_untrained_encoder_has_its_own_row(known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backbone = open_backbone(str(save_tiny_bert(tmp_path / "bert")))
    save(BiEncoder(BiConfig(shared=True, mark=False, pooling="mean", cosine=True), backbone), tmp_path / "model")
    folder = tmp_path / "model" / "passages"
    digest = digest_of_weights(folder)
    if known:
        monkeypatch.setattr(encoder_identity, "KNOWN", {digest: KnownEncoder("tiny", "nothing")})
    (contender,) = open_contenders(str(folder), "medquad")
    assert (contender.track, contender.name) == ("untrained", "tiny" if known else "passages")
    (encoder,) = encoders_of(contender.training)
    assert (encoder.name, encoder.sha256, encoder.training_known) == (contender.name, digest, False)
    row = record(contender.name, "untrained", training=contender.training)
    assert row.track_told == "untrained"
    assert row_of(bench_table([row, record("HAR")], "zero-shot"), contender.name)["encoder"] == encoder_cell(
        row.training
    )


def test_notes_of_an_experiment_stand_beneath_the_table() -> None:
    cross = {"kind": "capr", "experiment": {"notes": "Chosen late."}}
    records = [
        record("A", training=cross),
        record("B", training={"kind": "capr", "notes": "Added later.", "experiment": {"notes": ""}}),
        record("A + C", training={"kind": "fusion", "models": {"A": cross, "C": {}}}),
    ]
    for table in (bench_table(records, "zero-shot"), *result_tables(records)):
        letters = {row[0].split("  ")[-1]: row[0][0] for row in table.rows}
        assert f"{letters['A']}, {letters['A + C']}: Chosen late." in table.notes
        assert f"{letters['B']}: Added later." in table.notes
