"""Training examples: network inputs of documents, a target vector per sentence and a query vector per passage.

An example has the key (epoch, row). Its random parts (the window read, the name substituted) are drawn from seed,
epoch and row. A resumed training therefore sees exactly what an uninterrupted one would have seen.

Sentence vectors of a frozen transformer never change and cost the most, so a training computes them once:

    FOLDER/000000.npy, 000256.npy, ...   vectors of 256 documents each, float16 (sentences, dim)

A training that is killed while reading loses at most one file's documents. A resumed one reads nothing twice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import Dataset

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.errors import DataError
from auscult.files.writing import whole_or_nothing
from auscult_lab.cdv.encoder import PooledTransformer, aspect_vector, join_halves
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.spaces import TargetSpace
from auscult_lab.modules import Task
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import (
    FLAGS,
    AveragedWords,
    SentenceEncoder,
    sentence_tokens,
    structural_flags,
    tokenize,
)
from auscult_lab.training.batches import Key
from auscult_lab.training.data import TrainingData, mentions_words, replace_words
from auscult_lab.training.labels import EntityLabel, LabelledDocument
from auscult_lab.training.stages import Run

_DOCUMENTS = 256

HalfArray = npt.NDArray[np.float16]


def read_by_transformer(
    experiment: CdvExperiment, data: TrainingData, sentences: SentenceEncoder, run: Run, *, within: str
) -> list[HalfArray]:
    """Return each training document's sentence vectors, (sentences, dim); none where no transformer reads them.

    Args:
        experiment: Sets the longest sentence.
        data: Its documents.
        sentences: The sentence encoder.
        run: The training.
        within: Name of the folder for them in the training's folder; one for each way of reading.
    """
    if not isinstance(sentences, PooledTransformer):
        return []
    documents, limit = [item.document for item in data.documents], experiment.training.max_tokens
    return kept_sentences(documents, sentences, run.folder / within, run.say, max_tokens=limit)


def kept_sentences(
    documents: Sequence[Document],
    sentences: PooledTransformer,
    folder: Path,
    say: Callable[[str], None],
    *,
    max_tokens: int,
) -> list[HalfArray]:
    """Return the vectors of each document's sentences, (sentences, dim). Compute and save those missing in the folder.

    Args:
        documents: Always the same for a folder, in the same order.
        sentences: The transformer; always the same for a folder.
        folder: Folder of the saved vectors.
        say: Called with messages about progress.
        max_tokens: Word pieces read of a sentence.

    Raises:
        DataError: A file of the folder has vectors of other documents.
    """
    vectors: list[HalfArray] = []
    for first in range(0, len(documents), _DOCUMENTS):
        part = documents[first : first + _DOCUMENTS]
        path = folder / f"{first:06}.npy"
        if not path.is_file():
            texts = [document.slice(sentence) for document in part for sentence in document.sentences]
            rows = sentences.encode_texts(texts, max_tokens=max_tokens)
            with whole_or_nothing(path) as partial, partial.open("wb") as file:
                np.save(file, rows.astype(np.float16))
            say(f"sentences of {first + len(part):,} of {len(documents):,} documents read")
        stored: HalfArray = np.load(path)
        sizes = [len(document.sentences) for document in part]
        if len(stored) != sum(sizes):
            raise DataError(f"{sum(sizes)} sentences in {path}", str(len(stored)), "delete the file; it is made again")
        vectors += np.split(stored, np.cumsum(sizes)[:-1])
    return vectors


@dataclass(frozen=True, slots=True)
class Example:
    """One document as the training sees it.

    Attributes:
        inputs: (sentences, input_dim).
        targets: For each task (sentences, target_dim); NaN rows are unlabelled.
        passages: (sentences,) position of each sentence's passage in `queries`, -1 for a passage without a full label.
        queries: (labelled passages, target_dim * tasks), unit rows.
        labels: Query of each labelled passage. Passages with equal labels are no negatives of each other.
        texts: The sentences, where they are not encoded yet; `inputs` then holds their flags alone.
    """

    inputs: FloatArray
    targets: dict[Task, FloatArray]
    passages: np.ndarray
    queries: FloatArray
    labels: tuple[str, ...]
    texts: tuple[str, ...] = ()


@dataclass(slots=True)  # not frozen: the training library moves the fields to its device in place
class Batch:
    """Examples without padding: all per-sentence rows are in the order of `inputs.data`.

    Attributes:
        inputs: Packed (sentences, input_dim).
        targets: For each task (sentences, target_dim).
        passages: (sentences,) row in `queries`, -1 for none.
        queries: (passages, dim).
        labels: (passages,) equal numbers answer the same query.
        texts: The sentences in the order of `inputs.data`, where they are not encoded yet.
    """

    inputs: PackedSequence
    targets: dict[Task, Tensor]
    passages: Tensor
    queries: Tensor
    labels: Tensor
    texts: list[str]


class DocumentExamples(Dataset[Example]):
    """Training examples, computed on each access.

    Args:
        experiment: Sets how much of a document is read, from where on, and whether names are substituted.
        data: Labelled training documents, and names to substitute.
        sentences: The sentence encoder; None where it is trained itself, and examples hold texts.
        spaces: The target space of each task.
        max_sentences: Sentences read of a document, where that is not the experiment's.
        read: Each document's sentence vectors, where a transformer has read them.
    """

    def __init__(
        self,
        experiment: CdvExperiment,
        data: TrainingData,
        sentences: SentenceEncoder | None,
        spaces: Mapping[Task, TargetSpace],
        *,
        max_sentences: int | None = None,
        read: Sequence[HalfArray] = (),
    ) -> None:
        choice, documents = experiment.training, data.documents
        self.documents = documents
        self._spaces = spaces
        self._unit_halves = experiment.targets.kind == "average"
        self._max_sentences = max_sentences or choice.max_sentences
        self._random_window = choice.random_window
        self._pool = data.pool
        self._substitute = experiment.labels.substitute
        self._seed = experiment.seed
        self._sentences = sentences
        self._flags = [structural_flags(item.document) for item in documents]
        self._tokens: list[list[list[str]]] = []
        self._read = read
        if isinstance(sentences, AveragedWords):
            self._tokens = [sentence_tokens(item.document, choice.max_tokens) for item in documents]
        self._names = [tokenize(item.title.name) if item.title else [] for item in documents]
        self._repeated = [
            bool(self._tokens) and mentions_words(tokens, name)
            for tokens, name in zip(self._tokens or [[]] * len(documents), self._names, strict=True)
        ]
        self._aspects: dict[tuple[str, ...], FloatArray] = {}

    def __len__(self) -> int:
        return len(self.documents)

    def lengths(self) -> list[int]:
        """Return how many sentences each document contributes."""
        return [min(len(flags), self._max_sentences) for flags in self._flags]

    def input_statistics(self, *, flags: bool) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation, each (input_dim,), of the inputs of all training sentences as they are.

        Args:
            flags: Include the structural flags. Otherwise they get mean 0 and deviation 1, which leaves them unchanged.
        """
        total = np.zeros(0)
        squares, count = total, 0
        for row, marks in enumerate(self._flags):
            inputs = np.concatenate([self._encoded(row, slice(None)), marks], axis=1).astype(np.float64)
            total = inputs.sum(axis=0) + (total if count else 0.0)
            squares = np.square(inputs).sum(axis=0) + (squares if count else 0.0)
            count += len(inputs)
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - np.square(mean), 0.0))
        if not flags:
            mean[-FLAGS:], deviation[-FLAGS:] = 0.0, 1.0
        return torch.from_numpy(mean).float(), torch.from_numpy(deviation).float()

    def _encoded(self, row: int, window: slice) -> FloatArray:
        if isinstance(self._sentences, AveragedWords):
            return self._sentences.encode_tokens(self._tokens[row][window])
        if self._sentences is None:
            return np.zeros((len(self._flags[row][window]), 0), dtype=np.float32)
        return np.asarray(self._read[row][window], dtype=np.float32)

    def __getitem__(self, key: Key) -> Example:
        """Return the example of (epoch, row)."""
        epoch, row = key
        rng = random.Random(f"{self._seed}/{epoch}/{row}")
        item = self.documents[row]
        size = len(item.passage_of)
        spare = size - self._max_sentences
        start = rng.randrange(spare + 1) if self._random_window and spare > 0 else 0
        window = slice(start, start + self._max_sentences)
        title = item.title
        if (
            isinstance(self._sentences, AveragedWords)
            and self._pool is not None
            and self._repeated[row]
            and rng.random() < self._substitute
        ):
            words = self._pool.draw(rng)
            renamed = [replace_words(sentence, self._names[row], words) for sentence in self._tokens[row][window]]
            title = EntityLabel(f"name:{' '.join(words)}", " ".join(words))
            encoded = self._sentences.encode_tokens(renamed)
        else:
            encoded = self._encoded(row, window)
        return self._example(item, title, window, np.concatenate([encoded, self._flags[row][window]], axis=1))

    def _example(self, item: LabelledDocument, title: EntityLabel | None, window: slice, inputs: FloatArray) -> Example:
        passage_of = item.passage_of[window]
        aspects = [self._aspect(item.aspects[passage]) for passage in range(len(item.aspects))]
        targets: dict[Task, FloatArray] = {}
        if "entity" in self._spaces:
            targets["entity"] = self._entities(title, item.mentions[window])
        if "aspect" in self._spaces:
            targets["aspect"] = np.stack([aspects[passage] for passage in passage_of])
        complete = [] if "entity" in self._spaces and title is None else sorted(set(passage_of))
        if "aspect" in self._spaces:
            complete = [passage for passage in complete if not np.isnan(aspects[passage]).any()]
        position = {passage: place for place, passage in enumerate(complete)}
        queries = self._queries(title, [aspects[passage] for passage in complete])
        unread = item.document.sentences[window] if self._sentences is None else ()
        return Example(
            inputs=inputs,
            targets=targets,
            passages=np.array([position.get(passage, -1) for passage in passage_of], dtype=np.int64),
            queries=queries,
            labels=tuple(self._label(title, item.aspects[passage]) for passage in complete),
            texts=tuple(item.document.slice(sentence) for sentence in unread),
        )

    def _aspect(self, headings: tuple[str, ...]) -> FloatArray:
        if "aspect" not in self._spaces:
            return np.zeros(0, dtype=np.float32)
        if headings not in self._aspects:
            vector = aspect_vector(self._spaces["aspect"], headings)
            self._aspects[headings] = vector if vector.any() else np.full_like(vector, np.nan)
        return self._aspects[headings]

    def _entities(self, title: EntityLabel | None, mentions: Sequence[Sequence[EntityLabel]]) -> FloatArray:
        """Return the mean vector of each sentence's entities (Eq. 16); NaN where it has none."""
        space = self._spaces["entity"]
        own = [space.place(title.key, title.name)] if title else []
        own = [vector for vector in own if vector.any()]
        rows = np.full((len(mentions), space.dim), np.nan, dtype=np.float32)
        for row, labels in enumerate(mentions):
            vectors = own + [space.place(label.key, label.name) for label in labels]
            if vectors:
                rows[row] = np.mean(vectors, axis=0)
        return rows

    def _queries(self, title: EntityLabel | None, aspects: Sequence[FloatArray]) -> FloatArray:
        halves = []
        for task, space in self._spaces.items():
            if task == "entity":
                vector = space.place(title.key, title.name) if title else np.zeros(space.dim, np.float32)
                halves.append(np.tile(vector, (len(aspects), 1)).astype(np.float32))
            else:
                halves.append(np.stack(aspects) if aspects else np.zeros((0, space.dim), np.float32))
        return join_halves(halves, unit_halves=self._unit_halves)

    def _label(self, title: EntityLabel | None, headings: tuple[str, ...]) -> str:
        entity = title.key if title and "entity" in self._spaces else ""
        return f"{entity}\t{'|'.join(headings) if 'aspect' in self._spaces else ''}"


def collate(examples: Sequence[Example]) -> Batch:
    """Join examples into one batch without padding."""
    inputs = pack([torch.from_numpy(example.inputs) for example in examples])
    offsets = [0, *accumulate(len(example.queries) for example in examples)]
    passages = [
        torch.from_numpy(np.where(example.passages < 0, -1, example.passages + offset))
        for example, offset in zip(examples, offsets, strict=False)
    ]
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(label, len(numbers)) for example in examples for label in example.labels]
    tasks = examples[0].targets
    texts = [text for example in examples for text in example.texts]
    starts = accumulate((len(example.texts) for example in examples), initial=0)
    places = [torch.arange(len(example.texts)) + start for example, start in zip(examples, starts, strict=False)]
    return Batch(
        inputs=inputs,
        targets={task: pack([torch.from_numpy(e.targets[task]) for e in examples]).data for task in tasks},
        passages=pack(passages).data,
        queries=torch.from_numpy(np.concatenate([example.queries for example in examples])),
        labels=torch.tensor(labels, dtype=torch.long),
        texts=[texts[place] for place in pack(places).data] if texts else [],
    )
