"""Parse questions: find the entities they may be about, each with a likelihood, and what they ask for.

1. Find names in the text: titles of the collection, names of concepts, and acronyms as they are written. Where there is
   none, what is left of a short question without the words that questions are worded with may be one.
2. Weigh each of them (`names.json`): a logistic regression on whether it is a title of the collection, how long it is,
   where it stands and which others there are. It was fitted on written questions, whose documents are known.
3. Replace the names by "this disease", or "this" for others, and let a model read what is asked (`ReadsAspects`): "how
   long has dad got with this disease". It reads the whole and each clause, as a question may ask for several things.

No pattern of words decides what is asked. Words that belong to no name still take part in the search.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from types import MappingProxyType
from typing import Final

from auscult.concepts.aspects import normalise_heading
from auscult.concepts.mentions import GENERIC, is_acronym
from auscult.concepts.names import FUNCTION_WORDS, normalise_name
from auscult.concepts.resolver import EntityResolver, Match
from auscult.concepts.word_counts import SummedCounts, count_words
from auscult.documents.language_names import ENGLISH, READ_BESIDE_ENGLISH, UNKNOWN
from auscult.documents.stop_words import stop_words
from auscult.files.json_text import parse_json
from auscult.understanding.aspects import QUESTIONS, ReadsAspects
from auscult.understanding.foreign_names import find_foreign
from auscult.understanding.saying import PEOPLE, SAYING_NOTHING
from auscult.understanding.spelling import SpellingOfWords, ordinary_words

SURE: Final = 0.6
"""Likelihood from which on a name is taken for what the question is about, without "may be"."""
ASKED: Final = 0.3
"""Likelihood from which on an aspect is said to be asked for."""
UNLISTED: Final = 0.5
"""Likelihood of a name that no document and no vocabulary has: less than `SURE`, as nothing tells whether it is one."""
LONG_ENOUGH_ELSEWHERE: Final = 5
"""Letters from which on a word of a question that is not in English may be a name; shorter ones are mostly words of its
language ("von", "la", "des")."""
_READ_AS_ENGLISH: Final = frozenset({ENGLISH, UNKNOWN})
_CERTAIN: Final = 0.7
_LEAST: Final = 0.02
_SHORTEST, _SHORT, _LONGEST, _MOST_ENTITIES, _MOST_UNLISTED = 3, 4, 12, 4, 4
_STORY: Final = 25
_THIS: Final = "this"
THIS_DISEASE: Final = "this disease"
"""Stands for the name of a disease where a model reads which aspect is asked for."""
_JOINING: Final = frozenset({_THIS, "a", "about", "an", "and", "but", "for", "how", "of", "or", "the", "what", "with"})
_BEFORE_VERBS: Final = frozenset({"be", "he", "i", "it", "she", "they", "to", "we", "you"})
_WORD = re.compile(r"[^\W_]+(?:[.'\u2019+-]+[^\W_]+)*")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9-]{1,5}")
_AND: Final = MappingProxyType({"fr": "et", "es": "[ye]", "de": "und"})
_OWNER = re.compile(r"(?:['\u2019]s?|s)$")
_REPEATED = re.compile(rf"\b({THIS_DISEASE}|{_THIS})(?:[\s,/+&-]+(?:and |or |the )?\1\b)+")
_NO_WORDS: frozenset[str] = frozenset()
_NOTHING: Mapping[str, float] = MappingProxyType({})
FEATURES: Final = (
    "title", "other title", "words", "ordinary", "asking", "acronym", "first", "last", "share", "names",
    "titles beside", "story",
)  # fmt: skip
"""What a name is weighed by, in the order of `QuestionParser.features`."""


ASKING_WORDS: Final = tuple(
    dict.fromkeys(
        word
        for aspect, question in QUESTIONS.items()
        for word in normalise_name(f"{aspect} {question.replace('{e}', '')}").split()
    )
)
"""Normalised words that questions are worded with; a misspelt word may be one of them."""


@cache
def _read_weights() -> Mapping[str, float]:
    weights: Mapping[str, float] = parse_json(
        resources.files("auscult.understanding").joinpath("names.json").read_text("utf-8")
    )
    return weights


@dataclass(frozen=True, slots=True)
class Possible:
    """An entity that a question may be about.

    Attributes:
        words: Its name in the words of the question.
        likelihood: Probability that the question is about it, in (0, 1].
        language: Code of the language in which its name is looked up; empty for any.
    """

    words: str
    likelihood: float
    language: str = ENGLISH


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """How a question is read.

    Attributes:
        entities: The entities that it may be about, in its order.
        aspects: The known aspects that it asks for; none where the model is not sure.
        asking: The question without the names in it.
        likely: How likely each known aspect is meant, the likeliest first; empty without a model that reads them.
    """

    entities: tuple[Possible, ...]
    aspects: tuple[str, ...] = ()
    asking: str = ""
    likely: Mapping[str, float] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a question: where it stands, its words, whether a document or a vocabulary has it, and its language."""

    start: int
    end: int
    words: str
    is_listed: bool = True
    language: str = ENGLISH


