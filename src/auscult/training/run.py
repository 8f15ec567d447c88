"""Training a model from an experiment file, stage by stage, each kept on disk so that a killed run goes on.

FOLDER/experiment.json     what is trained here; another experiment is refused
FOLDER/words/              word vectors and word frequencies
FOLDER/spaces/             the paper's entity and aspect encoders, where they are the targets
FOLDER/checkpoints/        the last epoch and the best one, as the training library writes them
FOLDER/frozen/             where the transformer is fine-tuned: the model before, a whole one
FOLDER/fine-tuning/        the checkpoints of that second stage
FOLDER/model/              the model, in the open format of `models.cdv.persistence`
FOLDER/training.json       how it went: every epoch's loss and validation, time, hardware, versions
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from auscult.errors import ConfigError, DataError
from auscult.models.cdv.encoder import CdvEncoder
from auscult.models.cdv.network import CdvConfig, CdvNetwork, Task
from auscult.models.cdv.persistence import load_space, save, save_space
from auscult.models.cdv.sentences import FLAGS, AveragedWords, SentenceEncoder, tokenize
from auscult.models.cdv.spaces import AverageSpace, TargetSpace, mean_word_vector
from auscult.models.cdv.transformer import PooledTransformer
from auscult.models.device import fastest_device
from auscult.models.word_vectors import WordVectors, from_state
from auscult.training.batches import DocumentBatches
from auscult.training.bloom import aspect_descriptions, entity_descriptions, entity_names, train_bloom_space
from auscult.training.data import TrainingData, gather
from auscult.training.encoder_history import corpora_read_before
from auscult.training.examples import DocumentExamples, collate
from auscult.training.experiment import DataExperiment, Experiment, backbone_name
from auscult.training.fine_tuning import fine_tune, kept_stage
from auscult.training.folder import Outcome, begin, describe, finish, teller
from auscult.training.loop import History, Schedule, fit
from auscult.training.objective import CdvObjective
from auscult.training.validation import calibrate, common_headings
from auscult.training.word_vectors import (
    document_lines,
    given_word_vectors,
    knowledge_lines,
    train_word_vectors,
    word_shares,
    write_lines,
)

_MONITOR = "validation_RR"
# Words beyond these count as rare as the rarest of them.
_FREQUENT_WORDS = 30_000


def train(
    experiment: Experiment,
    folder: Path,
    *,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Outcome:
    """Train a model, or go on with a training that was interrupted in the same folder.

    Args:
        experiment: What to train.
        folder: Where everything is kept.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder holds another experiment.
        CorpusMissingError: A corpus of the experiment is not on this machine.
    """
    say = teller(say)
    if (kept := begin(experiment, folder, say)) is not None:
        return kept
    began = time.monotonic()
    # First, because a wrong name should fail before minutes of reading.
    read_before = corpora_read_before(*_begun_with(experiment))
    given = given_word_vectors(experiment.word_vectors)
    data = gather(experiment, say)
    words, shares = word_vectors(experiment, data, given, folder / "words", say)
    sentences = _sentence_encoder(experiment, words, shares)
    spaces = _spaces(experiment, data, words, folder, say, progress)
    prepared = time.monotonic() - began
    torch.manual_seed(experiment.seed)
    network = CdvNetwork(_network_config(experiment, sentences, words))

    def first_stage() -> tuple[CdvEncoder, History]:
        def as_encoder(trained: CdvNetwork) -> CdvEncoder:
            return CdvEncoder(trained, sentences, spaces, name=experiment.title or experiment.name)

        history = _optimise(experiment, data, network, sentences, spaces, as_encoder, folder, say, progress)
        return as_encoder(network), history

    say(f"training on {len(data.documents):,} documents, validating on {len(data.held_out):,}")
    record = read_before
    if experiment.sentences.fine_tune is None:
        encoder, history = first_stage()
    else:
        frozen, before = kept_stage(folder / "frozen", first_stage)
        say("fine-tuning the transformer")
        encoder, history = fine_tune(experiment, data, frozen, folder / "fine-tuning", say=say, progress=progress)
        record["frozen"] = {"best_epoch": before.best, "history": before.epochs}
    record |= _record(experiment, data, encoder, history, prepared, time.monotonic() - began, folder)
    if experiment.validation.calibrate:
        asked_for = common_headings(data.documents, experiment.validation.heading_documents)
        quality = calibrate(encoder, data.held_out, asked_for)
        record |= {
            "entity_weight": encoder.entity_weight,
            "document_share": encoder.document_share,
            "validation_calibrated": quality,
        }
        say(f"entity weight {encoder.entity_weight}, document share {encoder.document_share}: R@1 {quality['R@1']:.4f}")
    return finish(folder, record, lambda model: save(encoder, model, training=record))


def word_vectors(
    experiment: DataExperiment,
    data: TrainingData,
    given: WordVectors | None,
    folder: Path,
    say: Callable[[str], None],
) -> tuple[WordVectors, dict[str, float]]:
    """Word vectors, as given or trained and then kept in a folder, and how frequent the training text's words are."""
    folder.mkdir(parents=True, exist_ok=True)
    text, done = folder / "text.txt", folder / "vectors.npz"
    if not text.is_file():
        partial = text.with_suffix(".part")
        written = write_lines(_lines(experiment, data), partial)
        say(f"{written:,} words of training text")
        partial.replace(text)
    shares = dict(islice(word_shares(text, min_count=experiment.word_vectors.min_count).items(), _FREQUENT_WORDS))
    if given is not None:
        return given, shares
    if not done.is_file():
        say("training word vectors")
        arrays, settings = train_word_vectors(text, experiment.word_vectors).state()
        partial = folder / "part.npz"
        np.savez(partial, settings=np.array(json.dumps(settings)), table=arrays["table"])
        partial.replace(done)
    with np.load(done, allow_pickle=False) as kept:
        return from_state({"table": kept["table"]}, json.loads(str(kept["settings"]))), shares


