"""Merge records of several vocabularies that describe the same thing into one concept.

There are three rules:

1. Records with the same identifier are always merged; the name and definition of the first are kept.
2. A record that cites the primary identifier of another vocabulary's record ("DOID:5844" in a Mondo row) is merged
   with it. If it cites several, it is merged with the one that shares a name with it, if any: Mondo's "cancer" cites
   three DOIDs, which must stay three concepts.
3. Records of two vocabularies with the same preferred name are merged, unless either concept already has a record of
   the other's vocabulary.

Only taxonomies that give each disease one identifier are followed. UMLS, ICD-10 and MeSH codes are shared by many
concepts and never cause a merge.

In the end, a synonym that is the preferred name of another concept in a different word order moves to that concept:
taxonomies give rare diseases the inverted titles of common ones ("diabetes mellitus, type 2" for a form of MODY).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from auscult.concepts.concept import Concept, distinct_names
from auscult.concepts.names import normalise_name, order_free_key

EQUIVALENCE_PREFIXES = ("DOID", "MONDO")
"""Vocabularies whose identifiers among a record's cross-references mean the same thing."""


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """The numbers of records read, of concepts made of them, and of merges by each rule."""

    records: int = 0
    concepts: int = 0
    merged_by_id: int = 0
    merged_by_xref: int = 0
    merged_by_name: int = 0


def merge(records: Iterable[Concept]) -> tuple[list[Concept], MergeCounts]:
    """Merge records; identifier, preferred name and definition come from the earliest.

    Args:
        records: The records, most trusted first.

    Returns:
        Concepts in order of first appearance, with parents replaced by the merged concepts, and the counts.
    """
    by_id: dict[str, Concept] = {}
    total = 0
    for record in records:
        total += 1
        known = by_id.get(record.concept_id)
        by_id[record.concept_id] = join(known, record) if known else record
    target_of, sources = _merge_cited(by_id)
    by_xref = len(target_of)
    first_named: dict[str, list[str]] = {}
    for identifier, concept in by_id.items():
        if identifier in target_of:
            continue
        alike = first_named.setdefault(normalise_name(concept.name), [])
        target = next((other for other in alike if not sources[other] & sources[identifier]), None)
        if target:
            target_of[identifier] = target
            sources[target].add(concept.source)
        else:
            alike.append(identifier)
    concepts = _give_back(_collapse(by_id, target_of))
    counts = MergeCounts(total, len(concepts), total - len(by_id), by_xref, len(target_of) - by_xref)
    return concepts, counts


def merge_by_reference(records: Iterable[Concept]) -> tuple[list[Concept], dict[str, str]]:
    """Merge records by rule 2 alone.

    Args:
        records: Records with distinct identifiers.

    Returns:
        Concepts as `merge` gives them, and for each record that was merged into another, the identifier of both.
    """
    by_id = {record.concept_id: record for record in records}
    target_of, _ = _merge_cited(by_id)
    same_as = {identifier: _follow(identifier, target_of) for identifier in target_of}
    return _give_back(_collapse(by_id, target_of)), same_as


def join(first: Concept, second: Concept) -> Concept:
    """Merge two records; identifier, name and definition come from the first if it has them."""
    other_id = () if second.concept_id == first.concept_id else (second.concept_id,)
    return replace(
        first,
        synonyms=distinct_names((*first.synonyms, *second.names), first.name),
        definition=first.definition or second.definition,
        xrefs=_distinct((*first.xrefs, *other_id, *second.xrefs), first.concept_id),
        parents=_distinct((*first.parents, *second.parents), first.concept_id),
        source="|".join(dict.fromkeys(s for s in (*first.source.split("|"), *second.source.split("|")) if s)),
    )


def _merge_cited(by_id: Mapping[str, Concept]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Return which records rule 2 merges, and the sources of each result; no result has a source twice."""
    target_of: dict[str, str] = {}
    sources = {identifier: {concept.source} for identifier, concept in by_id.items()}
    for identifier, concept in by_id.items():
        target = _find_equal(concept, by_id)
        if target and target not in target_of and concept.source not in sources[target]:
            target_of[identifier] = target
            sources[target].add(concept.source)
    return target_of, sources


def _follow(identifier: str, target_of: Mapping[str, str]) -> str:
    """Return the identifier of the concept that a record became a part of."""
    while identifier in target_of:
        identifier = target_of[identifier]
    return identifier


def _find_equal(concept: Concept, by_id: Mapping[str, Concept]) -> str | None:
    """Return the record that a concept declares itself equal to, if there is exactly one."""
    cited = [
        by_id[xref]
        for xref in concept.xrefs
        if xref.partition(":")[0] in EQUIVALENCE_PREFIXES and xref in by_id and by_id[xref].source != concept.source
    ]
    if len(cited) > 1:
        name = normalise_name(concept.name)
        cited = [other for other in cited if normalise_name(other.name) == name] or [
            other for other in cited if name in {normalise_name(synonym) for synonym in other.synonyms}
        ]
    return cited[0].concept_id if len(cited) == 1 else None


def _collapse(by_id: dict[str, Concept], target_of: dict[str, str]) -> list[Concept]:
    merged: dict[str, Concept] = {identifier: by_id[identifier] for identifier in by_id if identifier not in target_of}
    for identifier in target_of:
        target = _follow(identifier, target_of)
        merged[target] = join(merged[target], by_id[identifier])
    # A parent may have been merged into a concept with another identifier.
    return [
        replace(
            concept,
            parents=_distinct(tuple(_follow(parent, target_of) for parent in concept.parents), concept.concept_id),
        )
        for concept in merged.values()
    ]


def _give_back(concepts: list[Concept]) -> list[Concept]:
    """Move synonyms that are another concept's preferred name in a different word order to that concept."""
    owners: dict[str, list[Concept]] = {}
    for concept in concepts:
        owners.setdefault(_unordered(concept.name), []).append(concept)
    given: dict[str, list[str]] = {}
    reduced = []
    for concept in concepts:
        own_key, synonyms = _unordered(concept.name), []
        for name in concept.synonyms:
            key = _unordered(name)
            owner = owners.get(key, []) if key != own_key else []
            # With the same word order both concepts keep the name, and the lookup decides which one is meant.
            if len(owner) == 1 and normalise_name(owner[0].name) != normalise_name(name):
                given.setdefault(owner[0].concept_id, []).append(name)
            else:
                synonyms.append(name)
        reduced.append(replace(concept, synonyms=tuple(synonyms)) if len(synonyms) < len(concept.synonyms) else concept)
    return [
        replace(concept, synonyms=distinct_names((*concept.synonyms, *more), concept.name))
        if (more := given.get(concept.concept_id))
        else concept
        for concept in reduced
    ]


def _unordered(name: str) -> str:
    """Return a key that is equal for names that differ only in word order; names with several numbers keep theirs."""
    key = normalise_name(name)
    numbers = sum(any(map(str.isdigit, word)) for word in key.split())
    return order_free_key(key) if numbers < 2 else key


def _distinct(identifiers: tuple[str, ...], own: str) -> tuple[str, ...]:
    return tuple(identifier for identifier in dict.fromkeys(identifiers) if identifier != own)
