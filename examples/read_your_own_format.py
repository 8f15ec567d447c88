"""Bring documents from a program of your own: sections, fields and identifiers, without a file in between."""

import tempfile
from collections.abc import Iterator

import auscult
from auscult.documents import Section, build_document
from auscult.index import Between

RECORDS = (
    ("g1", "Gout", "2024-05-01", (("First line", "Offer colchicine, or a short course of prednisolone."),)),
    ("g2", "Gout", "2019-02-11", (("First line", "Offer naproxen."), ("Follow-up", "Measure uric acid."))),
    ("a1", "Asthma", "2023-10-20", (("First line", "Offer an inhaled corticosteroid."),)),
)


def documents() -> Iterator[auscult.Document]:
    """Make a document of each record."""
    for number, title, date, parts in RECORDS:
        yield build_document(
            doc_id=number,
            title=title,
            sections=[Section(heading, text) for heading, text in parts],
            source="guidelines",
            metadata={"date": date},
        )


with tempfile.TemporaryDirectory() as folder:
    searcher = auscult.build_index(documents(), out=f"{folder}/index").open()
    since_2020 = auscult.SearchOptions(where={"date": Between(first="2020")})
    for options in (auscult.SearchOptions(), since_2020):
        hits = searcher.search(auscult.Query("", "gout", ("treatment",)), k=2, options=options)
        print([(hit.doc_id, hit.metadata["date"], hit.heading) for hit in hits])
