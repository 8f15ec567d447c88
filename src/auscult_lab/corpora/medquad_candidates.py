"""CDV's candidates for MedQuAD's test queries, drawn again (arnold2020 section 5.1, `PassageIndex`).

All passages of at least 10 characters of the test documents are ranked by BM25 (k1 = 1.2, b = 0.75) as Lucene
7 computes it: lengths rounded to the values that fit in one byte, weights times k1 + 1, ties by position in
the index. A query's pool begins with its relevant passages; then come the best passage, all passages of that
passage's document and the rest of the best 64, without repeats, until there are 64 in all. CDV did not
publish its pools; its analyser (ICU tokens, ICU folding) is approximated here by word-break rules on folded
text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

POOL = 64
SHORTEST = 10
_K1 = 1.2
_B = 0.75

_LETTER = r"[^\W\d_]"
# UAX 29: a full stop or apostrophe between letters, and a full stop or comma between digits, do not break a
# word.
_TOKEN = re.compile(rf"\w+(?:(?:(?<={_LETTER})[.'’](?={_LETTER})|(?<=\d)[.,](?=\d))\w+)*")
_BLANKED = str.maketrans("/-:", "   ")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of a query's pool; `bm25` is 0.0 where the search did not bring it."""

    passage_id: str
    relevance: int
    bm25: float


def tokens(text: str) -> list[str]:
    """Words, case-folded and without diacritics."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _TOKEN.findall("".join(c for c in decomposed if not unicodedata.combining(c)))


def rounded_length(length: int) -> int:
    """A length as Lucene's one-byte norm (`SmallFloat.intToByte4`) gives it back: exact up to 40."""
    exact = 24  # 255 less the code of the largest int, 231
    if length < exact:
        return length
    rest = length - exact
    shift = max(rest.bit_length() - 4, 0)
    return exact + (rest >> shift << shift)


class PassageSearch:
    """BM25 over a fixed list of passages.

    Args:
        passages: passage_id -> text, in index order.
    """

    def __init__(self, passages: Mapping[str, str]) -> None:
        self.passage_ids = tuple(passages)
        counts = [Counter(tokens(text)) for text in passages.values()]
        lengths = [counter.total() for counter in counts]
        mean = sum(lengths) / max(len(lengths), 1)
        norm = [_K1 * (1 - _B + _B * rounded_length(length) / mean) for length in lengths]
        postings: dict[str, tuple[list[int], list[float]]] = {}
        for row, counter in enumerate(counts):
            for word, count in counter.items():
                rows, weights = postings.setdefault(word, ([], []))
                rows.append(row)
                weights.append(count / (count + norm[row]))
        self._postings: dict[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]] = {}
        for word, (rows, weights) in postings.items():
            idf = np.log(1 + (len(counts) - len(rows) + 0.5) / (len(rows) + 0.5))
            self._postings[word] = np.array(rows, dtype=np.intp), (_K1 + 1) * idf * np.array(weights)

    def best(self, query: str, hits: int = POOL) -> dict[str, float]:
        """The best passages that share a word with the query, best first: passage_id -> score."""
        scores = np.zeros(len(self.passage_ids))
        # A word that the query repeats counts as often.
        for word in tokens(query):
            if word in self._postings:
                rows, weights = self._postings[word]
                scores[rows] += weights
        order = np.argsort(-scores, kind="stable")[:hits]
        return {self.passage_ids[row]: float(scores[row]) for row in order if scores[row] > 0}


def draw(
    entity: str,
    aspect_heading: str,
    relevant: Sequence[str],
    search: PassageSearch,
    siblings: Mapping[str, Sequence[str]],
) -> Iterator[Candidate]:
    """Draw one query's pool.

    Args:
        entity: The entity's name.
        aspect_heading: The aspect's longer name.
        relevant: Its relevant passages.
        search: Over the test passages.
        siblings: passage_id -> passages of the same document that are in the index, in order.

    Yields:
        At most 64 candidates, relevant ones first: their order must never be used.
    """
    found = search.best(f"{entity} {aspect_heading}".translate(_BLANKED))
    ranked = list(found)
    pool = dict.fromkeys((*relevant, *ranked[:1], *(siblings[ranked[0]] if ranked else ()), *ranked[1:]))
    for place, passage_id in enumerate(pool):
        if place >= max(POOL, len(relevant)):
            return
        yield Candidate(passage_id, int(place < len(relevant)), found.get(passage_id, 0.0))
