"""Rebuild the prepared MedQuAD files from the two public repositories.

The XML tree gives the texts, CDV's annotations the test split. Every test passage is checked to be exactly where CDV's
annotations place it.

CDV's candidates for the test queries are drawn again (arnold2020 section 5.1, `PassageIndex`). All passages of at least
10 characters of the test documents are ranked by BM25 (k1 = 1.2, b = 0.75) as Lucene 7 computes it: lengths rounded to
the values that fit in one byte, weights times k1 + 1, ties by position in the index. A query's pool begins with its
relevant passages; then come the best passage, all passages of that passage's document and the rest of the best 64,
without repeats, until there are 64 in all. CDV did not publish its pools; its analyser (ICU tokens, ICU folding) is
approximated here by word-break rules on folded text.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.errors import DataError
from auscult.files.reading import packing
from auscult.files.writing import renewed_folder
from auscult_lab.corpora.medquad_records import (
    ASPECT_HEADINGS,
    CANDIDATE_COLUMNS,
    CANDIDATES,
    DOCUMENTS,
    NOT_A_NAME,
    QUERIES,
    WITHHELD,
    answer_text,
    aspect_of,
    normalised_name,
)
from auscult_lab.corpora.medquad_sources import CdvAnnotations, DocumentMark, XmlDocument, read_annotations, read_tree

POOL = 64
SHORTEST = 10
_K1 = 1.2
_B = 0.75

_LETTER = r"[^\W\d_]"
# UAX 29: a full stop or apostrophe between letters, and a full stop or comma between digits, do not break a
# word.
_TOKEN = re.compile(rf"\w+(?:(?:(?<={_LETTER})[.'’](?={_LETTER})|(?<=\d)[.,](?=\d))\w+)*")
_BLANKED = str.maketrans("/-:", "   ")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of a query's pool; `bm25` is 0.0 where the search did not find it."""

    passage_id: str
    relevance: int
    bm25: float


def tokens(text: str) -> list[str]:
    """Return words, case-folded and without diacritics."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _TOKEN.findall("".join(c for c in decomposed if not unicodedata.combining(c)))


def rounded_length(length: int) -> int:
    """Return a length as Lucene's one-byte norm (`SmallFloat.intToByte4`) gives it back: exact up to 40."""
    exact = 24  # 255 less the code of the largest int, 231
    if length < exact:
        return length
    rest = length - exact
    shift = max(rest.bit_length() - 4, 0)
    return exact + (rest >> shift << shift)


class PassageSearch:
    """BM25 over a fixed list of passages.

    Args:
        passages: passage_id -> text, in index order.
    """

    def __init__(self, passages: Mapping[str, str]) -> None:
        self.passage_ids = tuple(passages)
        counts = [Counter(tokens(text)) for text in passages.values()]
        lengths = [counter.total() for counter in counts]
        mean = sum(lengths) / max(len(lengths), 1)
        norm = [_K1 * (1 - _B + _B * rounded_length(length) / mean) for length in lengths]
        postings: dict[str, tuple[list[int], list[float]]] = {}
        for row, counter in enumerate(counts):
            for word, count in counter.items():
                rows, weights = postings.setdefault(word, ([], []))
                rows.append(row)
                weights.append(count / (count + norm[row]))
        self._postings: dict[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]] = {}
        for word, (rows, weights) in postings.items():
            idf = np.log(1 + (len(counts) - len(rows) + 0.5) / (len(rows) + 0.5))
            self._postings[word] = np.array(rows, dtype=np.intp), (_K1 + 1) * idf * np.array(weights)

    def best(self, query: str, hits: int = POOL) -> dict[str, float]:
        """Return the best passages that share a word with the query, best first: passage_id -> score."""
        scores = np.zeros(len(self.passage_ids))
        # Repeated words of the query count repeatedly.
        for word in tokens(query):
            if word in self._postings:
                rows, weights = self._postings[word]
                scores[rows] += weights
        order = np.argsort(-scores, kind="stable")[:hits]
        return {self.passage_ids[row]: float(scores[row]) for row in order if scores[row] > 0}


