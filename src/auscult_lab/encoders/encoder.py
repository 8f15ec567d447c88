"""A bi-encoder as a `DocumentEncoder`, so that passages can be indexed and searched by their vectors.

An index ranks passages by the mean of their sentences' unit vectors. A bi-encoder has one vector a passage: every
sentence carries its passage's, so that the mean is exactly the passage's vector and ranking is the bi-encoder's own.
Evidence by sentence is flat: each sentence of a passage has the passage's score. The directions of vectors must be what
is compared (`cosine`), because an index keeps unit vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from auscult.documents import Document
from auscult.errors import ModelError
from auscult.interfaces import FloatArray, Precision
from auscult.understanding import Query
from auscult_lab.encoders.base import passage_text, query_text
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.scorer import computing_in


class BiDocumentEncoder:
    """Passages and queries as unit vectors of a bi-encoder.

    Args:
        ranker: The model; it is put into evaluation mode.
        name: Shown in tables and manifests; the architecture's title by default.
        fingerprint: A hash of weights and settings.
        precision: What transformers compute in, as for `CaprScorer`.

    Raises:
        ModelError: It compares by the plain dot product.
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
        # One vector speaks for entity and aspect together.
        self.parts: Mapping[str, slice] = {}
        self.fingerprint = fingerprint
        self._precision = precision

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Each sentence's passage as a vector, (sentences, dim) a document, rows of unit length."""
        places = [(row, document, passage) for row, document in enumerate(documents) for passage in document.passages]
        # A passage without sentences has no row, but is one of its document.
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
        """Vectors of queries, (queries, dim), rows of unit length.

        A question in words is read as it was asked: sentence encoders are made for that.
        """
        with torch.no_grad(), computing_in(self._precision, self.ranker):
            texts = [query_text(query, question="rather") for query in queries]
            vectors: FloatArray = self.ranker.query_vectors(texts, size=self.ranker.batch_size).cpu().numpy()
        return vectors
