"""HealthQA's three text files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.errors import CorpusMissingError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult_lab.corpora.healthqa import HealthQaCorpus
from auscult_lab.corpora.opening import open_corpus


def group(question: str, answer: str, others: list[str]) -> str:
    lines = [f"1\t{question}\t{answer},", *(f"0\t{question}\t{text}," for text in others)]
    return "\n".join(lines) + "\n"


OTHERS = [f"Section {n} tells , at length , of other things ." for n in range(9)]
GOUT = "Gout is a disease of the joints . It hurts ."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # The same question twice in a row: the next section of the article was asked about in the same words.
    test = group("What is gout ?", GOUT, OTHERS) + group("What is gout ?", "Gout is common .", [*OTHERS[:8], OTHERS[0]])
    (tmp_path / "pinfo-mz-test.txt").write_text(test)
    (tmp_path / "pinfo-mz-train.txt").write_text(group("What is tea ?", "Tea is a drink .", [*OTHERS[:8], "Cups ."]))
    (tmp_path / "pinfo-mz-dev.txt").write_text(group("Who drinks tea ?", "Many do .", OTHERS))
    return tmp_path


def test_ten_candidates_of_each_question(folder: Path) -> None:
    corpus = HealthQaCorpus(folder)
    first, second = corpus.queries("test")
    assert (first.query_id, second.query_id) == ("pinfo-mz-test-0", "pinfo-mz-test-10")
    assert (first.text, first.entity, first.aspects) == ("What is gout ?", "What is gout ?", ())
    texts = {d.doc_id: check_document(d).text for d in corpus.documents("test")}
    candidates = corpus.candidates("test")
    assert [texts[p] for p in candidates[first.query_id]] == [GOUT, *OTHERS]
    assert len(candidates[second.query_id]) == 9, "a text that stands among the ten twice is one candidate"
    judged = corpus.judgements("test")
    assert judged == [Judgement(q.query_id, candidates[q.query_id][0]) for q in (first, second)]


def test_a_text_is_one_document_with_one_passage(folder: Path) -> None:
    corpus = HealthQaCorpus(folder)
    (document, *_) = corpus.documents("test")
    assert [(p.passage_id, document.slice(p)) for p in document.passages] == [(document.doc_id, GOUT)]
    assert [document.slice(s) for s in document.sentences] == ["Gout is a disease of the joints .", "It hurts ."]
    ids = {split: {d.doc_id for d in corpus.documents(split)} for split in ("train", "dev", "test")}
    assert {split: len(each) for split, each in ids.items()} == {"train": 10, "dev": 10, "test": 11}
    everything = [d.doc_id for d in corpus.documents()]
    assert len(everything) == len(set(everything))
    assert set(everything) == ids["train"] | ids["dev"] | ids["test"]


def test_cdv_gives_entity_and_aspect(folder: Path) -> None:
    (folder / "HealthQA_test_lines.tsv").write_text(
        "line\tdocstart\tquestion\tentity_id\tentity\ttype\taspect\n0\t1\tnull\tQ133087\tGout\tdisease\tinformation\n"
    )
    first, second = HealthQaCorpus(folder).queries("test")
    assert (first.entity, first.aspects, first.entity_id) == ("Gout", ("information",), "Q133087")
    assert first.text == "What is gout ?"
    assert second.entity == second.text
    assert [q.entity for q in HealthQaCorpus(folder).queries("dev")] == ["Who drinks tea ?"]


def test_it_opens_by_path_and_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert isinstance(open_corpus(str(folder)), HealthQaCorpus)
    data = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("AUSCULT_DATA", str(data))
    with pytest.raises(CorpusMissingError, match=r"ask the authors .*pinfo-mz-test\.txt"):
        open_corpus("healthqa")
    shutil.copytree(folder, data / "healthqa")
    assert open_corpus("healthqa").name == "healthqa"
    assert len(open_corpus("healthqa").queries("validation")) == 1


def test_other_names_of_the_files(folder: Path) -> None:
    (folder / "pinfo-mz-dev.txt").rename(folder / "sample-mz-valid.txt")
    (folder / "pinfo-mz-train.txt").unlink()
    (folder / "notes.txt").write_text("nothing of it")
    corpus = HealthQaCorpus(folder)
    assert [q.text for q in corpus.queries("dev")] == ["Who drinks tea ?"]
    with pytest.raises(CorpusMissingError, match=r"split 'train'.*files of (test, dev|dev, test)"):
        corpus.queries("train")
    with pytest.raises(CorpusMissingError, match="ask HealthQA's authors"):
        HealthQaCorpus(folder.parent)


@pytest.mark.parametrize(
    ("content", "kind", "where"),
    [
        ("1\tquestion without a text\n", "malformed line", "line 1"),
        ("yes\tq\ttext\n", "wrong type", "line 1"),
        ("1\tq\t,\n", "missing field", "line 1"),
        (group("q", "a", OTHERS[:8]), "incomplete group", "line 9"),
        (group("q", "a", OTHERS[:8]) + "0\tanother\ttext\n", "mixed group", "line 1"),
        (group("q", "a", OTHERS).replace("1\t", "0\t"), "bad group", "line 1"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, content: str, kind: str, where: str) -> None:
    (tmp_path / "pinfo-mz-test.txt").write_text(content)
    with pytest.raises(RecordError, match=rf"pinfo-mz-test\.txt, {where}\)") as caught:
        HealthQaCorpus(tmp_path).queries("test")
    assert caught.value.kind == kind


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "pinfo-mz-test.txt").write_bytes(b"1\tcaf\xe9\ttext\n")
    with pytest.raises(RecordError, match="byte 0xe9 at position 5"):
        HealthQaCorpus(tmp_path).queries("test")
