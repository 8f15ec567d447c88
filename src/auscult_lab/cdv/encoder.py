"""CDV as a `DocumentEncoder`: documents to unit sentence vectors, queries to unit vectors, one inner product to score.

    score_t(Q, D) = cosine(ε_Q ⊕ α_Q, ε̂_t ⊕ α̂_t)           (arnold2020, Eq. 13)
    score(Q, P)   = mean of score_t over the passage        (Eq. 14)

With unit vectors the mean is one inner product: query · (mean of the passage's sentence vectors).

Departures: the index stores the decoders' outputs and searches them exactly; the paper stores discourse vectors and
searches approximately. The paper trains its sentence encoder with the network (section 4.4); here it stays fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from auscult.concepts.aspects import normalise_heading
from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError
from auscult.understanding import Query
from auscult_lab.cdv.network import CdvNetwork
from auscult_lab.cdv.spaces import TargetSpace
from auscult_lab.modules import Task
from auscult_lab.modules.backbone import Backbone, Pooling, open_backbone, pool
from auscult_lab.modules.recurrent import like, pack, unpack
from auscult_lab.modules.word_vectors import SentenceEncoder, structural_flags


class PooledTransformer:
    """Pooled transformer sentence vectors (arnold2020 Eq. 9): any Hugging Face encoder, by hub name or local folder.

    The paper pools BioBERT; any encoder that `AutoModel` opens will do. Its vectors are the input of the document
    encoder. The backbone is frozen, or has been trained with it and belongs to the model (grundmann2021, section 3.2).
    A sentence longer than the backbone's limit is cut there, and `truncated` counts how many.

    Args:
        transformer: A hub name ("dmis-lab/biobert-v1.1") or a folder with a saved encoder and tokenizer; or one that is
            open and belongs to the model, which stays on its device.
        pooling: "mean" over the sentence's tokens, or "cls", the first token's state.
        batch_size: Sentences per forward pass; does not change the vectors. None: 64 on a processor, 512 on a GPU.
        device: Where to run one that is opened here, as torch names devices.

    Attributes:
        backbone: The encoder.
        name_or_path: What it was opened by; None for one that belongs to the model, and is saved with it.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: When the encoder cannot be opened.
    """

    kind = "transformer"
    name_or_path: str | None

    def __init__(
        self,
        transformer: str | Backbone,
        *,
        pooling: Pooling = "mean",
        batch_size: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        if pooling not in ("mean", "cls"):
            raise ConfigError("pooling 'mean' or 'cls'", repr(pooling), "correct the experiment file")
        if isinstance(transformer, str):
            self.name_or_path, self.backbone = transformer, open_backbone(transformer).to(device)
        else:
            self.name_or_path, self.backbone = None, transformer
        self.pooling = pooling
        self.dim = self.backbone.dim
        self.truncated = 0
        # Small batches have less padding, which saves a processor time; a GPU is faster with fewer passes.
        self._batch_size = batch_size or (64 if self.backbone.device.type == "cpu" else 512)

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Return sentence vectors, shape (sentences, dim); `max_tokens` counts word pieces here."""
        return self.encode_texts([document.slice(s) for s in document.sentences], max_tokens=max_tokens)

    def encode_texts(self, texts: list[str], *, max_tokens: int | None = None) -> FloatArray:
        """Return vectors of texts, shape (texts, dim)."""
        limit = min(self.backbone.limit, max_tokens or self.backbone.limit)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        self.backbone.eval()  # It is called between the epochs of its own training.
        # Similar lengths together: the padding saved is most of the work on a processor without a GPU.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        with torch.inference_mode():
            for start in range(0, len(order), self._batch_size):
                rows = order[start : start + self._batch_size]
                batch = self.backbone.tokenize([texts[row] for row in rows], max_tokens=limit)
                mask = batch["attention_mask"]
                self.truncated += int((mask.sum(dim=1) >= limit).sum())
                states = self.backbone(batch)
                vectors[rows] = pool(states, mask.to(states.device), self.pooling).float().cpu().numpy()
        return vectors


# Steps per forward pass, padding included; bounds memory (some 100 MB), never changes a vector.
_BATCH_STEPS = 8192


