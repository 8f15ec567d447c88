"""Fit the weights of the evidence, and of the probability that the first hit is an answer.

Candidates of a question are its answers, the passages that each single evidence ranks first, and random others. With
scores s = w · evidence and answers R among candidates C, the weights minimise

    mean over questions of  - log ( sum over R of exp(s) / sum over C of exp(s) )  +  λ |w|²,    w ≥ 0

with one set of weights for entity and aspects, and one for questions in words.

Questions are made from titles and headings, so these would get nearly all weight. For a quarter of the questions both
are therefore hidden from all passages, as in a collection without them. For another quarter they are hidden from the
passages about the entity, as where these are worded differently. An encoder that reads them with the text reads the
text only.

Self-made questions still share more words with their answers than people's questions. Where people's questions are
given, or written ones, the weights of questions in words are fitted on both, and each collection of these counts as
much as all self-made ones. Without them, all weights but that of the question's vector are multiplied by `SHARE`.
Evidence of words that occur together keeps its weight: a passage with all words of a question is equally good evidence
whoever asks.

The probability (`search.certainty`) is a logistic regression on first hits, also without negative weights, one for each
kind of query. Each question is also used without its answers, and without all passages about its entity; each of these
counts `WITHOUT` as much, as people seldom ask for what a collection does not have. From self-made questions only, it
would learn that an answer has nearly all words of its question, and it would reject most of people's questions.
Questions that people asked and judged, or that were written, correct this where they are given.

Cost: one search per question, then seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.errors import DataError
from auscult.index.manifest import CURRENT
from auscult.ingest.building import build_index
from auscult.ingest.corpus import Judgement
from auscult.search.certainty import (
    CERTAINTY,
    FIRST,
    HELD,
    NO_BACKGROUND,
    Background,
    certain_evidence,
    shares_of_first,
)
from auscult.search.evidence import asked_and_held, best_sentences
from auscult.search.fusion import Fusion, sureness
from auscult.search.hits import EVIDENCE, SENTENCE
from auscult.search.searcher import Searcher
from auscult.telemetry import naming_extra
from auscult.understanding import Query
from auscult_lab.fitting.own_questions import OwnQuestion, own_questions

FITTED_ON: Final = 300
"""Documents of each collection that questions are made of and asked of: enough of each kind, and read in minutes."""
QUESTIONS: Final = 2_000
"""Asked of each index."""
HIDDEN: Final = ("question_label", "entity_title", "aspect_heading")
"""What titles and headings say."""
HIDING: Final = (0.5, 0.25, 0.25)
"""Of how many questions none of it is hidden, that of all passages, and that of passages about the entity alone."""
SHARE: Final = 0.3
"""Chosen among 0.2 to 0.4 on the 72 development questions and 200 training questions each of BioASQ and PubMedQA, with
the general encoder `fast`."""
PEOPLE: Final = 0.75
"""How much questions that people asked count for the probability, all together, beside self-made ones: with three sets
of them, beside three collections, each the same. With 0.6 the expected calibration error on each set that was left out
was larger by .005 to .05."""
WITHOUT: Final = 0.25
"""How much a question without its answers counts for the probability, beside the same question with them."""
_WHOLE: Final = np.isin(EVIDENCE, ("question_vector", "question_together"))
_FIRST, _OTHERS, _MOST_RELEVANT = 10, 30, 10
_PENALTY, _CERTAINTY_PENALTY = 1e-4, 1e-4
_PEOPLES_PENALTY = 3e-4
"""Of 1e-4, 3e-4 and 1e-3 the best on the 72 development questions, with `fast`."""
Keep = Literal["order", "pairs"]
_Array = npt.NDArray[np.float64]
Firsts = tuple[_Array, _Array, _Array]
"""First hits: features and a constant 1, (hits, features + 1); 1 for answers, -1 for others; how much each counts."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """A question's candidates.

    Attributes:
        evidence: Float32, (candidates, evidence).
        relevant: Whether each answers, (candidates,).
        related: Whether each is about the question's entity, (candidates,).
        in_words: Whether it is a question in words.
        coverage: How much of the question is in each (`search.certainty`), (candidates, 2).
        background: Background of the question over the collection.
        spread: What the evidence is divided by (`search.evidence`), (evidence,).
        sure: How surely entity and aspects of a question in words were read (`fusion.sureness`).
    """

    evidence: FloatArray
    relevant: npt.NDArray[np.bool_]
    related: npt.NDArray[np.bool_]
    in_words: bool
    coverage: FloatArray = field(default_factory=lambda: np.zeros((0, len(HELD)), np.float32))
    background: Background = NO_BACKGROUND
    spread: FloatArray = field(default_factory=lambda: np.ones(len(EVIDENCE), np.float32))
    sure: float = 0.0

    @property
    def undivided(self) -> FloatArray:
        """Return the evidence as it is before it is divided by its spread, (candidates, evidence)."""
        return self.evidence * self.spread


@dataclass(frozen=True, slots=True)
class Judged:
    """Documents, and people's questions with judged answers."""

    documents: Sequence[Document]
    queries: Sequence[Query]
    judgements: Sequence[Judgement]


