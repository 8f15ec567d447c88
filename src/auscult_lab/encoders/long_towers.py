"""Bi- and poly-encoder that read a passage with its surroundings, up to 4,096 tokens (grundmann2021, section 3.2).

    tokens     [CLS] before ... [PASSAGE] passage ... after ... [SEP]
    attention  local in the passage, global from and to its surroundings and [CLS]
    last layer every token attends to [CLS], the passage and [SEP] only

"We concatenate surrounding passages with the input passage and use global attention"; "we apply local attention to the
given passage and global attention to the surrounding passages [...] we apply an attention mask to the last attention
layer, which masks the token embeddings that are not part of the considered passage". A passage is the document's text
at its place; what room it leaves is given to the text before and behind it, half each, the nearest first.

The mask is realised twice, so that it holds whichever layer is meant by "the last attention layer": in the
transformer's last layer, for [CLS] that a bi-encoder pools, and in what is made of its states, Eq. 2's attention of a
poly-encoder or mean pooling, which see no other token. So the surroundings reach a vector through lower layers alone.

With the paper's global attention memory grows with the square of the surroundings' tokens, several GB for 4,096;
`attention: passage` (the other reading of "use global attention") or `first` (beltagy2020's for classification) and
shorter texts cost less. A backbone that is no Longformer is stretched to one, see `longformer`.

Departures: surroundings are cut by tokens, not at whole passages. Queries are read by a Longformer too, as in the paper
("as the query and passage encoder"), with the first token global.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.bi import BiConfig, BiEncoder
from auscult_lab.encoders.longformer import GLOBAL, OWN, LongBackbone, is_long, stretch
from auscult_lab.encoders.poly import PolyConfig, PolyEncoder
from auscult_lab.encoders.towers import Towers, TowersConfig
from auscult_lab.modules.backbone import Backbone
from auscult_lab.modules.batching import batches

# English has some four characters a word piece; of a passage at one end of its document, whose surroundings are all on
# one side, this may read less than there is room for.
_TOKEN_CHARACTERS = 4


# Without slots: Python allows them in one of several bases only.
@dataclass(frozen=True, kw_only=True)
class LongConfig(TowersConfig):
    """What the settings of both add.

    Attributes:
        max_passage_tokens: Of a passage and its surroundings together.
        surroundings: Read them. Without, only the passage itself, as long as it is.
        attention: Which tokens have global attention besides the first one: the "surroundings" (the paper), the
            "passage" (a departure), or no other ("first", a departure).
        window: Tokens that a local token attends to, half of them on either side.
        stretch: Length in tokens that a short backbone is stretched to; of no effect on one that is long.
    """

    max_passage_tokens: int = 4096
    surroundings: bool = True
    attention: Literal["surroundings", "passage", "first"] = "surroundings"
    window: int = 512
    stretch: int = 4096

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ConfigError: One is out of range.
        """
        super().__post_init__()
        if self.attention not in ("surroundings", "passage", "first"):
            expected = "attention 'surroundings', 'passage' or 'first'"
            raise ConfigError(expected, repr(self.attention), "correct the experiment file")


@dataclass(frozen=True, kw_only=True)
class LongBiConfig(LongConfig, BiConfig):
    """Settings of the long bi-encoder."""


@dataclass(frozen=True, kw_only=True)
class LongPolyConfig(LongConfig, PolyConfig):
    """Settings of the long poly-encoder."""


