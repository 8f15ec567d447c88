"""From query to hits, and how a query is understood."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.concepts import KnowledgeBase
from auscult.concepts.concept import Concept
from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.errors import DataError, IndexFolderError, ModelError, QueryError
from auscult.index.reader import DocumentRecord, GenerationReader
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions
from auscult.search.hits import Hit
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import generated, leaflets

ENCODER = HashedEncoder(256)
KNOWN = KnowledgeBase(
    [
        Concept(
            "DOID:2986",
            "IgA glomerulonephritis",
            ("Berger's disease", "IgA nephropathy"),
            xrefs=("UMLS:C0017661", "ICD10:N02.8"),
        ),
        Concept("DOID:6364", "migraine", ("sick headache",)),
        Concept("DOID:13189", "gout", ("podagra",)),
        Concept("DOID:10459", "common cold", ("coryza", "nurse rhinitis")),
    ]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search") / "index"
    build_index(leaflets(), ENCODER, folder, knowledge_base=KNOWN, corpus="leaflets", batch_size=3)
    return folder


@pytest.fixture(scope="module")
def searcher(folder: Path) -> Searcher:
    return Searcher.open(folder, ENCODER)


def ask(entity: str = "", *aspects: str, text: str = "") -> Query:
    return Query("q1", entity, aspects, text=text)


@pytest.mark.parametrize("title", [document.title for document in leaflets()])
@pytest.mark.parametrize("aspect", ["symptoms", "treatment"])
def test_the_asked_passage_comes_first(searcher: Searcher, title: str, aspect: str) -> None:
    hits = searcher.search(ask(title, aspect), k=3)
    assert hits[0].passage_id == f"{title.lower().replace(' ', '-')}-{2 if aspect == 'symptoms' else 3}"
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_model_scores_are_the_mean_over_sentences(searcher: Searcher) -> None:
    documents = {document.doc_id: document for document in leaflets()}
    query = ask("Gout", "symptoms", "treatment")
    vector = ENCODER.encode_queries([query])[0].astype(np.float64)
    hits = searcher.search(query, k=100, options=SearchOptions(scoring="model"))
    assert len(hits) == 12
    for hit in hits:
        assert (hit.evidence, hit.probability) == ({}, None)
        document = documents[hit.doc_id]
        passage = next(p for p in document.passages if p.passage_id == hit.passage_id)
        assert (hit.title, hit.source, hit.url) == (document.title, document.source, document.url)
        assert hit.metadata == document.metadata
        assert (hit.heading, hit.text) == (passage.heading, document.slice(passage))
        assert document.text[hit.start : hit.end] == hit.text
        assert hit.entity_score + hit.aspect_score == pytest.approx(hit.score, abs=1e-9)
        assert [(s.start, s.end) for s in hit.sentences] == [(s.start, s.end) for s in passage.sentences]
        whole = ENCODER.encode_documents([document])[0].astype(np.float64)
        first = document.sentences.index(passage.sentences[0])
        own = whole[first : first + len(passage.sentences)]
        assert hit.score == pytest.approx((own @ vector).mean(), abs=1e-6)
        assert hit.entity_score == pytest.approx((own[:, :128] @ vector[:128]).mean(), abs=1e-6)
        for sentence, exact in zip(hit.sentences, own, strict=True):
            assert sentence.text == document.text[sentence.start : sentence.end]
            assert sentence.score == pytest.approx(exact @ vector, abs=5e-4)
            assert sentence.entity_score + sentence.aspect_score == pytest.approx(sentence.score, abs=1e-9)


def test_a_score_is_the_sum_of_its_evidence(searcher: Searcher) -> None:
    query = ask("Gout", "symptoms")
    hits = searcher.search(query, k=100)
    by_model = {hit.passage_id: hit for hit in searcher.search(query, k=100, options=SearchOptions(scoring="model"))}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == pytest.approx(sum(hit.evidence.values()), abs=1e-5)
        assert hit.probability is not None
        assert 0 < hit.probability < 1
        # The model says the same of a passage by either scoring; a sentence may have both of the asked words, or none.
        for sentence, alone in zip(hit.sentences, by_model[hit.passage_id].sentences, strict=True):
            assert (sentence.entity_score, sentence.aspect_score) == (alone.entity_score, alone.aspect_score)
            words = sentence.score - alone.score
            named, asked = "gout" in sentence.text.lower(), "symptom" in sentence.text.lower()
            assert (0 < words < 1) == (named != asked)
            assert words == pytest.approx(float(named and asked), abs=1e-6) or named != asked
    assert {"entity_title", "aspect_heading", "entity_document", "aspect_vector"} <= hits[0].evidence.keys()


def test_questions_without_names_are_searched_by_words(searcher: Searcher) -> None:
    asked = "my big toe is red and swollen and hurts terribly since last night"
    understood = searcher.understand(ask(text=asked))
    assert (understood.query.entity, understood.query.text) == ("", asked)
    assert "no name was recognised" in understood.note
    hits = searcher.search(understood.query, k=2)
    assert hits[0].title == "Gout"
    assert {"question_document", "question_sentence"} <= hits[0].evidence.keys()
    without = replace(understood.query, aspects=(), aspect_likelihoods=())
    with pytest.raises(QueryError, match="in which neither was read"):
        searcher.search(without, options=SearchOptions(scoring="model"))


def test_filters_and_grouping_reach_the_index(searcher: Searcher) -> None:
    def titles(hits: list[Hit]) -> list[str]:
        return [hit.title for hit in hits]

    query = ask("Gout", "symptoms")
    assert set(titles(searcher.search(query, options=SearchOptions(where={"source": "South"})))) == {
        "IgA nephropathy",
        "Asthma",
    }
    assert set(titles(searcher.search(query, options=SearchOptions(documents=["leaflet-asthma"])))) == {"Asthma"}
    grouped = searcher.search(query, options=SearchOptions(group_by="document"))
    assert sorted(titles(grouped)) == sorted(document.title for document in leaflets())
    assert grouped[0].passage_id == "gout-2"


def test_an_entity_or_an_aspect_alone_is_searchable(searcher: Searcher) -> None:
    assert {hit.heading for hit in searcher.search(ask("", "symptoms"), k=4)} == {"Symptoms"}
    assert {hit.title for hit in searcher.search(ask("Gout"), k=3)} == {"Gout"}


class _NeedsBoth(HashedEncoder):
    def encode_queries(self, queries: list[Query]) -> FloatArray:  # type: ignore[override]
        vectors = super().encode_queries(queries)
        return np.where([[bool(q.entity and q.aspects)] for q in queries], vectors, np.float32(np.nan))


def test_queries_that_cannot_be_encoded_are_refused(searcher: Searcher, folder: Path) -> None:
    for query in (ask(), ask(" ", " ")):
        with pytest.raises(QueryError, match="an empty query"):
            searcher.search(query)
    with pytest.raises(ModelError, match=r"aspects 'symptoms'.*name both an entity and an aspect"):
        Searcher.open(folder, _NeedsBoth(256)).search(ask("", "symptoms"), options=SearchOptions(scoring="model"))
    # What the model cannot place is found by its words.
    assert Searcher.open(folder, _NeedsBoth(256)).search(ask("", "symptoms"))[0].heading == "Symptoms"


def test_another_model_is_refused(folder: Path) -> None:
    with pytest.raises(IndexFolderError, match=r"model 'hashed-256'.*build the index again"):
        Searcher.open(folder, HashedEncoder(256, seed=3))


@pytest.mark.parametrize(
    ("asked", "entity", "concept_id", "note"),
    [
        ("IgA Glomerulonephritis", "IgA nephropathy", "DOID:2986", "matched its name; the documents call"),
        ("iga nephropathy", "IgA nephropathy", "DOID:2986", "matched synonym 'IgA nephropathy'"),
        ("X:0", "IgA nephropathy", "DOID:2986", "matched identifier X:0; the documents call it"),
        ("Berger disease", "IgA nephropathy", "DOID:2986", "matched synonym 'Berger's disease'; the doc"),
        ("doid:2986", "IgA nephropathy", "DOID:2986", "matched identifier DOID:2986"),
        ("C0017661", "IgA nephropathy", "DOID:2986", "matched identifier UMLS:C0017661"),
        ("ICD-10 N02.8", "IgA nephropathy", "DOID:2986", "matched identifier ICD10:N02.8"),
        ("iga nefropathy", "IgA nephropathy", "DOID:2986", "nearest to 'IgA nephropathy'"),
        ("podagra", "Gout", "DOID:13189", "matched synonym 'podagra'; the documents call it 'Gout'"),
        ("common colds", "common colds", "DOID:10459", "matched its name"),
        ("rhinitis nurse", "rhinitis nurse", "DOID:10459", "matched synonym 'nurse rhinitis'"),
        ("coryzza", "coryza", "DOID:10459", "nearest to 'coryza'"),
        ("X:2", "Asthma", "X:2", "matched identifier X:2"),
    ],
)
def test_entities_are_understood(searcher: Searcher, asked: str, entity: str, concept_id: str, note: str) -> None:
    understanding = searcher.understand(ask(asked, "symptoms"))
    assert replace(understanding.query, names=()) == Query("q1", entity, ("symptoms",), concept_id)
    assert understanding.query.names[0] == asked
    assert understanding.match is not None
    assert f"understood as: {understanding.match.concept.name} ({concept_id}), {note}" in understanding.note


def test_a_shared_code_does_not_rename_concepts(tmp_path: Path) -> None:
    known = KnowledgeBase(
        [
            Concept("DOID:1", "colitis", xrefs=("UMLS:C0000001",)),
            Concept("DOID:2", "Colitis with arthritis", xrefs=("UMLS:C0000001",)),
            Concept("DOID:3", "hypertension", xrefs=("UMLS:C0000003",)),
        ]
    )
    documents = [
        replace(leaflets()[0], title="Colitis with arthritis", entity_ids=("UMLS:C0000001",)),
        replace(leaflets()[1], title="Bluthochdruck", entity_ids=("UMLS:C0000003",)),
        replace(leaflets()[2], title="Gicht", entity_ids=("UMLS:C0000004", "UMLS:C0000001")),
    ]
    build_index(documents, ENCODER, tmp_path / "index", knowledge_base=known)
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    assert searcher.understand(ask("colitis", "symptoms")).query.entity == "colitis"
    assert searcher.understand(ask("hypertension", "symptoms")).query.entity == "Bluthochdruck"


def test_a_knowledge_base_of_codes_only_resolves_them(tmp_path: Path) -> None:
    codes = KnowledgeBase([], [Concept("ICD10:E11", "Type 2 diabetes mellitus")])
    build_index(leaflets()[:1], ENCODER, tmp_path / "index", knowledge_base=codes)
    understood = Searcher.open(tmp_path / "index", ENCODER).understand(ask("ICD10:E11", "symptoms"))
    assert understood.query.entity == "Type 2 diabetes mellitus"


def test_replacing_an_index_does_not_disturb_open_searchers(tmp_path: Path) -> None:
    build_index(leaflets(), ENCODER, tmp_path / "index", knowledge_base=KNOWN)
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    build_index(leaflets()[:1], ENCODER, tmp_path / "index")
    assert searcher.understand(ask("podagra", "symptoms")).query.entity == "Gout"


def test_a_moved_model_can_be_named(tmp_path: Path) -> None:
    build_index(leaflets()[:1], ENCODER, tmp_path / "index", model_path=str(tmp_path / "moved"))
    with pytest.raises(ModelError, match=r"'hashed-256', at .*moved.*say where it is now: with --model"):
        Searcher.open(tmp_path / "index")


def test_aspects_read_from_a_question_are_reported(searcher: Searcher) -> None:
    understood = searcher.understand(ask(text="How is gout treated?"))
    assert re.search(r"; asked about: treatment \(\d+%\)$", understood.note)
    assert "asked about" not in searcher.understand(ask("gout", "treatment")).note


def test_unknown_names_are_reported_and_unknown_codes_refused(searcher: Searcher, tmp_path: Path) -> None:
    understanding = searcher.understand(ask("frumious bandersnatch", "symptoms"))
    assert understanding.query.entity == "frumious bandersnatch"
    assert understanding.query.entity_id == ""
    assert understanding.note == "'frumious bandersnatch' is not in the knowledge base; searching for its words"
    with pytest.raises(QueryError, match="DOID:99"):
        searcher.understand(ask("DOID:99", "symptoms"))
    build_index(leaflets(), ENCODER, tmp_path / "plain")
    plain = Searcher.open(tmp_path / "plain", ENCODER)
    assert plain.knowledge_base is None
    with pytest.raises(QueryError, match="'DOID:2986'"):
        plain.understand(ask("DOID:2986", "symptoms"))
    # Without a vocabulary questions are read by grammar and by the titles.
    read = plain.understand(ask(text="How is gout treated?")).query
    assert (read.entity.lower(), read.aspects) == ("gout", ("treatment",))
    assert plain.search(read)[0].passage_id == "gout-3"


def test_given_parts_override_those_read_from_questions(searcher: Searcher) -> None:
    question = "What are the symptoms of Berger's disease?"
    read = searcher.understand(ask(text=question)).query
    # By the name that documents have for it.
    rewritten = "What are the symptoms of IgA nephropathy?"
    assert (read.entity_id, read.aspects, read.text) == ("DOID:2986", ("symptoms",), rewritten)
    assert "Berger's disease" in read.names
    query = searcher.understand(ask(text="How is gout treated?")).query
    assert searcher.search(query)[0].passage_id == "gout-3"
    assert searcher.search(read)[0].passage_id == "iga-nephropathy-2"
    assert searcher.understand(ask("", "treatment", text=question)).query.aspects == ("treatment",)
    assert searcher.understand(ask("gout", text=question)).query.entity_id == "DOID:13189"


def test_aspects_and_resolved_entities_need_no_understanding(searcher: Searcher) -> None:
    assert searcher.understand(ask("", "Symptoms")).query == Query("q1", "", ("symptoms",))
    settled = Query("q1", "Berger", ("symptoms",), "MY:1")
    assert searcher.understand(settled).query == settled


def test_building_reports_progress_in_batches_and_counts(tmp_path: Path) -> None:
    documents = generated(70)
    seen = []
    report = build_index(iter(documents), ENCODER, tmp_path / "index", batch_size=30, progress=seen.append)
    assert [counts.documents for counts in seen] == [30, 60, 70]
    assert report.counts == seen[-1]
    assert report.counts.sentences == sum(len(document.sentences) for document in documents)
    assert report.sentences_per_second == pytest.approx(report.counts.sentences / report.seconds)


def test_long_documents_make_short_batches(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Watching(HashedEncoder):
        def encode_documents(self, documents: list[Document]) -> list[FloatArray]:  # type: ignore[override]
            sizes.append(len(documents))
            return super().encode_documents(documents)

    (passage,) = leaflets()[0].passages[:1]
    long = [
        Document(f"d{n}", "", leaflets()[0].text, (type(passage)(f"p{n}", "", 0, 9, passage.sentences * 2000),))
        for n in range(3)
    ]
    build_index(long, Watching(), tmp_path / "index")
    assert sizes == [1, 1, 1]


def test_nothing_to_index_leaves_the_old_index(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at least one document"):
        build_index([], ENCODER, folder)
    assert Searcher.open(folder, ENCODER).index.manifest.counts.documents == 4
    with pytest.raises(DataError, match="at least one document"):
        build_index([], ENCODER, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_searching_reads_only_the_records_of_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_index([*leaflets(), *generated(200)], ENCODER, tmp_path / "index", knowledge_base=KNOWN)
    read: list[int] = []
    of_row = GenerationReader.document_record

    def counted(reader: GenerationReader, row: int) -> DocumentRecord:
        read.append(int(row))
        return of_row(reader, row)

    monkeypatch.setattr(GenerationReader, "document_record", counted)
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    assert not read
    hits = searcher.search(searcher.understand(ask("podagra", "symptoms")).query, k=3)
    assert hits[0].title == "Gout"
    # Those of the hits, and a title that the concept's names are looked up by.
    assert len(set(read)) <= 4
