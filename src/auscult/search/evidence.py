"""Why a passage may answer: reasons, each a number on an absolute scale.

Texts name entities: these are found by words, over the whole article. Texts paraphrase aspects: these are found by
vectors, in the passage. Questions in words are searched by both.

    question_text, question_label, question_document   coverage (`index.words`) of the question's words by the passage,
                                                       by its heading and what stands above it (other
                                                       headings, title, names, file), by its article
                                                       (`index.articles`)
    question_together                                  question_text squared, of a question that says more than its
                                                       entity and aspects: that its words stand together in one passage
                                                       says more than each of them does
    question_sentence                                  best over the passage's sentences: half the share of the
                                                       question's words that it holds, half its question part's cosine;
                                                       of the first passages alone, as these have to be read for it
    question_expansion                                 the question's weighted terms in the passage's best window,
                                                       where the model reads terms (formal2021): words that mean the
                                                       same count as well
    entity_document, entity_passage, entity_title      best over the entity's names: coverage by the article, by the
                                                       passage; likeness to the title, or to the headings above, where
                                                       that is more; the mean over several entities, weighed by how
                                                       likely each is asked about
    aspect_heading                                     best over the aspects: the mean of how much of it the heading
                                                       says, and of how much else that says ("symptoms and tests")
    entity_vector, aspect_vector, question_vector      cosine of that part of the query's vector and the passage's; the
                                                       mean over sentences for models that place sentences alone
A reason that does not apply to a query, or that a model has no part for, is 0 for all passages.

The evidence of a question in words is divided by its spread over the collection (`certainty.Background`): where every
title is the same, titles say nothing, and where vectors hardly differ, a small difference says much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.concepts.names import FUNCTION_WORDS
from auscult.documents.language_names import ENGLISH
from auscult.encoders.contract import FloatArray, Terms
from auscult.index.passage_index import PassageIndex
from auscult.index.words import Field, analyse, analyser_for
from auscult.search.certainty import HELD
from auscult.search.hits import EVIDENCE
from auscult.understanding.query import Query
from auscult.understanding.saying import unread_words

READ_BY_SENTENCE: Final = 16
"""Of how many passages the sentences are looked at. Of 64 the first ten were nearly the same."""
_NOTHING: Final = 1e-12
_MOST_EXPANDED: Final = 10.0
_ONCE: Final = 0.3
"""k1 of a question's words: how often a passage holds one says how long it is, rather than how well it answers."""
_SAYING_NOTHING = frozenset(analyse(" ".join((*FUNCTION_WORDS, "how", "why", "when"))))


