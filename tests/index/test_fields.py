"""Filters and groups by any field: always min(k, matching) passages, in the order of the unfiltered ranking."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.errors import QueryError
from auscult.index import Between, IndexUpdate, IndexWriter, PassageIndex, Where
from encoders import HashedEncoder
from leaflets import generated

ENCODER = HashedEncoder()


def described(count: int) -> list[Document]:
    """Documents of a ward, a date (nine in ten), and one of a thousand patients."""
    chance = random.Random(5)
    documents = []
    for document in generated(count):
        metadata = {"ward": chance.choice(["north", "south"]), "patient": str(chance.randrange(1000))}
        if chance.random() < 0.9:
            metadata["date"] = f"20{chance.randint(10, 24)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        documents.append(replace(document, metadata=metadata))
    return documents


DOCUMENTS = described(400)
GONE = [f"doc{n}" for n in range(0, 400, 9)]
KEPT = {document.doc_id: document for document in DOCUMENTS if document.doc_id not in GONE}
VECTOR: FloatArray = ENCODER.encode_documents(DOCUMENTS[:1])[0][0]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PassageIndex:
    folder = tmp_path_factory.mktemp("fields") / "index"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(DOCUMENTS[:350])
        writer.commit()
    with IndexUpdate(folder, ENCODER) as update:
        update.add(DOCUMENTS[350:])
        update.delete(GONE)
        update.commit()
    opened = PassageIndex.open(folder)
    assert len(opened.reader.segments) == 2
    return opened


def owner(index: PassageIndex, row: int) -> Document:
    return KEPT[index.reader.document_record(index.reader.passage_documents[row]).doc_id]


def ranking(index: PassageIndex) -> list[int]:
    rows, _ = index.search(VECTOR, 10_000)
    return [int(row) for row in rows]


def holds(document: Document, where: Where) -> bool:
    fields = {**document.metadata, "source": document.source}
    for field, wanted in where.items():
        value = fields.get(field)
        if value is None:
            return False
        if isinstance(wanted, Between):
            if not (wanted.first <= value and (not wanted.last or value[: len(wanted.last)] <= wanted.last)):
                return False
        elif value not in ([wanted] if isinstance(wanted, str) else wanted):
            return False
    return True


PATIENT = next(iter(KEPT.values())).metadata["patient"]


@pytest.mark.parametrize(
    "where",
    [
        {"ward": "north"},
        {"source": ["s0", "s2"], "ward": "south"},
        {"patient": PATIENT},
        {"date": Between("2019", "2019-06")},
        {"date": Between(last="2012")},
        {"date": Between("2024-03-01"), "ward": "north"},
        {"date": Between("2030")},
        {},
    ],
)
@pytest.mark.parametrize("k", [1, 10, 10_000])
def test_a_filtered_ranking_is_the_ranking_filtered(index: PassageIndex, where: Where, k: int) -> None:
    expected = [row for row in ranking(index) if holds(owner(index, row), where)]
    rows, scores = index.search(VECTOR, k, where=where)
    assert rows.tolist() == expected[:k]
    assert rows.tolist() == index.best(index.reader.passage_vectors @ VECTOR, k, where=where)[0].tolist()[:k] or k > 1
    assert (np.diff(scores) <= 0).all()


@pytest.mark.parametrize("field", ["ward", "source", "date", "patient"])
@pytest.mark.parametrize("k", [1, 3, 40, 10_000])
def test_groups_are_as_many_as_there_are(index: PassageIndex, field: str, k: int) -> None:
    best: dict[str | None, int] = {}
    for row in ranking(index):
        document = owner(index, row)
        best.setdefault({**document.metadata, "source": document.source}.get(field), row)
    rows, _ = index.search(VECTOR, k, group_by=field)
    assert rows.tolist() == list(best.values())[:k]


def test_documents_are_counted_by_value(index: PassageIndex) -> None:
    for field in ("ward", "date", "patient"):
        expected = Counter(d.metadata[field] for d in KEPT.values() if field in d.metadata)
        counts = index.counts(field)
        assert counts == expected
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
    only_removed = {DOCUMENTS[n].metadata["patient"] for n in range(0, 400, 9)} - {
        d.metadata["patient"] for d in KEPT.values()
    }
    with pytest.raises(QueryError, match="a patient of this index"):
        index.search(VECTOR, where={"patient": min(only_removed)})


def test_date_bounds_include_everything_with_their_prefix(tmp_path: Path) -> None:
    dates = Between("2019-02", "2019")
    assert [dates.holds(date) for date in ("2019-01-31", "2019-02", "2019-12-31", "2020-01-01")] == [
        False,
        True,
        True,
        False,
    ]
