"""Queries to hits: encode, search exactly, and show the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.concepts import EntityResolver, KnowledgeBase
from auscult.concepts.identifiers import normalise_identifiers
from auscult.concepts.names import normalise_name
from auscult.errors import ModelError, QueryError
from auscult.index import GroupBy, PassageIndex
from auscult.interfaces import DocumentEncoder, FloatArray, Hit, Ranking, SentenceScore
from auscult.models import load_model
from auscult.queries import Query, QuestionParser
from auscult.search.understanding import Understanding, understand

_UNIT_TOLERANCE = 1e-3


class Searcher:
    """An index and the model that made it, ready to answer.

    Args:
        index: An opened index.
        encoder: The model that made it.

    Raises:
        IndexFolderError: The encoder is another model than the index'.
    """

    def __init__(self, index: PassageIndex, encoder: DocumentEncoder) -> None:
        index.check_model(encoder)
        self.index = index
        self.encoder = encoder

    @classmethod
    def open(cls, folder: str | Path, encoder: DocumentEncoder | None = None) -> Searcher:
        """Open an index folder with the model its manifest names, or with a given one.

        Raises:
            IndexFolderError: The folder holds no whole index, or one of another model.
            ModelError: The model the manifest names cannot be loaded.
        """
        index = PassageIndex.open(folder)
        if encoder is None:
            model = index.manifest.model
            try:
                encoder = load_model(model.path or model.name)
            except ModelError as error:
                where = f"at {model.path}" if model.path else "where the index does not say"
                remedy = "say where it is now: with --model, or in Python by opening the index with the loaded model"
                raise ModelError(f"the model of the index, '{model.name}', {where}", error.got, remedy) from error
        return cls(index, encoder)

    @cached_property
    def knowledge_base(self) -> KnowledgeBase | None:
        """The index' knowledge base, read when first asked for; None when it has none."""
        saved = self.index.reader.knowledge_base
        return None if saved is None else KnowledgeBase.from_bytes(saved, f"in the index at {self.index.reader.path}")

    @cached_property
    def parser(self) -> QuestionParser | None:
        """Reads questions and resolves entities with the index' knowledge base; None when it has none."""
        knowledge_base = self.knowledge_base
        # One of codes only has no concepts, and identifiers to resolve all the same.
        return None if knowledge_base is None else QuestionParser(EntityResolver(knowledge_base))

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Document titles by normalised name, and by their entity's identifier, the first document's of each.

        Of several identifiers it is not said which is the entity's and which those of what the document names.

        Reads every document's record when first asked for: about 20 microseconds a document.
        """
        titles: dict[str, str] = {}
        by_identifier: dict[str, str] = {}
        for row in range(self.index.manifest.counts.documents):
            record = self.index.reader.document_record(row)
            titles.setdefault(normalise_name(record.title), record.title)
            identifiers = normalise_identifiers(list(record.entity_ids))
            if len(identifiers) == 1:
                by_identifier.setdefault(identifiers[0], record.title)
        titles.pop("", None)
        return {**by_identifier, **titles}

    def understand(self, query: Query) -> Understanding:
        """Read a query with the index' knowledge base (see `understanding.understand`)."""
        return understand(query, self.parser, self.titles if self.parser else {})

    def search(
        self,
        query: Query,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        sources: Sequence[str] = (),
        documents: Sequence[str] = (),
    ) -> list[Hit]:
        """The k best passages with their evidence.

        Args:
            query: With an entity, an aspect, or both. Its entity is taken as it is; see `understand`.
            k: How many, at least 1.
            group_by: "document" gives each document's best passage only.
            sources: Only documents of these sources; empty for all.
            documents: Only documents with these ids; empty for all.

        Returns:
            Best first. A passage's score is exact to single precision; its sentences' scores come from
            vectors in half precision, so that their mean may differ from it by 5e-4.

        Raises:
            QueryError: The query is empty, or an option is out of range.
        """
        return [hit for _, hit in self.search_rows(query, k, group_by=group_by, sources=sources, documents=documents)]

    def search_rows(
        self,
        query: Query,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        sources: Sequence[str] = (),
        documents: Sequence[str] = (),
    ) -> list[tuple[int, Hit]]:
        """As `search`, each hit with its document's row in the index."""
        vector = self.encode([query])[0]
        rows, scores = self.index.search(vector, k, group_by=group_by, sources=sources, documents=documents)
        return [
            (int(self.index.reader.passage_documents[row]), self._hit(rank, row, score, vector))
            for rank, (row, score) in enumerate(zip(rows.tolist(), scores.tolist(), strict=True), start=1)
        ]

    def rank(self, queries: Sequence[Query], k: int = 100, *, group_by: GroupBy = "passage") -> list[Ranking]:
        """Passage ids and scores for many queries, without their evidence."""
        rankings = []
        for query, vector in zip(queries, self.encode(queries), strict=True):
            rows, scores = self.index.search(vector, k, group_by=group_by)
            passage_ids = tuple(self.index.reader.passage_id(row) for row in rows.tolist())
            rankings.append(Ranking(query.query_id, passage_ids, tuple(scores.tolist())))
        return rankings

    def encode(self, queries: Sequence[Query]) -> FloatArray:
        """Query vectors, shape (queries, dim).

        Raises:
            QueryError: A query has neither entity nor aspect.
            ModelError: The model has no vector for a query; some need an entity and an aspect.
        """
        for query in queries:
            if not query.terms.strip():
                raise QueryError("an entity, an aspect, or both", "an empty query", "name at least one of them")
        vectors = self.encoder.encode_queries(queries)
        # Written so that NaN counts as wrong.
        unit = np.abs(np.linalg.norm(vectors, axis=1) - 1) <= _UNIT_TOLERANCE
        if not unit.all():
            query = queries[int(np.argmin(unit))]
            raise ModelError(
                f"a query that model '{self.encoder.name}' can encode",
                f"entity '{query.entity}' with aspects '{', '.join(query.aspects)}'",
                "use other words, and name both an entity and an aspect",
            )
        return vectors

    def split(self, vectors: npt.NDArray[np.floating], query: FloatArray) -> npt.NDArray[np.float64]:
        """The entity's and the aspect's share of each row's inner product with a query, shape (rows, 2).

        Zeros for a model whose vectors speak for both together; `products` has the whole.
        """
        products = np.multiply(vectors, query, dtype=np.float64)
        parts = self.index.manifest.model.parts
        shares = [products[:, slice(*parts.get(name, (0, 0)))].sum(axis=1) for name in ("entity", "aspect")]
        return np.stack(shares, axis=1)

    def products(self, vectors: npt.NDArray[np.floating], query: FloatArray) -> npt.NDArray[np.float64]:
        """Each row's inner product with a query, (rows,): the sum of shares where the model has parts."""
        products: npt.NDArray[np.float64] = np.multiply(vectors, query, dtype=np.float64).sum(axis=1)
        return products

    def _hit(self, rank: int, row: int, score: float, query: FloatArray) -> Hit:
        reader = self.index.reader
        record = reader.document_record(reader.passage_documents[row])
        passage = reader.passage(row)
        text = reader.passage_text(row)
        sentences = reader.sentences_of(row)
        ((entity, aspect),) = self.split(reader.passage_vectors[row : row + 1], query).tolist()
        vectors = reader.sentence_vectors[sentences.start : sentences.stop]
        shares = self.split(vectors, query).tolist()
        wholes = self.products(vectors, query).tolist()
        return Hit(
            rank=rank,
            passage_id=passage.passage_id,
            doc_id=record.doc_id,
            title=record.title,
            heading=passage.heading,
            source=record.source,
            url=record.url,
            text=text,
            start=passage.start,
            end=passage.end,
            score=score,
            entity_score=entity,
            aspect_score=aspect,
            sentences=tuple(
                SentenceScore(
                    start=sentence.start,
                    end=sentence.end,
                    text=text[sentence.start - passage.start : sentence.end - passage.start],
                    score=whole,
                    entity_score=entity_share,
                    aspect_score=aspect_share,
                )
                for sentence, (entity_share, aspect_share), whole in zip(passage.sentences, shares, wholes, strict=True)
            ),
            metadata=dict(record.metadata),
        )
