"""Wrong answers in the classes of arnold2020, section 5.4 (Figure 8), by a taxonomy instead of by hand.

An error is a query whose top-1 passage is not judged relevant. It has two classes: the relation of the passage's entity
to the query's in the taxonomy, and the relation of its aspect to the true answer's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.errors import DataError
from auscult.files.writing import whole_or_nothing
from auscult.search.hits import Ranking
from auscult.understanding import Query
from auscult_lab.evaluation.breakdown import PassageRecord, is_about
from auscult_lab.evaluation.task import Task

EntityClass = Literal["same", "ancestor", "descendant", "sibling", "unrelated", "not in taxonomy"]
AspectClass = Literal["same", "related", "unrelated"]

ENTITY_CLASSES: tuple[EntityClass, ...] = (
    "same",
    "ancestor",
    "descendant",
    "sibling",
    "unrelated",
    "not in taxonomy",
)
ASPECT_CLASSES: tuple[AspectClass, ...] = ("same", "related", "unrelated")

RELATED_ASPECTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"classification", "diagnosis", "symptoms"}), "section 5.4: often very similar"),
    (frozenset({"prognosis", "management"}), "section 5.4: the same holds true"),
    (frozenset({"prevalence", "information"}), "section 5.4: frequency is mentioned in introductory texts"),
    (frozenset({"symptoms", "presentation", "characteristics"}), "section 3.2: nuances of one aspect"),
    (frozenset({"treatment", "management"}), "neighbours in Table 1's list of care aspects"),
    (frozenset({"causes", "genetics", "pathophysiology", "risk factors"}), "what a disease comes from"),
    (frozenset({"inheritance", "genetics"}), "what a disease comes from"),
    (frozenset({"prognosis", "complications"}), "what a disease leads to"),
)
"""Groups of related aspects and why; the first four are the paper's own words, the others ours."""

_SYNONYMS = {
    "exams and tests": "diagnosis",
    "frequency": "prevalence",
    "epidemiology": "prevalence",
    "frequency and epidemiology": "prevalence",
    "genetic changes": "genetics",
    "genetic mechanism": "genetics",
    "genetic inheritance": "inheritance",
    "susceptibility": "risk factors",
    "considerations": "management",
    "management considerations": "management",
    "outlook": "prognosis",
    "stages": "classification",
    "staging": "classification",
    "types": "classification",
    "abstract": "information",
    "introduction": "information",
    "overview": "information",
    "signs": "symptoms",
    "signs and symptoms": "symptoms",
    "symptoms and presentation": "symptoms",
    "cause": "causes",
    "etiology": "causes",
    "causes and mechanism": "causes",
    "mechanism": "pathophysiology",
    "treatments": "treatment",
    "outcomes": "prognosis",
}
"""MedQuAD's and Wikipedia's names of the aspects above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingError:
    """One query whose top-1 passage is wrong.

    Attributes:
        true_passages: Judged relevant, by id.
        top_passage: What was ranked first.
        rank: Of the best true answer, from 1; 0 where none was retrieved.
        score_gap: Score of the top passage minus that of the best true answer; 0 where none was retrieved.
        entity_class: How the top passage's entity stands to the query's ("ancestor": it is the broader one).
        aspect_class: How its aspect stands to the true answer's.
    """

    query_id: str
    entity: str
    aspect: str
    true_passages: tuple[str, ...]
    true_source: str
    top_passage: str
    top_entity: str
    top_aspect: str
    top_source: str
    rank: int
    score_gap: float
    entity_class: EntityClass
    aspect_class: AspectClass


class EntityResolver:
    """Finds a document's or query's concept in a knowledge base.

    A name in the taxonomy decides. Otherwise identifiers are tried, rarest in the collection first, since corpora list
    a disease's broader concepts beside its own.

    Args:
        knowledge_base: The taxonomy.
        passages: The collection's labels.
    """

    def __init__(self, knowledge_base: KnowledgeBase, passages: Mapping[str, PassageRecord]) -> None:
        self._knowledge_base = knowledge_base
        documents = {record.doc_id: record.entity_ids for record in passages.values()}
        self._holders = Counter(identifier for ids in documents.values() for identifier in set(ids))

    def resolve(self, name: str, identifiers: Sequence[str]) -> str | None:
        """Return the concept's id; None where the taxonomy has neither the name nor an identifier."""
        concepts = self._knowledge_base.by_name(name)
        if concepts:
            return concepts[0].concept_id
        for identifier in sorted(identifiers, key=lambda key: self._holders[key]):
            concept = self._knowledge_base.lookup(identifier)
            if concept is not None:
                return concept.concept_id
        return None

    def classify(self, query: Query, true: Sequence[PassageRecord], passage: PassageRecord) -> EntityClass:
        """Return the relation of a passage's entity to the query's.

        Args:
            query: The query.
            true: Its true answers. Identifiers of their documents count as the query's.
            passage: The passage that was ranked first.
        """
        if is_about(passage, query, true):
            return "same"
        identifiers = [query.entity_id, *(identifier for record in true for identifier in record.entity_ids)]
        query_concept = self.resolve(query.entity, [*filter(None, identifiers)])
        passage_concept = self.resolve(passage.title, passage.entity_ids)
        if query_concept is None or passage_concept is None:
            return "not in taxonomy"
        return self._knowledge_base.relation(query_concept, passage_concept)


