"""A CDV model on disk: `model.json` says what it is, `weights.safetensors` holds every array.

    model.json            kind, format, sizes, sentence encoder, spaces, how it was trained
    weights.safetensors   network.*, words.*, frequencies, entity.*, aspect.*
    sentences/            the transformer that reads sentences, as Hugging Face saves it, where the model has its own

A transformer that was not trained with the model is not copied; `model.json` has its hub name or folder. Weights may
be stored in half precision (`half=True`, for shipped models); computation is in single precision. Nothing is
pickled. The fingerprint is a SHA-256 of all files without the training record.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from auscult.encoders.folder import REMEDY, SETTINGS, as_tuples, digest_of_folders, fingerprint_of, opening, settings_of
from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.files.reading import digest_of_file
from auscult.files.writing import renewed_folder, whole_or_nothing, write_json
from auscult_lab.cdv.encoder import CdvEncoder, PooledTransformer
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.cdv.spaces import AverageSpace, BloomConfig, BloomEncoder, BloomSpace, TargetSpace
from auscult_lab.modules import Task
from auscult_lab.modules.arrays import read_arrays, read_notes, with_prefix, write_arrays
from auscult_lab.modules.backbone import fastest_device, open_backbone
from auscult_lab.modules.word_vectors import AveragedWords, SentenceEncoder, WordVectors, from_state

FORMAT = 1
KIND = "cdv"
_WEIGHTS, _SENTENCES = "weights.safetensors", "sentences"
Tensors = dict[str, torch.Tensor]


def save(encoder: CdvEncoder, folder: Path, *, training: Mapping[str, object] | None = None, half: bool = False) -> str:
    """Write a model folder, or replace the model in it.

    Args:
        encoder: The model.
        folder: Folder of the model.
        training: Training record: data, seed, version, hardware, date.
        half: Store floating-point arrays in half precision; not those of a transformer.

    Returns:
        The fingerprint.

    Raises:
        DataError: The place cannot be written to.
    """
    tensors: Tensors = {f"network.{key}": value for key, value in encoder.network.state_dict().items()}
    words = _Words()
    settings: dict[str, object] = {
        "kind": KIND,
        "format": FORMAT,
        "name": encoder.name,
        "entity_weight": encoder.entity_weight,
        "document_share": encoder.document_share,
        "network": encoder.network.config.as_dict(),
        "spaces": {task: _pack_space(task, space, words, tensors) for task, space in encoder.spaces.items()},
    }
    with renewed_folder(folder, last=SETTINGS, without=[_SENTENCES]) as fresh:
        settings["sentences"] = _pack_sentences(encoder.sentences, words, tensors, fresh)
        settings["words"] = words.pack(tensors)
        if half:
            # Only single precision is halved: word frequencies are doubles, too small for half precision.
            tensors = {key: value.half() if value.dtype == torch.float32 else value for key, value in tensors.items()}
        write_arrays(fresh / _WEIGHTS, tensors)
        digest = digest_of_file(fresh / _WEIGHTS)
        write_json(fresh / SETTINGS, {**settings, "weights_sha256": digest, "training": dict(training or {})})
    return fingerprint(folder)


def load(folder: Path) -> CdvEncoder:
    """Read a model folder.

    Raises:
        ModelError: When a file is missing or damaged, or the format is newer than this version reads.
    """
    settings = settings_of(folder, KIND, FORMAT)
    identity = fingerprint(folder)
    with opening("a whole CDV model folder", folder):
        stored = read_arrays(folder / _WEIGHTS)
        tensors = {key: value.float() if value.dtype == torch.float16 else value for key, value in stored.items()}
        words = [
            from_state({key: rows.numpy() for key, rows in with_prefix(f"words.{number}.", tensors).items()}, described)
            for number, described in enumerate(settings["words"])
        ]
        network = CdvNetwork(CdvConfig(**as_tuples(settings["network"])))
        network.load_state_dict(with_prefix("network.", tensors))
        spaces: dict[Task, TargetSpace] = {
            task: _restore_space(task, described, words, tensors) for task, described in settings["spaces"].items()
        }
        sentences = _restore_sentences(settings["sentences"], words, tensors, folder / _SENTENCES)
    return CdvEncoder(
        network,
        sentences,
        spaces,
        name=settings["name"],
        entity_weight=float(settings["entity_weight"]),
        document_share=float(settings["document_share"]),
        fingerprint=identity,
    )


def save_space(space: TargetSpace, path: Path) -> None:
    """Write one target space without its word vectors, as a stage of a training that may be interrupted."""
    tensors: Tensors = {}
    described = _pack_space("space", space, _Words(), tensors)
    with whole_or_nothing(path) as partial:
        write_arrays(partial, tensors, {"space": json.dumps(described)})


def load_space(path: Path, vectors: WordVectors) -> TargetSpace:
    """Read what `save_space` wrote, onto the word vectors it was made with."""
    described = parse_json(read_notes(path)["space"])
    return _restore_space("space", described, [vectors], read_arrays(path))


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of `model.json` without the training record; it holds the digest of the weights.

    Raises:
        ModelError: The weights are absent or are not those that `model.json` was written with.
    """
    settings = settings_of(folder, KIND, FORMAT)
    expected = f"a whole CDV model folder, with the {_WEIGHTS} that {SETTINGS} names"
    with opening(expected, folder):
        found = digest_of_file(folder / _WEIGHTS)
    if found != settings.get("weights_sha256"):
        raise ModelError(expected, f"other or damaged weights in {folder}", REMEDY)
    return fingerprint_of(settings)


