"""An architecture as a `Scorer`: what of passages does not depend on a query is computed once, then asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from auscult.documents import Document
from auscult.documents.passage_rows import distinct_passages, rows_of
from auscult.interfaces import FloatArray, Precision
from auscult.understanding import Query
from auscult_lab.encoders.base import PassageRanker, PassageText, passage_text, query_text
from auscult_lab.encoders.bi import BiEncoder


class CaprScorer:
    """Scores passages with a bi-, poly- or cross-encoder.

    Args:
        ranker: The model; it is put into evaluation mode.
        name: How tables call it; the architecture's title by default.
        fingerprint: A hash of weights and settings.
        precision: What transformers compute in: "bf16" is about twice as fast on processors that have instructions for
            it, and changes scores in their third digit; vectors are kept and compared in single
            precision all the same.
    """

    def __init__(
        self, ranker: PassageRanker, *, name: str = "", fingerprint: str = "", precision: Precision = "float32"
    ) -> None:
        self.ranker = ranker
        self.name = name or ranker.title
        self.fingerprint = fingerprint
        self.precision = precision
        self._kept: Tensor | Sequence[Tensor | PassageText] = []
        self._rows: dict[str, int] = {}

    @property
    def reads_documents(self) -> bool:
        """Whether a passage has a share of its document's mean vector (`interfaces.ReadsDocuments`)."""
        return isinstance(self.ranker, BiEncoder) and self.ranker.config.document_share > 0

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection: passage text only, no title, no heading.

        Args:
            documents: Read once, in a stream; the texts of their passages are held.

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
        self._rows, self._kept = rows, kept

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Scores for passages of the prepared collection, float32 (passages,); higher is better.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._rows, passage_ids, self.name)
        kept = self._kept
        asked = kept[torch.from_numpy(rows)] if isinstance(kept, Tensor) else [kept[row] for row in rows]
        self.ranker.eval()
        with computing_in(self.precision, self.ranker):
            scores: FloatArray = self.ranker.score_kept(query_text(query), asked).numpy()
        return scores


def computing_in(precision: Precision, ranker: PassageRanker) -> AbstractContextManager[object]:
    """Where the transformers of a ranker compute in a precision."""
    if precision == "float32":
        return nullcontext()
    return torch.autocast(next(ranker.parameters()).device.type, dtype=torch.bfloat16)
