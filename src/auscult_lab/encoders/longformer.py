"""Longformer (beltagy2020): BERT-type encoders stretched to long texts, with local and global attention.

Local tokens attend to `window / 2` tokens on either side and to every global one; global tokens attend to all. Products
are computed densely and masked. Time grows with the square of the length, and memory with the length, but for a mask of
one byte a pair. The library's own attention computes only the products of the window. It is slower, and needs more
memory, where most tokens are global, as in grundmann2021.

`stretch` follows section 5 of beltagy2020. The position embeddings of the short encoder are repeated as often as
needed, and the projections of global tokens begin as copies of the local ones. A text whose tokens all see each other
(at most window / 2 + 1 tokens, or all global) therefore keeps its states. The authors then train some thousand steps of
masked language modelling; users with enough text can do so, too.

Where only the first token is read, the last layer's projections of local tokens are unused and not trained.

Departures: there are no dilated windows, as in the authors' pre-trained models. The first token, which is pooled, is
always global; otherwise it would see half a window.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence

from auscult.errors import ConfigError, ModelError
from auscult_lab.encoders.base import PassageText, Towers, TowersConfig
from auscult_lab.encoders.bi import BiConfig, BiEncoder
from auscult_lab.encoders.poly import PolyConfig, PolyEncoder
from auscult_lab.modules.backbone import Backbone, batches, new_encoder

GLOBAL, OWN = "global_attention_mask", "own_mask"
_LONG = "longformer"
_SHORT = ("bert", "roberta", "xlm-roberta", "camembert")
_LOCAL = re.compile(r"(attention\.self\.(?:query|key|value))\.")
_POSITIONS = "embeddings.position_embeddings.weight"
# Of the short encoder's configuration, what says the same of the long one.
_SHARED = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "hidden_dropout_prob", "attention_probs_dropout_prob", "type_vocab_size", "initializer_range", "layer_norm_eps",
    "pad_token_id", "bos_token_id", "eos_token_id",
)  # fmt: skip


class LongBackbone(Backbone):
    """A Longformer: texts to token states. A batch marks global tokens, and those that the last layer sees.

    Beside the tokenizer's fields a batch may have, each (texts, tokens):

    - "global_attention_mask": not 0 for tokens with global attention; by default the first one of each text;
    - "own_mask": not 0 for tokens that the last layer attends to; by default all. The states of the others are then
      meaningless. In the last layer only the first token is global.

    Args:
        backbone: A Longformer, whose weights it shares.
        window: Tokens that a local token attends to, half of them on either side; even.

    Raises:
        ModelError: It is another kind of encoder.
        ConfigError: The window is odd or below 4.
    """

    def __init__(self, backbone: Backbone, *, window: int = 512) -> None:
        _check_window(window)
        if not is_long(backbone):
            found = f"one of type '{backbone.model.config.model_type}'"
            raise ModelError("a Longformer", found, "stretch it, or give a hub name or folder of a Longformer")
        super().__init__(backbone.model, backbone.tokenizer)
        self.window = window
        self.model.config.attention_window = [window] * len(self.model.encoder.layer)
        for layer in self.model.encoder.layer:
            layer.attention.self = LongAttention(layer.attention.self, reach=window // 2)

    @property
    def limit(self) -> int:
        """Tokens of the longest text it can read; positions are counted from the one after padding."""
        config = self.model.config
        return int(min(config.max_position_embeddings - config.pad_token_id - 1, self.tokenizer.model_max_length))

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Return last hidden states, (texts, tokens, dim)."""
        mask = batch["attention_mask"].to(self.device).bool()
        first = torch.zeros_like(mask)
        first[:, 0] = True
        everywhere = batch[GLOBAL].to(self.device).bool() | first if GLOBAL in batch else first
        own = batch[OWN].to(self.device).bool() if OWN in batch else mask
        states = self.model.embeddings(input_ids=batch["input_ids"].to(self.device))
        *lower, last = self.model.encoder.layer
        for layer in lower:
            (states,) = layer(states, attention_mask=_roles(mask, everywhere))
        (states,) = last(states, attention_mask=_roles(own & mask, first if OWN in batch else everywhere))
        attended: Tensor = states
        return attended


def _marked_first(marked: Tensor) -> Tensor:
    """Return positions of each text's marked tokens, in order, padded with those of others.

    Args:
        marked: Bool, (texts, tokens).

    Returns:
        (texts, largest number of marked tokens).
    """
    return (~marked).int().argsort(dim=1, stable=True)[:, : int(marked.sum(dim=1).max())]


def _roles(mask: Tensor, everywhere: Tensor) -> Tensor:
    return torch.where(mask, everywhere.int(), -1)


