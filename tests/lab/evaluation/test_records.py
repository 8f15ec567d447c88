"""Records are kept whole, tables show them beside published figures, and the report is made of them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

from auscult import provenance
from auscult.errors import DataError
from auscult.provenance import describe_hardware, find_revision
from auscult_lab.evaluation.published_figures import (
    published_match_rates,
    published_tables,
)
from auscult_lab.evaluation.records import (
    EvaluationRecord,
    GroupRecord,
    Track,
    evaluation_records,
    read_records,
    write_records,
)
from auscult_lab.evaluation.tables import TextTable, match_table, result_tables

MEASURES = {"R@1": 0.5, "R@5": 0.7, "R@10": 0.8, "AP": 0.6, "MAP": 0.6, "RR": 0.61, "nDCG@10": 0.65}


def record(model: str, track: Track, corpus: str = "medquad", **changes: object) -> EvaluationRecord:
    content: dict[str, object] = {
        "corpus": corpus,
        "protocol": "rerank",
        "track": track,
        "model": model,
        "measures": MEASURES,
        "intervals": {"R@1": (0.48, 0.52)},
        "queries": 3293,
        "match_rates": {"entity": 0.9, "aspect": 0.6, "both": 0.55},
        "by_source": [GroupRecord(name="GARD", queries=10, measures=MEASURES)],
        "ms_per_query": 1.5,
        "seed": 0,
        "version": "0.1.0",
        "revision": "abc",
        "hardware": "a processor, 2 cores",
        "date": "2026-01-02T03:04:05+00:00",
        "training": {} if track == "untrained" else {"corpora": [{"name": "enwiki", "split": "train"}]},
    }
    return EvaluationRecord.model_validate(content | changes)


def text(table: TextTable, width: int = 160, *, terminal: bool = True) -> str:
    screen = io.StringIO()
    table.print_to(Console(file=screen, width=width, force_terminal=terminal, color_system=None))
    return screen.getvalue()


def test_tables_split_for_narrow_terminals_not_for_pipes() -> None:
    columns = ("Model", *(f"measure {n}" for n in range(12)))
    rows = tuple((name, *(f"{n}{name} [10.0, 20.0]" for n in range(12))) for name in ("one", "another"))
    table = TextTable("A title", columns, rows, ("A note.",))
    for width in (80, 100):
        shown = text(table, width)
        assert all(cell in shown for row in rows for cell in row)
        assert shown.count("another  ") == shown.count("Model  ") > 1
        assert max(map(len, shown.splitlines())) <= width
        assert shown.count("A title") == shown.count("A note.") == 1
    piped = text(table, 80, terminal=False)
    assert sum(all(cell in line for cell in rows[1]) for line in piped.splitlines()) == 1


def test_tables_name_what_was_ranked_in_half_precision() -> None:
    whole, half = record("A", "adapted"), record("B", "adapted", precision="bf16")
    assert "half precision" not in text(result_tables([whole])[0])
    assert "half precision (bf16): B." in text(result_tables([whole, half])[0])


def test_published_figures_are_the_papers() -> None:
    rows = {row.model: row for row in published_tables("medquad")[0].rows}
    assert len(rows) == 17
    assert rows["BM25"].measures == pytest.approx({"R@1": 0.2948, "R@10": 0.8611, "MAP": 0.4889})
    assert rows["TF-IDF"].measures == pytest.approx({"R@1": 0.2383, "R@10": 0.8284, "MAP": 0.4266})
    assert rows["CDV+avg-fasttext"].measures == pytest.approx({"R@1": 0.4526, "R@10": 0.9229, "MAP": 0.6256})
    assert rows["HAR"].measures["R@1"] == pytest.approx(0.5565)
    assert {row.citation for row in rows.values()} == {"arnold2020"}
    assert [len(published_tables(corpus)[0].rows) for corpus in ("wikisection", "healthqa")] == [17, 17]
    assert published_tables("beir") == ()
    assert published_match_rates() == (("entity", 67.5, 91.4), ("aspect", 49.4, 66.3))


def test_models_published_on_their_own_collection_are_adapted() -> None:
    """Whatever was trained on Wikipedia is adapted on WikiSection, by the rule that measured models follow."""
    for corpus, track in [("wikisection", "adapted"), ("medquad", "zero-shot"), ("healthqa", "zero-shot")]:
        for table in (each for each in published_tables(corpus, 64) if each.trained_on != "notes"):
            assert table.track == track, table.title
            assert {row.track for row in table.rows} == {"untrained", track}, table.title
    (beside,) = result_tables([record("CDV+avg-fasttext", "adapted", corpus="wikisection")])
    assert not any("saw more" in note for note in beside.notes)
    assert "HAR" in [row[0] for row in beside.rows], "published, and repeated by none"


def test_a_model_finds_the_row_it_repeats() -> None:
    for name, published in [
        ("BM25", "BM25"),
        ("tf-idf", "TF-IDF"),
        ("CDV+avg-fasttext, own targets", "CDV+avg-fasttext"),
        ("conv-knrm", "CONV-KNRM"),
    ]:
        match = published_tables("medquad")[0].find(name)
        assert match is not None
        assert match.model == published
    for name, row in [("CAPR-Bi, Longformer", "CAPR-Longformer-Bi"), ("CAPR-Bi, notes", "CAPR-BioBERT-Bi-shared")]:
        (table,) = (
            each
            for each in published_tables("clinical-notes")
            if each.citation == "grundmann2021" and each.trained_on == "notes"
        )
        match = table.find(name)
        assert match is not None
        assert match.model == row
    main = published_tables("medquad")[0]
    assert main.find("CDV+avg-fasttext (entity only)") is None
    assert main.find("something new") is None


def test_records_are_merged_by_what_they_measure(tmp_path: Path) -> None:
    path = tmp_path / "out" / "records.json"
    write_records(path, [record("BM25", "untrained"), record("CDV", "adapted")])
    better = record("CDV", "adapted", measures=MEASURES | {"R@1": 0.9})
    write_records(path, [better, record("CDV", "zero-shot")])
    rows = read_records(path)
    assert isinstance(json.loads(path.read_text()), list)
    assert [(row["model"], row["track"], row["measures"]["R@1"]) for row in rows] == [
        ("BM25", "untrained", 0.5),
        ("CDV", "adapted", 0.9),
        ("CDV", "zero-shot", 0.5),
    ]
    assert EvaluationRecord.model_validate(rows[1]) == better


def test_a_damaged_file_is_named_and_left(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    for content, message in [
        ("{not json", "records.json"),
        ('[{"kind": "evaluation", "model": "x"}]', "record 1: field 'corpus'"),
        ("[3]", "record 1: no object"),
    ]:
        path.write_text(content)
        with pytest.raises(DataError, match=message):
            write_records(path, [record("BM25", "untrained")])
        assert path.read_text() == content


def test_tracks_never_share_a_table() -> None:
    records = [
        record("BM25", "untrained"),
        record("CDV+avg-fasttext", "zero-shot", better_than={"R@1": ["BM25"], "AP": ["BM25"]}),
        record("CDV+avg-fasttext adapted", "adapted"),
    ]
    zero_shot, adapted = result_tables(records)
    assert "zero-shot" in zero_shot.title
    assert "adapted" in adapted.title
    labels = [row[0] for row in zero_shot.rows]
    assert labels[:2] == ["a  BM25", "b  CDV+avg-fasttext"]
    assert "HAR" in labels
    assert len(labels) == 17
    assert [row[0] for row in adapted.rows] == ["a  BM25", "b  CDV+avg-fasttext adapted"]
    row = dict(zip(zero_shot.columns, zero_shot.rows[1], strict=True))
    assert (row["R@1"], row["MAP"], row["publ.\nR@1"]) == ("50.00 a", "60.00 a", "45.26")
    assert "45.26" in text(zero_shot)
    assert any("saw more" in note for note in adapted.notes)


def of_one_call(comparison: str, **changes: object) -> list[EvaluationRecord]:
    """BM25, and a model that beats it."""
    better = {"better_than": {"R@1": ["BM25"], "AP": ["BM25"]}}
    return [
        record("BM25", "untrained", comparison=comparison, **changes),
        record("CDV", "zero-shot", comparison=comparison, **changes | better),
    ]


def test_letters_appear_only_within_one_comparison(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    write_records(path, of_one_call("first"))
    (table,) = result_tables(of_one_call("first"))
    assert table.rows[1][1] == "50.00 a"
    assert not any("missing letters" in note for note in table.notes)
    write_records(
        path, [record("BM25", "untrained", comparison="second"), record("HAR", "zero-shot", comparison="second")]
    )
    (table,) = result_tables(evaluation_records(read_records(path)))
    assert [row[:2] for row in table.rows[:3]] == [("a  CDV", "50.00"), ("b  BM25", "50.00"), ("c  HAR", "50.00")]
    assert any(note.endswith("missing letters say nothing: a; b, c.") for note in table.notes)
    assert not any(note.startswith("Letters after") for note in table.notes)


def test_older_records_of_one_date_count_as_compared() -> None:
    (table,) = result_tables(of_one_call(""))
    assert table.rows[1][1] == "50.00 a"
    bm25, cdv = of_one_call("")
    (table,) = result_tables([bm25.model_copy(update={"date": "2026-01-03T00:00:00+00:00"}), cdv])
    assert table.rows[1][1] == "50.00"
    (table,) = result_tables([bm25.model_copy(update={"comparison": "later"}), cdv])
    assert table.rows[1][1] == "50.00"


def test_published_rates_stand_only_beneath_published_test_sets() -> None:
    assert "91.4" in text(match_table([record("BM25", "untrained")]))
    assert not match_table([record("BM25", "untrained", corpus="leaflets")]).notes
    assert not match_table([record("BM25", "untrained", protocol="end-to-end")]).notes


def test_published_figures_beside_a_subset_say_so() -> None:
    whole, part = result_tables([record("BM25", "untrained"), record("BM25", "untrained", query_subset="random 9")])
    assert "over all queries" in text(part)
    assert "over all queries" not in text(whole)


def test_smaller_pools_than_published_are_noted() -> None:
    def notes(**changes: object) -> list[str]:
        (table,) = result_tables([record("BM25", "untrained", **changes)])
        return [note for note in table.notes if "candidates a query" in note]

    assert notes(corpus="wikisection", candidates=53.976) == [
        "On average 54.0 candidates a query, where published figures are of 64: the fewer, the easier."
    ]
    assert notes(corpus="nhs", candidates=58.7115) == [
        "On average 58.7 candidates a query, where the protocol has 64: the fewer, the easier."
    ]
    assert notes(candidates=63.9617) == notes(candidates=64.0) == notes(candidates=None) == []
    assert notes(corpus="healthqa", candidates=10.0) == []


def test_another_split_is_another_task_without_published_figures(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    test, train = record("BM25", "untrained"), record("BM25", "untrained", split="train")
    write_records(path, [test])
    write_records(path, [train])
    assert [each["split"] for each in read_records(path)] == ["test", "train"], "neither takes the other's place"
    beside, alone = result_tables([test, train])
    assert (beside.title.partition(",")[0], alone.title.partition(",")[0]) == ("medquad", "medquad (split train)")
    assert "publ.\nR@1" in beside.columns
    assert "publ.\nR@1" not in alone.columns
    assert not any("Published" in note for note in alone.notes)
    assert not match_table([train]).notes
    older = test.model_dump(mode="json")
    del older["split"]
    assert EvaluationRecord.model_validate(older).split == "test"


def test_test_sets_and_protocols_are_distinguished() -> None:
    (partial,) = result_tables([record("BM25", "untrained", corpus="wikisection")])
    assert any("Not the same test set" in note for note in partial.notes)
    end_to_end, again = result_tables(
        [
            record("BM25", "untrained", protocol="end-to-end"),
            record("BM25", "untrained", query_subset="random 9"),
        ]
    )
    assert "publ.\nR@1" not in end_to_end.columns
    assert "random 9" in again.title


def test_a_process_has_the_revision_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    began = find_revision()
    monkeypatch.setattr(provenance, "_git", lambda *_: "0123456789ab")
    assert find_revision() == began
    find_revision.cache_clear()
    assert find_revision() == "0123456789ab"
    find_revision.cache_clear()


def test_hardware_is_one_line() -> None:
    line = describe_hardware()
    assert "cores" in line
    assert "\n" not in line


def test_hardware_names_the_gpus_that_torch_can_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda number: ["NVIDIA H100", "NVIDIA A100"][number])
    assert ", NVIDIA H100, NVIDIA A100, " in describe_hardware()
    monkeypatch.delitem(sys.modules, "torch")
    assert "NVIDIA" not in describe_hardware()


def test_own_data_never_shows_published_figures():
    own = [record("BM25", "untrained", corpus="medquad", candidates=98.9), record("CDV", "adapted", corpus="medquad")]
    assert "publ." in text(result_tables(own)[0])
    (table,) = result_tables(own, beside=False)
    assert not any(told in text(table) for told in ("publ.", "Published", "protocol has"))
    assert len(table.rows) == 2
