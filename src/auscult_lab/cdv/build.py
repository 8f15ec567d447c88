"""CDV for `stages.train`: word vectors, target spaces, and a network trained in one stage or two.

FOLDER/words/              word vectors and word frequencies
FOLDER/spaces/             the paper's entity and aspect encoders, where they are the targets, and their epochs' figures
FOLDER/sentences/          sentence vectors of a frozen transformer, where one reads the sentences
FOLDER/checkpoints/        the last epoch and the best one, as the training library writes them
FOLDER/frozen/             the whole model before fine-tuning, where the transformer is fine-tuned
FOLDER/fine-tuning/        the checkpoints of that second stage

`training.folder` describes what every training writes beside these; `cdv.persistence` writes the model.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json
from auscult_lab.cdv.bloom_training import aspect_descriptions, entity_descriptions, entity_names, train_bloom_space
from auscult_lab.cdv.data import DocumentExamples, collate, read_by_transformer
from auscult_lab.cdv.encoder import CdvEncoder, PooledTransformer
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.cdv.objective import CdvObjective, calibrate, common_headings, fine_tune, kept_stage
from auscult_lab.cdv.persistence import load_space, save, save_space
from auscult_lab.cdv.spaces import AverageSpace, TargetSpace, mean_word_vector
from auscult_lab.cdv.word_vectors import given_word_vectors, word_vectors
from auscult_lab.modules import Task
from auscult_lab.modules.backbone import fastest_device
from auscult_lab.modules.word_vectors import FLAGS, AveragedWords, SentenceEncoder, WordVectors, tokenize
from auscult_lab.training.batches import DocumentBatches
from auscult_lab.training.data import TrainingData, gather
from auscult_lab.training.experiment import backbone_name
from auscult_lab.training.learned_texts import texts_of
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

_MONITOR = "validation_RR"


def prepare(experiment: CdvExperiment, run: Run) -> CdvBuild:
    """Read and label documents, make word vectors and target spaces, and begin the network."""
    given = given_word_vectors(experiment.word_vectors)
    data = gather(experiment, run.say)
    words, shares = word_vectors(experiment, data, given, run.folder / "words", run.say)
    sentences = _sentence_encoder(experiment, words, shares)
    spaces, learning = _spaces(experiment, data, words, run)
    torch.manual_seed(experiment.seed)
    choice = experiment.network
    config = CdvConfig(
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
    network = CdvNetwork(config)
    encoder = CdvEncoder(network, sentences, spaces, name=experiment.title or experiment.name)
    return CdvBuild(experiment, run, data, encoder, learning)


@dataclass
class CdvBuild(Build[CdvExperiment]):
    """A CDV model and what it is trained on; see `stages.Build`.

    Attributes:
        encoder: The model. Fine-tuning replaces it by one with a transformer of its own.
        learning: For each task, the best epoch of the paper's target encoder, and figures of all; else empty.
        frozen: Record of the stage with a frozen transformer, where fine-tuning follows it; else empty.
    """

    kind = "training"
    data: TrainingData
    encoder: CdvEncoder
    learning: Record = field(default_factory=dict)
    frozen: Record = field(default_factory=dict)

    @property
    def about(self) -> str:
        """Numbers of documents."""
        return f"training on {len(self.data.documents):,} documents, validating on {len(self.data.held_out):,}"

    @property
    def learned_from(self) -> Iterable[str]:
        """All passages that were read: word vectors learn from held-out documents, too."""
        return texts_of(self.data.texts)

    def train(self) -> History:
        """Train the network. Where the experiment says so, then train it together with the transformer."""
        if self.experiment.sentences.fine_tune is None:
            return self._train_network()
        self.encoder, before = kept_stage(self.run.folder / "frozen", lambda: (self.encoder, self._train_network()))
        self.frozen = {"frozen": {"best_epoch": before.best, "history": before.epochs}}
        self.run.say("fine-tuning the transformer")
        self.encoder, history = fine_tune(self.experiment, self.data, self.encoder, self.run)
        return history

    def _train_network(self) -> History:
        """Train the network in place and leave it with the weights of the best epoch."""
        experiment, encoder, choice = self.experiment, self.encoder, self.experiment.training
        network = encoder.network.train()
        read = read_by_transformer(experiment, self.data, encoder.sentences, self.run, within="sentences")
        examples = DocumentExamples(experiment, self.data, encoder.sentences, encoder.spaces, read=read)
        if network.config.standardize:
            network.fit_inputs(*examples.input_statistics(flags=experiment.network.standardize == "all"))
        batches = DocumentBatches(examples.lengths(), batch_documents=choice.batch_documents, seed=experiment.seed)
        loader: DataLoader[Any] = DataLoader(examples, batch_sampler=batches, collate_fn=collate)
        objective = CdvObjective(encoder, experiment, self.data.held_out, self._asked_for())
        history = self.run.fit(objective, loader, Schedule.of(choice, seed=experiment.seed, monitor=_MONITOR))
        network.eval()
        return history

    def _asked_for(self) -> frozenset[tuple[str, ...]]:
        return common_headings(self.data.documents, self.experiment.validation.heading_documents)

    def to_record(self, history: History) -> Record:
        """Return counts and, where the experiment calibrates, the weights chosen on held-out documents."""
        encoder = self.encoder
        trained: list[torch.nn.Module] = [encoder.network]
        if isinstance(encoder.sentences, PooledTransformer) and encoder.sentences.name_or_path is None:
            trained.append(encoder.sentences.backbone)
        record: Record = {
            **self.frozen,
            "documents": len(self.data.documents),
            "sentences": sum(len(item.passage_of) for item in self.data.documents),
            "held_out_documents": len(self.data.held_out),
            "parameters": trained_parameters(*trained),
            "seconds_this_run": round(time.monotonic() - self.run.began, 1),
        }
        if self.learning:
            record["targets"] = self.learning
        if self.experiment.validation.calibrate:
            quality = calibrate(encoder, self.data.held_out, self._asked_for())
            weight, share = encoder.entity_weight, encoder.document_share
            record |= {"entity_weight": weight, "document_share": share, "validation_calibrated": quality}
            self.run.say(f"entity weight {weight}, document share {share}: R@1 {quality['R@1']:.4f}")
        return record

    def save(self, folder: Path, record: Record) -> str:
        """Write the model's folder."""
        return save(self.encoder, folder, training=record)


