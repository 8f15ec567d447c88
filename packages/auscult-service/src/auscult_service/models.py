"""Requests of the API with their limits, and its errors. Answers are the records of `auscult.schema`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from auscult.schema import Assertion
from auscult.understanding.conversation import MOST_EARLIER

MOST_WORDS = 2_000
"""Characters of a question, an entity or an aspect."""
MOST_HITS = 100
REACH = 1_000
_MOST_ASPECTS = 16
_MOST_FIELDS = 16
_MOST_VALUES = 100

Words = Annotated[str, Field(max_length=MOST_WORDS)]
IndexName = Annotated[str, Field(max_length=64, description="An index by its name; the first where none is named.")]


class RequestModel(BaseModel):
    """Base of all requests."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """Base of the errors."""

    model_config = ConfigDict(frozen=True)


class Range(RequestModel):
    """Values between two bounds, both included, in the order of text. Dates are written 2024-05-31."""

    first: str = Field("", alias="from", max_length=200, description="The least value; empty for no bound.")
    last: str = Field("", alias="to", max_length=200, description="The greatest value; '2024-05' is all of May.")


Value = Annotated[str, Field(max_length=500)]
Condition = Value | Annotated[list[Value], Field(min_length=1, max_length=_MOST_VALUES)] | Range
Where = Annotated[
    dict[Annotated[str, Field(max_length=100)], Condition],
    Field(
        max_length=_MOST_FIELDS,
        description="By field (`source`, or of documents' metadata; see /fields) a value, several of which one has to "
        "be there, or a range {from, to}. All fields have to agree.",
    ),
]


class Question(RequestModel):
    """A question in words, or an entity with aspects. Given parts win over those read from the question."""

    question: Words = Field("", description="In words: 'How is gout treated?'")
    entity: Words = Field("", description="A name, a synonym or an identifier (DOID:2986).")
    aspects: list[Words] = Field(default_factory=list, max_length=_MOST_ASPECTS, description="symptoms, treatment, ...")

    @property
    def words(self) -> dict[str, object]:
        """The question as the audit log records it."""
        return {"question": self.question, "entity": self.entity, "aspects": self.aspects}


class NextQuestion(Question):
    """A question that may follow others."""

    conversation: list[Words] = Field(
        default_factory=list,
        max_length=MOST_EARLIER,
        description="Earlier questions of a conversation, the first one first: what the question lacks is taken from "
        "them ('and in children?', 'and asthma?'). `understood` says what was.",
    )

    @property
    def words(self) -> dict[str, object]:
        """The question and the earlier ones as the audit log records them."""
        return {**super().words, **({"conversation": self.conversation} if self.conversation else {})}


class SearchRequest(NextQuestion):
    """A search."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "How is gout treated?", "k": 5},
                {"entity": "gout", "aspects": ["treatment"], "where": {"source": "NHS"}, "group_by": "document"},
            ]
        }
    )

    index: IndexName | None = None
    indexes: list[IndexName] = Field(
        default_factory=list, max_length=32, description="Several at once; their hits are merged by score."
    )
    k: int = Field(10, ge=1, le=MOST_HITS, description="Hits of a page.")
    offset: int = Field(0, ge=0, le=REACH - 1, description="How many hits stand before the page.")
    group_by: str = Field(
        "passage", max_length=100, description="A hit for every `passage`, `document`, or value of a field."
    )
    where: Where = Field(default_factory=dict)
    score: Literal["fused", "model"] = Field("fused", description="By all evidence, or by the model's vectors alone.")
    rerank: int | None = Field(
        None,
        ge=0,
        le=64,
        description="First hits to read again with the question; by default as many as the model does.",
    )
    assertions: list[Assertion] = Field(
        default_factory=list,
        max_length=5,
        description="Leave out hits that mention the entity and say none of these of it; empty for all.",
    )


class PatientsRequest(NextQuestion):
    """A question to the documents of patients."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"entity": "gout", "assertions": ["affirmed"]}]})

    index: IndexName | None = None
    where: Where = Field(default_factory=dict)
    assertions: list[Assertion] = Field(
        default_factory=list, max_length=5, description="Only sentences that say one of these of the entity."
    )


class ErrorBody(ResponseModel):
    """The parts of an error."""

    code: str = Field(description="A word that programs tell it by.", examples=["bad_query"])
    message: str = Field(description="What was expected, and what came.")
    remedy: str = Field(description="What to do about it.")
    request_id: str = Field(description="The request's id, as in the answer's header X-Request-ID.")


class Error(ResponseModel):
    """The form of every error."""

    error: ErrorBody


class ExplainRequest(NextQuestion):
    """A question to one document."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entity": "gout", "aspects": ["treatment"], "doc_id": "leaflet-gout"}]}
    )

    index: IndexName | None = None
    doc_id: str = Field("", max_length=2_000, description="Empty for the document of the best hit.")


class FeedbackRequest(Question):
    """A judgement of a hit."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "question": "How is gout treated?",
                    "doc_id": "leaflet-gout",
                    "passage_id": "gout-3",
                    "relevance": 1,
                    "span": [184, 224],
                }
            ]
        }
    )

    index: IndexName | None = None
    doc_id: str = Field(max_length=2_000)
    passage_id: str = Field(max_length=2_000)
    relevance: int = Field(ge=0, le=3, description="0: it does not answer; 1 to 3: it does, and how well.")
    span: tuple[Annotated[int, Field(ge=0, le=2**31)], Annotated[int, Field(ge=0, le=2**31)]] | None = Field(
        None, description="Which characters of the document's text answer, half-open."
    )


class SpanRequest(NextQuestion):
    """A request for the span of a document that answers, or for one that is a step larger or smaller."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How is gout treated?", "doc_id": "leaflet-gout"}]}
    )

    index: IndexName | None = None
    doc_id: str = Field(max_length=2_000)
    step: Literal["best", "grow", "shrink"] = "best"
    first: int = Field(0, ge=0, le=2**31, description="Of the span that grows or shrinks: its first sentence, from 0.")
    last: int = Field(0, ge=0, le=2**31, description="One past its last sentence.")


class CoverageRequest(RequestModel):
    """A request for which aspects of which entities are answered."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entities": ["gout", "migraine"], "aspects": ["symptoms", "treatment"]}]}
    )

    index: IndexName | None = None
    entities: list[Words] = Field(min_length=1, max_length=200)
    aspects: list[Words] = Field(
        default_factory=list, max_length=100, description="Empty for those that the collection has headings for."
    )
    where: Where = Field(default_factory=dict)
