"""An architecture as a `Scorer`, and a bi-encoder as a `DocumentEncoder`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from torch import Tensor

from auscult.documents import Document
from auscult.encoders.contract import FloatArray, Precision
from auscult.errors import ModelError
from auscult.understanding import Query
from auscult_lab.encoders.base import PassageRanker, PassageText, passage_text, query_text
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.scorers.passage_rows import distinct_passages, rows_of


class CaprScorer:
    """Scores passages with a bi-, poly- or cross-encoder.

    Args:
        ranker: The model; it is put into evaluation mode.
        name: Its name in tables; the architecture's title by default.
        fingerprint: A hash of weights and settings.
        precision: Precision of transformers. "bf16" is about twice as fast on processors with instructions for it and
            changes scores in their third digit. Vectors are stored and compared in single precision in any case.
    """

    def __init__(
        self, ranker: PassageRanker, *, name: str = "", fingerprint: str = "", precision: Precision = "float32"
    ) -> None:
        self.ranker = ranker
        self.name = name or ranker.title
        self.fingerprint = fingerprint
        self.precision = precision
        self._read: Tensor | Sequence[Tensor | PassageText] = []
        self._rows: dict[str, int] = {}

    @property
    def reads_documents(self) -> bool:
        """Whether a passage has a share of its document's mean vector (`encoders.contract.ReadsDocuments`)."""
        return isinstance(self.ranker, BiEncoder) and self.ranker.config.document_share > 0

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection: passage text only, no title, no heading.

        Args:
            documents: Read once, as a stream; the texts of their passages stay in memory.

        Raises:
            DataError: A passage id occurs twice.
        """
        rows: dict[str, int] = {}
        passages: list[PassageText] = []
        document_of: list[int] = []
        numbers: dict[str, int] = {}
        for document, passage in distinct_passages(documents):
            rows[passage.passage_id] = len(passages)
            passages.append(passage_text(document, passage, surroundings=self.ranker.surroundings))
            document_of.append(numbers.setdefault(document.doc_id, len(numbers)))
        self.ranker.eval()
        with computing_in(self.precision, self.ranker):
            kept = self.ranker.keep(passages)
        if isinstance(self.ranker, BiEncoder) and isinstance(kept, Tensor):
            kept = self.ranker.share_documents(kept, torch.tensor(document_of, dtype=torch.long))
        self._rows, self._read = rows, kept

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return scores for passages of the prepared collection, float32 (passages,); higher is better.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._rows, passage_ids, self.name)
        kept = self._read
        asked = kept[torch.from_numpy(rows)] if isinstance(kept, Tensor) else [kept[row] for row in rows]
        self.ranker.eval()
        with computing_in(self.precision, self.ranker):
            scores: FloatArray = self.ranker.score_kept(query_text(query), asked).numpy()
        return scores


def computing_in(precision: Precision, ranker: PassageRanker) -> AbstractContextManager[object]:
    """Return the context in which the transformers of a ranker compute in a precision."""
    if precision == "float32":
        return nullcontext()
    return torch.autocast(next(ranker.parameters()).device.type, dtype=torch.bfloat16)


class BiDocumentEncoder:
    """A bi-encoder as a `DocumentEncoder`, so that passages can be indexed and searched by their vectors.

    An index ranks passages by the mean of their sentences' unit vectors. A bi-encoder has one vector per passage. Every
    sentence gets the vector of its passage, so that the mean equals it and the ranking is the bi-encoder's. All
    sentences of a passage therefore have the same score. The model must compare by `cosine`, because an index stores
    unit vectors.

    Args:
        ranker: The model; it is put into evaluation mode.
        name: Shown in tables and manifests; the architecture's title by default.
        fingerprint: A hash of weights and settings.
        precision: Precision of transformers, as for `CaprScorer`.

    Raises:
        ModelError: The model compares by the plain dot product.
    """

    def __init__(
        self, ranker: BiEncoder, *, name: str = "", fingerprint: str = "", precision: Precision = "float32"
    ) -> None:
        if not ranker.config.cosine:
            raise ModelError(
                "a bi-encoder that compares directions, as an index does",
                f"'{name or ranker.title}', which compares by the dot product",
                "train it with 'cosine: true', or evaluate it without an index",
            )
        self.ranker = ranker.eval()
        self.name = name or ranker.title
        self.dim = ranker.passages.dim
        # One vector represents entity and aspect together.
        self.parts: Mapping[str, slice] = {}
        self.fingerprint = fingerprint
        self._precision = precision

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Return the vector of each sentence's passage, (sentences, dim) per document, rows of unit length."""
        places = [(row, document, passage) for row, document in enumerate(documents) for passage in document.passages]
        # A passage without sentences has no row, but counts in its document's mean.
        with computing_in(self._precision, self.ranker):
            around = self.ranker.surroundings
            kept = self.ranker.keep(
                [passage_text(document, passage, surroundings=around) for _, document, passage in places]
            )
        owners = torch.tensor([row for row, _, _ in places], dtype=torch.long)
        vectors = self.ranker.share_documents(kept, owners).numpy()
        rows: list[list[FloatArray]] = [[] for _ in documents]
        for (row, _, passage), vector in zip(places, vectors, strict=True):
            rows[row] += [vector] * len(passage.sentences)
        return [np.array(each, dtype=np.float32).reshape(len(each), self.dim) for each in rows]

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """Return vectors of queries, (queries, dim), rows of unit length.

        A question in words is encoded unchanged, because sentence encoders were trained on such texts.
        """
        with torch.no_grad(), computing_in(self._precision, self.ranker):
            texts = [query_text(query, question="rather") for query in queries]
            vectors: FloatArray = self.ranker.query_vectors(texts, size=self.ranker.batch_size).cpu().numpy()
        return vectors
