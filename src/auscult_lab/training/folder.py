"""A training's folder: its experiment, whether it is finished, and its record.

FOLDER/experiment.json     the experiment
FOLDER/stands_for.json     values of its environment variables at the beginning
FOLDER/origins.json        code and machine at the beginning, then each other pair that continued it, in order
FOLDER/passages.json       for passage rankers, a digest of the training data
FOLDER/model/              the model
FOLDER/training.json       the record; it exists once the training is finished

The folder also has the files for resuming: checkpoints, word vectors. Until there is one, another experiment may take
the folder.

FOLDER.lock                while a process trains in the folder
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.files.locking import FileLock
from auscult.files.reading import digest_of_files
from auscult.files.writing import partial_of, write_json, write_text
from auscult.provenance import now, origin
from auscult_lab.training.experiment import DataExperiment, Settings
from auscult_lab.training.loop import History, is_main_process

_DESCRIBED, _STANDS_FOR, _RECORD = "experiment.json", "stands_for.json", "training.json"
_ORIGINS, PASSAGES = "origins.json", "passages.json"
_BEGINNINGS = (_DESCRIBED, _STANDS_FOR, _ORIGINS, PASSAGES)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a training.

    Attributes:
        model: Folder of the model.
        record: The content of `training.json`.
    """

    model: Path
    record: dict[str, Any]


class BegunOtherwiseError(ConfigError):
    """The folder has the training of another experiment, or of other data."""


@contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Keep other processes from training in folders, which need not exist.

    The processes of one training on several devices count as one.

    Raises:
        ConfigError: Another process trains in one of them.
        DataError: The lock's file cannot be written.
    """
    with ExitStack() as locks:
        for folder in folders if is_main_process() else ():
            locks.callback(_lock(folder.absolute()).release)
        yield


def _lock(folder: Path) -> FileLock:
    remedy = "wait until it has finished, end that process, or choose another --out"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(
            folder.with_name(f"{folder.name}.lock"),
            lambda holder: ConfigError(f"no other training in {folder}", f"one by {holder}", remedy),
        )
    except OSError as error:
        raise DataError("a folder to train in", f"{folder}: {error.strerror}", "choose another --out") from error


def claim(experiment: Settings, folder: Path) -> None:
    """Write the experiment of a folder; replace another one that has no results yet.

    Raises:
        BegunOtherwiseError: The folder has another experiment, or one with other values of its environment
            variables.
        DataError: It cannot be written to.
    """
    meant = what_variables_stand_for(experiment)
    remedy = "choose another --out, or throw away what the folder holds: with --restart, or by deleting it"
    fault = None
    if is_another(experiment, folder):
        fault = BegunOtherwiseError(f"the experiment that {folder} was begun with", "other settings", remedy)
    elif (folder / _STANDS_FOR).is_file():
        before = _read_json(folder / _STANDS_FOR)
        if other := [field for field, digest in meant.items() if before.get(field, digest) != digest]:
            expected = f"what '{other[0]}' stood for when {folder} was begun"
            fault = BegunOtherwiseError(expected, "something else", f"set the variable back, {remedy}")
    if fault is not None:
        if not _is_only_begun(folder):
            raise fault
        # It failed on a mistake that has been corrected.
        for file in folder.iterdir():
            file.unlink()
    if not (folder / _DESCRIBED).is_file():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_text(folder / _STANDS_FOR, json.dumps(meant, indent=1))
            write_text(folder / _ORIGINS, json.dumps([origin()], indent=1))
            write_text(folder / _DESCRIBED, experiment.model_dump_json(indent=1))
        except OSError as error:
            raise DataError("a folder to train in", f"{folder}: {error.strerror}", "choose another --out") from error


def _is_only_begun(folder: Path) -> bool:
    beginnings = [folder / name for name in _BEGINNINGS]
    return {*folder.iterdir()} <= {*beginnings, *map(partial_of, beginnings)}


def forget_beginning(folder: Path) -> None:
    """Delete a folder with nothing but its experiment, as a training that failed at once leaves it."""
    if folder.is_dir() and _is_only_begun(folder):
        shutil.rmtree(folder, ignore_errors=True)


def what_variables_stand_for(experiment: Settings) -> dict[str, str]:
    """Return the values of fields with environment variables, as far as these are set.

    Returns:
        By the text in the experiment file: for a folder or file, a digest of its content; otherwise the expanded
        text, such as a hub name.
    """
    meanings: dict[str, str] = {}
    for text in _texts(experiment.model_dump(mode="json")):
        meant = os.path.expandvars(text)
        if "$" in text and "$" not in meant:
            path = Path(meant).expanduser()
            files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
            folder = path if path.is_dir() else path.parent
            meanings[text] = f"sha256:{digest_of_files(sorted(files), folder)}" if path.exists() else meant
    return dict(sorted(meanings.items()))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def is_another(experiment: Settings, folder: Path) -> bool:
    """Check whether a folder has another experiment, or other settings of this one."""
    described = folder / _DESCRIBED
    if not described.is_file():
        return False
    try:
        # Settings that are newer than the file have their defaults.
        return type(experiment).model_validate_json(described.read_text(encoding="utf-8")) != experiment
    except ValueError:
        return True


def restart(folder: Path) -> None:
    """Delete a training folder; only one with an experiment.

    Raises:
        ConfigError: The folder is something else.
    """
    if folder.exists() and not (folder / _DESCRIBED).is_file():
        raise ConfigError("a training folder to restart", f"{folder} without experiment.json", "check the path")
    shutil.rmtree(folder, ignore_errors=True)


def begin(experiment: Settings, folder: Path, tell: Callable[[str], None]) -> Outcome | None:
    """Claim a folder for an experiment, and add this code and machine to its origins, if they are new.

    Returns:
        The result of a finished training in the folder, which is reported to `tell`; None where there is work to do.

    Raises:
        BegunOtherwiseError: The folder has another experiment.
        DataError: It cannot be written to, or its record is damaged.
    """
    claim(experiment, folder)
    record_file = folder / _RECORD
    if not record_file.is_file():
        # The origins of folders from older versions are unknown, and empty here.
        origins, own = folder / _ORIGINS, origin()
        before = _read_json(origins) if origins.is_file() else [dict.fromkeys(own, "")]
        if before[-1] != own:
            write_text(origins, json.dumps([*before, own], indent=1))
        return None
    model = folder / "model"
    record = _read_json(record_file, "delete it, and the training goes on from where its folder left off")
    tell(f"already trained: {model}")
    return Outcome(model, record)


def _read_json(path: Path, remedy: str = "train again with --restart, or choose another --out") -> Any:
    """Read a file of a training's folder.

    Raises:
        DataError: It is damaged.
    """
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError("the record of a training", f"{path} ({error})", remedy) from error


def made_by(folder: Path) -> dict[str, Any]:
    """Return the provenance of a training, for its record; see `provenance.stamp`.

    Returns:
        "version", "revision" and "hardware" at its beginning, empty for folders of older versions; "continued_by", a
        list of the same, where others continued it; and "date", now.
    """
    first, *others = _read_json(folder / _ORIGINS)
    return {**first, **({"continued_by": others} if others else {}), "date": now()}


def finish(folder: Path, record: dict[str, Any], save: Callable[[Path], object]) -> Outcome:
    """Save the model, then the record that marks the training as finished, in the main process only."""
    model = folder / "model"
    if is_main_process():
        save(model)
        write_json(folder / _RECORD, record)
    return Outcome(model, record)


def remember(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """Write a digest of the training data; for a resumed training, check that it has not changed.

    Args:
        content: Counts, and a digest of the training data.
        path: File of the content.

    Returns:
        The content.

    Raises:
        BegunOtherwiseError: The file has other content.
    """
    if path.is_file():
        if _read_json(path) != content:
            remedy = "put them back, choose another --out, or pass --restart to begin anew"
            raise BegunOtherwiseError("the documents that this training was begun with", "others", remedy)
        return content
    write_text(path, json.dumps(content, indent=1))
    return content


def teller(say: Callable[[str], None] | None) -> Callable[[str], None]:
    """Return `say` in the main process; a function that does nothing in others, or where `say` is None."""
    return say if say is not None and is_main_process() else lambda _: None


def describe(experiment: DataExperiment, history: History, folder: Path) -> dict[str, Any]:
    """Return the common fields of every training's record: settings, epochs, code and machine.

    Values of environment variables, code and machine are those of the beginning, which may be hours ago. Folders of
    older versions have no values of variables.
    """
    stands_for = folder / _STANDS_FOR
    return {
        "track": experiment.track,
        "seed": experiment.seed,
        "corpora": [choice.model_dump() for choice in experiment.corpora],
        "epochs": len(history.epochs),
        "best_epoch": history.best,
        "validation": history.epochs[history.best],
        "history": history.epochs,
        "experiment": experiment.model_dump(mode="json"),
        **({"stands_for": _read_json(stands_for)} if stands_for.is_file() else {}),
        **made_by(folder),
    }
