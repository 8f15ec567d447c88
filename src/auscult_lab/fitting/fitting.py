"""Fitting the weights of the evidence, and what they say of an answer's being right.

For each question some passages are taken as candidates: its answers, those that any one evidence puts first, and others
by chance. With scores s = w · evidence and answers R among candidates C, the weights are those that minimise

    mean over questions of  - log ( sum over R of exp(s) / sum over C of exp(s) )  +  λ |w|²,    w ≥ 0

one set for entity and aspects, one for questions in words. What questions were made of, titles and headings, would get
nearly all weight. So both are hidden from a quarter of the questions, as in a collection that has none, and for another
quarter those of passages about the entity, as where they stand under other words than were asked. An encoder that reads
them with the text reads the text alone here. Self-made questions
hold words of their answers all the same, and people's do less. Where people's questions are at hand, the weights of
questions in words are fitted on both, each collection of them counting as much as all self-made ones, and what was read
as entity and aspects gets none: a reading may be wrong, and the question's own words say all of it. Where there are
none, the weight of all but the question's vector is taken times `SHARE`. Words that stand together keep theirs: that a
passage holds all that was asked says the same whoever asks.

The probability (`search.certainty`) is a logistic regression on first hits, with no negative weight either. Each
question is asked of it twice, with its answers and with all passages about its entity taken out, so that half have no
answer, and some are about what there is not. Of self-made questions alone it would learn that an answer holds nearly
all words of its question, and call most of what people ask without an answer; questions that people asked and judged,
where there are some, tell it better.

Cost: a search a question, then seconds.
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
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.reranker import Reranker
from auscult.errors import DataError, naming_extra
from auscult.index.manifest import CURRENT
from auscult.interfaces import DocumentEncoder, FloatArray, Judgement
from auscult.search.build import build_index
from auscult.search.certainty import HELD, NO_BACKGROUND, Background, asked_and_held, certain_evidence
from auscult.search.evidence import EVIDENCE, SENTENCE, best_sentences
from auscult.search.fusion import Fusion
from auscult.search.reranking import kind, probabilities
from auscult.search.searcher import Searcher
from auscult.understanding import Query
from auscult_lab.fitting.own_questions import OwnQuestion, own_questions

FITTED_ON: Final = 300
"""Documents of each collection that questions are made of and asked of: enough of each kind, and read in minutes."""
QUESTIONS: Final = 2_000
"""Asked of each index."""
RERANKED: Final = 32
"""How many first hits a re-ranker's weights are fitted on."""
RERANKED_QUESTIONS: Final = 300
"""Asked of each index for these."""
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
_WHOLE: Final = np.isin(EVIDENCE, ("question_vector", "question_together"))
_FIRST, _OTHERS, _MOST_RELEVANT = 10, 30, 10
_PENALTY, _CERTAINTY_PENALTY = 1e-4, 1e-3
_PEOPLES_PENALTY = 3e-4
"""Of 1e-4, 3e-4 and 1e-3 the best on the 72 development questions, with `fast`."""
_READ: Final = tuple(row for row, name in enumerate(EVIDENCE) if not name.startswith("question_"))
"""What was read as entity and aspects, which has no weight of its own in a question in words: what a title says of it
counts all the same (`fusion.TITLED`, `fusion.READ`). Without it the development questions gain 0.7 points of nDCG@10
and 2.8 of P@1, with `fast`."""
Keep = Literal["order", "pairs"]
_Array = npt.NDArray[np.float64]
_Firsts = tuple[_Array, _Array]


@dataclass(frozen=True, slots=True)
class Candidates:
    """A question's candidates.

    Attributes:
        evidence: Float32, (candidates, evidence).
        relevant: Which answer, (candidates,).
        related: Which are about the question's entity, (candidates,).
        in_words: Whether it is a question in words.
        held: What of the question stands in each (`search.certainty`), (candidates, 2).
        background: Of the question over the collection.
    """

    evidence: FloatArray
    relevant: npt.NDArray[np.bool_]
    related: npt.NDArray[np.bool_]
    in_words: bool
    held: FloatArray = field(default_factory=lambda: np.zeros((0, len(HELD)), np.float32))
    background: Background = NO_BACKGROUND


@dataclass(frozen=True, slots=True)
class Judged:
    """Documents with questions that people asked, and what they judged to answer."""

    documents: Sequence[Document]
    queries: Sequence[Query]
    judgements: Sequence[Judgement]


def judged_questions(searcher: Searcher, judged: Judged) -> Iterator[OwnQuestion]:
    """The questions as a search understands them; related are the documents in which an answer is."""
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
    """The weights for questions made of the documents of one or more indexes (`own_questions`).

    Args:
        searchers: Opened; with several models, weights that suit all of them.
        questions: Of each.
        seed: Of all chance.
        people: Indexes with questions that were asked of their documents.
        order: Whose order of hits to keep; None fits all.
        keep: Of it, the whole order, or that of pairs of entity and aspects alone.
    """
    chance = np.random.default_rng(seed)
    own = ((each, question) for each in searchers for question in own_questions(each, questions, seed))
    told = [candidates(each, question, chance) for each, question in own]
    asked = [
        [candidates(each, question, chance) for question in _some(judged_questions(each, judged), questions, chance)]
        for each, judged in people
    ]
    return fit(told, asked, order, keep)