def _sentence_encoder(experiment: CdvExperiment, words: WordVectors, shares: dict[str, float]) -> SentenceEncoder:
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


def _spaces(
    experiment: CdvExperiment, data: TrainingData, words: WordVectors, run: Run
) -> tuple[dict[Task, TargetSpace], Record]:
    tasks = experiment.network.tasks
    if experiment.targets.kind == "average":
        return {task: AverageSpace(words, _centre(task, data, words)) for task in tasks}, {}
    choice = experiment.targets.bloom
    spaces: dict[Task, TargetSpace] = {}
    learning: Record = {}
    for task in tasks:
        file = run.folder / "spaces" / f"{task}.safetensors"
        figures = file.with_suffix(".json")
        if file.is_file():
            spaces[task] = load_space(file, words)
            if figures.is_file():
                learning[task] = parse_json(figures.read_text(encoding="utf-8"))
            continue
        described = (
            entity_descriptions(data.documents, data.knowledge, max_sentences=choice.max_sentences)
            if task == "entity"
            else aspect_descriptions(data.documents)
        )
        run.say(f"training the {task} encoder on {len(described):,} descriptions")
        names = entity_names(data.documents, data.knowledge) if task == "entity" else {}
        spaces[task], history = train_bloom_space(
            described,
            names,
            words,
            choice,
            dim=words.dim,
            seed=experiment.seed,
            accelerator=experiment.training.accelerator,
            run=run,
            within=f"spaces/{task}",
        )
        learning[task] = {"best_epoch": history.best, "history": history.epochs}
        write_json(figures, learning[task])
        save_space(spaces[task], file)
    return spaces, learning


def _centre(task: Task, data: TrainingData, words: WordVectors) -> Any:
    """Return the mean vector of all names (of entities: also the knowledge base's) or of all distinct headings."""
    if task == "entity":
        names = {item.title.name for item in data.documents if item.title}
        names |= {name for concept in data.knowledge or () for name in concept.names}
    else:
        names = {heading for item in data.documents for headings in item.aspects for heading in headings}
    means = [mean for name in sorted(names) if (mean := mean_word_vector(words, tokenize(name))) is not None]
    if not means:
        raise DataError(f"training documents with {'titles' if task == 'entity' else 'headings'}", "none", "add some")
    return np.mean(means, axis=0)