class _Words:
    """Word vectors of a model; those that several parts share are stored once."""

    def __init__(self) -> None:
        self.sets: list[WordVectors] = []

    def number(self, vectors: WordVectors) -> int:
        for number, known in enumerate(self.sets):
            if known is vectors:
                return number
        self.sets.append(vectors)
        return len(self.sets) - 1

    def pack(self, tensors: Tensors) -> list[object]:
        described: list[object] = []
        for number, vectors in enumerate(self.sets):
            arrays, settings = vectors.state()
            tensors.update({f"words.{number}.{key}": torch.from_numpy(value) for key, value in arrays.items()})
            described.append(dict(settings))
        return described


def _pack_sentences(sentences: SentenceEncoder, words: _Words, tensors: Tensors, fresh: Path) -> dict[str, object]:
    """Describe a sentence encoder; a transformer of the model's own is written into the folder `fresh`."""
    if isinstance(sentences, PooledTransformer):
        described: dict[str, object] = {"kind": sentences.kind, "pooling": sentences.pooling}
        if sentences.name_or_path is not None:
            return described | {"name_or_path": sentences.name_or_path}
        sentences.backbone.save(fresh / _SENTENCES)
        return described | {"files_sha256": digest_of_folders(fresh / _SENTENCES, ".")}
    if not isinstance(sentences, AveragedWords):
        raise ModelError("averaged words or a pooled transformer", type(sentences).__name__, "extend persistence.py")
    packed: dict[str, object] = {"kind": sentences.kind, "words": words.number(sentences.vectors)}
    if sentences.frequencies is not None:
        # As one string: thirty thousand list items would be as many lines.
        packed["frequency_words"] = " ".join(sentences.frequencies)
        shares = np.fromiter(sentences.frequencies.values(), np.float64, count=len(sentences.frequencies))
        tensors["frequencies"] = torch.from_numpy(shares)
    return packed


def _restore_sentences(
    described: Mapping[str, Any], words: Sequence[WordVectors], tensors: Tensors, own: Path
) -> SentenceEncoder:
    """Return the sentence encoder of a model; `own` is where its own transformer is, if it has one."""
    if described["kind"] == PooledTransformer.kind:
        if "files_sha256" not in described:
            return PooledTransformer(described["name_or_path"], pooling=described["pooling"], device=fastest_device())
        if digest_of_folders(own, ".") != described["files_sha256"]:
            expected = f"the transformer that {SETTINGS} was written with"
            raise ModelError(expected, f"another or a damaged one in {own}", REMEDY)
        return PooledTransformer(open_backbone(str(own)).to(fastest_device()), pooling=described["pooling"])
    frequencies = None
    if "frequency_words" in described:
        frequencies = dict(zip(described["frequency_words"].split(), tensors["frequencies"].tolist(), strict=True))
    return AveragedWords(words[described["words"]], frequencies)


def _pack_space(task: str, space: TargetSpace, words: _Words, tensors: Tensors) -> dict[str, object]:
    if isinstance(space, AverageSpace):
        tensors[f"{task}.centre"] = torch.from_numpy(space.centre)
        return {"kind": space.kind, "words": words.number(space.vectors)}
    if not isinstance(space, BloomSpace):
        raise ModelError("an average or a Bloom space", type(space).__name__, "extend persistence.py")
    tensors.update({f"{task}.encoder.{key}": value for key, value in space.encoder.state_dict().items()})
    if space.known:
        tensors[f"{task}.known"] = torch.from_numpy(np.stack(list(space.known.values())))
    return {
        "kind": space.kind,
        "config": dataclasses.asdict(space.encoder.config),
        "known": list(space.known),
        "names": dict(space.names),
        "words": words.number(space.vectors),
    }


def _restore_space(
    task: str, described: Mapping[str, Any], words: Sequence[WordVectors], tensors: Tensors
) -> TargetSpace:
    vectors = words[described["words"]]
    if described["kind"] == AverageSpace.kind:
        return AverageSpace(vectors, tensors[f"{task}.centre"].numpy())
    rows = tensors[f"{task}.known"].numpy() if described["known"] else ()
    known = dict(zip(described["known"], rows, strict=True))
    encoder = BloomEncoder(BloomConfig(**described["config"]))
    encoder.load_state_dict(with_prefix(f"{task}.encoder.", tensors))
    return BloomSpace(encoder, vectors, known, described["names"])
