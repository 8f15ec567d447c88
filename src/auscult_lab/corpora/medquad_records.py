"""MedQuAD as records: the prepared format, its names of aspects, and how a record becomes a document.

The text rule is that of CDV's reader (arnold2020, `MedQuADReader`): a passage is the answer with every
`" - "` turned into a new list line, and one newline; a document is the concatenation of its passages. The
questions never become text: in the published test they would give the answer away.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from auscult.documents import Document, Section, build_document
from auscult.files.records import Record, reject
from auscult.interfaces import Judgement, SentenceSplitter
from auscult.understanding import Query

ASPECT_HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "causes": "causes and mechanism",
        "complications": "complications",
        "considerations": "management considerations",
        "exams and tests": "diagnosis",
        "frequency": "frequency and epidemiology",
        "genetic changes": "genetic mechanism",
        "information": "information",
        "inheritance": "genetic inheritance",
        "outlook": "prognosis",
        "prevention": "prevention",
        "research": "research directions and trials",
        "stages": "staging",
        "susceptibility": "risk factors",
        "symptoms": "symptoms and presentation",
        "treatment": "treatment",
    }
)
"""MedQuAD's question type -> the heading that CDV's queries use for it."""

STRICT = "train-strict"
SPLITS = ("train", "test", "train-disjoint", STRICT)
"""Two parts of train may be learned from when the test is reported.

`train-disjoint`: documents whose entity has neither the name nor exactly the set of identifiers of a test document's.
948 of its 3,751 documents still share a title, a synonym or a UMLS concept with a test document, and 140 test passages
that answer a query stand in it word for word.

`train-strict`: the 2,581 documents (6,747 passages) that share none of these, and no whole passage, by the rules of
`medquad.TestTraces`. Related diseases remain, and so do phrases that a site repeats on its pages."""


def answer_text(answer: str) -> str:
    """The passage text of an answer, by CDV's rule."""
    return answer.replace(" - ", "\n- ") + "\n"


def aspect_of(source: str, question_type: str) -> str:
    """CDV's aspect of a question type; empty where CDV gives none.

    GHR's "treatment" answers are lists of links, and one NIHSeniorHealth label was too special.
    """
    if source == "GHR" and question_type == "treatment":
        return ""
    if source == "NIHSeniorHealth" and question_type == "support groups":
        return "treatment"
    return question_type


def heading_of(source: str, question_type: str) -> str:
    """The heading of a passage: CDV's name of its aspect, also where CDV asks no query about it."""
    aspect = aspect_of(source, question_type) or question_type
    return ASPECT_HEADINGS.get(aspect, aspect)


def in_split(record: Record, split: str | None, strict: Collection[str] = ()) -> bool:
    """Whether a document or train query belongs to a split.

    Args:
        record: The document's or the query's.
        split: Which split; None holds everything.
        strict: The ids of the documents of `train-strict` (`medquad.strict_documents`), where it is asked for.
            A query belongs to it where all documents of its answers do.

    Raises:
        RecordError: A field is missing or of the wrong type.
    """
    if split is None:
        return True
    own = record.text("split", "train")
    if split == STRICT:
        passages = record.records("relevant") if "relevant" in record.fields else [record]
        return all(each.text("doc_id") in strict for each in passages)
    if split == "train-disjoint":
        return own == "train" and record.fields.get("overlaps_test_entity") is False
    return own == split


def document_of(record: Record, splitter: SentenceSplitter | None = None) -> Document:
    """Build the document of a record.

    Args:
        record: A line of `documents.jsonl.gz`.
        splitter: Finds sentences; the default splitter when not given.

    Returns:
        The document. Identifiers are its UMLS concepts, then its Wikidata items (test documents).

    Raises:
        RecordError: A field is missing or of the wrong type, or CDV's offsets do not fit the text.
    """
    source = record.text("source")
    sections = []
    begin = 0
    for passage in record.records("passages"):
        kind, text = passage.text("qtype"), answer_text(passage.text("text"))
        given = passage.fields.get("cdv_begin", begin), passage.fields.get("cdv_length", len(text))
        if given != (begin, len(text)):
            reject(
                "wrong offsets",
                record.where,
                f"{passage.text('passage_id')} at {given[0]} with length {given[1]}",
                f"a passage at {begin} with length {len(text)}",
            )
        begin += len(text)
        aspect = aspect_of(source, kind)
        sections.append(Section(heading_of(source, kind), text, passage.text("passage_id"), aspect))
    if not sections:
        reject("empty document", record.where, "a document with answers", f"{record.text('doc_id')!r} without")
    return build_document(
        doc_id=record.text("doc_id"),
        title=record.text("title", ""),
        sections=sections,
        source=source,
        url=record.text("url", ""),
        entity_ids=(*_umls(record), *wikidata_ids(record.text("entity_id", ""))),
        metadata=_metadata(record),
        splitter=splitter,
        separator="",
    )


def _umls(record: Record) -> tuple[str, ...]:
    return tuple(f"UMLS:{cui}" for cui in record.texts("umls_cuis"))


def wikidata_ids(joined: str) -> tuple[str, ...]:
    """CDV joins several Wikidata items by semicolons, and writes nothing for none."""
    return tuple(filter(None, joined.split(";")))


def _metadata(record: Record) -> dict[str, str]:
    fields = {
        "split": record.text("split", ""),
        "collection": record.text("collection", ""),
        "semantic_group": record.text("semantic_group", ""),
        "synonyms": "|".join(record.texts("synonyms")),
    }
    overlaps = record.fields.get("overlaps_test_entity")
    if isinstance(overlaps, bool):
        fields["overlaps_test_entity"] = str(overlaps).lower()
    return {name: value for name, value in fields.items() if value}


def query_of(record: Record) -> Query:
    """Build the query of a line of `queries_test.jsonl.gz` or `queries_train.jsonl.gz`.

    Several identifiers of one entity name several concepts, so `entity_id` is set only where there is exactly
    one.
    """
    ids = wikidata_ids(record.text("entity_id", "")) or _umls(record)
    return Query(
        query_id=record.text("query_id"),
        entity=record.text("entity"),
        aspects=(record.text("aspect_heading"),),
        entity_id=ids[0] if len(ids) == 1 else "",
        text=record.text("text", ""),
    )


def judgements_of(record: Record) -> list[Judgement]:
    """The relevant passages of a query's line."""
    query_id = record.text("query_id")
    judgements = []
    for relevant in record.records("relevant"):
        relevance: Any = relevant.fields.get("relevance", 1)
        if not isinstance(relevance, int):
            reject("wrong type", record.where, "a whole number in 'relevance'", repr(relevance))
        judgements.append(Judgement(query_id, relevant.text("passage_id"), relevance))
    return judgements
