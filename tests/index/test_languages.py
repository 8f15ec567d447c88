"""Languages of documents and passages, detected when they are indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.index import IndexUpdate, PassageIndex
from auscult.index.languages import detect_languages
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import leaflets

GERMAN = "Gicht ist eine Krankheit der Gelenke. Die Symptome kommen und gehen. Fragen Sie Ihren Arzt, was hilft."
ENGLISH = "Gout is a disease of the joints. The symptoms may come and go. Ask your doctor what helps against it."
SHORT = "BP 120/80, HR 72."


def document(doc_id: str, *texts: str, **metadata: str) -> Document:
    return build_document(doc_id=doc_id, title="", sections=[Section("", text) for text in texts], metadata=metadata)


DOCUMENTS = [
    document("german", GERMAN, SHORT),
    document("both", ENGLISH * 3, GERMAN),
    document("numbers", "12.5", "1 2 3"),
    document("declared", ENGLISH, language="en-GB"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_index(DOCUMENTS, HashedEncoder(), tmp_path / "index")
    return tmp_path / "index"


def languages(index: PassageIndex) -> dict[str, list[str]]:
    reader = index.reader
    return {
        reader.document_record(row).doc_id: [reader.languages.of(passage) for passage in reader.passages_of(row)]
        for row in reader.documents.tolist()
    }


LANGUAGES = {"german": ["de", "de"], "both": ["en", "de"], "numbers": ["", ""], "declared": ["en"]}


def test_a_short_passage_has_its_documents_language() -> None:
    assert detect_languages([GERMAN, SHORT]) == ("de", ["de", "de"])
    assert detect_languages([ENGLISH * 3, GERMAN]) == ("en", ["en", "de"])
    assert detect_languages([]) == ("", [])


def test_languages_are_kept_and_survive_merging(folder: Path) -> None:
    assert languages(PassageIndex.open(folder)) == LANGUAGES
    with IndexUpdate(folder, HashedEncoder()) as update:
        update.delete(["numbers"])
        update.add([document("more", GERMAN), *leaflets()])
        update.commit()
    index = PassageIndex.open(folder)
    assert len(index.reader.segments) == 1
    left = {doc_id: codes for doc_id, codes in LANGUAGES.items() if doc_id != "numbers"}
    kept = languages(index)
    assert {doc_id: kept[doc_id] for doc_id in left} == left
    assert kept["more"] == ["de"]
    assert kept["leaflet-gout"] == ["en", "en", "en"]


def test_languages_are_a_field_and_a_filter(folder: Path) -> None:
    index = PassageIndex.open(folder)
    assert "language" in index.reader.fields
    assert index.counts("language") == {"de": 1, "en": 1, "en-GB": 1}
    searcher = Searcher(index, HashedEncoder())
    hits = searcher.search(Query("", "", text="Gicht"), 20, SearchOptions(where={"language": "de"}))
    assert {(hit.doc_id, hit.language) for hit in hits} == {("german", "de")}
    assert {hit.metadata.get("language") for hit in hits} == {None}
    rows = {index.reader.document_record(row).doc_id: row for row in index.reader.documents.tolist()}
    assert index.reader.fields_of_document(rows["german"]) == {"source": "", "language": "de"}
    assert index.reader.fields_of_document(rows["declared"]) == {"source": "", "language": "en-GB"}


def test_an_index_without_languages_still_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As 0.1.0 wrote it: without the array, the note and the field."""
    with monkeypatch.context() as patched:
        patched.setattr("auscult.index.segment.detect_languages", lambda texts: ("", [""] * len(texts)))
        patched.setattr("auscult.index.segment.write_languages", lambda writer, codes: [])
        build_index(DOCUMENTS[:2], HashedEncoder(), tmp_path / "index")
    index = PassageIndex.open(tmp_path / "index")
    assert languages(index) == {"german": ["", ""], "both": ["", ""]}
    assert "language" not in index.reader.fields
    assert Searcher(index, HashedEncoder()).search(Query("", "", text="Gicht"))[0].language == ""
    with IndexUpdate(tmp_path / "index", HashedEncoder()) as update:
        update.add([document("more", GERMAN)])
        update.commit()
    assert languages(PassageIndex.open(tmp_path / "index"))["more"] == ["de"]


def test_english_questions_know_german_passages(folder: Path) -> None:
    searcher = Searcher(PassageIndex.open(folder), HashedEncoder())
    query = searcher.understand(Query("", "", text="What are the symptoms of gout?")).query
    hits = searcher.search(query, 20)
    assert {hit.language for hit in hits if hit.unread} == {"de"}
    assert {hit.language for hit in hits if not hit.unread} == {"en", ""}
    assert all((hit.probability is None) == hit.unread for hit in hits)
