"""Detect the language of a text or a question with py3langid, a naive Bayes classifier over sequences of bytes.

    P(language | text) ∝ prior(language) · exp(s / sqrt(bytes))        s: log posterior of the library's model

The prior of the four languages that people ask this product in is 1, of others 0.1: without it, one short French
question in twenty was called Italian. No other module imports the library, and its global state is not touched. The
model is loaded on first use, which takes half a second and 50 MB; a sentence then takes 0.2 ms.

`benchmarks/language.py` measures the thresholds. With 13 of the languages, as many questions were right.
"""

from __future__ import annotations

import lzma
import re
from array import array
from functools import cache
from io import BytesIO
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from py3langid.langid import MODEL_DIR, LanguageIdentifier

from auscult.documents.analysis import ENGLISH_STOP_WORDS
from auscult.documents.language_names import ENGLISH, NAMES, READ_BESIDE_ENGLISH
from auscult.documents.stop_words import stop_words

SURE: Final = 0.7
"""Least probability of a language that is named."""
LONG_ENOUGH: Final = 100
"""Characters from which on a text may be read by other rules than English ones."""
SURELY: Final = 0.9
"""Least probability of another language as which a text is read."""
BEGINNING: Final = 400
"""Characters of a text that are read; more of it changes nothing."""
_PRIORS: Final = MappingProxyType({"en": 1.0, "fr": 1.0, "es": 1.0, "de": 1.0})
_OTHER: Final = 0.1
_MODEL: Final = "data/model.npz.xz"
_ENGLISH_ALONE: Final = frozenset(["that", "the", "their", "there", "these", "they", "this", "with"])
_FEWEST_ENGLISH, _LEAST_ENGLISH = 2, 0.1
_WORD: Final = re.compile(r"[^\W\d_]+")


class Language(NamedTuple):
    """A language, and how probable it is.

    Attributes:
        code: Its code of ISO 639-1, a key of `NAMES`.
        probability: Between 0 and 1.
    """

    code: str
    probability: float


@cache
def _identifier() -> LanguageIdentifier:
    """Return a classifier for the languages of `NAMES`.

    The library's own function unpacks the model into a file, which a process that reads files may not write.
    """
    with lzma.open(MODEL_DIR / _MODEL) as packed, np.load(BytesIO(packed.read()), allow_pickle=False) as model:
        classes = model["classes"].tolist()
        columns = [column for column, code in enumerate(classes) if code in NAMES]
        return LanguageIdentifier(
            np.ascontiguousarray(model["ptc"][:, columns]),
            model["pc"][columns],
            [classes[column] for column in columns],
            _machine_numbers(model["nextmove"]),
            model["out_feat"].tolist(),
            norm_probs=True,
            tk_row=_machine_numbers(model["nextmove_row"]),
        )


def _machine_numbers(numbers: npt.NDArray[np.unsignedinteger]) -> array[int]:
    """Return numbers as an array of the standard library, whose elements are read several times faster."""
    return array("H" if numbers.dtype == np.uint16 else "I", numbers.tobytes())


def likeliest_language(text: str) -> Language:
    """Return the language that the beginning of a text is most probably in, however little that says."""
    ranked = _identifier().rank(text[:BEGINNING])
    weighed = {code: probability * _PRIORS.get(code, _OTHER) for code, probability in ranked}
    best = max(weighed, key=weighed.__getitem__)
    return Language(best, weighed[best] / sum(weighed.values()))


def detect_language(text: str, least: float = SURE) -> str:
    """Return the code of the language of a text; empty where it is not sure.

    Args:
        text: The text; its beginning is read. The classifier is not loaded for one that is plainly in English.
        least: Least probability of the language.
    """
    if _is_plainly_english(text[:BEGINNING]):
        return ENGLISH
    code, probability = likeliest_language(text)
    return code if probability >= least else ""


def reading_language(text: str) -> str:
    """Return the code of the language by whose rules a text is read: its sentence ends, and the headings of a note.

    A short text, and one that is not surely in a language with rules of its own, is read as an English one. The
    classifier is not loaded for a text with more function words of English alone than of each of these languages alone.
    """
    if len(text) < LONG_ENOUGH or not _may_be_another(text[:BEGINNING]):
        return ENGLISH
    code = detect_language(text, SURELY)
    return code if code in READ_BESIDE_ENGLISH else ENGLISH


def _is_plainly_english(text: str) -> bool:
    """Return whether a text has words that only English has, and thrice as many English function words as others."""
    words = _WORD.findall(text.lower())
    english = sum(word in ENGLISH_STOP_WORDS for word in words)
    return (
        len(_ENGLISH_ALONE.intersection(words)) >= _FEWEST_ENGLISH
        and english >= _LEAST_ENGLISH * len(words)
        and all(3 * sum(word in _function_words(code) for word in words) <= english for code in READ_BESIDE_ENGLISH)
    )


def _may_be_another(text: str) -> bool:
    words = _WORD.findall(text.lower())
    return any(
        not sum(word in _english_beside(code) for word in words) > sum(word in _function_words(code) for word in words)
        for code in READ_BESIDE_ENGLISH
    )


@cache
def _function_words(language: str) -> frozenset[str]:
    """Return the function words of a language that are not English ones as well."""
    return stop_words(language) - ENGLISH_STOP_WORDS


@cache
def _english_beside(language: str) -> frozenset[str]:
    """Return the English function words that are not those of another language as well."""
    return ENGLISH_STOP_WORDS - stop_words(language)
