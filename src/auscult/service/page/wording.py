"""Figures in words: how probable an answer is, and why a passage is shown."""

from __future__ import annotations

from typing import Final

from auscult.index.words import analyse
from auscult.interfaces import Hit
from auscult.search.coverage import LIKELY
from auscult.search.evidence import question_terms
from auscult.search.fusion import DOUBTFUL
from auscult.understanding import Query

_PROBABLE: Final = ((0.9, "very likely answers"), (LIKELY, "likely answers"), (DOUBTFUL, "may answer"))
_LEAST: Final = 0.05
"""What a reason adds to a score so that it is named."""


def probability_in_words(probability: float | None) -> str:
    """How probable it is that a passage answers; empty where that is not known."""
    if probability is None:
        return ""
    return next((words for least, words in _PROBABLE if probability >= least), "probably does not answer")


def likelihood_class(probability: float | None) -> str:
    """The same for a style sheet: "sure", "likely", "maybe", "doubtful"."""
    if probability is None:
        return "maybe"
    names = ("sure", "likely", "maybe")
    found = (name for (least, _), name in zip(_PROBABLE, names, strict=True) if probability >= least)
    return next(found, "doubtful")


def reasons(hit: Hit, query: Query) -> list[str]:
    """Why a hit is shown, in a few words each: where it names the entity, whether it speaks of the aspect."""
    told = [_where_named(hit, query), _speaks_about(hit, query)]
    terms = list(dict.fromkeys(question_terms(query)))
    if query.text and len(terms) > 1:
        held = set(analyse(f"{hit.title} {hit.heading} {hit.text}"))
        told.append(f"your words: {sum(term in held for term in terms)} of {len(terms)}")
    return [each for each in told if each]


def _where_named(hit: Hit, query: Query) -> str:
    if not query.entity:
        return ""
    for place, text in (("in the title", hit.title), ("in the passage", f"{hit.heading} {hit.text}")):
        if name := _named(query.all_names, text):
            return f"names {name} {place}"
    if hit.evidence.get("entity_document", 0.0) > _LEAST:
        return f"words of {query.entity} elsewhere in the document"
    return f"does not name {query.entity}"


def _named(names: tuple[str, ...], text: str) -> str:
    held = f" {' '.join(analyse(text))} "
    for name in names:
        terms = analyse(name)
        if terms and f" {' '.join(terms)} " in held:
            return name
    return ""


def _speaks_about(hit: Hit, query: Query) -> str:
    headings = " ".join((*hit.above, hit.heading))
    under = [aspect for aspect in query.aspects if _named((aspect,), headings)]
    if under:
        return f"headed {' and '.join(under)}"
    if query.aspects and hit.evidence.get("aspect_vector", 0.0) > _LEAST:
        return f"speaks about {' and '.join(query.aspects)}"
    return ""
