"""Documents on headaches and gout, two questions, and a taxonomy that knows most of them."""

from __future__ import annotations

from auscult.concepts.concept import Concept
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents import Document, Passage
from auscult.ingest.corpus import Judgement
from auscult.search.hits import Ranking
from auscult.understanding import Query
from auscult_lab.evaluation.breakdown import read_passages
from auscult_lab.evaluation.task import Task

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
