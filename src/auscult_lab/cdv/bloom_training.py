"""Training of the entity and aspect encoders (arnold2020, section 3 and 5.2): predict an ID's Bloom code from text.

Departures: the paper trains them "similarly to the CDV model", with 5 epochs, batches of 128 sentences, a rate of 10^-3
and dropout of 0.5. CDV's rate falls by 0.975 an epoch and its weights decay by 10^-4. By default neither applies here;
an experiment can set both. Sentences are cut at 96 words, as CDV's are.

After the paper's 5 epochs an encoder hardly knows which entity a text describes (`benchmarks/bloom_codes.py`). An
experiment can therefore hold descriptions out, train until their codes are not predicted better any more, scale the
encoder's inputs, or take another loss than BP-MLL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import DataLoader, Dataset

from auscult.concepts import KnowledgeBase, normalise_name
from auscult.encoders.contract import FloatArray
from auscult_lab.cdv.experiment import BloomTraining
from auscult_lab.cdv.spaces import BloomConfig, BloomEncoder, BloomSpace, bloom_bits
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import WordVectors, tokenize
from auscult_lab.training.batches import DocumentBatches, Key
from auscult_lab.training.labels import LabelledDocument
from auscult_lab.training.loop import History
from auscult_lab.training.losses import bp_mll
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Run

Description = tuple[str, str]
_MAX_WORDS = 96
_PART = 256
_MEASURE = "code_R@1"


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


def draw_held_out(keys: Sequence[str], number: int, seed: int) -> list[int]:
    """Return rows of descriptions to hold out, in order: one at most of each key that has others.

    Args:
        keys: Key of each description.
        number: The most rows.
        seed: Seed of the draw.
    """
    sizes = Counter(keys)
    chosen: dict[str, int] = {}
    for row in np.random.default_rng(seed).permutation(len(keys)).tolist():
        if len(chosen) < number and sizes[keys[row]] > 1:
            chosen.setdefault(keys[row], row)
    return sorted(chosen.values())


@dataclass(frozen=True, slots=True)
class CodeTest:
    """Held-out descriptions, and the codes that they are found among.

    Attributes:
        words: Word vectors of each description, (words, dim).
        owners: Row of each one's code in `codes`.
        codes: (keys, bits).
    """

    words: tuple[Tensor, ...]
    owners: Tensor
    codes: Tensor

    def accuracy(self, encoder: BloomEncoder) -> float:
        """Return the share of descriptions whose code is likelier than all others by the encoder's bits."""
        first = 0
        device = next(encoder.parameters()).device
        codes, owners = self.codes.to(device), self.owners.to(device)
        encoder.eval()
        with torch.inference_mode():
            for start in range(0, len(self.words), _PART):
                rows = owners[start : start + _PART]
                bits = encoder(pack([text.to(device) for text in self.words[start : start + _PART]]))
                # The log-likelihood of a code, less a term that all codes share.
                likely = torch.logit(bits, eps=1e-6) @ codes.T
                own = likely.gather(1, rows[:, None])
                first += int(((likely >= own).sum(dim=1) == 1).sum())
        encoder.train()
        return first / len(self.words)