def judged_questions(searcher: Searcher, judged: Judged) -> Iterator[OwnQuestion]:
    """Return the questions as a search understands them; documents with an answer are related."""
    reader = searcher.index.reader
    rows = {reader.passage_id(row): row for row in range(len(reader.passage_documents))}
    answers: dict[str, list[int]] = {}
    for each in judged.judgements:
        if each.relevance > 0 and each.passage_id in rows:
            answers.setdefault(each.query_id, []).append(rows[each.passage_id])
    for query in judged.queries:
        relevant = np.array(answers.get(query.query_id, ()), np.int64)
        related = np.flatnonzero(np.isin(reader.passage_documents, reader.passage_documents[relevant]))
        yield OwnQuestion(searcher.understand(Query("", "", text=query.text)).query, relevant, related)


def fit_indexes(
    searchers: Iterable[Searcher],
    questions: int = QUESTIONS,
    seed: int = 0,
    people: Iterable[tuple[Searcher, Judged]] = (),
    order: Fusion | None = None,
    keep: Keep = "order",
) -> Fusion:
    """Return weights fitted on questions made from the documents of one or more indexes (`own_questions`).

    Args:
        searchers: Searchers of the indexes; with several models, the weights suit all of them.
        questions: Number of questions per index.
        seed: Seed of all random draws.
        people: Indexes with people's questions about their documents.
        order: Weights whose order of hits to keep; None to fit all.
        keep: What to keep of `order`: the whole order, or only that for entity and aspects.
    """
    chance = np.random.default_rng(seed)
    own = ((searcher, question) for searcher in searchers for question in own_questions(searcher, questions, seed))
    self_made = [candidates(searcher, question, chance) for searcher, question in own]
    by_people = [
        [
            candidates(searcher, question, chance)
            for question in _draw_questions(judged_questions(searcher, judged), questions, chance)
        ]
        for searcher, judged in people
    ]
    return fit(self_made, by_people, order, keep)


def _draw_questions(questions: Iterable[OwnQuestion], most: int, chance: np.random.Generator) -> list[OwnQuestion]:
    """Return at most `most` questions, drawn at random, in their order."""
    every = [*questions]
    return [every[row] for row in np.sort(chance.permutation(len(every))[:most]).tolist()]


def candidates(
    searcher: Searcher, question: OwnQuestion, chance: np.random.Generator, *, hides: bool = True
) -> Candidates:
    """Take a question's candidates, and hide titles and headings from some questions.

    Evidence of sentences is computed for all of them; a search computes it for the first passages only.

    Args:
        searcher: An opened index.
        question: The question.
        chance: Draws the candidates, and what is hidden.
        hides: Whether titles and headings are hidden from some questions.
    """
    if hides:
        evidence, vector, _, background = partly_hidden(searcher, question, chance)
    else:
        vector, evidence, background = searcher.gather(question.query)
    # A search has it for the first passages by the present weights; candidates must not depend on these weights.
    evidence[:, SENTENCE] = 0
    eligible = np.ones(len(evidence), bool)
    eligible[searcher.index.reader.wordless] = False
    possible = np.flatnonzero(eligible)
    taken = [chance.permutation(question.relevant)[:_MOST_RELEVANT], chance.permutation(possible)[:_OTHERS]]
    # Those that a search finds first, because the probability compares these.
    taken.append(searcher.index.best(searcher.fusion.scores(question.query, evidence), FIRST)[0])
    unrelated = np.setdiff1d(possible, question.related)
    for column in evidence.T:
        # Also rank without its own documents: evidence that ranks these first needs others as candidates.
        for rows in (possible, unrelated):
            if column.any() and len(rows):
                first = np.argpartition(-column[rows], min(_FIRST, len(rows)) - 1)[:_FIRST]
                taken.append(rows[first])
    rows = np.unique(np.concatenate(taken))
    evidence[rows, SENTENCE] = best_sentences(searcher.index, question.query, vector, rows)
    return Candidates(
        evidence[rows],
        np.isin(rows, question.relevant),
        np.isin(rows, question.related),
        bool(question.query.text),
        asked_and_held(searcher.index, question.query, rows),
        background,
        background.spread if question.query.text else np.ones(len(EVIDENCE), np.float32),
        sureness(question.query),
    )


