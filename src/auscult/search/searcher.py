"""Queries to hits: gather the evidence for every passage, score it, and show it.

`scoring="fused"` ranks by all evidence (`search.evidence`, `search.fusion`). `scoring="model"` ranks by the model's
vectors alone, as its paper does: for CDV, mean sentence cosine (arnold2020 Eq. 14).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from auscult.concepts.autocomplete import Autocomplete
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.resolver import EntityResolver
from auscult.documents.language import detect_language
from auscult.documents.language_names import ENGLISH
from auscult.encoders.contract import DocumentEncoder, ExpandsTexts, FloatArray, languages_of
from auscult.encoders.registry import load_model, load_reranker
from auscult.encoders.reranker import Read, Reranker
from auscult.engines.opening import open_index
from auscult.errors import ModelError, QueryError
from auscult.index.fields import Where
from auscult.index.manifest import ModelRecord
from auscult.index.passage_index import GroupBy, PassageIndex, RowArray
from auscult.index.titles import with_subjects
from auscult.index.words import analyser_for
from auscult.schema import Assertion
from auscult.search.answering import Answering
from auscult.search.assertions import DENIED, AssertionReader, is_name_alone, names_asked
from auscult.search.certainty import SAMPLED, Background, shares_of_first
from auscult.search.evidence import READ_BY_SENTENCE, asked_and_held, question_terms
from auscult.search.findings import Again, Findings, Weighed, directions
from auscult.search.fusion import Fusion
from auscult.search.hits import Hit
from auscult.search.languages import READ_ENGLISH, LanguagesRead
from auscult.search.marks import mark_sentences
from auscult.search.reranking import FIRST as READ_AGAIN
from auscult.search.reranking import Asked, build_excerpt, count_near
from auscult.search.subjects import AskedSubject
from auscult.search.weighing import Sample, Weighing
from auscult.understanding.aspects import ReadsAspects
from auscult.understanding.conversation import understand_next
from auscult.understanding.query import Query
from auscult.understanding.reading import QuestionParser
from auscult.understanding.understand import Understanding, understand

Scoring = Literal["fused", "model"]
_UNIT_TOLERANCE = 1e-3
READING: Final = "fast"
"""The shipped encoder that reads what questions ask, for encoders that do not."""
OF_LANGUAGE: Final = 20
"""Passages, evenly spaced, whose language is taken for that of the collection."""
_MISSPELT, _NO_NAME = "gouut", "zzxq vvkj"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of a search.

    Attributes:
        group_by: One hit per "passage", "document", or value of this field.
        where: Only documents with these values of fields (`PassageIndex.search`); empty for all.
        documents: Only documents of these ids; empty for all.
        scoring: "fused" ranks by all evidence, "model" by the model's vectors alone.
        rerank: Number of first hits of a question in words to read again, together with it; None for the first
            8 where a re-ranker was fitted to the model, else for none.
        assertions: Leave out hits that mention the entity but say none of these of it (`search.assertions`).
    """

    group_by: GroupBy = "passage"
    where: Where = field(default_factory=dict)
    documents: Sequence[str] = ()
    scoring: Scoring = "fused"
    rerank: int | None = None
    assertions: Collection[Assertion] = ()


DEFAULT_OPTIONS = SearchOptions()


