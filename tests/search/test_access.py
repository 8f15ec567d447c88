"""Two people of one index who must never see each other's documents, in nothing that an index can be asked."""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.concepts import KnowledgeBase
from auscult.concepts.concept import Concept
from auscult.documents import Document, Original
from auscult.errors import QueryError
from auscult.index import IndexUpdate, optimize
from auscult.index.fields import ACCESS, is_open_to
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions
from auscult.search.explain import explain
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import generated, leaflets

ENCODER = HashedEncoder(256)
VOCABULARY = KnowledgeBase(
    [
        Concept("DOID:6364", "migraine", ("sick headache",), xrefs=("UMLS:C0149931",)),
        Concept("DOID:13189", "gout", ("podagra",)),
        Concept("DOID:10459", "common cold", ("coryza",)),
    ]
)
ANN, BEN, BOTH, NOBODY = ("ward-a",), ("ward-b",), ("ward-a", "ward-b"), ()
LEVELS = ("", "ward-a", "ward-b", "ward-a, ward-b")
SECRETS = {"ward-a": "Zebrosis of Ann", "ward-b": "Quaggitis of Ben"}


def with_access(document: Document, access: str, **more: str) -> Document:
    named = {ACCESS: access} if access else {}
    return replace(document, metadata={**document.metadata, **named, **more})


def secret(group: str, number: int, title: str) -> Document:
    document = leaflets()[number]
    passages = tuple(replace(p, passage_id=f"{group}-{p.passage_id}") for p in document.passages)
    hidden = replace(document, doc_id=f"{group}-secret", title=title, passages=passages, source=f"only-{group}")
    return with_access(replace(hidden, entity_ids=(f"SECRET:{group}",)), group, **{f"field-{group}": f"value-{group}"})


def everything() -> list[Document]:
    levels = [with_access(document, LEVELS[n % 4]) for n, document in enumerate(generated(80))]
    named = [with_access(document, LEVELS[n]) for n, document in enumerate(leaflets())]
    secrets = [secret(group, n, title) for n, (group, title) in enumerate(SECRETS.items())]
    # Removed later: of nobody's business any more.
    gone = [with_access(replace(d, entity_ids=("GONE:1",)), "ward-a") for d in generated(4, seed=9, prefix="gone")]
    return [*levels[:40], *gone, *named, *levels[40:], *secrets]


def left() -> list[Document]:
    return [document for document in everything() if not document.doc_id.startswith("gone")]


