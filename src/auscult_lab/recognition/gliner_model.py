"""Recognise entities with GLiNER, which takes the names of the classes as input. Only this file imports it.

An encoder reads the class names and the text together, and every span is scored against every class; a span with
sigma(span . class) above a threshold is an entity (zaratiana2024). Cost: one forward pass of the encoder per sentence,
in batches. Texts are read sentence by sentence, because the library cuts off what exceeds the model's window (384 words
in most models); the end of a longer sentence is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents.building import segment_passage
from auscult.errors import ConfigError, ModelError
from auscult.telemetry import naming_extra
from auscult_lab.recognition.entity import Entity, named_concept, visible_entity

CLINICAL_LABELS = ("disease", "symptom", "medication", "procedure", "body part")
"""The classes to look for by default."""


class GlinerRecognizer:
    """A GLiNER model and the classes to look for.

    Args:
        model: The model's name on the hub, or its folder.
        labels: Class names in plain words.
        knowledge: Knowledge base for the concepts of entities whose name it has.
        threshold: Minimum score of an entity, in (0, 1).
        batch_size: Number of texts, and of sentences, in a batch.

    Raises:
        MissingExtraError: GLiNER is not installed.
        ConfigError: No labels, or a threshold that is no probability.
        ModelError: No such model, or one that cannot be opened.
    """

    def __init__(
        self,
        model: str | Path,
        labels: Sequence[str] = CLINICAL_LABELS,
        *,
        knowledge: KnowledgeBase | None = None,
        threshold: float = 0.5,
        batch_size: int = 16,
    ) -> None:
        if not labels:
            raise ConfigError("at least one label to look for", "none", f"give some, as {', '.join(CLINICAL_LABELS)}")
        if not 0 < threshold < 1:
            raise ConfigError("a threshold between 0 and 1", str(threshold), "take 0.5, or less to find more")
        self._model = _open(model)
        self.name = f"gliner:{Path(model).name}"
        self._labels = list(labels)
        self._knowledge = knowledge
        self._threshold = threshold
        self._batch_size = batch_size

    def recognise(self, text: str) -> list[Entity]:
        """Return entities in order, without overlap."""
        return next(self.recognise_many([text]))

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text, read in batches."""
        remaining = iter(texts)
        while batch := list(islice(remaining, self._batch_size)):
            ranges = [segment_passage(text, 0, len(text)) for text in batch]
            sentences = [text[s.start : s.end] for text, spans in zip(batch, ranges, strict=True) for s in spans]
            predictions = iter(self._predict(sentences))
            for text, spans in zip(batch, ranges, strict=True):
                entities = [self._entity(text, s.start, prediction) for s in spans for prediction in next(predictions)]
                yield sorted((entity for entity in entities if entity), key=lambda entity: entity.start)

    def _predict(self, sentences: list[str]) -> list[list[dict[str, Any]]]:
        if not sentences:
            return []
        predictions: list[list[dict[str, Any]]] = self._model.inference(
            sentences, self._labels, threshold=self._threshold, flat_ner=True, batch_size=self._batch_size
        )
        return predictions

    def _entity(self, text: str, at: int, prediction: dict[str, Any]) -> Entity | None:
        entity = visible_entity(text, at + prediction["start"], at + prediction["end"])
        if entity is None:
            return None
        concept = named_concept(self._knowledge, entity.name)
        return replace(entity, concept_id=concept, kind=prediction["label"], found_by=(self.name,))


def _open(model: str | Path) -> Any:
    with naming_extra("gliner", "gliner"):
        from gliner import GLiNER  # type: ignore[import-not-found, import-untyped, unused-ignore]  # without types
    try:
        return GLiNER.from_pretrained(str(model))
    except (OSError, ValueError, KeyError) as error:
        # OSError includes the hub's errors: no such model, no network, no permission.
        reason = str(error).splitlines()[0]
        remedy = "give the folder of a GLiNER model, or its hub name on a machine that reaches the hub"
        raise ModelError(f"a GLiNER model called {model}", f"none that opens ({reason})", remedy) from error
