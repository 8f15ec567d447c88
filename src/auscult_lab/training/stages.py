"""The training of a model: the stages common to all families of models.

    claim the folder → prepare (read corpora, make the network) → train → record → keep the model, then the record

Each family implements a `Build`. Costly results are saved in the training's folder (`training.folder`), and each stage
first looks for those of an earlier process, so that an interrupted training resumes.

The record includes the training data of the encoder or word vectors that a model begins with. Otherwise, a model would
count as new to documents on which its encoder was trained. Encoders that were trained elsewhere may have read anything;
the record names them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from torch import nn
from torch.utils.data import DataLoader

from auscult.documents import Document
from auscult.encoders import model_folder, training_record
from auscult_lab.modules.backbone import find_file
from auscult_lab.modules.encoder_identity import digest_of_weights, name_of_weights
from auscult_lab.training.experiment import DataExperiment, Settings
from auscult_lab.training.folder import Outcome, begin, describe, finish, forget_beginning, teller
from auscult_lab.training.learned_texts import texts_of, write_learned
from auscult_lab.training.loop import History, Objective, fit
from auscult_lab.training.schedule import Schedule

_FIELD = "backbone_corpora"
"""Of a training's record."""


def corpora_read_before(*begun_with: str) -> dict[str, Any]:
    """Return the corpora that encoders have learned from, including those of the encoders that they began with.

    Args:
        begun_with: Hub names, folders, or names of shipped models.

    Returns:
        The field of a training's record with these choices of corpora; empty for encoders that are not part of a model
        trained here, whose data is unknown.

    Raises:
        ModelError: The model of an encoder cannot be read.
    """
    read: list[Any] = []
    for name in begun_with:
        if (model := _model_of(model_folder(name))) is None:
            continue
        record = training_record(model)
        experiment = _fields(record, "experiment")
        of_words = (_fields(experiment, "word_vectors"), _fields(_fields(experiment, "sentences"), "vectors"))
        texts = [choice for each in of_words for choice in _listed(each, "texts")]
        for choice in (*_listed(record, "corpora"), *_listed(record, _FIELD), *texts):
            if choice not in read:
                read.append(choice)
    return {_FIELD: read} if read else {}


def encoder_begun_with(*begun_with: str) -> dict[str, Any]:
    """Return the encoder that a training begins with: the original one, where models trained here passed it on.

    Args:
        begun_with: See `corpora_read_before`; word vectors are no encoder.

    Returns:
        The field of a training's record: "name"; "sha256" of its weights; "through", titles of the models trained here
        with it before, first to last; and "training_known", whether all of its training data is recorded, as for an
        encoder that began here with random weights. Empty where there is no encoder.

    Raises:
        ModelError: The model of an encoder cannot be read.
    """
    for name in begun_with:
        folder: Path | None = model_folder(name)
        if folder is not None and not folder.is_dir():
            files = (find_file(name, file) for file in ("model.safetensors", "pytorch_model.bin"))
            # None for a hub name without files on this machine.
            folder = next((file.parent for file in files if file is not None), None)
        if folder is not None and (digest := digest_of_weights(folder)):
            return {"encoder": _first_of_chain(name, folder, digest)}
    return {}


def _first_of_chain(name: str, folder: Path, digest: str) -> dict[str, Any]:
    # Folders in the library's cache of hub models have meaningless names.
    called = name_of_weights(digest, folder.resolve().name if Path(name).is_dir() else name)
    model = _model_of(folder)
    if model is None:
        return {"name": called, "sha256": digest, "through": [], "training_known": False}
    record = training_record(model)
    title, before = str(record.get("model", called)), _fields(record, "encoder")
    if before:
        return {**before, "through": [*_listed(before, "through"), title]}
    # Records of older versions do not have this field.
    from_nothing = record.get("kind") == "mlm" and bool(_fields(_fields(record, "experiment"), "encoder"))
    return {"name": title, "sha256": digest, "through": [], "training_known": from_nothing}


def _model_of(inside: Path) -> Path | None:
    """Return the model, trained here, that a folder is or is part of."""
    folders = (inside, inside.parent) if inside.is_dir() else ()
    return next((folder for folder in folders if (folder / "model.json").is_file()), None)


def _listed(record: Mapping[str, object], field: str) -> list[Any]:
    found = record.get(field)
    return found if isinstance(found, list) else []


def _fields(record: Mapping[str, object], field: str) -> Mapping[str, object]:
    found = record.get(field)
    return found if isinstance(found, Mapping) else {}


Say = Callable[[str], None]
Record = dict[str, Any]
AnyExperiment = TypeVar("AnyExperiment", bound=DataExperiment)


