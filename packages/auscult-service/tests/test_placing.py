"""Uploads depend on what their caller sees, and on nothing else: ids, groups, and what they replace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.index import IndexUpdate
from auscult.index.reader import open_current
from auscult.ingest.building import build_index
from auscult.ingest.updating import UpdateReport, update_index
from auscult_service.placing import Placing, can_be_written
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(64)
NOBODY: frozenset[str] = frozenset()
WARD_4 = frozenset({"ward-4"})


def note(text: str = "Rest helps.", *, doc_id: str = "note.md", **told: str) -> Document:
    sections = [Section("Treatment", text, f"{doc_id}#1")]
    return build_document(doc_id=doc_id, title="Note", sections=sections, metadata={"file": "note.md", **told})


def upload(
    folder: Path, caller: frozenset[str] | None, groups: frozenset[str], documents: Iterable[Document]
) -> tuple[UpdateReport, list[str], Placing]:
    placing = Placing(folder, caller, groups)
    ids: list[str] = []

    def followed() -> Iterable[Document]:
        for document in placing.place(documents):
            ids.append(document.doc_id)
            yield document

    return update_index({"upload": followed()}, ENCODER, folder, files=placing.files), ids, placing


def documents_in(folder: Path) -> dict[str, tuple[str, str]]:
    reader = open_current(folder)
    found = [reader.document(row) for row in reader.documents.tolist()]
    return {each.doc_id: (each.text, each.metadata.get("access", "")) for each in found}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index with a note that only ward 4 sees."""
    build_index([*leaflets(), note("Hidden.", access="ward-4")], ENCODER, tmp_path / "index")
    return tmp_path / "index"


def test_uploads_neither_replace_nor_reveal_hidden_namesakes(folder: Path) -> None:
    report, (doc_id,), _ = upload(folder, NOBODY, NOBODY, [note()])
    assert (report.new, report.changed) == (1, 0)
    assert documents_in(folder)["note.md"] == ("Hidden.", "ward-4")
    assert documents_in(folder)[doc_id] == ("Rest helps.", "")
    with IndexUpdate(folder) as update:
        update.delete(["note.md"])
        update.commit()
    # Whether the hidden one is there or not: the id looks alike, and a second upload is of the same document.
    _, (again,), _ = upload(folder, NOBODY, NOBODY, [note("Sleep helps.")])
    assert again == doc_id
    _, (other,), _ = upload(folder, NOBODY, NOBODY, [note(doc_id="other.md")])
    assert [each.partition("~")[0] for each in (doc_id, other)] == ["note.md", "other.md"]
    assert len(doc_id) == len("note.md~0123456789ab")


@pytest.mark.parametrize(("caller", "groups"), [(NOBODY, NOBODY), (WARD_4, WARD_4), (None, NOBODY), (None, WARD_4)])
def test_repeated_uploads_are_unchanged_edited_ones_are_changes(
    folder: Path, caller: frozenset[str] | None, groups: frozenset[str]
) -> None:
    first, ids, _ = upload(folder, caller, groups, [note()])
    # Of ward 4 the note that is there has its name and group, and is replaced.
    assert (first.new, first.changed) == ((0, 1) if groups else (1, 0))
    second, same, _ = upload(folder, caller, groups, [note()])
    third, also, _ = upload(folder, caller, groups, [note("Sleep helps.")])
    assert ids == same == also
    assert (second.unchanged, third.changed) == (1, 1)
    assert documents_in(folder)[ids[0]] == ("Sleep helps.", "ward-4" if groups else "")


def test_callers_uploading_for_equal_groups_share_one_document(folder: Path) -> None:
    _, (by_key,), _ = upload(folder, NOBODY, NOBODY, [note()])
    report, (by_admin,), _ = upload(folder, None, NOBODY, [note("Sleep helps.")])
    assert (by_admin, report.changed) == (by_key, 1)


def test_uploads_never_replace_documents_of_other_groups(folder: Path) -> None:
    report, (doc_id,), _ = upload(folder, None, NOBODY, [note()])
    assert (report.new, report.changed) == (1, 0)
    assert documents_in(folder)["note.md"] == ("Hidden.", "ward-4")
    assert documents_in(folder)[doc_id][1] == ""


def test_a_name_that_equals_an_id_gets_another(folder: Path) -> None:
    _, (doc_id,), _ = upload(folder, NOBODY, NOBODY, [note()])
    report, ids, _ = upload(folder, NOBODY, NOBODY, [note("One."), note("Two.", doc_id=doc_id)])
    assert len({*ids}) == 2
    assert (report.new, report.changed) == (1, 1)


