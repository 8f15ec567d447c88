"""Tune multilingual-e5-small on questions in four languages (see `tuning`); its upper layers learn, the others stay.

The lower layers and the table of words keep what makes texts of one meaning alike in all languages. A processor with
instructions for numbers of half precision takes about a quarter of an hour an epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from transformers import BertConfig, BertModel

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult_lab.modules.backbone import Backbone
from study.shipped.packed_e5 import PackedE5
from study.shipped.spoken_questions import SpokenQuestion, asked_passages, documents_of, is_asked, read_spoken
from study.shipped.tuning import AskedPassage, Tuning, TuningBatch, TuningSettings
from study.shipped.windows import AskedReader, Windows
from study.shipped.written import is_held_out

LEARNING_LAYERS: Final = 6
SETTINGS: Final = TuningSettings(
    epochs=1, batch_questions=64, wrong=1, most_windows=1, learning_rate=5e-5, others=1_000
)  # fmt: skip
_MOST_WINDOWS: Final = 2
_SAMPLED: Final = 600
_ENGLISH: Final = 6_000
_MEASURED, _WRONG = 400, 4
"""Held-out questions that choose the epoch, and wrong passages of each, so that measuring takes a minute."""


def backbone_of(packed: PackedE5, kept: Sequence[int]) -> Backbone:
    """Return the transformer with the words of some pieces; of its layers only the upper ones learn."""
    weights = {name: torch.from_numpy(np.array(rows)) for name, rows in packed.weights(kept).items()}
    rows = {part: len(weights[f"embeddings.{part}_embeddings.weight"]) for part in ("word", "position", "token_type")}
    config = BertConfig(
        **packed.config, vocab_size=rows["word"], max_position_embeddings=rows["position"],
        type_vocab_size=rows["token_type"],
        intermediate_size=len(weights["encoder.layer.0.intermediate.dense.weight"]),
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(weights, strict=True)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for layer in model.encoder.layer[-LEARNING_LAYERS:]:
        for parameter in layer.parameters():
            parameter.requires_grad_(True)
    return Backbone(model, None)


class Gathered(NamedTuple):
    """What is learned from.

    Attributes:
        windows: All passages.
        learned: Questions to learn from.
        held_out: Questions about held-out documents.
        collections: Name of each passage's collection.
        sample: The sentences of some passages.
    """

    windows: Windows
    learned: list[AskedPassage]
    held_out: list[AskedPassage]
    collections: list[str]
    sample: list[list[str]]


def gather(folder: Path, reader: WindowReader, say: Callable[[str], None]) -> Gathered:
    """Return passages and questions.

    Args:
        folder: Folder of the written questions.
        reader: Cuts texts.
        say: Called with messages about progress.
    """
    every = read_spoken(folder)
    documents: dict[str, list[Document]] = {}
    asked: dict[str, list[SpokenQuestion]] = {}
    for name in dict.fromkeys(each.collection for each in every):
        own = [each for each in every if each.collection == name]
        documents[name] = documents_of(name, own)
        by_id = {document.doc_id: document for document in documents[name]}
        asked[name] = [each for each in own if is_asked(each, by_id)]
        say(f"{name}: {len(documents[name]):,} documents, {len(asked[name]):,} of {len(own):,} questions")
    together = [each for own in documents.values() for each in own]
    windows = Windows.of(together, reader, most=_MOST_WINDOWS)
    chance, begin = np.random.default_rng(SETTINGS.seed), 0
    learned, held_out, collections = list[AskedPassage](), list[AskedPassage](), list[str]()
    for name, own_documents in documents.items():
        found = asked_passages(asked[name], own_documents, windows, begin, reader, chance)
        for question, passage in zip(asked[name], found, strict=True):
            (held_out if is_held_out(question.doc_id) else learned).append(passage)
        count = sum(len(each.passages) for each in own_documents)
        collections += [name] * count
        begin += count
    learned = _with_some_english(learned, chance)
    drawn = chance.permutation(len(held_out))[:_MEASURED].tolist()
    held_out = [replace(held_out[number], wrong=held_out[number].wrong[:_WRONG]) for number in drawn]
    say(f"{len(windows):,} passages, {len(learned):,} questions, {len(held_out):,} held out")
    texts = [[each.slice(part) for part in passage.sentences] for each in together for passage in each.passages]
    sample = [texts[number] for number in chance.permutation(len(texts))[:_SAMPLED].tolist()]
    return Gathered(windows, learned, held_out, collections, sample)


def tune(
    packed: PackedE5, kept: Sequence[int], folder: Path, reader: WindowReader, say: Callable[[str], None]
) -> tuple[dict[str, FloatArray], FloatArray, dict[str, object]]:
    """Tune the transformer, and return its weights by the names of a `BertModel`, the centre, and a record.

    Args:
        packed: The transformer.
        kept: Numbers of the pieces to keep.
        folder: Folder of the written questions.
        reader: Reads texts with the transformer as it is, and cuts them.
        say: Called with messages about progress.
    """
    gathered = gather(folder, reader, say)
    backbone = backbone_of(packed, kept)
    sums, _ = reader.read(gathered.sample)
    centre: FloatArray = unit(sums).mean(axis=0)
    asked = AskedReader(backbone, gathered.windows, torch.from_numpy(centre), half=True)
    history: list[Mapping[str, float]] = []

    def report(measures: Mapping[str, float]) -> None:
        history.append({**measures, "mean": float(np.mean([*measures.values()]))})
        say(str({name: round(value, 3) for name, value in history[-1].items()}))

    LoggedTuning(asked, SETTINGS, gathered.learned, say).run(gathered.held_out, gathered.collections, report)
    weights = {name: tensor.float().numpy() for name, tensor in backbone.model.state_dict().items()}
    after = max(history, key=lambda each: each["mean"])
    record = {
        "questions": len(gathered.learned), "held_out": len(gathered.held_out), "before": history[0], "after": after,
    }  # fmt: skip
    return weights, centre, record


def _with_some_english(questions: Sequence[AskedPassage], chance: np.random.Generator) -> list[AskedPassage]:
    """Return all questions in other languages, and some in English, so that an epoch takes half as long."""
    english = [each.collection.endswith(" en") for each in questions]
    order = chance.permutation(np.flatnonzero(english))
    left_out = {*order[_ENGLISH:].tolist()}
    return [each for number, each in enumerate(questions) if number not in left_out]


class LoggedTuning(Tuning):
    """A tuning that says how it goes on.

    Args:
        reader: The reader.
        settings: Settings.
        questions: Questions to learn from.
        say: Called with a message now and then.
    """

    def __init__(
        self, reader: AskedReader, settings: TuningSettings, questions: Sequence[AskedPassage],
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        super().__init__(reader, settings, questions)
        self._say, self._losses = say, list[float]()

    def step(self, batch: TuningBatch) -> float:
        """Change the weights once, and return the loss before."""
        self._losses.append(super().step(batch))
        if len(self._losses) % 25 == 0:
            self._say(f"{len(self._losses):,} steps, loss {np.mean(self._losses[-25:]):.3f}")
        return self._losses[-1]
