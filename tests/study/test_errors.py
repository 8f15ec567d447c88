"""Wrong answers are sorted by a taxonomy and a table of related aspects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headaches import PASSAGES, TASK, TAXONOMY, first
from study.errors.classes import (
    ASPECT_CLASSES,
    ENTITY_CLASSES,
    EntityResolver,
    classify_aspects,
    count_classes,
    find_errors,
    write_errors,
)


@pytest.mark.parametrize(
    ("doc_id", "expected"),
    [
        ("mig", "same"),
        ("head", "ancestor"),
        ("aura", "descendant"),
        ("clus", "sibling"),
        ("gout", "unrelated"),
        ("odd", "not in taxonomy"),
    ],
)
def test_entity_classes(doc_id: str, expected: str) -> None:
    (error,) = find_errors(TASK, [first(f"{doc_id}-treatment")], PASSAGES, TAXONOMY)
    assert error.entity_class == expected
    assert error.aspect_class == "unrelated"
    assert (error.rank, error.score_gap) == (3, pytest.approx(0.5))


def test_the_identifier_that_fewest_documents_hold_decides() -> None:
    resolver = EntityResolver(TAXONOMY, PASSAGES)
    assert resolver.resolve("Classic migraine", PASSAGES["aura-symptoms"].entity_ids) == "DOID:3"
    assert resolver.resolve("GOUT", ("UMLS:C0000003",)) == "DOID:5"
    assert resolver.resolve("unheard of", ()) is None


@pytest.mark.parametrize(
    ("true", "found", "expected"),
    [
        (["symptoms"], "symptoms", "same"),
        (["exams and tests"], "Diagnosis", "same"),
        (["frequency"], "information", "related"),
        (["stages"], "symptoms", "related"),
        (["outlook"], "considerations", "related"),
        (["treatment", "symptoms"], "presentation", "related"),
        (["inheritance"], "treatment", "unrelated"),
        (["information"], "symptoms", "unrelated"),
    ],
)
def test_aspect_classes(true: list[str], found: str, expected: str) -> None:
    assert classify_aspects(true, found) == expected


def test_only_wrong_answers_are_counted_by_class(tmp_path: Path) -> None:
    rankings = [first("mig-symptoms"), first("mig-treatment", "q2")]
    errors = find_errors(TASK, rankings, PASSAGES, TAXONOMY)
    assert [(each.query_id, each.entity_class, each.aspect_class) for each in errors] == [("q2", "unrelated", "same")]
    counts = count_classes(errors)
    assert counts["unrelated"]["same"] == 1
    assert sum(counts[entity][aspect] for entity in ENTITY_CLASSES for aspect in ASPECT_CLASSES) == 1
    write_errors(tmp_path / "new" / "errors.jsonl", {"model": errors})
    (line,) = (tmp_path / "new" / "errors.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert (row["model"], row["top_passage"], row["true_passages"]) == (
        "model",
        "mig-treatment",
        ["gout-treatment"],
    )
    assert row["true_source"] == "NIAMS"