def test_hidden_passages_of_equal_id_do_not_interfere(folder: Path) -> None:
    hidden = replace(note("Hidden, too.", doc_id="x", access="ward-4"))
    passages = tuple(replace(each, passage_id="open.md#2") for each in hidden.passages)
    with IndexUpdate(folder, ENCODER) as update:
        update.add([note(doc_id="open.md"), replace(hidden, passages=passages)])
        update.commit()
    sections = [Section("A", "One.", "open.md#1"), Section("B", "Two.", "open.md#2")]
    longer = build_document(doc_id="open.md", title="Note", sections=sections, metadata={"file": "note.md"})
    report, ids, _ = upload(folder, NOBODY, NOBODY, [longer])
    assert (report.changed, ids) == (1, ["open.md"])
    report, ids, _ = upload(folder, NOBODY, NOBODY, [longer])
    assert report.unchanged == 1


A, B = frozenset({"ward-a"}), frozenset({"ward-b"})


@pytest.mark.parametrize(
    ("caller", "groups", "own", "given"),
    [
        (NOBODY, NOBODY, "", ""),
        (NOBODY, NOBODY, "ward-4", None),
        (NOBODY, NOBODY, ",", None),
        (A, A, "", "ward-a"),
        (A, A, " ward-a ,", "ward-a"),
        (A, A, "ward-b", None),
        (A, A, "ward-a, ward-b", None),
        (A, A, ",", None),
        (A | B, A, "ward-b", None),
        (A | B, A | B, "ward-b", "ward-b"),
        (A | B, A | B, "", "ward-a, ward-b"),
        (None, NOBODY, "ward-4", "ward-4"),
        (None, NOBODY, "ward-b,ward-a", "ward-a, ward-b"),
        (None, NOBODY, ",", None),
        (None, A, "", "ward-a"),
        # It names ward 4, and the upload is for ward A: neither may be guessed.
        (None, A, "ward-4", None),
    ],
)
@pytest.mark.parametrize("field", ["access", "Access", " ACCESS "])
def test_documents_keep_their_own_groups_or_are_skipped(
    folder: Path, caller: frozenset[str] | None, groups: frozenset[str], own: str, given: str | None, field: str
) -> None:
    placing = Placing(folder, caller, groups)
    placed = [*placing.place([note(**{field: own})])]
    assert [each.metadata.get("access", "") for each in placed] == ([] if given is None else [given])
    assert not [name for each in placed for name in each.metadata if name.strip().lower() == "access" != name]
    assert [name for name, *_ in placing.reasons()] == (["note.md"] if given is None else [])


def test_skipped_documents_are_reported_once_per_file(folder: Path) -> None:
    placing = Placing(folder, NOBODY, NOBODY)
    rows = [note(doc_id=f"note.md#{number}", access="ward-4") for number in range(3)]
    assert not [*placing.place(rows)]
    ((name, reason, _),) = placing.reasons()
    assert (name, reason.startswith("the field 'access' of 3 of its documents names groups")) == ("note.md", True)
    assert "ward-4" not in reason


def test_ambiguous_group_names_cannot_be_written() -> None:
    assert can_be_written(["ward-a", "ward-b"])
    assert can_be_written([])
    assert not can_be_written(["CN=ward,OU=a"])
    assert not can_be_written([" ward-a"])


def test_duplicates_are_reported_only_to_senders_seeing_them(folder: Path) -> None:
    ward_4, everybody = note("The same."), note("The same.", doc_id="seen.md")
    _, (hidden,), _ = upload(folder, WARD_4, WARD_4, [ward_4])
    for caller, groups in ((NOBODY, NOBODY), (frozenset({"ward-5"}), frozenset({"ward-5"}))):
        report, ids, placing = upload(folder, caller, groups, [everybody])
        assert (report.new, len(ids), placing.known) == (1, 1, [])
        # For the same groups, it is one.
        other = replace(note("The  same."), doc_id="other.md", metadata={"file": "other.md"})
        report, again, placing = upload(folder, caller, groups, [other])
        assert (report.new, again, placing.known) == (0, [], [("other.md", ids[0])])
    assert documents_in(folder)[hidden][1] == "ward-4"
    # Who sees the open one adds for ward 4 all the same: others would not be of the same groups.
    report, _, placing = upload(folder, None, frozenset({"ward-6"}), [note("The same.", doc_id="third.md")])
    assert (report.new, placing.known) == (1, [])
