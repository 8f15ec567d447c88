"""MedQuAD's prepared files: the published counts, golden records, offsets, and bad input.

Golden records are ids, offsets and digests; refresh them with `python tests/lab/corpora/test_medquad.py`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auscult.documents import Document, check_document
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.records import Record
from auscult_lab.corpora import medquad_records
from auscult_lab.corpora.medquad import MedQuadCorpus
from auscult_lab.corpora.medquad_records import TestTraces
from needs import Needs
from places import DATA

GOLDEN = DATA / "medquad_golden.json"
FILE = "medquad/documents.jsonl.gz"
SPLITS = ("test", "train", "train-disjoint", "train-strict")


@pytest.fixture(scope="module")
def corpus(needs: Needs) -> MedQuadCorpus:
    return MedQuadCorpus(needs.file(FILE).parent)


@pytest.fixture(scope="module")
def documents(corpus: MedQuadCorpus) -> list[Document]:
    return list(corpus.documents())


@cache
def documents_of(corpus: MedQuadCorpus, split: str) -> list[Document]:
    """Documents of a split, read once: that takes seconds."""
    return list(corpus.documents(split))


def golden(corpus: MedQuadCorpus, documents: list[Document]) -> dict[str, Any]:
    """What the golden file holds: counts per split, and the first, tenth and last records."""
    by_split = {split: {d.doc_id for d in documents_of(corpus, split)} for split in SPLITS}
    picked = {place: documents[index] for place, index in (("first", 0), ("tenth", 9), ("last", len(documents) - 1))}
    contents: dict[str, Any] = {
        "counts": {
            split: {
                "documents": len(by_split[split]),
                "passages": sum(len(d.passages) for d in documents if d.doc_id in by_split[split]),
                "queries": len(corpus.queries(split)),
                "judgements": len(corpus.judgements(split)),
                "candidates": sum(map(len, corpus.candidates(split).values())),
            }
            for split in SPLITS
        },
        "documents": {
            place: {
                "doc_id": d.doc_id,
                "source": d.source,
                "entity_ids": list(d.entity_ids),
                "characters": len(d.text),
                "text_sha256": hashlib.sha256(d.text.encode()).hexdigest(),
                "passages": [[p.passage_id, p.aspect, p.heading, p.start, p.end] for p in d.passages],
            }
            for place, d in picked.items()
        },
    }
    for split in SPLITS:
        queries = corpus.queries(split)
        contents[f"queries {split}"] = {
            place: {
                "query_id": query.query_id,
                "aspects": list(query.aspects),
                "entity_id": query.entity_id,
                "words_sha256": hashlib.sha256(f"{query.entity}\n{query.text}".encode()).hexdigest(),
            }
            for place, query in (("first", queries[0]), ("tenth", queries[9]), ("last", queries[-1]))
        }
    return contents


@pytest.mark.slow
def test_counts_and_picked_records_are_the_golden_ones(corpus: MedQuadCorpus, documents: list[Document]) -> None:
    assert golden(corpus, documents) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_document_keeps_the_promises_of_its_records(documents: list[Document]) -> None:
    assert len({p.passage_id for d in documents for p in d.passages}) == 16_407
    for document in documents:
        check_document(document)
        assert "".join(document.slice(passage) for passage in document.passages) == document.text


def test_passages_stand_where_cdv_saw_them(documents: list[Document], needs: Needs) -> None:
    places = {p.passage_id: (p.start, p.end - p.start, p.aspect) for d in documents for p in d.passages}
    checked = 0
    with gzip.open(needs.file(FILE), "rt", encoding="utf-8") as lines:
        for line in lines:
            for passage in json.loads(line)["passages"]:
                if "cdv_begin" in passage:
                    expected = passage["cdv_begin"], passage["cdv_length"], passage["cdv_aspect"] or ""
                    assert places[passage["passage_id"]] == expected
                    checked += 1
    assert checked == 3_762


def test_document_text_is_the_answers_without_questions(documents: list[Document], needs: Needs) -> None:
    with gzip.open(needs.file(FILE), "rt", encoding="utf-8") as lines:
        for document, line in zip(documents, lines, strict=True):
            answers = "".join(p["text"].replace(" - ", "\n- ") + "\n" for p in json.loads(line)["passages"])
            assert document.text == answers


def test_splits_do_not_mix(corpus: MedQuadCorpus, documents: list[Document]) -> None:
    assert Counter(d.metadata["split"] for d in documents) == {"test": 1_111, "train": 4_375}
    test_names = {d.title.lower() for d in documents if d.metadata["split"] == "test"}
    disjoint = documents_of(corpus, "train-disjoint")
    assert all(d.metadata["overlaps_test_entity"] == "false" for d in disjoint)
    assert not test_names & {d.title.lower() for d in disjoint}


@pytest.mark.slow
def test_strict_split_shares_no_name_concept_or_passage(corpus: MedQuadCorpus, documents: list[Document]) -> None:
    test = [d for d in documents if d.metadata["split"] == "test"]
    strict = documents_of(corpus, "train-strict")
    assert {d.metadata["overlaps_test_entity"] for d in strict} == {"false"}
    for traces in (names_of, concepts_of, passages_of):
        assert not set().union(*map(traces, test)) & set().union(*map(traces, strict))


def test_the_disjoint_split_shares_as_much_as_documented(corpus: MedQuadCorpus, documents: list[Document]) -> None:
    test = [d for d in documents if d.metadata["split"] == "test"]
    disjoint = documents_of(corpus, "train-disjoint")
    names, concepts = (set().union(*map(traces, test)) for traces in (names_of, concepts_of))
    assert sum(bool(names_of(d) & names or concepts_of(d) & concepts) for d in disjoint) == 948
    seen = set().union(*map(passages_of, disjoint))
    relevant = {judgement.passage_id for judgement in corpus.judgements("test")}
    answers = [words_of(d.slice(p)) for d in test for p in d.passages if p.passage_id in relevant]
    assert sum(answer in seen for answer in answers) == 140
    told = Path(medquad_records.__file__).read_text(encoding="utf-8")
    assert all(each in told for each in ("948 of its 3,751", "140 test passages", "2,581 documents (6,747 passages)"))


def words_of(text: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if not unicodedata.combining(c))
    return " ".join(re.findall("[a-z0-9]+", plain))


def names_of(document: Document) -> set[str]:
    given = (document.title, *document.metadata.get("synonyms", "").split("|"))
    return {words_of(name.replace("What I need to know about ", "")) for name in given} - {""}


def concepts_of(document: Document) -> set[str]:
    return {each for each in document.entity_ids if each.startswith("UMLS:")}


def passages_of(document: Document) -> set[str]:
    return {words_of(document.slice(passage)) for passage in document.passages} - {""}


def test_candidates_include_every_answer_in_neutral_order(corpus: MedQuadCorpus) -> None:
    candidates = corpus.candidates("test")
    assert [query.query_id for query in corpus.queries("test")] == list(candidates)
    assert max(map(len, candidates.values())) == 64
    for pool in candidates.values():
        assert list(pool) == sorted(set(pool))
    for judgement in corpus.judgements("test"):
        assert judgement.passage_id in candidates[judgement.query_id]


def record(doc_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "split": "train",
        "source": "GARD",
        "title": "Tea",
        "overlaps_test_entity": False,
        "passages": [{"passage_id": f"{doc_id}-1", "question": "Why ?", "qtype": "causes", "text": "It is hot."}],
    } | changes


def written(folder: Path, *lines: dict[str, Any] | str) -> MedQuadCorpus:
    with gzip.open(folder / "documents.jsonl.gz", "wt", encoding="utf-8") as stream:
        for line in lines:
            stream.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    return MedQuadCorpus(folder)


def test_a_record_is_a_document(tmp_path: Path) -> None:
    corpus = written(tmp_path, record("A"))
    (document,) = corpus.documents()
    assert (document.text, document.passages[0].heading) == ("It is hot.\n", "causes and mechanism")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (lambda: "{no json", "malformed JSON"),
        (lambda: record("A"), "'A' again"),
        (lambda: record("B", passages=[]), "'B' without"),
        (lambda: record("B", source=3), "a string in 'source'"),
        (lambda: record("B", passages=[{"passage_id": "B-1", "qtype": "causes"}]), "a field 'text'"),
        (
            lambda: record(
                "B",
                split="test",
                passages=[
                    {
                        "passage_id": "B-1",
                        "qtype": "causes",
                        "text": "Hot.",
                        "cdv_begin": 0,
                        "cdv_length": 9,
                    }
                ],
            ),
            "B-1 at 0 with length 9, got a passage at 0 with length 5",
        ),
    ],
)
def test_bad_record_is_named_or_skipped_and_counted(tmp_path: Path, bad: Callable[[], Any], reason: str) -> None:
    strict = written(tmp_path, record("A"), bad(), record("C"))
    with pytest.raises(DataError, match=rf"{reason}.*documents\.jsonl\.gz, line 2"):
        list(strict.documents())
    tolerant = MedQuadCorpus(tmp_path, skip_bad=True)
    assert [document.doc_id for document in tolerant.documents()] == ["A", "C"]
    assert tolerant.bad.total == 1


def passage(passage_id: str, text: str) -> dict[str, str]:
    return {"passage_id": passage_id, "question": "Why ?", "qtype": "causes", "text": text}


TEST_RECORD = record(
    "T",
    split="test",
    title="Tea rash",
    entity="Tea dermatitis",
    umls_cuis=["C1", "C2"],
    synonyms=["Müller's rash"],
    passages=[passage("T-1", "Tea is hot, and burns the café-goer.")],
)


@pytest.mark.parametrize(
    ("shares", "what"),
    [
        ({"title": "Tea Rash"}, {"name"}),
        ({"title": "What I need to know about Tea rash"}, {"name"}),
        ({"title": "TEA-DERMATITIS"}, {"name"}),
        ({"synonyms": ["x", "muller s rash"]}, {"name"}),
        ({"umls_cuis": ["C0", "C2"]}, {"concept"}),
        ({"passages": [passage("A-1", "x"), passage("A-2", "TEA is hot - and burns\n the cafe goer")]}, {"passage"}),
        ({"title": "Rash of tea", "umls_cuis": ["C3"]}, set()),
        ({"passages": [passage("A-1", "Tea is hot, and burns.")]}, set()),
    ],
)
def test_the_strict_split_leaves_out_what_shares_anything(
    tmp_path: Path, shares: dict[str, Any], what: set[str]
) -> None:
    # The test document comes last: order decides nothing.
    lines = [record("A", title="Milk") | shares, record("B", title="Milk"), TEST_RECORD]
    corpus = written(tmp_path, *lines)
    traces = TestTraces()
    traces.add(Record(tmp_path, 3, TEST_RECORD))
    assert traces.shared_by(Record(tmp_path, 1, lines[0])) == what
    assert [d.doc_id for d in corpus.documents("train-strict")] == (["B"] if what else ["A", "B"])
    questions = [
        {
            "query_id": doc_ids,
            "entity": "x",
            "aspect_heading": "y",
            "relevant": [{"passage_id": f"{doc_id}-1", "doc_id": doc_id} for doc_id in doc_ids],
        }
        for doc_ids in ("A", "B", "AB")
    ]
    with gzip.open(tmp_path / "queries_train.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(question) + "\n" for question in questions)
    assert [query.query_id for query in corpus.queries("train-strict")] == (["B"] if what else ["A", "B", "AB"])


def test_strict_split_names_or_counts_bad_records_once(tmp_path: Path) -> None:
    lines = (record("A"), record("B", synonyms="x"), "{no json", TEST_RECORD | {"umls_cuis": 3}, record("C"))
    with pytest.raises(DataError, match=r"malformed JSON.*line 3"):
        list(written(tmp_path, *lines).documents("train-strict"))
    tolerant = MedQuadCorpus(tmp_path, skip_bad=True)
    assert [document.doc_id for document in tolerant.documents("train-strict")] == ["A", "C"]
    assert tolerant.bad.total == 3


def test_missing_files_and_unknown_splits(tmp_path: Path) -> None:
    corpus = MedQuadCorpus(tmp_path)
    with pytest.raises(CorpusMissingError, match=r"documents\.jsonl\.gz"):
        next(corpus.documents())
    with pytest.raises(CorpusMissingError, match=r"queries_test\.jsonl\.gz"):
        corpus.queries("test")
    with pytest.raises(CorpusMissingError, match=r"candidates_test_bm25\.tsv\.gz.*auscult data get medquad"):
        corpus.candidates("test")
    with pytest.raises(ConfigError, match="one of the splits train, test, train-disjoint, train-strict, got 'dev'"):
        corpus.queries("dev")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b"query_id\trank\n", mtime=0), "line 1"),
        (gzip.compress(b"query_id\trank\trelevance\tpassage_id\tbm25_score\nq1\t1\tp1\n", mtime=0), "line 2"),
        (
            gzip.compress(b"query_id\trank\trelevance\tpassage_id\tbm25_score\n" + b"q1\t1\t1\tp1\t2.0\n", mtime=0)[
                :-9
            ],
            "a whole gzip file",
        ),
        (b"PK\x03\x04zip", "a whole gzip file"),
        (gzip.compress(b"query_id\xff\n", mtime=0), "UTF-8"),
    ],
)
def test_a_damaged_candidate_file_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "candidates_test_bm25.tsv.gz").write_bytes(content)
    with pytest.raises(DataError, match=reason):
        MedQuadCorpus(tmp_path).candidates("test")


if __name__ == "__main__":
    at_hand = MedQuadCorpus(Needs().file(FILE).parent)
    fresh = golden(at_hand, list(at_hand.documents()))
    GOLDEN.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
