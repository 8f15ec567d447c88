"""A small transformer learns the vectors of its teachers, without labels (LEAF, arXiv 2509.12539).

The student has the tokenizer of the first teacher and begins with some of its layers. Its target for a text combines
the teachers' unit vectors u_i. Each is centred by the mean m_i over texts of its kind and scaled to unit length; these
vectors are concatenated and reduced to as many principal directions as the student has. The directions are rotated to
fit the first teacher's coordinates, where the student begins. A step has windows of sentences and short texts. Some of
these are titles, headings and questions of the windows' documents, others are random (names, headings, definitions,
single sentences). With the student's vector v and the target u, it minimises

    mean over sentences of 1 - v·u  +  the same over windows  +  the same over short texts
    + 10 · mean over pairs of windows and short texts of (v·v' - u·u')²

so that single vectors match their targets, and pairs are as similar as by the teachers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import normalize

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult.errors import ConfigError
from auscult_lab.general.experiment import StudentTraining
from auscult_lab.modules.backbone import Backbone, new_encoder
from auscult_lab.training.batches import Key
from auscult_lab.training.schedule import parameter_groups

_PAIRS = 10.0
_LAYERS = "encoder.layer."
_NO_SENTENCE = -1
_ROWS = 40


@dataclass(frozen=True, slots=True)
class Text:
    """A window or a short text, and the target vectors of its sentences.

    Attributes:
        ids: Its tokens, (tokens,).
        lengths: Number of tokens of each of its sentences, (sentences,).
        places: Target vectors of these, unit rows, float16 (sentences, dim).
        near: For a window, rows of short texts that are queries for its document or passage.
    """

    ids: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    places: npt.NDArray[np.float16]
    near: tuple[int, ...] = ()


class TokenRows(NamedTuple):
    """A padded batch of texts.

    Attributes:
        ids: (texts, tokens).
        mask: 1 where there is a token, same shape.
        sentence: Number of each token's sentence in the batch, same shape; -1 for none.
    """

    ids: Tensor
    mask: Tensor
    sentence: Tensor


class StudentBatch(NamedTuple):
    """The texts of a step, windows first.

    Attributes:
        rows: Groups of texts of similar length, to reduce padding.
        text: Number of each sentence's text, (sentences,).
        lengths: Tokens of each sentence, (sentences,).
        places: Target vectors, (sentences, dim).
        windows: Number of texts that are windows.
        texts: Number of texts.
    """

    rows: list[TokenRows]
    text: Tensor
    lengths: Tensor
    places: Tensor
    windows: int
    texts: int


class StudentExamples:
    """Windows as examples, by epoch and row, with some short texts in each batch.

    Args:
        windows: Passages, or parts of long ones.
        short: Short texts.
        reader: The first teacher, for its tokenizer.
        batch_short: Number of short texts per batch: one near each window, and random ones.
        seed: Seed of that draw.
    """

    def __init__(
        self, windows: Sequence[Text], short: Sequence[Text], reader: WindowReader, *, batch_short: int, seed: int
    ) -> None:
        self._windows = windows
        self._short = short
        self._around = reader.around
        self._batch_short = batch_short
        self._seed = seed

    def lengths(self) -> list[int]:
        """Return the number of tokens of each window."""
        return [len(window.ids) for window in self._windows]

    def __len__(self) -> int:
        return len(self._windows)

    def __getitem__(self, key: Key) -> tuple[Key, Text]:
        return key, self._windows[key[1]]

    def collate(self, found: Sequence[tuple[Key, Text]]) -> StudentBatch:
        """Return one batch."""
        chance = np.random.default_rng((self._seed, *found[0][0]))
        windows = [text for _, text in found]
        rows = [int(chance.choice(window.near)) for window in windows if window.near][: self._batch_short]
        if self._short:
            rows += chance.integers(len(self._short), size=self._batch_short - len(rows)).tolist()
        return self.batch(windows, [self._short[row] for row in rows])

    def batch(self, windows: Sequence[Text], short: Sequence[Text]) -> StudentBatch:
        """Return a batch of given windows and short texts."""
        texts = [*windows, *short]
        lengths = np.concatenate([text.lengths for text in texts])
        of_text = np.repeat(np.arange(len(texts)), [len(text.lengths) for text in texts])
        begun = np.cumsum([0, *(len(text.lengths) for text in texts)])
        order = sorted(range(len(texts)), key=lambda row: len(texts[row].ids))
        return StudentBatch(
            [
                self._rows([(texts[row], int(begun[row])) for row in order[first : first + _ROWS]])
                for first in range(0, len(order), _ROWS)
            ],
            torch.from_numpy(of_text),
            torch.from_numpy(lengths).float(),
            torch.from_numpy(np.concatenate([text.places for text in texts]).astype(np.float32)),
            len(windows),
            len(texts),
        )

    def _rows(self, texts: Sequence[tuple[Text, int]]) -> TokenRows:
        """Pad texts, each given with the number of its first sentence, to the longest."""
        first, last = self._around
        longest = max(len(text.ids) for text, _ in texts) + len(first) + len(last)
        ids = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros_like(ids)
        sentence = np.full_like(ids, _NO_SENTENCE)
        for row, (text, begun) in enumerate(texts):
            tokens = [*first, *text.ids.tolist(), *last]
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
            inside = np.repeat(np.arange(begun, begun + len(text.lengths)), text.lengths)
            sentence[row, len(first) : len(first) + len(inside)] = inside
        return TokenRows(torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(sentence))


class StudentObjective:
    """Trains a student.

    Args:
        student: The student, which is trained in place.
        choice: Optimisation.
        held_out: Batches for validation.
    """

    def __init__(self, student: Backbone, choice: StudentTraining, held_out: Sequence[StudentBatch]) -> None:
        self.network = student
        self._choice = choice
        self._held_out = held_out

    def loss(self, batch: StudentBatch) -> tuple[Tensor, int]:
        """Return the loss, and the number of texts."""
        sentences, texts, given = self._place(batch)
        short = slice(batch.windows, None)
        losses = [
            1 - (sentences * batch.places)[batch.text < batch.windows].sum(dim=1).mean(),
            *(
                1 - (texts[part] * given[part]).sum(dim=1).mean()
                for part in (slice(batch.windows), short)
                if len(texts[part])
            ),
        ]
        pairs = (texts @ texts.T - given @ given.T).square().mean()
        return torch.stack(losses).sum() + _PAIRS * pairs, len(texts)

    def measures(self) -> Mapping[str, float]:
        """Return mean cosines of the student's vectors with their targets, over held-out sentences and texts."""
        self.network.eval()
        sums = np.zeros(2)
        with torch.no_grad():
            for batch in self._held_out:
                sentences, texts, given = self._place(batch)
                sums += [float((a * b).sum(dim=1).mean()) for a, b in ((sentences, batch.places), (texts, given))]
        sentence, text = (sums / max(len(self._held_out), 1)).tolist()
        return {"sentence_cosine": sentence, "text_cosine": text}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW."""
        choice = self._choice
        groups = parameter_groups(self.network.parameters(), decay=choice.weight_decay, rate=choice.learning_rate)
        return torch.optim.AdamW(groups, lr=choice.learning_rate, betas=(0.9, 0.98))

    def _place(self, batch: StudentBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the student's unit vectors of sentences and texts, and the targets of texts."""
        sums = torch.zeros(len(batch.places), self.network.dim)
        for rows in batch.rows:
            states = self.network({"input_ids": rows.ids, "attention_mask": rows.mask}).float()
            inside = rows.sentence >= 0
            sums = sums.index_add(0, rows.sentence[inside], states[inside])
        wholes = torch.zeros(batch.texts, sums.shape[1]).index_add(0, batch.text, sums)
        weighed = batch.places * batch.lengths.unsqueeze(1)
        given = torch.zeros_like(wholes).index_add(0, batch.text, weighed)
        return normalize(sums, dim=1), normalize(wholes, dim=1), normalize(given, dim=1)


