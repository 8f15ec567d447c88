"""Save a trained re-ranker, with the pieces of words that its texts use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.reranker import save
from auscult.files.json_text import parse_json
from auscult_lab.general.bert_onnx import bert_as_onnx
from study.shipped.reranker.network import RerankerNetwork

PIECES: Final = 20_000
"""Pieces of words that are kept of 30,522: health texts hardly use the others, which are split further instead."""
TOKENS: Final = 224
"""Tokens of the longest question and passage together: 48, 24 and 128, with marks, and room for more."""


def save_network(
    folder: Path,
    network: RerankerNetwork,
    texts: Iterable[str],
    most: int,
    training: dict[str, Any],
    pieces: int = PIECES,
) -> None:
    """Write a re-ranker's folder.

    Args:
        folder: The folder.
        network: The network.
        texts: Texts that show which pieces of words are used.
        most: Tokens of a passage that are read.
        training: The training record.
        pieces: Largest number of pieces of words.
    """
    backbone = network.backbone
    weights = {name: array.detach().float().cpu().numpy() for name, array in backbone.model.state_dict().items()}
    described: dict[str, Any] = parse_json(backbone.tokenizer.backend_tokenizer.to_str())
    described.update(truncation=None, padding=None)
    fast = backbone.tokenizer.backend_tokenizer
    counts = Counter(piece for text in texts for piece in fast.encode(text, add_special_tokens=False).ids)
    kept = _kept(described["model"]["vocab"], {each["id"] for each in described["added_tokens"]}, counts, pieces)
    words = "embeddings.word_embeddings.weight"
    weights[words] = weights[words][kept]
    config = {**backbone.model.config.to_dict(), "vocab_size": len(kept)}
    save(
        folder,
        network.arrays(),
        name="Re-ranker",
        most=most,
        tokenizer=json.dumps(_renumbered(described, kept), ensure_ascii=False).encode(),
        transformer=bert_as_onnx(weights, config, min(TOKENS, backbone.limit)),
        training=training,
    )


def _kept(vocabulary: dict[str, int], special: set[int], counts: Counter[int], pieces: int) -> npt.NDArray[np.int64]:
    """Return the ids of the pieces that are kept, ascending: marks, single characters that occur, and the commonest."""
    single = {number for piece, number in vocabulary.items() if len(piece.removeprefix("##")) == 1 and piece.isascii()}
    kept = special | single
    for number, _ in counts.most_common():
        if len(kept) >= pieces:
            break
        kept.add(number)
    return np.array(sorted(kept), np.int64)


def _renumbered(described: dict[str, Any], kept: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return a tokenizer with the kept pieces, numbered in their order."""
    new = {int(old): number for number, old in enumerate(kept.tolist())}
    model = described["model"]
    model["vocab"] = {piece: new[number] for piece, number in model["vocab"].items() if number in new}
    for each in described["added_tokens"]:
        each["id"] = new[each["id"]]
    for each in (described.get("post_processor") or {}).get("special_tokens", {}).values():
        each["ids"] = [new[number] for number in each["ids"]]
    return described
