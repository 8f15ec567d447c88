"""Words without content of their own, words for people, and what a question says besides its entity and aspects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from typing import Final

from auscult.concepts.names import FUNCTION_WORDS, normalise_name
from auscult.documents.language_names import READ_BESIDE_ENGLISH
from auscult.documents.stop_words import stop_words
from auscult.understanding.query import Query

_ELIDED: Final = re.compile("^(?:[cdjlmnst]|qu)['\u2019]", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def _read_words(file: str) -> frozenset[str]:
    return frozenset(resources.files("auscult.understanding").joinpath(file).read_text("utf-8").split())


SAYING_NOTHING: Final = FUNCTION_WORDS | _read_words("asking_words.txt")
"""Normalised words like all but "gout" in "Can you tell me something about gout?"."""
PEOPLE: Final = _read_words("people.txt")
"""Normalised words for people in general: "child", "smoker", "older"."""


def unread_words(query: Query, names: Iterable[str] = ()) -> list[str]:
    """Return a question's words beyond its entity and aspects: "common men" for "Is gout more common in men?".

    Repeated words and words without content of their own ("how", "tell") are left out.

    Args:
        query: The understood query. Without a question in words the list is empty.
        names: Further names that the question has for its entities.
    """
    known = {word for name in (*query.all_names, *query.aspects, *names) for word in normalise_name(name).split()}
    words, language = _WORD.findall(query.text), query.language
    if language in READ_BESIDE_ENGLISH:
        # "d'insuline" is about "insuline".
        words = [_ELIDED.sub("", word) for word in words]
        words = [word for word in words if word.lower() not in stop_words(language) and len(word) > 1]
    candidates = (word for word in words if SAYING_NOTHING.isdisjoint((word.lower(), normalise_name(word))))
    return list(dict.fromkeys(word for word in candidates if not known.issuperset(normalise_name(word).split())))