def classify_aspects(true: Iterable[str], aspect: str) -> AspectClass:
    """Return the relation of an aspect to the true answers' aspects. The closest one counts."""
    name = _SYNONYMS.get(aspect.lower(), aspect.lower())
    true_names = {_SYNONYMS.get(true_aspect.lower(), true_aspect.lower()) for true_aspect in true}
    if name in true_names:
        return "same"
    if any(name in group and true_names & group for group, _ in RELATED_ASPECTS):
        return "related"
    return "unrelated"


def find_errors(
    task: Task,
    rankings: Iterable[Ranking],
    passages: Mapping[str, PassageRecord],
    knowledge_base: KnowledgeBase,
) -> list[RankingError]:
    """Return every query whose top-1 passage is wrong, with its classes.

    Args:
        task: The queries and their true answers.
        rankings: Rankings of one model. Queries without a retrieved passage are left out.
        passages: The collection's labels.
        knowledge_base: The taxonomy.
    """
    resolver = EntityResolver(knowledge_base, passages)
    relevant = task.relevant
    queries = {query.query_id: query for query in task.queries}
    errors = []
    for ranking in rankings:
        true_ids = relevant.get(ranking.query_id, frozenset())
        if not ranking.passage_ids or ranking.passage_ids[0] in true_ids or ranking.query_id not in queries:
            continue
        query, top = queries[ranking.query_id], passages[ranking.passage_ids[0]]
        true = [passages[passage_id] for passage_id in sorted(true_ids) if passage_id in passages]
        rank = next((rank for rank, passage_id in enumerate(ranking.passage_ids, start=1) if passage_id in true_ids), 0)
        errors.append(
            RankingError(
                query_id=query.query_id,
                entity=query.entity,
                aspect=", ".join(query.aspects),
                true_passages=tuple(sorted(true_ids)),
                true_source=true[0].source if true else "",
                top_passage=top.passage_id,
                top_entity=top.title,
                top_aspect=top.aspect,
                top_source=top.source,
                rank=rank,
                score_gap=ranking.scores[0] - ranking.scores[rank - 1] if rank else 0.0,
                entity_class=resolver.classify(query, true, top),
                aspect_class=classify_aspects([passage_id.aspect for passage_id in true], top.aspect),
            )
        )
    return errors


def count_classes(errors: Sequence[RankingError]) -> dict[EntityClass, dict[AspectClass, int]]:
    """Count the errors of each pair of classes; pairs without errors have 0."""
    counts = Counter((error.entity_class, error.aspect_class) for error in errors)
    return {entity: {aspect: counts[entity, aspect] for aspect in ASPECT_CLASSES} for entity in ENTITY_CLASSES}


def write_errors(path: Path, errors: Mapping[str, Sequence[RankingError]]) -> None:
    """Write errors as JSON lines, each with its model's label. After a failure the old file is unchanged.

    Args:
        path: File to write.
        errors: Errors by label of the model.

    Raises:
        DataError: The file cannot be written.
    """
    with whole_or_nothing(path) as partial, partial.open("w", encoding="utf-8") as file:
        for label, errors_of_model in errors.items():
            for error in errors_of_model:
                file.write(json.dumps({"model": label, **asdict(error)}, ensure_ascii=False) + "\n")


def read_errors(path: Path) -> dict[str, list[RankingError]]:
    """Read what `write_errors` or `traits.write_traits` wrote.

    Returns:
        Errors by label of the model, in the file's order.

    Raises:
        DataError: The file cannot be read, or a line is no such error.
    """
    errors: dict[str, list[RankingError]] = {}
    names = {field.name for field in fields(RankingError)}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            content = {name: value for name, value in row.items() if name in names}
            error = RankingError(**content | {"true_passages": tuple(row["true_passages"])})
            errors.setdefault(row["model"], []).append(error)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError("wrong answers as JSON lines", f"{path}: {error}", "write them with: study errors") from error
    return errors
