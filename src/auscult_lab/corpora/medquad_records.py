"""MedQuAD as records: the prepared files, documents from records, and overlap with the test split.

The text rule is that of CDV's reader (arnold2020, `MedQuADReader`): a passage is the answer with every
`" - "` turned into a new list line, and one newline; a document is the concatenation of its passages. The
questions never become text: in the published test they would give the answer away.

MedQuAD's sites write about the same diseases and repeat each other. `train-disjoint` leaves out
documents whose title is a test entity's name, or whose UMLS concepts are exactly a test document's; `train-strict`
leaves out all that share anything by the rules of `TestTraces`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal

from auscult.documents import Document, Section, build_document
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import ConfigError
from auscult.files.records import BadRecords, Record, RecordError, reject, settle
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query

DOCUMENTS = "documents.jsonl.gz"
QUERIES: Mapping[str, str] = MappingProxyType(
    {
        "test": "queries_test.jsonl.gz",
        "train": "queries_train.jsonl.gz",
        "train-disjoint": "queries_train.jsonl.gz",
        "train-strict": "queries_train.jsonl.gz",
    }
)
CANDIDATES = "candidates_test_bm25.tsv.gz"
CANDIDATE_COLUMNS = ("query_id", "rank", "relevance", "passage_id", "bm25_score")
WITHHELD = "questions_without_answers.jsonl.gz"

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
`TestTraces`. Related diseases remain, and so do phrases that a site repeats on its pages."""


NOT_A_NAME = "What I need to know about "
"""Before the names in titles of some NIDDK pages."""


def require_split(split: str | None) -> None:
    """Check the name of a split; None means all splits.

    Raises:
        ConfigError: There is no such split.
    """
    if split is not None and split not in SPLITS:
        raise ConfigError(f"one of the splits {', '.join(SPLITS)}", repr(split), "correct the split")


def answer_text(answer: str) -> str:
    """Return the passage text of an answer, by CDV's rule."""
    return answer.replace(" - ", "\n- ") + "\n"


def aspect_of(source: str, question_type: str) -> str:
    """Return CDV's aspect of a question type; empty where CDV gives none.

    GHR's "treatment" answers are lists of links, and one NIHSeniorHealth label was too special.
    """
    if source == "GHR" and question_type == "treatment":
        return ""
    if source == "NIHSeniorHealth" and question_type == "support groups":
        return "treatment"
    return question_type


def heading_of(source: str, question_type: str) -> str:
    """Return a passage's heading: CDV's name of its aspect, also where CDV has no query about it."""
    aspect = aspect_of(source, question_type) or question_type
    return ASPECT_HEADINGS.get(aspect, aspect)


def in_split(record: Record, split: str | None, strict: Collection[str] = ()) -> bool:
    """Check whether a document or train query belongs to a split.

    Args:
        record: Record of the document or query.
        split: Name of the split; None for everything.
        strict: Ids of the documents of `train-strict` (`strict_documents`); needed for that split only.
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
    metadata = {
        "split": record.text("split", ""),
        "collection": record.text("collection", ""),
        "semantic_group": record.text("semantic_group", ""),
        "synonyms": "|".join(record.texts("synonyms")),
    }
    overlaps = record.fields.get("overlaps_test_entity")
    if isinstance(overlaps, bool):
        metadata["overlaps_test_entity"] = str(overlaps).lower()
    return build_document(
        doc_id=record.text("doc_id"),
        title=record.text("title", ""),
        sections=sections,
        source=source,
        url=record.text("url", ""),
        entity_ids=(*_umls(record), *_wikidata(record)),
        metadata={name: value for name, value in metadata.items() if value},
        splitter=splitter,
        separator="",
    )


def _umls(record: Record) -> tuple[str, ...]:
    return tuple(f"UMLS:{cui}" for cui in record.texts("umls_cuis"))


def _wikidata(record: Record) -> tuple[str, ...]:
    # CDV joins several Wikidata items by semicolons, and writes nothing for none.
    return tuple(filter(None, record.text("entity_id", "").split(";")))


def query_of(record: Record) -> Query:
    """Build the query of a line of `queries_test.jsonl.gz` or `queries_train.jsonl.gz`.

    Several identifiers of one entity name several concepts, so `entity_id` is set only where there is exactly
    one.
    """
    ids = _wikidata(record) or _umls(record)
    return Query(
        query_id=record.text("query_id"),
        entity=record.text("entity"),
        aspects=(record.text("aspect_heading"),),
        entity_id=ids[0] if len(ids) == 1 else "",
        text=record.text("text", ""),
    )


def judgements_of(record: Record) -> list[Judgement]:
    """Return the relevant passages of a query's line."""
    query_id = record.text("query_id")
    judgements = []
    for relevant in record.records("relevant"):
        relevance: Any = relevant.fields.get("relevance", 1)
        if not isinstance(relevance, int):
            reject("wrong type", record.where, "a whole number in 'relevance'", repr(relevance))
        judgements.append(Judgement(query_id, relevant.text("passage_id"), relevance))
    return judgements


