"""The UMLS Metathesaurus in Rich Release Format: names of MRCONSO.RRF, relations of MRREL.RRF (wang2021, 5.1.4).

A row of MRREL says that CUI2 has the relationship RELA to CUI1, or where RELA is empty the broader REL: the triple is
(CUI2, RELA or REL, CUI1). UMLS states most relations twice, once in each direction ("isa", "inverse_isa"); both are
read. Left out are suppressible rows (SUPPRESS other than "N") and relations of a concept with itself. Names are read
last, of concepts that are in a relation. Needs a licence of the National Library of Medicine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from auscult.errors import DataError
from auscult.files.lines import read_lines
from auscult_lab.graphs.graph import KnowledgeGraph, Triple, make_graph, name_entities

NAMES = "MRCONSO.RRF"
"""The file that tells a folder of UMLS."""

_RELATIONS = "MRREL.RRF"
_WIDTHS = {NAMES: 18, _RELATIONS: 16}
# Places of columns in MRCONSO and in MRREL.
_CUI, _LANGUAGE, _TERM_STATUS, _STRING_TYPE, _IS_PREFERRED, _STRING, _NAME_SUPPRESSED = 0, 1, 2, 4, 6, 14, 16
_CUI1, _REL, _CUI2, _RELA, _SOURCE, _SUPPRESSED = 0, 3, 4, 7, 10, 14


def read_umls(folder: Path | str, sources: Collection[str] = ()) -> KnowledgeGraph:
    """Read a folder with MRCONSO.RRF and MRREL.RRF, each plain or gzip-compressed.

    Args:
        folder: Usually `META/` of a release.
        sources: Only relations that these vocabularies state (SAB, "SNOMEDCT_US"); all where empty.

    Raises:
        DataError: A file is absent or malformed; names file and line. Or no relation is left.
    """
    folder = Path(folder)
    relations, names = _find(folder, _RELATIONS), _find(folder, NAMES)
    stated = f" that --source {', '.join(sources)} states" if sources else ""
    remedy = "name other vocabularies, or none" if sources else "give the META folder of a UMLS release"
    triples = _triples(relations, frozenset(sources))
    graph = make_graph(triples, {}, sought=f"relations{stated} in {relations}", remedy=remedy)
    return name_entities(graph, _names(names, frozenset(graph.entities)))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{name} or {name}.gz in {folder}", "no such file", "give the META folder of a UMLS release")


def _names(path: Path, wanted: frozenset[str]) -> dict[str, list[str]]:
    """English names of wanted concepts: the preferred form of the preferred term first, other preferred ones next."""
    ranked: dict[str, dict[str, int]] = {}
    for row in _rows(path, _WIDTHS[NAMES]):
        concept = f"UMLS:{row[_CUI]}"
        if concept in wanted and row[_LANGUAGE] == "ENG" and row[_NAME_SUPPRESSED] == "N":
            rank = (row[_TERM_STATUS] != "P") * 4 + (row[_STRING_TYPE] != "PF") * 2 + (row[_IS_PREFERRED] != "Y")
            strings = ranked.setdefault(concept, {})
            strings[row[_STRING]] = min(rank, strings.get(row[_STRING], rank))
    return {concept: sorted(strings, key=strings.__getitem__) for concept, strings in ranked.items()}


def _triples(path: Path, sources: frozenset[str]) -> Iterator[Triple]:
    for row in _rows(path, _WIDTHS[_RELATIONS]):
        wanted = row[_SUPPRESSED] == "N" and (not sources or row[_SOURCE] in sources)
        if wanted and row[_CUI1] != row[_CUI2]:
            yield f"UMLS:{row[_CUI2]}", row[_RELA] or row[_REL], f"UMLS:{row[_CUI1]}"


def _rows(path: Path, width: int) -> Iterator[list[str]]:
    for number, line in read_lines(path):
        # Every column ends with a bar, the last one too.
        cells = line.split("|")
        if len(cells) != width + 1:
            got = f"{len(cells) - 1} columns"
            raise DataError(f"{width} columns at {path}:{number}", got, "take the file as UMLS publishes it")
        yield cells
