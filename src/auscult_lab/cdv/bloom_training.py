"""Training of the entity and aspect encoders (arnold2020, section 3 and 5.2): predict an ID's Bloom code from text.

Departures: the paper trains them "similarly to the CDV model", with 5 epochs, batches of 128 sentences, a rate of 10^-3
and dropout of 0.5. CDV's rate falls by 0.975 an epoch and its weights decay by 10^-4. By default neither applies here;
an experiment can set both. Sentences are cut at 96 words, as CDV's are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import DataLoader, Dataset

from auscult.concepts import KnowledgeBase, normalise_name
from auscult_lab.cdv.experiment import BloomTraining
from auscult_lab.cdv.spaces import BloomConfig, BloomEncoder, BloomSpace, bloom_bits
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import WordVectors, tokenize
from auscult_lab.training.batches import DocumentBatches, Key
from auscult_lab.training.labels import LabelledDocument
from auscult_lab.training.losses import bp_mll
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Run

Description = tuple[str, str]
_MAX_WORDS = 96


def entity_descriptions(
    documents: Iterable[LabelledDocument], knowledge: KnowledgeBase | None, *, max_sentences: int
) -> list[Description]:
    """Return (key, text) for every text that describes an entity: D_E of Eq. 1.

    Names, synonyms and definitions of the knowledge base; titles and the first sentences of training articles.
    """
    described: list[Description] = []
    if knowledge is not None:
        ids = [concept.concept_id for concept in knowledge]
        described = [(concept_id, text) for concept_id in ids for text in knowledge.descriptions(concept_id)]
    for item in documents:
        if item.title is not None:
            lead = [item.document.slice(sentence) for sentence in item.document.sentences[:max_sentences]]
            described += [(item.title.key, text) for text in (item.title.name, *lead)]
    return described


def entity_names(documents: Iterable[LabelledDocument], knowledge: KnowledgeBase | None) -> dict[str, str]:
    """Return normalised name -> key, of every name of the knowledge base and every title."""
    names = {normalise_name(item.title.name): item.title.key for item in documents if item.title is not None}
    if knowledge is not None:
        names |= {name: keys[0] for name, keys in knowledge.name_index.items()}
    return names


def aspect_descriptions(documents: Iterable[LabelledDocument]) -> list[Description]:
    """Return (heading, text) for every heading and every sentence under it: D_A of Eq. 6."""
    described: dict[Description, None] = {}
    for item in documents:
        for sentence, passage in zip(item.document.sentences, item.passage_of, strict=True):
            for heading in item.aspects[passage]:
                described[heading, heading] = None
                described[heading, item.document.slice(sentence)] = None
    return list(described)


class _BloomObjective:
    def __init__(self, encoder: BloomEncoder, choice: BloomTraining) -> None:
        self.network = encoder
        self._choice = choice

    def loss(self, batch: Sequence[Any]) -> tuple[Tensor, int]:
        words, bits = batch
        return bp_mll(self.network(words), bits), len(bits)

    def measures(self) -> Mapping[str, float]:
        return {}

    def optimizer(self) -> torch.optim.Optimizer:
        choice = self._choice
        return torch.optim.AdamW(self.network.parameters(), lr=choice.learning_rate, weight_decay=choice.weight_decay)


def train_bloom_space(
    described: Sequence[Description],
    names: Mapping[str, str],
    vectors: WordVectors,
    choice: BloomTraining,
    *,
    dim: int,
    seed: int,
    accelerator: str,
    run: Run,
) -> BloomSpace:
    """Train an encoder on (key, text) pairs and place every key at the mean of its texts' embeddings (Eq. 5, 6).

    Args:
        described: Pairs of key and describing text.
        names: Normalised names -> keys; see `BloomSpace`.
        vectors: Word vectors the encoder reads.
        choice: Epochs, batch size, learning rate and its decay, weight decay, dropout.
        dim: Length of an embedding.
        seed: For initialisation and shuffling.
        accelerator: Device type, as the training library names it ("cpu", "cuda").
        run: The training of which this is one stage.
    """
    torch.manual_seed(seed)
    config = BloomConfig(word_dim=vectors.dim, lstm_dim=dim, dense_dim=dim, dropout=choice.dropout)
    encoder = BloomEncoder(config)
    codes = {key: bloom_bits(key, bits=config.bits, hashes=config.hashes) for key, _ in described}
    words = [tokenize(text)[:_MAX_WORDS] for _, text in described]
    usable = [row for row, tokens in enumerate(words) if tokens and vectors.lookup(tokens).any()]

    def collate(keys: Sequence[Key]) -> tuple[PackedSequence, Tensor]:
        rows = [usable[place] for _, place in keys]
        read = (vectors.lookup(words[row]) for row in rows)
        texts = [torch.from_numpy(known[known.any(axis=1)]) for known in read]
        return pack(texts), torch.from_numpy(np.stack([codes[described[row][0]] for row in rows]))

    # Names of three words and sentences of thirty: texts of like length together save most of the work.
    lengths = [len(words[row]) for row in usable]
    batches = DocumentBatches(lengths, batch_documents=choice.batch_size, seed=seed, jitter=3.0)
    loader: DataLoader[Any] = DataLoader(_Keys(), batch_sampler=batches, collate_fn=collate)
    schedule = Schedule(epochs=choice.epochs, seed=seed, decay=choice.decay, accelerator=accelerator, devices=1)
    run.fit(_BloomObjective(encoder, choice), loader, schedule, within="spaces")
    embedded = BloomSpace(encoder, vectors, {}).embed([text for _, text in described])
    keys = {key: row for row, key in enumerate(dict.fromkeys(key for key, _ in described))}
    owners = np.array([keys[key] for key, _ in described])
    filled = embedded.any(axis=1)
    sums = np.zeros((len(keys), embedded.shape[1]), dtype=np.float64)
    np.add.at(sums, owners[filled], embedded[filled])
    sizes = np.bincount(owners[filled], minlength=len(keys))
    known = {key: (sums[row] / sizes[row]).astype(np.float32) for key, row in keys.items() if sizes[row]}
    return BloomSpace(encoder, vectors, known, names)


class _Keys(Dataset[Key]):
    """A data set whose items are their own keys; `collate` makes the batch from them."""

    def __getitem__(self, key: Key) -> Key:
        return key
