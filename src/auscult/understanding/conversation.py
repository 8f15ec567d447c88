"""Questions that follow others: "and in children?", "what about its treatment?", "and asthma?".

What a question lacks is taken from the last one that had an entity:

- its entity, where the parser finds nothing that may be a name, and the question says little else: one with many words
  that are neither name nor aspect stands by itself, if it has no pronoun ("does it hurt?");
- its aspects, where the question asks for none and has no verb of its own ("can I drive?" and "what is asthma?" ask
  something; "and asthma?" and "in older people?" do not).

A question that asks for nothing of its own and names people ("and smokers?"), or that is put as one that follows and
names nothing that the knowledge base or the collection knows ("and grapefruit?"), keeps entity and aspects of the one
before, and adds its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources
from typing import Final

from auscult.concepts.aspects import INFORMATION
from auscult.concepts.names import normalise_name
from auscult.understanding.asking import gist
from auscult.understanding.query import Query, unread_words
from auscult.understanding.understand import Understanding

MOST_EARLIER: Final = 20
"""Earlier questions of a conversation that are read."""
# The auxiliary verbs of English, and verbs that ask for something to be told.
_VERBS: Final = frozenset(
    {
        "am", "are", "be", "been", "can", "could", "describe", "did", "do", "does", "explain", "give", "had", "has",
        "have", "is", "know", "list", "may", "mean", "might", "must", "shall", "should", "show", "tell", "understand",
        "was", "were", "will", "would",
    }
)  # fmt: skip
_REFERS: Final = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those)\b", re.IGNORECASE)
_FOLLOWS: Final = re.compile(
    r"\W*(?:and|but|or|also|(?:what|how) (?:about|if)|after|at|before|during|for|if|in|on|with|without)\b",
    re.IGNORECASE,
)
_MOST_UNREAD: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
_PEOPLE: Final = frozenset(resources.files("auscult.understanding").joinpath("people.txt").read_text("utf-8").split())


def understand_next(
    query: Query, earlier: Sequence[str], understand: Callable[[Query], Understanding]
) -> Understanding:
    """Return how a query is understood behind earlier questions, with what was taken from these.

    Args:
        query: What is asked now; its own parts win.
        earlier: Questions in words, the first one first; the last 20 are read.
        understand: Understands a query by itself.

    Raises:
        QueryError: An identifier is unknown.
    """
    before: Understanding | None = None
    for text in filter(str.strip, earlier[-MOST_EARLIER:]):
        told = _completed(Query("", "", text=text.strip()), before, understand)
        if told.query.entity:
            before = told
    return _completed(query, before, understand)


def _completed(
    query: Query, before: Understanding | None, understand: Callable[[Query], Understanding]
) -> Understanding:
    told = understand(query)
    if before is None:
        return told
    has_verb = not _VERBS.isdisjoint(_WORD.findall(query.text.lower()))
    says = len(unread_words(told.query))
    asked = told.query.aspects
    lacks = asked in ((), (INFORMATION,)) and not (query.aspects or has_verb or says > _MOST_UNREAD)
    is_known = bool(query.entity) or not lacks or _names_another(told)
    is_named = (bool(told.query.entity) and is_known) or (says > _MOST_UNREAD and not _REFERS.search(query.text))
    aspects = before.query.aspects if lacks else ()
    if is_named and not aspects:
        return told
    about = told.query if is_named else before.query
    # Models read the question's words: with what was taken, they are a whole question.
    words = ("" if is_named else about.entity, *aspects, told.query.text)
    text = " ".join(filter(None, words)) if query.text.strip() else ""
    return replace(
        told,
        query=replace(
            about, query_id=query.query_id, aspects=aspects or asked, text=text, gist=gist(text, about.entity)
        ),
        aspects_read=told.aspects_read and not aspects,
        entities=told.entities if is_named else before.entities,
        taken_entity="" if is_named else about.entity,
        taken_aspects=aspects,
    )


def _names_another(told: Understanding) -> bool:
    """Whether a question that asks for nothing of its own names what it asks of, and not people or words to add."""
    if all(normalise_name(each.asked.split()[-1]) in _PEOPLE for each in told.entities):
        return False
    is_known = any(each.match is not None or each.title for each in told.entities)
    return is_known or _FOLLOWS.match(told.query.text) is None
