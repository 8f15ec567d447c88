"""Wrong answers in the classes of arnold2020, section 5.4 (Figure 8), by a taxonomy instead of by hand.

An error is a query whose top-1 passage is not judged relevant. It is sorted twice: by how the passage's
entity stands to the query's in the taxonomy, and by how its aspect stands to the true answer's.
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
from auscult.interfaces import Ranking
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

    A name that the taxonomy knows decides. Otherwise identifiers are tried, those first that the fewest
    documents of the collection hold: corpora list a disease's broader concepts beside its own.

    Args:
        knowledge_base: The taxonomy.
        passages: The collection's labels.
    """

    def __init__(self, knowledge_base: KnowledgeBase, passages: Mapping[str, PassageRecord]) -> None:
        self._knowledge_base = knowledge_base
        documents = {record.doc_id: record.entity_ids for record in passages.values()}
        self._holders = Counter(identifier for ids in documents.values() for identifier in set(ids))

    def resolve(self, name: str, identifiers: Sequence[str]) -> str | None:
        """The concept's id, or None where the taxonomy has neither the name nor an identifier."""
        named = self._knowledge_base.by_name(name)
        if named:
            return named[0].concept_id
        for identifier in sorted(identifiers, key=lambda each: self._holders[each]):
            concept = self._knowledge_base.lookup(identifier)
            if concept is not None:
                return concept.concept_id
        return None

    def classify(self, query: Query, true: Sequence[PassageRecord], found: PassageRecord) -> EntityClass:
        """How the found passage's entity stands to the query's.

        Args:
            query: What was asked.
            true: Its true answers; identifiers of their documents are the query's too.
            found: The passage that was ranked first.
        """
        if is_about(found, query, true):
            return "same"
        own = [query.entity_id, *(identifier for each in true for identifier in each.entity_ids)]
        asked = self.resolve(query.entity, [each for each in own if each])
        got = self.resolve(found.title, found.entity_ids)
        if asked is None or got is None:
            return "not in taxonomy"
        return self._knowledge_base.relation(asked, got)


def classify_aspects(true: Iterable[str], found: str) -> AspectClass:
    """How a found aspect stands to the true answers': the nearest of them counts."""
    got = _SYNONYMS.get(found.lower(), found.lower())
    asked = {_SYNONYMS.get(each.lower(), each.lower()) for each in true}
    if got in asked:
        return "same"
    if any(got in group and asked & group for group, _ in RELATED_ASPECTS):
        return "related"
    return "unrelated"


def find_errors(
    task: Task,
    rankings: Iterable[Ranking],
    passages: Mapping[str, PassageRecord],
    knowledge_base: KnowledgeBase,
) -> list[RankingError]:
    """Every query whose top-1 passage is wrong, with its classes.

    Args:
        task: The queries and their true answers.
        rankings: One model's; a query without a retrieved passage is left out.
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
        query, found = queries[ranking.query_id], passages[ranking.passage_ids[0]]
        true = [passages[each] for each in sorted(true_ids) if each in passages]
        rank = next((rank for rank, each in enumerate(ranking.passage_ids, start=1) if each in true_ids), 0)
        errors.append(
            RankingError(
                query_id=query.query_id,
                entity=query.entity,
                aspect=", ".join(query.aspects),
                true_passages=tuple(sorted(true_ids)),
                true_source=true[0].source if true else "",
                top_passage=found.passage_id,
                top_entity=found.title,
                top_aspect=found.aspect,
                top_source=found.source,
                rank=rank,
                score_gap=ranking.scores[0] - ranking.scores[rank - 1] if rank else 0.0,
                entity_class=resolver.classify(query, true, found),
                aspect_class=classify_aspects([each.aspect for each in true], found.aspect),
            )
        )
    return errors


def count_classes(errors: Sequence[RankingError]) -> dict[EntityClass, dict[AspectClass, int]]:
    """How many errors fall into each pair of classes; every pair is there."""
    counts = Counter((error.entity_class, error.aspect_class) for error in errors)
    return {entity: {aspect: counts[entity, aspect] for aspect in ASPECT_CLASSES} for entity in ENTITY_CLASSES}


def write_errors(path: Path, errors: Mapping[str, Sequence[RankingError]]) -> None:
    """Write errors as JSON lines, each with its model's label; whole or not at all.

    Args:
        path: Where to.
        errors: label of a model -> its errors.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial, partial.open("w", encoding="utf-8") as file:
        for label, own in errors.items():
            for error in own:
                file.write(json.dumps({"model": label, **asdict(error)}, ensure_ascii=False) + "\n")


def read_errors(path: Path) -> dict[str, list[RankingError]]:
    """Read what `write_errors` or `traits.write_traits` wrote.

    Returns:
        label of a model -> its errors, in the file's order.

    Raises:
        DataError: The file cannot be read, or a line is no such error.
    """
    found: dict[str, list[RankingError]] = {}
    names = {each.name for each in fields(RankingError)}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            content = {name: value for name, value in row.items() if name in names}
            error = RankingError(**content | {"true_passages": tuple(row["true_passages"])})
            found.setdefault(row["model"], []).append(error)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError("wrong answers as JSON lines", f"{path}: {error}", "write them with: study errors") from error
    return found
