"""Resolve what a person typed to concepts: by identifier, name or synonym, and despite misspellings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from auscult.concepts.concept import Concept
from auscult.concepts.fuzzy import FuzzyNames
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.names import abbreviations, normalise_name, order_free_key, short_key
from auscult.documents.language_names import ENGLISH, UNKNOWN

MatchKind = Literal["identifier", "name", "synonym", "fuzzy"]
_SHORT: Final = 3


@dataclass(frozen=True, slots=True)
class Match:
    """A concept that a typed text may stand for.

    Attributes:
        concept: The concept.
        matched_name: The name or identifier of the concept that matches the text.
        kind: How it matches.
        score: 1 for an exact match, less for another word order, a wider code or a misspelling; in (0, 1].
        language: Code of the language of `matched_name`.
    """

    concept: Concept
    matched_name: str
    kind: MatchKind
    score: float
    language: str = ENGLISH


class EntityResolver:
    """Resolver of identifiers, names and misspellings. The index for misspellings is built when first needed.

    Args:
        knowledge_base: The knowledge base with the concepts.
        cutoff: Minimum similarity of a fuzzy match, in (0, 1].
    """

    def __init__(self, knowledge_base: KnowledgeBase, cutoff: float = 0.8) -> None:
        self.knowledge_base = knowledge_base
        self._cutoff = cutoff
        self._built: FuzzyNames | None = None

    def resolve(self, text: str, limit: int = 5, *, fuzzy: bool = True, language: str = ENGLISH) -> list[Match]:
        """Return the matches of a text, best first; empty if nothing is similar.

        Identifiers are tried first, then common abbreviations (`abbreviations`), exact names and synonyms (compared by
        `normalise_name`), then the same words in another order or without words such as "disease". Similar names are
        only tried if all of these fail.

        In another language its names come first (exact, then by stems), then English names of four letters or more, or
        in capitals, then those of other languages; nothing is similar. If the language is unknown, exact names of all
        languages come after all English ones but similar ones.

        Args:
            text: "DOID:2986", "ICD-10 N02.8", "MI", "heart attack", "leukemia, acute", "alzhimers".
            limit: Maximum number of matches.
            fuzzy: Whether similar English names count.
            language: Code of the text's language; empty if it is not known, such as that of a name alone.
        """
        identifier = normalise_identifier(text)
        if identifier:
            matches = _distinct(list(self._by_identifier(identifier)))
            if matches:
                return matches[:limit]
        key = normalise_name(text)
        if not key:
            return []
        if language not in (ENGLISH, UNKNOWN):
            return self._resolve_foreign(text, key, language)[:limit]
        matches = self._resolve_english(text, key)
        if not matches and language == UNKNOWN:
            matches = self._in_languages(text, self.knowledge_base.foreign.languages)
        if matches:
            return matches[:limit]
        return self._fuzzy_matches(key, limit) if fuzzy else []

    def _resolve_english(self, text: str, key: str) -> list[Match]:
        """Return the matches of an abbreviation, a name, or its words in another order or without "disease"."""
        exact = self._of_key(key, 1.0)
        if (identifier := abbreviations().get(key)) and (concept := self.knowledge_base.lookup(identifier)):
            exact.insert(0, Match(concept, text.strip(), "synonym", 1.0))
        exact = _distinct(exact)
        if exact:
            return exact
        for groups, looser, score in (
            (self.knowledge_base.reordered, order_free_key(key), 0.98),
            (self.knowledge_base.short, short_key(key), 0.95),
        ):
            reordered = [match for other in groups.get(looser, ()) for match in self._of_key(other, score)]
            if reordered:
                return _distinct(sorted(reordered, key=lambda match: match.kind != "name"))
        return []

    def _resolve_foreign(self, text: str, key: str, language: str) -> list[Match]:
        """Return the matches of a name in a language that is not English, of one kind."""
        foreign = self.knowledge_base.foreign
        matches = self._in_languages(text, [language])
        if not matches:
            ids = foreign.find(text, language, loosely=True)
            matches = [self._foreign_match(concept_id, text, language, 0.95) for concept_id in ids]
        # Short English names are acronyms, and words of other languages: "ALA", "DES".
        if not matches and (len(key) > _SHORT or text.strip().isupper()):
            matches = self._of_key(key, 1.0)
        return _distinct(matches or self._in_languages(text, [each for each in foreign.languages if each != language]))

    def _in_languages(self, text: str, languages: Iterable[str]) -> list[Match]:
        """Return the matches of exact names in languages, by the order of these."""
        foreign = self.knowledge_base.foreign
        found = ((concept_id, language) for language in languages for concept_id in foreign.find(text, language))
        return _distinct([self._foreign_match(concept_id, text, language, 1.0) for concept_id, language in found])

    def _foreign_match(self, concept_id: str, text: str, language: str, score: float) -> Match:
        known = self.knowledge_base
        matched = known.foreign.matching(concept_id, language, text)
        return Match(known.concepts[concept_id], matched or text.strip(), "synonym", score, language)

    def reuse_names(self, other: EntityResolver) -> None:
        """Take what finds misspelt names from another resolver, where it has built it and its names are the same.

        Building it takes 1.1 s of a processor for 164,000 names, comparing the names 0.1 s.
        """
        built = other._built
        if built is not None and built.keys == self._fuzzy_keys():
            self._built = built

    def best(self, text: str) -> Match | None:
        """Return the first match of `resolve`, or None."""
        return next(iter(self.resolve(text, limit=1)), None)

    def _fuzzy_matches(self, key: str, limit: int) -> list[Match]:
        matches: list[Match] = []
        if self._built is None:
            self._built = FuzzyNames(self._fuzzy_keys())
        for name, score in self._built.search(key, limit=4 * limit, cutoff=self._cutoff):
            exact = self._of_key(name, 1.0) or [
                match for other in self.knowledge_base.short.get(name, ()) for match in self._of_key(other, 1.0)
            ]
            exact.sort(key=lambda match: match.kind != "name")
            matches += [Match(match.concept, match.matched_name, "fuzzy", round(score, 4)) for match in exact]
        return _distinct(matches)[:limit]

    def _by_identifier(self, identifier: str) -> Iterator[Match]:
        for concept in self.knowledge_base.by_identifier(identifier):
            if concept.concept_id in self.knowledge_base.codes:
                # A code's title may name a concept that does not cite the code.
                for named in self.knowledge_base.by_name(concept.name):
                    yield Match(named, concept.name, "identifier", 0.95)
            yield Match(concept, identifier, "identifier", 1.0)
        # An ICD-10 code that no concept cites still belongs to its category.
        prefix, _, code = identifier.partition(":")
        while prefix == "ICD10" and len(code) > 3:
            code = code[:-1].rstrip(".")
            for concept in self.knowledge_base.by_identifier(f"ICD10:{code}"):
                yield Match(concept, f"ICD10:{code}", "identifier", 0.9)

    def _of_key(self, key: str, score: float) -> list[Match]:
        """Return matches for the concepts that have a name with this key."""
        matches = []
        for concept_id in self.knowledge_base.name_index.get(key, ()):
            concept = self.knowledge_base.concepts[concept_id]
            matched = concept.name
            for name in concept.names:
                if normalise_name(name) == key:
                    matched = name
                    break
            kind: MatchKind = "name" if matched == concept.name else "synonym"
            matches.append(Match(concept, matched, kind, score))
        return matches

    def _fuzzy_keys(self) -> list[str]:
        keys = dict.fromkeys((*self.knowledge_base.name_index, *self.knowledge_base.short))
        # Acronyms and other words of up to four letters are too similar to one another.
        return [key for key in keys if len(key) > 4]


def _distinct(matches: list[Match]) -> list[Match]:
    """Return the first match of every concept, in order."""
    first: dict[str, Match] = {}
    for match in matches:
        first.setdefault(match.concept.concept_id, match)
    return list(first.values())
