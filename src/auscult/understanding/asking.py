"""What is asked within a longer question: the sentence that asks, and the object of its asking words.

"Hi, I have gout. Could you tell me what the side effects of colchicine are?" asks in its second sentence, about
colchicine and not gout: what stands behind "side effects of".
"""

from __future__ import annotations

import re

from auscult.concepts.names import FUNCTION_WORDS, normalise_name
from auscult.understanding.aspect_words import ASPECT_WORDS

# A dot ends a sentence behind a word, not an abbreviation ("St. John's wort").
_SENTENCE_END = re.compile(
    r"(?<=[?!])\s+|(?<=\w\w[.])(?<!\b(?:St|Dr|Mr|Ms|vs)[.])\s+(?=[A-Z]|(?:i|my|if|what|how|is|are|can|could|does|do|should|will)\b)"
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
    r"(?=\s*[.,;:?!()]|\s+(?:if|when|while|because|but|is|are|was|as|that|which|who|what|how|why|where|does|do|can|could|should|would|"
    r"will|since|after|before|without|than|then|so|my|i (?:am|was|have|had|take|took|got))\b|"
    r"\s+and\s+(?:what|how|is|are|can|i|do|does|if|should)\b|$)"
)
_WITH = r"(?:of|for|from|with|between|to|on|in|about)"
_NOUN = rf"(?:{_ASPECT}|information|advice|know|learn(?: more)?)(?:\s+options?)?\s+{_WITH}"
_VERB = r"(?:to|do|can|should|i|you|what|that)\s+(?:treat|cure|prevent|avoid|diagnose|detect|manage|causes?)"
# What is safe to do is no thing that is asked about: "safe to fly".
_OBJECT = re.compile(rf"\b(?!safe(?:ly)? to\b)(?:{_NOUN}|{_VERB})\s+(?P<x>\S.*?){_STOP}", re.IGNORECASE)
_TAKEN = re.compile(
    rf"\b(?:take|taking|using|inject|injecting|swallow|giv(?:e|ing) (?:him|her|them|me|my \w+))\s+"
    rf"(?!{_WITH}\b)(?P<x>[^\W\d_]\S*(?:\s+\S+){{0,3}}?)"
    rf"(?:(?=\s+(?:with|for|to|in|during|at|every|daily|once|twice|together|on|from)\b)|{_STOP})",
    re.IGNORECASE,
)
_MOST_WORDS = 8
# In the middle of a sentence.
_WANTED = re.compile(
    r"\b(?:(?:(?:would|'d) like|want(?:ed)?|need|trying|hop(?:e|ing)|wish) to (?:know|find out|learn|understand|ask)|"
    r"wonder(?:ing)?|(?:can|could|would) (?:you|anyone|someone)(?: please)? (?:tell|advise|explain|help|send|suggest)|"
    r"please (?:tell|advise|explain|help|send|suggest)|looking for|(?:my )?question is)"
    r"(?:\s+(?:me|us))?(?:\s+(?:if|whether|about|with|on|for))?[\s,:]+(?P<x>\S.*)",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:diagnosed (?:\w+ )?(?:with|as(?: having)?)|ha(?:ve|s|d|ving)|got|suffer(?:s|ed|ing)?(?: from| with)?|"
    r"(?:it|this|that|which)(?:'?s| is| was| might be| could be| may be)|its|called|named|treated for|"
    r"(?:died|passed away) (?:of|from)|about|regarding|subject:?)"
    r"\s+(?:(?:an?|the|my|his|her|some|severe|mild|chronic|early|bad|really|been|being|stage \w+)\s+)*$",
    re.IGNORECASE,
)
# Told, and no question after the diagnosis.
_DIAGNOSED = re.compile(
    r"(?:^|\b(?:was|were|been|got|just|recently|newly)\s)(?:\w+\s)?diagnosed\s(?:\w+\s)?(?:with|as(?: having)?)\b",
    re.IGNORECASE,
)
_TOLD_WITHIN = 60
_LONG = 25
_SAY_NOTHING = FUNCTION_WORDS | frozenset(
    [
        "advice", "advise", "am", "anybody", "anyone", "anything", "ask", "brother", "called", "case", "child",
        "children", "condition", "dad", "daughter", "diagnosed", "disease", "disorder", "doctor", "don", "else",
        "exactly", "explain", "family", "father", "find", "friend", "get", "getting", "give", "given", "go",
        "going", "good", "got", "grandfather", "grandma", "grandmother", "grandpa", "hello", "help", "hey", "hi",
        "how", "husband", "illness", "info", "information", "kind", "know", "learn", "like", "living", "ll",
        "looking", "make", "man", "mean", "means", "mom", "mother", "mum", "need", "next", "no", "not", "now", "ok",
        "okay", "option", "options", "out", "over", "parent", "parents", "partner", "people", "person", "please",
        "question", "questions", "re", "really", "recently", "right", "share", "sister", "somebody", "someone",
        "something", "son", "sort", "step", "steps", "suffer", "suffering", "suffers", "syndrome", "tell", "thank",
        "thanks", "thing", "things", "told", "try", "trying", "use", "used", "ve", "want", "wanted", "well", "when",
        "whether", "why", "wife", "woman", "wonder", "wondering",
    ]
)  # fmt: skip
"""Words beside a name, normalised, that ask nothing particular of it: "Can you tell me something about gout?"."""


def is_long(text: str) -> bool:
    """Whether a question is a message that tells more than it asks."""
    return len(text.split()) > _LONG


def gist(text: str, entity: str) -> str:
    """What a long message asks: the sentences that ask, behind what it is about; empty where nothing is left out."""
    short = " ".join(sentences_that_ask(" ".join(text.split()))) if is_long(text) else ""
    if not short or len(short.split()) >= len(text.split()):
        return ""
    return short if entity.lower() in short.lower() else f"{entity}. {short}"


def sentences_that_ask(question: str) -> tuple[str, ...]:
    """The sentences that ask, in order, without how they are led up to."""
    found = []
    for sentence in _SENTENCE_END.split(question):
        asking = _LEAD.sub("", sentence)
        wanted = None if _ASKS.match(asking) else _WANTED.search(sentence)
        if wanted:
            asking = wanted.group("x")
        if wanted or _ASKS.match(asking):
            found.append(asking)
    return tuple(found)


def without_diagnosis_told(question: str) -> str:
    """A question that says "has" for what tells of a diagnosis, and so asks nothing: "i was diagnosed with gout"."""
    return _DIAGNOSED.sub(" has", question).strip()


def is_told(question: str, start: int) -> bool:
    """Whether what stands somewhere in a question is told to be what somebody has: "he was diagnosed with …"."""
    return bool(_TELLS.search(question, max(0, start - _TOLD_WITHIN), start))


def asks_something_of(question: str, name: str) -> bool:
    """Whether a question asks more of a name than what it is: "Can I drive with epilepsy?"."""
    words = normalise_name(question.replace(name, " ")).split()
    return any(word not in _SAY_NOTHING and not word.isdigit() for word in words)


def object_asked_about(question: str) -> str:
    """What stands behind the asking words ("side effects of …"), else behind a verb of taking; empty if nothing."""
    found = _OBJECT.search(question) or _TAKEN.search(question)
    words = found.group("x") if found else ""
    return words if len(words.split()) <= _MOST_WORDS else ""


def asks_from_the_start(question: str) -> bool:
    """Whether a question is a single sentence, or one that its first sentence asks; else something is told first."""
    return len(_SENTENCE_END.split(question)) == 1 or bool(_ASKS.match(question))
