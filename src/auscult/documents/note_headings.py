"""Find the headings of clinical notes by the template styles that their authors use (grundmann2021 section 3.1).

    "Doctors typically write clinical aspects as headings into the document. We extract these terms by matching the
    template style of the documents using regular expressions."

The paper does not print its expressions; these are our own. They recognise these styles:

- `CHIEF COMPLAINT: Chest pain.`, `Plan:` (a line begins with words and a colon; also numbered, `2. ACTIVITY:`);
- `PHYSICAL EXAM` or `Hospital Course` alone on a line;
- `ALLERGIES: None. MEDICATIONS: Aspirin.` (further headings inside a line, after the end of a sentence).

Words in upper case are a heading by their form. Words in lower case are a heading only if all of them are in
`note_headings.toml`, so that "Reports the following:" is none. Parts of an examination ("HEENT:", "Lungs:") stay
inside their section. Cost: two passes of compiled expressions over the text, linear in its length.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from auscult.documents.document import Section
from auscult.documents.known_headings import LONGEST, known_heading
from auscult.documents.language_names import READ_BESIDE_ENGLISH
from auscult.documents.wrapping import is_unfinished

# The longest real headings are sentences of about this many characters.
_LONGEST = 80

_NUMBER = r"(?:(?:#{1,6}|(?:\(?\d{1,2}|[IVX]{1,4}|[A-H])[.)])[ \t]+)?"
# A full stop is part of a heading only inside an abbreviation ("I.V FLUIDS"), not before a blank.
_CHARACTER = r"(?:[\w '\u2019&/(),#+-]|\.(?=\w))"
# Words from the beginning of a line to a colon, to a dash between blanks, or to the end of the line.
_LINE = re.compile(
    rf"^[ \t]*({_NUMBER})([^\W\d_]{_CHARACTER}{{0,{_LONGEST - 1}}}?)"
    r"(?:[ \t]*(:)(?![\d/])|[ \t]+([-\u2013])[ \t]|(?<![.,;])[ \t]*\r?$)",
    re.MULTILINE,
)
# Before a colon inside a line: words behind the end of a sentence, or a run of words in upper case.
_COLON = re.compile(r":(?![\d/])")
_BEHIND_SENTENCE = re.compile(rf".*[.;!?)\]][ \t]+((?=[^\W\d_a-z]){_CHARACTER}*?)[ \t]*")
_UPPER_RUN = re.compile(r"(?<=[^\s:][ \t])[A-Z][A-Z'/&()-]*(?:[ ][A-Z'/&()-]+)*[ \t]?$")
_VISIBLE = re.compile(r"\S")
# A line in another language: its number, its words up to a colon or a dash, and the mark.
_OTHER_LINE = re.compile(
    r"^[ \t]*((?:(?:\d{1,2}[.)])+(?:\d{1,2})?[ \t]+|[#*]{1,3}[ \t]*)?)"
    rf"([^\W\d_a-zß-öø-ÿ][^:\r\n]{{0,{LONGEST - 1}}}?|¿[^:\r\n]{{1,80}}?)"
    r"(?:[ \t]*(:)(?![\d/])|[ \t]+([-\u2013])[ \t]|[ \t,]*\r?$)",
    re.MULTILINE,
)
# Text may follow a question on its line, and the list of what a medicine contains its heading.
_ENDS_HEADING = re.compile(r"(?<=\?)[ \t]+(?=\S)|[ \t]+\u00b7[ \t]")
# The line before a heading alone on its line ends a sentence.
_ENDED = (".", "!", "?", ":", ";", "»", "”", '"')
# The ends of lines in texts of old systems and in HL7 messages, and the ends of pages.
_OTHER_ENDS = re.compile(r"\r(?!\n)|[\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class NoteSection:
    """The part of a note under one heading.

    Attributes:
        heading: The heading as written, without number and colon; empty for the text before the first heading.
        heading_start: Offset of the heading's first character; `start` if there is no heading.
        start: Offset of the first visible character of the text under it.
        end: One past the text's last visible character; equals `start` for a heading without text.
    """

    heading: str
    heading_start: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Found:
    """A possible heading: its words, and the offsets of its number, its words and the text after it."""

    words: str
    outer: int
    start: int
    body: int
    mark: str  # ":", a dash, "" at the end of a line, "inside" for a colon inside a line
    other: bool = False  # Whether it is a heading of `known_headings`, as it stands in its line.


def find_sections(text: str, *, language: str = "en") -> list[NoteSection]:
    """Divide a note at its headings.

    Args:
        text: The original note. De-identification placeholders ("[**Name**]", "___") are ordinary text.
        language: Code of the note's language. In one of `READ_BESIDE_ENGLISH`, the headings of its table are found as
            well.

    Returns:
        Sections in order. The first has no heading if text precedes all headings. Headings and sections contain every
        visible character once, except numbers and marks of headings.
    """
    text = _OTHER_ENDS.sub("\n", text)
    sections: list[NoteSection] = []
    heading, heading_start, at = "", -1, 0
    for candidate in _without_contents([*_find_headings(text, language)], text):
        _close(sections, text, heading, heading_start, at, candidate.outer)
        heading, heading_start, at = candidate.words, candidate.start, candidate.body
    _close(sections, text, heading, heading_start, at, len(text))
    return sections


def note_sections(text: str, *, bare_headings: bool = True, language: str = "en") -> list[Section]:
    """Return the sections of a note for `build_document`, with offsets in the whole text.

    Args:
        text: The original note.
        bare_headings: Whether the text of a heading without words below it is the heading itself ("NO KNOWN DRUG
            ALLERGIES"). If not, it has no text, as in judged collections, whose passages must not change.
        language: Code of the note's language, as in `find_sections`.
    """
    sections = []
    for section in find_sections(text, language=language):
        start, end = section.start, section.end
        if bare_headings and section.heading and not any(map(str.isalnum, text[start:end])):
            end = end if end > start else section.heading_start + len(section.heading)
            start = section.heading_start
        sections.append(Section(section.heading, text[start:end], start=start))
    return sections


def _close(sections: list[NoteSection], text: str, heading: str, heading_start: int, at: int, stop: int) -> None:
    body = text[at:stop]
    tail = body.lstrip()
    start = stop - len(tail) if tail else at
    if heading or tail:
        sections.append(NoteSection(heading, heading_start if heading else start, start, start + len(tail.rstrip())))


def _find_headings(text: str, language: str) -> Iterator[_Found]:
    """Yield accepted headings in order; each begins after the previous one has ended."""
    last: _Found | None = None
    candidates = list(_find_candidates(text))
    if language in READ_BESIDE_ENGLISH:
        candidates.extend(_find_others(text, language))
    for candidate in sorted(candidates, key=lambda span: (span.start, not span.other)):
        inside = candidate.mark == "inside" and known_heading(candidate.words, language) is not None
        accepted = candidate.other or inside or _accept(candidate, last, text)
        if (last is None or candidate.outer >= last.body) and accepted:
            last = candidate
            yield candidate


def _without_contents(found: list[_Found], text: str) -> Iterator[_Found]:
    """Yield headings without those of a table of contents: no text stands below them, and they come again later."""
    later = Counter(each.words.lower() for each in found)
    for number, each in enumerate(found):
        later[each.words.lower()] -= 1
        below = found[number + 1].outer if number + 1 < len(found) else len(text)
        if not each.other or not later[each.words.lower()] or _VISIBLE.search(text, each.body, below):
            yield each


def _find_others(text: str, language: str) -> Iterator[_Found]:
    """Yield the headings of a language's table that stand at the beginning of a line."""
    last = 0
    for match in _OTHER_LINE.finditer(text):
        words, mark, body = match[2].rstrip(), match[3] or match[4] or "", match.end()
        if cut := _ENDS_HEADING.search(words):
            words, mark = words[: cut.start()], "?"
            body = match.start(2) + cut.start()
        known = known_heading(words, language)
        if known is None:
            continue
        alone = not mark and not words.endswith("?")
        if known.open and (mark in ("-", "\u2013") or (alone and not _stands_free(text, match.start(), last))):
            continue
        if alone and (words.endswith((".", ",", ";")) or (known.open and is_unfinished(words))):
            continue
        last = match.end(2)
        yield _Found(words, match.start(1), match.start(2), body, mark, other=True)


def _stands_free(text: str, start: int, last: int) -> bool:
    """Return whether a sentence, a heading that ends at `last`, or nothing stands before a line."""
    before = text[max(start - 200, last) : start]
    visible = before.rstrip()
    return not visible or visible.endswith(_ENDED) or before.count("\n", len(visible)) > 1


def _find_candidates(text: str) -> Iterator[_Found]:
    for match in _LINE.finditer(text):
        words = match[2].rstrip()
        yield _Found(words, match.start(1), match.start(2), match.end(), match[3] or match[4] or "")
    for colon in _COLON.finditer(text):
        # Looking back at most the length of a heading keeps the cost linear for a note of one line.
        at = max(colon.start() - _LONGEST, 0)
        at = text.rfind("\n", at, colon.start()) + 1 or at
        found = _find_inside(text[at : colon.start()], at)
        if found is not None:
            yield found


def _find_inside(before: str, at: int) -> _Found | None:
    """Return a heading inside a line; `before` is the text before its colon, from offset `at` on."""
    if match := _BEHIND_SENTENCE.fullmatch(before):
        words, start = match[1], at + match.start(1)
    elif match := _UPPER_RUN.search(before):
        run = match[0].rstrip()
        words = known_end(run)
        start = at + match.start() + len(run) - len(words)
    else:
        return None
    return _Found(words, start, start, at + len(before) + 1, "inside") if words else None


def _accept(candidate: _Found, last: _Found | None, text: str) -> bool:
    words = examine(candidate.words)
    if words is None or not (words.known or words.formed):
        return False
    if candidate.mark in (":", "inside"):
        return True
    if candidate.mark:
        return words.upper and words.known
    # Alone on its line, a heading is hard to distinguish from a line of text.
    if is_unfinished(candidate.words.rstrip()):
        return False
    before = text[max(candidate.outer - 200, 0) : candidate.outer]
    before = before.rstrip(" \t\r").removesuffix("\n").rstrip(" \t\r")
    after_blank = not before or before.endswith("\n")
    if not (after_blank or (words.known and words.upper)):
        return False
    return words.known or last is None or _VISIBLE.search(text, last.body, candidate.outer) is not None


MOST_WORDS = 10
_TOKEN = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVX]+")
# No heading in lower-case letters begins with one of these ("The plan: ...").
_OPENINGS = frozenset({"a", "all", "any", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "this", "to"})


