"""A small transformer learns to read as its teachers do, from their vectors alone (LEAF, arXiv 2509.12539).

The student has the tokenizer of the first teacher and begins with some of its layers. Where the teachers put a text is
the direction of [u_1 - m_1 ; u_2 - m_2 ; ...]: their vectors of unit length without the means of all texts of its kind,
each of unit length again, side by side, in as many principal directions as the student has. These are turned so that
they lie as the first teacher's own coordinates do, where the student begins. A step shows windows of sentences and
short texts, some of them titles, headings and questions of these windows' documents, others by chance (names, headings,
definitions, single sentences); with student v and place u it minimises

    mean over sentences of 1 - v·u  +  the same over windows  +  the same over short texts
    + 10 · mean over pairs of windows and short texts of (v·v' - u·u')²

so that each has its place, and pairs are as alike as the teachers find them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult.errors import ConfigError
from auscult.interfaces import FloatArray
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
    """A window or a short text, and where the teachers put its sentences.

    Attributes:
        ids: Its tokens, (tokens,).
        lengths: How many each of its sentences has, (sentences,).
        places: Where the teachers put these, unit rows, float16 (sentences, dim).
        near: Of a window: rows of short texts that ask for its document or passage.
    """

    ids: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    places: npt.NDArray[np.float16]
    near: tuple[int, ...] = ()


class TokenRows(NamedTuple):
    """Texts that are read at once.

    Attributes:
        ids: (texts, tokens).
        there: 1 where there is a token, same shape.
        sentence: Which sentence of the batch each token is of, same shape; -1 for none.
    """

    ids: Tensor
    there: Tensor
    sentence: Tensor


class StudentBatch(NamedTuple):
    """The texts of a step, windows first.

    Attributes:
        rows: Texts of like length together, which pads least.
        text: Which text each sentence is of, (sentences,).
        lengths: Tokens of each sentence, (sentences,).
        places: The teachers', (sentences, dim).
        windows: How many of the texts are windows.
        texts: How many there are.
    """

    rows: list[TokenRows]
    text: Tensor
    lengths: Tensor
    places: Tensor
    windows: int
    texts: int


class StudentExamples:
    """Windows, asked for by epoch and row; each batch gets some short texts besides.

    Args:
        windows: Passages, or parts of long ones.
        short: Short texts.
        reader: The first teacher, for its tokenizer.
        batch_short: How many short texts a batch gets: one near each window, others by chance.
        seed: Of which.
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
        """Tokens of each window."""
        return [len(window.ids) for window in self._windows]

    def __len__(self) -> int:
        return len(self._windows)

    def __getitem__(self, key: Key) -> tuple[Key, Text]:
        return key, self._windows[key[1]]

    def collate(self, found: Sequence[tuple[Key, Text]]) -> StudentBatch:
        """One batch."""
        chance = np.random.default_rng((self._seed, *found[0][0]))
        windows = [text for _, text in found]
        rows = [int(chance.choice(window.near)) for window in windows if window.near][: self._batch_short]
        if self._short:
            rows += chance.integers(len(self._short), size=self._batch_short - len(rows)).tolist()
        return self.batch(windows, [self._short[row] for row in rows])

    def batch(self, windows: Sequence[Text], short: Sequence[Text]) -> StudentBatch:
        """A batch of these."""
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
        """Texts, each with the number of its first sentence, padded to the longest."""
        first, last = self._around
        longest = max(len(text.ids) for text, _ in texts) + len(first) + len(last)
        ids = np.zeros((len(texts), longest), np.int64)
        there = np.zeros_like(ids)
        sentence = np.full_like(ids, _NO_SENTENCE)
        for row, (text, begun) in enumerate(texts):
            tokens = [*first, *text.ids.tolist(), *last]
            ids[row, : len(tokens)] = tokens
            there[row, : len(tokens)] = 1
            inside = np.repeat(np.arange(begun, begun + len(text.lengths)), text.lengths)
            sentence[row, len(first) : len(first) + len(inside)] = inside
        return TokenRows(torch.from_numpy(ids), torch.from_numpy(there), torch.from_numpy(sentence))


