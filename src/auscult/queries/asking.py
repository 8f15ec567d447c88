"""What is asked within a longer question: the sentence that asks, and the object of its asking words.

"Hi, I have gout. Could you tell me what the side effects of colchicine are?" asks in its second sentence, about
colchicine and not gout: what stands behind "side effects of".
"""

from __future__ import annotations

import re

from auscult.queries.aspect_words import ASPECT_WORDS

# A dot ends a sentence behind a word, not an abbreviation ("St. John's wort").
_SENTENCE_END = re.compile(
    r"(?<=[?!])\s+|(?<=[a-z]{3}[.])\s+(?=[A-Z]|(?:i|my|if|what|how|is|are|can|could|does|do|should|will)\b)"
)
_LEAD = re.compile(
    r"^(?:(?:hi|hello|hey|please|thanks|thank you|so|and|also|but|my question is|i have a question|do you know|"
    r"(?:can|could|would|will) (?:you|anyone|someone)(?: please)? (?:tell|advise|explain to|help)(?: me)?|"
    r"(?:i(?:'d| would) like|i want|i need) to know|i(?:'m| am| was) wondering|i wonder)"
    r"(?:[\s,:.]+(?:if|whether)\b)?[\s,:.]+)+",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:what|which|who|when|where|why|how|is|are|does|do|can|could|should|may|will|would|tell|explain)\b", re.I
)
_ASPECT = "|".join(words.pattern.pattern for words in ASPECT_WORDS)
_STOP = (
    r"(?=\s*[.,;:?!()]|\s+(?:if|when|while|because|but|is|are|was|as|that|which|who|does|do|can|could|should|would|"
    r"will|since|after|before|without|than|then|so|my|i (?:am|was|have|had|take|took|got))\b|"
    r"\s+and\s+(?:what|how|is|are|can|i|do|does|if|should)\b|$)"
)
_WITH = r"(?:of|for|from|with|between|to|on|in|about)"
_NOUN = rf"(?:{_ASPECT}|information|advice|know|learn(?: more)?)(?:\s+options?)?\s+{_WITH}"
_VERB = r"(?:to|do|can|should|i|you|what|that)\s+(?:treat|cure|prevent|avoid|diagnose|detect|manage|causes?)"
_OBJECT = re.compile(rf"\b(?:{_NOUN}|{_VERB})\s+(?P<x>\S.*?){_STOP}", re.IGNORECASE)
_TAKEN = re.compile(
    rf"\b(?:take|taking|using|inject|injecting|swallow|giv(?:e|ing) (?:him|her|them|me|my \w+))\s+"
    rf"(?!{_WITH}\b)(?P<x>[^\W\d_]\S*(?:\s+\S+){{0,3}}?)"
    rf"(?:(?=\s+(?:with|for|to|in|during|at|every|daily|once|twice|together|on|from)\b)|{_STOP})",
    re.IGNORECASE,
)
_MOST_WORDS = 8


def sentences_that_ask(question: str) -> tuple[str, ...]:
    """The sentences that ask, in order, without how they are led up to."""
    sentences = (_LEAD.sub("", sentence) for sentence in _SENTENCE_END.split(question))
    return tuple(sentence for sentence in sentences if _ASKS.match(sentence))


def object_asked_about(question: str) -> str:
    """What stands behind the asking words ("side effects of …"), else behind a verb of taking; empty if nothing."""
    found = _OBJECT.search(question) or _TAKEN.search(question)
    words = found.group("x") if found else ""
    return words if len(words.split()) <= _MOST_WORDS else ""


def asks_from_the_start(question: str) -> bool:
    """Whether a question is a single sentence, or one that its first sentence asks; else something is told first."""
    return len(_SENTENCE_END.split(question)) == 1 or bool(_ASKS.match(question))
