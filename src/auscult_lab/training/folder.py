"""A training's folder: whose it is, whether it is finished, and the record it ends with.

FOLDER/experiment.json     what is trained here
FOLDER/stands_for.json     what its environment variables stood for when it was begun
FOLDER/origins.json        which code on which machine began it, and each other that went on with it, in order
FOLDER/passages.json       of passage rankers: what is learned from
FOLDER/model/              the model
FOLDER/training.json       the record; where it is, the training is finished

Beside these, what a training needs to go on: checkpoints, word vectors. Until there is any, nothing binds the folder to
what was begun in it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
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
    """What a training left.

    Attributes:
        model: Folder of the model.
        record: The content of `training.json`.
    """

    model: Path
    record: dict[str, Any]


class BegunOtherwiseError(ConfigError):
    """A folder holds work on another experiment, or on other data, than is given."""


def claim(experiment: Settings, folder: Path) -> None:
    """Write down what is trained in a folder; where another training left nothing but that, in its place.

    Raises:
        BegunOtherwiseError: It holds work on another experiment, or on one whose environment variables stood for
            something else.
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
        # It failed on a mistake that is mended now.
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
    """Take a folder away in which nothing but its beginning was written: a training that failed leaves none behind."""
    if folder.is_dir() and _is_only_begun(folder):
        shutil.rmtree(folder, ignore_errors=True)


def what_variables_stand_for(experiment: Settings) -> dict[str, str]:
    """Return the encoders, graphs and files that an experiment names by environment variables, as far as these are set.

    Returns:
        By the text in the experiment file, a digest of the files of a folder, or of a file, that it stands for; what
        the variables hold, a name of the hub, where that is neither.
    """
    found: dict[str, str] = {}
    for said in _texts(experiment.model_dump(mode="json")):
        meant = os.path.expandvars(said)
        if "$" in said and "$" not in meant:
            path = Path(meant).expanduser()
            files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
            folder = path if path.is_dir() else path.parent
            found[said] = f"sha256:{digest_of_files(sorted(files), folder)}" if path.exists() else meant
    return dict(sorted(found.items()))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def is_another(experiment: Settings, folder: Path) -> bool:
    """Whether a folder was begun with another experiment, or with other settings of this one."""
    described = folder / _DESCRIBED
    if not described.is_file():
        return False
    try:
        # Settings that are newer than the file are at their defaults in it.
        return type(experiment).model_validate_json(described.read_text(encoding="utf-8")) != experiment
    except ValueError:
        return True


def restart(folder: Path) -> None:
    """Throw away a training folder; only one that holds an experiment.

    Raises:
        ConfigError: The folder is something else.
    """
    if folder.exists() and not (folder / _DESCRIBED).is_file():
        raise ConfigError("a training folder to restart", f"{folder} without experiment.json", "check the path")
    shutil.rmtree(folder, ignore_errors=True)


def begin(experiment: Settings, folder: Path, tell: Callable[[str], None]) -> Outcome | None:
    """Claim a folder for an experiment, and write down which code works on it where, if other than before.

    Returns:
        What an earlier training left there that ran to its end, which `tell` is told; None where there is work to do.

    Raises:
        BegunOtherwiseError: The folder holds work on another experiment.
        DataError: It cannot be written to, or its record is damaged.
    """
    claim(experiment, folder)
    kept = folder / _RECORD
    if not kept.is_file():
        # Add this code and machine to those that have worked on it; of what began an older folder nothing is known.
        origins, own = folder / _ORIGINS, origin()
        before = _read_json(origins) if origins.is_file() else [dict.fromkeys(own, "")]
        if before[-1] != own:
            write_text(origins, json.dumps([*before, own], indent=1))
        return None
    model = folder / "model"
    record = _read_json(kept, "delete it, and the training goes on from where its folder left off")
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
    """Return what a training's record says of where it comes from; see `provenance.stamp`.

    Returns:
        "version", "revision" and "hardware" as it began, empty where a folder of before they were kept does not say;
        "continued_by", a list of the same, where it went on with others; and "date", now.
    """
    first, *others = _read_json(folder / _ORIGINS)
    return {**first, **({"continued_by": others} if others else {}), "date": now()}


def finish(folder: Path, record: dict[str, Any], save: Callable[[Path], object]) -> Outcome:
    """Keep the model, then the record that marks the training as finished; by one process of those that train."""
    model = folder / "model"
    if is_main_process():
        save(model)
        write_json(folder / _RECORD, record)
    return Outcome(model, record)


def remember(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """Write down what is learned from, or check that it is still what a resumed training began with.

    Args:
        content: Counts, and a digest of all that is learned from.
        path: The file that holds it.

    Returns:
        The content.

    Raises:
        BegunOtherwiseError: It was other content.
    """
    if path.is_file():
        if _read_json(path) != content:
            remedy = "put them back, choose another --out, or pass --restart to begin anew"
            raise BegunOtherwiseError("the documents that this training was begun with", "others", remedy)
        return content
    write_text(path, json.dumps(content, indent=1))
    return content


def teller(say: Callable[[str], None] | None) -> Callable[[str], None]:
    """Return `say` in the process that reports, silence in the others and where there is none."""
    return say if say is not None and is_main_process() else lambda _: None


def describe(experiment: DataExperiment, history: History, folder: Path) -> dict[str, Any]:
    """Return what every training's record says: settings, epochs, code and machine.

    What environment variables stand for, the code and the machine are told as they were when the folder was claimed,
    hours before perhaps; of variables nothing is told by a folder of before it was kept.
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
