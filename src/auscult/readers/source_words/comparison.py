"""Find the words of a source that are in no passage of its documents, and the reasons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

from auscult.documents import Document
from auscult.readers.contract import DraftDocument

UNKNOWN: Final = "no reason known"
"""Reason of words that should be in a passage."""
_OTHERWISE: Final = "joined or divided otherwise"
_WORD: Final = re.compile(r"[^\W_]+")
_ACCENTS: Final = re.compile("[\u00ad\u0300-\u036f]")


class LostWord(NamedTuple):
    """A word of a source that is in no passage, with its part of the source and the reason."""

    word: str
    part: str
    reason: str


def lost_words(documents: Iterable[Document], parts: Sequence[DraftDocument]) -> tuple[int, list[LostWord]]:
    """Compare the documents of a file with the words of its source.

    Args:
        documents: All documents of the file.
        parts: The words of each part of the source (`part.PartWords.draft`).

    Returns:
        The number of words of the source, and those that are in no passage, heading or title.
    """
    kept = [word for document in documents for word in words_in(_kept_text(document))]
    words = [words_in(part.text) for part in parts]
    missing = Counter(word for each in words for word in each) - Counter(kept)
    # Of a word that a footer and the text have, the one in the footer is missing.
    lost = [each for part in parts for each in _with_reason(part, missing)]
    together = "".join(kept)
    for part, of_part in zip(parts, words, strict=True):
        for place, word in enumerate(of_part):
            if missing[word]:
                missing[word] -= 1
                # The documents have the word in two pieces, or joined to one beside it.
                joined = "".join(of_part[max(0, place - 1) : place + 2]) in together
                lost.append(LostWord(word, part.key, _OTHERWISE if joined else UNKNOWN))
    return sum(map(len, words)), lost


def _with_reason(part: DraftDocument, missing: Counter[str]) -> Iterator[LostWord]:
    """Yield the missing words of a part that have a reason, and remove them from `missing`."""
    for reason, text in part.metadata.items():
        for word in words_in(text):
            if missing[word]:
                missing[word] -= 1
                yield LostWord(word, part.key, reason)


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case without accents, in Unicode's normal form NFKD."""
    return _WORD.findall(_ACCENTS.sub("", normalize("NFKD", text)).lower())


def words_without(text: str, others: str) -> str:
    """Return the words of a text minus those of another: a word that is there 3 times and here 5 times comes twice."""
    return " ".join((Counter(words_in(text)) - Counter(words_in(others))).elements())


def _kept_text(document: Document) -> str:
    own = [each.heading for each in document.passages]
    # A source has the heading above several passages only once.
    above = {heading for each in document.passages for heading in each.above} - set(own)
    passages = [document.text[each.start : each.end] for each in document.passages]
    return "\n".join([document.title, *own, *above, *passages])
