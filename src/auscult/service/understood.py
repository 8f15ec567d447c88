"""How a question was understood, in the words of the API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from auscult.concepts import Match
from auscult.models.analysis import FUNCTION_WORDS
from auscult.queries.aspect_words import ASPECT_WORDS
from auscult.search import Understanding
from auscult.service import models

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_ASKING: Final = frozenset(
    (*FUNCTION_WORDS, "how", "why", "when", "what", "which", "who", "whom", "whose", "where", "please", "tell", "know")
)


def told(understanding: Understanding) -> models.Understood:
    """An understanding as it is answered."""
    return models.Understood(
        entity=understanding.query.entity,
        entities=[
            models.UnderstoodEntity(
                asked=each.asked, concept=concept(each.match) if each.match else None, names=list(each.names)
            )
            for each in understanding.entities
        ],
        alternatives=[concept(each) for each in understanding.alternatives],
        aspects=list(understanding.query.aspects),
        aspects_read=understanding.aspects_read,
        corrections=[models.Correction(written=written, read=read) for written, read in understanding.corrections],
        unread=list(dict.fromkeys(unread(understanding))),
        note=understanding.note,
    )


def concept(match: Match) -> models.Concept:
    """A concept as it was found."""
    return models.Concept(
        code=match.concept.concept_id,
        name=match.concept.name,
        matched=match.matched_name,
        how=match.kind,
        score=match.score,
    )


def unread(understanding: Understanding) -> Iterator[str]:
    """Words of a question that name neither its entity nor an aspect, and say more than "the" and "how"."""
    text = understanding.query.text
    for words in ASPECT_WORDS:
        if words.aspect in understanding.query.aspects:
            text = words.pattern.sub(" ", text)
    named = (understanding.asked, *(each.asked for each in understanding.entities), *understanding.query.aspects)
    known = {word.lower() for name in named for word in _WORD.findall(name)}
    for word in _WORD.findall(text):
        if word.lower() not in known and word.lower() not in _ASKING:
            yield word