class LongAttention(nn.Module):
    """Self-attention of one layer, with the weights and the call of the library's module that it replaces.

    Args:
        given: The library's module, whose projections it shares.
        reach: Tokens on either side that a local token attends to.
    """

    def __init__(self, given: Any, *, reach: int) -> None:
        super().__init__()
        self.query, self.key, self.value = given.query, given.key, given.value
        self.query_global, self.key_global, self.value_global = given.query_global, given.key_global, given.value_global
        self.num_heads: int = given.num_heads
        self.dropout: float = given.dropout
        self.reach = reach

    def forward(self, states: Tensor, attention_mask: Tensor, **_: object) -> tuple[Tensor]:
        """Return new states, (texts, tokens, dim); zeros for tokens that nothing attends to.

        Args:
            states: (texts, tokens, dim).
            attention_mask: (texts, tokens): below 0 where nothing attends to, 0 for local tokens, above 0 for global
                ones.
        """
        there, everywhere = attention_mask >= 0, attention_mask > 0
        places = torch.arange(states.shape[1], device=states.device)
        local = [self.query, self.key, self.value]
        attended = torch.zeros_like(states)
        for attending, projections in (
            (there & ~everywhere, local),
            (everywhere, [self.query_global, self.key_global, self.value_global]),
        ):
            rows = _marked_first(attending)
            inside = attending.gather(1, rows)
            allowed = there.unsqueeze(1)
            if projections is local:
                # A table of differences would take eight times the memory.
                first, last = (rows - self.reach).unsqueeze(2), (rows + self.reach).unsqueeze(2)
                near = (first <= places) & (places <= last)
                # Padding attends to all tokens: attention to none would be NaN.
                allowed = allowed & (near | everywhere.unsqueeze(1) | ~inside.unsqueeze(2))
            query, key, value = projections
            found = scaled_dot_product_attention(
                self._heads(query(torch.take_along_dim(states, rows.unsqueeze(2), dim=1))),
                self._heads(key(states)),
                self._heads(value(states)),
                attn_mask=allowed.unsqueeze(1),
                dropout_p=self.dropout if self.training else 0.0,
            )
            attended[attending] = found.transpose(1, 2).flatten(2)[inside].to(attended)
        return (attended,)

    def _heads(self, rows: Tensor) -> Tensor:
        """Return (texts, heads, tokens, dim of a head)."""
        texts, tokens, dim = rows.shape
        return rows.reshape(texts, tokens, self.num_heads, dim // self.num_heads).transpose(1, 2)


def is_long(backbone: Backbone) -> bool:
    """Check whether an encoder is a Longformer."""
    return bool(backbone.model.config.model_type == _LONG)


def stretch(backbone: Backbone, *, max_tokens: int = 4096, window: int = 512) -> LongBackbone:
    """Return a BERT-type encoder as a Longformer that reads longer texts; the original is not changed.

    Args:
        backbone: BERT, RoBERTa or one of their kind, of any size.
        max_tokens: Tokens of the longest text.
        window: Tokens that a local token attends to; even.

    Raises:
        ModelError: The encoder is of another kind.
        ConfigError: It already reads such texts, or the window is odd or below 4.
    """
    _check_window(window)
    old = backbone.model.config
    if old.model_type not in _SHORT or getattr(old, "position_embedding_type", "absolute") != "absolute":
        expected = f"an encoder of type {', '.join(_SHORT)} with a table of positions"
        raise ModelError(expected, f"type '{old.model_type}'", "choose another backbone, or one that is long already")
    # RoBERTa's rows up to that of padding are no positions; BERT's positions begin at row 0.
    padding = int(old.pad_token_id)
    weights = backbone.model.state_dict()
    table = weights[_POSITIONS] if old.model_type == "bert" else weights[_POSITIONS][padding + 1 :]
    if max_tokens <= len(table):
        remedy = "name a greater length, or use it as it is"
        raise ConfigError(f"a length above the encoder's own {len(table)}", str(max_tokens), remedy)
    settings = {name: getattr(old, name) for name in _SHARED if getattr(old, name, None) is not None}
    settings |= {"max_position_embeddings": max_tokens + padding + 1, "attention_window": window}
    model = new_encoder(_LONG, settings)
    unused = table.new_zeros(padding + 1, table.shape[1])
    repeated = table.repeat(-(-max_tokens // len(table)), 1)[:max_tokens]
    copies = {_LOCAL.sub(r"\1_global.", name): each for name, each in weights.items() if _LOCAL.search(name)}
    model.load_state_dict({**weights, **copies, _POSITIONS: torch.cat([unused, repeated])})
    model.pooler.requires_grad_(False)  # as in `open_backbone`
    tokenizer = copy.deepcopy(backbone.tokenizer)
    tokenizer.model_max_length = max_tokens
    return LongBackbone(Backbone(model, tokenizer), window=window)


def _check_window(window: int) -> None:
    # The library's attention fails with 2.
    if window < 4 or window % 2:
        raise ConfigError("an even window of 4 or more tokens", str(window), "correct the experiment file")


# English has some four characters per word piece. A passage at one end of its document, with surroundings on one side
# only, may get fewer tokens than there is room for.
_TOKEN_CHARACTERS = 4


# Without slots: Python allows them in one of several bases only.
@dataclass(frozen=True, kw_only=True)
class LongConfig(TowersConfig):
    """Settings that both long architectures add.

    Attributes:
        max_passage_tokens: Limit of a passage and its surroundings together.
        surroundings: Whether to read the surroundings; otherwise only the passage, however long.
        attention: Which tokens have global attention besides the first one: the "surroundings" (the paper), the
            "passage" (a departure), or no other ("first", a departure).
        window: Tokens that a local token attends to, half of them on either side.
        stretch: Length in tokens to which a short backbone is stretched; no effect on a Longformer.
    """

    max_passage_tokens: int = 4096
    surroundings: bool = True
    attention: Literal["surroundings", "passage", "first"] = "surroundings"
    window: int = 512
    stretch: int = 4096

    def __post_init__(self) -> None:
        """Check the values; one out of range is a `ConfigError`."""
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
    """Bi- and poly-encoder that read a passage with its surroundings, up to 4,096 tokens (grundmann2021, section 3.2).

        tokens     [CLS] before ... [PASSAGE] passage ... after ... [SEP]
        attention  local in the passage, global from and to its surroundings and [CLS]
        last layer every token attends to [CLS], the passage and [SEP] only

    "We concatenate surrounding passages with the input passage and use global attention"; "we apply local attention to
    the given passage and global attention to the surrounding passages [...] we apply an attention mask to the last
    attention layer, which masks the token embeddings that are not part of the considered passage". The room that a
    passage leaves is filled with the nearest text of its document, half before and half after it.

    The paper's "last attention layer" is ambiguous, so the mask is applied twice: in the transformer's last layer, for
    the [CLS] that a bi-encoder pools, and after it, in a poly-encoder's attention (Eq. 2) and in mean pooling. The
    surroundings thus influence a vector through lower layers only.

    Other kinds of attention are `passage`, the other reading of "use global attention", and `first`, which is
    beltagy2020's for classification. A backbone that is no Longformer is stretched to one, see `longformer`.

    Departure: surroundings are cut by tokens, not at whole passages. As in the paper ("as the query and passage
    encoder"), a Longformer reads queries, too, with the first token global.
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
        """See `Towers`; yields the states of [CLS], the passage's own tokens and [SEP] only."""
        lengths = [len(each.before) + len(each.text) + len(each.after) for each in passages]
        if size is not None:
            # Memory of at most this many texts of 512 tokens.
            size = max(1, int(size * min(1.0, 512 / self.config.max_passage_tokens)))
        for batch in batches(lengths, chunk or size):
            fields = self._tokenize([passages[row] for row in batch])
            states = self.passages(fields) if chunk is None else self.passages.forgetful(fields)
            own = fields[OWN].to(states.device)
            places = _marked_first(own.bool())
            yield batch, torch.take_along_dim(states, places.unsqueeze(2), dim=1), own.gather(1, places)

    def _tokenize(self, passages: Sequence[PassageText]) -> dict[str, Tensor]:
        """Return fields of `LongBackbone`'s batches, each (texts, tokens)."""
        tokenizer = self.passages.tokenizer
        room = min(self.config.max_passage_tokens, self.passages.limit) - 2
        plain = {"add_special_tokens": False, "verbose": False}
        prompt = self.config.before_passage
        own = tokenizer([prompt + passage.text for passage in passages], truncation=True, max_length=room, **plain)
        # In one call, because the tokenizer uses all cores then; surroundings are most of the text.
        around = [each for passage in passages for each in (passage.before, passage.after)]
        pieces = tokenizer(around if self.config.surroundings else [""] * len(around), **plain)["input_ids"]
        rows: dict[str, list[Tensor]] = {"input_ids": [], "attention_mask": [], GLOBAL: [], OWN: []}
        for middle, before, after in zip(own["input_ids"], pieces[::2], pieces[1::2], strict=True):
            left, right = _fit(before, after, room - len(middle))
            ids = [tokenizer.cls_token_id, *left, *middle, *right, tokenizer.sep_token_id]
            inside = torch.ones(len(ids), dtype=torch.long)
            inside[1 : 1 + len(left)] = 0
            inside[1 + len(left) + len(middle) : -1] = 0
            rows["input_ids"].append(torch.tensor(ids))
            rows["attention_mask"].append(torch.ones_like(inside))
            everywhere = {"surroundings": 1 - inside, "passage": inside, "first": torch.zeros_like(inside)}
            rows[GLOBAL].append(everywhere[self.config.attention])
            rows[OWN].append(inside)
        filling = {"input_ids": tokenizer.pad_token_id}
        return {
            name: pad_sequence(tensors, batch_first=True, padding_value=filling.get(name, 0))
            for name, tensors in rows.items()
        }


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


def _fit(before: list[int], after: list[int], room: int) -> tuple[list[int], list[int]]:
    """Return the end of what is before and the beginning of what is after, half of the room each.

    Room that one side does not need goes to the other.
    """
    following = min(len(after), room - min(len(before), room // 2))
    leading = min(len(before), room - following)
    return before[len(before) - leading :], after[:following]


def _long(backbone: Backbone, config: LongConfig) -> LongBackbone:
    if is_long(backbone):
        return LongBackbone(backbone, window=config.window)
    return stretch(backbone, max_tokens=config.stretch, window=config.window)
