"""Knowledge encoder: every wordpiece of a mention gets the vector of the entity that it names (wang2021, section 4.2).

An entity linker finds the spans of a text that name entities of the graph, one entity each (the paper's top-1). A
wordpiece that overlaps a span is aligned with the span's entity; all others, and all marks, with the empty entity
[UNK].

[UNK] is a fixed vector of zeros; the paper leaves it open ("pre-defined"). K U is then zero where no entity is known,
and no entity equals [UNK], because bordes2013 scales TransE's vectors to unit length.

By default, vectors stay as they were learned from the graph.

Entity linkers, by their names in experiment files and saved models:

    ngram   `NgramLinker`: names of the graph, as written in the text
    none    links nothing, so that every token is [UNK]: a control with the fusion layer (whose U then learns nothing)
            and without entities, to measure the effect of knowledge alone

`register` adds any other `EntityLinker`, in a file that `auscult --with FILE` names.
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
        vectors: Vectors of a graph's entities.
        linker: Finds entities in text; those without a vector are ignored.
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
            # Not saved with the learned parts: it is saved with the graph's names already.
            self.register_buffer("table", table, persistent=False)

    def align(self, text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
        """Return the row of each wordpiece's entity, or that of [UNK]."""
        spans = self.linker.link(text)
        rows, at = [], 0
        # One pass, because both are in order.
        for start, end in offsets:
            while at < len(spans) and spans[at].end <= start:
                at += 1
            named = at < len(spans) and spans[at].start < end
            rows.append(self._rows.get(spans[at].entity_id, UNKNOWN) if named else UNKNOWN)
        return rows

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
    """Add a linker. Experiment files may then name it, and models saved with it can be opened.

    Args:
        name: Its name in settings.
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