@dataclass(frozen=True, slots=True)
class Places:
    """Computes a student's target vectors from the teachers' vectors.

    Attributes:
        directions: (width of all teachers, dim), orthonormal.
    """

    directions: FloatArray

    @classmethod
    def of(cls, read: Sequence[npt.NDArray[np.floating]], dim: int) -> Places:
        """Fit principal directions of texts, rotated to the first teacher's coordinates where the dimensions are equal.

        Args:
            read: Each teacher's vectors of the same texts, (texts, width).
            dim: Number of directions.
        """
        rows = _join_vectors(read).astype(np.float64)
        _, directions = np.linalg.eigh(rows.T @ rows)
        directions = directions[:, ::-1][:, :dim]
        own = rows[:, : read[0].shape[1]]
        if own.shape[1] == dim:
            # Orthogonal Procrustes: the rotation that brings the directions closest to these coordinates.
            left, _, right = np.linalg.svd((rows @ directions).T @ own)
            directions = directions @ left @ right
        return cls(directions.astype(np.float32))

    def __call__(self, read: Sequence[npt.NDArray[np.floating]]) -> npt.NDArray[np.float16]:
        """Return targets of texts of one kind, unit rows (texts, dim), from each teacher's vectors, (texts, width)."""
        return unit(_join_vectors(read) @ self.directions).astype(np.float16)


def _join_vectors(read: Sequence[npt.NDArray[np.floating]]) -> FloatArray:
    """Return the teachers' vectors, centred and scaled to unit length, concatenated."""
    rows = [unit(each.astype(np.float32)) for each in read]
    return np.hstack([unit(each - each.mean(axis=0)) for each in rows])


def begin_student(teacher: Backbone, layers: Sequence[int]) -> Backbone:
    """Return an encoder of some of a teacher's layers, with its word table and tokenizer and without dropout.

    Args:
        teacher: A BERT.
        layers: Numbers of the layers, from 0.

    Raises:
        ConfigError: The teacher has no such layer.
    """
    if max(layers) >= teacher.depth or min(layers) < 0:
        raise ConfigError(f"layers of 0 to {teacher.depth - 1}", f"{list(layers)}", "correct student.layers")
    settings = teacher.model.config.to_dict()
    kind = settings.pop("model_type")
    own = {"num_hidden_layers": len(layers), "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model: Any = new_encoder(kind, settings | own)
    weights = teacher.model.state_dict()
    state = {name: value for name, value in weights.items() if not name.startswith(_LAYERS)}
    for place, layer in enumerate(layers):
        before = f"{_LAYERS}{layer}."
        state |= {f"{_LAYERS}{place}.{name.removeprefix(before)}": value
                 for name, value in weights.items() if name.startswith(before)}  # fmt: skip
    model.load_state_dict(state)
    # On processors, the gradient of fused attention takes longer than everything else together.
    model.set_attn_implementation("eager")
    return Backbone(model, teacher.tokenizer)
