"""One concept of a taxonomy: a disease, a symptom or a code, with everything that names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Concept:
    """A node of the knowledge base.

    Attributes:
        concept_id: Primary identifier, canonical form ("DOID:5844").
        name: Preferred name.
        synonyms: Other names, without the preferred one, no two alike but for case.
        definition: One or two sentences; empty where the source has none.
        xrefs: Identifiers of the same thing elsewhere, canonical form (see `identifiers`), also the primary
            identifiers of records that were merged into this one.
        parents: Primary identifiers of the is_a parents.
        source: Where it comes from ("DO", "Mondo"); "DO|Mondo" after a merge.
    """

    concept_id: str
    name: str
    synonyms: tuple[str, ...] = ()
    definition: str = ""
    xrefs: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    source: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred name, then the synonyms."""
        return (self.name, *self.synonyms)


def distinct_names(names: tuple[str, ...], preferred: str) -> tuple[str, ...]:
    """Drop blanks, the preferred name and repeats that differ in case or outer white space only."""
    seen = {preferred.strip().casefold(), ""}
    kept = []
    for name in names:
        key = name.strip().casefold()
        if key not in seen:
            seen.add(key)
            kept.append(name.strip())
    return tuple(kept)
