"""Find what a source shows and its documents do not have: words, numbers, units, signs and ticked boxes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from auscult.documents import Document
from auscult.readers.contract import DraftDocument
from auscult_readers.source_words.part import NOT_SHOWN, PRINTED, PRINTED_PAGE, STRUCK, STRUCK_RUNS, STRUCTURE, UNSAVED
from auscult_readers.source_words.tokens import NEGATIONS, UNITS, runs_in, tokens_of, weight

UNKNOWN: Final = "no reason known"
"""Reason of words that should be in a passage."""
KEPT_STRUCK: Final = "struck out, yet read as valid"
_NOT_REPORTED: Final = ", not in the report"
_OTHERWISE: Final = "joined or divided otherwise"
_MARK: Final = "number of a page, note, list item or axis"
# Fields of the metadata that say where a document is from. All others are the file's own words.
_NOT_OF_FILE: Final = frozenset({"format", "file", "also", "access"})
NEGATED: Final = "\u00ac"
"""A token of a source that any negation in the documents matches: a mark such as `negationInd` has no word."""


class LostWord(NamedTuple):
    """A word of a source that is in no passage, with its part of the source and the reason."""

    word: str
    part: str
    reason: str

    @property
    def is_fault(self) -> bool:
        """Whether the word should be in a passage, or be counted in the report."""
        return self.reason in (UNKNOWN, KEPT_STRUCK) or self.reason.endswith(_NOT_REPORTED)


def lost_words(
    documents: Iterable[Document], parts: Sequence[DraftDocument], remarks: Sequence[str] = ()
) -> tuple[int, list[LostWord]]:
    """Compare the documents of a file with the words of its source.

    Args:
        documents: All documents of the file.
        parts: The words of each part of the source (`part.PartWords.draft`).
        remarks: Remarks of the report on the file. A word that is shown and left out needs one that names the reason.

    Returns:
        The number of words of the source, and those that are in no passage, heading or title, the worst first.
    """
    text = "\n".join(map(kept_text, documents))
    kept = tokens_of(text)
    # "10^9" is "109" for parsers that do not know what is raised.
    glued = Counter(kept) | Counter(tokens_of(text.replace("^", "")))
    negated = sum(token in NEGATIONS for token in kept)
    lost: list[LostWord] = []
    known = set[str]()
    total = 0
    words_of = [part for part in parts if part.key not in STRUCTURE]
    for printed in (False, True):
        of_kind = [part for part in words_of if part.key.startswith(PRINTED) is printed]
        words = [[*tokens_of(part.text), *[NEGATED] * part.text.count(NEGATED)] for part in of_kind]
        has = Counter(kept) if any(part.key in _WITH_EXPONENTS for part in of_kind) else glued
        has[NEGATED] = negated
        missing = Counter(word for each in words for word in each) - has
        # A word that a parser and the print both show is lost once.
        missing -= Counter(each.word for each in lost)
        # If a footer and the text have the same word, the one in the footer is missing.
        lost += [each for part in of_kind for each in _with_reason(part, missing, remarks)]
        together = "".join(kept)
        for part, of_part in zip(of_kind, words, strict=True):
            lost += _without_reason(part.key, of_part, missing, together)
        if printed:
            lost = [each for each in lost if not _is_of_print(each, known, remarks)]
        known.update(word for each in words for word in each)
        total = max(total, sum(map(len, words)))
    lost += _kept_struck(parts, kept, remarks)
    return total, sorted(lost, key=lambda each: -weight(each.word) if each.is_fault else 0)


def _with_reason(part: DraftDocument, missing: Counter[str], remarks: Sequence[str]) -> Iterator[LostWord]:
    """Yield the missing words of a part that have a reason, and remove them from `missing`."""
    for reason, text in part.metadata.items():
        if reason == STRUCK_RUNS:
            continue
        for word in tokens_of(text):
            if missing[word]:
                missing[word] -= 1
                yield LostWord(word, part.key, judged(reason, remarks))


def _without_reason(key: str, words: Sequence[str], missing: Counter[str], together: str) -> Iterator[LostWord]:
    printed = key.startswith(PRINTED)
    for place, word in enumerate(words):
        if missing[word]:
            missing[word] -= 1
            # The documents have the word in two pieces, or joined to one beside it. Numbers would be others then, but
            # a print has exponents and fractions beside them.
            beside = "".join(words[max(0, place - 1) : place + 2])
            is_exact = key.startswith(_EXACT) or not (word.isalpha() or printed)
            joined = not is_exact and (beside in together or (printed and word.isdigit() and word in together))
            measured = bool({*words[place + 1 : place + 2]} & UNITS)
            is_mark = key.startswith(PRINTED_PAGE) and word[0].isdigit() and not measured
            yield LostWord(word, key, _MARK if is_mark else _OTHERWISE if joined else UNKNOWN)


def _is_of_print(lost: LostWord, known: Collection[str], remarks: Sequence[str]) -> bool:
    """Return whether only the print has a word: the visible part of a longer one, or the result of a formula.

    Args:
        lost: The word.
        known: Words of the parts that are not printed.
        remarks: Remarks of the report on the file.
    """
    if lost.reason != UNKNOWN or not lost.part.startswith(PRINTED) or lost.word in {*known} - UNITS:
        return False
    if lost.part.startswith(PRINTED_PAGE):
        is_part = any(lost.word in longer for longer in known)
        return lost.word.isalpha() and lost.word not in NEGATIONS and is_part
    return is_reported(UNSAVED, remarks)


_WITH_EXPONENTS: Final = ("page", "narrative", "article")
"""Parts that divide a raised number from what is before it."""
_EXACT: Final = ("message", "note")
"""Parts whose words are read character by character, so that none is divided otherwise."""


def is_reported(reason: str, remarks: Sequence[str]) -> bool:
    """Return whether words with a reason may be missing: they are not shown, or a remark of the report names it."""
    return reason in NOT_SHOWN or any(re.search(_IN_REMARKS.get(reason, re.escape(reason)), each) for each in remarks)


def judged(reason: str, remarks: Sequence[str]) -> str:
    """Return a reason, with the addition that the report does not say so if it should."""
    return reason if reason in (UNKNOWN, _OTHERWISE) or is_reported(reason, remarks) else f"{reason}{_NOT_REPORTED}"


# How the remarks of readers call a reason, where they use other words.
_IN_REMARKS: Final = {
    STRUCK: "struck[ -]out",
    UNSAVED: "formulas? without a saved result",
    "header, footer, date or number": "header|footer|page or line number",
    "header, footer or number": "header|footer|page or line number",
    "deleted in a tracked change": "delet",
    "comment": "comment|annotation",
    "navigation, forms and other parts around the text": "around the text",
    "object, such as a chart": "object|chart",
    "letters that a font does not name": "does not say which letters",
    "chart": "chart",
    "diagram": "diagram|SmartArt|drawing",
    "another article": "another article|sub-article",
    "result that was taken back": "taken back",
    "order that was discontinued": "discontinued|cancel|stopped|taken back",
    "embedded sheet": "embedded|inside|sheet",
}


def _kept_struck(parts: Sequence[DraftDocument], kept: Sequence[str], remarks: Sequence[str]) -> Iterator[LostWord]:
    """Yield struck-out words that the documents have as if they were valid."""
    if is_reported(STRUCK, remarks):
        return
    for part in parts:
        runs = [tokens for line in part.metadata.get(STRUCK_RUNS, "").split("\n") if (tokens := tokens_of(line))]
        shown = tokens_of(part.text)
        for run in runs:
            struck = sum(run == other for other in runs)
            if runs_in(run, list(kept)) > max(0, runs_in(run, shown) - struck):
                yield from (LostWord(word, part.key, KEPT_STRUCK) for word in run)


def kept_text(document: Document) -> str:
    """Return all text of a document that an index answers with: title, headings, passages and the file's own fields."""
    own = [each.heading for each in document.passages]
    # A source has the heading above several passages only once.
    above = {heading for each in document.passages for heading in each.above} - set(own)
    passages = [document.text[each.start : each.end] for each in document.passages]
    fields = [value for name, value in document.metadata.items() if name not in _NOT_OF_FILE]
    return "\n".join([document.title, *own, *above, *passages, *fields, document.source])