class Searcher:
    """An index and the model that made it, ready to answer.

    Args:
        index: An opened index.
        encoder: The model that made it.
        reranker: Reads first hits of questions in words again; None for the shipped one.
        whole: The searcher that this one is a view of, which shares what it has loaded; None for none.

    Raises:
        IndexFolderError: The encoder is not the index's model.
    """

    def __init__(
        self,
        index: PassageIndex,
        encoder: DocumentEncoder,
        reranker: Reranker | None = None,
        whole: Searcher | None = None,
    ) -> None:
        index.reader.check_model(encoder)
        self.index = index
        self.encoder = encoder
        self.fusion = Fusion.of(encoder)
        self._reranker = reranker
        self._whole = whole
        # The last question, and what reading passages again gave, by row.
        self._last_read: tuple[tuple[str, bytes], dict[int, Read]] = ("", b""), {}

    @classmethod
    def open(
        cls, index: str | Path, encoder: DocumentEncoder | None = None, reranker: Reranker | None = None
    ) -> Searcher:
        """Open an index with the model its manifest names, or with a given one; with a re-ranker, or without.

        Args:
            index: Its folder, or the address of a server that has it (`auscult.engines`).
            encoder: In place of the model that the manifest names.
            reranker: As `Searcher` takes it.

        Raises:
            EngineError: That server cannot be reached, or has no index.
            IndexFolderError: There is no index, or one of another model.
            ModelError: The model the manifest names cannot be loaded.
        """
        opened = open_index(index)
        if encoder is None:
            encoder = load_model_of(opened.manifest.model)
        return cls(opened, encoder, reranker)

    def seen_by(self, groups: Collection[str]) -> Searcher:
        """Return the view that members of these groups may search; other documents are treated as removed.

        Names, completions and spelling do not come from other documents either. A view is cheap and shares the models.
        Keep it: its first question is slow where documents added names to the knowledge base.

        Args:
            groups: Names of groups (`index.fields`); empty for documents that are open to all.
        """
        index, knowledge = self.index.seen_by(groups), self.knowledge_base
        brought = knowledge is not None and knowledge.vocabulary is not knowledge
        counts, following = self.index.manifest.counts, self.index.manifest.next_document
        # The knowledge base keeps names of removed documents. Their groups are no longer known.
        if index is self.index and not (brought and counts.documents < following - 1):
            return self
        return Searcher(index, self.encoder, self._reranker, self)

    @cached_property
    def reranker(self) -> Reranker:
        """The re-ranker: the given one, else the shipped one.

        Raises:
            ModelError: None was given, and this installation has none.
        """
        if self._whole is not None:
            return self._whole.reranker
        return self._reranker or load_reranker()

    @cached_property
    def knowledge_base(self) -> KnowledgeBase | None:
        """The index's knowledge base, read on first use; None when it has none."""
        reader = self.index.reader
        known = self.saved_knowledge if self._whole is None else self._whole.knowledge_base
        if known is None:
            return None
        if self._whole is None:
            return with_subjects(known, reader.newcomers())
        # A view has the names that its own documents add, and those of no other document.
        if known.vocabulary is known:
            return known
        return with_subjects(known.vocabulary, map(reader.document_record, reader.documents.tolist()))

    @cached_property
    def saved_knowledge(self) -> KnowledgeBase | None:
        """The knowledge base as saved, without names of newer documents; of a view, without names of any document."""
        return self.index.reader.known()

    @cached_property
    def named_by(self) -> Searcher | None:
        """The searcher with the same names, whose resolver is shared; None if this one needs its own."""
        return self._whole if self._whole and self.knowledge_base is self._whole.knowledge_base else None

    @cached_property
    def parser(self) -> QuestionParser:
        """The parser of questions: with the index's knowledge base, else by grammar and titles alone."""
        titles = self.index.reader.titles
        return QuestionParser(self.resolver, titles, titles.words, *self._reads_aspects)

    @cached_property
    def _reads_aspects(self) -> tuple[ReadsAspects | None, frozenset[str]]:
        """What reads the aspects that are asked, the encoder or else the shipped one, and in which languages."""
        if self._whole is not None:
            return self._whole._reads_aspects
        if isinstance(self.encoder, ReadsAspects) and self.encoder.reads_aspects:
            return self.encoder, languages_of(self.encoder)
        return _shipped_reader(), READ_ENGLISH

    @cached_property
    def resolver(self) -> EntityResolver:
        """The resolver of entities by the index's knowledge base; views with the same names share it."""
        knowledge = self.knowledge_base
        if self.named_by is not None:
            return self.named_by.resolver
        # An index without a knowledge base has no concepts, but identifiers can be resolved.
        return EntityResolver(KnowledgeBase([]) if knowledge is None else knowledge)

    @cached_property
    def completion(self) -> Autocomplete:
        """The completion of names of the index's knowledge base, in the languages of its texts.

        Views with the same names share it.
        """
        knowledge = self.knowledge_base
        if self.named_by is not None:
            return self.named_by.completion
        languages = [each for each in self.index.reader.languages.read if each != ENGLISH]
        return Autocomplete(KnowledgeBase([]) if knowledge is None else knowledge, languages)

    def understand(self, query: Query, conversation: Sequence[str] = ()) -> Understanding:
        """Resolve entity and aspects of a query with the index's knowledge base (`understanding.understand`).

        Args:
            query: A question, an entity, aspects, or several of these.
            conversation: Earlier questions, oldest first. They supply what the query lacks.
        """
        reader = self.index.reader
        understand_alone = partial(
            understand,
            parser=self.parser,
            titles=reader.titles,
            in_texts=reader.words.occurs,
            of_collection=lambda: self.language,
            languages=reader.languages.read,
        )
        return understand_next(query, conversation, understand_alone) if conversation else understand_alone(query)

    def warm_up(self, before: Searcher | None = None) -> None:
        """Load what the first questions would wait for: the knowledge base, and the indexes for misspelt names.

        The indexes take some 50 MB for 100,000 names. A service should take that memory when it starts.

        Args:
            before: Searcher of an earlier generation, whose names are reused where they are the same.
        """
        if before is not None:
            self.resolver.reuse_names(before.resolver)
        self.understand(Query("", "", text=f"what is {_MISSPELT}"))
        self.resolver.resolve(_NO_NAME)

    def search(self, query: str | Query, k: int = 10, options: SearchOptions = DEFAULT_OPTIONS) -> list[Hit]:
        """Return the k best passages with their evidence.

        Args:
            query: A question in words, or a `Query`. A question is understood first; the entity of a `Query` is taken
                as it is.
            k: Number of hits, at least 1.
            options: See `SearchOptions`.

        Returns:
            Best first. By the model alone a score is exact to single precision; sentences' scores come from vectors
            in half precision, so that their mean may differ from it by 5e-4.

        Raises:
            QueryError: The query is empty, or an option is out of range.
            ModelError: The model alone ranks, and has no vector for the query; or there is no re-ranker.
        """
        if isinstance(query, str):
            query = self.understand(Query("", "", text=query.strip())).query
        return [*self.find(query, k, options)]

    def find(
        self,
        query: Query,
        k: int = 10,
        options: SearchOptions = DEFAULT_OPTIONS,
        *,
        encoded: FloatArray | None = None,
    ) -> Findings:
        """Search as `search` does, but build a hit only when it is read.

        Args:
            query: The query, understood.
            k: Number of hits, at least 1.
            options: See `SearchOptions`.
            encoded: Row of `vectors` for the query, if the caller has it.
        """
        if options.assertions:
            return self._find_asserting(query, k, options, encoded)
        if options.scoring == "model":
            return self._find_by_model(query, k, options)
        reader, parts = self.index.reader, self.index.manifest.model.parts
        vector = self.vectors([query])[0] if encoded is None else encoded
        asked = self._prepare_asked(query, vector)
        read_first = self._count_reread(query, options)
        weighing = self._weigh(query, vector)
        assertions, is_name = AssertionReader(names_asked(query)), is_name_alone(query)
        most = max(k, read_first, READ_BY_SENTENCE if is_name else 0)
        rows, scores, evidence, first = weighing.best(
            most, group_by=options.group_by, where=options.where, documents=options.documents
        )
        first_ten = shares_of_first(scores, first)
        if options.rerank is None:
            read_first = count_near(scores, read_first)
        again = self._read_again(asked, rows[:read_first])
        scores[: len(again)] += np.array([each.added for each in again], scores.dtype)
        denied = np.zeros(len(rows), scores.dtype)
        if is_name:
            denies = [self._denies(assertions, row) for row in rows.tolist()]
            denied[denies] = (DENIED - 1) * np.maximum(scores[denies], 0)
        order = np.argsort(-(scores + denied), kind="stable")[:k]
        evidence = evidence[order]
        chances = self.fusion.probabilities(
            evidence * weighing.spread,
            asked_and_held(self.index, query, rows[order]),
            first_ten[order],
            weighing.background,
            in_words=bool(query.text),
        )
        if again and self.fusion.rereading is not None:
            ahead = shares_of_first(scores[order], scores[: len(again)])
            log_odds = np.array([each.read.log_odds for each in again], np.float64)
            # What was not read again counts as what says least.
            log_odds = np.append(log_odds, np.full(len(rows) - len(again), log_odds.min()))
            chances = self.fusion.rereading.probabilities(chances, log_odds[order], ahead)
        rows, scores = rows[order], (scores + denied)[order]
        weighed = Weighed(
            evidence=evidence,
            weights=weighing.weights,
            probabilities=chances,
            asked=asked,
            reread=[again[place] if place < len(again) else None for place in order.tolist()],
            denied=denied[order].tolist(),
        )
        return Findings(
            reader=reader,
            rows=rows.tolist(),
            scores=scores.tolist(),
            vector=vector,
            parts=parts,
            answering=Answering(query, vector, parts, asked.words),
            subject=AskedSubject(query, reader, rows.tolist()),
            assertions=assertions,
            weighed=weighed,
            languages=LanguagesRead(query.language, languages_of(self.encoder)),
        )

    def _denies(self, assertions: AssertionReader, row: int) -> bool:
        stored = self.index.reader.stored(row)
        return assertions.denies(stored.passage, stored.text, language=self.index.reader.languages.of(row))

    def _prepare_asked(self, query: Query, vector: FloatArray) -> Asked:
        words = self.index.reader.words.shares(question_terms(query))
        return Asked(query.text, vector, words, analyser_for(query.language).holding(words))

    def _read_again(self, asked: Asked, rows: RowArray) -> list[Again]:
        """Return what reading passages again gives, (rows,)."""
        if not len(rows) or self.fusion.rereading is None:
            return []
        reads = self._read_rows(asked, rows.tolist())
        added = self.fusion.rereading.added(np.array([each.log_odds for each in reads], np.float64))
        return [*map(Again, added.tolist(), reads)]

    def _read_rows(self, asked: Asked, rows: Sequence[int]) -> list[Read]:
        """Return what the re-ranker says of passages; kept for the last question, which limits of spans ask again."""
        key = asked.question, asked.vector.tobytes()
        last, known = self._last_read
        known = dict(known) if last == key else {}
        new = [row for row in rows if row not in known]
        excerpts = [build_excerpt(self.index.reader, asked, row) for row in new]
        known.update(zip(new, self.reranker.read(asked.question, excerpts), strict=True))
        self._last_read = key, known
        return [known[row] for row in rows]

    def _count_reread(self, query: Query, options: SearchOptions) -> int:
        """Return how many first hits are read again.

        Raises:
            QueryError: An option says how many, and no question in words is asked.
            ModelError: An option says how many, and the index's model has no weights for what a re-ranker says.
        """
        if options.rerank is None:
            return READ_AGAIN if query.text and self.fusion.rereading is not None else 0
        if not options.rerank:
            return 0
        if not query.text:
            raise QueryError("a question in words, to read hits again with", "none", "ask one, or leave --rerank out")
        if self.fusion.rereading is None:
            remedy = "fit them (benchmarks/fit_rereading.py), or leave --rerank out"
            raise ModelError("a model with weights for re-ranking", f"'{self.encoder.name}' without", remedy)
        return options.rerank

    def _find_asserting(self, query: Query, k: int, options: SearchOptions, encoded: FloatArray | None) -> Findings:
        """Return the k best findings that the filter of assertions lets through, from as many as are needed."""
        if not query.all_names:
            remedy = "name what it is about, or leave the assertions out"
            raise QueryError("a question about a thing, for what is said of it to count", "one of words", remedy)
        unfiltered, count = replace(options, assertions=()), max(4 * k, options.rerank or 0)
        while True:
            findings = self.find(query, count, unfiltered, encoded=encoded)
            asserted = findings.only(options.assertions, k)
            if len(asserted) == k or len(findings) < count:
                return asserted
            count *= 4

    def _find_by_model(self, query: Query, k: int, options: SearchOptions) -> Findings:
        """Return the k best findings by the model's vectors alone."""
        if options.rerank:
            raise QueryError("all evidence, to re-rank what it finds", "the model's score alone", "leave one out")
        parts = self.index.manifest.model.parts
        vector = self.encode([query])[0]
        rows, scores = self.index.search(
            vector, k, group_by=options.group_by, where=options.where, documents=options.documents
        )
        return Findings(
            reader=self.index.reader,
            rows=rows.tolist(),
            scores=scores.tolist(),
            vector=vector,
            parts=parts,
            answering=Answering(query, vector, parts, {}),
            subject=AskedSubject(query, self.index.reader, rows.tolist()),
            assertions=AssertionReader(names_asked(query)),
            languages=LanguagesRead(query.language, languages_of(self.encoder)),
        )

    @cached_property
    def _sample(self) -> Sample:
        """Passages with words, evenly spaced, that stand for the collection."""
        rows = self._spaced_rows(SAMPLED)
        return rows, self.index.reader.passage_vectors[rows]

    def _spaced_rows(self, most: int) -> RowArray:
        """Return the rows of passages with words, evenly spaced."""
        reader = self.index.reader
        possible = np.ones(len(reader.passage_documents), bool)
        possible[reader.wordless] = False
        rows = np.flatnonzero(possible)
        return rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64)]

    @cached_property
    def language(self) -> str:
        """Code of the language of most passages; empty where none is that of more than half.

        An index of 0.1.0 does not know its languages: those of a sample are detected.
        """
        reader = self.index.reader
        if code := reader.languages.most(self._spaced_rows(len(reader.passage_documents))):
            return code
        texts = [reader.stored(row).text for row in self._spaced_rows(OF_LANGUAGE).tolist()]
        code, count = Counter(map(detect_language, texts)).most_common(1)[0] if texts else ("", 0)
        return code if count > len(texts) / 2 else ""

    def marked(self, query: Query, row: int, subject: AskedSubject | None = None) -> frozenset[int]:
        """Return the numbers of the sentences of a passage that its hit marks for a query.

        Args:
            query: The query, understood.
            row: Row of the passage.
            subject: That of the search that found it, whose other hits may tell patients apart.

        Raises:
            QueryError: The query is empty.
        """
        reader = self.index.reader
        vector = self.vectors([query])[0]
        asked = self._prepare_asked(query, vector)
        others = (subject or AskedSubject(query, reader)).others(row)
        likely: Mapping[int, float] = {}
        if self._count_reread(query, DEFAULT_OPTIONS):
            likely = self._read_rows(asked, [row])[0].sentences
        answering = Answering(query, vector, self.index.manifest.model.parts, asked.words)
        stored = reader.stored(row)
        likely = likely or answering.log_odds(stored.passage, stored.text, stored.vectors)
        return mark_sentences(stored.passage, stored.text, likely, others)

    def gather(self, query: Query) -> tuple[FloatArray, FloatArray, Background]:
        """Return a query's vector, (dim,), the evidence of all passages, and how that is distributed over a sample.

        The vector is zeros where the model has none for the query.

        Raises:
            QueryError: The query is empty.
        """
        vector = self.vectors([query])[0]
        weighing = self._weigh(query, vector)
        return vector, weighing.evidence(None, self.index.best), weighing.background

    def with_first_read_again(self, query: Query, vector: FloatArray, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return the scores of passages after the best of them are read again, if the model does so, (rows,).

        Args:
            query: The query, understood.
            vector: Its vector, (dim,).
            scores: Scores of the passages, (rows,).
            rows: Rows of passages with a sentence, each once.
        """
        count = self._count_reread(query, DEFAULT_OPTIONS)
        if not count:
            return scores
        first = np.argsort(-scores, kind="stable")[:count]
        first = first[: count_near(scores[first], count)]
        again = self._read_again(self._prepare_asked(query, vector), rows[first])
        reranked = scores.copy()
        reranked[first] += np.array([each.added for each in again], scores.dtype)
        return reranked

    def _weigh(self, query: Query, vector: FloatArray) -> Weighing:
        terms = None
        if isinstance(self.encoder, ExpandsTexts) and self.encoder.expands:
            terms = self.encoder.expand_query(query)
        return Weighing(self.index, self.fusion, query, vector, terms, self._sample)

    def vectors(self, queries: Sequence[Query]) -> FloatArray:
        """Return the vectors that evidence is computed with, (queries, dim); zeros for a query without a vector.

        Raises:
            QueryError: A query is empty.
        """
        for query in queries:
            _check_asked(query)
        vectors = np.zeros((len(queries), self.encoder.dim), np.float32)
        numbers = [number for number, query in enumerate(queries) if query.terms.strip() or self._reads_questions]
        if numbers:
            encoded = self.encoder.encode_queries([queries[number] for number in numbers])
            vectors[numbers] = np.where(np.isfinite(encoded).all(axis=1, keepdims=True), encoded, 0)
        return vectors

    @property
    def _reads_questions(self) -> bool:
        """Whether the model encodes a question in words: it has a part for it, or no parts at all."""
        return "question" in self.encoder.parts or not self.encoder.parts

    def encode(self, queries: Sequence[Query]) -> FloatArray:
        """Return the model's vectors of queries, (queries, dim).

        Raises:
            QueryError: A query has neither entity nor aspect, and the model reads no question.
            ModelError: The model has no vector for a query; some need an entity and an aspect.
        """
        for query in queries:
            _check_asked(query)
            if not (query.terms.strip() or self._reads_questions):
                got = f"the question {query.text!r}, in which neither was read"
                raise QueryError("an entity, an aspect, or both", got, "name at least one of them")
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

    def shares(self, vectors: npt.NDArray[np.floating], query: FloatArray) -> npt.NDArray[np.float64]:
        """Return the entity's share, the aspect's share and the whole of each row's product with a query, (rows, 3).

        The shares are zeros for a model whose vectors have no such parts.
        """
        shares: npt.NDArray[np.float64] = vectors.astype(np.float64) @ directions(
            query, self.index.manifest.model.parts
        )
        return shares


@cache
def _shipped_reader() -> ReadsAspects | None:
    """Return the shipped encoder that reads what questions ask, loaded once for all searchers that lack one."""
    shipped = load_model(READING)
    return shipped if isinstance(shipped, ReadsAspects) else None


def load_model_of(model: ModelRecord) -> DocumentEncoder:
    """Load the model that made an index.

    Raises:
        ModelError: It cannot be loaded from where it was.
    """
    try:
        return load_model(model.path or model.name)
    except ModelError as error:
        where = f"at {model.path}" if model.path else "where the index does not say"
        remedy = "say where it is now: with --model, or in Python by opening the index with the loaded model"
        raise ModelError(f"the model of the index, '{model.name}', {where}", error.got, remedy) from error


def _check_asked(query: Query) -> None:
    if not (query.terms.strip() or query.text.strip()):
        raise QueryError("an entity, an aspect, or a question", "an empty query", "name at least one of them")