@dataclass(frozen=True, slots=True)
class HeadingWords:
    """Properties of the words of a possible heading.

    Attributes:
        upper: Whether they are in upper case.
        formed: Whether they are a heading by their form: in upper case, and more than abbreviations and numerals,
            which may be laboratory values ("HDL") or cranial nerves ("III, IV, VI").
        known: Whether all of them, in any case, are words of headings.
        inner: Whether they are part of an examination or a list, which stays inside its section.
    """

    upper: bool
    formed: bool
    known: bool
    inner: bool


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    essential: frozenset[str]  # core and short
    beside: frozenset[str]
    short: frozenset[str]
    inner: frozenset[str]
    endings: tuple[str, ...]  # of essential words


def examine(words: str) -> HeadingWords | None:
    """Examine the words of a possible heading.

    Args:
        words: The words without number and colon.

    Returns:
        Their properties; None if there are no words or too many.
    """
    lower = words.lower()
    split = lower.split()
    if not 0 < len(split) <= MOST_WORDS:
        return None
    vocabularies = _vocabularies()
    tokens = _TOKEN.findall(words)
    upper = words == words.upper()
    inner = any(lower in vocabulary.inner for vocabulary in vocabularies)
    return HeadingWords(
        upper=upper,
        formed=upper and not inner and any(len(token) > 3 and not _ROMAN.fullmatch(token) for token in tokens),
        known=not inner
        and (upper or split[0] not in _OPENINGS)
        and any(_is_known(lower, vocabulary) for vocabulary in vocabularies),
        inner=inner,
    )


