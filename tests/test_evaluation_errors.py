"""Wrong answers are sorted by a taxonomy and a table of related aspects; results are broken down by group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.concepts.concept import Concept
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents import Document, Passage
from auscult.evaluation.breakdown import break_down, match_rates
from auscult.evaluation.collection import is_about, read_passages, same_name
from auscult.evaluation.errors import (
    ASPECT_CLASSES,
    ENTITY_CLASSES,
    EntityResolver,
    classify_aspects,
    count_classes,
    find_errors,
    write_errors,
)
from auscult.evaluation.measures import measure
from auscult.evaluation.task import Task
from auscult.interfaces import Judgement, Ranking
from auscult.queries import Query

TAXONOMY = KnowledgeBase(
    [
        Concept("DOID:1", "headache disorder"),
        Concept("DOID:2", "migraine", xrefs=("UMLS:C0000002",), parents=("DOID:1",)),
        Concept("DOID:3", "migraine with aura", xrefs=("UMLS:C0000003",), parents=("DOID:2",)),
        Concept("DOID:4", "cluster headache", parents=("DOID:1",)),
        Concept("DOID:5", "gout", synonyms=("gouty arthritis",)),
    ]
)


def document(doc_id: str, title: str, source: str, *ids: str) -> Document:
    passages = tuple(
        Passage(f"{doc_id}-{aspect}", aspect.title(), n, n + 1, aspect=aspect)
        for n, aspect in enumerate(("information", "symptoms", "treatment"))
    )
    return Document(doc_id, title, "abc", passages, source=source, entity_ids=ids)


DOCUMENTS = (
    document("head", "Headache Disorder", "GHR"),
    document("mig", "Migraine", "GARD", "Q133823", "UMLS:C0000002"),
    document("aura", "Classic migraine", "GARD", "UMLS:C0000002", "UMLS:C0000003"),
    document("clus", "Cluster headache", "NINDS"),
    document("gout", "Gouty arthritis", "NIAMS"),
    document("odd", "A condition nobody lists", "NIAMS"),
)
QUERY = Query("q1", "Migraine", ("symptoms and presentation",), entity_id="Q133823")
TASK = Task(
    corpus="small",
    protocol="rerank",
    documents=DOCUMENTS,
    queries=(QUERY, Query("q2", "gouty arthritis", ("treatment",))),
    judgements=(Judgement("q1", "mig-symptoms"), Judgement("q2", "gout-treatment")),
)
PASSAGES = read_passages(DOCUMENTS)


def first(passage_id: str, query_id: str = "q1") -> Ranking:
    true = "mig-symptoms" if query_id == "q1" else "gout-treatment"
    passage_ids = tuple(dict.fromkeys((passage_id, "odd-information", true)))
    return Ranking(query_id, passage_ids, (0.9, 0.5, 0.4)[: len(passage_ids)])


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


def test_right_answers_are_no_errors_and_classes_are_counted(tmp_path: Path) -> None:
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


def test_match_rates() -> None:
    rates = match_rates(TASK, [first("mig-treatment"), first("odd-treatment", "q2")], PASSAGES)
    assert (rates.entity, rates.aspect, rates.both) == (0.5, 0.5, 0.0)
    assert match_rates(TASK, [first("mig-symptoms")], PASSAGES).both == 0.5


def test_break_down_by_source_and_aspect() -> None:
    measured = measure([first("mig-symptoms"), first("odd-treatment", "q2")], TASK.judgements)
    by_source = {each.name: each for each in break_down(TASK, measured, PASSAGES, "source")}
    assert {name: (each.queries, each.measures["R@1"]) for name, each in by_source.items()} == {
        "GARD": (1, 1.0),
        "NIAMS": (1, 0.0),
    }
    assert [each.name for each in break_down(TASK, measured, PASSAGES, "aspect")] == ["symptoms", "treatment"]


def test_names_are_compared_without_case_and_punctuation() -> None:
    assert same_name("Tay-Sachs disease", "tay sachs  Disease")
    assert not same_name("", "")
    assert is_about(PASSAGES["mig-symptoms"], Query("q", "something else", entity_id="Q133823"))
    assert not is_about(PASSAGES["odd-symptoms"], QUERY)
