"""Wrong answers in the classes of grundmann2021, section 4.5, by rules instead of by hand.

The paper looked at 50 wrong top-1 passages of each model and data set. Here every one is looked at, and may be in
several classes or in none:

- "long passage": every true answer is longer than the model reads, so that what was asked for may stand behind the cut;
- "same entity", "related entity": the top passage mentions what was asked for, or a broader, narrower or sibling
  concept of it, in the text or as its document's title;
- "same aspect", "related aspect": by the groups of `errors.RELATED_ASPECTS` and `RELATED_NOTE_ASPECTS`;
- "structural aspect": the query's aspect orders a note and says nothing of the patient;
- "negated mention": all that the top passage says of the entity is that it is absent, past, a relative's or possible;
- "anonymised": marks of de-identification make up a tenth of the words of a true answer, or more.

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
from auscult.concepts.recognition.labelling import placeholders
from auscult.documents import Document, Passage
from auscult.files.writing import whole_or_nothing
from auscult.understanding import Query
from auscult_lab.corpora.note_labels import NoteLabeller, PassageEntity, note_aspects
from auscult_lab.evaluation.tables import TextTable
from auscult_lab.evaluation.task import Task
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
"""Where BERT's reading ends."""
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
"""Aspects that order a note whatever it is about: the paper names history of present illness and laboratory results."""
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
"""Groups of neighbouring parts of a note; ours, the paper gives none."""

_ANONYMISED_SHARE = 0.1
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TraitedError:
    """A wrong top-1 passage and its classes."""

    error: RankingError
    traits: tuple[Trait, ...]


class TraitFinder:
    """Sorts wrong answers of one task into the classes.

    Args:
        task: The queries, their true answers and the documents.
        knowledge: Says how concepts stand to each other.
        labeller: Finds entities and what is said of them.
        max_tokens: Words and punctuation marks that a model reads of a passage. Its own pieces of words are more, so
            that the class is rather too small.
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
        """The classes of a wrong answer, in the order of `TRAITS`."""
        found = {*self._of_truth(error), *self._of_entity(error), *self._of_aspect(error)}
        return tuple(trait for trait in TRAITS if trait in found)

    def _of_truth(self, error: RankingError) -> Iterator[Trait]:
        """What makes the true answers hard to find."""
        texts = [self._text(each) for each in error.true_passages if each in self._places]
        if texts and all(len(_TOKEN.findall(text)) > self._max_tokens for text in texts):
            yield "long passage"
        if any(_anonymised_share(text) >= _ANONYMISED_SHARE for text in texts):
            yield "anonymised"

    def _of_entity(self, error: RankingError) -> Iterator[Trait]:
        """How what the top passage mentions stands to what was asked for."""
        query = self._queries[error.query_id]
        asked = self._concept(query)
        note, row = self._places[error.top_passage]
        entities = self._entities_of(note)[row]
        keys = [each.key for each in entities if each.mentioned]
        if error.entity_class == "same" or asked in keys:
            yield "same entity"
            return
        if asked in (each.key for each in entities):
            yield "negated mention"
        related = {"ancestor", "descendant", "sibling"}
        if error.entity_class in related or (
            asked in self._knowledge
            and any(key in self._knowledge and self._knowledge.relation(asked, key) in related for key in keys)
        ):
            yield "related entity"

    def _of_aspect(self, error: RankingError) -> Iterator[Trait]:
        query = self._queries[error.query_id]
        asked, got = set(query.aspects), set(self._aspects(error.top_passage))
        if asked & got or error.aspect_class == "same":
            yield "same aspect"
        elif any(classify_aspects(asked, each) == "related" for each in got) or any(
            asked & group and got & group for group in RELATED_NOTE_ASPECTS
        ):
            yield "related aspect"
        if asked and asked <= STRUCTURAL:
            yield "structural aspect"

    def _concept(self, query: Query) -> str:
        """The identifier of what was asked for; as a labeller's key where the knowledge base has none."""
        if query.entity_id in self._knowledge or query.entity_id.startswith("name:"):
            return query.entity_id
        named = self._knowledge.by_name(query.entity)
        return named[0].concept_id if named else query.entity_id

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
