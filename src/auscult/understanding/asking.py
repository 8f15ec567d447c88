"""Find the sentences of a message that ask something, and the words of a question that carry no content.

"Hi, I have gout. Could you tell me what the side effects of colchicine are?" asks in its second sentence.
"""

from __future__ import annotations

import re
from importlib import resources

from auscult.concepts.names import FUNCTION_WORDS

# A full stop ends a sentence after a word, but not after an abbreviation ("St. John's wort").
_SENTENCE_END = re.compile(
    r"(?<=[?!])\s+|(?<=\w\w[.])(?<!\b(?:St|Dr|Mr|Ms|vs)[.])\s+(?=[A-Z]|(?:i|my|if|what|how|is|are|can|could|does|do|should|will)\b)"
)
_ASKS = r"(?:what|which|who|when|where|why|how|is|are|does|do|can|could|should|may|will|would|tell|explain)\b"
_LEAD = r"(?:(?:hi|hello|hey|please|thanks|thank you|so|and|also|but)[\s,:.]+)*"
_ASKING = re.compile(rf"{_LEAD}(?P<asks>{_ASKS}.*)", re.IGNORECASE | re.DOTALL)
# In the middle of a sentence.
_WANTED = re.compile(
    r"\b(?:(?:(?:would|'d) like|want(?:ed)?|need|trying|hop(?:e|ing)|wish) to (?:know|find out|learn|understand|ask)|"
    r"wonder(?:ing)?|(?:can|could|would) (?:you|anyone|someone)(?: please)? (?:tell|advise|explain|help|send|suggest)|"
    r"please (?:tell|advise|explain|help|send|suggest)|looking for|(?:my )?question is)"
    r"(?:\s+(?:me|us))?(?:\s+(?:if|whether|about|with|on|for))?[\s,:]+(?P<asks>\S.*)",
    re.IGNORECASE,
)
_LONG = 25
SAYING_NOTHING = FUNCTION_WORDS | frozenset(
    resources.files("auscult.understanding").joinpath("asking_words.txt").read_text("utf-8").split()
)
"""Normalised words without content of their own, like all but "gout" in "Can you tell me something about gout?"."""


def is_long(text: str) -> bool:
    """Return whether a question is so long that most of it probably describes rather than asks."""
    return len(text.split()) > _LONG


def gist(text: str, entity: str) -> str:
    """Return the entity and the asking sentences of a long message; empty if that would leave nothing out."""
    short = " ".join(sentences_that_ask(" ".join(text.split()))) if is_long(text) else ""
    if not short or len(short.split()) >= len(text.split()):
        return ""
    return short if entity.lower() in short.lower() else f"{entity}. {short}"


def sentences_that_ask(question: str) -> tuple[str, ...]:
    """Return the sentences that ask, in order, without introductory words such as "I would like to know"."""
    sentences = _SENTENCE_END.split(question)
    matches = (_WANTED.search(sentence) or _ASKING.match(sentence) for sentence in sentences)
    return tuple(match["asks"] for match in matches if match)
