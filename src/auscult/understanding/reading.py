"""Parse questions: find the entities they may be about, each with a likelihood, and the aspects they ask for.

1. Find names in the text: titles of the collection, names of concepts, and acronyms as they are written. The words
   left over between question words ("what", "symptoms", "used") may be a name that no vocabulary has ("zorbimab").
2. Give each name a likelihood: 1 for titles and most names, one half for short words, for words that only describe
   another name, and for names that no vocabulary has. Drop names from sentences that only describe the situation.
3. Read the aspects from the words outside the names (`aspect_words`).

The grammar of the whole sentence is not used. Words that belong to no name and no aspect still take part in the search.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from auscult.concepts.aspects import INFORMATION
from auscult.concepts.mentions import GENERIC, is_acronym
from auscult.concepts.names import GENERIC_WORDS, normalise_name
from auscult.concepts.resolver import EntityResolver
from auscult.concepts.word_counts import SummedCounts, count_words
from auscult.understanding.asking import SAYING_NOTHING, is_long, sentences_that_ask
from auscult.understanding.aspect_words import ASKING_WORDS, aspects_named, without_aspects
from auscult.understanding.spelling import SpellingOfWords, ordinary_words

DOUBTFUL = 0.5
"""Likelihood of words that may not be a name, or may name something else: short words, and unlisted ones."""
# The aspect asked for when two entities are named together, even if no vocabulary has one of them.
_OF_TWO = "interactions"
_LEAST, _SHORT, _LONGEST, _MOST_WORDS, _MOST_ENTITIES = 2, 4, 12, 4, 4
_WORD = re.compile(r"[^\W_]+(?:[.'\u2019+-]+[^\W_]+)*")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9-]{1,5}")
_OWNER = re.compile(r"(?:['\u2019]s?|s)$")
_TOGETHER = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s(?:and|or|vs\.?|versus|with|than|&|plus)\s", re.IGNORECASE)
_APART = re.compile(r"[.?!;:()\0]")
_REFERS = re.compile(r"\b(?:(?<!\bis )it|they|them)\b", re.IGNORECASE)
_SKIPPED = frozenset("a an the my your his her our their this some any always ever go going just really".split())  # noqa: SIM905
_ASKED_OF = re.compile(
    rf"\0(?: options?)? (?:of|for|from|with|about|between)(?: (?:{'|'.join(_SKIPPED)}))*\s*$", re.IGNORECASE
)
# Between the words of one name.
_JOINING = GENERIC_WORDS | frozenset("of the in and with to due by type on or for from a an".split())  # noqa: SIM905
_CLASSES = frozenset("disease disorder syndrome".split())  # noqa: SIM905
_PEOPLE = frozenset("adult baby boy child girl infant kid man men newborn teen teenager woman women".split())  # noqa: SIM905
_ANYBODY = _PEOPLE | frozenset("adolescent individual patient people person".split())  # noqa: SIM905
# A place, a time, an activity or a sentence follows: "at discharge", "can I drive", "does lead harm kidneys".
_TURNING = frozenset("not no without before after during since until".split())  # noqa: SIM905
_BEFORE_NO_NAME = _TURNING | frozenset("to i you he she we they who can't cannot at while in by into".split())  # noqa: SIM905
_BEFORE_SENTENCE = frozenset("does do did has have had can could should will would may".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Possible:
    """An entity that a question may be about.

    Attributes:
        words: Its name in the words of the question.
        likelihood: Probability that the question is about it, in (0, 1].
    """

    words: str
    likelihood: float


@dataclass(frozen=True, slots=True)
class Reading:
    """The entities that a question may be about, in its order, and its aspects as in `Query.aspects`."""

    entities: tuple[Possible, ...]
    aspects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """Words of a question and the likelihood that they name its entity; 0 if not known yet."""

    start: int
    end: int
    words: str
    likelihood: float = 0.0


class QuestionParser:
    """Parser of questions in free text.

    Args:
        resolver: Finds the concept that words name.
        titles: Normalised titles of the searched documents. They count as names, even of unknown concepts.
        title_words: How many times each word occurs in the titles; None to count them here.
    """

    def __init__(
        self,
        resolver: EntityResolver,
        titles: Collection[str] = (),
        title_words: Mapping[str, int] | None = None,
    ) -> None:
        self.resolver = resolver
        self._titles = titles
        self._title_words = title_words

    @cached_property
    def vocabulary(self) -> Mapping[str, int]:
        """Return the normalised words of all names and titles with their counts."""
        of_titles = count_words(self._titles) if self._title_words is None else self._title_words
        return SummedCounts([self.resolver.knowledge_base.words, of_titles])

    @cached_property
    def spelling(self) -> SpellingOfWords:
        """Return the corrector whose vocabulary is the words of names, of titles and of questions."""
        return SpellingOfWords(self.vocabulary, ASKING_WORDS)

    def read(self, question: str) -> Reading:
        """Return the entities that a question is about and the aspects that it asks for.

        Args:
            question: "How is Crohn's disease treated?", "asthma causes and treatment", "IgA nephropathy".

        Returns:
            The reading, without entities if nothing may be a name. If the question mentions no aspect, its aspects
            are ("information",) for a bare name ("gout?"), and empty if it asks something else ("Can I drive with
            epilepsy?").
        """
        text = " ".join(question.split())
        asking = sentences_that_ask(text)
        pieces = [(start := text.find(sentence), start + len(sentence)) for sentence in asking]
        names = self._names(text)
        entities: list[_Span] = []
        if pieces or not is_long(text):
            entities = self._asked_about(text, names, pieces or [(0, len(text))])
        # The asking sentence has no name of its own ("what are the signs?"): take it from the other sentences.
        entities = entities or self._asked_about(text, names, [(0, len(text))], listed=True)
        masked = _masked(text, entities, "\0")
        asking_text = " . ".join(masked[start:end] for start, end in pieces)
        aspects = aspects_named(asking_text) or aspects_named(masked)
        if entities and not aspects and ((is_long(text) and not asking) or not _content(asking_text or masked)):
            aspects = (INFORMATION,)
        best = sorted(entities, key=lambda span: -span.likelihood)[:_MOST_ENTITIES]
        return Reading(
            tuple(dict.fromkeys(Possible(span.words, span.likelihood) for span in sorted(best, key=_start))), aspects
        )

    def _names(self, text: str) -> list[_Span]:
        """Return titles of the collection, names of concepts and acronyms in order, none of them inside another."""
        chosen: list[_Span] = []
        masked = without_aspects(text)
        for span in sorted(self._all_in(text), key=lambda span: (span.start - span.end, -span.likelihood)):
            apart = all(span.end <= other.start or other.end <= span.start for other in chosen)
            # "An overdose" asks for an aspect, although a concept has that name.
            if apart and masked[span.start : span.end].strip("\0 ") and not _says_nothing(span.words):
                chosen.append(span)
        return sorted(chosen, key=_start)

    def _all_in(self, text: str) -> Iterator[_Span]:
        words = [*_WORD.finditer(text)]
        occurs = [normalise_name(word.group()) in self.vocabulary for word in words]
        for number, first in enumerate(words):
            acronym = bool(_ACRONYM.fullmatch(first.group())) and not text.isupper()
            if (acronym and self.is_known(first.group())) or self._is_owner(first.group()):
                yield _Span(*first.span(), first.group(), 1.0 if acronym else DOUBTFUL)
            for place, last in enumerate(words[number : number + _LONGEST], number):
                if not occurs[place]:
                    break
                name = text[first.start() : last.end()]
                if self._is_named(name):
                    yield _Span(first.start(), last.end(), name, self._likelihood(name))

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
        return key in self._titles or (len(key) > _LEAST and bool(acronyms) and not all(acronyms))

    def _is_owner(self, word: str) -> bool:
        """Return whether a word is the person's name of a named disease: "alzheimers" for Alzheimer's disease."""
        owner = f"{_OWNER.sub('', word).lower()}'s "
        named = self.resolver.resolve(word, limit=1, fuzzy=False) if _OWNER.search(word) else ()
        return any(name.lower().startswith(owner) for match in named for name in match.concept.names)

    def _likelihood(self, name: str) -> float:
        """Return how likely a name means its concept: a short or everyday word may mean something else."""
        is_word = not (" " in name or _ACRONYM.fullmatch(name) or normalise_name(name) in self._titles)
        return DOUBTFUL if is_word and (len(name) < _SHORT or name.lower() in ordinary_words()) else 1.0

    def _asked_about(
        self, text: str, names: Sequence[_Span], pieces: Sequence[tuple[int, int]], *, listed: bool = False
    ) -> list[_Span]:
        """Return the entities of some parts of a text; with `listed`, only those with a known name."""
        masked = without_aspects(text)
        together = _OF_TWO in aspects_named(text)
        runs = [run for start, end in pieces for run in _runs(text, names, start, end)]
        entities: list[_Span] = []
        unlisted: list[_Span] = []
        for run in runs:
            if self.is_known(run.words):
                entities.append(replace(run, likelihood=self._likelihood(run.words)))
            elif parts := self._parts(run):
                entities += parts
            elif within := [name for name in names if run.start <= name.start < run.end]:
                entities += [name if _is_head(run, name) else _doubted(name) for name in within]
            elif not listed:
                unlisted += _split(run) if together else [run]
        # "Are there treatments for gout after a stroke?"
        certain = [span for span in entities if _ASKED_OF.search(masked, 0, span.start)]
        if certain and not together:
            entities = [span if span in certain else _doubted(span) for span in entities]
        for run in unlisted:
            placed = (
                together
                or _ASKED_OF.search(masked, 0, run.start)
                or (len(runs) == 1 and not _REFERS.search(text) and not _says_something(text, run, masked))
            )
            if placed and not _describes_people(text, run) and self._may_name(run.words, aspects="\0" in masked):
                entities.append(replace(run, likelihood=DOUBTFUL))
        return entities

    def _may_name(self, words: str, *, aspects: bool) -> bool:
        """Return whether unlisted words may be a name: a single word, or a few words that occur in names."""
        known = [word in self.vocabulary for word in normalise_name(words).split()]
        if words.isnumeric() or _says_nothing(words):
            return False
        # A question that asks for an aspect also names an entity.
        most, least = (2 * _MOST_WORDS, 0.0) if aspects else (_MOST_WORDS, len(known) / 2)
        return len(known) == 1 or (len(known) <= most and sum(known) >= least)

    def _parts(self, run: _Span) -> list[_Span]:
        """Return the names of an enumeration ("type 1 and type 2 diabetes"); none if one of them is unknown."""
        parts, last = _split(run), run.words.split()[-1]
        named = [next(filter(self.is_known, (part.words, f"{part.words} {last}")), "") for part in parts]
        if len(parts) < 2 or not all(named):
            return []
        return [
            _Span(part.start, part.end, name, self._likelihood(name)) for part, name in zip(parts, named, strict=True)
        ]

    def is_known(self, words: str) -> bool:
        """Return whether a concept or a document of the collection has this name."""
        if _says_nothing(words):
            return False
        return normalise_name(words) in self._titles or bool(self.resolver.resolve(words, limit=1, fuzzy=False))


def _start(span: _Span) -> int:
    return span.start


def _doubted(span: _Span) -> _Span:
    return replace(span, likelihood=min(span.likelihood, DOUBTFUL))


def _masked(text: str, spans: Iterable[_Span], mask: str) -> str:
    for span in spans:
        text = text[: span.start] + mask * (span.end - span.start) + text[span.end :]
    return text


def _asks_nothing(word: str) -> bool:
    return not SAYING_NOTHING.isdisjoint((word.lower(), normalise_name(word)))


def _content(text: str) -> list[str]:
    """Return the content words: neither function words nor words that ask for an aspect."""
    return [word for word in _WORD.findall(without_aspects(text).replace("\0", " ")) if not _asks_nothing(word)]


def _says_nothing(words: str) -> bool:
    return normalise_name(words) in GENERIC | _PEOPLE or not _content(words)


def _describes_people(text: str, run: _Span) -> bool:
    """Return whether words only describe people: "older people", "obese children", not "zorbimab patient leaflet"."""
    words = [*_WORD.finditer(text, run.start)]
    inside = [word.group().lower() for word in words if word.end() <= run.end]
    behind = next((word for word in words if word.end() > run.end), None)
    if not _JOINING.isdisjoint(inside):
        return False
    follows = behind is not None and text[run.end : behind.start()].isspace() and _are_people(behind.group())
    return follows or _are_people(inside[-1])


def _are_people(word: str) -> bool:
    """Return whether a word is a plural for people: "patients", "men"."""
    key = normalise_name(word)
    return key in _ANYBODY and (word.lower() != key or key in ("men", "people", "women"))


def _says_something(text: str, run: _Span, masked: str) -> bool:
    """Return whether words are an activity, a place, a time or a sentence: "to fly", "at night"."""
    words = _WORD.findall(text[: run.start].lower())
    before = next((word for word in reversed(words) if word not in _SKIPPED), "")
    return before in _BEFORE_NO_NAME or (before in _BEFORE_SENTENCE and "\0" not in masked and " " in run.words)


def _runs(text: str, names: Sequence[_Span], start: int, end: int) -> Iterator[_Span]:
    """Yield the longest runs of names and content words, with the words that join them."""
    masked = without_aspects(_masked(text, names, "x"))
    first = last = -1
    for word in _WORD.finditer(text, start, end):
        lower, taken = word.group().lower(), "\0" in masked[word.start() : word.end()]
        if first >= 0 and (_APART.search(masked[last : word.start()]) or taken):
            yield _Span(first, last, text[first:last])
            first = -1
        named = any(name.start <= word.start() < name.end for name in names)
        says = not (taken or _asks_nothing(lower) or lower in _TURNING or (first < 0 and lower in _CLASSES))
        if named or says:
            first, last = word.start() if first < 0 else first, word.end()
        elif first >= 0 and lower not in _JOINING:
            yield _Span(first, last, text[first:last])
            first = -1
    if first >= 0:
        yield _Span(first, last, text[first:last])


def _is_head(run: _Span, name: _Span) -> bool:
    """Return whether a name ends its run or a joining word follows: in "flu shot", "flu" only describes the shot."""
    rest = run.words[name.end - run.start :]
    following = _WORD.search(rest)
    return following is None or following.group().lower() in _JOINING or not rest[: following.start()].isspace()


def _split(run: _Span) -> list[_Span]:
    joints = [*_TOGETHER.finditer(run.words)]
    starts, ends = [0, *(each.end() for each in joints)], [*(each.start() for each in joints), len(run.words)]
    return [
        _Span(run.start + start, run.start + end, run.words[start:end])
        for start, end in zip(starts, ends, strict=True)
        if start < end
    ]
