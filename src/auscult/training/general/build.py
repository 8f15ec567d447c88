"""The general encoder for `stages.train`: a teacher reads, a student learns to read as it does, towers learn to place.

FOLDER/read-by-teacher/    what the teacher read of all documents, in pieces
FOLDER/reading/            checkpoints of the student, where there is one
FOLDER/read-by-student/    what the student reads of the documents that the towers learn from
FOLDER/checkpoints/        of the towers

The weights of the evidence are those for models that bring none until `search.fitting` has fitted them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from auscult.corpora.knowledge import open_knowledge_base
from auscult.documents import Document
from auscult.models.backbone import Backbone, open_backbone
from auscult.models.general.persistence import save
from auscult.models.general.readers import WindowReader
from auscult.models.general.towers import unit
from auscult.training.batches import DocumentBatches, row_loader
from auscult.training.data import read, read_and_hold_out
from auscult.training.general.bert_onnx import bert_as_onnx
from auscult.training.general.data import TowerExamples, aspect_of
from auscult.training.general.experiment import GeneralExperiment
from auscult.training.general.objective import TowerNetwork, TowerObjective
from auscult.training.general.reading import ReadDocuments, read_documents, reader_of
from auscult.training.general.student import (
    StudentExamples,
    StudentObjective,
    Text,
    begin_student,
    principal_directions,
)
from auscult.training.labels import title_words
from auscult.training.loop import History
from auscult.training.schedule import Schedule
from auscult.training.stages import Record, Run, trained_parameters

_SHORT_TOKENS = 60
_DIRECTIONS_OF = 50_000


def prepare(experiment: GeneralExperiment, run: Run) -> GeneralBuild:
    """Read documents, and let the teacher read them."""
    torch.manual_seed(experiment.seed)
    _, training, held_out = read_and_hold_out(experiment, run.say)
    further = [document for choice in experiment.word_vectors.texts for document in read(choice, run.say)[1]]
    teacher = open_backbone(experiment.teacher_name())
    return GeneralBuild(experiment, run, training, held_out, further if experiment.student else [], teacher)


@dataclass(slots=True)
class GeneralBuild:
    """A general encoder and what it is trained on; see `stages.Build`.

    Attributes:
        training: Documents that the towers learn from.
        held_out: Documents that choose the epoch.
        further: Documents that a student learns to read on, besides.
        backbone: What reads for the trained model: the teacher, and after its training the student.
    """

    experiment: GeneralExperiment
    run: Run
    training: list[Document]
    held_out: list[Document]
    further: list[Document]
    backbone: Backbone
    kind: str = "general"
    towers: TowerNetwork | None = None
    student: Record = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The experiment's, or its name."""
        return self.experiment.title or self.experiment.name

    @property
    def about(self) -> str:
        """How much is read."""
        return f"{len(self.training):,} documents to learn from, {len(self.held_out):,} to validate on"

    def train(self) -> History:
        """Train the student, where there is to be one, and the towers, and leave both as they were best."""
        place = self.run.folder / "read-by-teacher"
        if self.experiment.student is not None:
            self._train_student(place)
            place = self.run.folder / "read-by-student"
        reader = self._reader()
        both = read_documents([*self.training, *self.held_out], reader, place, self.run.say)
        choice, seed = self.experiment.training, self.experiment.seed
        examples = TowerExamples(both.part(0, len(self.training)), reader, seed=seed)
        held_out = TowerExamples(both.part(len(self.training), len(both.documents)), reader, seed=seed)
        self.run.say(f"{len(examples):,} documents, {examples.headings:,} headings")
        torch.manual_seed(seed)
        self.towers = TowerNetwork(
            reader.dim, self.experiment.hidden, self.experiment.dim, dropout=choice.dropout, noise=choice.noise
        )
        objective = TowerObjective(self.towers, choice, held_out)
        loader = row_loader(examples, per_epoch=len(examples), size=choice.batch_documents, seed=seed)
        history = self.run.fit(objective, loader, Schedule.of(choice, seed=seed, monitor="validation_both"))
        self.towers.eval()
        return history

    def _train_student(self, place: Path) -> None:
        choice, seed, teacher = self.experiment.student, self.experiment.seed, self._reader()
        if choice is None:
            return
        documents = [*self.training, *self.held_out, *self.further]
        read_all = read_documents(documents, teacher, place, self.run.say)
        sample = read_all.means[np.random.default_rng(seed).permutation(len(read_all.means))[:_DIRECTIONS_OF]]
        directions = principal_directions(unit(sample.astype(np.float32)), choice.dim)
        learned, known = len(self.training), len(self.training) + len(self.held_out)
        windows = [
            window
            for part in (read_all.part(0, learned), read_all.part(known, len(documents)))
            for window in _windows(part, teacher, directions)
        ]
        short = _short(self._names(), teacher, directions) + [each for each in windows if len(each.lengths) == 1]
        examples = StudentExamples(windows, short, teacher, batch_short=choice.batch_short, seed=seed)
        validated = _windows(read_all.part(learned, known), teacher, directions)
        held_out = [examples.batch(validated[row : row + 32], []) for row in range(0, len(validated), 32)]
        torch.manual_seed(seed)
        student = begin_student(self.backbone, teacher, directions, choice)
        self.run.say(f"a student of {trained_parameters(student):,} numbers reads {len(windows):,} windows")
        batches = DocumentBatches(examples.lengths(), batch_documents=choice.batch_windows, seed=seed)
        loader: DataLoader[Any] = DataLoader(examples, batch_sampler=batches, collate_fn=examples.collate)  # type: ignore[arg-type]
        objective = StudentObjective(student, choice, held_out)
        schedule = Schedule.of(choice, seed=seed, monitor="validation_text_cosine")
        history = self.run.fit(objective, loader, schedule, within="reading")
        self.backbone = student.eval()
        self.student = {"student": {"best_epoch": history.best, "history": history.epochs, "windows": len(windows)}}

    def told(self, history: History) -> Record:
        """Sizes, and how the student's training went."""
        return {
            "documents": len(self.training),
            "held_out": len(self.held_out),
            "parameters": trained_parameters(self.backbone, *([self.towers] if self.towers else [])),
            "seconds": history.seconds,
            **self.student,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the model's folder."""
        if self.towers is None:
            raise RuntimeError("nothing has been trained")
        choice = self.experiment.teacher
        own = self.experiment.student is None
        reader = self._reader()
        save(
            folder,
            self.towers.arrays(),
            name=self.title,
            start_share=self.experiment.start_share,
            tokenizer=self.backbone.tokenizer.backend_tokenizer.to_str().encode(),
            transformer=self._as_onnx(),
            reader={
                "dim": reader.dim,
                "asked": choice.asked if own else "",
                "told": choice.told if own else "",
                "window": self._window,
            },
            training=record,
        )

    @property
    def _window(self) -> int:
        return min(self.experiment.teacher.window, self.backbone.limit)

    def _as_onnx(self) -> bytes:
        model = self.backbone.model
        weights = {name: array.detach().float().cpu().numpy() for name, array in model.state_dict().items()}
        return bert_as_onnx(weights, model.config.to_dict(), self._window)

    def _reader(self) -> WindowReader:
        """What reads now: the teacher with what stands before its texts, the student without."""
        return reader_of(self.backbone, self.experiment.teacher, plain=bool(self.student))

    def _names(self) -> list[str]:
        """Short texts: titles and headings, names and definitions of the knowledge base."""
        documents = [*self.training, *self.further]
        found = [title_words(document.title) for document in documents]
        found += [
            aspect_of(passage.heading or passage.aspect, document.title)
            for document in documents
            for passage in document.passages
        ]
        if self.experiment.knowledge is not None:
            for concept in open_knowledge_base(self.experiment.knowledge):
                found += [*concept.names, concept.definition]
        return [name for name in dict.fromkeys(found) if name]


def _windows(read_by: ReadDocuments, reader: WindowReader, directions: np.ndarray) -> list[Text]:
    texts = [
        [document.text[sentence.start : sentence.end] for sentence in passage.sentences]
        for document in read_by.documents
        for passage in document.passages
    ]
    tokens, windows = reader.cut(texts)
    places = unit(read_by.means.astype(np.float32) @ directions).astype(np.float16)
    return [
        Text(
            np.array([token for number in window for token in tokens[number]], np.int32),
            np.array([len(tokens[number]) for number in window], np.int64),
            places[window],
        )
        for window in windows
        if any(tokens[number] for number in window)
    ]


def _short(names: Sequence[str], reader: WindowReader, directions: np.ndarray) -> list[Text]:
    tokens, windows = reader.cut([[name] for name in names])
    places = unit(reader.ask(names) @ directions).astype(np.float16)
    return [
        Text(np.array(tokens[row], np.int32), np.array([len(tokens[row])], np.int64), places[row : row + 1])
        for (row,) in windows
        if 0 < len(tokens[row]) <= _SHORT_TOKENS
    ]
