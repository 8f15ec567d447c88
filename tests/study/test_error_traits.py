"""Wrong answers in the classes of grundmann2021, section 4.5."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.concepts.concept import Concept
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents import Section, build_document
from auscult.ingest.corpus import Judgement
from auscult.search.hits import Ranking
from auscult.understanding import Query
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.evaluation.breakdown import read_passages
from auscult_lab.evaluation.task import Task
from auscult_lab.recognition.opening import DictionaryRecognizer
from study.errors.classes import find_errors
from study.errors.traits import TRAITS, TraitFinder, find_traits, trait_table, write_traits

KNOWN = KnowledgeBase(
    [
        Concept("DOID:1", "arthropathy"),
        Concept("DOID:2", "gout", parents=("DOID:1",)),
        Concept("DOID:3", "asthma"),
    ]
)
SECTIONS = (
    ("HISTORY OF PRESENT ILLNESS", "He has gout."),  # 1
    ("REVIEW OF SYSTEMS", "He has gout in both feet."),  # 2
    ("HISTORY OF PRESENT ILLNESS", "No gout, no fever."),  # 3
    ("HISTORY OF PRESENT ILLNESS", "A known arthropathy."),  # 4
    ("ALLERGIES", "Asthma since birth."),  # 5
    ("HISTORY OF PRESENT ILLNESS", "He has gout. " + "Again and again. " * 20),  # 6
    ("SYMPTOMS OF GOUT", "[**Name**] [**Date**] has gout."),  # 7
    ("CHIEF COMPLAINT", "Wheezing with asthma."),  # 8
)
NOTE = build_document(doc_id="n", title="Consult", sections=[Section(heading, text) for heading, text in SECTIONS])
HISTORY = Query("q", "gout", ("history of present illness",), entity_id="DOID:2")
TOPICAL = Query("t", "gout", ("symptoms of gout",), entity_id="DOID:2")


def traits(top: int, true: int = 1, query: Query = HISTORY, limit: int = 20) -> set[str]:
    task = Task(
        corpus="small",
        protocol="rerank",
        documents=(NOTE,),
        queries=(query,),
        judgements=(Judgement(query.query_id, f"n#{true}"),),
    )
    ranking = Ranking(query.query_id, (f"n#{top}", f"n#{true}"), (0.9, 0.4))
    errors = find_errors(task, [ranking], read_passages(task.documents), KNOWN)
    finder = TraitFinder(task, KNOWN, NoteLabeller(DictionaryRecognizer(KNOWN)), max_tokens=limit)
    (found,) = find_traits(finder, errors)
    assert list(found.traits) == [trait for trait in TRAITS if trait in found.traits]
    # A note's own title is no entity; without the document of the answer nothing would be.
    return set(found.traits)


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        (3, {"same aspect", "negated mention"}),
        (4, {"same aspect", "related entity"}),
        (5, set()),
        (8, {"related aspect"}),
    ],
)
def test_how_the_top_passage_stands_to_the_question(
    top: int, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # All passages are of one note here, which would make every entity class "same".
    monkeypatch.setattr("study.errors.classes.is_about", lambda *_: False)
    assert traits(top) == expected | {"structural aspect"}


def test_the_right_entity_under_the_wrong_heading() -> None:
    assert traits(2) == {"same entity", "structural aspect"}


def test_long_anonymised_and_topical_answers() -> None:
    assert "long passage" in traits(2, true=6)
    assert "long passage" not in traits(2, true=6, limit=200)
    found = traits(2, true=7, query=TOPICAL)
    assert "anonymised" in found
    assert "structural aspect" not in found


def test_table_and_file(tmp_path: Path) -> None:
    task = Task(
        corpus="small",
        protocol="rerank",
        documents=(NOTE,),
        queries=(HISTORY,),
        judgements=(Judgement("q", "n#1"),),
    )
    errors = find_errors(task, [Ranking("q", ("n#2",), (0.9,))], read_passages(task.documents), KNOWN)
    finder = TraitFinder(task, KNOWN, NoteLabeller(DictionaryRecognizer(KNOWN)))
    traits = {"CAPR-Bi": find_traits(finder, errors), "without errors": []}
    table = trait_table(traits)
    assert [row[:2] for row in table.rows] == [("CAPR-Bi", "1")]
    shares = dict(zip(TRAITS, table.rows[0][2:], strict=True))
    assert shares["same entity"] == "100.0"
    assert shares["long passage"] == "0.0"
    write_traits(tmp_path / "errors.jsonl", traits)
    (line,) = (tmp_path / "errors.jsonl").read_text().splitlines()
    assert json.loads(line)["traits"] == ["same entity", "structural aspect"]
    assert json.loads(line)["model"] == "CAPR-Bi"
