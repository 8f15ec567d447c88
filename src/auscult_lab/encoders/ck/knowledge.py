"""Knowledge encoder: every wordpiece of a mention gets the vector of the entity that it names (wang2021, section 4.2).

An entity linker gives the spans of a text that name entities of the graph, one entity each (the paper's top-1). A
wordpiece that lies in a span, if only in part, is aligned with the span's entity; any other, and every mark, with the
empty entity [UNK].

[UNK] is zeros and stays so, which the paper leaves open ("pre-defined"): then K U is nothing where nothing is known,
and an entity cannot be mistaken for it, because TransE's vectors are longer (bordes2013 scales them to unit length).

Vectors are kept as they were learned from the graph unless asked to be trained further.

Entity linkers by the name that experiment files and saved models have for them.

    ngram   `NgramLinker`: names of the graph, as they stand in the text
    none    links nothing, so that every token is [UNK]: a control that has the fusion layer (of which U then learns
            nothing) and knows no entity, against which knowledge alone can be measured

Whatever has `link(text)` (`EntityLinker`) can be added by `register`, in a file that `auscult --with FILE` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError, ModelError
from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors
from auscult_lab.graphs.linking import EntityLinker, EntitySpan, NgramLinker

UNKNOWN = 0
"""The row of [UNK]; entities have rows from 1."""


class KnowledgeEncoder(nn.Module):
    """Entities of wordpieces, and their vectors.

    Args:
        vectors: What was learned of a graph.
        linker: Finds its entities in text; entities that it alone knows are passed over.
        trainable: Train the vectors further.

    Raises:
        ModelError: There are no vectors.
    """

    def __init__(self, vectors: KnowledgeVectors, linker: EntityLinker, *, trainable: bool = False) -> None:
        super().__init__()
        if not len(vectors.entities):
            raise ModelError("vectors of at least one entity", "none", "train them on a graph with relations")
        self.linker = linker
        self._rows = {entity: row for row, entity in enumerate(vectors.entities, start=UNKNOWN + 1)}
        learned = torch.from_numpy(vectors.vectors).float()
        self.dim = learned.shape[1]
        self.length = max(float(learned.norm(dim=1).mean()), 1e-6)
        table = torch.cat([learned.new_zeros(1, self.dim), learned])
        if trainable:
            self.table: Tensor = nn.Parameter(table)
        else:
            # Not saved with what is learned: it is saved with the graph's names already.
            self.register_buffer("table", table, persistent=False)

    def align(self, text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
        """Return the row of each wordpiece's entity, or that of [UNK]."""
        spans = self.linker.link(text)
        found, at = [], 0
        # One pass over both, as both are in order.
        for start, end in offsets:
            while at < len(spans) and spans[at].end <= start:
                at += 1
            named = at < len(spans) and spans[at].start < end
            found.append(self._rows.get(spans[at].entity_id, UNKNOWN) if named else UNKNOWN)
        return found

    def forward(self, rows: Tensor) -> Tensor:
        """Return vectors, (*rows.shape, D_e); zeros for [UNK], which gets no gradient."""
        return nn.functional.embedding(rows, self.table, padding_idx=UNKNOWN)


LinkerMaker = Callable[[KnowledgeVectors], EntityLinker]
"""Makes a linker to the entities that there are vectors of; it may know more of them."""


class NoLinker:
    """Finds no entity."""

    def link(self, text: str) -> list[EntitySpan]:
        """Return no spans."""
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
    """Return the linker of a name, to the entities of a graph.

    Raises:
        ModelError: There is none.
    """
    if name not in LINKERS:
        remedy = "register it first (`auscult_lab.encoders.ck.knowledge.register`), or name another"
        raise ModelError(f"a linker ({', '.join(LINKERS)})", repr(name), remedy)
    return LINKERS[name](vectors)
