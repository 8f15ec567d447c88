"""WikiSection, WikiSectionQA and CDV's training set."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from auscult.documents import check_document
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult.ingest.rows import JsonlCorpus
from auscult_lab.corpora.opening import collections_of, open_corpus
from auscult_lab.corpora.wikisection import WikiSectionCorpus
from auscult_lab.evaluation.tracks import track_on

CAUSES = "Uric acid is the cause. It forms crystals.\n"
DRUGS = "Ibuprofen 𝛼 helps.\nSo does colchicine.\n"
FAME = "Kings had it."
TEXT = CAUSES + DRUGS + FAME


def marked(text: str, part: str, **fields: Any) -> dict[str, Any]:
    """An annotation as Java counts: in UTF-16 code units."""
    before = text[: text.index(part)]
    return {"begin": len(before.encode("utf-16-le")) // 2, "length": len(part.encode("utf-16-le")) // 2, **fields}


def section(text: str, part: str, heading: str, label: str) -> dict[str, Any]:
    return marked(text, part, **{"class": "SectionAnnotation", "sectionHeading": heading, "sectionLabel": label})


ARTICLE = {
    "id": "https://en.wikipedia.org/wiki/Gout",
    "type": "disease",
    "title": "Gout",
    "abstract": "Gout is a disease.",
    "text": TEXT,
    "annotations": [
        section(TEXT, CAUSES, "Cause", "disease.cause"),
        section(TEXT, DRUGS, "Treatment | Drugs", "disease.treatment"),
        section(TEXT, FAME, "Fame", "disease.other"),
    ],
}


def entity_aspect(text: str, part: str, number: int, aspect: str) -> dict[str, Any]:
    fields = {"class": "EntityAspectAnnotation", "source": "GOLD", "id": f"Q133087-{number}", "aspect": aspect}
    return marked(text, part, entity="Gout", entityId="Q133087", heading=aspect.title(), **fields)


QA = {
    "name": "WikiSectionQA",
    "language": "en",
    "documents": [
        {
            "class": "Document",
            "id": "https://en.wikipedia.org/wiki/Gout",
            "title": "Gout",
            "begin": 0,
            "length": len(TEXT) + 1,
            "text": TEXT,
            "annotations": [entity_aspect(TEXT, CAUSES, 0, "causes"), entity_aspect(TEXT, DRUGS, 1, "medication")],
        }
    ],
    "queries": [
        {
            "class": "Query",
            "text": "What causes gout?",
            "annotations": [
                {
                    "class": "EntityAspectQueryAnnotation",
                    "entity": "Gout",
                    "entityId": "Q133087",
                    "aspect": "causes",
                    "aspectHeading": "causes and risk factors",
                }
            ],
            "results": [
                {
                    "class": "RelevanceResult",
                    "begin": 0,
                    "length": len(CAUSES),
                    "documentRef": "https://en.wikipedia.org/wiki/Gout",
                    "source": "GOLD",
                    "id": "Q133087-0",
                    "relevance": 1,
                }
            ],
        }
    ],
}


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content, indent=1))
    return path


def test_wikisection(tmp_path: Path) -> None:
    corpus = WikiSectionCorpus(write(tmp_path / "wikisection_en_disease_test.json", [ARTICLE]))
    assert corpus.name == "wikisection_en_disease"
    (document,) = corpus.documents("test")
    assert check_document(document).title == "Gout"
    assert document.url == "https://en.wikipedia.org/wiki/Gout"
    assert [(p.heading, p.aspect, document.slice(p)) for p in document.passages] == [
        ("Abstract", "information", "Gout is a disease."),
        ("Cause", "cause", CAUSES),
        ("Treatment | Drugs", "treatment", DRUGS),
        ("Fame", "", FAME),
    ]
    assert list(corpus.documents("train")) == []
    assert [(q.entity, q.aspects) for q in corpus.queries("test")] == [
        ("Gout", ("information",)),
        ("Gout", ("cause",)),
        ("Gout", ("treatment",)),
    ]
    judged = {j.passage_id for j in corpus.judgements("test")}
    assert judged == {p.passage_id for p in document.passages[:3]}
    assert corpus.queries("train") == []
    assert corpus.candidates("test") == {}


def test_wikisectionqa_asks_its_own_questions(tmp_path: Path) -> None:
    corpus = WikiSectionCorpus(write(tmp_path / "WikiSectionQA_test.json", QA))
    (document,) = corpus.documents("test")
    assert [(p.passage_id, p.aspect, document.slice(p)) for p in document.passages] == [
        ("Q133087-0", "causes", CAUSES),
        ("Q133087-1", "medication", DRUGS),
    ]
    assert document.entity_ids == ("Q133087",)
    (query,) = corpus.queries("test")
    assert (query.text, query.entity, query.entity_id) == ("What causes gout?", "Gout", "Q133087")
    assert query.aspects == ("causes and risk factors",)
    assert corpus.judgements("test") == [Judgement(query.query_id, "Q133087-0", 1)]
    assert not corpus.candidates("test")


def test_irrelevant_results_in_the_file_become_candidates(tmp_path: Path) -> None:
    content = json.loads(json.dumps(QA))
    content["queries"][0]["results"].append(
        {"class": "RelevanceResult", "documentRef": "x", "source": "SAMPLED", "id": "Q133087-1", "relevance": 0}
    )
    corpus = WikiSectionCorpus(write(tmp_path / "WikiSectionQA_test.json", content))
    (query,) = corpus.queries("test")
    assert dict(corpus.candidates("test")) == {query.query_id: ("Q133087-0", "Q133087-1")}
    assert [j.relevance for j in corpus.judgements("test")] == [1, 0]


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_training_set_of_cdv(tmp_path: Path, wrapped: bool) -> None:
    text = "Gout is a disease.\n" + TEXT
    document = {
        "class": "Document",
        "id": "https://en.wikipedia.org/wiki/Gout",
        "title": "Gout",
        "text": text,
        "annotations": [
            marked(text, text, **{"class": "EntityAnnotation", "label": "Q133087"}),
            marked(text, DRUGS, **{"class": "EntityAnnotation", "label": "Q186969"}),
            marked(text, "Gout is a disease.\n", **{"class": "AspectAnnotation", "label": "Abstract"}),
            # A section, and one inside it.
            marked(text, CAUSES + DRUGS, **{"class": "AspectAnnotation", "label": "Treatment"}),
            marked(text, DRUGS, **{"class": "AspectAnnotation", "label": "Treatment | Drugs"}),
        ],
    }
    content = {"name": "wd", "documents": [document], "queries": []} if wrapped else [document]
    path = tmp_path / "wd_disease_train.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    corpus = open_corpus(str(path))
    assert isinstance(corpus, WikiSectionCorpus)
    (read,) = corpus.documents("train")
    assert read.entity_ids == ("Q133087",)
    assert [(p.heading, p.aspect, read.slice(p)) for p in check_document(read).passages] == [
        ("Abstract", "information", "Gout is a disease.\n"),
        ("Treatment", "treatment", CAUSES),
        ("Treatment | Drugs", "treatment drugs", DRUGS),
    ]


def test_a_folder_has_the_splits_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "wikisection"
    folder.mkdir()
    for split in ("train", "validation", "test"):
        write(folder / f"wikisection_en_disease_{split}.json", [{**ARTICLE, "id": split}])
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    for spec in (str(folder), "wikisection-json"):
        corpus = open_corpus(spec)
        assert {s: [d.doc_id for d in corpus.documents(s)] for s in ("train", "validation", "test")} == {
            "train": ["train"],
            "validation": ["validation"],
            "test": ["test"],
        }
        assert len(list(corpus.documents())) == 3
        assert [q.query_id for q in corpus.queries("test")] == ["test:information", "test:cause", "test:treatment"]
    with pytest.raises(CorpusMissingError, match=r"get data/Train/wd_disease_train\.json.*put it in .*cdv"):
        open_corpus("cdv-train")


def test_tracks_know_that_these_are_wikipedia() -> None:
    learned = {"corpora": [{"name": "cdv-train", "split": "train"}]}
    assert track_on("m", learned, "wikisectionqa", "test") == "adapted"
    assert track_on("m", {"corpora": [{"name": "enwiki", "split": "train"}]}, "wikisectionqa", "test") == "adapted"
    assert track_on("m", {"corpora": [{"name": "nhs", "split": "train"}]}, "wikisectionqa", "test") == "zero-shot"
    assert collections_of("a/wikisection_en_disease_train.json") == collections_of("wikisection_en_disease_test.json")


def test_wrong_files_are_named(tmp_path: Path) -> None:
    pointer = tmp_path / "WikiSectionQA_test.json"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(DataError, match="a Git LFS pointer; fetch the file itself"):
        list(WikiSectionCorpus(pointer).documents())
    with pytest.raises(DataError, match="a list of documents"):
        list(WikiSectionCorpus(write(tmp_path / "other.json", {"name": "other"})).documents())
    pointer.write_text('[{"id": "1", "title"')
    with pytest.raises(DataError, match="malformed JSON"):
        list(WikiSectionCorpus(pointer).documents())
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusMissingError):
        list(WikiSectionCorpus(tmp_path / "nowhere.json").documents())
    lines = tmp_path / "leaflets.json"
    lines.write_text('{"id": "1", "title": "Tea", "text": "Tea is a drink."}\n' * 2)
    assert isinstance(open_corpus(str(lines)), JsonlCorpus)
    lines.write_text(json.dumps({"language": "en", "id": "1", "text": "Tea. " * 2000}) + "\n")
    assert isinstance(open_corpus(str(lines)), JsonlCorpus)
    lines.write_text('[{"id": "a", "text": "x"}]')
    with pytest.raises(DataError, match="one JSON object a line"):
        list(JsonlCorpus(lines).documents())
    # A list of records is read as a file of them.
    assert [document.doc_id for document in open_corpus(str(lines)).documents()] == ["leaflets.json#a"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": ""}, "annotations only"),
        ({"annotations": [{**ARTICLE["annotations"][0], "length": 999}]}, r"ranges within \d+ characters"),
        ({"annotations": [{**ARTICLE["annotations"][0], "begin": -1}]}, "a whole number from 0 in 'begin'"),
        ({"annotations": [section(TEXT, TEXT[:50], "A", "a"), section(TEXT, TEXT[10:], "B", "b")]}, "overlap at 10"),
        ({"annotations": None}, "a field 'annotations'"),
    ],
)
def test_a_bad_document_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "wikisection_en_disease_train.json", [ARTICLE, {**ARTICLE, "id": "bad", **change}])
    with pytest.raises(RecordError, match=rf"{message}.*train\.json, item 2"):
        list(WikiSectionCorpus(path).documents())
    lenient = WikiSectionCorpus(path, skip_bad=True)
    assert [d.title for d in lenient.documents()] == ["Gout"]
    assert lenient.bad.total == 1