Shared = Literal["name", "concept", "passage"]
"""What a document may share with a test document."""


def normalised_words(text: str) -> str:
    """Return runs of the letters a to z and of digits, in lower case and without accents, joined by spaces."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return " ".join(re.findall(r"[a-z0-9]+", "".join(c for c in folded if not unicodedata.combining(c))))


def normalised_name(name: str | None) -> str:
    """Return `normalised_words` of a title or synonym, without NIDDK's prefix "What I need to know about"."""
    return normalised_words((name or "").replace(NOT_A_NAME, ""))


class TestTraces:
    """Names, concepts and passages of the test documents, to find what other documents share with them.

    A document shares a *name* where its title or one of its synonyms is a title, synonym or CDV's entity of a test
    document, as `normalised_name` has them; a *concept* where any UMLS identifier of it is one of a test document; a
    *passage* where the words of one of its passages are those of a test passage, as `normalised_words` has them.

    These rules do not find related diseases, spellings that no field lists, or passages with some equal sentences.
    """

    __test__ = False

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._concepts: set[str] = set()
        self._passages: set[str] = set()

    def add(self, record: Record) -> None:
        """Add a test document.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        names, concepts, passages = _traces_of(record)
        self._names |= names
        self._concepts |= concepts
        self._passages |= passages

    def shared_by(self, record: Record) -> frozenset[Shared]:
        """Return which of name, concept and passage a document's record shares with a test document.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        names, concepts, passages = _traces_of(record)
        overlaps: dict[Shared, bool] = {
            "name": not names.isdisjoint(self._names),
            "concept": not concepts.isdisjoint(self._concepts),
            "passage": not passages.isdisjoint(self._passages),
        }
        return frozenset(what for what, shared in overlaps.items() if shared)


def _traces_of(record: Record) -> tuple[set[str], set[str], set[str]]:
    """Return names, concepts and passages of a record, normalised."""
    names = (record.text("title", ""), record.text("entity", ""), *record.texts("synonyms"))
    passages = (passage.text("text") for passage in record.records("passages"))
    return (
        set(map(normalised_name, names)) - {""},
        set(record.texts("umls_cuis")),
        set(map(normalised_words, passages)) - {""},
    )


def strict_documents(
    records: Iterable[Record], *, skip_bad: bool = False, report: BadRecords | None = None
) -> frozenset[str]:
    """Return the ids of `train-strict`: training documents that share nothing with a test document (`TestTraces`).

    Args:
        records: Records of all documents, in any order.
        skip_bad: Leave out documents with bad fields, instead of raising.
        report: Counts these.

    Raises:
        RecordError: A field is missing or of the wrong type (unless `skip_bad`).
    """
    traces = TestTraces()
    train = []
    for record in records:
        if record.fields.get("split") == "train":
            train.append(record)
        elif record.fields.get("split") == "test":
            with _settled(skip_bad, report):
                traces.add(record)
    apart: set[str] = set()
    for record in train:
        with _settled(skip_bad, report):
            if not traces.shared_by(record):
                apart.add(record.text("doc_id"))
    return frozenset(apart)


@contextmanager
def _settled(skip_bad: bool, report: BadRecords | None) -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        settle(error, skip_bad, report)
