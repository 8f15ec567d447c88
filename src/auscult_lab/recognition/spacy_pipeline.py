"""Recognise entities with a spaCy pipeline: scispaCy, medspaCy or a custom one. Only this file imports them.

Texts are read in batches (`Language.pipe`). A small statistical pipeline reads tens of kilobytes a second on one core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents.splitting import plain_characters
from auscult.errors import DataError, ModelError
from auscult.telemetry import naming_extra
from auscult_lab.recognition.entity import Entity, named_concept, visible_entity

if TYPE_CHECKING:
    from spacy.language import Language

MEDSPACY = "medspacy"
"""Name of medspaCy's default pipeline, which is in no folder."""


class SpacyRecognizer:
    """Recogniser that returns the entities (`Doc.ents`) of a spaCy pipeline.

    Args:
        pipeline: The name of an installed pipeline ("en_core_sci_sm"), its folder, "medspacy", or a loaded pipeline.
        knowledge: Knowledge base for the concepts of entities whose name it has, if the pipeline links none.
        batch_size: Number of texts in a batch.

    Raises:
        MissingExtraError: spaCy is not installed.
        ModelError: There is no such pipeline, or it needs components that are not installed.
    """

    def __init__(
        self, pipeline: str | Path | Language, *, knowledge: KnowledgeBase | None = None, batch_size: int = 64
    ) -> None:
        self._nlp = _open(pipeline) if isinstance(pipeline, str | Path) else pipeline
        self.name = f"spacy:{self._nlp.meta['lang']}_{self._nlp.meta['name']}"
        self._knowledge = knowledge
        self._batch_size = batch_size

    def recognise(self, text: str) -> list[Entity]:
        """Return entities in order, without overlap.

        Raises:
            DataError: The text is longer than the pipeline takes.
        """
        return next(self.recognise_many([text]))

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text, read in batches.

        Raises:
            DataError: A text is longer than the pipeline takes.
        """
        pairs = ((plain_characters(self._checked(text)), text) for text in texts)
        for doc, text in self._nlp.pipe(pairs, as_tuples=True, batch_size=self._batch_size):
            entities = []
            for span in doc.ents:
                entity = visible_entity(text, span.start_char, span.end_char)
                if entity is not None:
                    concept = span.kb_id_ or span.ent_id_ or named_concept(self._knowledge, entity.name)
                    entities.append(replace(entity, concept_id=concept, kind=span.label_, found_by=(self.name,)))
            yield entities

    def _checked(self, text: str) -> str:
        limit = self._nlp.max_length
        if len(text) > limit:
            expected = f"a text of at most {limit:,} characters, which is what {self.name} takes"
            raise DataError(expected, f"one of {len(text):,}", "give it sentence by sentence or passage by passage")
        return text


def _open(pipeline: str | Path) -> Language:
    with naming_extra("ner", "spacy"):
        import spacy
    name = str(pipeline)
    if name == MEDSPACY:
        return _open_medspacy()
    try:
        return spacy.load(pipeline)
    except (OSError, ValueError, ImportError) as error:
        # OSError: absent or damaged; ValueError: a component nobody registered (E002); ImportError: its own package.
        reason = str(error).splitlines()[0]
        remedy = "install it with pip, or give the folder of a pipeline saved by spaCy"
        raise ModelError(f"a spaCy pipeline called {name}", f"none that opens ({reason})", remedy) from error


def _open_medspacy() -> Language:
    try:
        import medspacy  # type: ignore[import-not-found, import-untyped, unused-ignore]  # without types
    except ModuleNotFoundError as error:
        if error.name != MEDSPACY:
            raise
        remedy = "run: pip install medspacy, in an environment that may hold the older spaCy it asks for"
        raise ModelError("the package medspacy", "an installation without it", remedy) from error
    pipeline: Language = medspacy.load()
    return pipeline
