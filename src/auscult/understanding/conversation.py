"""Understand follow-up questions: "and in children?", "what about its treatment?", "and asthma?".

A question takes what it lacks from the last earlier question that had an entity:

- the entity, if the parser finds nothing that may be a name and the question has few other words. A question without
  a pronoun ("does it hurt?" has one) and with many words that are neither name nor aspect is complete by itself;
- the aspects, if the model reads none in its words and it has no verb of its own. "Can I drive?" and "what is
  asthma?" ask for something themselves; "and asthma?" and "in older people?" do not.

A question keeps the entity and aspects of the earlier one, and adds its words, if it asks for nothing of its own and
either names people ("and smokers?"), or begins as a follow-up ("and grapefruit?") without a name that the knowledge
base or the collection knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from auscult.concepts.aspects import INFORMATION
from auscult.concepts.names import normalise_name
from auscult.understanding.query import Query
from auscult.understanding.saying import PEOPLE, unread_words
from auscult.understanding.understand import Understanding

MOST_EARLIER: Final = 20
"""How many earlier questions of a conversation are read at most."""
MOST_WORDS: Final = 200
"""How many words they have together at most. The last one is read in any case."""
# The auxiliary verbs of English, and verbs that request an answer ("explain").
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
_ASKS: Final = 0.4
_WORD: Final = re.compile(r"[^\W_]+")


def understand_next(
    query: Query, earlier: Sequence[str], understand: Callable[[Query], Understanding]
) -> Understanding:
    """Understand a query that follows earlier questions, and note what was taken from them.

    Args:
        query: The current query; its own entity and aspects take precedence.
        earlier: The earlier questions, oldest first. The last 20 are read, and fewer if they are long.
        understand: Function that understands a single query.

    Raises:
        QueryError: An identifier is unknown.
    """
    before: Understanding | None = None
    for text in _choose_last(earlier):
        understanding = _complete(Query("", "", text=text.strip()), before, understand)
        if understanding.query.entity:
            before = understanding
    return _complete(query, before, understand)


def _choose_last(earlier: Sequence[str]) -> list[str]:
    """Return the last questions, oldest first, up to a number of questions and of words."""
    read: list[str] = []
    words = 0
    for text in filter(str.strip, reversed(earlier[-MOST_EARLIER:])):
        words += len(text.split())
        if read and words > MOST_WORDS:
            break
        read.append(text)
    return read[::-1]


def _complete(
    query: Query, before: Understanding | None, understand: Callable[[Query], Understanding]
) -> Understanding:
    understanding = understand(query)
    if before is None:
        return understanding
    has_verb = not _VERBS.isdisjoint(_WORD.findall(query.text.lower()))
    says = len(unread_words(understanding.query))
    aspects_of_question = understanding.query.aspects
    lacks = not (query.aspects or has_verb or says > _MOST_UNREAD or _asks_itself(understanding))
    is_known = bool(query.entity) or not lacks or _names_another(understanding)
    has_name = bool(understanding.query.entity) and is_known
    is_named = has_name or (says > _MOST_UNREAD and not _REFERS.search(query.text))
    aspects = before.query.aspects if lacks else ()
    if is_named and not aspects:
        return understanding
    about = understanding.query if is_named else before.query
    # Models read the words of the question, so the parts taken from earlier ones are added to make it complete.
    words = ("" if is_named else about.entity, *aspects, understanding.query.text)
    text = " ".join(filter(None, words)) if query.text.strip() else ""
    return replace(
        understanding,
        query=replace(
            about,
            query_id=query.query_id,
            aspects=aspects or aspects_of_question,
            text=text,
            aspect_likelihoods=() if aspects else understanding.query.aspect_likelihoods,
            asking="" if aspects else understanding.query.asking,
            language=understanding.query.language,
        ),
        aspects_read=understanding.aspects_read and not aspects,
        entities=understanding.entities if is_named else before.entities,
        taken_entity="" if is_named else about.entity,
        taken_aspects=aspects,
    )


def _asks_itself(understanding: Understanding) -> bool:
    """Whether a question has words that ask for an aspect ("and its treatment?"), and not people ("younger men")."""
    words = unread_words(replace(understanding.query, aspects=()))
    likely = {aspect: chance for aspect, chance in understanding.likely.items() if aspect != INFORMATION}
    asks = bool(words) and max(likely.values(), default=0.0) >= _ASKS
    return asks and normalise_name(words[-1]) not in PEOPLE


def _names_another(understanding: Understanding) -> bool:
    """Whether a question that asks for nothing of its own names what it asks of, and not people or words to add."""
    if all(normalise_name(each.asked.split()[-1]) in PEOPLE for each in understanding.entities):
        return False
    is_known = any(each.match is not None or each.title for each in understanding.entities)
    return is_known or _FOLLOWS.match(understanding.query.text) is None
