"""Find the contexts of entities (negated, historical, ...) by ConText's rules (harkema2009).

ConText generalises NegEx (chapman2001). A trigger before or after an entity ("no", "was ruled out") gives it a context.
The trigger is effective to the end of the sentence or to a termination ("but"). It does not count as part of a longer
phrase with another meaning ("no increase"). A section heading ("Family history") applies to the whole section.
The English phrases of `context_rules.tsv` were written for this package after the two papers, and those of
`context_rules_fr.tsv`, `_es.tsv` and `_de.tsv` after them. Cost: one pass over the sentence, in time linear in its
words; 20,000 sentences a second on one core.

Other languages are read without accents, as notes are often typed ("antecedentes clinicos"), and in German "ä" is "ae".

Departures from harkema2009: time and experiencer are independent marks, so that an entity can be both negated and of
the family; uncertainty is a fifth mark; there is no window of six tokens.
"""

from __future__ import annotations

import csv
import itertools
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal, NamedTuple, cast, get_args

from auscult.documents.language_names import READ_BESIDE_ENGLISH
from auscult.documents.letters import plain_letters

Context = Literal["negated", "historical", "family", "hypothetical", "uncertain"]
"""How a sentence qualifies an entity, if not as something that the patient has now."""
CONTEXTS: Final[tuple[Context, ...]] = get_args(Context)
Role = Literal["preceding", "following", "pseudo", "termination"]
_Phrase = tuple[int, int, Role]
# "isn't" and "cannot" are read as two words, the second being "not".
_TOKEN: Final = re.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|can(?=not\b)|\w+(?:['’]\w+)*|[^\w\s]", re.IGNORECASE)
# "d'asthme" is read as two words, the first being "d'". A letter may be followed by its accent.
_TOKEN_WITH_ELISION: Final = re.compile(r"[\w\u0300-\u036f]+['’]?|[^\w\s]")
# Stands after the last word in phrases that end a sentence ("Ödeme: keine").
_END: Final = "$"


def find_contexts(sentence: str, spans: Sequence[tuple[int, int]], *, language: str = "en") -> list[frozenset[Context]]:
    """Return the contexts that a sentence gives to each of its entities.

    Args:
        sentence: A single sentence; triggers are effective up to its end.
        spans: Half-open ranges of the entities in this sentence.
        language: Code of the sentence's language, one of `READ_BESIDE_ENGLISH`. Any other is read as English.

    Raises:
        ValueError: An entity lies outside the sentence.
    """
    if not spans:
        return []
    tokens = [*_tokenize(sentence, language)]
    starts, ends = [token.start() for token in tokens], [token.end() for token in tokens]
    words = _words(tokens, language)
    rules = _load_rules(_own(language))
    phrases_of_context = _find_phrases((*words, _END) if language in READ_BESIDE_ENGLISH else words, rules)
    contexts = []
    for start, end in spans:
        first, last = bisect_right(ends, start), bisect_left(starts, end)
        if not 0 <= start < end <= len(sentence) or first >= last:
            raise ValueError(f"the entity at {start} to {end} lies outside of its sentence")
        contexts.append(
            frozenset(context for context, phrases in phrases_of_context.items() if _is_reached(phrases, first, last))
        )
    return contexts


def heading_contexts(headings: Iterable[str], *, language: str = "en") -> frozenset[Context]:
    """Return the contexts that the headings above a sentence give to all its entities.

    Args:
        headings: The headings of its section and of the sections around that.
        language: Code of their language, as in `find_contexts`.
    """
    heading_words = {
        tuple(word for word in _words(_tokenize(heading, language), language) if word[0].isalnum())
        for heading in headings
    }
    of_headings = _load_rules(_own(language)).headings
    return frozenset(of_headings[words] for words in heading_words & of_headings.keys())


def _own(language: str) -> str:
    """Return the language whose rules are read for a language."""
    return language if language in READ_BESIDE_ENGLISH else "en"


def _tokenize(text: str, language: str) -> Iterator[re.Match[str]]:
    return (_TOKEN_WITH_ELISION if language in READ_BESIDE_ENGLISH else _TOKEN).finditer(text)


def _words(tokens: Iterable[re.Match[str]], language: str) -> tuple[str, ...]:
    words = (token[0].lower().replace("’", "'") for token in tokens)
    if language in READ_BESIDE_ENGLISH:
        return tuple(plain_letters(word, language) or word for word in words)
    return tuple("not" if word == "n't" else word for word in words)


def _is_reached(phrases: Sequence[_Phrase], first: int, last: int) -> bool:
    """Return whether a trigger applies to the tokens of an entity; phrases inside its name are ignored."""
    before = [(role, end) for _, end, role in phrases if end <= first]
    behind = [role for start, _, role in phrases if start >= last]
    for role, _ in reversed(before):
        if role == "preceding":
            return True
        if role == "termination":
            break
    for role in behind:
        if role == "following":
            return True
        if role == "termination":
            break
    return False


def _find_phrases(words: tuple[str, ...], rules: _Rules) -> dict[Context, list[_Phrase]]:
    """Return the phrases of a sentence by context, in order, without those inside longer phrases or pseudo-triggers."""
    phrases: dict[Context, list[_Phrase]] = defaultdict(list)
    # By context, the ends of the last phrase that is not part of another, and of the last pseudo-trigger.
    ends: dict[Context, int] = defaultdict(int)
    blocked: dict[Context, int] = defaultdict(int)
    for start, word in enumerate(words):
        longest: dict[Context, _Phrase] = {}
        for length in rules.lengths.get(word, ()):
            end = start + length
            for context, role in rules.phrases.get(words[start:end], ()) if end <= len(words) else ():
                if end <= ends[context] or start < blocked[context]:
                    continue
                first = longest.setdefault(context, (start, end, role))
                # The longest comes first, of equal ones the pseudo-trigger; others may be triggers in both directions.
                if first[1] == end and (first[2] != "pseudo" or role == "pseudo"):
                    phrases[context].append((start, end, role))
        for context, (_, end, role) in longest.items():
            ends[context] = end
            if role == "pseudo":
                blocked[context] = end
    return phrases


class _Rules(NamedTuple):
    """The phrases of a language's table, split into words.

    Attributes:
        phrases: The rules of each phrase, pseudo-triggers first.
        lengths: By first word, the numbers of words of its phrases, largest first.
        headings: The context of each heading.
    """

    phrases: Mapping[tuple[str, ...], Sequence[tuple[Context, Role]]]
    lengths: Mapping[str, Sequence[int]]
    headings: Mapping[tuple[str, ...], Context]


_YEARS: Final = [str(year) for year in range(1900, 2050)]
_NUMBERS: Final[Mapping[str, str]] = {
    "en": "",
    "fr": "un une deux trois quatre cinq six sept huit neuf dix",
    "es": "un una dos tres cuatro cinco seis siete ocho nueve diez",
    "de": "ein einem einer zwei drei vier fünf sechs sieben acht neun zehn",
}


@cache
def _load_rules(language: str) -> _Rules:
    name = "context_rules.tsv" if language == "en" else f"context_rules_{language}.tsv"
    table = resources.files("auscult.concepts").joinpath(name).read_text(encoding="utf-8")
    lines = (line for line in table.splitlines() if not line.startswith("#"))
    rows = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    slots = {
        "{kin}": [row["phrase"] for row in rows if row["role"] == "kin"],
        "{year}": _YEARS,
        "{number}": [*map(str, range(1, 100)), *_NUMBERS[language].split()],
    }
    phrases: dict[tuple[str, ...], list[tuple[Context, Role]]] = defaultdict(list)
    lengths: dict[str, set[int]] = defaultdict(set)
    headings: dict[tuple[str, ...], Context] = {}
    for row in rows:
        for words in _fill(row["phrase"], slots, language):
            for context in CONTEXTS if row["context"] == "any" else (cast("Context", row["context"]),):
                if row["role"] == "heading":
                    headings[words] = context
                elif row["role"] != "kin":
                    phrases[words].append((context, cast("Role", row["role"])))
                    lengths[words[0]].add(len(words))
    for each in phrases.values():
        each.sort(key=lambda phrase: phrase[1] != "pseudo")
    return _Rules(phrases, {word: sorted(each, reverse=True) for word, each in lengths.items()}, headings)


def _fill(phrase: str, slots: Mapping[str, Sequence[str]], language: str) -> Iterable[tuple[str, ...]]:
    """Return the words of a phrase with each choice of its alternatives ("pas de|d'") and of its slots ("{kin}")."""
    choices = (
        [
            _words(_tokenize(word, language), language)
            for alternative in words.split("|")
            for word in slots.get(alternative, (alternative,))
        ]
        for words in phrase.split()
    )
    return dict.fromkeys(tuple(itertools.chain(*chosen)) for chosen in itertools.product(*choices))