def draw(
    entity: str,
    aspect_heading: str,
    relevant: Sequence[str],
    search: PassageSearch,
    siblings: Mapping[str, Sequence[str]],
) -> Iterator[Candidate]:
    """Draw one query's pool.

    Args:
        entity: The entity's name.
        aspect_heading: The aspect's longer name.
        relevant: Its relevant passages.
        search: Over the test passages.
        siblings: passage_id -> passages of the same document that are in the index, in order.

    Yields:
        At most 64 candidates, relevant ones first: their order must never be used.
    """
    scores = search.best(f"{entity} {aspect_heading}".translate(_BLANKED))
    ranked = list(scores)
    pool = dict.fromkeys((*relevant, *ranked[:1], *(siblings[ranked[0]] if ranked else ()), *ranked[1:]))
    for place, passage_id in enumerate(pool):
        if place >= max(POOL, len(relevant)):
            return
        yield Candidate(passage_id, int(place < len(relevant)), scores.get(passage_id, 0.0))


Fields = dict[str, Any]

# CDV's reader keeps documents of semantic group Disorders; its published split has none of these two
# collections.
_OUTSIDE_POOL = frozenset({"4_MPlus_Health_Topics_QA", "9_CDC_QA"})


def document_records(tree: Sequence[XmlDocument], cdv: CdvAnnotations | None) -> list[Fields]:
    """Return records of all documents with answers, in the format of `documents.jsonl.gz`.

    Args:
        tree: All files, in the order of `read_tree`.
        cdv: The test split. Without it no document has a split, and none is known to share a test entity.

    Returns:
        Test documents in CDV's order, then the others in the order of the tree.

    Raises:
        DataError: A test document is not in the tree, or its text is not the one that CDV annotated.
    """
    by_id = _by_unique_id(tree, cdv)
    if cdv is None:
        return [_record(xml, doc_id, {}) for doc_id, xml in by_id.items()]
    missing = [doc_id for doc_id in cdv.documents if doc_id not in by_id]
    if missing:
        raise DataError(
            f"the {len(cdv.documents)} documents of the test split",
            f"a tree without {missing[0]} and {len(missing) - 1} others",
            "take the whole tree at the commit that the catalogue names",
        )
    test = [_test_record(by_id[doc_id], doc_id, mark) for doc_id, mark in cdv.documents.items()]
    names = {normalised_name(record["entity"]) for record in test} - {""}
    concepts = {frozenset(record["umls_cuis"]) for record in test if record["umls_cuis"]}
    rest = [
        _record(
            xml,
            doc_id,
            {
                "overlaps_test_entity": normalised_name(xml.title) in names or frozenset(xml.umls_cuis) in concepts,
                "in_cdv_source_list": xml.file in cdv.source_files,
                "cdv_pool": xml.semantic_group == "Disorders" and xml.collection not in _OUTSIDE_POOL,
            },
        )
        for doc_id, xml in by_id.items()
        if doc_id not in cdv.documents
    ]
    return test + rest


def _by_unique_id(tree: Sequence[XmlDocument], cdv: CdvAnnotations | None) -> dict[str, XmlDocument]:
    """Return documents with answers by CDV's id.

    Twelve files of CancerGov share an id with another file. The one that CDV drew into its test split keeps
    it; the others are told apart by their file names.
    """
    counts = Counter(xml.plain_id for xml in tree)
    by_id = {}
    for xml in tree:
        doc_id = xml.plain_id
        drawn = cdv is not None and doc_id in cdv.documents and xml.file in cdv.source_files
        if counts[doc_id] > 1 and not drawn:
            doc_id += "#" + xml.file.rpartition("/")[2].removesuffix(".xml")
        if xml.answered:
            by_id[doc_id] = xml
    return by_id