def _some(questions: Iterable[OwnQuestion], most: int, chance: np.random.Generator) -> list[OwnQuestion]:
    """Return at most so many questions, by chance."""
    every = [*questions]
    return [every[row] for row in np.sort(chance.permutation(len(every))[:most]).tolist()]


def candidates(searcher: Searcher, question: OwnQuestion, chance: np.random.Generator) -> Candidates:
    """Take a question's candidates, and hide titles and headings from some questions.

    Sentences are looked at in all of them, where a search looks at those of the first passages alone.
    """
    evidence, vector, _ = partly_hidden(searcher, question, chance)
    # Those that the present weights put first have it: candidates must not depend on these.
    evidence[:, SENTENCE] = 0
    background = Background.of(evidence[searcher.sample])
    eligible = np.ones(len(evidence), bool)
    eligible[searcher.index.reader.wordless] = False
    possible = np.flatnonzero(eligible)
    taken = [chance.permutation(question.relevant)[:_MOST_RELEVANT], chance.permutation(possible)[:_OTHERS]]
    unrelated = np.setdiff1d(possible, question.related)
    for column in evidence.T:
        # Without its own documents, too: an evidence that puts these first must still meet others.
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
    )


def partly_hidden(
    searcher: Searcher, question: OwnQuestion, chance: np.random.Generator
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]:
    """The evidence for all passages, the query's vector, and from which passages titles and headings were hidden."""
    vector, evidence = searcher.gather(question.query)
    hidden_from = (np.arange(0), np.arange(len(evidence)), question.related)[int(chance.choice(3, p=HIDING))]
    for name in HIDDEN:
        evidence[hidden_from, EVIDENCE.index(name)] = 0
    return evidence, vector, hidden_from


def fit(
    questions: Iterable[Candidates],
    people: Sequence[Sequence[Candidates]] = (),
    order: Fusion | None = None,
    keep: Keep = "order",
) -> Fusion:
    """Return the best weights for candidates of questions of any collections.

    Args:
        questions: Self-made.
        people: Asked by people, those of each collection.
        order: As `fit_indexes` takes it.
        keep: The same.

    Raises:
        DataError: There is no question in words, or no other one.
    """
    told = [*questions]
    if order is not None and keep == "order":
        parts, words = order.parts, order.words
    else:
        parts, words = _order(told, people)
        parts = parts if order is None else order.parts
    usual = Background.usual([each.background for asked in (told, *people) for each in asked])
    shares = [1.0 - PEOPLE, *(PEOPLE / len(people) for _ in people)] if people else [1.0]
    firsts = [
        (_first_hits([(each, words if each.in_words else parts) for each in asked], usual), share)
        for asked, share in zip((told, *people), shares, strict=True)
        if asked
    ]
    return Fusion(parts, words, _certainty(firsts), usual)


def _order(told: Sequence[Candidates], people: Sequence[Sequence[Candidates]]) -> tuple[FloatArray, FloatArray]:
    """Return the weights of both kinds of questions."""
    asked = _telling(told)
    kinds = {in_words: [each for each in asked if each.in_words is in_words] for in_words in (False, True)}
    if not all(kinds.values()):
        got = f"{len(asked)} of one kind"
        raise DataError("questions in words, and others by entity and aspect", got, "make more")
    collections = [some for each in people if (some := _telling(each))]
    parts = _ranking([kinds[False]])
    if collections:
        return parts, _ranking([kinds[True], *collections], penalty=_PEOPLES_PENALTY, without=_READ)
    words = _ranking([kinds[True]])
    return parts, np.where(_WHOLE, words, words * np.float32(SHARE))


def _telling(asked: Sequence[Candidates]) -> list[Candidates]:
    """Return the questions whose candidates hold both answers and others."""
    return [each for each in asked if each.relevant.any() and not each.relevant.all()]


def fit_reranker(
    searchers: Iterable[Searcher], reranker: Reranker, questions: int = RERANKED_QUESTIONS, seed: int = 0
) -> dict[str, float]:
    """How much what a re-ranker says counts beside the fused scores, by the kind of query (`reranking.kind`).

    Titles and headings are hidden from it where they are hidden from the evidence.

    Args:
        searchers: Opened, with an encoder whose evidence it is to stand beside.
        reranker: Reads the first hits.
        questions: Of each index.
        seed: Of all chance.
    """
    chance = np.random.default_rng(seed)
    asked: dict[str, list[Candidates]] = {}
    for searcher in searchers:
        for question in own_questions(searcher, questions, seed):
            evidence, _, hidden = partly_hidden(searcher, question, chance)
            scores = searcher.fusion.scores(question.query, evidence)
            rows, _ = searcher.index.best(scores, RERANKED)
            read = probabilities(reranker, searcher.index.reader, question.query, rows.tolist(), set(hidden.tolist()))
            relevant = np.isin(rows, question.relevant)
            if relevant.any() and not relevant.all():
                both = np.stack([scores[rows], read], axis=1).astype(np.float32)
                found = Candidates(both, relevant, relevant, bool(question.query.entity))
                asked.setdefault(kind(question.query), []).append(found)
    # Self-made questions in words repeat their passage here, too.
    shares = {"words": SHARE}
    return {name: round(shares.get(name, 1.0) * float(_ranking([some], given=1)[0]), 4) for name, some in asked.items()}


