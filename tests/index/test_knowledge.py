"""The knowledge base at rest answers as the one that it was written from, and is derived again where it is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.concepts.adding_names import with_names
from auscult.concepts.knowledge_base import Lookups
from auscult.concepts.opening import EVERYDAY, open_names
from auscult.errors import IndexFolderError
from auscult.index import IndexUpdate, IndexWriter, PassageIndex, backup, optimize, repair
from auscult.index.blocks import BlockFile
from auscult.index.knowledge import open_knowledge, write_knowledge
from auscult.ingest.building import build_index
from auscult.ingest.updating import remove_documents
from auscult.search import Searcher
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder()
GOUT = Concept("DOID:13189", "gout", ("gouty arthritis",), "Crystals in joints.", ("UMLS:C0018099", "ICD10:M10"))
KNOWN = KnowledgeBase(
    [
        GOUT,
        Concept(
            "DOID:8778", "Crohn's disease", ("regional enteritis",), xrefs=("ICD10:K50",), parents=("DOID:0050589",)
        ),
        Concept("DOID:0050589", "inflammatory bowel disease", xrefs=("ICD10:K50",)),
        Concept("X:1", "Sjögren's syndrome", ("arthritis, gouty \udc80",)),
    ],
    [Concept("ICD10:M10", "Gout"), Concept("ICD10:K50", "Crohn's disease")],
)
# Drawn names may be any words of the project's code: a short absent name may be drawn, too.
LONGER_THAN_ANY = "zq" * 400
concepts = st.lists(
    st.builds(
        Concept,
        concept_id=st.text("abcX:01", min_size=1, max_size=5),
        name=st.text(max_size=20),
        synonyms=st.lists(st.text(max_size=12), max_size=3).map(tuple),
        definition=st.text(max_size=5),
        xrefs=st.lists(st.text("abcX:01", min_size=1, max_size=5), max_size=2).map(tuple),
    ),
    max_size=6,
    unique_by=lambda each: each.concept_id,
)


def at_rest(known: KnowledgeBase, place: Path) -> KnowledgeBase:
    record = write_knowledge(place, known)
    return open_knowledge(BlockFile(place, record.end))


def test_foreign_names_at_rest(tmp_path: Path) -> None:
    known, _ = with_names(KNOWN, [open_names(EVERYDAY)])
    opened = at_rest(known, tmp_path / "names")
    assert dict(opened.foreign.of_concepts) == dict(known.foreign.of_concepts)
    assert opened.foreign.sources == known.foreign.sources
    assert same(opened, known)
    one, other = EntityResolver(opened), EntityResolver(known)
    for text, language in (
        ("Gicht", "de"),
        ("la gota", "es"),
        ("maladies de Crohn", "fr"),
        ("goutte", ""),
        ("xx", "es"),
    ):
        assert one.resolve(text, language=language) == other.resolve(text, language=language)
        assert opened.foreign.has_word(text, language) == known.foreign.has_word(text, language)
    assert one.resolve("la gota", language="es")[0].concept == GOUT
    assert not at_rest(KNOWN, tmp_path / "none").foreign


def test_foreign_names_stay_in_an_index(tmp_path: Path) -> None:
    known, _ = with_names(KNOWN, [open_names(EVERYDAY)])
    build_index(leaflets(), ENCODER, tmp_path / "index", knowledge_base=known)
    searcher = Searcher(PassageIndex.open(tmp_path / "index"), ENCODER)
    assert searcher.resolver.resolve("Gicht", language="de")[0].concept.name == "gout"
    assert searcher.knowledge_base is not None
    assert searcher.knowledge_base.vocabulary.foreign.names("DOID:13189", ["de"]) == ("Gicht",)


def same(one: KnowledgeBase, other: KnowledgeBase) -> bool:
    """Whether two knowledge bases say the same, in the same order."""
    lookups = (
        dict(getattr(one.lookups, each.name).items()) == dict(getattr(other.lookups, each.name).items())
        for each in fields(Lookups)
    )
    return one.to_bytes() == other.to_bytes() and all(lookups)


def built(place: Path, known: KnowledgeBase = KNOWN) -> Path:
    with IndexWriter(place, ENCODER) as writer:
        writer.add(leaflets())
        writer.commit(known)
    return place


def knowledge_file(index: Path) -> Path:
    (found,) = index.glob("store-*/knowledge-*")
    return found


@settings(max_examples=30, deadline=None)
@given(concepts)
def test_stored_knowledge_base_answers_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, given: list[Concept]
) -> None:
    known = KnowledgeBase(given)
    stored = at_rest(known, tmp_path_factory.mktemp("knowledge") / "knowledge-000001")
    assert same(stored, known)
    assert [*stored] == given
    assert [*map(stored.concepts.__getitem__, stored.concepts)] == given
    assert len(stored) == len(given)
    assert "no such id" not in stored
    assert stored.by_name(LONGER_THAN_ANY) == ()


@pytest.mark.parametrize(
    "text",
    ["gout", "Arthritis, gouty", "crohn", "ICD10:K50", "UMLS:C0018099", "M10", "chrons disease", "no such thing"],
)
def test_names_and_identifiers_resolve_as_before(tmp_path: Path, text: str) -> None:
    stored = at_rest(KNOWN, tmp_path / "knowledge-000001")
    assert EntityResolver(stored).resolve(text) == EntityResolver(KNOWN).resolve(text)


def test_documents_add_to_a_knowledge_base_at_rest(tmp_path: Path) -> None:
    documents = [replace(leaflets()[0], title="gout", entity_ids=("UMLS:C1",))]
    documents.append(replace(leaflets()[1], title="Zorbic fever", entity_ids=("X:9",)))
    grown = KNOWN.with_documents(documents)
    assert same(at_rest(KNOWN, tmp_path / "knowledge-000001").with_documents(documents), grown)
    stored = at_rest(grown, tmp_path / "knowledge-000002")
    assert same(stored, grown)
    assert same(stored.vocabulary, KNOWN)


def test_an_index_reads_its_knowledge_from_its_file(tmp_path: Path) -> None:
    index = built(tmp_path / "index")
    assert knowledge_file(index).is_file()
    reader = PassageIndex.open(index).reader
    known = reader.known()
    assert known is not None
    assert same(known, KNOWN)
    assert not isinstance(known.concepts, dict)
    reader.verify()


def test_an_update_keeps_or_replaces_the_knowledge_base(tmp_path: Path) -> None:
    index = built(tmp_path / "index")
    first = knowledge_file(index)
    with IndexUpdate(index, ENCODER) as update:
        update.delete([leaflets()[0].doc_id])
        update.commit()
    assert knowledge_file(index) == first
    other = KnowledgeBase([GOUT])
    with IndexUpdate(index, ENCODER) as update:
        update.commit(other)
    assert knowledge_file(index) != first
    known = PassageIndex.open(index).reader.known()
    assert known is not None
    assert same(known, other)


def test_readers_keep_their_knowledge_when_files_are_replaced(tmp_path: Path) -> None:
    index = built(tmp_path / "index")
    reader = PassageIndex.open(index).reader
    optimize(index)
    known = reader.known()
    assert known is not None
    assert same(known, KNOWN)


@pytest.mark.parametrize(
    "kept", [optimize, lambda index: backup(index, index.with_name("copy"))], ids=["optimize", "backup"]
)
def test_optimize_and_backup_keep_it(tmp_path: Path, kept: Callable[[Path], object]) -> None:
    index = built(tmp_path / "index")
    kept(index)
    copy = tmp_path / "copy"
    known = PassageIndex.open(copy if copy.exists() else index).reader.known()
    assert known is not None
    assert same(known, KNOWN)


def test_optimize_forgets_names_of_removed_documents(tmp_path: Path) -> None:
    def saved(index: Path) -> KnowledgeBase:
        opened = PassageIndex.open(index)
        content = opened.reader.store.knowledge()
        assert content is not None
        return KnowledgeBase.from_bytes(content, "the index")

    index = tmp_path / "index"
    known = replace(leaflets()[0], title="gout", entity_ids=())
    zorbic = replace(leaflets()[1], title="Zorbic fever", entity_ids=("X:9",))
    build_index([known, zorbic], ENCODER, index, knowledge_base=KNOWN, corpus="leaflets")
    assert saved(index).brought
    remove_documents(index, [zorbic.doc_id])
    optimize(index)
    assert not saved(index).brought
    assert same(saved(index), KNOWN)


@pytest.mark.parametrize("damage", ["missing", "flipped"])
def test_missing_or_damaged_file_is_named_and_rebuilt(tmp_path: Path, damage: str) -> None:
    index = built(tmp_path / "index")
    path = knowledge_file(index)
    if damage == "missing":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[100] ^= 1
        path.write_bytes(content)
    with pytest.raises(IndexFolderError, match=path.name):
        PassageIndex.open(index).reader.verify()
    assert repair(index) == [path.name]
    reader = PassageIndex.open(index).reader
    reader.verify()
    known = reader.known()
    assert known is not None
    assert same(known, KNOWN)


def test_stored_and_whole_knowledge_answer_questions_alike(tmp_path: Path) -> None:
    searcher = Searcher.open(built(tmp_path / "index"), ENCODER)
    before = Searcher.open(built(tmp_path / "before"), ENCODER)
    # As read whole from the store, and not from the file.
    before.index.reader._knowledge = None
    for question in ("What are the symptoms of gouty artritis?", "crohns: treatment", "How do I live with migraine?"):
        assert searcher.search(question) == before.search(question)