def partly_hidden(
    searcher: Searcher, question: OwnQuestion, chance: np.random.Generator
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64], Background]:
    """Return the evidence for all passages, some of it hidden, as a collection without titles and headings has it.

    Returns:
        The evidence, the query's vector, the passages with hidden titles and headings, and the background.
    """
    vector, evidence, background = searcher.gather(question.query)
    hidden_from = (np.arange(0), np.arange(len(evidence)), question.related)[int(chance.choice(3, p=HIDING))]
    for name in HIDDEN:
        evidence[hidden_from, EVIDENCE.index(name)] = 0
    return evidence, vector, hidden_from, background


def fit(
    questions: Iterable[Candidates],
    people: Sequence[Sequence[Candidates]] = (),
    order: Fusion | None = None,
    keep: Keep = "order",
) -> Fusion:
    """Return the best weights for candidates of questions of any collections.

    Args:
        questions: Self-made questions.
        people: People's questions of each collection.
        order: See `fit_indexes`.
        keep: See `fit_indexes`.

    Raises:
        DataError: There are no questions in words, or no others.
    """
    self_made = [*questions]
    if order is not None and keep == "order":
        parts, words = order.parts, order.words
    else:
        parts, words = _order(self_made, people)
        parts = parts if order is None else order.parts
    collections = (self_made, *people)
    usual = Background.usual([question.background for collection in collections for question in collection])
    shares = [1.0 - PEOPLE, *(PEOPLE / len(people) for _ in people)] if people else [1.0]
    # A certainty that is not yet fitted is not used: the order of hits is all that these weights are needed for.
    unfitted = np.zeros(len(CERTAINTY) + 1, np.float32)
    order = Fusion(parts, words, unfitted, unfitted, usual)
    in_words = [[question for question in collection if question.in_words] for collection in collections]
    firsts = [
        (_first_hits(questions, order), share) for questions, share in zip(in_words, shares, strict=True) if questions
    ]
    of_parts = _first_hits([question for question in self_made if not question.in_words], order)
    return Fusion(parts, words, fit_certainty(firsts), fit_certainty([(of_parts, 1.0)]), usual)


def _order(self_made: Sequence[Candidates], people: Sequence[Sequence[Candidates]]) -> tuple[FloatArray, FloatArray]:
    """Return the weights of both kinds of questions."""
    questions = _telling(self_made)
    kinds = {
        in_words: [question for question in questions if question.in_words is in_words] for in_words in (False, True)
    }
    if not all(kinds.values()):
        got = f"{len(questions)} of one kind"
        raise DataError("questions in words, and others by entity and aspect", got, "make more")
    collections = [telling for collection in people if (telling := _telling(collection))]
    parts = fit_order([kinds[False]])
    if collections:
        return parts, fit_order([kinds[True], *collections], penalty=_PEOPLES_PENALTY)
    words = fit_order([kinds[True]])
    return parts, np.where(_WHOLE, words, words * np.float32(SHARE))


def _telling(asked: Sequence[Candidates]) -> list[Candidates]:
    """Return the questions whose candidates include both answers and others."""
    return [each for each in asked if each.relevant.any() and not each.relevant.all()]


def fit_order(
    collections: Sequence[Sequence[Candidates]],
    given: int = 0,
    penalty: float = _PENALTY,
) -> FloatArray:
    """Return the weights of one kind of questions, (evidence - given,).

    Args:
        collections: Collections of questions, which all have the same weight.
        given: Number of first columns with fixed weight 1.
        penalty: Factor of the squared weights.
    """
    questions = [question for collection in collections for question in collection]
    sizes = [*map(len, collections)]
    shares = np.repeat([1 / size / len(collections) for size in sizes], sizes)
    evidence = np.concatenate([question.evidence for question in questions]).astype(np.float64)
    relevant = np.concatenate([question.relevant for question in questions])
    starts = np.cumsum([0, *(len(question.evidence) for question in questions[:-1])])
    lists = np.repeat(np.arange(len(questions)), np.diff([*starts, len(evidence)]))

    begun = evidence[:, :given].sum(axis=1)
    evidence = evidence[:, given:]

    def loss(weights: _Array) -> tuple[float, _Array]:
        scores = begun + evidence @ weights
        scores -= np.maximum.reduceat(scores, starts)[lists]
        odds = np.exp(scores)
        all_odds = np.add.reduceat(odds, starts)
        right_odds = np.maximum(np.add.reduceat(odds * relevant, starts), 1e-300)
        slope = (odds / all_odds[lists] - odds * relevant / right_odds[lists]) * shares[lists]
        return float(shares @ (np.log(all_odds) - np.log(right_odds))), slope @ evidence

    return _minimum(loss, evidence.shape[1], penalty).astype(np.float32)


