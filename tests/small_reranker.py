"""A small re-ranker, as it is saved: a tiny random BERT with random heads."""

from __future__ import annotations

from pathlib import Path

import torch

from auscult.encoders.reranker import Reranker, load, save
from auscult.search.fusion import Rereading
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.modules.backbone import open_backbone
from study.shipped.reranker.network import RerankerNetwork
from tiny_bert import save_tiny_bert

REREADING = Rereading(order=5.0, certainty=1.0, log_odds=0.5, ahead=0.1, bias=0.0)


def small_network(folder: Path) -> RerankerNetwork:
    """One whose heads have weights by chance."""
    network = RerankerNetwork(open_backbone(str(save_tiny_bert(folder, width=32, limit=192)))).eval()
    torch.manual_seed(1)
    for layer in (network.head, network.sentence):
        torch.nn.init.normal_(layer.weight)
    torch.nn.init.zeros_(network.head.bias)
    return network


def save_reranker(folder: Path, network: RerankerNetwork) -> Reranker:
    """Write one, and open it."""
    opened = network.backbone
    arrays = {name: array.numpy() for name, array in opened.model.state_dict().items()}
    save(
        folder,
        network.arrays(),
        name="small",
        most=40,
        tokenizer=opened.tokenizer.backend_tokenizer.to_str().encode(),
        transformer=bert_as_onnx(arrays, opened.model.config.to_dict(), opened.limit),
    )
    return load(folder)
