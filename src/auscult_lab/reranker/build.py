"""The re-ranker for `stages.train`: an encoder finds passages near to questions, and then learns to read pairs.

FOLDER/read-by-encoder/    the encoder's vectors of all documents, in pieces
FOLDER/checkpoints/        checkpoints of the re-ranker
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch

from auscult.concepts import KnowledgeBase
from auscult.concepts.opening import open_knowledge_base
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import stretch_sums, unit
from auscult.encoders.reranker import save
from auscult.errors import ConfigError
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.general.reading import ReadDocuments, read_documents, reader_of
from auscult_lab.general.student import begin_student
from auscult_lab.modules.backbone import Backbone, open_backbone
from auscult_lab.reranker.data import RerankerExamples
from auscult_lab.reranker.experiment import RerankerExperiment
from auscult_lab.reranker.objective import RerankerNetwork, RerankerObjective
from auscult_lab.training.batches import row_loader
from auscult_lab.training.data import read_and_hold_out
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import DocumentsBuild, Record, Run

_READ_AT_ONCE: Final = 256
_VALIDATED_WITH: Final = 8
_VALIDATED_TIMES: Final = 2
_MONITOR: Final = "validation_reciprocal_rank"


def prepare(experiment: RerankerExperiment, run: Run) -> RerankerBuild:
    """Read documents, and open the encoder."""
    torch.manual_seed(experiment.seed)
    _, training, held_out = read_and_hold_out(experiment, run.say)
    knowledge = open_knowledge_base(experiment.knowledge) if experiment.knowledge is not None else None
    encoder = open_backbone(experiment.begins_with()[0])
    # Without dropout, which takes as long as a layer.
    network = RerankerNetwork(begin_student(encoder, range(encoder.depth)), experiment.training.frozen)
    return RerankerBuild(experiment, run, training, held_out, knowledge, network)


@dataclass
class RerankerBuild(DocumentsBuild[RerankerExperiment]):
    """A re-ranker and its training data; see `stages.Build`.

    Attributes:
        knowledge: Gives other names of subjects.
        network: The network to train.
    """

    kind = "reranker"
    knowledge: KnowledgeBase | None
    network: RerankerNetwork

    def train(self) -> History:
        """Train the network in place, and keep the weights of the best epoch."""
        choice, seed = self.experiment.training, self.experiment.seed
        reader = reader_of(self._backbone, {"window": min(_READ_AT_ONCE, self._backbone.limit)})
        place = self.run.folder / "read-by-encoder"
        read = read_documents([*self.training, *self.held_out], reader, place, self.run.say)
        examples = self._examples(read.part(0, len(self.training)), reader, choice.passages)
        validation = self._examples(read.part(len(self.training), len(read.documents)), reader, _VALIDATED_WITH)
        self.run.say(f"questions about {len(examples):,} subjects, {len(validation):,} to validate on")
        if not (len(examples) and len(validation)):
            remedy = "add documents with titles, whose sections have headings"
            raise ConfigError("subjects to ask about, some to learn from and some to validate on", "none", remedy)
        rows = [(epoch, row) for epoch in range(_VALIDATED_TIMES) for row in range(len(validation))]
        held_out = [
            validation.collate([validation[key] for key in rows[first : first + choice.batch_questions]])
            for first in range(0, len(rows), choice.batch_questions)
        ]
        # The reader has set evaluation mode.
        self.network.train()
        torch.manual_seed(seed)
        objective = RerankerObjective(self.network, choice, held_out)
        loader = row_loader(examples, per_epoch=choice.questions, size=choice.batch_questions, seed=seed)
        history = self.run.fit(objective, loader, Schedule.of(choice, seed=seed, monitor=_MONITOR))
        self.network.eval()
        return history

    def to_record(self, history: History) -> Record:
        """Return sizes and the history of epochs."""
        return {
            **self.sizes(self.network),
            "history": history.with_queries(self.experiment.training.questions),
            "seconds": history.seconds,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the model's folder."""
        backbone, window = self._backbone, min(self.experiment.window, self._backbone.limit)
        weights = {name: array.detach().float().cpu().numpy() for name, array in backbone.model.state_dict().items()}
        save(
            folder,
            self.network.arrays(),
            name=self.title,
            window=window,
            tokenizer=backbone.tokenizer.backend_tokenizer.to_str().encode(),
            transformer=bert_as_onnx(weights, backbone.model.config.to_dict(), window),
            training=record,
        )

    @property
    def _backbone(self) -> Backbone:
        return self.network.backbone

    def _examples(self, read: ReadDocuments, reader: WindowReader, passages: int) -> RerankerExamples:
        choice = self.experiment.training
        return RerankerExamples(
            read.documents,
            reader,
            _passage_vectors(read),
            self.knowledge,
            passages=passages,
            window=choice.window,
            seed=self.experiment.seed,
        )


def _passage_vectors(read: ReadDocuments) -> FloatArray:
    """Return the encoder's vectors of passages, unit rows, (passages, dim)."""
    sums = read.means.astype(np.float32) * read.tokens[:, None]
    return unit(stretch_sums(sums, read.passages))
