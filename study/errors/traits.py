"""Wrong answers in the classes of grundmann2021, section 4.5, by rules instead of by hand.

The paper inspected 50 wrong top-1 passages of each model and data set. Here every one is classified, and may have
several classes or none:

- "long passage": every true answer is longer than the model reads, so that the answer may be in the part it cuts off;
- "same entity", "related entity": the top passage mentions the query's entity, or a broader, narrower or sibling
  concept of it, in the text or as its document's title;
- "same aspect", "related aspect": by the groups of `errors.RELATED_ASPECTS` and `RELATED_NOTE_ASPECTS`;
- "structural aspect": the query's aspect structures a note and says nothing about the patient;
- "negated mention": all mentions of the entity in the top passage are absent, past, a relative's or possible;
- "anonymised": marks of de-identification are at least a tenth of the words of a true answer.

Cost: a dictionary pass and a context pass over the notes of wrong answers, about 10 ms a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from auscult.concepts.aspects import normalise_heading
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents import Document, Passage
from auscult.files.writing import whole_or_nothing
from auscult.understanding import Query
from auscult_lab.corpora.note_labels import NoteLabeller, PassageEntity, note_aspects
from auscult_lab.evaluation.tables import TextTable
from auscult_lab.evaluation.task import Task
from auscult_lab.recognition.labelling import placeholders
from study.errors.classes import RankingError, classify_aspects

Trait = Literal[
    "long passage",
    "same entity",
    "related entity",
    "same aspect",
    "related aspect",
    "structural aspect",
    "negated mention",
    "anonymised",
]
TRAITS: tuple[Trait, ...] = get_args(Trait)

MAX_TOKENS = 512
"""Longest input of BERT."""
STRUCTURAL = frozenset(
    {
        "admission diagnosis", "assessment", "chief complaint", "description of procedure", "diagnosis", "discussion",
        "discharge diagnosis", "family history", "findings", "history", "history of present illness",
        "hospital course", "identification", "imaging", "impression", "indication", "laboratory results", "objective",
        "past medical history", "past surgical history", "physical examination", "plan", "postoperative diagnosis",
        "preoperative diagnosis", "procedure", "reason for consultation", "results", "review of systems",
        "social history", "subjective", "summary", "vital signs",
    }
)  # fmt: skip
"""Aspects of the structure of any note. The paper names history of present illness and laboratory results."""
RELATED_NOTE_ASPECTS: tuple[frozenset[str], ...] = (
    frozenset({"chief complaint", "reason for consultation", "indication", "history of present illness", "subjective"}),
    frozenset({"history of present illness", "history", "hospital course", "emergency department course", "summary"}),
    frozenset(
        {"past medical history", "past surgical history", "history", "gynecologic history", "psychiatric history"}
    ),
    frozenset({"family history", "social history", "substance use"}),
    frozenset({"assessment", "plan", "impression", "diagnosis", "discussion", "differential diagnosis"}),
    frozenset({"diagnosis", "admission diagnosis", "discharge diagnosis", "preoperative diagnosis"}),
    frozenset({"preoperative diagnosis", "postoperative diagnosis", "procedure", "description of procedure"}),
    frozenset({"physical examination", "objective", "vital signs", "discharge examination", "review of systems"}),
    frozenset({"laboratory results", "results", "imaging", "findings", "pathology", "electrocardiogram"}),
    frozenset({"medications", "medications on admission", "discharge medications", "allergies"}),
    frozenset({"plan", "follow-up", "disposition", "discharge instructions", "discharge condition"}),
)
"""Groups of related parts of a note. They are ours: the paper gives none."""

_ANONYMISED_SHARE = 0.1
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TraitedError:
    """A wrong top-1 passage and its classes."""

    error: RankingError
    traits: tuple[Trait, ...]


class TraitFinder:
    """Classifies the wrong answers of one task.

    Args:
        task: The queries, their true answers and the documents.
        knowledge: Knowledge base with the relations of concepts.
        labeller: Finds entities and their assertions.
        max_tokens: Words and punctuation marks that a model reads of a passage. A model's word pieces are more, so that
            "long passage" is found too rarely rather than too often.
    """

    def __init__(
        self, task: Task, knowledge: KnowledgeBase, labeller: NoteLabeller, *, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._knowledge = knowledge
        self._labeller = labeller
        self._max_tokens = max_tokens
        self._queries = {query.query_id: query for query in task.queries}
        self._documents = task.documents
        self._entities: dict[str, list[tuple[PassageEntity, ...]]] = {}

    @cached_property
    def _places(self) -> Mapping[str, tuple[Document, int]]:
        return {p.passage_id: (note, row) for note in self._documents for row, p in enumerate(note.passages)}

    def traits(self, error: RankingError) -> tuple[Trait, ...]:
        """Return the classes of a wrong answer, in the order of `TRAITS`."""
        classes = {*self._of_truth(error), *self._of_entity(error), *self._of_aspect(error)}
        return tuple(trait for trait in TRAITS if trait in classes)

    def _of_truth(self, error: RankingError) -> Iterator[Trait]:
        """Yield the classes that depend on the true answers."""
        texts = [self._text(passage_id) for passage_id in error.true_passages if passage_id in self._places]
        if texts and all(len(_TOKEN.findall(text)) > self._max_tokens for text in texts):
            yield "long passage"
        if any(_anonymised_share(text) >= _ANONYMISED_SHARE for text in texts):
            yield "anonymised"

    def _of_entity(self, error: RankingError) -> Iterator[Trait]:
        """Yield the classes that depend on the entities of the top passage."""
        query = self._queries[error.query_id]
        concept = self._concept(query)
        note, row = self._places[error.top_passage]
        entities = self._entities_of(note)[row]
        keys = [entity.key for entity in entities if entity.mentioned]
        if error.entity_class == "same" or concept in keys:
            yield "same entity"
            return
        if concept in (entity.key for entity in entities):
            yield "negated mention"
        related = {"ancestor", "descendant", "sibling"}
        if error.entity_class in related or (
            concept in self._knowledge
            and any(key in self._knowledge and self._knowledge.relation(concept, key) in related for key in keys)
        ):
            yield "related entity"

    def _of_aspect(self, error: RankingError) -> Iterator[Trait]:
        query = self._queries[error.query_id]
        query_aspects, passage_aspects = set(query.aspects), set(self._aspects(error.top_passage))
        if query_aspects & passage_aspects or error.aspect_class == "same":
            yield "same aspect"
        elif any(classify_aspects(query_aspects, aspect) == "related" for aspect in passage_aspects) or any(
            query_aspects & group and passage_aspects & group for group in RELATED_NOTE_ASPECTS
        ):
            yield "related aspect"
        if query_aspects and query_aspects <= STRUCTURAL:
            yield "structural aspect"

    def _concept(self, query: Query) -> str:
        """Return the identifier of the query's entity; a labeller's key where the knowledge base has none."""
        if query.entity_id in self._knowledge or query.entity_id.startswith("name:"):
            return query.entity_id
        concepts = self._knowledge.by_name(query.entity)
        return concepts[0].concept_id if concepts else query.entity_id

    def _aspects(self, passage_id: str) -> tuple[str, ...]:
        passage = self._passage(passage_id)
        if passage.heading.strip():
            return (*note_aspects(passage.heading), *([passage.aspect] if passage.aspect else []))
        return normalise_heading(passage.aspect) if passage.aspect else ()

    def _entities_of(self, note: Document) -> list[tuple[PassageEntity, ...]]:
        if note.doc_id not in self._entities:
            self._entities[note.doc_id] = self._labeller.entities(note)
        return self._entities[note.doc_id]

    def _passage(self, passage_id: str) -> Passage:
        note, row = self._places[passage_id]
        return note.passages[row]

    def _text(self, passage_id: str) -> str:
        return self._places[passage_id][0].slice(self._passage(passage_id))


def find_traits(finder: TraitFinder, errors: Sequence[RankingError]) -> list[TraitedError]:
    """Wrong answers with their classes, in order."""
    return [TraitedError(error, finder.traits(error)) for error in errors]


def trait_table(errors: Mapping[str, Sequence[TraitedError]]) -> TextTable:
    """The share of each model's wrong answers in each class, in percent.

    Args:
        errors: Label of a model -> its wrong answers.
    """
    columns = ("long", "same\nentity", "rel.\nentity", "same\naspect", "rel.\naspect", "struct.", "negated", "anon.")
    rows = tuple(
        (label, f"{len(own):,}", *(_share(own, trait) for trait in TRAITS)) for label, own in errors.items() if own
    )
    notes = ("Percent of the wrong top-1 passages; one may be in several classes (grundmann2021, section 4.5).",)
    return TextTable("Wrong top-1 passages by class", ("Model", "errors", *columns), rows, notes)


def write_traits(path: Path, errors: Mapping[str, Sequence[TraitedError]]) -> None:
    """Write errors with their classes as JSON lines, each with its model's label; whole or not at all.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial, partial.open("w", encoding="utf-8") as file:
        for label, own in errors.items():
            for each in own:
                row = {"model": label, **asdict(each.error), "traits": list(each.traits)}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _share(errors: Sequence[TraitedError], trait: Trait) -> str:
    return f"{100 * sum(trait in each.traits for each in errors) / len(errors):.1f}"


def _anonymised_share(text: str) -> float:
    """How many of a text's words are marks of de-identification, each counted as one word."""
    spans = placeholders(text)
    beside = "".join(
        text[start:end] for (_, start), (end, _) in zip([(0, 0), *spans], [*spans, (len(text), len(text))], strict=True)
    )
    words = len(re.findall(r"\w+", beside)) + len(spans)
    return len(spans) / words if words else 0.0