def _ranking(
    collections: Sequence[Sequence[Candidates]],
    given: int = 0,
    penalty: float = _PENALTY,
    without: Sequence[int] = (),
) -> FloatArray:
    """Return the weights of one kind of questions, (evidence - given,).

    Args:
        collections: Of questions, each counting the same.
        given: So many of the first columns count 1.
        penalty: On squared weights.
        without: Evidence that gets no weight.
    """
    asked = [each for collection in collections for each in collection]
    shares = np.repeat([1 / len(each) / len(collections) for each in collections], [*map(len, collections)])
    evidence = np.concatenate([each.evidence for each in asked]).astype(np.float64)
    relevant = np.concatenate([each.relevant for each in asked])
    starts = np.cumsum([0, *(len(each.evidence) for each in asked[:-1])])
    lists = np.repeat(np.arange(len(asked)), np.diff([*starts, len(evidence)]))

    evidence[:, [*without]] = 0
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

    weights = _minimum(loss, evidence.shape[1], penalty)
    weights[[*without]] = 0
    return weights.astype(np.float32)


def _first_hits(asked: Sequence[tuple[Candidates, FloatArray]], usual: Background) -> _Firsts:
    """Return features of first hits and a constant 1, (hits, certainty + 1); and 1 for right ones, -1 for others."""
    firsts, right = [], []
    for each, weights in asked:
        scores = each.evidence @ weights
        told = certain_evidence(each.evidence, each.held, each.background.with_usual(usual))
        # Without anything related, a second time would be the first again.
        for shown in (np.ones(len(scores), bool), ~each.related)[: 1 + each.related.any()]:
            if shown.any():
                first = np.flatnonzero(shown)[np.argmax(scores[shown])]
                firsts.append(told[first])
                right.append(each.relevant[first])
    return np.c_[np.array(firsts, np.float64), np.ones(len(firsts))], np.where(right, 1.0, -1.0)


def _certainty(told: Sequence[tuple[_Firsts, float]]) -> FloatArray:
    """Weights of the probability that the first hit answers, (certainty + 1,); of each set of hits with its share."""
    evidence = np.concatenate([hits for (hits, _), _ in told])
    signs = np.concatenate([right for (_, right), _ in told])
    counts = np.concatenate([np.full(len(right), share / len(right)) for (_, right), share in told])

    def loss(weights: _Array) -> tuple[float, _Array]:
        margins = signs * (evidence @ weights)
        return float(counts @ np.logaddexp(0, -margins)), -(counts * signs * _sigmoid(-margins)) @ evidence

    return _minimum(loss, evidence.shape[1], _CERTAINTY_PENALTY, free=1).astype(np.float32)


def _sigmoid(values: _Array) -> _Array:
    # Never the exponential of a large number.
    found: _Array = np.exp(np.minimum(values, 0) - np.log1p(np.exp(-np.abs(values))))
    return found


def _minimum(loss: Callable[[_Array], tuple[float, _Array]], size: int, penalty: float, free: int = 0) -> _Array:
    """Where a loss, given with its gradient, plus a penalty on squares is least; the `free` last may be negative."""
    # Only here: it takes a quarter of a second to import.
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
    """Return the weights for questions made of collections' own titles and headings.

    Args:
        collections: By name: documents with titles and headings, as far as possible some that the encoder was not
            trained on.
        encoder: Whose evidence is weighed.
        folder: Where an index of each is built, or found from an earlier fitting.
        knowledge_base: Names things by synonyms, and reads questions.
        questions: Of each collection.
        seed: Of all chance.
        people: By name: collections of which people asked something.
        order: As `fit_indexes` takes it.
        keep: The same.
    """
    text_alone = encoder.reading_text_alone() if isinstance(encoder, GeneralEncoder) else encoder

    def opened(number: int, name: str, documents: Sequence[Document], reader: DocumentEncoder) -> Searcher:
        place = folder / f"{number:02d}"
        if not (place / CURRENT).is_file():
            build_index(documents, reader, place, knowledge_base=knowledge_base, corpus=name)
        return Searcher.open(place, encoder)

    searchers = (opened(number, *each, text_alone) for number, each in enumerate(collections.items()))
    asked = (
        (opened(len(collections) + number, name, judged.documents, encoder), judged)
        for number, (name, judged) in enumerate(people.items())
    )
    return fit_indexes(searchers, questions, seed, asked, order, keep)
