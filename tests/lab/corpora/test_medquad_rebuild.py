"""MedQuAD from its public XML tree: a small tree in the true format, and the whole one where it is at hand."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from auscult.catalogue import catalogue
from auscult.documents import check_document
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult_lab.corpora.medquad import MedQuadCorpus, MedQuadXmlCorpus
from auscult_lab.corpora.medquad_build import PassageSearch, draw, rebuild, rounded_length, tokens
from auscult_lab.corpora.obtain import FileState, check_file
from needs import Needs
from places import DATA

TINY = DATA / "medquad_tiny"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return shutil.copytree(TINY / "MedQuAD", tmp_path / "MedQuAD")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("medquad")
    rebuild(TINY / "MedQuAD", TINY / "cdv", folder)
    return folder


def lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def test_documents_come_in_order_with_ids_and_marks(tiny: Path) -> None:
    records = lines(tiny / "documents.jsonl.gz")
    assert [(r["doc_id"], r["split"], r["cdv_pool"]) for r in records] == [
        ("GARD_0000001", "test", True),
        ("CancerGov_0000013_2", "test", True),
        ("NIHSeniorHealth_0000001", "test", True),
        ("CancerGov_0000013_2#0000013_2", "train", True),
        ("GHR_0000002", "train", True),
        ("GHR_0000003", "train", True),
        ("MPlusHealthTopics_0000001", "train", False),
        ("NIDDK_0000003", "train", True),
        ("CDC_0000397", "train", False),
    ]
    by_id = {record["doc_id"]: record for record in records}
    # Same disease by a differently spelt name; "Windmill Tremor" and the rest are nobody's.
    assert [r["doc_id"] for r in records if r.get("overlaps_test_entity")] == ["GHR_0000002"]
    assert [r["doc_id"] for r in records if r.get("in_cdv_source_list")] == ["CDC_0000397"]
    assert [r["doc_id"] for r in records if r.get("malformed_header")] == ["CDC_0000397"]
    assert by_id["CDC_0000397"]["title"] is None
    assert by_id["CDC_0000397"]["passages"][0]["text"] == "Wash your hands & dry them.\n    \nDo it again."
    assert by_id["CancerGov_0000013_2"]["file"] == "1_CancerGov_QA/0000013_2_3.xml"
    # The third answer is blank.
    assert [p["passage_id"] for p in by_id["GARD_0000001"]["passages"]] == [
        "GARD_0000001-1",
        "GARD_0000001-2",
    ]


def test_text_offsets_and_aspects_are_those_of_cdv(tiny: Path) -> None:
    documents = {document.doc_id: document for document in MedQuadCorpus(tiny).documents()}
    gard = check_document(documents["GARD_0000001"])
    assert gard.text == (
        "What are the signs of Müller-Brandt syndrome? Common signs are:\n- Fever over 38.5 degrees\n- Dry cough"
        "\n- A café-au-lait spot\nRest and 2.5 mg of example drug p.o. b.i.d. are advised.\n"
    )
    assert [(p.heading, p.aspect, p.start, p.end) for p in gard.passages] == [
        ("symptoms and presentation", "symptoms", 0, 124),
        ("treatment", "treatment", 124, 181),
    ]
    assert gard.entity_ids == ("UMLS:C9000001", "Q900001")
    assert gard.metadata["synonyms"] == "Brandt disease|MBS"
    assert [s.list_item for s in gard.passages[0].sentences if gard.slice(s).startswith("- ")] == [True] * 3
    senior = documents["NIHSeniorHealth_0000001"].passages[0]
    assert (senior.aspect, senior.heading) == ("treatment", "treatment")
    links = documents["GHR_0000003"].passages[2]
    assert (links.aspect, links.heading) == ("", "treatment")
    assert documents["CancerGov_0000013_2"].entity_ids == ("UMLS:C9000014", "Q900013", "Q900014")


def test_questions_never_become_text(tiny: Path) -> None:
    questions = [p["question"] for r in lines(tiny / "documents.jsonl.gz") for p in r["passages"]]
    assert len(questions) == 15
    for document in MedQuadCorpus(tiny).documents():
        assert not any(question in document.text for question in questions)


def test_queries_are_cdvs_and_grouped_by_its_rule(tiny: Path) -> None:
    corpus = MedQuadCorpus(tiny)
    first, *_, last = corpus.queries("test")
    assert (first.query_id, first.entity, first.aspects) == (
        "mqt1",
        "Müller-Brandt syndrome",
        ("symptoms and presentation",),
    )
    assert (first.entity_id, last.entity_id) == ("Q900001", "")
    train = {query.query_id: query for query in corpus.queries("train")}
    assert [query.entity for query in train.values()] == [
        "Fernleaf tumor",
        "Muller-Brandt Syndrome",
        "sandglass anemia",
        "sandglass anemia",
        "Pebble Stones",
    ]
    assert [j.passage_id for j in corpus.judgements("train") if j.query_id == "mqr3"] == [
        "GHR_0000003-1",
        "MPlusHealthTopics_0000001-1",
    ]
    assert list(train) == ["mqr1", "mqr2", "mqr3", "mqr4", "mqr5"]
    assert [query.query_id for query in corpus.queries("train-disjoint")] == ["mqr1", "mqr3", "mqr4", "mqr5"]


def test_strict_split_shares_no_name_concept_or_passage(tree: Path) -> None:
    corpus = MedQuadXmlCorpus(tree, TINY / "cdv")
    strict = [document.doc_id for document in corpus.documents("train-strict")]
    assert strict == [document.doc_id for document in corpus.documents("train-disjoint")]
    # One concept of several that a test document has, and a synonym of another.
    for name, field, shared in (
        ("3_GHR_QA/0000003.xml", "<CUIs>", "<CUIs><CUI>C9000014</CUI>"),
        (
            "5_NIDDK_QA/0000003.xml",
            "</FocusAnnotations>",
            "<Synonyms><Synonym>mbs</Synonym></Synonyms></FocusAnnotations>",
        ),
    ):
        file = tree / name
        text = file.read_text(encoding="utf-8")
        assert field in text
        file.write_text(text.replace(field, shared), encoding="utf-8")
    corpus = MedQuadXmlCorpus(tree, TINY / "cdv")
    assert len(list(corpus.documents("train-disjoint"))) == len(strict)
    test, strict_now = list(corpus.documents("test")), list(corpus.documents("train-strict"))
    assert set(strict) - {each.doc_id for each in strict_now} == {"GHR_0000003", "NIDDK_0000003"}
    for traces in (
        lambda d: {d.title.casefold(), *d.metadata.get("synonyms", "").casefold().split("|")} - {""},
        lambda d: {each for each in d.entity_ids if each.startswith("UMLS:")},
        lambda d: {d.slice(passage).strip() for passage in d.passages},
    ):
        assert not set().union(*map(traces, test)) & set().union(*map(traces, strict_now))
    asked = {judgement.passage_id for judgement in corpus.judgements("train-strict")}
    assert asked == {p.passage_id for d in strict_now for p in d.passages if p.aspect and d.title}


def test_candidates_hold_the_relevant_passage_in_id_order(tiny: Path) -> None:
    corpus = MedQuadCorpus(tiny)
    candidates = corpus.candidates("test")
    for judgement in corpus.judgements("test"):
        assert judgement.passage_id in candidates[judgement.query_id]
    assert all(list(pool) == sorted(set(pool)) for pool in candidates.values())
    assert corpus.candidates("train") == {}


def test_withheld_answers_are_listed_apart(tiny: Path) -> None:
    records = lines(tiny / "questions_without_answers.jsonl.gz")
    assert [(r["doc_id"], r["title"], len(r["questions"])) for r in records] == [
        ("ADAM_0000001", "A guide to made-up diets", 1),
        ("NINDS_0000007", None, 0),
    ]


def test_tree_and_prepared_files_are_the_same_corpus(tiny: Path) -> None:
    prepared, public = MedQuadCorpus(tiny), MedQuadXmlCorpus(TINY / "MedQuAD", TINY / "cdv")
    for split in (None, "test", "train", "train-disjoint", "train-strict"):
        assert list(public.documents(split)) == list(prepared.documents(split))
    for split in ("test", "train", "train-disjoint", "train-strict"):
        assert public.queries(split) == prepared.queries(split)
        assert public.judgements(split) == prepared.judgements(split)
        assert public.candidates(split) == prepared.candidates(split)


def test_tree_without_annotations_has_documents_but_no_splits() -> None:
    corpus = MedQuadXmlCorpus(TINY / "MedQuAD")
    assert len(list(corpus.documents())) == 9
    with pytest.raises(ConfigError, match="CDV's annotations"):
        next(corpus.documents("test"))
    with pytest.raises(ConfigError, match="CDV's annotations"):
        corpus.queries("test")


def test_the_same_input_gives_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    for path in rebuild(TINY / "MedQuAD", TINY / "cdv", tmp_path):
        assert path.read_bytes() == (tiny / path.name).read_bytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<Document id='1' source='X'>\n<Focus>no end", r"no element found.*0000002\.xml, line 2"),
        (
            b'<?xml version="1.0" encoding="UTF-8"?>\n<Document>\xff</Document>',
            r"invalid token.*0000002\.xml, line 2",
        ),
        (b"PK\x03\x04 \x00\x00binary", r"0000002\.xml, line 1"),
        (b"", r"no element found.*0000002\.xml, line 1"),
        (b"<!DOCTYPE d [<!ENTITY a 'b'>]><Document/>", r"document type declaration.*0000002\.xml"),
        (b"<Report/>", r"a <Report> element.*0000002\.xml"),
        (b"<Document source='GHR'/>", r"without id and source.*0000002\.xml"),
        (
            b"<Document id='1' source='GHR'><QAPair pid='1'/></Document>",
            r"without <Question qid.*0000002\.xml",
        ),
    ],
)
def test_bad_file_is_named_with_line_and_reason(tree: Path, content: bytes, reason: str) -> None:
    (tree / "3_GHR_QA" / "0000002.xml").write_bytes(content)
    with pytest.raises(DataError, match=reason):
        next(MedQuadXmlCorpus(tree).documents())
    tolerant = MedQuadXmlCorpus(tree, skip_bad=True)
    assert len(list(tolerant.documents())) == 8
    assert tolerant.bad.total == 1


def test_changed_answer_fails_and_leaves_the_old_files(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    rebuild(tree, TINY / "cdv", out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    path = tree / "2_GARD_QA" / "0000001.xml"
    path.write_text(path.read_text(encoding="utf-8").replace("Dry cough", "Dry coughing"), encoding="utf-8")
    with pytest.raises(DataError, match=r"GARD_0000001-1 at \[0, 124\) as annotated, got \[0, 127\)"):
        rebuild(tree, TINY / "cdv", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_test_document_that_is_gone_is_named(tree: Path, tmp_path: Path) -> None:
    (tree / "7_SeniorHealth_QA" / "0000001.xml").unlink()
    with pytest.raises(DataError, match="a tree without NIHSeniorHealth_0000001"):
        rebuild(tree, TINY / "cdv", tmp_path / "out")


def test_missing_and_malformed_annotations(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match=r"MedQuAD_test_annotations\.json, got No such file"):
        rebuild(TINY / "MedQuAD", tmp_path, tmp_path / "out")
    cdv = shutil.copytree(TINY / "cdv", tmp_path / "cdv")
    (cdv / "MedQuAD_test_sources.tsv").write_text("one\n")
    with pytest.raises(DataError, match=r"'one' .*MedQuAD_test_sources.tsv, line 1"):
        rebuild(TINY / "MedQuAD", cdv, tmp_path / "out")
    (cdv / "MedQuAD_test_annotations.json").write_text('{"documents": [{}]}')
    with pytest.raises(DataError, match=r"CDV's annotations in .*KeyError: 'id'"):
        rebuild(TINY / "MedQuAD", cdv, tmp_path / "out")
    with pytest.raises(CorpusMissingError, match="1_CancerGov_QA"):
        rebuild(tmp_path / "cdv", TINY / "cdv", tmp_path / "out")


def test_lengths_are_rounded_as_lucene_rounds_them() -> None:
    # Values of org.apache.lucene.util.SmallFloat.byte4ToInt(intToByte4(n)).
    assert [rounded_length(n) for n in (0, 1, 39, 40, 41, 42, 43, 55, 56, 57, 60, 100, 1000, 40_000)] == [
        *(0, 1, 39, 40, 40, 42, 42, 54, 56, 56, 60, 96, 984, 36_888)
    ]


def test_punctuation_splits_tokens_but_not_names_or_numbers() -> None:
    assert tokens("Crohn's α-1-Antitrypsin, 2.5 mg (p.o.) naïve e.g. 1,000/day") == [
        *("crohn's", "α", "1", "antitrypsin", "2.5", "mg", "p.o", "naive", "e.g", "1,000", "day")
    ]


def test_bm25_is_lucenes() -> None:
    # Three passages of 2, 2 and 4 words; idf(b) = ln(1 + (3 - 1 + 0.5) / 1.5), length norm by hand.
    search = PassageSearch({"x": "a b", "y": "a a", "z": "a c c d"})
    expected = 2.2 * 0.9808292530 * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / (8 / 3)))
    found = search.best("b")
    assert list(found) == ["x"]
    assert found["x"] == pytest.approx(expected, abs=1e-9)
    assert list(search.best("a")) == ["y", "x", "z"]
    assert search.best("b b")["x"] == pytest.approx(2 * expected, abs=1e-9)


def test_pool_holds_answers_then_best_documents_then_rest() -> None:
    texts = {f"d{n}-{m}": f"{'kidney' if m == 1 else 'other'} stone {n}" for n in range(50) for m in (1, 2)}
    siblings = {f"d{n}-{m}": [f"d{n}-1", f"d{n}-2"] for n in range(50) for m in (1, 2)}
    pool = list(draw("kidney", "7", ["d9-2"], PassageSearch(texts), siblings))
    assert [c.passage_id for c in pool[:4]] == ["d9-2", "d7-1", "d7-2", "d0-1"]
    assert [c.relevance for c in pool] == [1] + [0] * (len(pool) - 1)
    # 50 passages name the kidney and one more the 7; d9-2 was not fetched, but is relevant.
    assert len(pool) == len({c.passage_id for c in pool}) == 52
    assert pool[0].bm25 == 0.0
    everything = list(draw("stone", "", ["d9-2"], PassageSearch(texts), siblings))
    assert len(everything) == 64


def test_the_whole_rebuild_equals_the_prepared_files(tmp_path: Path, needs: Needs) -> None:
    root = needs.medquads_source()
    rebuild(root / "MedQuAD", root / "cdv", tmp_path)
    for file in catalogue()["medquad"].files:
        made = tmp_path / Path(file.path).name
        assert check_file(file, made) in (FileState.SAME, FileState.SAME_CONTENT), file.path
        prepared = needs.file(file.path)
        with gzip.open(made) as ours, gzip.open(prepared) as theirs:
            assert ours.read() == theirs.read(), file.path
