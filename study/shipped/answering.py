"""Fit which sentence of a passage answers (`auscult.search.answering`), on the marked answers of written questions.

    loss of a question = log sum exp over the passage's sentences - log sum exp over those of the answer

The encoder has learned from the same questions, but not which sentence of a passage answers. So all questions are
learned from, but those about held-out documents. Collections count by the root of their number of questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from auscult.documents import Document
from auscult.search import Searcher
from auscult.search.answering import FEATURES, LAYERS, Answering
from auscult.understanding import Query
from study.shipped.written import is_held_out, read_questions, shares_most

INNER: Final = 12
EPOCHS, BATCH, LEARNING_RATE, DECAY = 6, 64, 5e-3, 1e-2
WITHOUT: Final = 0.15
"""Share of questions that are read without their aspect, or without their vector, as models without such a part are."""
_OF_PARTS: Final = tuple([*map(FEATURES.index, names)] for names in (("aspect",), ("question", "apart", "central")))
Layers = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question with the sentences of the passage it was written for.

    Attributes:
        collection: Name of the collection.
        features: Of each sentence, (sentences, features).
        answers: Whether each holds the answer, (sentences,).
        held_out: Whether it is not learned from.
    """

    collection: str
    features: npt.NDArray[np.float64]
    answers: npt.NDArray[np.bool_]
    held_out: bool


def read_lessons(searcher: Searcher, collection: str, documents: Sequence[Document], folder: Path) -> Iterator[Lesson]:
    """Yield the questions about some documents whose passage has several sentences.

    Args:
        searcher: Searcher of an index of the documents.
        collection: Name of the collection.
        documents: The documents.
        folder: Folder of the written questions.
    """
    by_id, reader = {document.doc_id: document for document in documents}, searcher.index.reader
    for question in read_questions(folder):
        if question.collection != collection or question.doc_id not in by_id:
            continue
        own = by_id[question.doc_id].passages[question.passage]
        spans = [(sentence.start - own.start, sentence.end - own.start) for sentence in own.sentences]
        answers = np.array([any(shares_most(*span, *answer) for answer in question.answers) for span in spans], bool)
        if answers.any() and not answers.all():
            query = searcher.understand(Query("", "", text=question.question)).query
            stored = reader.stored(reader.passages_of(reader.document_rows[question.doc_id])[question.passage])
            features = read_sentences(searcher, query).features(stored.passage, stored.text, stored.vectors)
            yield Lesson(collection, features, answers, is_held_out(question.doc_id))


def read_sentences(searcher: Searcher, query: Query) -> Answering:
    """Return what reads sentences for an understood question, as a search does."""
    return searcher.find(query, 1).answering


def fit_answering(lessons: Sequence[Lesson], seed: int) -> Layers:
    """Return the weights that make the answers of some questions likely, by name.

    Args:
        lessons: The questions, those that are held out left aside.
        seed: Of the first weights and of the order.
    """
    learned = [lesson for lesson in lessons if not lesson.held_out]
    every = np.concatenate([lesson.features for lesson in learned])
    mean, deviation = every.mean(axis=0), every.std(axis=0)
    counts = {name: sum(each.collection == name for each in learned) for name in {each.collection for each in learned}}
    shares = torch.tensor([(len(learned) / len(counts) / counts[each.collection]) ** 0.5 for each in learned])
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    direct = torch.nn.Linear(len(FEATURES), 1, bias=False)
    inner, outer = torch.nn.Linear(len(FEATURES), INNER), torch.nn.Linear(INNER, 1, bias=False)
    weights = [*direct.parameters(), *inner.parameters(), *outer.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=LEARNING_RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(learned) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    for _ in range(EPOCHS):
        order = chance.permutation(len(learned))
        for batch in np.split(order, range(BATCH, len(order), BATCH)):
            features, answers, owners = _join([learned[row] for row in batch.tolist()], chance)
            inputs = torch.tensor((features - mean) / deviation, dtype=torch.float32)
            odds = (direct(inputs) + outer(torch.tanh(inner(inputs))))[:, 0]
            losses = _log_sums(odds, owners, len(batch)) - _log_sums(
                odds.masked_fill(~answers, -1e9), owners, len(batch)
            )
            optimiser.zero_grad()
            (losses * shares[batch]).mean().backward()
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        named = {"direct": direct.weight[0], "inner": inner.weight, "bias": inner.bias, "outer": outer.weight[0]}
        found = {name: values.numpy().astype(np.float64) for name, values in named.items()}
    # The product's features are not standardised: what is subtracted and divided by goes into the weights.
    scaled = {**found, "direct": found["direct"] / deviation, "inner": found["inner"] / deviation}
    scaled["bias"] = found["bias"] - scaled["inner"] @ mean
    return {name: scaled[name] for name in LAYERS}


def _join(lessons: Sequence[Lesson], chance: np.random.Generator) -> tuple[npt.NDArray[np.float64], Any, Any]:
    """Return the sentences of some questions: features, whether they answer, and the number of their question."""
    features = []
    for lesson in lessons:
        own = lesson.features.copy()
        for part in _OF_PARTS:
            if chance.random() < WITHOUT:
                own[:, part] = 0
        features.append(own)
    owners = np.repeat(np.arange(len(lessons)), [len(lesson.answers) for lesson in lessons])
    answers = np.concatenate([lesson.answers for lesson in lessons])
    return np.concatenate(features), torch.from_numpy(answers), torch.from_numpy(owners)


def _log_sums(odds: Any, owners: Any, count: int) -> Any:
    """Return log sum exp of each question's sentences, (count,)."""
    most = torch.full((count,), -torch.inf).scatter_reduce(0, owners, odds.detach(), "amax")
    return most + torch.zeros(count).scatter_add(0, owners, torch.exp(odds - most[owners])).log()