def visible(documents: Iterable[Document], groups: tuple[str, ...]) -> list[Document]:
    def may(document: Document) -> bool:
        named = {name.strip() for name in document.metadata.get(ACCESS, "").split(",")} - {""}
        return not named or bool(named & set(groups))

    return [document for document in documents if may(document)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several segments, and some documents that were removed."""
    folder = tmp_path_factory.mktemp("access") / "index"
    documents = everything()
    build_index(documents[:70], ENCODER, folder, knowledge_base=VOCABULARY, corpus="all")
    with IndexUpdate(folder, ENCODER) as update:
        update.add(documents[70:])
        update.commit()
    with IndexUpdate(folder, ENCODER) as update:
        update.delete([d.doc_id for d in documents if d.doc_id.startswith("gone")])
        update.commit()
    return folder


@pytest.fixture(scope="module")
def whole(folder: Path) -> Searcher:
    return Searcher.open(folder, ENCODER)


@pytest.fixture(scope="module", params=[NOBODY, ANN, BEN, BOTH, ("ward-c",)], ids=str)
def pair(
    request: pytest.FixtureRequest, whole: Searcher, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Searcher, Searcher]:
    """What some groups see of the index, and an index that was built of nothing else."""
    alone = tmp_path_factory.mktemp("alone") / "index"
    build_index(visible(left(), request.param), ENCODER, alone, knowledge_base=VOCABULARY, corpus="all")
    return whole.seen_by(request.param), Searcher.open(alone, ENCODER)


ASKED = [
    Query("", "Migraine", ("Symptoms",)),
    Query("", "topic 3 wört7 wört19", ("heading 4",)),
    Query("", "", (), text="what are common signs of wört12 wört40?"),
    Query("", "Gout", ("treatment",), names=("IgA nephropathy",)),
    *(Query("", title, ("symptoms",)) for title in SECRETS.values()),
]


def test_views_answer_like_indexes_without_the_hidden_documents(pair: tuple[Searcher, Searcher]) -> None:
    for query in ASKED:
        for group_by in ("passage", "document", "source"):
            for scoring in ("fused", "model") if query.terms else ("fused",):
                for k in (3, 500):
                    asked = SearchOptions(group_by=group_by, scoring=scoring)  # type: ignore[arg-type]
                    hits, wanted = (each.search(query, k, options=asked) for each in pair)
                    np.testing.assert_allclose([h.score for h in hits], [h.score for h in wanted], atol=1e-6)
                    ours, theirs = (
                        [(h.passage_id, h.text, h.title, h.metadata) for h in each] for each in (hits, wanted)
                    )
                    # Rows are numbered over all documents, so that equals may change places.
                    assert ours == theirs


def test_counts_titles_and_fields_reveal_no_hidden_documents(pair: tuple[Searcher, Searcher]) -> None:
    view, alone = (each.index for each in pair)
    assert view.manifest.counts == alone.manifest.counts
    assert dict(view.reader.titles) == dict(alone.reader.titles)
    assert view.reader.fields == alone.reader.fields
    for field in alone.reader.fields:
        assert view.reader.values(field)[0] == alone.reader.values(field)[0]
        assert view.counts(field) == alone.counts(field)
    assert [*view.reader.document_rows] == [*alone.reader.document_rows]
    for term in ("allopurinol", "triptan", "wört7", "zebrosi", "quaggiti"):
        assert view.reader.words.holds(term) == alone.reader.words.holds(term)
    if view.manifest.counts.documents < len(left()):
        told = (view.manifest.segments, view.manifest.removed, view.manifest.next_document, view.manifest.known)
        assert told == ((), (), 0, 0), "how much is stored beside it"
    for doc_id, row in view.reader.document_rows.items():
        assert view.reader.document(row) == alone.reader.document(alone.reader.document_rows[doc_id])


def test_names_come_only_from_visible_documents(pair: tuple[Searcher, Searcher]) -> None:
    view, alone = pair
    assert view.knowledge_base is not None
    assert alone.knowledge_base is not None
    assert view.knowledge_base.to_bytes() == alone.knowledge_base.to_bytes()
    letters = [*string.ascii_lowercase, *(a + b for a in "zqgimt" for b in string.ascii_lowercase)]
    for prefix in letters:
        assert view.completion.complete(prefix, 50) == alone.completion.complete(prefix, 50)
    for asked in ("zebrosis of ann", "quagitis", "SECRET:ward-a", "X:1", "GONE:1", "podagra", "sick headache"):
        assert view.resolver.resolve(asked) == alone.resolver.resolve(asked)
        assert understood(view, asked) == understood(alone, asked)
    for text in ("symptoms of zebrossis", "what is quaggittis?", "treatment of migrane"):
        ours, theirs = (each.understand(Query("", "", (), text=text)) for each in pair)
        assert (ours, ours.corrections, ours.note) == (theirs, theirs.corrections, theirs.note)


def understood(searcher: Searcher, entity: str) -> object:
    try:
        return searcher.understand(Query("", entity, ("symptoms",)))
    except QueryError as error:
        return str(error)


def test_errors_name_only_visible_documents(pair: tuple[Searcher, Searcher]) -> None:
    wrong = [
        {"where": {"source": "none such"}},
        {"where": {"source": "only-ward-a"}},
        {"where": {ACCESS: "none such"}},
        {"where": {"field-ward-b": "value-ward-b"}},
        {"where": {"none such": "x"}},
        {"group_by": "none such"},
        {"documents": ["ward-a-secret"]},
        {"documents": ["none such"]},
    ]
    for asked in wrong:
        ours, theirs = (outcome(each, asked) for each in pair)
        assert ours == theirs
    for doc_id in ("ward-a-secret", "ward-b-secret", "none such"):
        outcomes = []
        for searcher in pair:
            try:
                outcomes.append(explain(searcher, ASKED[0], doc_id).document)
            except QueryError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def outcome(searcher: Searcher, asked: dict[str, object]) -> object:
    try:
        return [hit.passage_id for hit in searcher.search(ASKED[0], 100, options=SearchOptions(**asked))]  # type: ignore[arg-type]
    except QueryError as error:
        return str(error)


def test_two_groups_share_only_documents_open_to_both(whole: Searcher) -> None:
    ann, ben = (whole.seen_by(groups) for groups in (ANN, BEN))
    mine, yours = ({*each.index.reader.document_rows} for each in (ann, ben))
    assert "ward-a-secret" in mine - yours
    assert "ward-b-secret" in yours - mine
    assert mine & yours == {d.doc_id for d in left() if d.metadata.get(ACCESS, "") in ("", "ward-a, ward-b")}
    assert [c.name for c in ann.completion.complete("zebr")] == ["Zebrosis of Ann"]
    assert ben.completion.complete("zebr") == []
    assert whole.completion.complete("zebr")


def test_rows_of_hidden_documents_cannot_be_read(whole: Searcher) -> None:
    row = whole.index.reader.document_rows["ward-a-secret"]
    reader = whole.seen_by(BEN).index.reader
    for read in (reader.document, reader.document_record, reader.original):
        with pytest.raises(IndexError):
            read(row)
    for read in (reader.passage, reader.passage_text, reader.passage_id, reader.stored):
        with pytest.raises(IndexError):
            read(reader.passages_of(row)[0])


def test_documents_are_visible_to_the_groups_they_name() -> None:
    assert is_open_to("", ())
    assert is_open_to("  ", ())
    assert is_open_to("a, b", ("b",))
    assert not is_open_to("a, b", ("c", "A", "a,"))
    assert not is_open_to(",", ("", "a"))
    assert not is_open_to("ward", ("w", "war"))


def test_a_view_hiding_nothing_is_the_index_itself(tmp_path: Path) -> None:
    build_index(leaflets(), ENCODER, tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    assert searcher.seen_by(ANN) is searcher
    build_index(left(), ENCODER, tmp_path / "other", knowledge_base=KnowledgeBase([]))
    searcher = Searcher.open(tmp_path / "other", ENCODER)
    assert searcher.seen_by(BOTH) is searcher
    with IndexUpdate(tmp_path / "other", ENCODER) as update:
        update.delete(["ward-a-secret"])
        update.commit()
    searcher = Searcher.open(tmp_path / "other", ENCODER)
    assert searcher.seen_by(BOTH).index is searcher.index
    assert searcher.completion.complete("zebr")
    assert not searcher.seen_by(BOTH).completion.complete("zebr"), "of a document that was removed"


def test_a_view_outlives_the_searcher_it_came_from(folder: Path) -> None:
    view = Searcher.open(folder, ENCODER).index.reader.seen_by(ANN)
    assert view.document(view.document_rows["ward-a-secret"]).title == SECRETS["ward-a"]
    view.verify()


def test_originals_are_hidden_with_their_document(tmp_path: Path) -> None:
    kept = Original(name="note.txt", media_type="text/plain", content=b"whole file", encoding="utf-8")
    document = replace(secret("ward-a", 0, "Zebrosis"), original=kept)
    build_index([document, leaflets()[1]], ENCODER, tmp_path / "index")
    reader = Searcher.open(tmp_path / "index", ENCODER).index.reader
    row = reader.document_rows[document.doc_id]
    found = reader.seen_by(ANN).original(row)
    assert found is not None
    assert found.content == kept.content
    with pytest.raises(IndexError):
        reader.seen_by(BEN).original(row)


def test_optimize_forgets_names_of_deleted_documents(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_index(everything(), ENCODER, folder, knowledge_base=VOCABULARY)
    with IndexUpdate(folder, ENCODER) as update:
        update.delete(["ward-a-secret"])
        update.commit()
    assert Searcher.open(folder, ENCODER).completion.complete("zebr"), "until it is optimised"
    optimize(folder)
    searcher = Searcher.open(folder, ENCODER)
    assert not searcher.completion.complete("zebr")
    assert searcher.completion.complete("quagg")
    assert not [*searcher.index.reader.newcomers()]