def _record(xml: XmlDocument, doc_id: str, marks: Fields) -> Fields:
    record: Fields = {"doc_id": doc_id}
    if marks:
        record["split"] = "test" if "entity" in marks else "train"
    record |= {
        "source": xml.source,
        "collection": xml.collection,
        "file": xml.file,
        "url": xml.url,
        "title": xml.title,
        **marks,
        "umls_cuis": list(xml.umls_cuis),
        "semantic_group": xml.semantic_group,
        "semantic_types": list(xml.semantic_types),
        "category": xml.category,
        "synonyms": list(xml.synonyms),
    }
    if xml.malformed_header:
        record["malformed_header"] = True
    plain = xml.plain_id
    record["passages"] = [
        {
            "passage_id": doc_id + f"{xml.source}_{pair.question_id}".removeprefix(plain),
            "question": pair.question,
            "qtype": pair.question_type,
            "text": pair.answer,
        }
        for pair in xml.answered
    ]
    return record


def _test_record(xml: XmlDocument, doc_id: str, mark: DocumentMark) -> Fields:
    record = _record(xml, doc_id, {"entity": mark.entity, "entity_id": mark.entity_id, "cdv_pool": True})
    begin = 0
    for passage in record["passages"]:
        seen = mark.passages.get(passage["passage_id"])
        length = len(answer_text(passage["text"]))
        if seen is None or (seen.begin, seen.length) != (begin, length):
            where = f"[{seen.begin}, {seen.begin + seen.length})" if seen else "no place"
            raise DataError(
                f"passage {passage['passage_id']} at {where} as annotated",
                f"[{begin}, {begin + length}) in {xml.file}",
                "take tree and annotations at the commits that the catalogue names",
            )
        passage |= {"cdv_begin": begin, "cdv_length": length, "cdv_aspect": seen.aspect}
        begin += length
    return record


def test_queries(cdv: CdvAnnotations) -> Iterator[Fields]:
    """Return records of `queries_test.jsonl.gz`: CDV's queries, numbered from `mqt1`."""
    for number, query in enumerate(cdv.queries, start=1):
        yield {
            "query_id": f"mqt{number}",
            "text": query.text,
            "entity": query.entity,
            "entity_id": query.entity_id,
            "aspect": query.aspect,
            "aspect_heading": query.aspect_heading,
            "relevant": [
                {"passage_id": passage_id, "doc_id": doc_id, "relevance": relevance}
                for passage_id, doc_id, relevance in query.relevant
            ],
        }


def train_queries(records: Iterable[Fields]) -> list[Fields]:
    """Return records of `queries_train.jsonl.gz`: queries over train documents, grouped by CDV's rule.

    A passage joins the first query of its aspect that has its entity's name, or its set of UMLS concepts, on
    any of its documents; otherwise it asks a new one. Documents without title ask none.
    """
    queries: list[Fields] = []
    known: dict[tuple[str, str | frozenset[str]], int] = {}
    for record in records:
        if record.get("split") != "train" or record["title"] is None:
            continue
        entity = record["title"].replace(NOT_A_NAME, "")
        concepts = frozenset(record["umls_cuis"])
        for passage in record["passages"]:
            aspect = aspect_of(record["source"], passage["qtype"])
            if not aspect:
                continue
            keys = [(aspect, entity), (aspect, concepts)] if concepts else [(aspect, entity)]
            place = min((known[key] for key in keys if key in known), default=len(queries))
            if place == len(queries):
                queries.append(
                    {
                        "query_id": f"mqr{place + 1}",
                        "text": passage["question"],
                        "entity": entity,
                        "umls_cuis": record["umls_cuis"],
                        "semantic_group": record["semantic_group"],
                        "aspect": aspect,
                        "aspect_heading": ASPECT_HEADINGS.get(aspect, aspect),
                        "relevant": [],
                        "overlaps_test_entity": False,
                    }
                )
            for key in keys:
                known.setdefault(key, place)
            query = queries[place]
            query["relevant"].append({"passage_id": passage["passage_id"], "doc_id": record["doc_id"], "relevance": 1})
            query["overlaps_test_entity"] |= record["overlaps_test_entity"]
    return queries