class StudentObjective:
    """Trains a student.

    Args:
        student: What is trained.
        choice: Optimisation.
        held_out: Batches that are not trained on.
    """

    def __init__(self, student: Backbone, choice: StudentTraining, held_out: Sequence[StudentBatch]) -> None:
        self._student = student
        self._choice = choice
        self._held_out = held_out

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        return self._student

    def loss(self, batch: StudentBatch) -> tuple[Tensor, int]:
        """The loss, and how many texts it is of."""
        sentences, texts, given = self._placed(batch)
        short = slice(batch.windows, None)
        found = [
            1 - (sentences * batch.places)[batch.text < batch.windows].sum(dim=1).mean(),
            *(
                1 - (texts[part] * given[part]).sum(dim=1).mean()
                for part in (slice(batch.windows), short)
                if len(texts[part])
            ),
        ]
        pairs = (texts @ texts.T - given @ given.T).square().mean()
        return torch.stack(found).sum() + _PAIRS * pairs, len(texts)

    def measures(self) -> Mapping[str, float]:
        """Mean cosine of student and teachers, over sentences and over texts that are not trained on."""
        self._student.eval()
        sums = np.zeros(2)
        with torch.no_grad():
            for batch in self._held_out:
                sentences, texts, given = self._placed(batch)
                sums += [float((a * b).sum(dim=1).mean()) for a, b in ((sentences, batch.places), (texts, given))]
        sentence, text = (sums / max(len(self._held_out), 1)).tolist()
        return {"sentence_cosine": sentence, "text_cosine": text}

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW."""
        choice = self._choice
        groups = parameter_groups(self._student.parameters(), decay=choice.weight_decay, rate=choice.learning_rate)
        return torch.optim.AdamW(groups, lr=choice.learning_rate, betas=(0.9, 0.98))

    def _placed(self, batch: StudentBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Where the student puts sentences and texts, and the teachers the texts, all of unit length."""
        sums = torch.zeros(len(batch.places), self._student.dim)
        for rows in batch.rows:
            states = self._student({"input_ids": rows.ids, "attention_mask": rows.there}).float()
            inside = rows.sentence >= 0
            sums = sums.index_add(0, rows.sentence[inside], states[inside])
        wholes = torch.zeros(batch.texts, sums.shape[1]).index_add(0, batch.text, sums)
        weighed = batch.places * batch.lengths.unsqueeze(1)
        given = torch.zeros_like(wholes).index_add(0, batch.text, weighed)
        return normalize(sums, dim=1), normalize(wholes, dim=1), normalize(given, dim=1)


@dataclass(frozen=True, slots=True)
class Places:
    """Where teachers put texts: from their vectors to what a student aims at.

    Attributes:
        directions: (width of all teachers, dim), orthonormal.
    """

    directions: FloatArray

    @classmethod
    def of(cls, read: Sequence[npt.NDArray[np.floating]], dim: int) -> Places:
        """Principal directions of texts, turned to lie as the first teacher's coordinates where these are as many.

        Args:
            read: Each teacher's vectors of the same texts, (texts, width).
            dim: How many directions.
        """
        rows = _side_by_side(read).astype(np.float64)
        _, directions = np.linalg.eigh(rows.T @ rows)
        directions = directions[:, ::-1][:, :dim]
        own = rows[:, : read[0].shape[1]]
        if own.shape[1] == dim:
            # Orthogonal Procrustes: the rotation after which the directions lie nearest to these.
            left, _, right = np.linalg.svd((rows @ directions).T @ own)
            directions = directions @ left @ right
        return cls(directions.astype(np.float32))

    def __call__(self, read: Sequence[npt.NDArray[np.floating]]) -> npt.NDArray[np.float16]:
        """Of texts of one kind, by each teacher's vectors of them, (texts, width): unit rows, (texts, dim)."""
        return unit(_side_by_side(read) @ self.directions).astype(np.float16)


def _side_by_side(read: Sequence[npt.NDArray[np.floating]]) -> FloatArray:
    """Each teacher's vectors without their mean, of unit length, next to one another."""
    rows = [unit(each.astype(np.float32)) for each in read]
    return np.hstack([unit(each - each.mean(axis=0)) for each in rows])


def begin_student(teacher: Backbone, layers: Sequence[int]) -> Backbone:
    """Some of a teacher's layers, with its words and tokenizer and without dropout.

    Args:
        teacher: A BERT.
        layers: Which, from 0.

    Raises:
        ConfigError: It has no such layer.
    """
    if max(layers) >= teacher.depth or min(layers) < 0:
        raise ConfigError(f"layers of 0 to {teacher.depth - 1}", f"{list(layers)}", "correct student.layers")
    settings = teacher.model.config.to_dict()
    kind = settings.pop("model_type")
    own = {"num_hidden_layers": len(layers), "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model: Any = new_encoder(kind, settings | own)
    weights = teacher.model.state_dict()
    kept = {name: value for name, value in weights.items() if not name.startswith(_LAYERS)}
    for place, layer in enumerate(layers):
        before = f"{_LAYERS}{layer}."
        kept |= {f"{_LAYERS}{place}.{name.removeprefix(before)}": value
                 for name, value in weights.items() if name.startswith(before)}  # fmt: skip
    model.load_state_dict(kept)
    # On processors the gradient of fused attention takes longer than all else together.
    model.set_attn_implementation("eager")
    return Backbone(model, teacher.tokenizer)
