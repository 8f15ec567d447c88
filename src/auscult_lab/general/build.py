"""The general encoder for `stages.train`: a student learns from teachers, and towers learn entities and aspects.

FOLDER/read-by-teacher/    the first teacher's vectors of all documents, in pieces (the second: read-by-teacher-2/)
FOLDER/short-by-teacher/   the teachers' vectors of short texts, where there is a student
FOLDER/reading/            checkpoints of the student, where there is one
FOLDER/read-by-student/    the student's vectors of the documents that the towers learn from
FOLDER/checkpoints/        checkpoints of the towers

Until `fitting.fitting` has fitted the weights of the evidence, the defaults are used.

A fast reader skips function words and punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader

from auscult.concepts.names import FUNCTION_WORDS as WORDS
from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.general.data import TowerExamples, asking, short_texts
from auscult_lab.general.experiment import GeneralExperiment, Teacher, TowerTraining
from auscult_lab.general.objective import TowerNetwork, TowerObjective
from auscult_lab.general.reading import ReadDocuments, read_documents, read_texts, reader_of
from auscult_lab.general.saving import save
from auscult_lab.general.student import Places, StudentExamples, StudentObjective, Text, begin_student
from auscult_lab.modules.backbone import Backbone, open_backbone
from auscult_lab.training.batches import DocumentBatches, row_loader
from auscult_lab.training.data import read, read_and_hold_out
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import DocumentsBuild, Record, Run, trained_parameters

_MARKS = ". , ; : ! ? ( ) [ ] { } / \" ' ` - – — … • * # | “ ” ‘ ’"
FUNCTION_WORDS: Final = (*sorted(WORDS), *_MARKS.split())
_SHORT_TOKENS = 60
_DIRECTIONS_OF = 50_000


def prepare(experiment: GeneralExperiment, run: Run) -> GeneralBuild:
    """Read documents, and open the first teacher."""
    torch.manual_seed(experiment.seed)
    _, training, held_out = read_and_hold_out(experiment, run.say)
    further = [document for choice in experiment.word_vectors.texts for document in read(choice, run.say)[1]]
    teacher = open_backbone(experiment.begins_with()[0])
    return GeneralBuild(experiment, run, training, held_out, further if experiment.student else [], teacher)


@dataclass
class GeneralBuild(DocumentsBuild[GeneralExperiment]):
    """A general encoder and its training data; see `stages.Build`.

    Attributes:
        further: Further documents for the training of a student.
        centre: Mean of the reader's sentence vectors.
        backbone: Transformer of the trained model: the first teacher, or the student once it is trained.
    """

    kind = "general"
    further: list[Document]
    backbone: Backbone
    towers: TowerNetwork | None = None
    centre: FloatArray | None = None
    student: Record = field(default_factory=dict)

    def train(self) -> History:
        """Train the student, if any, and the towers, and keep the weights of the best epochs."""
        place = self.run.folder / "read-by-teacher"
        if self.experiment.student is not None:
            self._train_student(place)
            place = self.run.folder / "read-by-student"
        reader = self.reader()
        both = read_documents([*self.training, *self.held_out], reader, place, self.run.say)
        choice, seed = self.experiment.training, self.experiment.seed
        learned = both.part(0, len(self.training))
        self.centre = unit(learned.means.astype(np.float32)).mean(axis=0)
        examples = TowerExamples(learned, reader, seed=seed)
        held_out = TowerExamples(both.part(len(self.training), len(both.documents)), reader, seed=seed)
        torch.manual_seed(seed)
        self.towers = TowerNetwork(
            reader.dim, self.experiment.hidden, self.experiment.dim, dropout=choice.dropout, noise=choice.noise
        )
        return train_towers(TowerObjective(self.towers, choice, held_out), examples, choice, self.run, seed)

    def _train_student(self, place: Path) -> None:
        choice, seed = self.experiment.student, self.experiment.seed
        if choice is None:
            return
        documents = [*self.training, *self.held_out, *self.further]
        texts = short_texts(documents[: len(self.training)] + self.further, self.experiment.knowledge)
        read_all, read_short = self._read_by_teachers(documents, texts, place)
        reader = self.reader()
        sample = np.random.default_rng(seed).permutation(len(read_all[0].means))[:_DIRECTIONS_OF]
        places = Places.of([reading.means[sample] for reading in read_all], reader.dim)
        shorts = _cut_short_texts(texts, places(read_short), reader)
        learned, known = len(self.training), len(self.training) + len(self.held_out)
        placed = places([reading.means for reading in read_all])
        rows = {texts[row]: number for number, (row, _) in enumerate(shorts)}
        windows = _cut_windows(read_all[0], placed, reader, rows)
        learned_from = [window for document, window in windows if not learned <= document < known]
        validated = [window for document, window in windows if learned <= document < known]
        short = [text for _, text in shorts] + [reading for reading in learned_from if len(reading.lengths) == 1]
        examples = StudentExamples(learned_from, short, reader, batch_short=choice.batch_short, seed=seed)
        held_out = [examples.batch(validated[row : row + 32], []) for row in range(0, len(validated), 32)]
        torch.manual_seed(seed)
        student = begin_student(self.backbone, choice.layers)
        self.run.say(f"a student of {trained_parameters(student):,} numbers reads {len(learned_from):,} windows")
        batches = DocumentBatches(examples.lengths(), batch_documents=choice.batch_windows, seed=seed)
        loader: DataLoader[Any] = DataLoader(examples, batch_sampler=batches, collate_fn=examples.collate)  # type: ignore[arg-type]
        objective = StudentObjective(student, choice, held_out)
        schedule = Schedule.of(choice, seed=seed, monitor="validation_text_cosine")
        history = self.run.fit(objective, loader, schedule, within="reading")
        self.backbone = student.eval()
        trained = {"best_epoch": history.best, "history": history.epochs, "windows": len(learned_from)}
        self.student = {"student": trained}

    def _read_by_teachers(
        self, documents: Sequence[Document], texts: Sequence[str], place: Path
    ) -> tuple[list[ReadDocuments], list[FloatArray]]:
        """Return each teacher's vectors of documents and of short texts."""
        read_all, read_short = [], []
        names = self.experiment.begins_with()
        for number, (name, choice) in enumerate(zip(names, self.experiment.teachers, strict=True)):
            end = f"-{number + 1}" if number else ""
            opened = open_backbone(name) if number else self.backbone
            teacher = reader_of(opened, _reader_options(choice, opened))
            self.run.say(f"{name} reads")
            read_all.append(read_documents(documents, teacher, place.with_name(place.name + end), self.run.say))
            read_short.append(read_texts(texts, teacher, place.with_name(f"short-by-teacher{end}"), self.run.say))
        return read_all, read_short

    def to_record(self, history: History) -> Record:
        """Return sizes, and the training of the student."""
        return {
            **self.sizes(self.backbone, *([self.towers] if self.towers else [])),
            "seconds": history.seconds,
            **self.student,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the model's folder."""
        if self.towers is None or self.centre is None:
            raise RuntimeError("nothing has been trained")
        model = self.backbone.model
        weights = {name: array.detach().float().cpu().numpy() for name, array in model.state_dict().items()}
        save(
            folder,
            self.towers.arrays(),
            self.centre,
            name=self.title,
            start_share=self.experiment.start_share,
            tokenizer=self.backbone.tokenizer.backend_tokenizer.to_str().encode(),
            transformer=bert_as_onnx(weights, model.config.to_dict(), int(self._reading["window"])),
            reader={"dim": self.backbone.dim, **self._reading},
            training=record,
        )

    def reader(self) -> WindowReader:
        """Return the reader of the trained model."""
        return reader_of(self.backbone, self._reading)

    @property
    def _reading(self) -> dict[str, Any]:
        """Options of the trained model's `WindowReader`."""
        student = self.experiment.student
        if student is None:
            return _reader_options(self.experiment.teachers[0], self.backbone)
        skipped = list(FUNCTION_WORDS) if student.skip_function_words else []
        return {"window": min(student.window, self.backbone.limit), "skipped": skipped}


def _reader_options(choice: Teacher, backbone: Backbone) -> dict[str, Any]:
    return {"asked": choice.asked, "told": choice.told, "window": min(choice.window, backbone.limit)}


def train_towers(
    objective: TowerObjective, examples: TowerExamples, choice: TowerTraining, run: Run, seed: int
) -> History:
    """Train towers in place."""
    run.say(f"{len(examples):,} documents, {examples.headings:,} headings")
    loader = row_loader(examples, per_epoch=len(examples), size=choice.batch_documents, seed=seed)
    history = run.fit(objective, loader, Schedule.of(choice, seed=seed, monitor="validation_both"))
    objective.network.eval()
    return history


def _cut_windows(
    read_by: ReadDocuments, placed: npt.NDArray[np.float16], reader: WindowReader, rows: Mapping[str, int]
) -> list[tuple[int, Text]]:
    """Return all windows, each with the row of its document.

    Args:
        read_by: The documents' vectors by any teacher.
        placed: The target vectors of their sentences.
        reader: Cuts them into windows.
        rows: Row of each short text.
    """
    texts, near = [], []
    for number, document in enumerate(read_by.documents):
        for passage in document.passages:
            texts.append([document.text[sentence.start : sentence.end] for sentence in passage.sentences])
            asked = tuple(rows[text] for text in asking(document, passage) if text in rows)
            near += [(number, asked)] * len(passage.sentences)
    tokens, windows = reader.cut(texts)
    worded = ([number for number in window if tokens[number]] for window in windows)
    return [
        (
            near[window[0]][0],
            Text(
                np.array([token for number in window for token in tokens[number]], np.int32),
                np.array([len(tokens[number]) for number in window], np.int64),
                placed[window],
                near[window[0]][1],
            ),
        )
        for window in worded
        if window
    ]


def _cut_short_texts(
    texts: Sequence[str], placed: npt.NDArray[np.float16], reader: WindowReader
) -> list[tuple[int, Text]]:
    """Return short texts with words, none of them long, with their rows."""
    tokens, _ = reader.cut([[text] for text in texts])
    return [
        (row, Text(np.array(tokens[row], np.int32), np.array([len(tokens[row])], np.int64), placed[row : row + 1]))
        for row in range(len(texts))
        if 0 < len(tokens[row]) <= _SHORT_TOKENS
    ]
