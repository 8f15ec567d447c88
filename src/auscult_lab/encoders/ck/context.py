"""Context encoder: the states of all layers of a transformer over a query and a passage (wang2021, Eq. 1-3).

    [CLS] q [SEP] d [SEP]   ->   C = (W^0, W^1, ..., W^L),   W^0 the output of the embeddings,  W^i of attention layer i

Eq. 1 ends at W^{L-1}. Taken literally, with W^0 before the first of L attention layers, the last layer would be unused.
But section 4.1 asks for "all the output context embeddings from L attention layers", and both CEDR (macavaney2019),
which the paper follows, and the authors' published code have L + 1 matrices. So has this code.

As in CEDR, a passage that exceeds the backbone's limit is cut into the fewest parts, of nearly equal length, each read
with the query. The passage's states are those of its parts in order, and the state of [CLS] is the mean over parts.
CEDR's published code takes the query's states from the first part; here they are the mean over parts, too, so that all
parts count alike. CEDR also cuts by the longest passage of a batch, padding included; here each passage's own length
decides, so that the rest of a batch changes nothing. The paper leaves out the last [SEP]; it is here because encoders
were pre-trained with it.

"words" in place of "layers" is one matrix from the backbone's table of wordpieces, without positions, layers or [CLS].
It takes the place of the paper's models without context, which read GloVe vectors of whole words. With the same tokens,
it differs from the other models in context only (a departure). It has no dropout: two masks would make equal words
differ between the two texts, and heads would never see an exact match in training.

Cost: one encoding of the pair; for "words" one look-up per token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from auscult_lab.modules.backbone import Backbone

_MARKS = 3
PIECE, ENTITY = 0, 1
"""Rows of a text as it is read: ids of wordpieces, and the entity that each one is a piece of (0 for none)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Padded pairs of query and passage as the backbone reads them, one row per part of a passage.

    Attributes:
        ids: Long, (parts, tokens).
        entities: Long, (parts, tokens): 0 for tokens without an entity.
        mask: Long, (parts, tokens): 1 where there is a token.
        segments: Long, (parts, tokens): 0 up to the first [SEP], 1 after it.
        owners: Long, (parts,): the pair of each part, ascending.
        counts: Float, (pairs,): number of parts of each pair.
        query: Bool, (pairs, query tokens). A query's tokens follow [CLS] in every part.
        passage: Bool, (pairs, passage tokens).
        places: Long, (pairs, passage tokens): index of each passage token in the flattened `ids`.
    """

    ids: Tensor
    entities: Tensor
    mask: Tensor
    segments: Tensor
    owners: Tensor
    counts: Tensor
    query: Tensor
    passage: Tensor
    places: Tensor

    def tensors(self) -> tuple[Tensor, ...]:
        """Return its tensors; `Layout(*tensors)` rebuilds it."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def to(self, device: torch.device) -> Layout:
        """Return a copy on another device."""
        return Layout(*(each.to(device) for each in self.tensors()))

    @property
    def split(self) -> bool:
        """Whether any passage has several parts."""
        return len(self.owners) > len(self.counts)

    @property
    def query_entities(self) -> Tensor:
        """Entities of the query's tokens, long (pairs, query tokens)."""
        first = torch.searchsorted(self.owners, torch.arange(len(self.counts), device=self.owners.device))
        return self.entities[first, 1 : 1 + self.query.shape[1]]

    def of_query(self, states: Tensor) -> Tensor:
        """Return the query's tokens' states, means over parts: (parts, tokens, dim) to (pairs, query, dim)."""
        return self._mean(states[:, 1 : 1 + self.query.shape[1]])

    def of_mark(self, states: Tensor) -> Tensor:
        """Return the state of [CLS], its mean over parts, (pairs, dim)."""
        return self._mean(states[:, 0])

    def of_passage(self, values: Tensor) -> Tensor:
        """Select the passage's tokens: (parts, tokens, ...) to (pairs, passage tokens, ...)."""
        flat = values.flatten(0, 1).index_select(0, self.places.flatten())
        return flat.view(*self.places.shape, *values.shape[2:])

    def _mean(self, values: Tensor) -> Tensor:
        if not self.split:
            return values
        sums = values.new_zeros(len(self.counts), *values.shape[1:]).index_add(0, self.owners, values)
        return sums / self.counts.view(-1, *(1 for _ in values.shape[1:])).to(values)


