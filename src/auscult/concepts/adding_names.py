"""Add names in other languages to the concepts of a knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auscult.concepts.concept import Concept
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.languages import ForeignName, NamesByLanguage, NamesSource, name_key
from auscult.concepts.name_files import NameFile
from auscult.concepts.names import normalise_name


@dataclass(frozen=True, slots=True)
class AddedNames:
    """What became of the names of one file.

    Attributes:
        source: The file, with the number of names that belong to a concept.
        unknown: How many names belong to no concept of the knowledge base.
    """

    source: NamesSource
    unknown: int


def with_names(known: KnowledgeBase, files: Sequence[NameFile]) -> tuple[KnowledgeBase, list[AddedNames]]:
    """Return a knowledge base with the names of files, and what became of each file.

    A name belongs to the concept with its identifier, else to the only concept that cites this identifier, else to the
    concept with its English name. Names of no concept are left out, so English names are found as before.

    Args:
        known: The knowledge base; names that it already has in other languages stay, and come first.
        files: The files, most trusted first.
    """
    added = []
    names = {
        concept_id: {language: dict.fromkeys(kept) for language, kept in by_language.items()}
        for concept_id, by_language in known.foreign.of_concepts.items()
    }
    for file in files:
        placed = 0
        unknown: set[tuple[str, str]] = set()
        taken: set[tuple[str, str]] = set()
        for name in file.names:
            concept = find_concept(known, name)
            key = (name.language, name.name)
            if concept is None:
                unknown.add(key)
                continue
            taken.add(key)
            of_language = names.setdefault(concept.concept_id, {}).setdefault(name.language, {})
            if _is_new(name.name, of_language):
                of_language[name.name] = None
                placed += 1
        languages = tuple(sorted({name.language for name in file.names}))
        source = NamesSource(file.title, file.licence, languages, placed)
        added.append(AddedNames(source, len(unknown - taken)))
    together = {
        concept_id: {language: tuple(kept) for language, kept in by_language.items()}
        for concept_id, by_language in names.items()
    }
    sources = (*known.foreign.sources, *(each.source for each in added))
    return known.with_foreign(NamesByLanguage(together, sources)), added


def find_concept(known: KnowledgeBase, name: ForeignName) -> Concept | None:
    """Return the concept that a name belongs to; None if it is in doubt or unknown."""
    english = normalise_name(name.english)
    for identifier in name.identifiers:
        if identifier in known.concepts:
            return known.concepts[identifier]
        citing = known.citing(identifier)
        named = [concept for concept in citing if english in map(normalise_name, concept.names)] if english else []
        for candidates in (citing, named):
            if len(candidates) == 1:
                return candidates[0]
    # Concepts with it as their preferred name come first.
    candidates = list(known.by_name(name.english)) if english else []
    preferred = [concept for concept in candidates if normalise_name(concept.name) == english]
    return next(iter(preferred or (candidates if len(candidates) == 1 else [])), None)


def _is_new(name: str, others: Iterable[str]) -> bool:
    key = name_key(name)
    return bool(key) and all(name_key(other) != key for other in others)