class QuestionParser:
    """Parser of questions in free text.

    Args:
        resolver: Finds the concept that words name.
        titles: Normalised titles of the searched documents. They count as names, even of unknown concepts.
        title_words: How many times each word occurs in the titles; None to count them here.
        aspects: Reads what is asked; None to read no aspects.
        aspect_languages: Codes of the languages that it reads.
    """

    def __init__(
        self,
        resolver: EntityResolver,
        titles: Collection[str] = (),
        title_words: Mapping[str, int] | None = None,
        aspects: ReadsAspects | None = None,
        aspect_languages: Collection[str] = (ENGLISH,),
    ) -> None:
        self.resolver = resolver
        self._titles = titles
        self._title_words = title_words
        self._aspects = aspects
        self._aspect_languages = aspect_languages

    @cached_property
    def vocabulary(self) -> Mapping[str, int]:
        """Return the normalised words of all names and titles with their counts."""
        of_titles = count_words(self._titles) if self._title_words is None else self._title_words
        return SummedCounts([self.resolver.knowledge_base.words, of_titles])

    @cached_property
    def spelling(self) -> SpellingOfWords:
        """Return the corrector whose vocabulary is the words of names, of titles and of questions."""
        return SpellingOfWords(self.vocabulary, ASKING_WORDS)

    def read(self, question: str, language: str = ENGLISH) -> QuestionReading:
        """Return the entities that a question may be about, and the aspects that it asks for.

        Args:
            question: "How is Crohn's disease treated?", "asthma causes and treatment", "IgA nephropathy".
            language: Code of its language; empty if it is not known. No aspect is read in a language that the reader of
                aspects does not read.
        """
        text = " ".join(question.split())
        in_english = language in _READ_AS_ENGLISH
        names = self.names(text, language)
        weights = _read_weights()
        weighed = []
        for name, features in zip(names, self.features(text, names), strict=True):
            terms = (weights[feature] * value for feature, value in zip(FEATURES, features, strict=True))
            likelihood = 1 / (1 + math.exp(-(weights["bias"] + sum(terms))))
            weighed.append((likelihood if name.is_listed else UNLISTED, name))
        best = sorted(weighed, key=lambda each: -each[0])[:_MOST_ENTITIES]
        entities = [Possible(name.words, chance, name.language) for chance, name in weighed if (chance, name) in best]
        asking = asked_of(text, names)
        if _asks_nothing(asking, language):
            asking = ""
        asks = bool(asking.strip()) and (in_english or language in self._aspect_languages)
        likely, aspects = self._read_aspects(self.asked_with_kinds(text, names), language) if asks else (_NOTHING, ())
        return QuestionReading(
            tuple(dict.fromkeys(each for each in entities if each.likelihood >= _LEAST)),
            aspects,
            asking,
            likely,
        )

    def _read_aspects(self, asking: str, language: str) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return how likely each known aspect is meant, the likeliest first, and those that are, in their order.

        A model expects one aspect. So each clause is read, too, and what is certain in one is asked for.
        """
        if self._aspects is None:
            return _NOTHING, ()
        clauses = [clause for clause in _between_clauses(language).split(asking) if clause.strip()]
        likely, *parts = self._aspects.read_aspects([asking, *(clauses if len(clauses) > 1 else ())])
        for part in parts:
            likely |= {aspect: chance for aspect, chance in part.items() if chance >= max(_CERTAIN, likely[aspect])}
        likely = dict(sorted(likely.items(), key=lambda each: -each[1]))
        asked = [aspect for aspect, chance in likely.items() if chance >= ASKED]
        if certain := [aspect for aspect in likely if any(part[aspect] >= _CERTAIN for part in parts)]:
            asked = certain
        if parts:
            asked.sort(key=lambda aspect: max(range(len(parts)), key=lambda place: parts[place][aspect]))
        return likely, tuple(asked)

    def aspects_named(self, words: str, languages: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the aspects that a person named: "Signs and symptoms", "Nebenwirkungen".

        Args:
            words: The words.
            languages: Codes of the collection's languages. If one is not English, usual headings in any language that
                the reader of aspects reads have the English names of their aspects.
        """
        aspects = normalise_heading(words)
        if QUESTIONS.keys().isdisjoint(aspects) and {*languages} - {ENGLISH}:
            for language in sorted({*self._aspect_languages} - {ENGLISH}):
                known = normalise_heading(words, language=language)
                if QUESTIONS.keys() >= set(known):
                    return known
        return aspects

    def names(self, text: str, language: str = ENGLISH) -> list[Name]:
        """Return titles of the collection, names of concepts and acronyms in order, the longest where they overlap.

        Names in another language come before English ones, of which only long ones count there. A whole text may be a
        name of any language, where it has no name in its own; if that is not known, where it has no English one.
        """
        foreign, listed = [*self._find_foreign(text, language)], [*self._find_listed(text)]
        in_english = language in _READ_AS_ENGLISH
        if not in_english:
            listed = [*filter(self._is_name_elsewhere, listed)]
        found = listed if language == UNKNOWN and listed else [*foreign, *listed]
        chosen: list[Name] = []
        for name in sorted(found, key=lambda name: name.start - name.end):
            apart = all(name.end <= other.start or other.end <= name.start for other in chosen)
            if apart and not _says_nothing(name.words):
                chosen.append(name)
        if not chosen:
            return [*(self._find_unlisted(text) if in_english else self._find_foreign(text, UNKNOWN))]
        return sorted(chosen, key=lambda name: name.start)

    def _is_name_elsewhere(self, name: Name) -> bool:
        """Return whether an English name is one in a question in another language, too: a title, or a long name.

        A name of one short word may be a word of that language ("la", "fils"), and so may an acronym ("TA").
        """
        is_long = len(name.words) >= LONG_ENOUGH_ELSEWHERE
        return (is_long or normalise_name(name.words) in self._titles) and self._is_named(name.words)

    def features(self, text: str, names: Sequence[Name]) -> list[tuple[float, ...]]:
        """Return what each name of a text is weighed by, in the order of `FEATURES`."""
        keys = [normalise_name(name.words) for name in names]
        titled = [key in self._titles for key in keys]
        rows: list[tuple[float, ...]] = []
        for number, (name, key) in enumerate(zip(names, keys, strict=True)):
            is_word = " " not in name.words
            acronym = bool(_ACRONYM.fullmatch(name.words))
            ordinary = is_word and not acronym and (len(name.words) < _SHORT or name.words.lower() in ordinary_words())
            rows.append(
                (
                    float(titled[number]),
                    float(not titled[number] and self._is_titled_otherwise(name)),
                    min(len(key.split()), 4) / 4,
                    float(ordinary),
                    float(is_word and key in ASKING_WORDS),
                    float(acronym),
                    float(number == 0),
                    float(number == len(names) - 1),
                    (name.end - name.start) / max(len(text), 1),
                    math.log(len(names)),
                    float(any(titled[:number] + titled[number + 1 :])),
                    float(len(text.split()) > _STORY),
                )
            )
        return rows

    def _find_listed(self, text: str) -> Iterator[Name]:
        words = [*_WORD.finditer(text)]
        occurs = [all(part in self.vocabulary for part in normalise_name(word.group()).split()) for word in words]
        for number, first in enumerate(words):
            # In a question that is all in capitals any word looks like one.
            acronym = bool(_ACRONYM.fullmatch(first.group())) and not (text.isupper() and len(words) > 1)
            if (acronym and self.is_known(first.group())) or self._is_owner(first.group()):
                yield Name(*first.span(), first.group())
            for place, last in enumerate(words[number : number + _LONGEST], number):
                if not occurs[place]:
                    break
                name = text[first.start() : last.end()]
                if self._is_named(name):
                    yield Name(first.start(), last.end(), name)

    def _find_foreign(self, text: str, language: str) -> Iterator[Name]:
        foreign = self.resolver.knowledge_base.foreign
        if language == ENGLISH or not foreign or (language == UNKNOWN and text.lower() in ordinary_words()):
            return
        for start, end in find_foreign(text, foreign, language):
            yield Name(start, end, text[start:end], language=language)

    def _find_unlisted(self, text: str) -> Iterator[Name]:
        """Yield what may be a name that no document and no vocabulary has: "zorbimab" in "and zorbimab dosage?"."""
        words = [*_WORD.finditer(text)]
        keys = [normalise_name(word.group()) for word in words]
        # Questions are worded with these, whatever they are about.
        of_questions = [
            key in ASKING_WORDS or key in PEOPLE or not SAYING_NOTHING.isdisjoint((word.group().lower(), key))
            for word, key in zip(words, keys, strict=True)
        ]
        if all(of_questions):
            return
        first, last = of_questions.index(False), len(words) - of_questions[::-1].index(False)
        before = words[first - 1].group().lower() if first else ""
        if before in _BEFORE_VERBS or (last < len(words) and keys[last] in PEOPLE):
            # What somebody does is no name, nor what describes people: "can I drive", "and obese children?".
            return
        while last < len(words) and keys[last] in GENERIC:
            last += 1
        inner = [word.group().lower() for word in words[first:last]]
        unknown = [key for key in keys[first:last] if key not in self.vocabulary and key not in GENERIC]
        # "Type" is a part of "paraplegia type 8", and "diet" of no name.
        asks = any(of_questions[place] and not keys[place + 1].isdigit() for place in range(first, last - 1))
        is_name = not asks and FUNCTION_WORDS.isdisjoint(inner) and not ordinary_words().issuperset(inner)
        # Several words that no name has are words of another language, or a sentence.
        if is_name and len(inner) <= _MOST_UNLISTED and len(unknown) <= 1:
            start, end = words[first].start(), words[last - 1].end()
            yield Name(start, end, text[start:end], is_listed=False)

    def _is_named(self, words: str) -> bool:
        """Return whether a document or a concept has this name; an acronym counts only in capitals."""
        key, known = normalise_name(words), self.resolver.knowledge_base
        concepts = [known.concepts[concept_id] for concept_id in known.name_index.get(key, ())]
        acronyms = [
            is_acronym(name, concept.names)
            for concept in concepts
            for name in concept.names
            if normalise_name(name) == key
        ]
        return key in self._titles or (len(key) >= _SHORTEST and bool(acronyms) and not all(acronyms))

    def _is_titled_otherwise(self, name: Name) -> bool:
        """Return whether a document has another name of the concept as its title: "podagra" for "Gout"."""
        matches = self._first_match(name)
        named = (match.concept for match in matches)
        return any(
            normalise_name(title) in self._titles or title in self._titles
            for concept in named
            for title in (*concept.names, concept.concept_id, *concept.xrefs)
        )

    def _is_owner(self, word: str) -> bool:
        """Return whether a word is the person's name of a named disease: "alzheimers" for Alzheimer's disease."""
        owner = f"{_OWNER.sub('', word).lower()}'s "
        named = self.resolver.resolve(word, limit=1, fuzzy=False) if _OWNER.search(word) else ()
        return any(name.lower().startswith(owner) for match in named for name in match.concept.names)

    def asked_with_kinds(self, text: str, names: Sequence[Name]) -> str:
        """Return a question as the model of aspects reads it, with "this disease" for the name of a disease.

        "What do they give people for this" may be asked of a test, too; of a disease it asks for its treatment.
        """
        return asked_of(text, names, [THIS_DISEASE if self._is_disease(name) else _THIS for name in names])

    def _is_disease(self, name: Name) -> bool:
        matches = self._first_match(name) if name.is_listed else ()
        return any(match.concept.is_disease for match in matches)

    def _first_match(self, name: Name) -> list[Match]:
        return self.resolver.resolve(name.words, limit=1, fuzzy=False, language=name.language)

    def is_known(self, words: str) -> bool:
        """Return whether a concept or a document of the collection has this name."""
        if _says_nothing(words):
            return False
        return normalise_name(words) in self._titles or bool(self.resolver.resolve(words, limit=1, fuzzy=False))


