"""Longformer (beltagy2020): stretching a BERT-type encoder to long texts, and reading with local and global attention.

Local tokens attend to `window / 2` tokens on either side and to every global one; global tokens attend to all. Time
and memory grow with length x (window + number of global tokens) instead of length x length.

`stretch` follows section 5 of beltagy2020: the position embeddings of the short encoder are copied one after another
until they are enough, and the projections that global tokens use begin as copies of the local ones. So a text whose
tokens all see each other (no more than window / 2 + 1 of them, or all global) has the states it had before. What the
authors do next, some thousand steps of masked language modelling, is left to whoever has the text for it.

Where nothing but the first token is read, the last layer's projections of local tokens are of no use and not trained.

Departure: dilated windows are not used, as in the authors' pre-trained models. The first token, which is pooled, is
always global; else it would see half a window.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from auscult.errors import ConfigError, ModelError
from auscult_lab.modules.backbone import Backbone, new_encoder

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
    """A Longformer: texts to token states, a batch telling which tokens are global and which the last layer sees.

    Beside the tokenizer's fields a batch may have, each (texts, tokens):

    - "global_attention_mask": other than 0 for tokens with global attention; by default the first one of each text;
    - "own_mask": other than 0 for tokens that the last layer attends to; by default all. The states of the others are
      of no use then. In the last layer only the first token is global.

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
            layer.attention.self.one_sided_attn_window_size = window // 2

    @property
    def limit(self) -> int:
        """Tokens of the longest text it can read; positions are counted from behind that of padding."""
        config = self.model.config
        return int(min(config.max_position_embeddings - config.pad_token_id - 1, self.tokenizer.model_max_length))

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Last hidden states, (texts, tokens, dim)."""
        there = batch["attention_mask"].to(self.device).bool()
        first = torch.zeros_like(there)
        first[:, 0] = True
        everywhere = batch[GLOBAL].to(self.device).bool() | first if GLOBAL in batch else first
        own = batch[OWN].to(self.device).bool() if OWN in batch else there
        spare = -there.shape[1] % self.window
        ids = pad(batch["input_ids"].to(self.device), (0, spare), value=self.model.config.pad_token_id)
        states = self.model.embeddings(input_ids=ids)
        *lower, last = self.model.encoder.layer
        roles = _roles(there, everywhere, spare)
        for layer in lower:
            states = _attend(layer, states, roles)
        states = _attend(last, states, _roles(own & there, first if OWN in batch else everywhere, spare))
        return states[:, : there.shape[1]]


def _roles(there: Tensor, everywhere: Tensor, spare: int) -> Tensor:
    """(texts, tokens + spare): -1 where nothing attends to, 0 for local tokens, 1 for global ones."""
    roles = torch.where(there, everywhere.int(), -1)
    return pad(roles, (0, spare), value=-1)


def _attend(layer: Any, states: Tensor, roles: Tensor) -> Tensor:
    attended: Tensor = layer(
        states, attention_mask=roles, is_index_masked=roles < 0, is_index_global_attn=roles > 0, is_global_attn=True
    )[0]
    return attended


def is_long(backbone: Backbone) -> bool:
    """Whether an encoder is a Longformer."""
    return bool(backbone.model.config.model_type == _LONG)


def stretch(backbone: Backbone, *, max_tokens: int = 4096, window: int = 512) -> LongBackbone:
    """A BERT-type encoder as a Longformer that reads longer texts; the given one is left as it is.

    Args:
        backbone: BERT, RoBERTa or one of their kind, of any size.
        max_tokens: Tokens of the longest text.
        window: Tokens that a local token attends to; even.

    Raises:
        ModelError: The encoder is of another kind.
        ConfigError: It reads texts as long already, or the window is odd or below 4.
    """
    _check_window(window)
    old = backbone.model.config
    if old.model_type not in _SHORT or getattr(old, "position_embedding_type", "absolute") != "absolute":
        expected = f"an encoder of type {', '.join(_SHORT)} with a table of positions"
        raise ModelError(expected, f"type '{old.model_type}'", "choose another backbone, or one that is long already")
    # Rows up to padding's are no positions: RoBERTa has them, BERT begins at row 0.
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
    model.pooler.requires_grad_(False)  # as `open_backbone` leaves it
    tokenizer = copy.deepcopy(backbone.tokenizer)
    tokenizer.model_max_length = max_tokens
    return LongBackbone(Backbone(model, tokenizer), window=window)


def _check_window(window: int) -> None:
    # The library's attention fails with 2.
    if window < 4 or window % 2:
        raise ConfigError("an even window of 4 or more tokens", str(window), "correct the experiment file")