@dataclass(frozen=True, slots=True)
class Run:
    """A training in progress.

    Attributes:
        folder: Folder of the training.
        say: Called with a short message at each stage.
        progress: Show progress bars.
        began: Monotonic time of the beginning of this process.
    """

    folder: Path
    say: Say
    progress: bool
    began: float = field(default_factory=time.monotonic)

    def fit(
        self, objective: Objective, loader: DataLoader[Any], schedule: Schedule, *, within: str = "checkpoints"
    ) -> History:
        """Train a network in place; see `loop.fit`. `within` is the folder of checkpoints in the training's folder."""
        place = self.folder / within
        return fit(objective, loader, schedule, folder=place, say=self.say, progress=self.progress)


@dataclass
class Build(ABC, Generic[AnyExperiment]):
    """A model with its training data. A family's `prepare` makes one.

    Attributes:
        kind: Kind of the record.
        experiment: The experiment.
        run: The training in progress.
    """

    kind: ClassVar[str]
    experiment: AnyExperiment
    run: Run

    @property
    def untitled(self) -> str:
        """Title of a model whose experiment has none."""
        return self.experiment.name

    @property
    def title(self) -> str:
        """Name of the model in tables: the experiment's title, or `untitled`."""
        return self.experiment.title or self.untitled

    @property
    def learned_from(self) -> Iterable[str]:
        """Passages whose hashes are saved in the model's folder; none for families without texts."""
        return ()

    @property
    @abstractmethod
    def about(self) -> str:
        """Sizes of the training data, reported before the training begins."""

    @abstractmethod
    def train(self) -> History:
        """Train in place, and keep the weights of the best epoch."""

    @abstractmethod
    def to_record(self, history: History) -> Record:
        """Return the fields that this family adds to the record of a training."""

    @abstractmethod
    def save(self, folder: Path, record: Record) -> object:
        """Write the model's folder, with the record of its training."""


@dataclass
class DocumentsBuild(Build[AnyExperiment]):
    """A model that learns from whole documents.

    Attributes:
        training: Documents that it learns from.
        held_out: Documents that choose the epoch.
    """

    training: list[Document]
    held_out: list[Document]

    @property
    def about(self) -> str:
        """Numbers of documents."""
        return f"{len(self.training):,} documents to learn from, {len(self.held_out):,} to validate on"

    @property
    def learned_from(self) -> Iterable[str]:
        """Texts of the training passages and of those that chose the epoch."""
        return texts_of((*self.training, *self.held_out))

    def sizes(self, *trained: nn.Module) -> Record:
        """Return the numbers of documents and of learned parameters."""
        return {
            "documents": len(self.training),
            "held_out": len(self.held_out),
            "parameters": trained_parameters(*trained),
        }


def train(
    experiment: DataExperiment,
    folder: Path,
    prepare: Callable[[Any, Run], Build[Any]],
    *,
    say: Say | None = None,
    progress: bool = False,
) -> Outcome:
    """Train a model, or resume its training in the same folder.

    Args:
        experiment: The experiment.
        folder: Folder of the training.
        prepare: Function of its family that gathers the training data and makes the model.
        say: Called with a short message at each stage.
        progress: Show progress bars.

    Raises:
        BegunOtherwiseError: The folder has another experiment, or other documents.
        ConfigError: The experiment's data is too small.
        CorpusMissingError: A corpus of the experiment is not on this machine.
        ModelError: A model that it begins with cannot be opened.
    """

    def work(run: Run) -> tuple[Record, Callable[[Path], object]]:
        # First, so that a wrong name fails before minutes of reading.
        begun_with = experiment.begins_with()
        read_before = corpora_read_before(*begun_with) | encoder_begun_with(*begun_with)
        build = prepare(experiment, run)
        prepared = time.monotonic() - run.began
        run.say(build.about)
        history = build.train()
        record = {
            "kind": build.kind,
            "model": build.title,
            **describe(experiment, history, run.folder),
            **build.to_record(history),
            "preparation_seconds": round(prepared, 1),
            **read_before,
        }
        before = [model for name in begun_with if (model := _model_of(model_folder(name))) is not None]

        def save(folder: Path) -> None:
            build.save(folder, record)
            write_learned(folder, build.learned_from, before)

        return record, save

    return carry_out(experiment, folder, work, say=say, progress=progress)


def carry_out(
    experiment: Settings,
    folder: Path,
    work: Callable[[Run], tuple[Record, Callable[[Path], object]]],
    *,
    say: Say | None,
    progress: bool,
) -> Outcome:
    """Do work in a folder claimed for it and save the result, unless it is finished already.

    Args:
        experiment: The experiment that claims the folder.
        folder: Folder of the training.
        work: Returns the record, and a function that writes the model's folder.
        say: See `train`.
        progress: See `train`.
    """
    run = Run(folder, teller(say), progress)
    if (kept := begin(experiment, folder, run.say)) is not None:
        return kept
    try:
        record, save = work(run)
    except BaseException:
        forget_beginning(folder)
        raise
    return finish(folder, record, save)


def trained_parameters(*modules: nn.Module) -> int:
    """Return the number of trained parameters."""
    return sum(weights.numel() for module in modules for weights in module.parameters() if weights.requires_grad)
