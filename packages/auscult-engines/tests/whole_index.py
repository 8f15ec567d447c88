"""What tests of whole indexes on servers have in common: documents, questions, and all that a searcher answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from auscult.documents import Document
from auscult.index import Between, IndexUpdate
from auscult.search import Searcher, SearchOptions
from auscult.understanding import Query
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.tables import shares_at
from command import Command, hashed_model
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder()
ASKED = (
    "How is gout treated?",
    "What cures scurvy?",
    "Which crystals are in a swollen joint?",
    "sick headache symptoms",
)
OPTIONS = (
    SearchOptions(),
    SearchOptions(where={"source": "North"}),
    SearchOptions(where={"date": Between("2024-02", "2024-05")}, group_by="source"),
    SearchOptions(documents=["leaflet-gout", "secret-1"], group_by="document"),
    SearchOptions(scoring="model"),
)


def ask_about(titles: Sequence[str]) -> list[str]:
    """Return a question about each title, of four kinds in turn."""
    kinds = ("What are the symptoms of {}?", "How is {} treated?", "{}", "is {} inherited?")
    return [kinds[number % 4].format(title) for number, title in enumerate(titles)]


def copies() -> list[Document]:
    """Leaflets that some may see, of other sources and dates."""
    return [
        replace(
            leaflet,
            doc_id=f"secret-{number}",
            source=f"source {number % 3}",
            metadata={"date": f"2024-0{1 + number}-15", "access": "ward 3, cardiology" if number % 2 else "ward 4"},
            passages=tuple(replace(p, passage_id=f"{p.passage_id}-{number}") for p in leaflet.passages),
        )
        for number, leaflet in enumerate(leaflets())
    ]


def changed(folder: Path, documents: list[Document], remove: list[str] | None = None) -> None:
    """Change an index' folder."""
    with IndexUpdate(folder, ENCODER) as update:
        update.delete(remove or [])
        update.replace(documents)
        update.commit()


def answers(searcher: Searcher, options: tuple[SearchOptions, ...] = OPTIONS) -> list[Any]:
    """Hits with scores, evidence, marks and offsets, and what else a searcher is asked."""
    parsed = [searcher.understand(Query("", "", text=question)).query for question in ASKED]
    hits = [
        searcher.search(query, 10, each)
        for query in parsed
        for each in options
        if each.scoring == "fused" or query.terms
    ]
    reader = searcher.index.reader
    documents = [
        (reader.document(row), kept and (kept.name, kept.content, kept.runs.tobytes()))
        for row in reader.documents.tolist()
        for kept in [reader.original(row)]
    ]
    told = [searcher.completion.complete("g", 5), searcher.index.counts("source"), [*reader.titles]]
    return [hits, documents, told, reader.row_of("leaflet-asthma"), searcher.index.manifest.counts]


def server_at(address: str) -> PostgresServer:
    """The server of an address that names one."""
    return shares_at(address).servers[0]


def index_one_note(command: Command, folder: Path) -> str:
    """Index a note about gout, as a user does, and return the index's folder."""
    notes, index = folder / "d.jsonl", str(folder / "own")
    notes.write_text('{"id": "a", "title": "Gout", "text": "Gout hurts. Rest helps."}\n')
    model = str(hashed_model(folder / "model"))
    assert command("index", str(notes), "--out", index, "--no-knowledge", "--model", model).code == 0
    return index
