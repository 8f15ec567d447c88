"""How a question was understood, in the words of the API."""

from __future__ import annotations

from auscult.concepts import Match
from auscult.service import models
from auscult.understanding.query import unread_words
from auscult.understanding.understand import Understanding


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
        unread=unread(understanding),
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


def unread(understanding: Understanding) -> list[str]:
    """Words of a question that name neither its entity nor an aspect."""
    return unread_words(understanding.query, (understanding.asked, *(each.asked for each in understanding.entities)))
