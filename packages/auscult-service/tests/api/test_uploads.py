"""Uploads become jobs, jobs become documents; what cannot be read is named, and a restart tells what it cut off."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from auscult.encoders.contract import FloatArray
from auscult.index import IndexUpdate
from auscult.index.reader import open_current
from auscult_service import jobs as intake
from auscult_service.app import create_app
from auscult_service.caller import Caller, asking
from auscult_service.settings import ServiceLimits, Settings
from auscult_service.state import Served
from encoders import HashedEncoder
from served_index import check_shape, ended, note, served, wait_until

NOTE = ("note.md", b"# Scabies\n\n## Treatment\n\nPermethrin cream cures scabies.", "text/markdown")


def settings(index: Path, **more: object) -> Settings:
    return Settings(indexes={"leaflets": index}, page=False, **more)


def test_uploaded_files_are_found_at_once(index: Path) -> None:
    with served(settings(index)) as client:
        files = [("files", NOTE), ("files", ("empty.txt", b"", "text/plain"))]
        answer = client.post("documents", files=files)
        assert answer.status_code == 202
        assert answer.headers["location"] == f"/api/v1/jobs/{answer.json()['job_id']}"
        job = ended(client, answer.json())
        assert (job["standing"], job["files"], job["read"], job["new"]) == ("done", 2, 2, 1)
        assert [each["name"] for each in job["skipped"]] == ["empty.txt"]
        assert "empty" in job["skipped"][0]["reason"]
        hit = client.post("search", json={"question": "What cures scabies?"}).json()["hits"][0]
        assert [hit["doc_id"]] == job["doc_ids"]
        assert client.get(f"documents/{hit['doc_id']}/original").content == NOTE[1]
        assert client.get("indexes").json()[0]["documents"] == 6
        assert client.get("documents").json()["documents"][0]["doc_id"] == hit["doc_id"]
        assert client.get("jobs").json()["jobs"] == [job]
        # Of what came nothing is left but what is in the index.
        assert not any((index.parent / "leaflets.service" / "uploads").iterdir())


def test_unreadable_files_fail_and_are_named(index: Path) -> None:
    with served(settings(index)) as client:
        files = [("files", ("broken.pdf", b"%PDF-1.7 nothing", "application/pdf"))]
        job = ended(client, client.post("documents", files=files).json())
        assert (job["standing"], job["new"]) == ("failed", 0)
        assert job["skipped"][0]["name"] == "broken.pdf"
        assert client.get("indexes").json()[0]["generation"] == 1


def test_a_removed_document_is_found_no_more(index: Path) -> None:
    with served(settings(index)) as client:
        assert client.delete("documents/leaflet-gout").json() == {"doc_id": "leaflet-gout"}
        check_shape(client.get("documents/leaflet-gout"), 404, "unknown_document")
        hits = client.post("search", json={"question": "How is gout treated?", "k": 50}).json()["hits"]
        assert "leaflet-gout" not in {hit["doc_id"] for hit in hits}
        check_shape(client.delete("documents/leaflet-gout"), 404, "unknown_document")


def test_an_index_that_another_changes_is_busy(index: Path) -> None:
    with served(settings(index)) as client, IndexUpdate(index):
        answer = client.delete("documents/leaflet-gout")
        check_shape(answer, 409, "busy")
        assert answer.headers["retry-after"]


def test_a_read_only_service_takes_no_changes(index: Path) -> None:
    with served(settings(index, changes=False)) as client:
        check_shape(client.post("documents", files=[("files", NOTE)]), 403, "read_only")
        check_shape(client.delete("documents/leaflet-gout"), 403, "read_only")


def test_uploads_with_too_many_files_are_refused(index: Path) -> None:
    with served(settings(index, limits=ServiceLimits(files=1))) as client:
        check_shape(client.post("documents", files=[("files", NOTE), ("files", NOTE)]), 413, "too_many_files")
        check_shape(client.post("documents"), 422, "invalid")


class Slow(HashedEncoder):
    """Waits where documents are encoded."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def encode_documents(self, documents: object) -> list[FloatArray]:
        self.begun.set()
        self.go_on.wait(20)
        return super().encode_documents(documents)  # type: ignore[arg-type]