class _Descriptions:
    """Descriptions as an encoder reads them, by row, and the codes of their keys.

    Args:
        described: Pairs of key and describing text.
        vectors: Word vectors.
        config: Sizes of the codes.
    """

    def __init__(self, described: Sequence[Description], vectors: WordVectors, config: BloomConfig) -> None:
        self.keys = [key for key, _ in described]
        self.codes = {key: bloom_bits(key, bits=config.bits, hashes=config.hashes) for key in dict.fromkeys(self.keys)}
        self._words = [tokenize(text)[:_MAX_WORDS] for _, text in described]
        self._vectors = vectors

    def usable(self) -> list[int]:
        """Return the rows with a known word."""
        return [row for row, words in enumerate(self._words) if words and self._vectors.lookup(words).any()]

    def read(self, row: int) -> Tensor:
        """Return the vectors of a row's known words, (words, dim)."""
        vectors = self._vectors.lookup(self._words[row])
        return torch.from_numpy(vectors[vectors.any(axis=1)])

    def loader(self, rows: Sequence[int], *, size: int, seed: int) -> DataLoader[Any]:
        """Return batches of these rows' word vectors and codes, (rows, bits)."""

        def collate(keys: Sequence[Key]) -> tuple[PackedSequence, Tensor]:
            drawn = [rows[place] for _, place in keys]
            bits = np.stack([self.codes[self.keys[row]] for row in drawn])
            return pack([self.read(row) for row in drawn]), torch.from_numpy(bits)

        # Names of three words and sentences of thirty: texts of like length together save most of the work.
        lengths = [len(self._words[row]) for row in rows]
        batches = DocumentBatches(lengths, batch_documents=size, seed=seed, jitter=3.0)
        return DataLoader(_Rows(), batch_sampler=batches, collate_fn=collate)

    def test(self, rows: Sequence[int]) -> CodeTest | None:
        """Return the test of these rows; None where there are none."""
        if not rows:
            return None
        return CodeTest(
            words=tuple(self.read(row) for row in rows),
            owners=torch.from_numpy(self.owners()[list(rows)]),
            codes=torch.from_numpy(np.stack(list(self.codes.values()))),
        )

    def owners(self) -> npt.NDArray[np.int64]:
        """Return the place of each row's key among `codes`, (rows,)."""
        places = {key: place for place, key in enumerate(self.codes)}
        return np.array([places[key] for key in self.keys])

    def means(self, embedded: FloatArray) -> dict[str, FloatArray]:
        """Return the mean embedding of each key; texts without words, rows of zeros, do not count."""
        filled = embedded.any(axis=1)
        owners = self.owners()[filled]
        sums = np.zeros((len(self.codes), embedded.shape[1]), dtype=np.float64)
        np.add.at(sums, owners, embedded[filled])
        sizes = np.bincount(owners, minlength=len(self.codes))
        return {
            key: (sums[place] / sizes[place]).astype(np.float32) for place, key in enumerate(self.codes) if sizes[place]
        }


class _Rows(Dataset[Key]):
    """A data set whose items are their own keys; the loader makes the batch from them."""

    def __getitem__(self, key: Key) -> Key:
        return key


class _BloomObjective:
    def __init__(self, encoder: BloomEncoder, choice: BloomTraining, test: CodeTest | None) -> None:
        self.network = encoder
        self._choice = choice
        self._test = test

    def loss(self, batch: Sequence[Any]) -> tuple[Tensor, int]:
        words, bits = batch
        loss = bp_mll if self._choice.loss == "bp-mll" else functional.binary_cross_entropy
        return loss(self.network(words), bits), len(bits)

    def measures(self) -> Mapping[str, float]:
        return {} if self._test is None else {_MEASURE: self._test.accuracy(self.network)}

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
    within: str = "spaces",
) -> tuple[BloomSpace, History]:
    """Train an encoder on (key, text) pairs and place every key at the mean of its texts' embeddings (Eq. 5, 6).

    Held-out descriptions count in these means, as the paper's do.

    Args:
        described: Pairs of key and describing text.
        names: Normalised names -> keys; see `BloomSpace`.
        vectors: Word vectors the encoder reads.
        choice: Epochs, batch size, learning rate and its decay, weight decay, dropout, scale, what is held out.
        dim: Length of an embedding.
        seed: For initialisation and shuffling.
        accelerator: Device type, as the training library names it ("cpu", "cuda").
        run: The training of which this is one stage.
        within: Folder of its checkpoints in the training's folder.

    Returns:
        The space, and the figures of every epoch.
    """
    torch.manual_seed(seed)
    config = BloomConfig(
        word_dim=vectors.dim,
        lstm_dim=dim,
        dense_dim=dim,
        dropout=choice.dropout,
        input_scale=choice.input_scale,
    )
    encoder = BloomEncoder(config)
    descriptions = _Descriptions(described, vectors, config)
    usable = descriptions.usable()
    drawn = draw_held_out([descriptions.keys[row] for row in usable], choice.held_out, seed)
    held_out = [usable[place] for place in drawn]
    test = descriptions.test(held_out)
    schedule = Schedule(
        epochs=choice.epochs,
        seed=seed,
        decay=choice.decay,
        monitor=None if test is None else f"validation_{_MEASURE}",
        patience=choice.patience,
        accelerator=accelerator,
        devices=1,
    )
    loader = descriptions.loader(sorted(set(usable) - set(held_out)), size=choice.batch_size, seed=seed)
    history = run.fit(_BloomObjective(encoder, choice, test), loader, schedule, within=within)
    embedded = BloomSpace(encoder, vectors, {}).embed([text for _, text in described])
    return BloomSpace(encoder, vectors, descriptions.means(embedded), names), history
