"""The knowledge base: concepts by identifier and by name, and their hierarchy (arnold2020 section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from auscult.concepts.concept import Concept, Hierarchy, Relation
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.languages import NamesByLanguage
from auscult.concepts.merging import MergeCounts, join, merge
from auscult.concepts.names import normalise_name, order_free_key, shortened
from auscult.concepts.reading import existing, read_taxonomies
from auscult.concepts.storage import Brought, Stored, pack_concepts, parse_concepts
from auscult.concepts.word_counts import count_words
from auscult.errors import DataError, QueryError
from auscult.files.writing import whole_or_nothing

if TYPE_CHECKING:
    from auscult.documents import Document

PREPARED = "entities.tsv.gz"
"""The file by which a folder of prepared taxonomies is recognised (`KnowledgeBase.from_folder`)."""

_NOTHING: Brought = MappingProxyType({})
_NO_NAMES = NamesByLanguage()
_TABLES = (PREPARED, "triples.tsv.gz", "icd10cm_2018_categories.tsv.gz")
_SUPPLEMENTS = ("HumanDO_2016-06-17.obo.gz",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """Lookup tables of a knowledge base.

    Attributes:
        names: Concept ids by normalised name; concepts with it as their preferred name come first.
        citing: By identifier, the ids of the concepts that have it among their cross-references.
        reordered: Normalised names by `names.order_free_key`.
        short: Normalised names by `names.short_key`.
        words: How many times each word occurs in the normalised names.
    """

    names: Mapping[str, tuple[str, ...]]
    citing: Mapping[str, tuple[str, ...]]
    reordered: Mapping[str, tuple[str, ...]]
    short: Mapping[str, tuple[str, ...]]
    words: Mapping[str, int]


class Compiled(NamedTuple):
    """A knowledge base as it was written to files.

    Attributes:
        packed: What `KnowledgeBase.to_bytes` returns.
        copy: Writes the file in which names are looked up to a path, syncs it, and returns the checksum at its end.
    """

    packed: bytes
    copy: Callable[[Path], int]


class KnowledgeBase:
    """Concepts with their names, identifiers and is_a relations; immutable.

    Args:
        concepts: Concepts with distinct `concept_id`, most trusted first: of two concepts with one name the first is
            preferred. A mapping by `concept_id` is used as it is.
        codes: Entries of a code list (ICD-10-CM), found by identifier only. People do not use their titles as names,
            so name lookup, linking and completion ignore them.
        counts: Counts of the merging, for reports.
        names: The `name_index` of the concepts, if already computed.
        brought: Changes that documents made (`with_documents`): by concept, its cross-references before the change,
            or None for a new concept.
        lookups: The lookup tables of the concepts, if already computed.
        foreign: The names of the concepts in other languages than English.
        compiled: The same, as it was written to files; None where it is not.
    """

    def __init__(
        self,
        concepts: Iterable[Concept] | Mapping[str, Concept],
        codes: Iterable[Concept] | Mapping[str, Concept] = (),
        counts: MergeCounts | None = None,
        names: Mapping[str, tuple[str, ...]] | None = None,
        brought: Brought = _NOTHING,
        lookups: Lookups | None = None,
        foreign: NamesByLanguage = _NO_NAMES,
        compiled: Compiled | None = None,
    ) -> None:
        self.concepts = _by_id(concepts)
        self.codes = _by_id(codes)
        self.counts = counts or MergeCounts(len(self.concepts), len(self.concepts))
        self._names = names if lookups is None else lookups.names
        self.brought = brought
        self._lookups = lookups
        self.foreign = foreign
        self.compiled = compiled

    @classmethod
    def from_files(
        cls,
        paths: Sequence[Path | str],
        supplements: Sequence[Path | str] = (),
    ) -> KnowledgeBase:
        """Read and merge taxonomies.

        Args:
            paths: `.obo[.gz]` files and `.tsv[.gz]` tables (entities, triples, codes; told apart by their
                columns), most trusted first.
            supplements: Taxonomies of the same kinds that only add names, definitions, identifiers and
                parents to concepts that `paths` already have: an older release, whose retired terms must not
                come back.

        Raises:
            DataError: A file is absent, of an unknown kind, or malformed.
        """
        records, codes = read_taxonomies(paths, supplements)
        concepts, counts = merge(records)
        return cls(concepts, codes, counts)

    @classmethod
    def from_folder(cls, folder: Path | str) -> KnowledgeBase:
        """Read the Disease and Symptom Ontologies, Mondo and ICD-10-CM from a folder of their prepared files.

        Everyday terms that none of them has ("piles", "bowel cancer") are added from `lay_terms.tsv`, a short
        list written for this package.

        Args:
            folder: A folder with entities.tsv.gz and triples.tsv.gz, and optionally the ICD-10-CM table and an older
                release of the Disease Ontology (`kg/` under `AUSCULT_DATA`).

        Raises:
            DataError: The folder has no entities.tsv.gz, or a file is malformed.
        """
        folder = Path(folder)
        existing(folder / PREPARED)
        tables = [folder / name for name in _TABLES if (folder / name).is_file()]
        older = [folder / name for name in _SUPPLEMENTS if (folder / name).is_file()]
        with as_file(files("auscult.concepts") / "lay_terms.tsv") as lay_terms:
            return cls.from_files(tables, [*older, lay_terms])

    @classmethod
    def load(cls, path: Path | str) -> KnowledgeBase:
        """Read a file that `save` wrote.

        Raises:
            DataError: The file is absent, damaged, or of another format or version.
        """
        path, remedy = Path(path), "build it again with: auscult concepts build"
        if not path.is_file():
            raise DataError(f"a knowledge base file at {path}", "no such file", remedy)
        return cls.from_bytes(path.read_bytes(), f"at {path}", remedy)

    @classmethod
    def from_bytes(cls, data: bytes, where: str, remedy: str = "the index is damaged: build it again") -> KnowledgeBase:
        """Read the content of a file that `save` wrote.

        Args:
            data: The content.
            where: Where the file was, for error messages: "in the index at FOLDER".
            remedy: What to do if it is damaged, for error messages.

        Raises:
            DataError: It is damaged, or of another format or version.
        """
        stored = parse_concepts(data, where, remedy)
        return cls(stored.concepts, stored.codes, names=stored.names, brought=stored.brought, foreign=stored.foreign)

    def save(self, path: Path | str) -> None:
        """Write one compact file (see `storage`), atomically; the same content gives the same bytes.

        Raises:
            DataError: The place cannot be written to.
        """
        with whole_or_nothing(Path(path)) as partial:
            partial.write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the content that `save` writes, for `from_bytes`."""
        if self.compiled is not None:
            return self.compiled.packed
        stored = Stored(self.concepts.values(), self.codes.values(), self.name_index, self.brought, self.foreign)
        return pack_concepts(stored)

    def with_documents(self, documents: Iterable[Document]) -> KnowledgeBase:
        """Return this knowledge base extended by the entities that documents are about; the same one by none.

        If the title of a document with identifiers (`entity_ids`) is the preferred name of a concept, the concept gets
        those identifiers. Any other titled document with identifiers becomes a new concept, so that "Q…" or "UMLS:C…"
        finds entities of the collection that no taxonomy has.
        """
        documents = [document for document in documents if document.entity_ids and document.title]
        if not documents:
            return self
        concepts, names = dict(self.concepts.items()), dict(self.name_index.items())
        brought: dict[str, tuple[str, ...] | None] = dict(self.brought)
        for document in documents:
            identifiers = [i for i in map(normalise_identifier, document.entity_ids) if i]
            key = normalise_name(document.title)
            if not identifiers or not key:
                continue
            # Concepts with it as their preferred name come first.
            named = next(iter(names.get(key, ())), None)
            if named is not None and normalise_name(concepts[named].name) != key:
                named = None
            known = named or (identifiers[0] if identifiers[0] in concepts else None)
            record = Concept(known or identifiers[0], document.title, xrefs=tuple(identifiers), source=document.source)
            if known:
                target = concepts[known]
                brought.setdefault(known, target.xrefs)
                # Titles of one entity vary ("Asthma", "asthma in children"): identifiers are kept, names are
                # not.
                concepts[known] = replace(join(target, record), synonyms=target.synonyms, source=target.source)
            else:
                brought[record.concept_id] = None
                concepts[record.concept_id] = replace(record, xrefs=tuple(dict.fromkeys(identifiers[1:])))
                names[key] = (record.concept_id, *names.get(key, ()))
        return KnowledgeBase(concepts.values(), self.codes.values(), self.counts, names, brought, foreign=self.foreign)

    @cached_property
    def vocabulary(self) -> KnowledgeBase:
        """This knowledge base without the changes of `with_documents`."""
        if not self.brought:
            return self
        new = {concept_id for concept_id, xrefs in self.brought.items() if xrefs is None}
        before = {concept_id: xrefs for concept_id, xrefs in self.brought.items() if xrefs is not None}
        concepts = [
            replace(concept, xrefs=before[concept.concept_id]) if concept.concept_id in before else concept
            for concept in self
            if concept.concept_id not in new
        ]
        left = ((name, tuple(each for each in ids if each not in new)) for name, ids in self.name_index.items())
        names = {name: ids for name, ids in left if ids}
        return KnowledgeBase(concepts, self.codes.values(), self.counts, names, foreign=self.foreign)

    def with_foreign(self, foreign: NamesByLanguage) -> KnowledgeBase:
        """Return this knowledge base with other names in other languages; the rest is shared."""
        names = self.name_index
        return KnowledgeBase(self.concepts, self.codes, self.counts, names, self.brought, self._lookups, foreign)

    def __len__(self) -> int:
        return len(self.concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts.values())

    def __contains__(self, concept_id: object) -> bool:
        return concept_id in self.concepts

    def get(self, concept_id: str) -> Concept | None:
        """Return the concept or code with this primary identifier, which must be in canonical form."""
        return self.concepts.get(concept_id) or self.codes.get(concept_id)

    def by_identifier(self, identifier: str) -> tuple[Concept, ...]:
        """Return the concepts for an identifier of any vocabulary, best first.

        Concepts with it as their own identifier come first, then those that cite it, then entries of a code list. Of
        several concepts that cite a code, an ancestor of the others comes first, then those with fewer codes of that
        kind.

        Args:
            identifier: The identifier in any spelling that `normalise_identifier` understands.
        """
        canonical = normalise_identifier(identifier)
        if not canonical:
            return ()
        own = self.concepts.get(canonical)
        citing = [self.concepts[c] for c in self._citing.get(canonical, ()) if c != canonical]
        code = self.codes.get(canonical)
        if len(citing) > 1:
            title = normalise_name(code.name) if code else ""
            prefix = canonical.partition(":")[0] + ":"
            ids = {concept.concept_id for concept in citing}
            citing.sort(
                key=lambda c: (
                    normalise_name(c.name) != title,
                    sum(xref.startswith(prefix) for xref in c.xrefs),
                    -len(self.hierarchy.descendants(c.concept_id) & ids),
                )
            )
        return tuple(concept for concept in (own, *citing, code) if concept)

    def lookup(self, identifier: str) -> Concept | None:
        """Return the best concept for an identifier of any vocabulary, or None."""
        return next(iter(self.by_identifier(identifier)), None)

    def by_name(self, name: str) -> tuple[Concept, ...]:
        """Return concepts with this name or synonym in any spelling (`normalise_name`), preferred names first."""
        return tuple(self.concepts[concept_id] for concept_id in self.name_index.get(normalise_name(name), ()))

    @cached_property
    def name_index(self) -> Mapping[str, tuple[str, ...]]:
        """Concept ids by normalised name; concepts with it as their preferred name come first."""
        if self._names is not None:
            return self._names
        preferred: dict[str, list[str]] = {}
        for concept in self:
            preferred.setdefault(normalise_name(concept.name), []).append(concept.concept_id)
        for concept in self:
            for synonym in concept.synonyms:
                preferred.setdefault(normalise_name(synonym), []).append(concept.concept_id)
        preferred.pop("", None)
        return {key: tuple(dict.fromkeys(ids)) for key, ids in preferred.items()}

    @property
    def reordered(self) -> Mapping[str, tuple[str, ...]]:
        """Normalised names by `names.order_free_key`."""
        return self._looser[0] if self._lookups is None else self._lookups.reordered

    @property
    def short(self) -> Mapping[str, tuple[str, ...]]:
        """Normalised names by `names.short_key`."""
        return self._looser[1] if self._lookups is None else self._lookups.short

    @cached_property
    def _looser(self) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        names = [*self.name_index]
        ordered = [*map(order_free_key, names)]
        return _group(names, ordered), _group(names, map(shortened, ordered))

    @cached_property
    def words(self) -> Mapping[str, int]:
        """How many times each word occurs in the normalised names."""
        return count_words(self.name_index) if self._lookups is None else self._lookups.words

    def citing(self, identifier: str) -> tuple[Concept, ...]:
        """Return the concepts that have an identifier, in canonical form, among their cross-references."""
        return tuple(self.concepts[concept_id] for concept_id in self._citing.get(identifier, ()))

    @property
    def lookups(self) -> Lookups:
        """Return all lookup tables, to be saved with the concepts."""
        return Lookups(
            names=self.name_index, citing=self._citing, reordered=self.reordered, short=self.short, words=self.words
        )

    @cached_property
    def names_by_beginning(self) -> Mapping[str, tuple[str, ...]]:
        """Normalised names by the first three letters of their first word, or the whole word if it is shorter."""
        names: dict[str, list[str]] = {}
        for key in self.name_index:
            names.setdefault(key.partition(" ")[0][:3], []).append(key)
        return {beginning: tuple(keys) for beginning, keys in names.items()}

    def descriptions(self, concept_id: str) -> tuple[str, ...]:
        """Return all texts that describe a concept: name, synonyms, definition (D_E of arnold2020 Eq. 1 and 5).

        Raises:
            QueryError: No concept has this primary identifier.
        """
        concept = self._require(concept_id)
        return concept.names + ((concept.definition,) if concept.definition else ())

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The is_a relations between all concepts and codes."""
        nodes = (*self.concepts.values(), *self.codes.values())
        return Hierarchy({node.concept_id: node.parents for node in nodes})

    def relation(self, first: str, second: str) -> Relation:
        """Return the relation of the second concept to the first (the classes of arnold2020 section 5.4).

        Args:
            first: Any identifier of the reference concept, that of the query.
            second: Any identifier of the compared concept, that of the passage.

        Returns:
            "ancestor" when `second` is more general than `first`, "descendant" when more specific.

        Raises:
            QueryError: An identifier is not in the knowledge base.
        """
        return self.hierarchy.relation(self._require(first).concept_id, self._require(second).concept_id)

    @cached_property
    def _citing(self) -> Mapping[str, tuple[str, ...]]:
        if self._lookups is not None:
            return self._lookups.citing
        citing: dict[str, list[str]] = {}
        for concept in self:
            for xref in concept.xrefs:
                citing.setdefault(xref, []).append(concept.concept_id)
        return {xref: tuple(ids) for xref, ids in citing.items()}

    def _require(self, identifier: str) -> Concept:
        concept = self.concepts.get(identifier) or self.lookup(identifier)
        if concept is None:
            remedy = "look it up with: auscult concepts show"
            raise QueryError("an identifier of the knowledge base", repr(identifier), remedy)
        return concept


def _by_id(concepts: Iterable[Concept] | Mapping[str, Concept]) -> Mapping[str, Concept]:
    """Return concepts by their ids; a mapping is returned as it is."""
    if isinstance(concepts, Mapping):
        return concepts
    return MappingProxyType({concept.concept_id: concept for concept in concepts})


def _group(names: Iterable[str], groups_of: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return names by their group; a name whose group is empty is left out."""
    groups: dict[str, list[str]] = {}
    for name, group in zip(names, groups_of, strict=True):
        groups.setdefault(group, []).append(name)
    groups.pop("", None)
    return {group: tuple(members) for group, members in groups.items()}