def _asks_nothing(asking: str, language: str) -> bool:
    """Return whether a question without its names is a name alone: "gout", "and what about gout?", "la goutte"."""
    others = stop_words(language) if language in READ_BESIDE_ENGLISH else _NO_WORDS
    words = re.findall(r"[^\W_]+", asking.lower()) if others else [word.lower() for word in _WORD.findall(asking)]
    return all(word in _JOINING or word in others or (bool(others) and len(word) == 1) for word in words)


@cache
def _between_clauses(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_AND.get(language, 'and')}\b|[.,;?!]\s|&", re.IGNORECASE)


def asked_of(text: str, names: Sequence[Name], instead: Sequence[str] = ()) -> str:
    """Return a question with "this" in the place of its names: "can i catch this off my husband".

    Args:
        text: The question.
        names: Its names, in order.
        instead: What stands in the place of each; by default "this".
    """
    pieces, at = [], 0
    for name, word in zip(names, instead or [_THIS] * len(names), strict=True):
        pieces += [text[at : name.start], word]
        at = name.end
    return _REPEATED.sub(r"\1", "".join([*pieces, text[at:]]))


def _says_nothing(words: str) -> bool:
    """Return whether words have no content, or name a class of things ("disease")."""
    key = normalise_name(words)
    return key in GENERIC or all(
        not SAYING_NOTHING.isdisjoint((word.lower(), normalise_name(word))) for word in _WORD.findall(words)
    )
