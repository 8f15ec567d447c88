"""Where running text names a concept: every name and synonym at once, longest first.

This is the one file that imports the automaton (`ahocorasick_rs`).

The text is folded without changing its length (case, accents, punctuation to blanks), so offsets stay true,
and an Aho-Corasick automaton finds all names in one pass: the cost does not depend on how many names there
are (about 10 MB/s for 200,000 of them, all steps counted). What a person would not take for a mention is left
out:

- acronyms (up to six capitals and digits) match only as they are written; those of two letters never, those
  of three only in a text that also has a full name of the same concept;
- a name of several concepts, none of which it is the preferred name of, counts only when one of them is an
  ancestor of the others;
- words of `GENERIC`, which name classes rather than things ("disease", "syndrome"), and names of two letters.
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
    """Finds folded patterns as whole words.

    Args:
        patterns: What `fold` returned, words one blank apart, none empty.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._automaton = AhoCorasick([f" {pattern} " for pattern in patterns], store_patterns=False)

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """(start, -end, number of the pattern) of every match, overlapping ones too.

        Returns:
            In order of the start, longest first where two start together.
        """
        matches = self._automaton.find_matches_as_indexes(f" {fold(text)} ", overlapping=True)
        # Patterns carry a blank at both ends, and so does the folded text: offsets shift by one and then cancel.
        return sorted((start, -(end - 2), index) for index, start, end in matches)


def fold(text: str) -> str:
    """Lower case, no accents, blanks for everything but letters and digits; the length never changes."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    if not lower.isascii():
        lower = lower.translate(_ACCENTS)
    return _NOT_WORD.sub(" ", lower)


def single_blanks(text: str) -> tuple[str, Sequence[int]]:
    """A text with one blank for each run of blanks and line breaks, and where each of its letters was.

    Returns:
        The text, and for each place in it, its end included, the place in the original.
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


# Class words, qualities, and synonyms that everyday text uses for something else (a taxonomy's "soft" is an
# acronym in lower case). Found by reading what was linked most often in encyclopedia and patient pages.
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
# What taxonomies put in brackets behind a name.
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
    """Dictionary matching of all names of a knowledge base.

    Args:
        knowledge_base: Whose concepts to find (entries of code lists take no part).
        skip: Names (any case) that are never mentions.
        concepts: Only these of its concepts; all where not given.
    """

    def __init__(
        self, knowledge_base: KnowledgeBase, skip: Iterable[str] = GENERIC, concepts: Iterable[Concept] | None = None
    ) -> None:
        # By folded pattern, with plurals, possessives and British spellings: what it may mean, how it must be written.
        meanings: dict[str, dict[str, Concept]] = {}
        written: dict[str, set[str] | None] = {}
        for concept in knowledge_base if concepts is None else concepts:
            for name in concept.names:
                plain = _QUALIFIER.sub("", name).strip()
                acronym = is_acronym(plain, concept.names)
                if len(plain) < 3 or (acronym and sum(map(str.isalpha, plain)) < 3) or plain.lower().startswith("the "):
                    continue
                for surface in (plain,) if acronym else _surfaces(plain):
                    pattern = _BLANKS.sub(" ", fold(surface)).strip()
                    meanings.setdefault(pattern, {})[concept.concept_id] = concept
                    forms = written.setdefault(pattern, set()) if acronym else written.update({pattern: None})
                    if forms is not None:
                        forms.update((surface.upper(), surface) if surface != surface.lower() else (surface.upper(),))
        skipped = {"", *map(fold, skip)}
        entries: dict[str, _Entry] = {}
        for pattern, of_pattern in meanings.items():
            concept_id = _unambiguous(knowledge_base, pattern, list(of_pattern.values()))
            if concept_id and pattern not in skipped:
                forms = written[pattern]
                short = forms is not None and min(sum(map(str.isalpha, form)) for form in forms) <= 3
                entries[pattern] = _Entry(concept_id, None if forms is None else frozenset(forms), short)
        self._entries = list(entries.values())
        self._automaton = NameAutomaton(entries)

    @classmethod
    def of_short_text(cls, knowledge_base: KnowledgeBase, text: str) -> MentionLinker:
        """A linker that finds in this text what one of all names finds.

        Built from the few names whose words begin like words of the text, which takes milliseconds where all names
        take seconds.
        """
        words = normalise_name(text).split()
        beginnings = {word[:length] for word in words for length in range(1, len(word) + 1)} | _QUALIFYING_WORDS

        def occurs(word: str) -> bool:
            # The last two letters are what plurals and British spelling change.
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
        """Mentions in order, without overlap, longest first where two start together.

        Args:
            text: Any text; nothing is assumed about its language or cleanliness.

        Returns:
            Mentions whose range slices back: `text[m.start:m.end] == m.name`.
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
    """Whether a name is one only as it is written: up to six capitals and digits, or initials of another name.

    Args:
        name: One of the names.
        names: All names of the thing, the preferred one first.
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
    # A word that another name starts with or has in it ("lupus", "polio") is none.
    if any(map(re.compile(rf"(?<!\S){short}").search, others)):
        return False
    # The letters stand in this order in another name that begins with the first.
    in_order = short[0] + "".join(f"[^{letter}]*{letter}" for letter in short[1:])
    return any(map(re.compile(in_order).match, others))


def _surfaces(name: str) -> Iterator[str]:
    """The ways a name is written in running text."""
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


def _unambiguous(knowledge_base: KnowledgeBase, pattern: str, concepts: list[Concept]) -> str | None:
    """The concept a name means: the one it is the preferred name of, else the one above all others."""
    if len(concepts) == 1:
        return concepts[0].concept_id
    key = normalise_name(pattern)
    preferred = [concept for concept in concepts if normalise_name(concept.name) == key]
    if preferred:
        return preferred[0].concept_id
    ids = {concept.concept_id for concept in concepts}
    return next((c for c in sorted(ids) if ids - {c} <= knowledge_base.hierarchy.descendants(c)), None)