def _lines(experiment: DataExperiment, data: TrainingData) -> Iterator[list[str]]:
    yield from document_lines(data.texts)
    if experiment.word_vectors.glossary and data.knowledge is not None:
        yield from knowledge_lines(data.knowledge)


def _begun_with(experiment: Experiment) -> list[str]:
    """The models that an experiment takes its transformer or word vectors from."""
    choice = experiment.sentences
    transformer = backbone_name(choice.transformer, "transformer") if choice.kind == "transformer" else None
    vectors = (experiment.word_vectors, choice.vectors)
    return [name for name in (transformer, *(each.model for each in vectors if each)) if name is not None]


def _sentence_encoder(experiment: Experiment, words: WordVectors, shares: dict[str, float]) -> SentenceEncoder:
    choice = experiment.sentences
    if choice.kind == "transformer":
        if experiment.labels.substitute:
            remedy = "set labels.substitute to 0 or sentences.kind to 'average'"
            raise ConfigError("averaged words where names are substituted", "a transformer", remedy)
        name = backbone_name(choice.transformer, "transformer")
        return PooledTransformer(name, pooling=choice.pooling, device=fastest_device())
    own = words
    if choice.vectors is not None:
        given = given_word_vectors(choice.vectors)
        if given is None:
            raise ConfigError("a word-vector file or a model", "neither", "set 'file' or 'model' under vectors")
        own = given
    return AveragedWords(own, shares if choice.frequency_weighted else None)


def _network_config(experiment: Experiment, sentences: SentenceEncoder, words: WordVectors) -> CdvConfig:
    choice = experiment.network
    return CdvConfig(
        input_dim=sentences.dim + FLAGS,
        lstm_dim=choice.lstm_dim,
        discourse_dim=choice.discourse_dim,
        target_dim=words.dim,
        tasks=choice.tasks,
        bounded=choice.bounded,
        standardize=choice.standardize != "none",
        normalisation=choice.normalisation,
        dropout=choice.dropout,
        unit_halves=experiment.targets.kind == "average",
    )


