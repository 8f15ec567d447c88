"""Triples in tab-separated tables, plain or gzip-compressed.

- A folder with `triples.tsv[.gz]` and, where it has one, `entities.tsv[.gz]` (`id name source synonyms definition
  xrefs`), which names entities.
- A table whose first line names its columns: subject, relation and object (`subject_id relation object_id`, `head
  relation tail`, `source relation target`, ...), and where present `subject_name object_name`; other columns are not
  read.
- A table of three columns without such a line, as link-prediction data sets are published.

An entity whose `xrefs` cite one entity of another vocabulary as the same (a Mondo record with one DOID) is merged with
it, and inverted synonyms are moved, as in knowledge bases (`merging`). An object without an id is the entity of
`entities.tsv` with its name as preferred name, or else a new entity with the id "name:" and the name. Of several
entities with that name, one in the vocabulary of most objects of the relation is taken: a symptom is the "nephritis" of
the Symptom Ontology, not the disease.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from auscult.concepts.concept import Concept
from auscult.concepts.merging import merge_by_reference
from auscult.concepts.reading import read_entities, read_rows
from auscult.errors import DataError
from auscult_lab.graphs.graph import KnowledgeGraph, Triple, entity_id, make_graph, named_entity_id, plain_name

TRIPLES = ("triples.tsv.gz", "triples.tsv")
"""The file that tells a folder of triples."""

_ENTITIES = ("entities.tsv.gz", "entities.tsv")
# Names of columns, by their content.
_COLUMNS = (
    ("subject_id", "subject", "head", "head_id", "source"),
    ("relation", "predicate"),
    ("object_id", "object", "tail", "tail_id", "target"),
    ("subject_name", "head_name"),
    ("object_name", "tail_name"),
)
_Names = dict[str, list[str]]


def read_triples(path: Path | str) -> KnowledgeGraph:
    """Read a table of triples, or a folder with one.

    Raises:
        DataError: There is no such table, it has other columns, or a line of it is malformed; names file and line.
    """
    path = Path(path)
    concepts: list[Concept] = []
    if path.is_dir():
        table = _present(path, TRIPLES)
        if table is None:
            raise DataError(f"{TRIPLES[0]} in {path}", "no such file", "give the folder that holds it, or a table")
        entities = _present(path, _ENTITIES)
        concepts = list(read_entities(entities)) if entities else []
    elif path.is_file():
        table = path
    else:
        raise DataError(f"a table of triples at {path}", "no such file", "check the path")
    merged, same_as = merge_by_reference(concepts)
    names: _Names = defaultdict(list, {concept.concept_id: list(concept.names) for concept in merged})
    called: dict[str, list[str]] = defaultdict(list)
    # Entities that keep their id first: of several with one name, the first counts where nothing else decides.
    for concept in sorted(concepts, key=lambda each: each.concept_id in same_as):
        known_as = same_as.get(concept.concept_id, concept.concept_id)
        if known_as not in called[named_entity_id(concept.name)]:
            called[named_entity_id(concept.name)].append(known_as)
    kinds = Counter((row[1], _vocabulary(entity_id(row[2]))) for row in _rows(table) if row[2]) if called else Counter()
    triples = _triples(table, names, called, kinds, same_as)
    return make_graph(triples, names, sought=f"triples in {table}")


def _present(folder: Path, candidates: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in candidates if (folder / name).is_file()), None)


def _triples(
    path: Path,
    names: _Names,
    called: Mapping[str, Sequence[str]],
    kinds: Counter[tuple[str, str]],
    same_as: Mapping[str, str],
) -> Iterator[Triple]:
    """Yield the triples of a table; the table's names of its entities are added to `names`.

    Triples between two records of the same entity are left out.
    """

    def entity(identifier: str, name: str, relation: str) -> str:
        chosen = entity_id(identifier)
        chosen = same_as.get(chosen, chosen)
        if not identifier:
            by_name = named_entity_id(name)
            # max() returns the first of equals, which comes first in the table of entities.
            chosen = max(called.get(by_name, [by_name]), key=lambda candidate: kinds[relation, _vocabulary(candidate)])
        if name and chosen not in names:
            names[chosen] = [plain_name(name)]
        return chosen

    for subject, relation, object_, subject_name, object_name in _rows(path):
        ends = entity(subject, subject_name, relation), entity(object_, object_name, relation)
        if ends[0] != ends[1] or subject == object_:
            yield ends[0], relation, ends[1]


def _vocabulary(identifier: str) -> str:
    return identifier.partition(":")[0]


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield ids of subject, relation and object, and names of subject and object; empty for missing names."""
    rows = read_rows(path, None)
    first = next(rows, None)
    if first is None:
        raise DataError(f"triples in {path}", "an empty file", "give a table of subject, relation and object")
    width = len(first[1])
    columns = [cell.strip().lower() for cell in first[1]]
    # Columns of subject, relation, object and their names; none for three columns without a header.
    places = [next((columns.index(name) for name in known if name in columns), None) for known in _COLUMNS]
    if None in places[:3]:
        if width != 3:
            named = " ".join(known[0] for known in _COLUMNS[:3])
            expected = f"columns {named}, or three columns without names, in {path}"
            found = " ".join(first[1])[:80] or "an empty line"
            raise DataError(expected, found, "name the columns in the first line")
        places = []
    for number, cells in rows if places else chain([first], rows):
        if len(cells) != width:
            raise DataError(f"{width} columns at {path}:{number}", f"{len(cells)} columns", "correct that line")
        row = [cells[each].strip() if each is not None else "" for each in places or (0, 1, 2, None, None)]
        if not (row[1] and (row[0] or row[3]) and (row[2] or row[4])):
            got = repr("\t".join(cells)[:80])
            raise DataError(f"a subject, a relation and an object at {path}:{number}", got, "correct that line")
        yield row
