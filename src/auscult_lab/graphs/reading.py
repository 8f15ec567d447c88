"""A knowledge graph from whatever lies at a path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from auscult.errors import ConfigError, DataError
from auscult.files.lines import unreadable
from auscult_lab.graphs.graph import KnowledgeGraph
from auscult_lab.graphs.obo_relations import read_obo_relations
from auscult_lab.graphs.triples_tsv import TRIPLES, read_triples
from auscult_lab.graphs.umls import NAMES, read_umls
from auscult_lab.graphs.wikidata import SUFFIXES, read_wikidata

ACCEPTED = (
    "a table of triples (.tsv, .tsv.gz, .txt) or a folder with triples.tsv.gz, an OBO file (.obo, .obo.gz), a folder "
    f"with {NAMES} and MRREL.RRF, or a Wikidata dump ({', '.join(SUFFIXES)})"
)
"""What `read_graph` takes."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is read of a graph that may be too large to be read whole; all where nothing is named.

    Attributes:
        properties: Of Wikidata, see `read_wikidata`.
        roots: Of Wikidata, see `read_wikidata`.
        sources: Of UMLS, see `read_umls`.
    """

    properties: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def check(self, *taken: str) -> None:
        """See that nothing is named that a format does not know.

        Args:
            taken: Which of the attributes it does.

        Raises:
            ConfigError: Another is named.
        """
        formats = {"properties": "Wikidata", "roots": "Wikidata", "sources": "UMLS"}
        for name, format_ in formats.items():
            if getattr(self, name) and name not in taken:
                raise ConfigError(f"{name} of a graph of {format_} only", "a graph of another format", "leave them out")


WHOLE = Part()
"""No part of a graph, but all of it."""


def read_graph(path: Path | str, part: Part = WHOLE) -> KnowledgeGraph:
    """Read a graph, its format told by the name of the file or by what is in the folder.

    Args:
        path: See `ACCEPTED`.
        part: What to read of it, where it is of UMLS or Wikidata.

    Raises:
        DataError: There is nothing at the path, or nothing that holds a graph, or it cannot be read or is malformed.
        ConfigError: It has no such parts.
    """
    path = Path(path)
    try:
        return _read(path, part)
    except OSError as error:
        # To ask what lies in a closed folder is refused as reading it is.
        raise unreadable(path, error) from error


def _read(path: Path, part: Part) -> KnowledgeGraph:
    if path.is_dir():
        if any((path / name).is_file() for name in (NAMES, f"{NAMES}.gz")):
            part.check("sources")
            return read_umls(path, part.sources)
        if any((path / name).is_file() for name in TRIPLES):
            part.check()
            return read_triples(path)
        raise DataError(ACCEPTED, f"the folder {path} with none of their files", "name one file in it")
    if not path.is_file():
        raise DataError(ACCEPTED, f"nothing at {path}", "check the path")
    if path.name.endswith(SUFFIXES):
        part.check("properties", "roots")
        return read_wikidata(path, part.properties, part.roots)
    part.check()
    name = path.name.removesuffix(".gz")
    if name.endswith(".obo"):
        return read_obo_relations(path)
    if name.endswith((".tsv", ".txt")):
        return read_triples(path)
    raise DataError(ACCEPTED, f"a file named {path.name}", "convert it to a table of triples")
