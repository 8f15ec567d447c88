"""Opening a knowledge graph by path, by catalogue name, or out of a corpus: the one place where it is decided."""

from __future__ import annotations

import re
from pathlib import Path

from auscult.catalogue import catalogue, data_dir, locate
from auscult.concepts.opening import DEFAULT
from auscult.errors import ConfigError, DataError
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.graphs.encyclopedia import graph_of_documents
from auscult_lab.graphs.graph import KnowledgeGraph
from auscult_lab.graphs.reading import ACCEPTED as FILES
from auscult_lab.graphs.reading import WHOLE, Part, read_graph

ACCEPTED = f"{FILES}; `{DEFAULT}`; or a corpus (`enwiki`), whose sections give a general graph"
"""What `open_graph` takes, in the words of the command line's help."""

_NAME = re.compile(r"[\w-]{1,64}")


def open_graph(spec: str | Path, part: Part = WHOLE) -> KnowledgeGraph:
    """Open a knowledge graph.

    Args:
        spec: A path that `read_graph` takes; a catalogue name of concepts ("knowledge-base", "symptom-ontology"); or
            that of a corpus ("enwiki"), of whose documents a graph is made (`graph_of_documents`).
        part: What to read of it, where it is of UMLS or Wikidata.

    Raises:
        CorpusMissingError: It is not on this machine; the remedy says where to get it.
        DataError: There is nothing at the path, nothing that holds a graph, or a file is malformed.
        ConfigError: It has no such parts, or is a corpus that models are only measured with.
    """
    entry = catalogue().get(str(spec))
    if entry is None and _NAME.fullmatch(str(spec)) and not Path(spec).exists():
        names = ", ".join((DEFAULT, *(name for name, found in catalogue().items() if found.reader)))
        raise DataError(ACCEPTED, f"nothing at {spec}", f"check the path, or name one of {names}")
    if entry is None or Path(spec).exists():
        return read_graph(spec, part)
    part.check()
    if entry.reader:
        if entry.measured_only:
            expected, remedy = "a corpus that models may learn from", "name another one"
            raise ConfigError(expected, f"{spec}, which is only to measure them with", remedy)
        return graph_of_documents(open_corpus(str(spec)).documents)
    place = locate(str(spec))
    return read_graph(data_dir() / "kg" if spec == DEFAULT else place)
