"""Choose the pieces of multilingual-e5-small's vocabulary that texts on health in four languages need.

The vocabulary has 250,002 pieces for a hundred languages, and a row of 384 numbers each: 96 MB of the model's 118 MB in
8 bits. Kept is a piece that

    occurs 6 times in health texts that may be trained on (English, French and Spanish), or
    occurs 6 times in names of diseases, symptoms and findings (English and Spanish), or
    is 2 millionths of the running words of a language, in lower case or with a capital (wordfreq, speer2022), or
    is a single character,

if its letters are Latin or Greek. What a left-out piece stood for is read as several shorter ones. German has no health
texts that may be trained on: its pieces come from the words of the language.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.telemetry import naming_extra

LANGUAGES: Final = ("en", "fr", "es", "de")
OFTEN_IN_TEXTS: Final = 6
OFTEN_IN_NAMES: Final = 6
SHARE_OF_WORDS: Final = 2e-6
_MOST_WORDS: Final = 200_000
_AT_ONCE: Final = 2_000
_SPACE: Final = "▁"
_SCRIPTS: Final = ("LATIN", "GREEK", "FEMININE ORDINAL", "MASCULINE ORDINAL", "MICRO")
Counts = npt.NDArray[np.float64]


def count_pieces(tokenizer: Any, texts: Iterable[str]) -> Counts:
    """Return how often each piece occurs in texts, (pieces,)."""
    counts = np.zeros(tokenizer.get_vocab_size())
    source = iter(texts)
    while some := list(islice(source, _AT_ONCE)):
        for encoding in tokenizer.encode_batch_fast(some, add_special_tokens=False):
            np.add.at(counts, encoding.ids, 1)
    return counts


def count_in_words(tokenizer: Any, shares: Mapping[str, float]) -> Counts:
    """Return how often each piece occurs for a running word of a language, (pieces,).

    Args:
        tokenizer: The tokenizer.
        shares: The share of each word, in lower case. It is read in lower case and with a capital.
    """
    counts = np.zeros(tokenizer.get_vocab_size())
    forms = [(form, share) for word, share in shares.items() for form in {word, word.capitalize()}]
    for first in range(0, len(forms), _AT_ONCE):
        some = forms[first : first + _AT_ONCE]
        encodings = tokenizer.encode_batch_fast([form for form, _ in some], add_special_tokens=False)
        for encoding, (_, share) in zip(encodings, some, strict=True):
            np.add.at(counts, encoding.ids, share)
    return counts


def word_shares(language: str) -> dict[str, float]:
    """Return the share of the commonest words of a language, in lower case.

    Raises:
        MissingExtraError: The package `wordfreq` is not installed.
    """
    with naming_extra("benchmarks", "wordfreq"):
        from wordfreq import top_n_list, word_frequency
    return {word: word_frequency(word, language) for word in top_n_list(language, _MOST_WORDS)}


def kept_pieces(
    pieces: Sequence[str],
    special: Iterable[int],
    *,
    in_texts: Counts,
    in_names: Counts,
    in_words: Iterable[Counts],
) -> list[int]:
    """Return the numbers of the pieces to keep, in order.

    Args:
        pieces: All pieces, by number.
        special: Numbers of pieces to keep in any case.
        in_texts: How often each occurs in health texts.
        in_names: How often each occurs in names.
        in_words: How often each occurs for a running word, by language.
    """
    wanted = (in_texts >= OFTEN_IN_TEXTS) | (in_names >= OFTEN_IN_NAMES)
    for counts in in_words:
        wanted |= counts >= SHARE_OF_WORDS
    wanted |= np.array([len(piece.removeprefix(_SPACE)) <= 1 for piece in pieces])
    wanted &= np.array([_is_readable(piece) for piece in pieces])
    wanted[[*special]] = True
    return np.flatnonzero(wanted).tolist()


def _is_readable(piece: str) -> bool:
    """Return whether all letters of a piece are Latin or Greek."""
    return all(not letter.isalpha() or unicodedata.name(letter, "").startswith(_SCRIPTS) for letter in piece)


def reading_of(whole: Any, kept: Any, texts: Sequence[str], unknown: int) -> dict[str, float]:
    """Return how texts are read with all pieces, and with those that are kept.

    Args:
        whole: Tokenizer with all pieces.
        kept: Tokenizer with some.
        texts: The texts.
        unknown: Number that the second one gives to what it does not know.

    Returns:
        Pieces a word with each, the share of unknown ones with the second, and that of texts read as the same pieces.
    """
    before, after = (each.encode_batch_fast([*texts], add_special_tokens=False) for each in (whole, kept))
    words = sum(len(text.split()) for text in texts)
    counts = [sum(len(each.ids) for each in encodings) for encodings in (before, after)]
    return {
        "pieces_a_word_of_all": counts[0] / words,
        "pieces_a_word": counts[1] / words,
        "unknown": sum(each.ids.count(unknown) for each in after) / counts[1],
        "read_alike": float(np.mean([a.tokens == b.tokens for a, b in zip(before, after, strict=True)])),
    }
