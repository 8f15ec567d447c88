"""The retrieval benchmark on clinical notes: splits by sample, labels from text and headings, candidates."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from auscult.concepts.concept import Concept
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents import Section, build_document
from auscult.errors import ConfigError, DataError
from auscult_lab.corpora.described import CLINICAL_NOTES, DescribedCorpus
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.note_queries import SPLITS, NoteQueriesCorpus
from auscult_lab.corpora.note_splits import same_samples, split_notes, split_of
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.task import build_task
from auscult_lab.evaluation.tracks import track_on
from auscult_lab.recognition.opening import DictionaryRecognizer
from needs import Needs

KNOWN = KnowledgeBase(
    [
        Concept("DOID:1", "gout", synonyms=("gouty arthritis",)),
        Concept("DOID:2", "asthma"),
        Concept("DOID:3", "migraine"),
    ]
)
DISEASES = ("gout", "asthma", "migraine")


def labeller() -> NoteLabeller:
    return NoteLabeller(DictionaryRecognizer(KNOWN))


def note(number: int, disease: str) -> dict[str, object]:
    """A record in MTSamples' format; every note has words of its own, as people's notes do."""
    own = " ".join(f"word{number}x{n}" for n in range(30))
    return {
        "note_id": f"mts-{number}",
        "sample_name": f"Consult - {number}",
        "description": "",
        "medical_specialty": ["General Medicine"],
        "keywords": [],
        "sections": [
            {"heading": "CHIEF COMPLAINT", "text": f"Known {disease}, worse since the weekend. {own}"},
            {"heading": "ALLERGIES", "text": f"None so far, he says. {own[::-1]}"},
            {"heading": "PAST MEDICAL HISTORY", "text": f"There is no {disease}. His father had migraine. {own[:90]}"},
        ],
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "mtsamples.jsonl"
    rows = [note(number, DISEASES[number % 3]) for number in range(300)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def corpus(path: Path, **settings: object) -> NoteQueriesCorpus:
    return NoteQueriesCorpus(DescribedCorpus(CLINICAL_NOTES, path), labeller=labeller(), **settings)  # type: ignore[arg-type]


def test_only_entities_asserted_of_the_patient_are_labels() -> None:
    text = "He has gout. No asthma. His mother had migraine. Gouty arthritis again."
    document = build_document(
        doc_id="n", title="Asthma", sections=[Section("PMH", text), Section("", "[**Gout**] ___")]
    )
    first, second = labeller().entities(document)
    assert {each.key: (each.name, each.mentioned) for each in first} == {
        "DOID:1": ("gout", True),
        "DOID:2": ("asthma", False),
        "DOID:3": ("migraine", False),
    }
    assert second == ()
    assert labeller().aspects(document) == [("past medical history",), ()]


def test_every_note_has_one_split_mostly_training(path: Path) -> None:
    notes = corpus(path)
    ids = {split: {note.doc_id for note in notes.documents(split)} for split in ("train", "validation", "test")}
    assert sum(map(len, ids.values())) == len(set().union(*ids.values())) == len(list(notes.documents())) == 300
    assert 210 < len(ids["train"]) < 270
    assert min(len(ids["test"]), len(ids["validation"])) > 10
    assert ids["test"] == {note_id for note_id in (f"mts-{n}" for n in range(300)) if split_of(note_id) == "test"}


def test_repeated_texts_and_one_patients_notes_stay_together() -> None:
    words = [" ".join(f"w{row}n{n}" for n in range(60)) for row in range(40)]
    notes = {f"n{row}": text for row, text in enumerate(words)}
    copied = notes | {f"copy{row}": f"{words[row].upper()}, and more" for row in range(20)}
    copied |= {f"half{row}": " ".join(words[row].split()[:30]) for row in range(20, 40)}
    pairs = {frozenset(pair) for pair in same_samples(copied)}
    assert pairs == {frozenset((f"n{row}", f"copy{row}" if row < 20 else f"half{row}")) for row in range(40)}
    splits = split_notes(copied)
    assert all(splits[a] == splits[b] for a, b in (sorted(pair) for pair in pairs))
    assert len(set(splits.values())) == 3
    by_patient = split_notes(notes, {note: f"patient {int(note[1:]) // 4}" for note in notes})
    for first in range(0, 40, 4):
        assert len({by_patient[f"n{row}"] for row in range(first, first + 4)}) == 1
    assert dict(sorted(splits.items())) == split_notes(dict(sorted(copied.items())))


def test_queries_combine_entities_and_headings_of_passages(path: Path) -> None:
    notes = corpus(path)
    queries = notes.queries("test")
    # Of the history nothing is a label: "no gout", "father had migraine".
    assert {(query.entity, query.aspects) for query in queries} == {(name, ("chief complaint",)) for name in DISEASES}
    assert {query.entity_id for query in queries} == {"DOID:1", "DOID:2", "DOID:3"}
    answers = Counter(judgement.query_id for judgement in notes.judgements("test"))
    tested = [int(each.doc_id[4:]) for each in notes.documents("test")]
    for number, name in enumerate(DISEASES):
        (query,) = [query for query in queries if query.entity == name]
        assert answers[query.query_id] == sum(each % 3 == number for each in tested)
    assert len(corpus(path, most_queries=2).queries("test")) == 2
    assert notes.queries("dev") == []


def test_candidates_include_answers_and_are_deterministic(path: Path) -> None:
    notes, again = corpus(path), corpus(path)
    given = notes.candidates("test")
    assert given == again.candidates("test")
    assert given != corpus(path, seed=1).candidates("test")
    pool = {passage.passage_id for note in notes.documents("test") for passage in note.passages}
    for judgement in notes.judgements("test"):
        assert judgement.passage_id in given[judgement.query_id]
    assert all(
        len(set(candidates)) == len(candidates) == 64 and set(candidates) <= pool for candidates in given.values()
    )
    task = build_task(notes)
    assert task.corpus == "clinical-notes"
    assert {passage.aspect for note in task.documents for passage in note.passages} >= {"chief complaint"}
    drawn = corpus(path, candidates="bm25")
    assert drawn.name == "clinical-notes-bm25"
    assert not drawn.candidates("test")
    by_bm25 = build_task(drawn).candidates
    assert by_bm25 is not None
    assert by_bm25 != given
    assert {judgement.passage_id for judgement in drawn.judgements("test")} <= set().union(*by_bm25.values())


def test_a_repeated_id_is_an_error(path: Path) -> None:
    twice = NoteQueriesCorpus(
        DescribedCorpus(CLINICAL_NOTES, path), DescribedCorpus(CLINICAL_NOTES, path), labeller=labeller()
    )
    with pytest.raises(DataError, match="an id of its own for each note"):
        next(iter(twice.documents("test")))


def test_a_model_trained_on_test_notes_is_refused() -> None:
    for corpus_name in ("clinical-notes", "clinical-notes-bm25"):
        trained = {"corpora": [{"name": "clinical-notes", "split": "train"}]}
        assert track_on("m", trained, corpus_name, "test") == "adapted"
        assert track_on("m", {"corpora": [{"name": "enwiki"}]}, corpus_name, "test") == "zero-shot"
        # Their "train" is another: it holds notes of the benchmark's "test".
        for source in ("mtsamples", "mts-dialog"):
            with pytest.raises(ConfigError, match="has not read the test documents"):
                track_on("m", {"corpora": [{"name": source, "split": "train"}]}, corpus_name, "test")


@pytest.mark.slow
def test_the_prepared_files(needs: Needs) -> None:
    needs.data("clinical_notes/mtsamples.jsonl.gz")
    notes = open_corpus("clinical-notes")
    assert isinstance(notes, NoteQueriesCorpus)
    assert Counter(notes.splits.values()) == {"train": 2135, "test": 257, "validation": 248}
    known = {source: {note.doc_id for note in open_corpus(source).documents()} for source in ("aci-bench", "primock57")}
    assert set().union(*known.values()) <= set(notes.splits)


def test_notes_of_ones_own_make_the_same_benchmark(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for n in range(40):
        (folder / f"patient-{n // 2}").mkdir(parents=True, exist_ok=True)
        words = " ".join(f"word{n}x{i}" for i in range(20))
        (folder / f"patient-{n // 2}" / f"{n}.txt").write_text(f"Plan:\n{words}.\n")
    corpus = open_corpus(f"notes:patients:{folder}")
    assert isinstance(corpus, NoteQueriesCorpus)
    assert corpus.name == "notes:notes"
    splits = {split: {note.doc_id.partition("/")[0] for note in corpus.documents(split)} for split in SPLITS}
    assert sum(map(len, splits.values())) == len(set().union(*splits.values())) == 20
    assert all(splits.values())
    for name in (str(folder), f"notes:{folder}"):
        apart = {"corpora": [{"name": f"notes:patients:{folder}", "split": "train"}]}
        with pytest.raises(ConfigError, match="has not read"):
            track_on("mine", apart, name, "test")
    read = {"corpora": [{"name": f"notes:{folder}", "split": split} for split in ("train", "validation")]}
    assert track_on("mine", read, f"notes-bm25:{folder}", "test") == "adapted"
    with pytest.raises(ConfigError, match="has not read"):
        track_on("mine", {"corpora": [{"name": str(folder)}]}, f"notes:{folder}", "test")
