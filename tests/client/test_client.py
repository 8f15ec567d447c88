"""The client against a real service: every call, every record, every error."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from auscult.client import Client, ServiceError
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from leaflets import leaflets
from served_index import KNOWN, note, running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("client") / "leaflets"
    build_index([*leaflets(), note()], load_model("fast"), folder, knowledge_base=KNOWN, model_path="fast")
    with running(folder, "--no-page") as found, Client(found.url) as client:
        yield client


def test_hits_lead_to_documents_explanations_and_feedback(service: Client) -> None:
    answer = service.search("How is podagra treated?", k=2, where={"source": ["North", "South"]})
    hit = answer.hits[0]
    assert (hit.doc_id, hit.heading, len(answer.hits)) == ("leaflet-gout", "Treatment", 2)
    concept = answer.understood.entities[0].concept
    assert concept is not None
    assert (concept.matched, concept.how) == ("podagra", "synonym")
    document = service.document(hit.doc_id)
    assert document.text[hit.start : hit.end] == hit.text
    assert all(document.text[each.start : each.end] == each.text for each in hit.sentences)
    curves = service.explain("How is podagra treated?", doc_id=hit.doc_id)
    assert len(curves.sentences) == sum(len(passage.sentences) for passage in document.passages)
    query_id = service.feedback(hit.doc_id, hit.passage_id, 1, question="How is podagra treated?", span=(184, 224))
    assert query_id.startswith("q")
    with pytest.raises(dataclasses.FrozenInstanceError):
        hit.rank = 3  # type: ignore[misc]


def test_completion_fields_and_lists_are_available(service: Client) -> None:
    assert service.is_ready()
    while not (found := service.entities("pod")):
        pass
    assert [(each.name, each.matched) for each in found] == [("gout", "podagra")]
    assert service.aspects("tre") == ["treatment"]
    assert service.fields()["audience"] == {"patients": 4}
    assert service.indexes()[0].name == "leaflets"
    listed = service.documents(where=["source=North"], k=1)
    assert (listed.total, len(listed.documents)) == (2, 1)


def test_an_upload_is_waited_for_and_removed(service: Client, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "note.md").write_text("# Scabies\n\n## Treatment\n\nPermethrin cream cures scabies.")
    (tmp_path / "in" / "empty.txt").write_text("")
    job = service.upload(tmp_path / "in")
    assert (job.standing, job.new, [each.name for each in job.skipped]) == ("done", 1, ["empty.txt"])
    assert service.search("What cures scabies?").hits[0].doc_id == job.doc_ids[0]
    assert service.original(job.doc_ids[0]).startswith(b"# Scabies")
    service.remove(job.doc_ids[0])
    with pytest.raises(ServiceError) as refused:
        service.document(job.doc_ids[0])
    assert (refused.value.status, refused.value.code) == (404, "unknown_document")
    assert refused.value.remedy
    assert refused.value.request_id


def test_ids_with_slashes(service: Client) -> None:
    document = service.document("notes/scurvy.html")
    assert document.original is not None
    assert document.original.media_type == "text/html"
    assert b"Vitamin C" in service.original("notes/scurvy.html")


def test_unreachable_and_foreign_services_are_reported() -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(ServiceError) as refused:
        client.search("gout")
    assert (refused.value.status, refused.value.code) == (0, "unreachable")
    assert not Client("http://127.0.0.1:9").is_ready()

    class Another(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Another) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Client(f"http://127.0.0.1:{server.server_port}") as client, pytest.raises(ServiceError) as refused:
            client.indexes()
        server.shutdown()
    assert (refused.value.status, refused.value.code) == (404, "strange")


def test_every_client_record_matches_the_services_schema() -> None:
    """No record has a field that the API's documentation lacks."""
    from auscult import schema
    from auscult_service.app import create_app
    from auscult_service.settings import Settings

    schemas = create_app(Settings(indexes={"x": Path("x")}, page=False)).openapi()["components"]["schemas"]
    kinds = [kind for kind in vars(schema).values() if dataclasses.is_dataclass(kind) and isinstance(kind, type)]
    assert len(kinds) > 15
    for kind in kinds:
        properties = schemas[kind.__name__]["properties"]
        assert {field.name for field in dataclasses.fields(kind)} == properties.keys(), kind


def test_the_client_loads_nothing_of_the_service() -> None:
    program = (
        "import sys, auscult.client\n"
        "print([name for name in ('pydantic', 'fastapi', 'numpy', 'auscult_service') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
