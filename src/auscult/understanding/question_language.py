"""Read which language a question is in, so that only English ones are read as English.

A name says nothing about the language of what is asked of it ("cri du chat syndrome", "Morbus Crohn"), so:

1. A question all of whose words are in English names or in how English questions are worded is not in another language.
   The classifier is not even loaded. Of 9,400 questions in French, Spanish and German none is such a one.
2. A question that is most probably English with its names is not in another language.
3. Otherwise its known names are left out. What is left has to be surely in one language, with its capitalised words
   or without them, which may be names that nobody knows: "Que contient Actiq ?".

Fewer than two words are too few. `benchmarks/language.py` measures these steps, and chose the limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from auscult.concepts.names import normalise_name
from auscult.documents.language import SURE, likeliest_language
from auscult.documents.language_names import ENGLISH
from auscult.understanding.reading import ASKING_WORDS, LONG_ENOUGH_ELSEWHERE, QuestionParser
from auscult.understanding.saying import PEOPLE, SAYING_NOTHING
from auscult.understanding.spelling import ordinary_words

_HALF: Final = 0.5
_SURE_WITHOUT_NAMES: Final = 0.6
_FEWEST: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
# Each sign of a script without spaces counts.
_COUNTED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]{2,}")
_ASKING: Final = frozenset(ASKING_WORDS)


class QuestionLanguage(NamedTuple):
    """The language of a question.

    Attributes:
        code: Its code of ISO 639-1; empty where it is not sure.
        read_as: The code of the language as which it is read: that of the collection where its own is not sure.
    """

    code: str = ""
    read_as: str = ENGLISH

    @property
    def of_names(self) -> str:
        """Code of the language in which names are looked up; empty where it is not sure and the collection is English.

        A name alone may be of any language: "Schlaganfall".
        """
        return self.code or ("" if self.in_english else self.read_as)

    @property
    def in_english(self) -> bool:
        """Whether the question is read as an English one."""
        return self.read_as == ENGLISH


def read_language(text: str, parser: QuestionParser, of_collection: Callable[[], str]) -> QuestionLanguage:
    """Return the language of a question.

    Args:
        text: The question, as written.
        parser: Finds the names in it.
        of_collection: Returns the main language of the collection; empty where it has none, or it is not known.
    """
    if are_english(text, parser):
        return QuestionLanguage(ENGLISH if not SAYING_NOTHING.isdisjoint(_words_of(text)) else "")
    code = detect_question(text, parser)
    return QuestionLanguage(code, code or of_collection() or ENGLISH)


def detect_question(text: str, parser: QuestionParser) -> str:
    """Return the code of the language that a question is surely in; empty where it is not sure.

    Args:
        text: The question.
        parser: Finds the names in it.
    """
    whole = likeliest_language(text)
    if whole.code == ENGLISH and whole.probability >= _HALF:
        return ENGLISH if whole.probability >= SURE else ""
    rest = _without_names(text, parser)
    for part, least in ((rest, SURE), (_without_capitals(rest), _SURE_WITHOUT_NAMES)):
        if len(_COUNTED.findall(part)) < _FEWEST:
            continue
        found = likeliest_language(part)
        if found.code != ENGLISH and found.probability >= least:
            return found.code
    return ""


def are_english(text: str, parser: QuestionParser) -> bool:
    """Return whether all words are in English names or in how English questions are worded.

    Args:
        text: The question.
        parser: Has the names. Those that the documents themselves bring do not count, as they may be in any language.
    """
    named = parser.resolver.knowledge_base.vocabulary.words
    return all(
        word.isdigit() or word in SAYING_NOTHING or word in ordinary_words() or _is_in_questions(word) or word in named
        for word in _words_of(text)
    )


def _words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_in_questions(word: str) -> bool:
    key = normalise_name(word)
    return key in _ASKING or key in SAYING_NOTHING or key in PEOPLE


def _without_names(text: str, parser: QuestionParser) -> str:
    """Return a question without its known names; short ones may be words of its language ("von", "la")."""
    pieces, at = [], 0
    for name in parser.names(text):
        if name.is_listed and len(name.words) >= LONG_ENOUGH_ELSEWHERE:
            pieces.append(text[at : name.start])
            at = name.end
    return "".join([*pieces, text[at:]])


def _without_capitals(text: str) -> str:
    """Return a question without its capitalised words, but for the first."""
    first, *others = text.split() or [""]
    return " ".join([first, *(word for word in others if not word.lstrip("([\"'\u00ab\u201c").strip()[:1].isupper())])
