"""A scorer that always puts one passage first, and a task in which that is right or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.understanding import Query
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.records import Track
from leaflet_task import leaflet_task

TASK = leaflet_task(40, "gout-2")


class Favourite:
    """Puts one passage first, whatever is asked."""

    def __init__(self, name: str, passage_id: str) -> None:
        self.name = name
        self._passage_id = passage_id

    def prepare(self, documents: Iterable[Document]) -> None:
        pass

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        return np.array([each == self._passage_id for each in passage_ids], dtype=np.float32)


def contender(name: str, track: Track, passage_id: str = "gout-2") -> Contender:
    return Contender(scorer=Favourite(name, passage_id), track=track)
