"""How likely each sentence of a passage answers a query: a network of one small layer, learned from written answers.

    log odds = w · x + v · tanh(W x + b)        x: FEATURES of the sentence, (10,)

of a question in words; of a query by entity and aspects, for which no answers were written,

    log odds = PAIRS · s / (the best s)         s: a half of both cosines, and a quarter of the words' share

A sentence that answers resembles the question, but not as all of its passage does, and holds words of it that the
others lack. One that only names the subject answers nothing. The weights are in `answering.json`; a passage's log odds
compare with each other, not with those of another passage. They were fitted on the marked answers of written questions
(`benchmarks/fit_answering.py`), which also measures them on collections that were left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Passage
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.towers import unit
from auscult.files.json_text import parse_json
from auscult.index.words import analyser_for
from auscult.understanding.query import Query

FEATURES: Final = (
    "aspect", "question", "apart", "central", "words", "names", "alone", "heading", "length", "place",
)  # fmt: skip
"""What a sentence is read by.

aspect, question    cosine of that part of the query's vector and the sentence's
apart               cosine of the question and what the sentence differs by from its passage
central             product of the sentence's question part and the mean over its passage
words, names        share of the question's words that it holds: of all but the entity's names, and of these
alone               share of the question's words that no other sentence of the passage holds
heading             share of its words that the passage's heading holds
length              log of its letters, 500 at most
place               where it stands in its passage, from 0 to 1
"""
PAIRS: Final = 8.5
"""Log odds of the best sentence above one of score 0: one with .92 of the best score is half as likely. Chosen on
sections of NHS pages."""
FILE: Final = "answering.json"
_OF_PAIRS: Final = np.array([{"aspect": 0.5, "question": 0.5, "words": 0.25}.get(name, 0.0) for name in FEATURES])
"""Weight of each feature in the score of a sentence for a query by entity and aspects."""
LAYERS: Final = ("direct", "inner", "bias", "outer")
"""Names of w, (features,), W, (inner, features), b, (inner,), and v, (inner,), in the file."""
_SAYING_SOMETHING: Final = [*map(FEATURES.index, ("aspect", "question", "words", "names"))]
_LONG: Final = 500
_NOTHING: Final = 1e-6
_WORD: Final = re.compile(r"\w+")
_Array = npt.NDArray[np.float64]


@cache
def read_layers() -> Mapping[str, _Array]:
    """Return the weights by their names in `LAYERS`."""
    saved = parse_json((files("auscult.search") / FILE).read_text(encoding="utf-8"))
    return {name: np.array(saved[name], np.float64) for name in LAYERS}


def weigh(features: _Array, layers: Mapping[str, _Array]) -> _Array:
    """Return the log odds of sentences, (sentences,), from their features, (sentences, features)."""
    inner = np.tanh(features @ layers["inner"].T + layers["bias"])
    odds: _Array = features @ layers["direct"] + inner @ layers["outer"]
    return odds


class Answering:
    """Reads sentences for one query.

    Args:
        query: The query, understood.
        vector: Vector of the query, (dim,); a part that it does not fill is zero.
        parts: Columns of each part, as (first, one past the last); empty for a vector without parts.
        words: Share of each of the question's words, by idf; empty where vectors alone count.
    """

    def __init__(
        self, query: Query, vector: FloatArray, parts: Mapping[str, tuple[int, int]], words: Mapping[str, float]
    ) -> None:
        self._in_words = bool(query.text)
        analyse_asked = analyser_for(query.language)
        named = {term for name in query.all_names for term in analyse_asked(name)}
        self._words = {term: (0.0, share) if term in named else (share, 0.0) for term, share in words.items()}
        self._holding = analyse_asked.holding(words)
        # A model without parts places whole questions.
        parts = parts or {"question": (0, len(vector))}
        self._columns = {name: slice(*parts.get(name, (0, 0))) for name in ("aspect", "question")}
        self._asked = {name: unit(vector[None, columns])[0] for name, columns in self._columns.items()}

    def log_odds(self, passage: Passage, text: str, vectors: npt.NDArray[np.floating]) -> dict[int, float]:
        """Return the log odds of each sentence by its number, but for what is the same for all of the passage.

        Empty where no sentence of several resembles the query or holds a word of it.

        Args:
            passage: The passage, with its sentences.
            text: Text of the passage.
            vectors: Vectors of its sentences, (sentences, dim).
        """
        features = self.features(passage, text, vectors)
        if self._in_words:
            says, odds = features[:, _SAYING_SOMETHING].max(initial=0), weigh(features, read_layers())
        else:
            scores = features @ _OF_PAIRS
            says = scores.max(initial=0)
            odds = PAIRS * scores / max(float(says), _NOTHING)
        return {} if says <= 0 and len(features) > 1 else dict(enumerate(odds.tolist()))

    def features(self, passage: Passage, text: str, vectors: npt.NDArray[np.floating]) -> _Array:
        """Return the features of each sentence, (sentences, features); arguments are those of `log_odds`."""
        sentences = passage.sentences
        if not sentences:
            return np.zeros((0, len(FEATURES)))
        texts = [text[sentence.start - passage.start : sentence.end - passage.start] for sentence in sentences]
        question = unit(vectors[:, self._columns["question"]].astype(np.float32))
        mean = question.mean(axis=0)
        near, central = question @ self._asked["question"], question @ mean
        # What a unit vector differs by from the mean has this length, and this product with the question.
        apart = np.sqrt(np.maximum(1 - 2 * central + mean @ mean, _NOTHING))
        heading = _words_of(passage.heading)
        columns = {
            "aspect": unit(vectors[:, self._columns["aspect"]].astype(np.float32)) @ self._asked["aspect"],
            "question": near,
            "apart": (near - mean @ self._asked["question"]) / apart,
            "central": central,
            "heading": [_share_of(_words_of(each), heading) if heading else 0.0 for each in texts],
            "length": [math.log(min(len(each), _LONG)) for each in texts],
            "place": np.arange(len(sentences)) / len(sentences),
        }
        columns["words"], columns["names"], columns["alone"] = self._shares([*map(self._holding, texts)]).T
        return np.array([columns[name] for name in FEATURES]).T

    def _shares(self, held: Sequence[frozenset[str]]) -> _Array:
        """Return the shares of words, of names, and of what no other sentence holds, (sentences, 3)."""
        counts = Counter(chain.from_iterable(held))
        shares = np.zeros((len(held), 3))
        for row, terms in zip(shares, held, strict=True):
            for term in terms:
                of_words, of_names = self._words[term]
                row += of_words, of_names, (of_words + of_names) * (counts[term] == 1)
        return shares


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _share_of(words: frozenset[str], others: frozenset[str]) -> float:
    """Return the share of words that are among others."""
    return len(words & others) / max(len(words), 1)
