"""A knowledge graph from whatever lies at a path."""

from __future__ import annotations

from pathlib import Path

from auscult.concepts.graph.graph import KnowledgeGraph
from auscult.concepts.graph.obo_relations import read_obo_relations
from auscult.concepts.graph.triples_tsv import TRIPLES, read_triples
from auscult.concepts.graph.umls import NAMES, read_umls
from auscult.concepts.graph.wikidata import SUFFIXES, read_wikidata
from auscult.errors import DataError

ACCEPTED = (
    "a table of triples (.tsv, .tsv.gz, .txt) or a folder with triples.tsv.gz, an OBO file (.obo, .obo.gz), a folder "
    f"with {NAMES} and MRREL.RRF, or a Wikidata dump ({', '.join(SUFFIXES)})"
)
"""What `read_graph` takes."""


def read_graph(path: Path | str) -> KnowledgeGraph:
    """Read a graph, its format told by the name of the file or by what is in the folder.

    Raises:
        DataError: There is nothing at the path, or nothing that holds a graph, or it is malformed.
    """
    path = Path(path)
    if path.is_dir():
        if any((path / name).is_file() for name in (NAMES, f"{NAMES}.gz")):
            return read_umls(path)
        if any((path / name).is_file() for name in TRIPLES):
            return read_triples(path)
        raise DataError(ACCEPTED, f"the folder {path} with none of their files", "name one file in it")
    if not path.is_file():
        raise DataError(ACCEPTED, f"nothing at {path}", "check the path")
    name = path.name.removesuffix(".gz")
    if name.endswith(".obo"):
        return read_obo_relations(path)
    if name.endswith((".tsv", ".txt")):
        return read_triples(path)
    if path.name.endswith(SUFFIXES):
        return read_wikidata(path)
    raise DataError(ACCEPTED, f"a file named {path.name}", "convert it to a table of triples")


__all__ = ["ACCEPTED", "read_graph"]