class LongTowers(Towers):
    """What both do otherwise than their short forms: how a passage is read.

    Args:
        config: Settings.
        passages: The encoder of passages; stretched where it is short.
        queries: The encoder of queries; a copy of the other when missing.
    """

    plain: ClassVar[bool] = False
    config: LongConfig
    passages: LongBackbone

    def __init__(self, config: LongConfig, passages: Backbone, queries: Backbone | None = None) -> None:
        super().__init__(config, _long(passages, config), None if queries is None else _long(queries, config))
        self.surroundings = _TOKEN_CHARACTERS * config.max_passage_tokens if config.surroundings else 0

    def read_passages(
        self, passages: Sequence[PassageText], *, chunk: int | None = None, size: int | None = None
    ) -> Iterator[tuple[list[int], Tensor, Tensor]]:
        """See `Towers`; yielded are states of [CLS], the passage's own tokens and [SEP] only."""
        lengths = [len(each.before) + len(each.text) + len(each.after) for each in passages]
        for batch in batches(lengths, chunk or self._at_once(size)):
            fields = self._tokenize([passages[row] for row in batch])
            states = self.passages(fields) if chunk is None else self.passages.forgetful(fields)
            yield batch, *_own_states(states, fields[OWN].to(states.device))

    def _at_once(self, size: int | None) -> int | None:
        """As many texts as need no more memory than `size` of 512 tokens, by the square of global attention."""
        if size is None:
            return None
        return max(1, int(size * min(1.0, 512 / self.config.max_passage_tokens) ** 2))

    def _tokenize(self, passages: Sequence[PassageText]) -> dict[str, Tensor]:
        """Fields of `LongBackbone`'s batches, each (texts, tokens)."""
        tokenizer = self.passages.tokenizer
        room = min(self.config.max_passage_tokens, self.passages.limit) - 2
        plain = {"add_special_tokens": False, "verbose": False}
        prompt = self.config.before_passage
        own = tokenizer([prompt + each.text for each in passages], truncation=True, max_length=room, **plain)
        around = [
            tokenizer([each.before, each.after] if self.config.surroundings else ["", ""], **plain)["input_ids"]
            for each in passages
        ]
        rows: dict[str, list[Tensor]] = {"input_ids": [], "attention_mask": [], GLOBAL: [], OWN: []}
        for middle, (before, after) in zip(own["input_ids"], around, strict=True):
            left, right = _fit(before, after, room - len(middle))
            ids = [tokenizer.cls_token_id, *left, *middle, *right, tokenizer.sep_token_id]
            inside = torch.ones(len(ids), dtype=torch.long)
            inside[1 : 1 + len(left)] = 0
            inside[1 + len(left) + len(middle) : -1] = 0
            rows["input_ids"].append(torch.tensor(ids))
            rows["attention_mask"].append(torch.ones_like(inside))
            rows[GLOBAL].append(self._global(inside))
            rows[OWN].append(inside)
        filling = {"input_ids": tokenizer.pad_token_id}
        return {
            name: pad_sequence(each, batch_first=True, padding_value=filling.get(name, 0))
            for name, each in rows.items()
        }

    def _global(self, inside: Tensor) -> Tensor:
        """Which tokens of one text are global besides the first."""
        if self.config.attention == "first":
            return torch.zeros_like(inside)
        return inside if self.config.attention == "passage" else 1 - inside


class LongBiEncoder(LongTowers, BiEncoder):
    """The bi-encoder on a Longformer."""

    kind: ClassVar[str] = "long-bi"
    title: ClassVar[str] = "CAPR-Bi, Longformer"
    config: LongBiConfig


class LongPolyEncoder(LongTowers, PolyEncoder):
    """The poly-encoder on a Longformer."""

    kind: ClassVar[str] = "long-poly"
    title: ClassVar[str] = "CAPR-Poly, Longformer"
    config: LongPolyConfig


def _long(backbone: Backbone, config: LongConfig) -> LongBackbone:
    if is_long(backbone):
        return LongBackbone(backbone, window=config.window)
    return stretch(backbone, max_tokens=config.stretch, window=config.window)


def _fit(before: list[int], after: list[int], room: int) -> tuple[list[int], list[int]]:
    """The end of what stands before and the beginning of what stands after, half of the room each where both need it.

    What one of them leaves is the other's.
    """
    right = min(len(after), room - min(len(before), room // 2))
    left = min(len(before), room - right)
    return before[len(before) - left :], after[:right]


def _own_states(states: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """States and mask, (texts, most own tokens of a text, dim) and without dim, of own tokens in their order."""
    places = (own == 0).int().argsort(dim=1, stable=True)[:, : int(own.sum(dim=1).max())]
    return states.gather(1, places.unsqueeze(-1).expand(-1, -1, states.shape[-1])), own.gather(1, places)
