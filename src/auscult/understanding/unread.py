"""What a question says beyond its entity and aspects: "more common in men" of "Is gout more common in men?"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from auscult.concepts.function_words import FUNCTION_WORDS
from auscult.understanding import Query
from auscult.understanding.aspect_words import ASPECT_WORDS

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_ASKING: Final = frozenset(
    (*FUNCTION_WORDS, "how", "why", "when", "what", "which", "who", "whom", "whose", "where", "please", "tell", "know")
)


def unread_words(query: Query, asked: Iterable[str] = ()) -> list[str]:
    """Words of a question that name neither its entity nor an aspect, and say more than "the" and "how"; each once.

    Args:
        query: As it was understood. Without a question in words there are none.
        asked: What else its entities are called in it.
    """
    text = query.asked
    for words in ASPECT_WORDS:
        if words.aspect in query.aspects:
            text = words.pattern.sub(" ", text)
    named = (*query.all_names, *query.aspects, *asked)
    known = {word.lower() for name in named for word in _WORD.findall(name)}
    found = (word for word in _WORD.findall(text) if word.lower() not in known and word.lower() not in _ASKING)
    return list(dict.fromkeys(found))
