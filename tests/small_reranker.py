"""A small re-ranker, as it is saved: a tiny random BERT with a random head."""

from __future__ import annotations

from pathlib import Path

import torch

from auscult.encoders.reranker import Reranker, load, save, set_weights
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.reranker.objective import RerankerNetwork
from tiny_bert import save_tiny_bert


def small_network(folder: Path) -> RerankerNetwork:
    """One whose head has weights by chance."""
    network = RerankerNetwork(open_backbone(str(save_tiny_bert(folder, width=32, limit=64)))).eval()
    torch.manual_seed(1)
    torch.nn.init.normal_(network.head.weight)
    torch.nn.init.zeros_(network.head.bias)
    return network


def save_reranker(folder: Path, network: RerankerNetwork, weights: dict[str, float] | None = None) -> Reranker:
    """Write one, and open it."""
    opened = network.backbone
    arrays = {name: array.numpy() for name, array in opened.model.state_dict().items()}
    save(
        folder,
        network.arrays(),
        name="small",
        window=opened.limit,
        tokenizer=opened.tokenizer.backend_tokenizer.to_str().encode(),
        transformer=bert_as_onnx(arrays, opened.model.config.to_dict(), opened.limit),
    )
    if weights is not None:
        set_weights(folder, weights, {})
    return load(folder)
