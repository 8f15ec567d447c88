"""Find the names that a misspelt name may stand for: a bigram index picks candidates, edit similarity ranks them.

Names are compared by their sound ("siroris" and "cirrhosis", "newmonia" and "pneumonia" become similar) and in both
word orders. A candidate is rejected if it differs in a number, a letter or a word of opposite meaning: "spastic
paraplegia 8" does not match "spastic paraplegia 11", nor "hypothyroidism" "hyperthyroidism". A word that occurs
in several names is assumed to be correct, so "bowel cancer" is not read as a misspelt "bone cancer".

Cost: one sparse count over the bigrams' postings and a few hundred edit similarities, a few milliseconds for
100,000 names. `distinct`, at the end, tells which similar names belong to different things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from auscult.concepts.names import GENERIC_WORDS, content_key

# Words that exclude each other, one group a line.
_CONTRASTS = tuple(
    frozenset(line.split())
    for line in """
        acute chronic subacute
        benign malignant
        dominant recessive
        adult juvenile infantile neonatal childhood
        left right
        primary secondary tertiary
        congenital acquired
        male female
        upper lower
        alpha beta gamma delta epsilon
        proximal distal
        anterior posterior
        internal external
        systemic localized
        bacterial viral fungal
        typical atypical
        mild moderate severe
        early late
        open closed
        simple complex
        large small
        dry wet
        central peripheral
        motor sensory
        arterial venous
        systolic diastolic
        ischemic hemorrhagic
        hot cold
    """.strip().splitlines()
)
_CONTRAST_OF = {word: number for number, group in enumerate(_CONTRASTS) for word in group}
_PREFIX_CONTRASTS = (("hypo", "hyper"), ("micro", "macro"), ("brady", "tachy"), ("mono", "poly"))


def designators(key: str) -> tuple[str, ...]:
    """Return the sorted numbers and letters that distinguish siblings: ("11",) for "spastic paraplegia type 11".

    They are all words with a digit and all single letters. Two names match only if theirs are equal.
    """
    return tuple(sorted(word for word in key.split() if len(word) == 1 or any(char.isdigit() for char in word)))


def contrasts(key: str) -> frozenset[tuple[int, str]]:
    """Return the (group, member) pairs of a key's words that exclude others, such as hypo/hyper or acute/chronic."""
    words = key.split()
    found = {(_CONTRAST_OF[word], word) for word in words if word in _CONTRAST_OF}
    for number, pair in enumerate(_PREFIX_CONTRASTS, start=len(_CONTRASTS)):
        found.update((number, prefix) for prefix in pair for word in words if word.startswith(prefix))
    return frozenset(found)


def contradict(first: frozenset[tuple[int, str]], second: frozenset[tuple[int, str]]) -> bool:
    """Return whether two sets of contrasts have a group in common, but no member of it."""
    groups = {group for group, _ in first} & {group for group, _ in second}
    return any(not {m for g, m in first if g == group} & {m for g, m in second if g == group} for group in groups)


# Spellings that sound alike, longest first; applied to lower-case ASCII words.
_SOUNDS = (
    ("eaux", "o"), ("ough", "of"), ("rrh", "r"), ("chr", "kr"), ("ohn", "on"), ("sch", "sk"), ("tch", "ch"),
    ("tion", "shn"), ("sion", "shn"), ("eigh", "ei"), ("ph", "f"), ("th", "t"), ("gh", "g"), ("rh", "r"),
    ("ck", "k"), ("sc", "s"), ("ce", "se"), ("ci", "si"), ("cy", "si"), ("qu", "k"), ("ks", "x"),
    ("xc", "x"), ("cz", "x"),
    ("y", "i"), ("z", "s"), ("c", "k"), ("w", "u"), ("ie", "e"), ("ei", "e"), ("ea", "e"), ("ee", "e"),
    ("oo", "u"), ("ou", "u"), ("j", "g"),
)  # fmt: skip
_SOUND_OF = dict(_SOUNDS)
_SOUND = re.compile("|".join(sorted(_SOUND_OF, key=len, reverse=True)))
_SILENT = re.compile(r"^(?:pn|ps|pt|kn|gn|mn)")
_DOUBLE = re.compile(r"([a-z])\1+")
# A word that occurs in so many names is not a misspelling.
_ESTABLISHED = 3
_ALPHABET = 37  # blank, a-z, 0-9
_CODES = np.full(128, 0, dtype=np.int64)
_CODES[ord("a") : ord("z") + 1] = np.arange(1, 27)
_CODES[ord("0") : ord("9") + 1] = np.arange(27, 37)

_VOWEL = re.compile("[aeiou]")

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


def edits(first: str, second: str) -> int:
    """Return how many letters have to be changed, removed, added or swapped to turn one word into the other."""
    return OSA.distance(first, second)


def nearest(word: str, others: Iterable[str], most: int, limit: int = 50) -> list[tuple[str, int]]:
    """Return words that are at most `most` edits away, with their number of edits, nearest first."""
    near = process.extract(word, list(others), scorer=OSA.distance, score_cutoff=most, limit=None)
    return [(other, distance) for distance, other in sorted((distance, other) for other, distance, _ in near)[:limit]]


def sound(key: str) -> str:
    """Return a rough English pronunciation of a normalised name, for comparison only."""
    return " ".join(map(_sound_of_word, key.split()))


@lru_cache(maxsize=100_000)
def _sound_of_word(word: str) -> str:
    text = _SILENT.sub(lambda match: match.group()[1], word)
    return _DOUBLE.sub(r"\1", _SOUND.sub(lambda match: _SOUND_OF[match.group()], text))


