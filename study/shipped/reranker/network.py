"""The re-ranker (`encoders.reranker`) in torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity
from torch.nn.utils.rnn import pad_sequence

from auscult.encoders.contract import FloatArray
from auscult.encoders.reranker import Pair
from auscult_lab.modules.backbone import Backbone

_FIRST_SCALE = 10.0
_FIRST_BIAS = -8.0
"""Cosines of what is read in pairs are about 0.7: most passages do not seem to answer at first."""
NEVER = -1e4


class Padded(NamedTuple):
    """Pairs of question and passage, padded.

    Attributes:
        ids: (pairs, tokens).
        mask: 1 for tokens, same shape.
        asked: 1 for tokens of the question, same shape.
        told: 1 for tokens of title, heading and sentences, same shape.
        sentences: 1 for the tokens of each sentence that is read, (pairs, sentences, tokens).
    """

    ids: Tensor
    mask: Tensor
    asked: Tensor
    told: Tensor
    sentences: Tensor

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Padded:
        """Pad some pairs."""
        ids = pad_sequence([torch.tensor(each.ids) for each in pairs], batch_first=True)
        mask, asked, told = (torch.zeros_like(ids) for _ in range(3))
        sentences = torch.zeros(len(pairs), max(len(each.sentences) for each in pairs), ids.shape[1])
        for row, each in enumerate(pairs):
            mask[row, : len(each.ids)] = 1
            asked[row, 1 : 1 + each.asked] = 1
            told[row, each.told : len(each.ids)] = 1
            for place, (begin, end) in enumerate(each.sentences.values()):
                sentences[row, place, begin:end] = 1
        return cls(ids, mask, asked, told, sentences)


class RerankerNetwork(nn.Module):
    """Scores passages and their sentences.

    Args:
        backbone: The transformer; its table of words is not trained.
    """

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        backbone.model.embeddings.requires_grad_(False)
        self.backbone = backbone
        self.head = nn.Linear(backbone.dim, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.constant_(self.head.bias, _FIRST_BIAS)
        self.scale = nn.Parameter(torch.tensor(_FIRST_SCALE))
        self.sentence = nn.Linear(backbone.dim, 1, bias=False)
        nn.init.zeros_(self.sentence.weight)
        self.sentence_scale = nn.Parameter(torch.tensor(_FIRST_SCALE))

    def forward(self, batch: Padded) -> tuple[Tensor, Tensor]:
        """Return the scores of passages, (pairs,), and of sentences, (pairs, sentences), `NEVER` for missing ones."""
        batch = Padded(*(each.to(self.backbone.device) for each in batch))
        states = self.backbone({"input_ids": batch.ids, "attention_mask": batch.mask}).float()
        question = _mean(states, batch.asked.unsqueeze(1))
        passage = _mean(states, batch.told.unsqueeze(1))
        scores = self.head(states[:, 0])[:, 0] + self.scale * cosine_similarity(question, passage, dim=2)[:, 0]
        sentences = _mean(states, batch.sentences)
        marks = self.sentence(sentences)[..., 0] + self.sentence_scale * cosine_similarity(question, sentences, dim=2)
        return scores, marks.masked_fill(batch.sentences.sum(dim=2) == 0, NEVER)

    def arrays(self) -> dict[str, FloatArray]:
        """Return the weights besides the transformer, as `encoders.reranker.Reranker` takes them."""
        told = {
            "weight": self.head.weight[0],
            "bias": self.head.bias[0],
            "scale": self.scale,
            "sentence_weight": self.sentence.weight[0],
            "sentence_scale": self.sentence_scale,
        }
        return {name: array.detach().cpu().numpy() for name, array in told.items()}


def _mean(states: Tensor, chosen: Tensor) -> Tensor:
    """Return the mean states of some sets of tokens, (pairs, sets, dim); `chosen` is (pairs, sets, tokens)."""
    weights = chosen.to(states)
    return (weights @ states) / weights.sum(dim=2, keepdim=True).clamp(min=1)
