"""N-gram dictionary linking: where a text has the words of a name, the text names that entity (wang2021, section 4.2).

    E(T_i) = top-1 of {e : a name of e covers T_i, the longest from the left}, else nothing

wang2021 links with scispaCy (UMLS) and TagMe (Wikidata) and takes the first candidate of each mention. Here names are
found by one automaton over all of them, at a cost that does not depend on their number, and the candidates of a name
are in order: entities that prefer the name, then those that have it as a synonym, each in the order they were given
in, which for a graph is by the number of their triples. Case and accents make no difference, except in acronyms: "ALL"
is a leukemia, "all" is not. Nor does punctuation that a name has and the text has not, or otherwise within a word
("non-small"); a comma or full stop that only the text has keeps words apart. Anything with `link(text)` takes its place
(`EntityLinker`).

Departures: no n-gram is longer than the longest name, so none has to be set. Names that are words of `FUNCTION_WORDS`,
begin with "the" or have fewer than two letters are no mention, and no acronym means what few call so: "MS", which is
multiple sclerosis, is not myeloid sarcoma.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from auscult.concepts.mentions import NameAutomaton, fold, is_acronym, single_blanks
from auscult.concepts.names import abbreviated_names, normalise_name
from auscult_lab.graphs.graph import KnowledgeGraph, by_degree

FUNCTION_WORDS = frozenset(
    [
        "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "both", "but",
        "by", "can", "did", "do", "does", "each", "either", "for", "from", "had", "has", "have", "he", "her", "here",
        "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "may", "me", "men", "more", "most", "must",
        "my", "no", "none", "nor", "not", "now", "of", "off", "on", "one", "or", "other", "our", "out", "over", "own",
        "per", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these",
        "they", "this", "those", "to", "too", "two", "under", "up", "was", "we", "were", "what", "when", "where",
        "which", "while", "who", "whom", "why", "will", "with", "would", "you", "your",
    ]
)  # fmt: skip
"""Words that hold sentences together; as a name, each is a title or an acronym that running text does not mean."""


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A half-open character range of a text that names an entity."""

    start: int
    end: int
    entity_id: str


class EntityLinker(Protocol):
    """Finds entities in text; each span has the one entity the linker thinks most likely."""

    def link(self, text: str) -> list[EntitySpan]:
        """Return spans in order, without overlap."""
        ...


class NgramLinker:
    """Links the names of entities in text.

    Args:
        names: Of each entity, the preferred one first.
        ids: Of the same entities; of two with one name, the earlier is taken.
        skip: Names (any case) that are never linked.

    Raises:
        ValueError: There are not as many ids as tuples of names.
    """

    def __init__(
        self, names: Sequence[tuple[str, ...]], ids: Sequence[str], skip: Iterable[str] = FUNCTION_WORDS
    ) -> None:
        skipped = {fold(word) for word in skip}
        # Of each pattern, the entity in any case (None: none), and entities for one spelling only.
        self._any_case: list[str | None] = []
        self._written: dict[int, dict[str, str]] = {}
        patterns: dict[str, int] = {}
        named = list(zip(names, ids, strict=True))
        preferred = [(name, names_of_one, id_) for names_of_one, id_ in named for name in names_of_one[:1]]
        synonyms = [(name, names_of_one, id_) for names_of_one, id_ in named for name in names_of_one[1:]]
        for name, names_of_one, entity_id in preferred + synonyms:
            folded = fold(single_blanks(name)[0]).strip()
            pattern = " ".join(folded.split())
            if sum(map(str.isalpha, pattern)) < 2:
                continue
            acronym = is_acronym(name, names_of_one)
            if (pattern in skipped and not acronym) or pattern.startswith("the "):
                continue
            # Whether people use it for something that is well known, and the names are not that thing's.
            meant = abbreviated_names().get(normalise_name(name)) if acronym else None
            if meant is not None and meant not in map(normalise_name, names_of_one):
                continue
            # "sclerosis, type 1" is written with its comma, which folds to a second blank, and without.
            for each in dict.fromkeys((pattern, folded)):
                number = patterns.setdefault(each, len(patterns))
                if number == len(self._any_case):
                    self._any_case.append(None)
                if acronym:
                    # Taxonomies lower-case acronyms, which turns them into everyday words ("men", "soft").
                    for form in {name.upper(), name} - {name.lower()}:
                        self._written.setdefault(number, {}).setdefault(form, entity_id)
                elif self._any_case[number] is None:
                    self._any_case[number] = entity_id
        self._automaton = NameAutomaton(patterns)

    @classmethod
    def from_graph(cls, graph: KnowledgeGraph, skip: Iterable[str] = FUNCTION_WORDS) -> NgramLinker:
        """Return a linker to the entities of a graph; of two with one name, the one in more triples is taken."""
        order = by_degree(graph)
        return cls([graph.names[each] for each in order], [graph.entities[each] for each in order], skip)

    def link(self, text: str) -> list[EntitySpan]:
        """Return mentions in order, without overlap, longest first where two start together."""
        spans: list[EntitySpan] = []
        last = 0
        text, places = single_blanks(text)
        for start, negative_end, number in self._automaton.find(text):
            if start < last:
                continue
            found = self._any_case[number]
            if number in self._written:
                found = self._written[number].get(text[start:-negative_end], found)
            if found is not None:
                spans.append(EntitySpan(places[start], places[-negative_end - 1] + 1, found))
                last = -negative_end
        return spans