def test_jobs_cut_off_by_a_shutdown_are_interrupted(index: Path) -> None:
    encoder = Slow()
    with served(settings(index, limits=ServiceLimits(seconds=0.2)), encoder) as client:
        first = client.post("documents", files=[("files", NOTE)]).json()
        assert encoder.begun.wait(20)
        second = client.post("documents", files=[("files", NOTE)]).json()
        assert client.get(f"jobs/{first['job_id']}").json()["standing"] == "reading"
        assert client.post("search", json={"question": "gout"}).status_code == 200
    encoder.go_on.set()
    with served(settings(index)) as client:
        for job in (first, second):
            told = client.get(f"jobs/{job['job_id']}").json()
            assert told["standing"] == "interrupted"
            assert told["remedy"] == "upload them again"
        again = ended(client, client.post("documents", files=[("files", NOTE)]).json())
        assert (again["standing"], again["new"]) == ("done", 1)


@pytest.fixture
def as_somebody(index: Path) -> Iterator[tuple[TestClient, list[Caller]]]:
    """Asks as the caller that the list holds."""
    callers = [Caller("anna", "write", None, frozenset({"north"}))]
    app = create_app(settings(index), HashedEncoder())
    app.dependency_overrides[asking] = lambda: callers[0]
    with TestClient(app, base_url="http://127.0.0.1/api/v1/") as client:
        wait_until(lambda: client.get("ready").status_code == 200)
        yield client, callers


def test_what_a_group_uploads_is_its_own(as_somebody: tuple[TestClient, list[Caller]]) -> None:
    client, callers = as_somebody
    mine = ended(client, client.post("documents", files=[("files", NOTE)]).json())
    (own,) = mine["doc_ids"]
    assert own.partition("~")[0] == "north:note.md"
    for access in ("south", "north, south", ","):
        check_shape(client.post("documents", files=[("files", NOTE)], data={"access": access}), 422, "bad_group")
    again = ended(client, client.post("documents", files=[("files", NOTE)], data={"access": "north"}).json())
    assert (again["doc_ids"], again["unchanged"]) == ([own], 1)
    callers[0] = Caller("ben", "write", None, frozenset({"south"}))
    # The other group has a file of the same name, and neither sees the other's.
    theirs = ended(client, client.post("documents", files=[("files", NOTE)]).json())
    assert (theirs["doc_ids"][0].partition("~")[0], theirs["new"]) == ("south:note.md", 1)
    check_shape(client.get(f"documents/{own}"), 404, "unknown_document")
    check_shape(client.delete(f"documents/{own}"), 404, "unknown_document")
    check_shape(client.get(f"jobs/{mine['job_id']}"), 404, "unknown_job")
    assert [job["job_id"] for job in client.get("jobs").json()["jobs"]] == [theirs["job_id"]]
    assert client.get("indexes").json()[0]["documents"] == 6
    callers[0] = Caller("anna", "write", None, frozenset({"south"}))
    check_shape(client.get(f"jobs/{mine['job_id']}"), 404, "unknown_job")
    callers[0] = Caller("emma", "write", None, frozenset({"CN=north,OU=west"}))
    # As a field of a document it would name two groups.
    check_shape(client.post("documents", files=[("files", NOTE)]), 422, "bad_group")
    callers[0] = Caller("chris", "read")
    check_shape(client.post("documents", files=[("files", NOTE)]), 403, "not_allowed")
    check_shape(client.get("jobs"), 403, "not_allowed")
    callers[0] = Caller("dora", "admin", frozenset({"other"}))
    check_shape(client.post("documents", files=[("files", NOTE)]), 404, "unknown_index")
    assert client.get("indexes").json() == []


def test_files_naming_foreign_groups_are_skipped_with_reason(
    as_somebody: tuple[TestClient, list[Caller]],
) -> None:
    client, callers = as_somebody
    callers[0] = Caller("fred", "write", None, frozenset())
    rows = b'{"id": "a", "text": "Rest helps."}\n{"id": "b", "text": "Sleep helps.", "access": ["north", "south"]}\n'
    files = [
        ("files", ("plan.md", b"---\naccess: |\n  north\n---\nDrink enough.\n", "text/markdown")),
        ("files", ("rows.jsonl", rows, "application/json")),
    ]
    job = ended(client, client.post("documents", files=files).json())
    assert [doc_id.partition("~")[0] for doc_id in job["doc_ids"]] == ["rows.jsonl#a"]
    assert {skipped["name"]: skipped["reason"].partition(";")[0] for skipped in job["skipped"]} == dict.fromkeys(
        ("plan.md", "rows.jsonl"), "its field 'access' names groups that this upload is not for"
    )
    callers[0] = Caller("gil", "admin")
    job = ended(client, client.post("documents", files=files).json())
    # Whoever sees all may add for any group that a file names; what it names has to be legible.
    assert [skipped["name"] for skipped in job["skipped"]] == ["plan.md"]
    assert client.get("documents/north, south:rows.jsonl%23b").json()["metadata"]["access"] == "north, south"


