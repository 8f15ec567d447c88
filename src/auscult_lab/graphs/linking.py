"""N-gram dictionary linking: names of entities are found in texts (wang2021, section 4.2).

    E(T_i) = top-1 of {e : a name of e covers T_i, the longest from the left}, else nothing

wang2021 links with scispaCy (UMLS) and TagMe (Wikidata) and takes the first candidate of each mention. Here one
automaton finds all names, at a cost that does not depend on their number. Candidates of a name are ordered: entities
with it as preferred name, then those with it as synonym, each in the order given, which for a graph is by the number of
triples. Case and accents are ignored, except in acronyms: "ALL" is a leukemia, "all" is not. Punctuation of a name is
optional in the text, as are hyphens within words ("non-small"), but a comma or full stop that only the text has
separates words. Any other `EntityLinker` can be used instead.

Departures: the longest name limits n-grams, so that no limit has to be set. Names in `FUNCTION_WORDS`, names that begin
with "the" and names of fewer than two letters are not linked. An acronym never means an entity that is rarely called
so: "MS" is multiple sclerosis, not myeloid sarcoma.
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
    """Finds entities in text; each span has the most likely entity."""

    def link(self, text: str) -> list[EntitySpan]:
        """Return spans in order, without overlap."""
        ...


class NgramLinker:
    """Links the names of entities in text.

    Args:
        names: Names of each entity, the preferred one first.
        ids: Ids of the same entities; of two with the same name, the earlier is linked.
        skip: Names that are never linked, in any case.

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
        """Return a linker to the entities of a graph; of two with the same name, the one in more triples is linked."""
        order = by_degree(graph)
        return cls([graph.names[each] for each in order], [graph.entities[each] for each in order], skip)

    def link(self, text: str) -> list[EntitySpan]:
        """Return mentions in order, without overlap; the longest of those with the same start."""
        spans: list[EntitySpan] = []
        last = 0
        text, places = single_blanks(text)
        for start, negative_end, number in self._automaton.find(text):
            if start < last:
                continue
            entity = self._any_case[number]
            if number in self._written:
                entity = self._written[number].get(text[start:-negative_end], entity)
            if entity is not None:
                spans.append(EntitySpan(places[start], places[-negative_end - 1] + 1, entity))
                last = -negative_end
        return spans