class FuzzyNames:
    """An index over normalised names.

    Args:
        keys: Distinct names, as `normalise_name` returns them.
        candidates: How many names with the most bigrams in common are compared in full.
    """

    def __init__(self, keys: Sequence[str], candidates: int = 400) -> None:
        self.keys = keys
        self._candidates = candidates
        self._sounds = [sound(content_key(key)) for key in keys]
        self._sizes = np.array([len(text) + 1 for text in self._sounds], dtype=np.float32)
        self._starts, self._postings = _build_postings(self._sounds)
        counts = Counter(word for key in keys for word in set(key.split()))
        self._vocabulary = {word for word, count in counts.items() if count >= _ESTABLISHED and len(word) > 2}

    def search(self, key: str, limit: int = 5, cutoff: float = 0.8) -> list[tuple[str, float]]:
        """Return names similar to `key`, best first, as (name, similarity); similarities lie in [cutoff, 1]."""
        spoken = sound(content_key(key))
        if len(spoken) < 3 or not self.keys:
            return []
        ids = self._find_nearest(spoken)
        scores = self._compare(key, spoken, ids)
        order = np.argsort(-scores, kind="stable")
        wanted, excluded = designators(key), contrasts(key)
        words = content_key(key).split()
        meant = [word for word in words if word in self._vocabulary and word not in GENERIC_WORDS]
        matches: list[tuple[str, float]] = []
        for position in order:
            if scores[position] < cutoff or len(matches) == limit:
                break
            name = self.keys[ids[position]]
            if designators(name) != wanted or contradict(excluded, contrasts(name)):
                continue
            if all(_has_word(word, name) for word in meant) and _words_agree(spoken, self._sounds[ids[position]]):
                matches.append((name, float(scores[position])))
        return matches

    def _compare(self, key: str, spoken: str, ids: IntArray) -> FloatArray:
        """Return each candidate's similarity: of sound (weight 0.6), of spelling (0.2) and of consonants (0.2)."""
        sounds = [self._sounds[i] for i in ids]
        alike = _measure_likeness(spoken, sounds)
        written = _measure_likeness(content_key(key), [self.keys[i] for i in ids])
        consonants = _measure_likeness(_VOWEL.sub("", spoken), [_VOWEL.sub("", text) for text in sounds])
        total: FloatArray = np.float32(0.6) * alike + np.float32(0.2) * written + np.float32(0.2) * consonants
        return total

    def _find_nearest(self, spoken: str) -> IntArray:
        """Return the ids of the names with the highest Dice overlap of bigrams."""
        codes = _CODES[np.frombuffer(f" {spoken} ".encode("ascii", "replace"), dtype=np.uint8)]
        grams = np.unique(codes[:-1] * _ALPHABET + codes[1:])
        pieces = [self._postings[self._starts[gram] : self._starts[gram + 1]] for gram in grams]
        shared = np.bincount(np.concatenate(pieces), minlength=len(self.keys))
        overlap = shared / (self._sizes + np.float32(len(spoken) + 1))
        count = min(self._candidates, len(self.keys))
        best = np.argpartition(-overlap, count - 1)[:count]
        return np.sort(best).astype(np.int64)


def _build_postings(texts: Sequence[str]) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """Return (offsets, ids): for each bigram, the ascending ids of the texts that contain it."""
    joined = "".join(f" {text} " for text in texts)
    lengths = np.array([len(text) + 2 for text in texts], dtype=np.int64)
    codes = _CODES[np.frombuffer(joined.encode("ascii", "replace"), dtype=np.uint8)]
    owners = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    inside = owners[:-1] == owners[1:]
    grams = (codes[:-1] * _ALPHABET + codes[1:])[inside]
    # One sort groups by bigram and drops a text's repeats; np.unique hashes first, at many times the cost.
    pairs = np.sort(grams * max(len(texts), 1) + owners[:-1][inside])
    pairs = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))] if len(pairs) else pairs
    starts = np.searchsorted(pairs, np.arange(_ALPHABET * _ALPHABET + 1) * max(len(texts), 1))
    return starts.astype(np.int64), (pairs % max(len(texts), 1)).astype(np.int32)


def _measure_likeness(query: str, names: list[str]) -> FloatArray:
    """Return the edit similarity to each name, as written or with the words of both sorted, whichever is higher."""
    similarity = OSA.normalized_similarity
    in_order = process.cdist([query], names, scorer=similarity, dtype=np.float32)[0]
    names_sorted = [_sort_words(name) for name in names]
    any_order = process.cdist([_sort_words(query)], names_sorted, scorer=similarity, dtype=np.float32)[0]
    best: FloatArray = np.maximum(in_order, np.float32(0.99) * any_order)
    return best


def _sort_words(text: str) -> str:
    return " ".join(sorted(text.split()))


def _has_word(word: str, name: str) -> bool:
    """Return whether a name contains a word, perhaps with another ending ("neurone") or inside a longer word."""
    return word in name or any(fuzz.ratio(word, other) >= 92 for other in name.split())


def _words_agree(first: str, second: str) -> bool:
    """Return whether every word of each side has a similar word on the other, or is part of a compound there."""
    for words, other in ((first.split(), second), (second.split(), first)):
        others = other.split()
        joined = other.replace(" ", "")
        for word in words:
            least = 70.0 if len(word) > 3 else 100.0
            if word not in joined and max((fuzz.ratio(word, o) for o in others), default=0) < least:
                return False
    return True
