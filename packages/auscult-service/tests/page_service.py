"""A service with its page, really listening, over real documents; and browser pages that are watched."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import sync_playwright

import auscult.encoders.pretrained
from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import Document, Section, build_document
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.ingest.building import build_index
from auscult.ingest.files import FilesCorpus
from auscult_lab.corpora.opening import open_corpus
from auscult_service.app import create_app
from auscult_service.settings import Settings
from small_pdfs import leaflet

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-quic",
]  # fmt: skip
FAST = Path(next(iter(auscult.encoders.pretrained.__path__))) / "fast"
_LONGEST = 250
NOTE = """Discharge summary

History of present illness:
He came with a swollen, hot big toe that woke him at night. He takes a water tablet for his blood pressure.

Assessment and plan:
1. Acute gout. Colchicine twice a day for five days, rest and ice.
2. Hypertension. The water tablet is stopped, as it raises uric acid.
"""
LEAFLET = """<html><head><title>Asthma</title></head><body><nav>Home</nav><h1>Asthma</h1>
<p>Asthma is a disease of the airways.</p><h2>Treatment</h2><h3>Relievers</h3>
<p>A blue inhaler with salbutamol opens the airways within minutes.</p><h3>Preventers</h3>
<p>An inhaler with a corticosteroid is taken every day. It takes weeks to work.</p>
<ul><li>Rinse your mouth afterwards.</li><li>Carry the blue inhaler with you.</li></ul></body></html>"""

CLINIC = (
    ("ann", "2019-03-02", "Clinic letter", "History", "She had gout in 2015. Her father had gout as well."),
    ("ann", "2021-07-14", "Emergency note", "Assessment", "Acute gout of the left big toe. Colchicine was given."),
    ("ann", "2023-01-20", "Clinic letter", "Assessment", "No sign of gout today. Uric acid is in range."),
    ("bert", "2022-11-30", "Clinic letter", "Assessment", "Possible gout of the right ankle. The joint was aspirated."),
    ("bert", "2020-05-11", "Discharge summary", "Family history", "His mother had gout. His sister has asthma."),
    ("carl", "2018-02-01", "Clinic letter", "Assessment", "Gout since 2010, well controlled with febuxostat."),
    ("carl", "", "Emergency note", "Plan", "The gout flare of the knee is treated with rest."),
    ("dora", "2022-08-09", "Clinic letter", "Assessment", "Migraine with aura. Sumatriptan helps."),
    ("", "2022-08-09", "Leaflet", "Gout", "Gout comes in attacks of pain."),
)
"""Notes as (patient, date, title, heading, text); the last is of nobody."""


def knowledge() -> KnowledgeBase:
    """A few diseases; "SCD" means two of them."""
    return KnowledgeBase(
        [
            Concept("DOID:11335", "sarcoidosis", ("Besnier-Boeck-Schaumann disease",)),
            Concept("DOID:893", "Wilson disease", ("hepatolenticular degeneration",)),
            Concept("DOID:10923", "sickle cell disease", ("SCD", "drepanocytosis")),
            Concept("MONDO:1", "spinocerebellar disease", ("SCD",)),
            Concept("DOID:13189", "gout", ("podagra",)),
            Concept("DOID:2841", "asthma"),
        ]
    )


def medquad_index(folder: Path, encoder: DocumentEncoder, documents: int = 60) -> Path:
    """An index of some of the first documents of MedQuAD, long ones and most of rare diseases left out."""
    first = islice(open_corpus("medquad").documents(), documents)
    rare = ("GARD", "GHR")
    kept = [
        each
        for number, each in enumerate(first)
        if len(each.sentences) < _LONGEST and (each.source not in rare or number < documents // 3)
    ]
    return index_of(kept, folder, encoder)


def ward_index(folder: Path, encoder: DocumentEncoder) -> Path:
    """An index of a folder as somebody has one: a PDF, a note, a leaflet in HTML."""
    files = folder.with_name(f"{folder.name}-files")
    files.mkdir()
    (files / "gout guideline.pdf").write_bytes(leaflet().content())
    (files / "note.txt").write_text(NOTE)
    (files / "asthma.html").write_text(LEAFLET)
    return index_of(list(FilesCorpus(files).documents()), folder, encoder)


def clinic_index(folder: Path, encoder: DocumentEncoder) -> Path:
    """An index of patients' notes."""
    notes = [
        build_document(
            doc_id=f"note-{number}",
            title=title,
            sections=[Section(heading, text, f"note-{number}-p")],
            source="Ward 3",
            metadata={name: value for name, value in (("patient", patient), ("date", date)) if value},
        )
        for number, (patient, date, title, heading, text) in enumerate(CLINIC)
    ]
    return index_of(notes, folder, encoder)


def index_of(documents: Sequence[Document], folder: Path, encoder: DocumentEncoder) -> Path:
    """An index of documents, with the few diseases."""
    build_index(
        documents, encoder, folder, knowledge_base=knowledge(), corpus=folder.name, model_path=str(FAST), origin="test"
    )
    return folder


def fast_encoder() -> DocumentEncoder:
    """The shipped one."""
    return load_model(str(FAST))


@contextmanager
def listening(settings: Settings, encoder: DocumentEncoder | None = None, *, whole: bool = True) -> Iterator[str]:
    """The address of a service that listens on this machine until the block ends; all its indexes are open."""
    app = create_app(settings, encoder)
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        state = app.state.auscult
        deadline = time.monotonic() + 30
        while (
            not (server.started and (state.is_ready or not whole)) and time.monotonic() < deadline and thread.is_alive()
        ):
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


@contextmanager
def chromium(program: str) -> Iterator[Any]:
    """A browser."""
    with sync_playwright() as running:
        started = running.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield started
        started.close()


def follow(place: Any) -> None:
    """Click on what leads to another page, and wait until that one is there and its scripts have run."""
    with place.page.expect_navigation():
        place.click()


class Watched:
    """A page, what went wrong on it, and every address it asked for."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base = page, base
        self.faults: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, path: str) -> Any:
        """Go to a path of the service."""
        self.page.goto(f"{self.base}{path}")
        return self.page

    @property
    def elsewhere(self) -> list[str]:
        """Addresses that are not the service's own."""
        return [each for each in self.asked if not each.startswith((self.base, "about:", "data:"))]
