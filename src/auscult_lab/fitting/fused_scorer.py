"""`auscult search` as a scorer: an index of the collection, understanding of queries, and the fusion of all evidence.

To hide names, titles and headings are removed from the documents, and queries with entity and aspects are used without
their text, because a question may be the heading of its answer. Statistics of words are those of the collection.

Cost: the encoder reads the collection once; a query computes the evidence of all passages, however few it ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.errors import DataError, ModelError
from auscult.ingest.building import build_index
from auscult.search.fusion import Fusion
from auscult.search.searcher import Searcher
from auscult.understanding import Query
from auscult_lab.scorers.passage_rows import rows_of


def searched_with(encoder: DocumentEncoder) -> str:
    """Return its name in tables."""
    return f"auscult search, {encoder.name}"


class FusedScorer:
    """Scores passages by all evidence.

    Args:
        encoder: Encodes passages and queries.
        knowledge_base: Gives synonyms, and recognises entities in questions.
        hide_names: Whether to hide titles and headings, and the text of queries with entity and aspects.
        progress: Called with the number of documents encoded so far.
    """

    def __init__(
        self,
        encoder: DocumentEncoder,
        *,
        knowledge_base: KnowledgeBase | None = None,
        hide_names: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.name = searched_with(encoder)
        self._encoder = encoder
        self._known = knowledge_base
        self._hides = hide_names
        self._progress = progress
        self._place: TemporaryDirectory[str] | None = None
        self._searcher: Searcher | None = None
        self._rows: dict[str, int] = {}
        weights = Fusion.of(encoder)
        self._lowest = -float(weights.parts.sum() + weights.words.sum())

    def prepare(self, documents: Iterable[Document]) -> None:
        """Index the collection.

        Args:
            documents: Read once, in batches.

        Raises:
            DataError: There are none, or a passage id occurs twice.
        """
        self._place = TemporaryDirectory()
        progress = self._progress
        build_index(
            self._read(documents),
            self._encoder,
            Path(self._place.name) / "index",
            knowledge_base=self._known,
            progress=None if progress is None else lambda counts: progress(counts.documents),
        )
        self._searcher = Searcher.open(Path(self._place.name) / "index", self._encoder)
        reader = self._searcher.index.reader
        self._rows = {reader.passage_id(row): row for row in range(len(reader.passage_documents))}

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return the fused evidence for passages of the prepared collection, float32 (passages,).

        A passage without sentences scores lowest.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._rows, passage_ids, self.name)
        searcher = self._searcher
        if searcher is None:
            raise ModelError("a prepared collection", "none yet", f"call prepare() of '{self.name}' first")
        if self._hides and query.entity and query.aspects:
            query = replace(query, text="")
        understood = searcher.understand(query).query
        vector, evidence, _ = searcher.gather(understood)
        scores = searcher.fusion.scores(understood, evidence)
        scores[searcher.index.reader.wordless] = self._lowest
        return searcher.with_first_read_again(understood, vector, scores[rows], rows)

    def _read(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield documents as they are indexed."""
        seen: set[str] = set()
        for document in documents:
            for passage in document.passages:
                if passage.passage_id in seen:
                    raise DataError(
                        "unique passage ids", f"'{passage.passage_id}' twice", "give every passage its own id"
                    )
                seen.add(passage.passage_id)
            yield document.without_names() if self._hides else document
