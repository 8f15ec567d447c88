"""Kinds of questions by their first words, as zhu2019 groups them (Figures 4 and 5)."""

from __future__ import annotations

import re

QUESTION_TYPES = ("what", "how", "why", "who", "when/where/which", "yes-no", "other")
"""In the order in which they are shown."""

_TYPE_OF = {
    "what": "what",
    "how": "how",
    "why": "why",
    "who": "who",
    "whom": "who",
    "whose": "who",
    "when": "when/where/which",
    "where": "when/where/which",
    "which": "when/where/which",
}
_AUXILIARIES = frozenset(
    "is are am was were do does did can could will would shall should may might must has have had".split(" ")  # noqa: SIM905
)
# "In what ...", "And how ...": a word before the question word changes nothing about what is asked.
_BEFORE = frozenset("and but so then at in on for to from by of with under about during after before".split(" "))  # noqa: SIM905
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_SENTENCE_END = re.compile(r"[.?!]\s+")


def question_type(text: str) -> str:
    """Classify a question by rule.

    The question word that it begins with decides, or an auxiliary verb ("Is it ...", "Can't I ...") for yes-no
    questions; a preposition or conjunction may stand before a question word. Where the text begins with a statement
    ("I have asthma. What should I do?"), its first sentence that begins so decides.

    Args:
        text: A question in natural language.

    Returns:
        One of `QUESTION_TYPES`; empty for a text without words.
    """
    lowered = text.lower()
    if not _WORD.search(lowered):
        return ""
    found = (_by_first_words(sentence) for sentence in _SENTENCE_END.split(lowered))
    return next((each for each in found if each), "other")


def _by_first_words(sentence: str) -> str:
    words = [_stem(word) for word in _WORD.findall(sentence)[:2]]
    if not words:
        return ""
    if len(words) == 2 and words[0] in _BEFORE and words[1] in _TYPE_OF:
        return _TYPE_OF[words[1]]
    return _TYPE_OF.get(words[0], "yes-no" if words[0] in _AUXILIARIES else "")


def _stem(word: str) -> str:
    """Without what is joined by an apostrophe: "what's", "isn't", "can't"."""
    head = re.split(r"['’]", word)[0]
    # "isn't" is split into "isn" and "t", "can't" into "can" and "t".
    if head == word or head in _TYPE_OF or head in _AUXILIARIES:
        return head
    return {"won": "will", "shan": "shall"}.get(head, head.removesuffix("n"))
