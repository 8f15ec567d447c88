"""BioASQ's questions and snippets, in both layouts, and collections of questions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import GENERAL, TEST_BATCHES, BioasqCorpus, read_questions, snippet_id
from needs import Needs


def snippet(text: str, pmid: str) -> dict[str, object]:
    return {"pmid": pmid, "section": "abstract", "begin": 0, "end": len(text), "text": text}


ROWS = [
    {
        "question_id": "q1",
        "question": "What is gout?",
        "type": "summary",
        "batch": "train-era-5b",
        "documents": ["1", "2"],
        "snippets": [snippet("Gout is an arthritis. ", "1"), snippet("Urate  crystals cause gout.", "2")],
    },
    {
        "question_id": "q2",
        "question": "Which crystals cause\ngout?",
        "type": "factoid",
        "batch": "12b-batch1",
        "documents": ["2", "3"],
        # Equal but for white space to a snippet of q1, and given twice; and one without a word.
        "snippets": [
            snippet("Urate crystals cause gout.", "3"),
            snippet("Urate crystals cause gout. ", "2"),
            snippet("Monosodium urate.", "3"),
            snippet(" -- ", "3"),
        ],
    },
]
TASK_B = {
    "questions": [
        {
            "id": "b1",
            "body": "Is urate low in gout?",
            "type": "yesno",
            "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/77"],
            "ideal_answer": ["No."],
            "exact_answer": "no",
            "concepts": [],
            "snippets": [
                {
                    "text": "Urate is high in gout.",
                    "document": "http://www.ncbi.nlm.nih.gov/pubmed/77",
                    "beginSection": "abstract",
                    "endSection": "abstract",
                    "offsetInBeginSection": 10,
                    "offsetInEndSection": 32,
                }
            ],
        },
        {"id": "b2", "body": "What is asked later?", "type": "summary"},
    ]
}


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "snippets.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


def test_equal_snippets_are_one_passage(lines: Path) -> None:
    corpus = BioasqCorpus(lines)
    documents = [check_document(document) for document in corpus.documents()]
    assert [document.text for document in documents] == [
        "Gout is an arthritis.",
        "Urate  crystals cause gout.",
        "Monosodium urate.",
    ]
    assert [[document.doc_id] for document in documents] == [
        [p.passage_id for p in document.passages] for document in documents
    ]
    shared = documents[1]
    assert shared.metadata["pmids"] == "2 3"
    assert shared.url == "https://pubmed.ncbi.nlm.nih.gov/2/"
    assert shared.doc_id == snippet_id("Urate crystals\ncause gout.")
    assert [document.text for document in corpus.documents("test")] == [
        "Urate  crystals cause gout.",
        "Monosodium urate.",
    ]
    assert [document.text for document in corpus.documents("train")] == [
        "Gout is an arthritis.",
        "Urate  crystals cause gout.",
    ]


def test_questions_and_judgements_of_a_split(lines: Path) -> None:
    corpus = BioasqCorpus(lines)
    (query,) = corpus.queries("test")
    assert (query.query_id, query.text, query.terms) == ("q2", "Which crystals cause gout?", query.text)
    expected = [Judgement("q2", snippet_id(text)) for text in ("Urate crystals cause gout.", "Monosodium urate.")]
    assert corpus.judgements("test") == expected
    assert [each.query_id for each in corpus.queries("train")] == ["q1"]
    assert len(corpus.judgements("train")) == 2
    assert corpus.candidates("test") == {}
    assert corpus.batches("test") == {"12b-batch1": ["q2"]}


def test_the_challenges_own_json(tmp_path: Path) -> None:
    (tmp_path / "12B1_golden.json").write_text(json.dumps(TASK_B, indent=2))
    training = {"questions": [TASK_B["questions"][0] | {"id": "t1", "body": "Is urate high?"}]}
    with gzip.open(tmp_path / "training12b_new.json.gz", "wt") as out:
        json.dump(training, out)
    corpus = open_corpus(str(tmp_path))
    assert isinstance(corpus, BioasqCorpus)
    (document,) = corpus.documents()
    assert document.metadata["pmids"] == "77"
    assert [query.text for query in corpus.queries("test")] == ["Is urate low in gout?", "What is asked later?"]
    assert corpus.judgements("test") == [Judgement("b1", document.doc_id)]
    assert corpus.judgements("train") == [Judgement("t1", document.doc_id)]
    assert corpus.batches("test") == {"12B1_golden": ["b1", "b2"]}
    alone = open_corpus(str(tmp_path / "training12b_new.json.gz"))
    assert [query.query_id for query in alone.queries("train")] == ["t1"]


def test_bad_records_are_named_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "snippets.jsonl"
    bad = [ROWS[0] | {"question": 3, "question_id": "q9"}, ROWS[1]]
    path.write_text("\n".join(map(json.dumps, [ROWS[0], *bad])))
    with pytest.raises(RecordError, match="line 2"):
        list(BioasqCorpus(path).documents())
    lenient = BioasqCorpus(path, skip_bad=True)
    assert len(list(lenient.documents())) == 3
    assert lenient.bad.total == 1
    with pytest.raises(RecordError, match="line 2"):
        lenient.queries("test")
    path.write_text("\n".join(map(json.dumps, [ROWS[0], ROWS[0]])))
    with pytest.raises(RecordError, match="'q1' again"):
        BioasqCorpus(path).queries("train")


def test_a_damaged_or_absent_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "training.json"
    path.write_text(json.dumps(TASK_B)[:-10])
    with pytest.raises(DataError, match=r"training\.json"):
        BioasqCorpus(path).queries("train")
    with pytest.raises(CorpusMissingError, match="no such file"):
        BioasqCorpus(tmp_path / "none.jsonl").queries("train")
    with pytest.raises(CorpusMissingError, match="at least one file"):
        BioasqCorpus()


def test_collections_of_questions(tmp_path: Path) -> None:
    table = tmp_path / "questions.tsv.gz"
    with gzip.open(table, "wt") as out:
        out.write("source\tquestion\nx\tWhat is gout ?\n\ny\tWho?\n")
    assert list(read_questions(table)) == ["What is gout ?", "Who?"]
    plain = tmp_path / "questions.txt"
    plain.write_text("What is gout?\nWho?\n")
    assert list(read_questions(plain)) == ["What is gout?", "Who?"]
    with pytest.raises(CorpusMissingError, match=r"none\.txt"):
        list(read_questions(tmp_path / "none.txt"))
    plain.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        list(read_questions(plain))


@pytest.mark.slow
def test_the_prepared_files(needs: Needs) -> None:
    needs.data("qa/bioasq_snippets.jsonl.gz")
    corpus = open_corpus("bioasq")
    documents = {document.doc_id: check_document(document) for document in corpus.documents()}
    assert len(documents) == 11_922
    assert (len(corpus.queries("train")), len(corpus.queries("test"))) == (566, 245)
    judgements = corpus.judgements("test")
    assert len(judgements) == 4_588
    judged = {judgement.passage_id for judgement in judgements}
    assert judged == {document.doc_id for document in corpus.documents("test")}
    assert judged <= set(documents)
    assert judged.isdisjoint({document.doc_id for document in corpus.documents("train")})
    assert TEST_BATCHES == ("11b-batch2", "12b-batch1", "12b-batch2")


def test_the_general_questions(needs: Needs) -> None:
    needs.data("questions")
    assert sum(1 for _ in read_questions(GENERAL)) == 60_415


def test_damaged_gzip_is_not_taken_for_challenge_json(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(json.dumps({"id": "a", "text": "Some words."}).encode()))
    packed[10:20] = b"\xff" * 10
    (tmp_path / "documents.jsonl.gz").write_bytes(packed)
    with pytest.raises(RecordError, match=r"documents\.jsonl\.gz"):
        list(open_corpus(str(tmp_path / "documents.jsonl.gz")).documents())