class CdvEncoder:
    """A trained CDV model.

    Args:
        network: The document encoder and discourse decoder.
        sentences: The sentence encoder it was trained on.
        spaces: The target space of each of the network's tasks.
        name: Shown in tables and manifests.
        entity_weight: How much the entity half of a query counts beside its aspect half. Departure when not 1: Eq. 13
            takes both as they are; a weight chosen on validation documents tells similar entities apart better.
        document_share: How much of its document's mean entity half is added to each sentence's own, before both are
            scaled to unit length: most documents are about one entity throughout. Departure when not 0.
        fingerprint: Hash of weights and configuration, as `persistence.load` computed it.
    """

    def __init__(
        self,
        network: CdvNetwork,
        sentences: SentenceEncoder,
        spaces: Mapping[Task, TargetSpace],
        *,
        name: str,
        entity_weight: float = 1.0,
        document_share: float = 0.0,
        fingerprint: str = "",
    ) -> None:
        self.network = network.eval()
        self.sentences = sentences
        self.spaces = spaces
        self.name = name
        self.entity_weight = entity_weight
        self.document_share = document_share
        self.fingerprint = fingerprint
        size = network.config.target_dim
        tasks = network.config.tasks
        self.parts: Mapping[str, slice] = {task: slice(i * size, (i + 1) * size) for i, task in enumerate(tasks)}
        self.dim = size * len(tasks)

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Return sentence vectors of each document, (sentences, dim), rows of unit length, in sentence order.

        A document without sentences gives an array of no rows. Length is unlimited.
        """
        return [self.joined(halves) for halves in self.decode_documents(documents)]

    def decode_documents(self, documents: Sequence[Document]) -> list[list[FloatArray]]:
        """Return the network's outputs of each document, for each task (sentences, target_dim).

        `joined` turns a document's into its sentence vectors. They do not depend on `document_share`; the vectors do.
        """
        size = self.network.config.target_dim
        decoded = [[np.zeros((0, size), dtype=np.float32) for _ in self.parts] for _ in documents]
        lengths = [sum(len(passage.sentences) for passage in document.passages) for document in documents]
        order = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
        while order:
            # Longest first, so every document of a batch is padded to the first one's length at most.
            size = max(1, _BATCH_STEPS // lengths[order[0]])
            batch, order = order[:size], order[size:]
            for row, halves in zip(batch, self._decode_batch([documents[i] for i in batch]), strict=True):
                decoded[row] = halves
        return decoded

    def joined(self, halves: Sequence[FloatArray]) -> FloatArray:
        """Return a document's sentence vectors, (sentences, dim), rows of unit length.

        Args:
            halves: What `decode_documents` returns of the document.
        """
        unit = self.network.config.unit_halves
        by_task = dict(zip(self.parts, halves, strict=True))
        if self.document_share and len(by_task.get("entity", ())):
            # A document's sentences share its entity.
            own = _unit(by_task["entity"]) if unit else by_task["entity"]
            by_task["entity"] = own + self.document_share * own.mean(axis=0, keepdims=True)
        return join_halves(list(by_task.values()), unit_halves=unit)

    def _decode_batch(self, documents: Sequence[Document]) -> list[list[FloatArray]]:
        inputs = pack([torch.from_numpy(network_inputs(self.sentences, document)) for document in documents])
        inputs = like(inputs, inputs.data.to(next(self.network.parameters()).device))
        with torch.inference_mode():
            decoded = self.network(inputs)
        by_task = ([rows.cpu().numpy() for rows in unpack(like(inputs, decoded[task]))] for task in self.parts)
        return [list(halves) for halves in zip(*by_task, strict=True)]

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """Return query vectors ε_Q ⊕ α_Q (Eq. 7), (queries, dim), unit length.

        Several aspects are averaged (Eq. 16). A missing entity or aspect leaves its half zero, so that it does not
        count; a query of unknown words alone is a row of zeros.
        """
        rows = {
            "entity": lambda query: self.spaces["entity"].place(query.entity_id, query.entity),
            # Preprocessed as headings are (section 3.2): "signs and symptoms" is two.
            "aspect": lambda query: aspect_vector(
                self.spaces["aspect"], [heading for aspect in query.aspects for heading in normalise_heading(aspect)]
            ),
        }
        halves = [
            np.stack([rows[task](query) for query in queries]) if queries else np.zeros((0, size), np.float32)
            for task, size in ((task, self.network.config.target_dim) for task in self.network.config.tasks)
        ]
        weights = [self.entity_weight if task == "entity" else 1.0 for task in self.network.config.tasks]
        return join_halves(halves, unit_halves=self.network.config.unit_halves, weights=weights)


def join_halves(
    halves: Sequence[FloatArray], *, unit_halves: bool, weights: Sequence[float] | None = None
) -> FloatArray:
    """Return target vectors ε ⊕ α as unit rows, as `CdvNetwork.joined` makes them of decoded ones; zero rows stay zero.

    Args:
        halves: One array (rows, dim) a task.
        unit_halves: Scale each half to unit length first.
        weights: Then multiply each half by this; None for all alike.
    """
    if unit_halves:
        halves = [_unit(half) for half in halves]
    if weights is not None:
        halves = [half * weight for half, weight in zip(halves, weights, strict=True)]
    return _unit(np.concatenate(halves, axis=1))


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def network_inputs(sentences: SentenceEncoder, document: Document, max_tokens: int | None = None) -> FloatArray:
    """Return sentence vectors with structural flags, shape (sentences, sentence dim + 5)."""
    encoded = sentences.encode(document, max_tokens=max_tokens)
    return np.concatenate([encoded, structural_flags(document)], axis=1)


def aspect_vector(space: TargetSpace, headings: Sequence[str]) -> FloatArray:
    """Return the mean vector (dim,) of normalised headings; zeros where there is none."""
    if not headings:
        return np.zeros(space.dim, dtype=np.float32)
    return np.asarray(np.mean([space.place(heading, heading) for heading in headings], axis=0), dtype=np.float32)