def lay_out(pairs: Sequence[tuple[Tensor, Tensor]], backbone: Backbone) -> Layout:
    """Put pairs together for the backbone.

    Args:
        pairs: Queries and passages, each (2, tokens): wordpieces and entities, without marks. A query is at most half
            as long as the backbone's limit.
        backbone: Of the BERT type, with [CLS] and [SEP]; its marks and limit are used.
    """
    tokenizer = backbone.tokenizer
    first, between = (torch.tensor([[mark], [0]]) for mark in (tokenizer.cls_token_id, tokenizer.sep_token_id))
    rows: list[Tensor] = []
    owners: list[int] = []
    begins: list[int] = []
    spans: list[list[tuple[int, int, int]]] = []
    for owner, (query, passage) in enumerate(pairs):
        spans.append([])
        begin = query.shape[1] + 2
        # The fewest parts that fit, as equal as can be; a passage without tokens is one part.
        room = backbone.limit - _MARKS - query.shape[1]
        for part in passage.tensor_split(max(1, math.ceil(passage.shape[1] / room)), dim=1):
            spans[-1].append((len(rows), begin, part.shape[1]))
            rows.append(torch.cat([first, query, between, part, between], dim=1))
            owners.append(owner)
            begins.append(begin)
    lengths = torch.tensor([row.shape[1] for row in rows])
    width = int(lengths.max())
    read = torch.zeros(len(rows), 2, width, dtype=torch.long)
    read[:, PIECE] = tokenizer.pad_token_id or 0
    for at, row in zip(read, rows, strict=True):
        at[:, : row.shape[1]] = row
    column = torch.arange(width)
    mask = column < lengths.unsqueeze(1)
    query_lengths = [query.shape[1] for query, _ in pairs]
    # Indices of each passage's tokens, from (row, begin, length) of its parts.
    token_places = [
        torch.cat([torch.arange(length) + row * width + begin for row, begin, length in parts]) for parts in spans
    ]
    passage_lengths = torch.tensor([len(row) for row in token_places])
    places = pad_sequence(token_places, batch_first=True)
    if not places.shape[1]:
        places = torch.zeros(len(token_places), 1, dtype=torch.long)
    return Layout(
        ids=read[:, PIECE],
        entities=read[:, ENTITY],
        mask=mask.long(),
        segments=((column >= torch.tensor(begins).unsqueeze(1)) & mask).long(),
        owners=torch.tensor(owners),
        counts=torch.tensor([float(len(parts)) for parts in spans]),
        query=torch.arange(max(1, *query_lengths)) < torch.tensor(query_lengths).unsqueeze(1),
        passage=torch.arange(places.shape[1]) < passage_lengths.unsqueeze(1),
        places=places,
    )


def layer_states(backbone: Backbone, layout: Layout) -> tuple[Tensor, ...]:
    """Return W^0 to W^L, each (parts, tokens, dim)."""
    batch = {"input_ids": layout.ids, "attention_mask": layout.mask}
    if getattr(backbone.model.config, "type_vocab_size", 0) > 1:
        batch["token_type_ids"] = layout.segments
    return backbone.layers(batch)


def word_states(backbone: Backbone, layout: Layout) -> tuple[Tensor, ...]:
    """Return the wordpieces' vectors, (parts, tokens, width of the table), without dropout in training, too."""
    return (backbone.words(layout.ids),)