def test_a_newly_hidden_document_cannot_be_deleted(
    as_somebody: tuple[TestClient, list[Caller]], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = as_somebody
    assert client.get("documents/notes/scurvy.html").status_code == 200
    monkeypatch.setattr(Served, "refresh", lambda self: False)
    hidden = replace(note(), metadata={"access": "south"})
    with IndexUpdate(index, HashedEncoder()) as update:
        update.replace([hidden])
        update.commit()
    check_shape(client.delete("documents/notes/scurvy.html"), 404, "unknown_document")
    assert open_current(index).row_of("notes/scurvy.html") is not None


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/abs/x.txt", "abs/x.txt"),
        ("C:\\x\\..\\y.txt", "C_/x/y.txt"),
        ("a\x00b\n.txt", "a_b_.txt"),
        ("..", "document"),
        ("", "document"),
        ("ward 3/note.txt", "ward 3/note.txt"),
    ],
)
def test_no_file_name_leaves_the_upload_folder(tmp_path: Path, name: str, place: str) -> None:
    assert intake.place_for(tmp_path, name) == tmp_path / place
    intake.keep(open(__file__, "rb"), intake.place_for(tmp_path, name))  # noqa: SIM115, PTH123
    assert intake.place_for(tmp_path, name) == tmp_path / "2" / place


def test_damaged_job_records_are_skipped(index: Path) -> None:
    records = index.parent / "leaflets.service" / "jobs"
    records.mkdir(parents=True)
    (records / "x.json").write_text("{")
    (records / "y.json").write_text(json.dumps({"strange": 1}))
    with served(settings(index)) as client:
        assert client.get("jobs").json() == {"jobs": []}


def test_duplicate_uploads_are_reported_and_not_added(index: Path) -> None:
    with served(settings(index)) as client:
        first = ended(client, client.post("documents", files=[("files", NOTE)]).json())
        generation = client.get("indexes").json()[0]["generation"]
        files = [("files", ("ward 3/other.md", NOTE[1], "text/markdown"))]
        job = ended(client, client.post("documents", files=files).json())
        assert (job["standing"], job["new"], job["doc_ids"]) == ("done", 0, [])
        assert [each["name"] for each in job["skipped"]] == ["ward 3/other.md"]
        assert f"the index has its text already, as '{first['doc_ids'][0]}'" in job["skipped"][0]["reason"]
        assert client.get("indexes").json()[0]["generation"] == generation
        again = ended(client, client.post("documents", files=[("files", NOTE)]).json())
        assert (again["unchanged"], again["skipped"]) == (1, [])
        # Removed, and asked for by an upload: it comes again.
        assert client.delete(f"documents/{first['doc_ids'][0]}").status_code == 200
        assert ended(client, client.post("documents", files=files).json())["new"] == 1


def test_an_uploads_source_is_its_folder(index: Path) -> None:
    with served(settings(index)) as client:
        names = ("ward 3/a.txt", "ward 3/sub/b.txt", "c.txt", "c.txt", "ward 3/a.txt")
        files = [("files", (name, f"Words of number {n}.".encode(), "text/plain")) for n, name in enumerate(names)]
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("in/d.txt", "Words in an archive.")
        files.append(("files", ("notes.zip", packed.getvalue(), "application/zip")))
        job = ended(client, client.post("documents", files=files).json())
        assert job["new"] == 6, job
        found = {each["metadata"]["file"]: each["source"] for each in client.get("documents").json()["documents"][:6]}
        assert found == {
            "ward 3/a.txt": "ward 3",
            "2/ward 3/a.txt": "ward 3",
            "ward 3/sub/b.txt": "ward 3",
            "c.txt": "uploaded",
            "2/c.txt": "uploaded",
            "notes.zip/in/d.txt": "uploaded",
        }