def known_end(run: str) -> str:
    """Return the longest known heading at the end of upper-case words ("NKDA MEDICATIONS"); empty if there is none."""
    for word in re.finditer(r"[A-Z][^ ]*", run):
        rest = run[word.start() :]
        examined = examine(rest)
        if examined and examined.inner:
            break
        if examined and examined.known and word[0].lower() not in _OPENINGS:
            return rest
    return ""


def _is_known(lower: str, vocabulary: _Vocabulary) -> bool:
    if lower in vocabulary.short:
        return True
    tokens = _TOKEN.findall(lower)
    essential = [token in vocabulary.essential or token.endswith(vocabulary.endings) for token in tokens]
    return any(essential) and all(
        is_essential or token in vocabulary.beside or token.isdigit()
        for token, is_essential in zip(tokens, essential, strict=True)
    )


@cache
def _vocabularies() -> tuple[_Vocabulary, ...]:
    """Return the words of headings by language, English first."""
    table = tomllib.loads(resources.files(__package__).joinpath("note_headings.toml").read_text(encoding="utf-8"))
    vocabularies = []
    for words in (table, *(value for value in table.values() if isinstance(value, dict))):
        core, beside, short = (frozenset(words[name].split()) for name in ("core", "with", "short"))
        inner = frozenset(part.strip() for part in re.split(r"[|\n]", words["inner"]) if part.strip())
        vocabularies.append(_Vocabulary(core | short, beside, short, inner, tuple(words.get("endings", "").split())))
    return tuple(vocabularies)
