"""Queries that training documents share nothing with: by words, by name, by identifier, and not otherwise."""

from __future__ import annotations

import pytest

from auscult.documents import Document, Section, build_document
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.task import build_task
from needs import Needs
from places import ROOT
from study.unseen import GRAM, UnseenQueries

TEXT = "the rash of tea begins on the second day and goes away by itself after Müller's week"
WORDS = TEXT.split()


def document(title: str, text: str, *, entity_ids: tuple[str, ...] = (), synonyms: str = "") -> Document:
    return build_document(
        doc_id=title,
        title=title,
        sections=[
            Section("symptoms", text, f"{title}-1", "symptoms"),
            Section("causes", "Tea.", f"{title}-2", "causes"),
        ],
        entity_ids=entity_ids,
        metadata={"synonyms": synonyms} if synonyms else {},
    )


def left(*training: Document) -> list[str]:
    test = document("Tea rash", TEXT, entity_ids=("UMLS:C1", "Q1"), synonyms="Brandt's rash|MBS")
    other = document("Milk rash", "Milk burns.")
    queries = [Query("long", "Tea exanthem", ("symptoms",)), Query("short", "Milk rash", ("symptoms",))]
    judgements = [
        Judgement("long", "Tea rash-1", 1),
        Judgement("long", "Milk rash-1", 0),
        Judgement("short", "Milk rash-1", 1),
    ]
    unseen = UnseenQueries([test, other], queries, judgements)
    assert unseen.read(training) == len(training)
    assert unseen.ids == [each.query_id for each in queries if each.query_id not in unseen.by_words | unseen.by_name]
    return unseen.ids


@pytest.mark.parametrize(
    "training",
    [
        document("Coffee", "Coffee. " + " ".join(WORDS[2 : 2 + GRAM])),
        document("Coffee", " ".join(WORDS[-GRAM:]).upper().replace("Ü", "u").replace(" ", " - ")),
        document("TEA-RASH", "Coffee."),
        document("Coffee", "Coffee.", synonyms="x|brandt s rash"),
        document("Tea Exanthem", "Coffee."),
        document("Coffee", "Coffee.", entity_ids=("Q1", "Q2")),
    ],
)
def test_words_names_and_identifiers_touch_a_query(training: Document) -> None:
    assert left(training) == ["short"]
    assert left(document("Cocoa", "Cocoa."), training) == ["short"]


@pytest.mark.parametrize(
    "training",
    [
        document("Coffee", " ".join(WORDS[: GRAM - 1])),
        # A passage that answers no query, and words that no single text has in a row.
        document("Coffee", f"Tea. {' '.join(WORDS[:8])} so {' '.join(WORDS[8:])}"),
        document("Rash", "Rash of milk that burns, UMLS:C1.", entity_ids=("UMLS:C11",)),
    ],
)
def test_less_does_not(training: Document) -> None:
    assert left(training) == ["long", "short"]


def test_short_answers_are_seen_when_all_words_occur() -> None:
    assert left(document("Coffee", "It is said that milk burns; coffee does not.")) == ["long"]
    assert left(document("Coffee", "Buttermilk burnsides.")) == ["long", "short"]


@pytest.mark.slow
def test_the_listed_queries_of_medquad_are_those_selected(needs: Needs) -> None:
    needs.file("medquad/documents.jsonl.gz")
    corpus = open_corpus("medquad")
    task = build_task(corpus)
    unseen = UnseenQueries(task.documents, task.queries, task.judgements)
    unseen.read(corpus.documents("train-disjoint"))
    listed = ROOT / "benchmarks" / "data" / "medquad_unseen_in_medquad.txt"
    assert unseen.ids == listed.read_text(encoding="utf-8").split()
    assert len(unseen.ids) == 986
    assert set((listed.parent / "medquad_unseen_in_training.txt").read_text(encoding="utf-8").split()) < set(unseen.ids)
