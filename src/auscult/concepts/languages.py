"""Names of concepts in other languages than English: their spellings, and where they are looked up.

English names are part of each concept. Names in other languages are kept apart (`NamesByLanguage`), so that an English
question never finds a concept by a word of another language, such as French "rage" for rabies.

There are two keys. `name_key` removes case, accents and punctuation, and writes "ß" as "ss". `loose_keys` also remove
articles and prepositions and reduce words to their stems by Snowball, so that "las migrañas" finds "migraña"; in
German, "ae" is read like "ä".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from auscult.documents.analysis import fold, stem_words
from auscult.errors import DataError

_STEMMERS: Final = MappingProxyType(
    {
        "da": "danish", "de": "german", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
        "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "sv": "swedish",
    }
)  # fmt: skip
_STEMMED_AGAIN: Final = frozenset({"es"})
"""Languages whose stems are stemmed until they stay, as a plural's may be the singular ("enfermedades", "enfermedad").
In French this makes one of "hepatique" and "hepatite"."""
_ARTICLES: Final = MappingProxyType(
    {
        "de": "der die das den dem des ein eine einen einem einer eines von vom zu zum zur im in am an bei mit und",
        "es": "el la los las un una unos unas de del al a y e en con por para",
        "fr": "le la les l un une des du de d au aux a et en avec par pour",
    }
)
_SMALL_WORDS: Final = {language: frozenset(words.split()) for language, words in _ARTICLES.items()}
"""Articles and prepositions of each language."""
_STEMMED: Final = "~"
"""Stands before stems, so that no acronym is taken for one: the stem of Spanish "además" (besides) is "adem"."""
_NO_WORDS: Final[frozenset[str]] = frozenset()
_WORD: Final = re.compile(r"[^\W_]+")
_UMLAUT: Final = re.compile("(?<=[aou])e")
_CODE: Final = re.compile(r"[a-z]{2,3}")
_LEAST_LETTERS: Final = 4
_NOTHING: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
_NO_CONCEPTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType({})
_NO_COUNTS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ForeignName:
    """A name in another language than English, as a file lists it.

    Attributes:
        name: The name as written.
        language: Code of its language ("de").
        identifiers: Identifiers of its concept in canonical form, the most exact first; empty if only `english` is
            known.
        english: An English name of the concept; empty if the file has none.
    """

    name: str
    language: str
    identifiers: tuple[str, ...] = ()
    english: str = ""


@dataclass(frozen=True, slots=True)
class NamesSource:
    """A file of names, and under which licence they are.

    Attributes:
        title: What it is ("Orphadata").
        licence: Licence of the names; empty if the file does not say.
        languages: Codes of the languages of its names.
        names: How many names were taken from it.
    """

    title: str
    licence: str
    languages: tuple[str, ...]
    names: int


def language_code(text: str) -> str:
    """Return the code of a language tag: "de" for "de", "DE" and "de-AT".

    Raises:
        DataError: It is not a language tag.
    """
    code = re.split("[-_]", text.strip().lower())[0]
    if not _CODE.fullmatch(code):
        raise DataError("a language code such as de", repr(text), "correct it")
    return code


def name_key(name: str) -> str:
    """Return the words of a name without case, accents and punctuation; "ß" becomes "ss"."""
    return " ".join(_WORD.findall(fold(name)))


def is_small_word(word: str, language: str) -> bool:
    """Return whether a word is an article or a preposition, which `loose_keys` leave out."""
    return fold(word) in _SMALL_WORDS.get(language, _NO_WORDS)


def loose_keys(name: str, language: str) -> tuple[str, ...]:
    """Return the looser keys of a name, the stricter first: without articles and prepositions, and with stems.

    Acronyms have no stems, and names whose stems have fewer than four letters neither: French "carie" and "car" (as)
    have the same stem.

    Args:
        name: The name as written.
        language: Code of its language.
    """
    words = [word for word in name_key(name).split() if not is_small_word(word, language)]
    stems = " ".join(_stems(words, language))
    has_stems = sum(map(str.isalpha, stems)) >= _LEAST_LETTERS and not name.isupper()
    return tuple(filter(None, (" ".join(words), f"{_STEMMED}{stems}" if has_stems else "")))


def _stems(words: list[str], language: str) -> list[str]:
    """Return the stems of folded words."""
    if language == "de":
        words = [_UMLAUT.sub("", word) for word in words]
    if language not in _STEMMERS:
        return words
    stems = stem_words(words, _STEMMERS[language])
    while language in _STEMMED_AGAIN and (again := stem_words(stems, _STEMMERS[language])) != stems:
        stems = again
    return stems


class NamesByLanguage:
    """The names of concepts in other languages; immutable.

    Args:
        of_concepts: By concept, its names by language; the preferred name of each language comes first.
        sources: The files that they are from.
        lookups: The lookup tables of the names, if already computed.
    """

    def __init__(
        self,
        of_concepts: Mapping[str, Mapping[str, tuple[str, ...]]] = _NO_CONCEPTS,
        sources: tuple[NamesSource, ...] = (),
        lookups: NameLookups | None = None,
    ) -> None:
        self.of_concepts = of_concepts
        self.sources = sources
        self._lookups = lookups

    def __bool__(self) -> bool:
        return bool(self.of_concepts)

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages, in alphabetical order."""
        return tuple(sorted({language for source in self.sources for language in source.languages}))

    @property
    def lookups(self) -> NameLookups:
        """The lookup tables, to be saved with the names."""
        if self._lookups is None:
            self._lookups = build_lookups(self.of_concepts)
        return self._lookups

    def names(self, concept_id: str, languages: Collection[str]) -> tuple[str, ...]:
        """Return the names of a concept in some languages, by the order of these languages."""
        by_language = self.of_concepts.get(concept_id, _NOTHING)
        return tuple(dict.fromkeys(name for language in languages for name in by_language.get(language, ())))

    def find(self, name: str, language: str, *, loosely: bool = False) -> tuple[str, ...]:
        """Return the ids of the concepts that have a name in a language, best first.

        Args:
            name: The name in any spelling.
            language: Code of the language.
            loosely: Whether to compare by `loose_keys`.
        """
        if not self:
            return ()
        if not loosely:
            return self.lookups.exact.get(f"{language} {name_key(name)}", ())
        found = (self.lookups.loose.get(f"{language} {key}", ()) for key in loose_keys(name, language))
        return next(filter(None, found), ())

    def matching(self, concept_id: str, language: str, text: str) -> str:
        """Return the name of a concept that matches a text, as the concept has it; empty if none does."""
        names = self.of_concepts.get(concept_id, _NOTHING).get(language, ())
        key = name_key(text)
        exact = (name for name in names if name_key(name) == key)
        loose = set(loose_keys(text, language))
        alike = (name for name in names if not loose.isdisjoint(loose_keys(name, language)))
        return next(exact, "") or next(alike, "")

    def has_word(self, word: str, language: str) -> bool:
        """Return whether a word, or one with the same stem, occurs in the names of a language."""
        if not self:
            return False
        return is_small_word(word, language) or all(
            f"{language} {stem}" in self.lookups.words for stem in _stems(name_key(word).split(), language)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLookups:
    """Lookup tables of names; each key begins with the code of the language and a blank.

    Attributes:
        exact: Concept ids by `name_key`.
        loose: Concept ids by `loose_keys`.
        words: How many times the stem of each word occurs in names.
    """

    exact: Mapping[str, tuple[str, ...]]
    loose: Mapping[str, tuple[str, ...]]
    words: Mapping[str, int]


def build_lookups(of_concepts: Mapping[str, Mapping[str, tuple[str, ...]]]) -> NameLookups:
    """Return the lookup tables; of several concepts with one name, those that prefer it come first."""
    exact: dict[str, list[str]] = {}
    loose: dict[str, list[str]] = {}
    words: Counter[str] = Counter()
    for concept_id, language, name in _preferred_first(of_concepts):
        key = name_key(name)
        exact.setdefault(f"{language} {key}", []).append(concept_id)
        for alike in loose_keys(name, language):
            loose.setdefault(f"{language} {alike}", []).append(concept_id)
        words.update(f"{language} {stem}" for stem in _stems(key.split(), language))
    return NameLookups(
        exact={key: tuple(dict.fromkeys(ids)) for key, ids in exact.items()},
        loose={key: tuple(dict.fromkeys(ids)) for key, ids in loose.items()},
        words=words,
    )


def _preferred_first(of_concepts: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Iterator[tuple[str, str, str]]:
    """Yield (concept id, language, name) of all preferred names, then of all others."""
    every = [
        (number, concept_id, language, name)
        for concept_id, by_language in of_concepts.items()
        for language, names in by_language.items()
        for number, name in enumerate(names)
    ]
    for _, concept_id, language, name in sorted(every, key=lambda each: each[0] > 0):
        yield concept_id, language, name