class Reasons:
    """Computes the evidence of passages for one query, all but "question_sentence".

    Evidence by words is read from the postings of the query's words, for all passages at once. Vectors are compared
    only for the passages given to `of`. Memory: about 4 bytes per passage and reason.

    Args:
        index: An opened index.
        query: The query, understood, with its names, aspects and words.
        vector: Vector of the query, (dim,); a part that it does not fill is zero.
        terms: Numbers and weights of the query's terms; None for a model without terms.

    Attributes:
        spread: What each evidence is divided by, (evidence,); 1 at first.
    """

    def __init__(self, index: PassageIndex, query: Query, vector: FloatArray, terms: Terms | None = None) -> None:
        self._index = index
        self._vector = vector
        self._by_words = _by_words(index, query, terms)
        self.spread: FloatArray = np.ones(len(EVIDENCE), np.float32)

    def of(self, rows: npt.NDArray[np.int64] | None = None, some: FloatArray | None = None) -> FloatArray:
        """Return the evidence of passages, float32 (rows, len(EVIDENCE)).

        Args:
            rows: Rows of the passages; None for all.
            some: Vectors of these passages, if the caller has read them.
        """
        vectors = self._index.reader.passage_vectors
        if rows is not None and some is None:
            some = vectors[rows]
        evidence = np.zeros((len(vectors) if rows is None else len(rows), len(EVIDENCE)), np.float32)
        for name, values in self._by_words.items():
            evidence[:, EVIDENCE.index(name)] = values if rows is None else values[rows]
        for part, (columns, share) in by_part(self._vector, self._index.manifest.model.parts).items():
            cosines = vectors.products(share, columns) if some is None else some[:, slice(*columns)] @ share
            evidence[:, EVIDENCE.index(f"{part}_vector")] = cosines
        evidence /= self.spread
        return evidence

    def estimate(self, weights: FloatArray) -> FloatArray:
        """Estimate the weighted sum of each passage's evidence, (passages,), from quantised vectors.

        Args:
            weights: Weight of each evidence, (len(EVIDENCE),).
        """
        scores = self.estimate_by_words(weights)
        for columns, weight, share in self._weighed_parts(weights):
            # `by_part` scales a share by the root of the number of parts. All parts of a vector have equal length.
            part_length = 1 / float(np.linalg.norm(share))
            self._index.reader.add_products(scores, columns, weight * share, part_length)
        return scores

    def estimate_by_words(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of each passage's evidence by words, (passages,), without reading vectors."""
        weighed = dict(zip(EVIDENCE, weights / self.spread, strict=True))
        scores = np.zeros(len(self._index.reader.passage_documents), np.float32)
        for name, values in self._by_words.items():
            if weighed[name]:
                scores += weighed[name] * values
        return scores

    def direction(self, weights: FloatArray) -> FloatArray:
        """Return the vector whose product with a passage's vector is its weighted evidence by vectors, (dim,)."""
        direction = np.zeros_like(self._vector)
        for columns, weight, share in self._weighed_parts(weights):
            direction[slice(*columns)] = weight * share
        return direction

    def _weighed_parts(self, weights: FloatArray) -> list[tuple[tuple[int, int], float, FloatArray]]:
        """Return columns, weight and the query's share (`by_part`) of each part whose weight is not 0."""
        weighed = dict(zip(EVIDENCE, (weights / self.spread).tolist(), strict=True))
        parts = by_part(self._vector, self._index.manifest.model.parts).items()
        return [
            (columns, weighed[f"{part}_vector"], share) for part, (columns, share) in parts if weighed[f"{part}_vector"]
        ]


def _by_words(index: PassageIndex, query: Query, terms: Terms | None) -> dict[str, FloatArray]:
    """Return the evidence of all passages that comes from words, by its name."""
    words, documents = index.reader.words, index.reader.passage_documents
    # A passage has terms of its own language: the question is read by each, and the best reading counts.
    languages = dict.fromkeys((query.language or ENGLISH, *index.reader.languages.read))
    question = [question_terms(query, language) for language in languages]
    by_text = words.coverage(question, "text", _ONCE)
    by_title = words.coverage(question, "title", _ONCE) + words.coverage(question, "names", _ONCE)
    by_above, by_heading = words.coverage(question, "above", _ONCE), words.coverage(question, "heading", _ONCE)
    # The mean of what stands above and the heading, so that either alone says something.
    by_place = np.minimum(by_title[documents] + by_above, 1)
    evidence = {
        "question_text": by_text,
        "question_label": (by_place + by_heading) * np.float32(0.5),
        "question_document": words.coverage(question, "article", _ONCE)[words.articles],
    }
    if unread_words(query):
        evidence["question_together"] = by_text**2
    if terms is not None:
        # Divided by what few passages reach, so that it is mostly below 1, as other reasons are.
        evidence["question_expansion"] = index.reader.expansions.scores(*terms) / np.float32(_MOST_EXPANDED)
    entities = [[analyser_for(code)(name) for name in names for code in languages] for names in query.each]
    if entities:
        over = partial(_over_entities, entities=entities, likelihoods=query.likelihoods or (1.0,) * len(entities))
        evidence["entity_document"] = over(words.coverage, "article")[words.articles]
        evidence["entity_passage"] = over(words.coverage, "text")
        by_title = over(words.likeness, "title")[documents]
        evidence["entity_title"] = np.maximum(by_title, over(words.likeness, "above"))
    if query.aspects:
        # Known aspects have English names, which headings in other languages are indexed with, too.
        codes = dict.fromkeys((*languages, ENGLISH))
        aspects = [[analyser_for(code)(aspect) for code in codes] for aspect in query.aspects]
        chances = query.aspect_likelihoods or (1.0,) * len(query.aspects)
        by_aspect = [
            (words.coverage(readings, "heading", 0) + words.likeness(readings, "heading")) * np.float32(chance / 2)
            for readings, chance in zip(aspects, chances, strict=True)
        ]
        evidence["aspect_heading"] = np.maximum.reduce(by_aspect)
    return evidence


def best_sentences(index: PassageIndex, query: Query, vector: FloatArray, rows: npt.NDArray[np.int64]) -> FloatArray:
    """Score the best sentence of each passage for a question in words, (rows,), from 0 to 1.

    Args:
        index: An opened index.
        query: The query, understood. Without a question in words all scores are 0.
        vector: Vector of the query, (dim,).
        rows: Rows of passages with at least one sentence.
    """
    best = np.zeros(len(rows), np.float32)
    if not query.text:
        return best
    reader, parts = index.reader, index.manifest.model.parts or {"question": (0, len(vector))}
    words = reader.words.shares(question_terms(query))
    holding = analyser_for(query.language).holding(words)
    columns = slice(*parts.get("question", (0, 0)))
    direction = vector[columns] * np.float32(
        np.sqrt(len(parts)) / max(float(np.linalg.norm(vector[columns])), _NOTHING)
    )
    reader.read_ahead(rows)
    for number, row in enumerate(rows.tolist()):
        stored = reader.stored(row)
        text, begin = stored.text, stored.passage.start
        cosines = stored.vectors[:, columns].astype(np.float32) @ direction
        shares = [
            sum(map(words.__getitem__, holding(text[at.start - begin : at.end - begin])))
            for at in stored.passage.sentences
        ]
        best[number] = max(0.0, float((cosines + shares).max()) / 2)
    return best


def asked_and_held(index: PassageIndex, query: Query, rows: npt.NDArray[np.int64]) -> FloatArray:
    """Return how much of a question's words passages hold, float32 (rows, len(HELD)), from 0 to 1.

    A passage holds all words of an entity if it holds any of the entity's names.

    Args:
        index: An opened index.
        query: The query, understood.
        rows: Rows of the passages.
    """
    reader = index.reader
    analyse_asked = analyser_for(query.language)
    shares = reader.words.shares(question_terms(query))
    held_shares = np.ones((len(rows), len(HELD)), np.float32)
    if not shares:
        return held_shares
    names = [frozenset(analyse_asked(name)) for name in query.all_names]
    named = frozenset(shares).intersection(frozenset().union(*names))
    holding = analyse_asked.holding(frozenset(shares).union(*names))
    heaviest = max(shares.values())
    reader.read_ahead(rows)
    for place, row in enumerate(rows.tolist()):
        stored = reader.stored(row)
        passage = stored.passage
        title = reader.document_record(reader.passage_documents[row]).title
        terms_held = holding(" ".join((title, *passage.above, passage.heading, stored.text)))
        if any(name and name <= terms_held for name in names):
            terms_held |= named
        missing = [share for term, share in shares.items() if term not in terms_held]
        held_shares[place] = 1 - sum(missing), 1 - max(missing, default=0.0) / heaviest
    return held_shares


def question_terms(query: Query, language: str | None = None) -> list[str]:
    """Return the terms of the question, else those of aspects and entity.

    Function words are left out, unless there are no others.

    Args:
        query: The query.
        language: Code of the language whose terms these are; None for that of the question.
    """
    terms = analyser_for(query.language if language is None else language)(query.text or query.terms)
    return [term for term in terms if term not in _SAYING_NOTHING] or terms


def by_part(query: FloatArray, parts: Mapping[str, tuple[int, int]]) -> dict[str, tuple[tuple[int, int], FloatArray]]:
    """Return columns and share of each part that a query fills.

    The product of the share with a passage's vector at these columns is the cosine of that part.
    """
    # A model without parts places whole questions.
    parts = parts or {"question": (0, len(query))}
    shares = {name: (columns, query[slice(*columns)]) for name, columns in parts.items()}
    return {
        name: (columns, share * np.float32(np.sqrt(len(parts)) / np.linalg.norm(share)))
        for name, (columns, share) in shares.items()
        if share.any()
    }


def _over_entities(
    score: Callable[[Sequence[Sequence[str]], Field], FloatArray],
    field: Field,
    *,
    entities: Sequence[Sequence[list[str]]],
    likelihoods: Sequence[float],
) -> FloatArray:
    """Return the score of each text of a field: the best over each entity's names, weighted by the likelihoods.

    Several entities share a weight of 1, so that a doubtful one takes little from one that is all but certain.
    """
    share = max(1.0, sum(likelihoods))
    weighed: list[FloatArray] = []
    for names, likelihood in zip(entities, likelihoods, strict=True):
        best = score(names, field)
        weighed.append(best if likelihood == share else best * np.float32(likelihood / share))
    return reduce(np.add, weighed)
