"""Similar, but not the one asked: names that look alike, and which of them mean different things."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from auscult.concepts import KnowledgeBase
from auscult.concepts.concept import Concept
from auscult.search.siblings import are_siblings, sibling_note
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from needs import Needs

TRAPS = """
Spastic paraplegia 8 | Spastic paraplegia 11
Spastic paraplegia 8 | spastic paraplegia type 11
hereditary spastic paraplegia 8 | Spastic paraplegia 18
Spastic paraplegia 1 | Spastic paraplegia 11
type 1 diabetes | Diabetes mellitus type 2
diabetes type one | Type 2 diabetes
Mucopolysaccharidosis type II | Mucopolysaccharidosis type VII
Mucopolysaccharidosis I | Mucopolysaccharidosis II
Mucopolysaccharidosis type IIIA | Mucopolysaccharidosis type IIIB
Glycogen storage disease type Ia | Glycogen storage disease type Ib
hepatitis A | Hepatitis B
hemophilia A | Haemophilia B
vitamin B12 deficiency | Vitamin D deficiency
ALG1-congenital disorder of glycosylation | PMM2-congenital disorder of glycosylation
Charcot-Marie-Tooth disease type 2B1 | Charcot-Marie-Tooth disease type 2K
Chromosome 4q deletion | Chromosome 5q deletion
stage 2 lung cancer | Stage IV lung cancer
heart failure stage B | Heart failure stage C
Adult Non-Hodgkin Lymphoma | Childhood Non-Hodgkin Lymphoma
juvenile polymyositis | Adult polymyositis
acute pancreatitis | Chronic pancreatitis
hypothyroidism | Hyperthyroidism
primary hyperparathyroidism | Secondary hyperparathyroidism
autosomal dominant polycystic kidney disease | Autosomal recessive polycystic kidney disease
bacterial meningitis | Viral meningitis
""".strip().splitlines()
ALIKE = """
Spastic paraplegia 8 | Spastic paraplegia 8
Spastic paraplegia 8 | spastic paraplegia type VIII
Spastic paraplegia 8 | Spastic paraplegia
Spastic paraplegia | Spastic paraplegia 11
Mucopolysaccharidosis I | Mucopolysaccharidosis type 1
Mucopolysaccharidosis type III | Mucopolysaccharidosis type IIIB
Waardenburg syndrome type 2 | Waardenburg syndrome type 2A
Waardenburg syndrome type IIA | Waardenburg syndrome, type 2a
type 2 diabetes | Diabetes mellitus, type II
diabetes type two | Type 2 diabetes
a cold | Common cold
Carbamoyl phosphate synthetase 1 deficiency | carbamoyl phosphate synthetase I deficiency
Childhood Hodgkin Lymphoma | Hodgkin lymphoma
leukaemia, acute | Acute leukemia
hypertension | Hypotension in pregnancy
gout | Asthma
gout | Leaflet 17
COVID-19 | COVID 19 (coronavirus)
optic atrophy 1 | Dominant optic atrophy
lung cancer stage 2 | Lung cancer
""".strip().splitlines()


def pairs(lines: list[str]) -> list[tuple[str, str]]:
    return [(asked.strip(), title.strip()) for asked, _, title in (line.partition("|") for line in lines)]


@pytest.mark.parametrize(("name", "title"), pairs(TRAPS))
def test_siblings_are_noted_as_not_the_one_asked(name: str, title: str) -> None:
    assert are_siblings([name], title)
    assert are_siblings([title], name)
    note = sibling_note(Query("", name), title)
    assert note == f"similar, but not the one asked: '{title}', where '{name}' was asked for"


@pytest.mark.parametrize(("name", "title"), pairs(ALIKE))
def test_equal_broader_and_unrelated_names_are_no_siblings(name: str, title: str) -> None:
    assert not are_siblings([name], title)
    assert not are_siblings([title], name)
    assert sibling_note(Query("", name), title) == ""


def test_any_name_of_an_entity_decides_about_siblings() -> None:
    assert are_siblings(["SPG8", "spastic paraplegia 8"], "Spastic paraplegia 11")
    assert not are_siblings(["myopathy type 3", "Myopathy type 4"], "Myopathy type 4")
    assert sibling_note(Query("", "", ("treatment",), text="what helps?"), "Gout") == ""
    assert sibling_note(Query("", "gout 2"), "") == ""


def test_synonyms_in_the_knowledge_base_are_no_siblings() -> None:
    known = KnowledgeBase([Concept("X:1", "dystonia 5", ("Dystonia 14",)), Concept("X:2", "dystonia 6")])
    assert sibling_note(Query("", "dystonia 5"), "Dystonia 14") != ""
    assert sibling_note(Query("", "dystonia 5"), "Dystonia 14", known) == ""
    assert sibling_note(Query("", "dystonia 5"), "Dystonia 6", known) != ""


def test_another_concept_with_a_common_word_is_similar() -> None:
    known = KnowledgeBase(
        [
            Concept("X:0", "glumosis"),
            Concept("X:1", "tarvic disease", ("tarvic sprue",), parents=("X:0",)),
            Concept("X:2", "tarvic artery syndrome"),
            Concept("X:3", "juvenile sprue", parents=("X:1",)),
            Concept("X:4", "tarvic"),
            Concept("X:5", "severe tarvic sprue"),
            Concept("X:6", "blurriness"),
        ]
    )
    query = Query("", "tarvic disease", entity_id="X:1", names=("tarvic sprue",))
    assert sibling_note(query, "Tarvic artery syndrome (TAS)", known) != ""
    # Its own names, wider and narrower ones, ones with only class words more, and what shares no word.
    for title in ("Tarvic sprue", "Glumosis", "Juvenile sprue", "Tarvic", "Severe tarvic sprue", "Blurriness"):
        assert sibling_note(query, title, known) == "", title
    # What names no concept may be about anything.
    assert sibling_note(query, "Living with tarvic arteries", known) == ""
    assert sibling_note(replace(query, entity_id=""), "Tarvic artery syndrome", known) == ""


def test_no_correct_medquad_pair_is_called_siblings(needs: Needs) -> None:
    needs.data("medquad")
    corpus = open_corpus("medquad")
    titles = {passage.passage_id: each.title for each in corpus.documents("test") for passage in each.passages}
    entities = {query.query_id: query.entity for query in corpus.queries("test")}
    true = {(entities[each.query_id], titles[each.passage_id]) for each in corpus.judgements("test") if each.relevance}
    assert len(true) > 1_000
    assert [pair for pair in true if are_siblings([pair[0]], pair[1])] == []
    siblings = [
        pair for pair in pairwise(sorted(set(titles.values()), key=str.casefold)) if are_siblings([pair[0]], pair[1])
    ]
    assert ("Spinocerebellar ataxia 13", "Spinocerebellar ataxia 14") in siblings
    assert len(siblings) > 30
