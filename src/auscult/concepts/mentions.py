"""Find mentions of concepts in running text: all names and synonyms at once, the longest first.

Only this file imports the automaton (`ahocorasick_rs`).

The text is folded (case, accents, punctuation to blanks) without changing its length, so that offsets stay valid.
An Aho-Corasick automaton finds all names in one pass; the cost does not depend on the number of names (about 10 MB/s
with 200,000 of them, including all steps). These rules exclude what a person would not regard as a mention:

- Acronyms (up to six capitals and digits) match only in capitals; those of two letters never match, those of three
  only in a text that also has a full name of the concept.
- A name shared by several concepts and preferred by none counts only if one of them is an ancestor of the others.
- Words of `GENERIC`, which name a class of things ("disease", "syndrome"), and names of two letters never count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ahocorasick_rs import AhoCorasick

from auscult.concepts.concept import Concept
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.names import normalise_name, spelling_variants

_NOT_WORD = re.compile(r"[\W_]")
_RUN = re.compile(r"\s{2,}")
_ACCENTS = {
    code: base
    for code in range(0xC0, 0x250)
    if len(base := unicodedata.normalize("NFKD", chr(code))[0]) == 1 and base.isascii()
}


class NameAutomaton:
    """Automaton that finds folded patterns as whole words.

    Args:
        patterns: Texts folded by `fold`, with single blanks between words; none is empty.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._automaton = AhoCorasick([f" {pattern} " for pattern in patterns], store_patterns=False)

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return all matches, overlapping ones included.

        Returns:
            (start, -end, number of the pattern) of each match, by start; of matches with one start the longest first.
        """
        matches = self._automaton.find_matches_as_indexes(f" {fold(text)} ", overlapping=True)
        # Patterns carry a blank at both ends, and so does the folded text: offsets shift by one and then cancel.
        return sorted((start, -(end - 2), index) for index, start, end in matches)


def fold(text: str) -> str:
    """Return the text in lower case, without accents, with blanks for punctuation; the length stays the same."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    if not lower.isascii():
        lower = lower.translate(_ACCENTS)
    return _NOT_WORD.sub(" ", lower)


def single_blanks(text: str) -> tuple[str, Sequence[int]]:
    """Replace each run of blanks and line breaks by one blank.

    Returns:
        The new text, and for each offset in it, including its end, the offset in the original.
    """
    if _RUN.search(text) is None:
        return text, range(len(text) + 1)
    places: list[int] = []
    begin = 0
    for run in _RUN.finditer(text):
        places.extend(range(begin, run.start() + 1))
        begin = run.end()
    places.extend(range(begin, len(text) + 1))
    return _RUN.sub(" ", text), places


