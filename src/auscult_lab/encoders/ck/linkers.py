"""Entity linkers by the name that experiment files and saved models have for them.

    ngram   `NgramLinker`: names of the graph, as they stand in the text
    none    links nothing, so that every token is [UNK]: a control that has the fusion layer (of which U then learns
            nothing) and knows no entity, against which knowledge alone can be measured

Whatever has `link(text)` (`EntityLinker`) can be added by `register`, in a file that `auscult --with FILE` names.
"""

from __future__ import annotations

from collections.abc import Callable

from auscult.errors import ConfigError, ModelError
from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors
from auscult_lab.graphs.linking import EntityLinker, EntitySpan, NgramLinker

LinkerMaker = Callable[[KnowledgeVectors], EntityLinker]
"""Makes a linker to the entities that there are vectors of; it may know more of them."""


class NoLinker:
    """Finds no entity."""

    def link(self, text: str) -> list[EntitySpan]:
        """No spans."""
        return []


LINKERS: dict[str, LinkerMaker] = {
    "ngram": lambda vectors: NgramLinker(vectors.names, vectors.entities),
    "none": lambda _: NoLinker(),
}
OWN = frozenset(LINKERS)
"""Names that stand for no other linker."""


def register(name: str, make: LinkerMaker) -> None:
    """Add a linker of one's own; experiment files may then name it, and models saved with it be opened.

    Args:
        name: What settings call it.
        make: Called with the vectors of a graph.

    Raises:
        ConfigError: There is a linker of that name.
    """
    if name in LINKERS:
        raise ConfigError("a linker of a new name", repr(name), "give it another name")
    LINKERS[name] = make


def make_linker(name: str, vectors: KnowledgeVectors) -> EntityLinker:
    """The linker of a name, to the entities of a graph.

    Raises:
        ModelError: There is none.
    """
    if name not in LINKERS:
        remedy = "register it first (`auscult_lab.encoders.ck.linkers.register`), or name another"
        raise ModelError(f"a linker ({', '.join(LINKERS)})", repr(name), remedy)
    return LINKERS[name](vectors)