def withheld_records(tree: Iterable[XmlDocument]) -> Iterator[Fields]:
    """Return records of `questions_without_answers.jsonl.gz`, by file: documents whose answers are withheld."""
    for xml in sorted(tree, key=lambda xml: xml.file):
        if not xml.answered:
            yield {
                "doc_id": xml.plain_id,
                "collection": xml.collection,
                "url": xml.url,
                "title": xml.title,
                "category": xml.category,
                "umls_cuis": list(xml.umls_cuis),
                "semantic_group": xml.semantic_group,
                "semantic_types": list(xml.semantic_types),
                "synonyms": list(xml.synonyms),
                "questions": [{"question": pair.question, "qtype": pair.question_type} for pair in xml.pairs],
            }


def candidate_pools(records: Iterable[Fields], queries: Iterable[Fields]) -> Iterator[tuple[str, Sequence[Candidate]]]:
    """Draw the pool of every test query: (query_id, at most 64 candidates, relevant ones first)."""
    passages: dict[str, str] = {}
    siblings: dict[str, list[str]] = {}
    for record in records:
        if record.get("split") == "test":
            texts = {p["passage_id"]: answer_text(p["text"]) for p in record["passages"]}
            indexed = {passage_id: text for passage_id, text in texts.items() if len(text) >= SHORTEST}
            passages |= indexed
            siblings |= {passage_id: list(indexed) for passage_id in indexed}
    search = PassageSearch(passages)
    for query in queries:
        relevant = [passage["passage_id"] for passage in query["relevant"]]
        yield (query["query_id"], tuple(draw(query["entity"], query["aspect_heading"], relevant, search, siblings)))


def candidate_lines(pools: Iterable[tuple[str, Sequence[Candidate]]]) -> Iterator[str]:
    """Write lines of `candidates_test_bm25.tsv.gz`: query, rank, relevance, passage, score to 4 places."""
    yield "\t".join(CANDIDATE_COLUMNS) + "\n"
    for query_id, pool in pools:
        for rank, found in enumerate(pool, start=1):
            yield f"{query_id}\t{rank}\t{found.relevance}\t{found.passage_id}\t{found.bm25:.4f}\n"


def _json_lines(records: Iterable[Fields]) -> Iterator[str]:
    return (json.dumps(fields, ensure_ascii=False) + "\n" for fields in records)


def rebuild(tree: Path, annotations: Path, folder: Path) -> tuple[Path, ...]:
    """Write the five prepared files.

    They are first written to a new folder, which replaces the old one at the end. A failure leaves the old files. The
    same input gives the same bytes.

    Args:
        tree: The top folder of a copy of github.com/abachaa/MedQuAD.
        annotations: A copy of `data/MedQuAD/` of github.com/sebastianarnold/cdv.
        folder: Output folder; created where missing.

    Returns:
        The files written.

    Raises:
        CorpusMissingError: A part of the input is not there.
        DataError: A part of it is malformed, or tree and annotations do not fit each other.
    """
    cdv = read_annotations(annotations)
    documents = list(read_tree(tree))
    records = document_records(documents, cdv)
    queries = list(test_queries(cdv))
    contents: dict[str, Iterable[str]] = {
        DOCUMENTS: _json_lines(records),
        QUERIES["test"]: _json_lines(queries),
        QUERIES["train"]: _json_lines(train_queries(records)),
        CANDIDATES: candidate_lines(candidate_pools(records, queries)),
        WITHHELD: _json_lines(withheld_records(documents)),
    }
    with renewed_folder(folder) as fresh:
        for name, lines in contents.items():
            with packing(fresh / name) as packed, io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream:
                stream.writelines(lines)
    return tuple(folder / name for name in contents)
