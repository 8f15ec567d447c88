"""Retrieval quality on held-out training documents: the figure that stops a training and chooses its epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from auscult.interfaces import DocumentEncoder, FloatArray
from auscult.understanding import Query
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.training.labels import LabelledDocument


def common_headings(documents: Sequence[LabelledDocument], at_least: int) -> frozenset[tuple[str, ...]]:
    """The (normalised) headings that at least so many documents have."""
    counts = Counter(headings for item in documents for headings in set(item.aspects))
    return frozenset(headings for headings, count in counts.items() if headings and count >= at_least)


def retrieval_quality(
    encoder: DocumentEncoder,
    held_out: Sequence[LabelledDocument],
    asked_for: frozenset[tuple[str, ...]],
    vectors: Sequence[FloatArray] | None = None,
) -> dict[str, float]:
    """Rank all passages of the held-out documents for queries made of their titles and headings.

    A query is a title and one passage's headings; every passage with that title and those headings answers it. Ties
    count against the model, and so do scores that are no numbers.

    Args:
        encoder: The model.
        held_out: Documents that were not trained on.
        asked_for: Headings to make queries of; passages under other headings are ranked too.
        vectors: The documents' sentence vectors, where they are at hand.

    Returns:
        "R@1" (share of queries whose first passage answers) and "RR" (mean reciprocal rank), in [0, 1].
    """
    if vectors is None:
        vectors = encoder.encode_documents([item.document for item in held_out])
    means, labels = [], []
    for item, matrix in zip(held_out, vectors, strict=True):
        owners = np.array(item.passage_of)
        for row, headings in enumerate(item.aspects):
            if item.title and headings and (owners == row).any():
                means.append(matrix[owners == row].mean(axis=0))
                labels.append((item.title.key, item.title.name, headings))
    asked = [label for label in dict.fromkeys(labels) if label[2] in asked_for]
    if not asked:
        return {"R@1": 0.0, "RR": 0.0}
    queries = [
        Query(query_id="", entity=name, aspects=headings, entity_id="" if key.startswith("title:") else key)
        for key, name, headings in asked
    ]
    scores = encoder.encode_queries(queries) @ np.stack(means).T
    relevant = np.array([[label[0] == ask[0] and label[2] == ask[2] for label in labels] for ask in asked])
    best = np.where(relevant, scores, -np.inf).max(axis=1)
    ahead = (~(scores < best[:, None]) & ~relevant).sum(axis=1)
    return {"R@1": float((ahead == 0).mean()), "RR": float((1.0 / (ahead + 1)).mean())}


def calibrate(
    encoder: CdvEncoder, held_out: Sequence[LabelledDocument], asked_for: frozenset[tuple[str, ...]]
) -> dict[str, float]:
    """Set an encoder's entity weight and document share to those that rank held-out documents best.

    Tried are weights of 0.5 to 4 in steps of a half, and shares of 0, 0.5, 1 and 2; of equals, those that change
    least. An encoder of one task is left as it is.

    Returns:
        The quality reached; see `retrieval_quality`.
    """
    if len(encoder.parts) < 2:
        return retrieval_quality(encoder, held_out, asked_for)
    best = (0.0, 1.0, {"RR": -1.0})
    for share in (0.0, 0.5, 1.0, 2.0):
        encoder.document_share = share
        vectors = encoder.encode_documents([item.document for item in held_out])
        for weight in sorted((step / 2 for step in range(1, 9)), key=lambda each: abs(each - 1.0)):
            encoder.entity_weight = weight
            quality = retrieval_quality(encoder, held_out, asked_for, vectors)
            if quality["RR"] > best[2]["RR"]:
                best = (share, weight, quality)
    encoder.document_share, encoder.entity_weight, quality = best
    return quality
