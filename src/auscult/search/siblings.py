"""Similar entities: documents about "Spastic paraplegia 11" where the query is about "Spastic paraplegia 8".

Two names are siblings if they have the same head words and different qualifiers: a number, Roman numeral, letter or
gene ("type 2", "IV", "B", "BRCA1"), or words that exclude each other (acute and chronic, adult and childhood, hypo- and
hyper-; `concepts.fuzzy`). A name without a qualifier ("Spastic paraplegia") is a wider one, and no sibling. This
compares names only, so that it works for any document with a title.

With a knowledge base, a title is also similar if it shares a word with a name of what was asked, but names another
concept that is neither a wider nor a narrower one: "Celiac artery compression syndrome" where celiac disease was asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from auscult.concepts.fuzzy import contradict, contrasts, designators
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.names import GENERIC_WORDS, content_key, normalise_name, order_free_key, short_key
from auscult.understanding.query import Query

_SERIES = frozenset(
    {"type", "subtype", "stage", "grade", "class", "group", "phase", "level", "part", "form", "variant", "number", "no"}
)
_CONTRASTED_STARTS = ("hypo", "hyper", "micro", "macro", "brady", "tachy", "mono", "poly")
_ROMAN: Final = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_NUMBERS = {roman: str(number) for number, roman in enumerate(_ROMAN, start=1)}
_WRITTEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {word: str(number) for number, word in enumerate(_WRITTEN, start=1)}
# "IIB", "IVa": a numeral with a letter behind it, as long as it is written in capitals.
_LETTERED = re.compile(r"\b(X{0,1}(?:IX|IV|V?I{1,3}|V)|X)[ -]?([A-H]|(?<=[IVX])[a-h])\b")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_BEHIND = re.compile(r"\s*[(\[].*$")


@dataclass(frozen=True, slots=True)
class _Name:
    """The parts of a name.

    Attributes:
        head: Its head words, sorted: the kind of thing it names.
        which: Its numbers, letters and genes, which distinguish it from others of the kind.
        excluded: Its words that exclude others, each with the number of their contrast.
    """

    head: str
    which: frozenset[str]
    excluded: frozenset[tuple[int, str]]


def sibling_note(query: Query, title: str, knowledge_base: KnowledgeBase | None = None) -> str:
    """Return the line that says that a document is about a similar entity, not the query's; else empty.

    Args:
        query: The query, understood, with all names of its entity.
        title: Title of a hit's document.
        knowledge_base: If it has one concept for the title and a name of the entity, both are the same.
    """
    names = query.all_names
    if not names or not title.strip():
        return ""
    if knowledge_base is not None:
        asked = {concept.concept_id for name in names for concept in knowledge_base.by_name(name)} | {query.entity_id}
        if any(concept.concept_id in asked for concept in knowledge_base.by_name(title)):
            return ""
    if not (are_siblings(names, title) or _is_another(query, title, knowledge_base)):
        return ""
    return f"similar, but not the one asked: '{title.strip()}', where '{query.entity}' was asked for"


def are_siblings(names: Sequence[str], title: str) -> bool:
    """Return whether a title names a sibling of the entity with these names."""
    other = _parse_name(title)
    key = order_free_key(normalise_name(title))
    is_sibling = False
    for name in names:
        asked_name = _parse_name(name)
        if order_free_key(normalise_name(name)) == key:
            return False
        if asked_name.head and asked_name.head == other.head:
            if not _differ(asked_name, other):
                return False
            is_sibling = True
    return is_sibling


def _differ(one: _Name, other: _Name) -> bool:
    """Return whether two names of one kind contradict each other. A qualifier that only one has is no contradiction."""
    both = bool(one.which and other.which)
    numbered = both and not (_within(one.which, other.which) or _within(other.which, one.which))
    return numbered or contradict(one.excluded, other.excluded)


def _within(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Return whether the narrow name has all qualifiers of the wide one: 3B has that of 3, 11 has not that of 1."""
    return all(
        any(
            part == other or (part[-1].isdigit() and other.startswith(part) and other[len(part)].isalpha())
            for other in narrow
        )
        for part in wide
    )


def _is_another(query: Query, title: str, knowledge_base: KnowledgeBase | None) -> bool:
    """Return whether a title names another concept that shares a word and is neither wider nor narrower."""
    concepts = knowledge_base.by_name(_BEHIND.sub("", title)) if knowledge_base else ()
    if knowledge_base is None or not concepts or query.entity_id not in knowledge_base:
        return False
    key = f" {normalise_name(title)} "
    names = [normalise_name(name) for name in query.all_names]
    # "Small cell lung cancer" is a lung cancer, and "Lung cancer in women" too; "gout nephropathy" is no gout.
    narrower = any(key.endswith(f" {name} ") or (" " in name and f" {name} " in key) for name in names)
    wider = any(key in f" {name} " or short_key(name) == short_key(key) for name in names)
    if narrower or wider:
        return False
    shared = {word for name in names for word in content_key(name).split()} & set(content_key(key).split())
    kin = {knowledge_base.relation(query.entity_id, concept.concept_id) for concept in concepts}
    return bool(shared - GENERIC_WORDS - _SERIES) and kin <= {"sibling", "unrelated"}


def _parse_name(name: str) -> _Name:
    bare = _ARTICLE.sub("", _BEHIND.sub("", name) or name)
    key = normalise_name(_LETTERED.sub(lambda found: _NUMBERS[found[1].lower()] + found[2].lower(), bare))
    words = key.split()
    for place, word in enumerate(words):
        if place and words[place - 1] in _SERIES and word in _WORDS:
            words[place] = _WORDS[word]
        # "Mucopolysaccharidosis I" is that of type 1.
        elif place and word in ("i", "v", "x"):
            words[place] = _NUMBERS[word]
    key = " ".join(words)
    which = frozenset(designators(key))
    excluded = contrasts(key)
    head_words = [
        next((word[len(start) :] for start in _CONTRASTED_STARTS if word.startswith(start)), word)
        for word in content_key(key).split()
        if word not in which | _SERIES | GENERIC_WORDS and word not in {member for _, member in excluded}
    ]
    return _Name(" ".join(sorted(head_words)), which, excluded)