def first_of(
    question: Candidates, order: Fusion
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], float]]:
    """Yield the first hit of a question: among all candidates, without its answers, and without all related ones.

    Yields:
        Its row, (1,), its `shares_of_first`, (1,), and how much it counts.
    """
    scores = question.evidence @ (order.mixed(question.sure) if question.in_words else order.parts)
    every = np.ones(len(scores), bool)
    for eligible, count in ((every, 1.0), (~question.relevant, WITHOUT), (~question.related, WITHOUT)):
        # Without answers, or related candidates, a pass would equal the first.
        if eligible.any() and (count == 1.0 or not eligible.all()):
            first = np.flatnonzero(eligible)[[np.argmax(scores[eligible])]]
            yield first, shares_of_first(scores[first], scores[eligible]), count


def _first_hits(questions: Sequence[Candidates], order: Fusion) -> Firsts:
    """Return the first hits of questions, with the features of the certainty."""
    firsts, right, counts = [], [], []
    for question in questions:
        background = question.background.with_usual(order.usual)
        for first, share, count in first_of(question, order):
            firsts += [*certain_evidence(question.undivided[first], question.coverage[first], share, background)]
            right += question.relevant[first].tolist()
            counts.append(count)
    return np.c_[np.array(firsts, np.float64), np.ones(len(firsts))], np.where(right, 1.0, -1.0), np.array(counts)


def fit_certainty(sets: Sequence[tuple[Firsts, float]]) -> FloatArray:
    """Return weights of the probability that a first hit answers, (features + 1,), from sets of hits with shares.

    None is negative but the constant's.
    """
    evidence = np.concatenate([hits for (hits, _, _), _ in sets])
    signs = np.concatenate([right for (_, right, _), _ in sets])
    counts = np.concatenate([share * each / each.sum() for (_, _, each), share in sets])

    def loss(weights: _Array) -> tuple[float, _Array]:
        margins = signs * (evidence @ weights)
        return float(counts @ np.logaddexp(0, -margins)), -(counts * signs * _sigmoid(-margins)) @ evidence

    return _minimum(loss, evidence.shape[1], _CERTAINTY_PENALTY, free=1).astype(np.float32)


def _sigmoid(values: _Array) -> _Array:
    # Avoid the exponential of a large number.
    found: _Array = np.exp(np.minimum(values, 0) - np.log1p(np.exp(-np.abs(values))))
    return found


def _minimum(loss: Callable[[_Array], tuple[float, _Array]], size: int, penalty: float, free: int = 0) -> _Array:
    """Minimise a loss, given with its gradient, plus a penalty on squares; the last `free` weights may be negative."""
    # Imported here because it takes a quarter of a second.
    with naming_extra("lab", "scipy"):
        from scipy.optimize import minimize

    def penalised(weights: _Array) -> tuple[float, _Array]:
        value, gradient = loss(weights)
        return value + penalty * float(weights @ weights), gradient + 2 * penalty * weights

    bounds = [(0.0, None)] * (size - free) + [(None, None)] * free
    found = minimize(penalised, np.zeros(size), jac=True, method="L-BFGS-B", bounds=bounds)
    weights: _Array = found.x
    return weights


def fit_collections(
    collections: Mapping[str, Sequence[Document]],
    encoder: DocumentEncoder,
    folder: Path,
    *,
    knowledge_base: KnowledgeBase | None = None,
    questions: int = QUESTIONS,
    seed: int = 0,
    people: Mapping[str, Judged] = MappingProxyType({}),
    order: Fusion | None = None,
    keep: Keep = "order",
) -> Fusion:
    """Return weights fitted on questions made from collections' titles and headings.

    Args:
        collections: By name, documents with titles and headings; preferably not the encoder's training documents.
        encoder: The encoder of the evidence.
        folder: Folder of an index per collection; those of an earlier fitting are used again.
        knowledge_base: Gives synonyms, and recognises entities in questions.
        questions: Number of questions per collection.
        seed: Seed of all random draws.
        people: By name, collections with people's questions.
        order: See `fit_indexes`.
        keep: See `fit_indexes`.
    """
    text_alone = encoder.reading_text_alone() if isinstance(encoder, GeneralEncoder) else encoder

    def opened(number: int, name: str, documents: Sequence[Document], reader: DocumentEncoder) -> Searcher:
        place = folder / f"{number:02d}"
        if not (place / CURRENT).is_file():
            build_index(documents, reader, place, knowledge_base=knowledge_base, corpus=name)
        return Searcher.open(place, encoder)

    searchers = (opened(number, *each, text_alone) for number, each in enumerate(collections.items()))
    judged_indexes = (
        (opened(len(collections) + number, name, judged.documents, encoder), judged)
        for number, (name, judged) in enumerate(people.items())
    )
    return fit_indexes(searchers, questions, seed, judged_indexes, order, keep)