# Words for classes and qualities, and synonyms that mean something else in everyday text (a taxonomy's "soft" is an
# acronym in lower case). Collected from the most frequent links in encyclopedia and patient pages.
_CLASSES = (
    "disease diseases disorder disorders syndrome syndromes symptom symptoms sign signs condition "
    "illness disability abnormality deficiency lesion lesions infection infections infectious "
    "inflammation injury injuries wound feeling behavior behaviour change changes general acquired "
    "congenital hereditary idiopathic"
)
_OTHER_SENSES = (
    "child childs men glass soft read rich arms bed ion lamb lambs ham pest pests tag inversion "
    "inversions thyroid pituitary amyloid homunculus perching crackles hcg fecal analgesia gas "
    "discharge shock tina crabs orf mel ever gust papa cello caped hem borrelia"
)
GENERIC = frozenset(
    {
        *_CLASSES.split(), *_OTHER_SENSES.split(), "infectious disease", "infectious diseases", "infectious-disease",
        "infectious-diseases", "genetic disease", "blood pressure",
    }
)  # fmt: skip
_INITIALS = re.compile(r"(?<![^\W_])[^\W_]")
_BLANKS = re.compile(r" +")
# Qualifiers that taxonomies add in brackets after a name.
_BRACKETED = "disease|disorder|finding|morphologic abnormality|ambiguous|qualifier value|type"
_QUALIFIER = re.compile(rf"\s*[(\[](?:{_BRACKETED})[)\]]$", re.IGNORECASE)
_QUALIFYING_WORDS = frozenset(re.split(r"[| ]", _BRACKETED))
_ACRONYM = re.compile(r"^(?=(?:[^A-Z]*[A-Z]){2})[A-Z0-9][A-Z0-9\-]{1,5}$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A half-open character range that names a concept; `name` is the text as it stands there."""

    start: int
    end: int
    concept_id: str
    name: str


@dataclass(frozen=True, slots=True)
class _Entry:
    concept_id: str
    # The spellings that count, for acronyms; None where case does not matter.
    written: frozenset[str] | None
    # An acronym of three letters, which needs the support of a full name.
    short: bool = False


class MentionLinker:
    """Linker that finds all names of a knowledge base in texts.

    Args:
        knowledge_base: The concepts to find; entries of code lists are ignored.
        skip: Names, in any case, that are never mentions.
        concepts: The concepts to find, if not all.
    """

    def __init__(
        self, knowledge_base: KnowledgeBase, skip: Iterable[str] = GENERIC, concepts: Iterable[Concept] | None = None
    ) -> None:
        # By folded pattern (with plurals, possessives and British spellings): its concepts, and its required spellings.
        meanings: dict[str, dict[str, Concept]] = {}
        written: dict[str, set[str] | None] = {}
        for concept in knowledge_base if concepts is None else concepts:
            for name in concept.names:
                plain = _QUALIFIER.sub("", name).strip()
                acronym = is_acronym(plain, concept.names)
                if len(plain) < 3 or (acronym and sum(map(str.isalpha, plain)) < 3) or plain.lower().startswith("the "):
                    continue
                for surface in (plain,) if acronym else _spell_surfaces(plain):
                    pattern = _BLANKS.sub(" ", fold(surface)).strip()
                    meanings.setdefault(pattern, {})[concept.concept_id] = concept
                    forms = written.setdefault(pattern, set()) if acronym else written.update({pattern: None})
                    if forms is not None:
                        forms.update((surface.upper(), surface) if surface != surface.lower() else (surface.upper(),))
        skipped = {"", *map(fold, skip)}
        entries: dict[str, _Entry] = {}
        for pattern, of_pattern in meanings.items():
            concept_id = _choose_concept(knowledge_base, pattern, list(of_pattern.values()))
            if concept_id and pattern not in skipped:
                forms = written[pattern]
                short = forms is not None and min(sum(map(str.isalpha, form)) for form in forms) <= 3
                entries[pattern] = _Entry(concept_id, None if forms is None else frozenset(forms), short)
        self._entries = list(entries.values())
        self._automaton = NameAutomaton(entries)

    @classmethod
    def of_short_text(cls, knowledge_base: KnowledgeBase, text: str) -> MentionLinker:
        """Return a linker for one text, which finds the same mentions in it as the full linker.

        It has only the names whose words begin like words of the text. Building it takes milliseconds instead of
        seconds.
        """
        words = normalise_name(text).split()
        beginnings = {word[:length] for word in words for length in range(1, len(word) + 1)} | _QUALIFYING_WORDS

        def occurs(word: str) -> bool:
            # Plurals and British spelling change at most the last two letters.
            return word in beginnings or (len(word) > 3 and word[: max(3, len(word) - 2)] in beginnings)

        candidates = {
            concept_id: knowledge_base.concepts[concept_id]
            for beginning in {beginning[:3] for beginning in beginnings}
            for key in knowledge_base.names_by_beginning.get(beginning, ())
            if all(map(occurs, key.split()))
            for concept_id in knowledge_base.name_index[key]
        }
        return cls(knowledge_base, concepts=candidates.values())

    def link_text(self, text: str) -> list[Mention]:
        """Return the mentions of a text in order, without overlap; of mentions with one start the longest is kept.

        Args:
            text: Any text.

        Returns:
            Mentions with `text[m.start:m.end] == m.name`.
        """
        mentions: list[Mention] = []
        unsupported: list[Mention] = []
        named: set[str] = set()
        last = 0
        for start, negative_end, index in self._automaton.find(text):
            if start < last:
                continue
            entry = self._entries[index]
            mention = Mention(start, -negative_end, entry.concept_id, text[start:-negative_end])
            if entry.written is None:
                named.add(entry.concept_id)
            elif mention.name not in entry.written:
                continue
            elif entry.short:
                unsupported.append(mention)
            mentions.append(mention)
            last = mention.end
        dropped = {mention.start for mention in unsupported if mention.concept_id not in named}
        return [mention for mention in mentions if mention.start not in dropped] if dropped else mentions


def is_acronym(name: str, names: Sequence[str]) -> bool:
    """Return whether a name is an acronym: up to six capitals and digits, or the initials of another name.

    Args:
        name: One of the names.
        names: All names of the concept, the preferred one first.
    """
    if _ACRONYM.match(name):
        return True
    # Taxonomies lower-case acronyms, which turns them into everyday words ("men", "soft", "Kd").
    if len(name) > 6 or not name.isalnum() or name == names[0]:
        return False
    short = name.lower()
    others = [other.lower() for other in names if len(other) > len(name)]
    if short in map("".join, map(_INITIALS.findall, others)):
        return True
    # A word at the beginning of another name or inside it ("lupus", "polio") is not an acronym.
    if any(map(re.compile(rf"(?<!\S){short}").search, others)):
        return False
    # An acronym's letters occur in this order in another name that begins with the first of them.
    in_order = short[0] + "".join(f"[^{letter}]*{letter}" for letter in short[1:])
    return any(map(re.compile(in_order).match, others))


def _spell_surfaces(name: str) -> Iterator[str]:
    """Yield the spellings of a name in running text."""
    for variant in spelling_variants(name):
        yield variant
        plural = _plural(variant)
        if plural:
            yield plural


def _plural(name: str) -> str:
    if not name[-1].isalpha() or not name[-1].islower() or len(name) < 4:
        return ""
    if name.endswith("sis"):
        return name[:-2] + "es"
    if name.endswith(("s", "x", "ch", "sh")):
        return "" if name.endswith("s") else name + "es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


def _choose_concept(knowledge_base: KnowledgeBase, pattern: str, concepts: list[Concept]) -> str | None:
    """Return the concept that a name means: the one with it as preferred name, else the ancestor of all others."""
    if len(concepts) == 1:
        return concepts[0].concept_id
    key = normalise_name(pattern)
    preferred = [concept for concept in concepts if normalise_name(concept.name) == key]
    if preferred:
        return preferred[0].concept_id
    ids = {concept.concept_id for concept in concepts}
    return next((c for c in sorted(ids) if ids - {c} <= knowledge_base.hierarchy.descendants(c)), None)
