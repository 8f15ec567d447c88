"""Taxonomy files of every kind, told apart by name and columns, as one stream of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from auscult.concepts.concept import Concept
from auscult.concepts.obo import read_obo
from auscult.concepts.tsv import (
    CODE_COLUMNS,
    ENTITY_COLUMNS,
    TRIPLE_COLUMNS,
    read_codes,
    read_entities,
    read_parents,
    tsv_columns,
)
from auscult.errors import DataError


def read_taxonomies(
    paths: Sequence[Path | str], supplements: Sequence[Path | str] = ()
) -> tuple[list[Concept], list[Concept]]:
    """Read taxonomies, unmerged.

    Args:
        paths: `.obo[.gz]` files and `.tsv[.gz]` tables (entities, triples, codes).
        supplements: More of them, of which only records with an identifier known from `paths` are kept.

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
    """The path, if it is a file.

    Raises:
        DataError: It is not.
    """
    if not path.is_file():
        raise DataError(f"a taxonomy file at {path}", "no such file", "check the path or set AUSCULT_DATA")
    return path


def _read_into(path: Path, records: list[Concept], parents: dict[str, list[str]], codes: list[Concept]) -> None:
    """Read one file by its kind and add what it holds."""
    name = existing(path).name.removesuffix(".gz")
    if name.endswith(".obo"):
        records.extend(read_obo(path))
        return
    columns = tsv_columns(path) if name.endswith(".tsv") else ()
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