def _spaces(
    experiment: Experiment,
    data: TrainingData,
    words: WordVectors,
    folder: Path,
    say: Callable[[str], None],
    progress: bool,
) -> dict[Task, TargetSpace]:
    tasks = experiment.network.tasks
    if experiment.targets.kind == "average":
        return {task: AverageSpace(words, _centre(task, data, words)) for task in tasks}
    choice = experiment.targets.bloom
    spaces: dict[Task, TargetSpace] = {}
    for task in tasks:
        kept = folder / "spaces" / f"{task}.safetensors"
        if kept.is_file():
            spaces[task] = load_space(kept, words)
            continue
        described = (
            entity_descriptions(data.documents, data.knowledge, max_sentences=choice.max_sentences)
            if task == "entity"
            else aspect_descriptions(data.documents)
        )
        say(f"training the {task} encoder on {len(described):,} descriptions")
        names = entity_names(data.documents, data.knowledge) if task == "entity" else {}
        spaces[task] = train_bloom_space(
            described,
            names,
            words,
            choice,
            dim=words.dim,
            seed=experiment.seed,
            folder=folder / "spaces",
            accelerator=experiment.training.accelerator,
            say=say,
            progress=progress,
        )
        save_space(spaces[task], kept)
    return spaces


def _centre(task: Task, data: TrainingData, words: WordVectors) -> Any:
    """Mean vector of all names (of entities: also the knowledge base's) or of all distinct headings."""
    if task == "entity":
        names = {item.title.name for item in data.documents if item.title}
        names |= {name for concept in data.knowledge or () for name in concept.names}
    else:
        names = {heading for item in data.documents for headings in item.aspects for heading in headings}
    means = [mean for name in sorted(names) if (mean := mean_word_vector(words, tokenize(name))) is not None]
    if not means:
        raise DataError(f"training documents with {'titles' if task == 'entity' else 'headings'}", "none", "add some")
    return np.mean(means, axis=0)


def _optimise(
    experiment: Experiment,
    data: TrainingData,
    network: CdvNetwork,
    sentences: SentenceEncoder,
    spaces: dict[Task, TargetSpace],
    as_encoder: Callable[[CdvNetwork], CdvEncoder],
    folder: Path,
    say: Callable[[str], None],
    progress: bool,
) -> History:
    """Train the network in place and leave it with the weights of the best epoch."""
    choice = experiment.training
    examples = DocumentExamples.of(experiment, data, sentences, spaces)
    if network.config.standardize:
        network.fit_inputs(*examples.input_statistics(flags=experiment.network.standardize == "all"))
    batches = DocumentBatches(examples.lengths(), batch_documents=choice.batch_documents, seed=experiment.seed)
    loader = DataLoader(examples, batch_sampler=batches, collate_fn=collate)
    schedule = Schedule(
        epochs=choice.epochs,
        seed=experiment.seed,
        decay=choice.decay,
        monitor=_MONITOR,
        patience=choice.patience,
        gradient_clip=choice.gradient_clip,
        accelerator=choice.accelerator,
        devices=choice.devices,
    )
    asked_for = common_headings(data.documents, experiment.validation.heading_documents)
    objective = CdvObjective(network, experiment, as_encoder, data.held_out, asked_for)
    return fit(objective, loader, schedule, folder=folder / "checkpoints", say=say, progress=progress)


def _record(
    experiment: Experiment,
    data: TrainingData,
    encoder: CdvEncoder,
    history: History,
    prepared: float,
    seconds: float,
    folder: Path,
) -> dict[str, Any]:
    trained: list[torch.nn.Module] = [encoder.network]
    if isinstance(encoder.sentences, PooledTransformer) and encoder.sentences.name_or_path is None:
        trained.append(encoder.sentences.backbone)
    return {
        "kind": "training",
        "model": experiment.title or experiment.name,
        **describe(experiment, history, folder),
        "documents": len(data.documents),
        "sentences": sum(len(item.passage_of) for item in data.documents),
        "held_out_documents": len(data.held_out),
        "parameters": sum(each.numel() for module in trained for each in module.parameters() if each.requires_grad),
        "preparation_seconds": round(prepared, 1),
        "seconds_this_run": round(seconds, 1),
    }
