"""What passages of a clinical note are about (grundmann2021, section 3.1): entities of the text, aspects of headings.

A mention is no label where its sentence says that the patient does not have it, had it once, that a relative has it, or
that it may come ("no nausea", "father had gout", "return if febrile"), nor where it stands for something else: a mark
of de-identification, or the passage's own heading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from auscult.concepts.names import normalise_name
from auscult.concepts.opening import open_knowledge_base, open_named
from auscult.concepts.recognition.context import ContextFilter
from auscult.concepts.recognition.dictionary import DictionaryRecognizer
from auscult.concepts.recognition.entity import Context, Entity, EntityRecognizer
from auscult.concepts.recognition.labelling import read_entities
from auscult.concepts.recognition.opening import DICTIONARY, open_recognizers
from auscult.documents import Document
from auscult_lab.corpora.note_aspects import NoteAspects, note_aspects

NO_LABELS: tuple[Context, ...] = ("negated", "historical", "family", "hypothetical")
"""Contexts in which a mention is no label."""


@dataclass(frozen=True, slots=True)
class PassageEntity:
    """An entity of a passage.

    Attributes:
        key: Its concept's identifier, or "name:" and its words where it has none.
        name: The words of its first mention, in small letters but for acronyms.
        mentioned: Whether at least one mention is a label; else all are negated, of others, or the like.
    """

    key: str
    name: str
    mentioned: bool


class NoteLabeller:
    """Reads entities and aspects off notes. Nothing is opened before the first note is read.

    Args:
        recognizer: Finds entities; names of the default knowledge base where not given.
        no_labels: Contexts in which a mention is no label.
        aspects: From a heading to its aspects.
        name: What its labels are made with; empty for the defaults.
    """

    def __init__(
        self,
        recognizer: EntityRecognizer | None = None,
        *,
        no_labels: Sequence[Context] = NO_LABELS,
        aspects: Callable[[str], tuple[str, ...]] = note_aspects,
        name: str = "",
    ) -> None:
        self.name = name
        self._given = recognizer
        self._no_labels = frozenset(no_labels)
        self._aspects = aspects

    def aspects(self, note: Document) -> list[tuple[str, ...]]:
        """The aspects of each passage, in order; none for one without heading."""
        return [self._aspects(passage.heading) if passage.heading.strip() else () for passage in note.passages]

    def entities(self, note: Document) -> list[tuple[PassageEntity, ...]]:
        """The entities of each passage, in order of their first mention.

        Raises:
            CorpusMissingError: The default knowledge base is not on this machine.
            MissingExtraError: What reads contexts is not installed.
        """
        rows = iter(read_entities(note, self._recognizer, self._context))
        return [self._of_passage(next(rows) for _ in passage.sentences) for passage in note.passages]

    def _of_passage(self, sentences: Iterable[tuple[Entity, ...]]) -> tuple[PassageEntity, ...]:
        entities: dict[str, PassageEntity] = {}
        for entity in chain.from_iterable(sentences):
            name = " ".join(entity.name.split())
            key = entity.concept_id or f"name:{normalise_name(name)}"
            known = entities.get(key)
            mentioned = not entity.contexts & self._no_labels or (known is not None and known.mentioned)
            entities[key] = PassageEntity(key, known.name if known else _in_running_text(name), mentioned)
        return tuple(entities.values())

    @cached_property
    def _recognizer(self) -> EntityRecognizer:
        return self._given or DictionaryRecognizer(open_knowledge_base())

    @cached_property
    def _context(self) -> ContextFilter:
        return ContextFilter()


def open_labeller(
    recognizers: Sequence[str] = (), *, knowledge: str | None = None, tables: Sequence[Path] = (), how: str
) -> NoteLabeller:
    """What users say of labels as a labeller.

    Args:
        recognizers: As `open_recognizers` takes them; the dictionary where none is named.
        knowledge: As `open_knowledge_base` takes it; None for the default.
        tables: Of headings and their aspects, beside the built-in one.
        how: To name another knowledge base (`open_named`).

    Raises:
        CorpusMissingError, ConfigError, DataError, MissingExtraError, ModelError: One of them cannot be opened.
    """
    # Tables first: a wrong one should fail before a knowledge base is read.
    aspects = NoteAspects.load(*tables).aspects
    found = open_recognizers(recognizers or [DICTIONARY], open_named(knowledge, how))
    own = [*([Path(knowledge).name] if knowledge else []), *recognizers, *(table.name for table in tables)]
    return NoteLabeller(found, aspects=aspects, name=", ".join(own))


def _in_running_text(name: str) -> str:
    """Small letters, but for words in capitals that are short enough to be acronyms: "COPD" stays as it is."""
    return " ".join(word if word.isupper() and len(word) < 6 else word.lower() for word in name.split())
