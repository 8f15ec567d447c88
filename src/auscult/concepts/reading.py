"""Read taxonomy files of every kind; the kind is recognised by the file's name and columns.

OBO files are read by `obo`. Tables (UTF-8, first line names the columns, `|` separates several values in one column):

- entities: `id name source synonyms definition xrefs`
- triples: `subject_id subject_name relation object_id object_name source`; only `is_a` is read here
- codes: `code title` (ICD-10-CM categories, codes with or without the dot)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from auscult.concepts.concept import Concept, distinct_names
from auscult.concepts.identifiers import icd10_code, normalise_identifier, normalise_identifiers
from auscult.concepts.obo import read_obo
from auscult.errors import DataError
from auscult.files.reading import read_lines

ENTITY_COLUMNS = ("id", "name", "source", "synonyms", "definition", "xrefs")
TRIPLE_COLUMNS = ("subject_id", "subject_name", "relation", "object_id", "object_name", "source")
CODE_COLUMNS = ("code", "title")
CODE_SOURCE = "ICD-10-CM"


def read_taxonomies(
    paths: Sequence[Path | str], supplements: Sequence[Path | str] = ()
) -> tuple[list[Concept], list[Concept]]:
    """Read taxonomies, unmerged.

    Args:
        paths: `.obo[.gz]` files and `.tsv[.gz]` tables (entities, triples, codes).
        supplements: Further files, of which only records with an identifier known from `paths` are kept.

    Returns:
        (concepts, codes), in the order of the files; is_a triples have become `Concept.parents`.

    Raises:
        DataError: A file is absent, of an unknown kind, or malformed.
    """
    records: list[Concept] = []
    parents: dict[str, list[str]] = {}
    codes: list[Concept] = []
    for path in map(Path, paths):
        _read_into(path, records, parents, codes)
    known = {record.concept_id for record in records}
    for path in map(Path, supplements):
        extra: list[Concept] = []
        _read_into(path, extra, parents, codes)
        records += [record for record in extra if record.concept_id in known]
    placed = [
        replace(record, parents=tuple(dict.fromkeys((*record.parents, *parents[record.concept_id]))))
        if record.concept_id in parents
        else record
        for record in records
    ]
    return placed, codes


def existing(path: Path) -> Path:
    """Return the path if it is a file.

    Raises:
        DataError: It is not.
    """
    if not path.is_file():
        raise DataError(f"a taxonomy file at {path}", "no such file", "check the path or set AUSCULT_DATA")
    return path


def _read_into(path: Path, records: list[Concept], parents: dict[str, list[str]], codes: list[Concept]) -> None:
    """Read one file by its kind and add its records."""
    name = existing(path).name.removesuffix(".gz")
    if name.endswith(".obo"):
        records.extend(read_obo(path))
        return
    columns: tuple[str, ...] = ()
    if name.endswith(".tsv"):
        head = next(read_rows(path, None), None)
        if head is None:
            raise DataError(f"a line of column names in {path}", "an empty file", "give a table with a header line")
        columns = tuple(head[1])
    if columns == ENTITY_COLUMNS:
        records.extend(read_entities(path))
    elif columns == TRIPLE_COLUMNS:
        for child, ids in read_parents(path).items():
            parents.setdefault(child, []).extend(ids)
    elif columns == CODE_COLUMNS:
        codes.extend(read_codes(path))
    else:
        kinds = " or ".join(f"'{' '.join(kind)}'" for kind in (ENTITY_COLUMNS, TRIPLE_COLUMNS, CODE_COLUMNS))
        got = f"columns '{' '.join(columns)}'" if columns else f"a file named {path.name}"
        raise DataError(f"an .obo file or a .tsv table with columns {kinds}", got, "convert the taxonomy")


def read_entities(path: Path) -> Iterator[Concept]:
    """Yield the concepts of an entities table, in file order and without parents.

    Raises:
        DataError: A row has another number of columns, or no id or name; names file and line.
    """
    for number, (concept_id, name, source, synonyms, definition, xrefs) in _read_body(path, ENTITY_COLUMNS):
        canonical = normalise_identifier(concept_id)
        if not canonical or not name:
            got = f"id {concept_id!r} and name {name!r}"
            raise DataError(f"an identifier and a name at {path}:{number}", got, "correct or remove that line")
        yield Concept(
            concept_id=canonical,
            name=name.strip(),
            synonyms=distinct_names(tuple(synonyms.split("|")), name),
            definition=definition.strip(),
            xrefs=normalise_identifiers(xrefs.split("|")),
            source=source,
        )


def read_parents(path: Path) -> dict[str, list[str]]:
    """Return parent ids by child id, from the `is_a` rows of a triples table whose object has an id.

    Raises:
        DataError: A row has another number of columns; names file and line.
    """
    parents: dict[str, list[str]] = {}
    for _, (subject, _, relation, target, _, _) in _read_body(path, TRIPLE_COLUMNS):
        child, parent = normalise_identifier(subject), normalise_identifier(target)
        if relation == "is_a" and child and parent:
            parents.setdefault(child, []).append(parent)
    return parents


def read_codes(path: Path) -> Iterator[Concept]:
    """Yield ICD-10 categories as concepts "ICD10:N02.8"; the parent is the nearest shorter code of the table.

    Raises:
        DataError: A row has another number of columns; names file and line.
    """
    rows = [(icd10_code(code), title.strip()) for _, (code, title) in _read_body(path, CODE_COLUMNS)]
    known = {code for code, _ in rows}
    for code, title in rows:
        bare = code.replace(".", "")
        shorter = (icd10_code(bare[:length]) for length in range(len(bare) - 1, 2, -1))
        parent = next((candidate for candidate in shorter if candidate in known), None)
        parents = (f"ICD10:{parent}",) if parent else ()
        yield Concept(f"ICD10:{code}", title, parents=parents, source=CODE_SOURCE)


def _read_body(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    rows = read_rows(path, len(columns))
    _, head = next(rows, (1, []))
    if tuple(head) != columns:
        raise DataError(f"columns {' '.join(columns)} in {path}", " ".join(head) or "none", "rename the header line")
    yield from rows


def read_rows(path: Path, width: int | None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of every line that is not empty, including the first.

    Args:
        path: `.tsv` or `.tsv.gz`.
        width: How many cells a line has to have; None takes any number.

    Raises:
        DataError: A line has another number of cells or is not UTF-8, or the file cannot be read; names file and line.
    """
    for number, line in read_lines(path):
        if not line:
            continue
        cells = line.split("\t")
        if width is not None and len(cells) != width:
            got = f"{len(cells)} columns"
            raise DataError(f"{width} columns at {path}:{number}", got, "correct or remove that line")
        yield number, cells
