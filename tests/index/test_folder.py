"""What is written comes back, updates keep the rest, and damage is named."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import Document, Passage, Sentence
from auscult.encoders.contract import FloatArray
from auscult.errors import DataError, IndexFolderError, ModelError
from auscult.index import Counts, IndexUpdate, IndexWriter, PassageIndex
from auscult.index.manifest import FORMAT_VERSION
from auscult.index.store import Store, _sum, content_hash
from auscult.search import Searcher
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import generated, leaflets

ENCODER = HashedEncoder()


def build(folder: Path, documents: list[Document], encoder: HashedEncoder = ENCODER) -> PassageIndex:
    with IndexWriter(folder, encoder, corpus="test", model_path="hashed") as writer:
        writer.add(documents)
        writer.commit()
    return PassageIndex.open(folder)


def stored(index: PassageIndex) -> list[Document]:
    return [index.reader.document(row) for row in index.reader.documents]


def ids(index: PassageIndex) -> list[str]:
    return [document.doc_id for document in stored(index)]


def test_documents_come_back_equal_and_are_counted(tmp_path: Path) -> None:
    documents = [*leaflets(), *generated(50)]
    index = build(tmp_path / "index", documents)
    assert stored(index) == documents
    passages = [passage for document in documents for passage in document.passages]
    sentences = sum(len(passage.sentences) for passage in passages)
    assert index.manifest.counts == Counts(len(documents), len(passages), sentences)
    assert (index.manifest.corpus, index.manifest.model.path) == ("test", "hashed")
    assert index.manifest.model.parts == {"entity": (0, 32), "aspect": (32, 64)}
    owners = [document for document in documents for _ in document.passages]
    for row, (document, passage) in enumerate(zip(owners, passages, strict=True)):
        assert index.reader.passage_text(row) == document.slice(passage)
    assert not (tmp_path / "index" / "lock").exists()


@given(text=st.text(st.characters(codec=None), min_size=4, max_size=60), data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back_with_its_offsets(
    text: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    passages = (
        Passage("p1", text[:5], cuts[0], cuts[1], (Sentence(cuts[0], cuts[1], list_item=True),), text[-3:]),
        Passage("p2", "", cuts[2], cuts[3], (Sentence(cuts[2], cuts[3], ends_paragraph=True),), above=(text, text[1:])),
    )
    document = Document(text[:9], text[1:], text, passages, "\n\u2028", text[2:], (text[:2],), {text[3:]: text})
    index = build(tmp_path_factory.mktemp("any") / "index", [document])
    assert stored(index) == [document]
    assert [index.reader.passage_text(row) for row in (0, 1)] == [document.slice(p) for p in passages]


def test_parent_headings_change_the_hash_only_if_present(tmp_path: Path) -> None:
    plain = Document("d", "t", "Rest.", (Passage("d#1", "Drugs", 0, 5, (Sentence(0, 5),)),))
    # What an index of before holds of the same document: it is not read again.
    assert content_hash(plain).hex().startswith("d07bc026e118f73c")
    headed = replace(plain, passages=(replace(plain.passages[0], above=("Gout", "Treatment")),))
    build(tmp_path / "index", [plain])
    with IndexUpdate(tmp_path / "index", ENCODER) as update:
        assert (update.standing(plain), update.standing(headed)) == ("unchanged", "changed")
        update.replace([headed])
        update.commit()
    index = PassageIndex.open(tmp_path / "index")
    assert stored(index) == [headed]
    (hit,) = Searcher(index, ENCODER).search(Query("", "rest", ()))
    assert hit.above == ("Gout", "Treatment")


def test_an_update_equals_a_new_build(tmp_path: Path) -> None:
    old, new = generated(60), generated(30, seed=5, prefix="new")
    changed = [Document(old[7].doc_id, "changed", new[0].text, ()), *leaflets()[:1]]
    build(tmp_path / "index", old)
    encoder = HashedEncoder()
    with IndexUpdate(tmp_path / "index", encoder) as update:
        update.add(new)
        update.delete(["doc3", "doc59", "new4"])
        update.replace(changed)
        update.replace(changed)
        update.commit()
    assert encoder.documents_encoded == len(new) + 2 * len(changed), "kept documents are not encoded again"
    index = PassageIndex.open(tmp_path / "index")
    kept = [d for d in old if d.doc_id not in ("doc3", "doc59", "doc7")]
    expected = [*kept, *(d for d in new if d.doc_id != "new4"), *changed]
    assert stored(index) == expected
    assert index.manifest.counts == build(tmp_path / "rebuilt", expected).manifest.counts
    index.verify()


def test_two_builds_of_one_input_have_equal_segments(tmp_path: Path) -> None:
    first = build(tmp_path / "a", generated(40)).manifest.segments
    assert first == build(tmp_path / "b", generated(40)).manifest.segments


def test_an_update_that_fails_changes_nothing(tmp_path: Path) -> None:
    index = build(tmp_path / "index", generated(10))
    clash = [Document("other", "", "", (Passage("doc1-0", "", 0, 0),))]
    for act, message in [
        (lambda u: u.add(generated(1)), "'doc0', which the index has"),
        (lambda u: u.delete(["nobody"]), "'nobody'"),
        (lambda u: (u.add(clash), u.commit()), "every passage id once"),
        (lambda u: u.add([Document("other", "", "", ())] * 2), "every document id once"),
    ]:
        with IndexUpdate(tmp_path / "index", ENCODER) as update, pytest.raises(DataError, match=message):
            act(update)
        assert sorted(p.name for p in (tmp_path / "index" / "store-000001").glob("segment*")) == ["segment-000001"]
    assert PassageIndex.open(tmp_path / "index").manifest == index.manifest
    with pytest.raises(IndexFolderError, match="build the index again with this one"):
        IndexUpdate(tmp_path / "index", HashedEncoder(seed=1))
    with pytest.raises(IndexFolderError, match="auscult index CORPUS"):
        IndexUpdate(tmp_path / "nowhere", ENCODER)
    assert not (tmp_path / "nowhere").exists()


def test_failed_updates_commit_nothing(tmp_path: Path) -> None:
    index = build(tmp_path / "index", leaflets())
    bad = Document("leaflet-gout", "", "", (Passage("one", "", 0, 0), Passage("one", "", 0, 0)))
    with IndexUpdate(tmp_path / "index", ENCODER) as update:
        with pytest.raises(DataError, match="every passage id once"):
            update.replace([bad])
        with pytest.raises(RuntimeError, match="closed"):
            update.commit()
    with IndexUpdate(tmp_path / "index", ENCODER) as update:
        with pytest.raises(DataError, match="'nobody'"):
            update.delete(["leaflet-gout", "nobody"])
        update.commit()
    assert stored(PassageIndex.open(tmp_path / "index")) == stored(index)


def test_update_keeps_or_replaces_the_knowledge_base(tmp_path: Path) -> None:
    first, other = (KnowledgeBase([Concept(f"X:{n}", f"concept {n}")]) for n in (1, 2))
    with IndexWriter(tmp_path / "index", ENCODER) as writer:
        writer.add(leaflets())
        writer.commit(first)
    for handed, expected in ((None, first), (other, other)):
        with IndexUpdate(tmp_path / "index", ENCODER) as update:
            update.commit(handed)
        saved = PassageIndex.open(tmp_path / "index").reader.known()
        assert saved is not None
        assert list(saved.concepts) == list(expected.concepts)


class _BadEncoder(HashedEncoder):
    def __init__(self, spoil: str) -> None:
        super().__init__()
        self.spoil = spoil

    def encode_documents(self, documents: list[Document]) -> list[FloatArray]:  # type: ignore[override]
        vectors = super().encode_documents(documents)
        if self.spoil == "shape":
            return [matrix[:-1] for matrix in vectors]
        vectors[-1][1] = {"length": vectors[-1][1] * 1.5, "nan": np.nan}[self.spoil]
        return vectors


@pytest.mark.parametrize("spoil", ["shape", "length", "nan"])
def test_vectors_that_break_the_encoders_promise_are_refused(tmp_path: Path, spoil: str) -> None:
    with pytest.raises(ModelError, match=r"leaflet-(gout|iga)"):
        build(tmp_path / "index", leaflets(), _BadEncoder(spoil))
    assert not (tmp_path / "index").exists()


def test_other_peoples_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(IndexFolderError, match=r"notes\.txt"):
        IndexWriter(tmp_path, ENCODER)
    with pytest.raises(IndexFolderError, match="a file at"):
        IndexWriter(tmp_path / "notes.txt", ENCODER)
    with pytest.raises(IndexFolderError, match="a folder without one"):
        PassageIndex.open(tmp_path)
    with pytest.raises(IndexFolderError, match="nothing there"):
        PassageIndex.open(tmp_path / "nowhere")
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_second_writer_is_refused_unless_lock_is_stale(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, leaflets())
    with IndexWriter(folder, ENCODER):
        for open_second in (IndexWriter, IndexUpdate):
            with pytest.raises(IndexFolderError) as refused:
                open_second(folder, ENCODER)
            assert f"pid {os.getpid()} on host {socket.gethostname()}" in str(refused.value)
    finished = subprocess.Popen(["true"])
    finished.wait()
    (folder / "lock").write_text(json.dumps({"pid": finished.pid, "host": "elsewhere", "since": "long ago"}))
    assert len(ids(build(folder, leaflets()[:2]))) == 2


def test_open_index_keeps_answering_while_it_is_replaced(tmp_path: Path) -> None:
    before = build(tmp_path / "index", leaflets())
    build(tmp_path / "index", generated(5))
    assert stored(before) == leaflets()
    assert len(before.search(ENCODER.encode_documents(leaflets())[0][0], k=3)[0]) == 3


def test_other_index_formats_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, leaflets())
    store = Store(folder / "store-000001" / "index.sqlite", "rw")
    newer = store.manifest().to_json().replace(f'"format_version": {FORMAT_VERSION}', '"format_version": 99')
    store._write("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (_sum(1, newer), newer))
    store._write("COMMIT")
    store.close()
    with pytest.raises(IndexFolderError, match=r"format 99.*upgrade auscult"):
        PassageIndex.open(folder)
    (folder / "CURRENT").write_text("../elsewhere\n")
    with pytest.raises(IndexFolderError, match="elsewhere"):
        PassageIndex.open(folder)
