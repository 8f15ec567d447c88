"""Any document encoder as a scorer: a passage scores the mean cosine of its sentences with the query.

That is Eq. 13 and 14 of arnold2020. With unit vectors the mean is one inner product, query . mean of the passage's
sentence vectors, so only one mean vector per passage is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from auscult.documents import Document
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.encoders.passages import encode_passages
from auscult.errors import DataError, ModelError
from auscult.understanding import Query
from auscult_lab.scorers.passage_rows import rows_of

NO_SENTENCE_SCORE = -1.0
"""Score of a passage without a sentence: the lowest a cosine can be, so that nothing ranks below it."""


@dataclass(slots=True)
class _Collection:
    means: FloatArray
    rows: dict[str, int] = field(default_factory=dict)
    wordless: set[str] = field(default_factory=set)


class EncoderScorer:
    """Scores passages with a document encoder.

    Args:
        encoder: The model.
        batch_size: Documents per call of the encoder; never changes a score.
        progress: Called with the number of documents encoded so far.
        name: Its name in tables; the encoder's name by default.
    """

    def __init__(
        self,
        encoder: DocumentEncoder,
        *,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
        name: str | None = None,
    ) -> None:
        self.encoder = encoder
        self.name = name or encoder.name
        self._batch_size = batch_size
        self._progress = progress
        self._collection = _Collection(np.zeros((0, encoder.dim), dtype=np.float32))
        self._columns = slice(None)

    def prepare(self, documents: Iterable[Document]) -> None:
        """Encode the collection: whole documents, but their text only.

        Args:
            documents: Read once, in batches.

        Raises:
            DataError: A passage id occurs twice.
            ModelError: The encoder returned a wrong number of sentence vectors.
        """
        rows: dict[str, int] = {}
        means: list[FloatArray] = []
        wordless: set[str] = set()
        stream, encoded = iter(documents), 0
        while batch := list(islice(stream, self._batch_size)):
            for document, (_, passages, _) in zip(batch, encode_passages(self.encoder, batch), strict=True):
                for passage, vector in zip(document.passages, passages, strict=True):
                    if passage.passage_id in rows:
                        raise DataError(
                            "unique passage ids",
                            f"'{passage.passage_id}' twice",
                            "give every passage its own id",
                        )
                    if not passage.sentences:
                        wordless.add(passage.passage_id)
                    rows[passage.passage_id] = len(means)
                    means.append(vector)
            encoded += len(batch)
            if self._progress is not None:
                self._progress(encoded)
        if means:
            self._collection.means = np.stack(means)
        self._collection.rows, self._collection.wordless = rows, wordless

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return the mean sentence cosine of passages of the prepared collection.

        Args:
            query: The query.
            passage_ids: In any order.

        Returns:
            Float32, shape (passages,), in [-1, 1]; for a scorer from `only`, the share of its part.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._collection.rows, passage_ids, self.name)
        vector = self.encoder.encode_queries([query])[0][self._columns].astype(np.float64)
        # Summed in double precision, so that the order of passages does not change a score by rounding.
        scores: FloatArray = (self._collection.means[rows][:, self._columns].astype(np.float64) @ vector).astype(
            np.float32
        )
        wordless = self._collection.wordless
        if wordless:
            scores[[each in wordless for each in passage_ids]] = NO_SENTENCE_SCORE
        return scores

    def only(self, part: str) -> EncoderScorer:
        """Return a scorer by one part of the vectors ("entity" or "aspect"), over the same collection.

        The two share the prepared collection.

        Raises:
            ModelError: The encoder has no such part.
        """
        if part not in self.encoder.parts:
            raise ModelError(
                f"a model whose vectors have a part '{part}'",
                f"'{self.name}' with {', '.join(self.encoder.parts) or 'none'}",
                "ask for a part that it has",
            )
        other = EncoderScorer(self.encoder, batch_size=self._batch_size, name=f"{self.name} ({part} only)")
        other._collection = self._collection
        other._columns = self.encoder.parts[part]
        return other
