"""The result of a search: passages in order. A hit is built from a passage only when it is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Passage
from auscult.encoders.contract import FloatArray
from auscult.encoders.folder import RERANKER
from auscult.encoders.reranker import Read
from auscult.index.reader import GenerationReader
from auscult.schema import Assertion
from auscult.search.answering import Answering
from auscult.search.assertions import AssertionReader
from auscult.search.certainty import UNLIKELY
from auscult.search.hits import EVIDENCE, Hit, SentenceScore
from auscult.search.languages import LanguagesRead
from auscult.search.marks import mark_sentences
from auscult.search.reranking import Asked
from auscult.search.subjects import AskedSubject


class Again(NamedTuple):
    """What reading a passage again gave.

    Attributes:
        added: Added to its score.
        read: What the re-ranker says of it.
    """

    added: float
    read: Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """The evidence that a list of passages was ranked by.

    Attributes:
        evidence: Evidence of each passage, (passages, evidence).
        weights: Weight of each evidence, (evidence,).
        probabilities: Probability that each passage answers.
        asked: The question, as sentences are compared with it.
        reread: What reading it again gave for each passage; None for those that were not.
        denied: What was taken from each score because the passage only denies the entity, at most 0.
    """

    evidence: FloatArray
    weights: FloatArray
    probabilities: Sequence[float]
    asked: Asked
    reread: Sequence[Again | None]
    denied: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The best passages, best first.

    Attributes:
        reader: Of the index that was searched.
        rows: Rows of the passages.
        scores: Score of each passage.
        vector: Vector of the query.
        parts: Columns of each part of the vector, as (first, one past the last); empty for a vector without parts.
        answering: Reads sentences for the query.
        subject: Says which sentences are about something else than the query.
        assertions: Reads what sentences say of the query's entity.
        weighed: None where the model's vectors alone scored.
        languages: Says which passages are in a language that the model does not read together with the question's.
    """

    reader: GenerationReader
    rows: Sequence[int]
    scores: Sequence[float]
    vector: FloatArray
    parts: Mapping[str, tuple[int, int]]
    answering: Answering
    subject: AskedSubject
    assertions: AssertionReader
    weighed: Weighed | None = None
    languages: LanguagesRead = field(default_factory=LanguagesRead)
    _directions: npt.NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_directions", directions(self.vector, self.parts))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Hit]:
        return map(self.hit, range(len(self)))

    def document(self, number: int) -> int:
        """Return the row of a passage's document."""
        return int(self.reader.passage_documents[self.rows[number]])

    def probability(self, number: int) -> float | None:
        """Return the probability that a passage answers; None where the model's vectors alone scored, or `is_unread`.

        It is below `UNLIKELY` for a passage about another patient than the query names.
        """
        if self.weighed is None or self.is_unread(number):
            return None
        probability = self.weighed.probabilities[number]
        return probability * UNLIKELY if self.subject.is_of_another(self.rows[number]) else probability

    def is_unread(self, number: int) -> bool:
        """Return whether the model does not read both the question's language and the passage's."""
        return self.languages.lacks(self.reader, self.rows[number])

    def marked(self, number: int) -> frozenset[int]:
        """Return the numbers of a passage's sentences that are marked."""
        row = self.rows[number]
        stored = self.reader.stored(row)
        again = self.weighed.reread[number] if self.weighed is not None else None
        read = again.read.sentences if again is not None else {}
        likely = read or self.answering.log_odds(stored.passage, stored.text, stored.vectors)
        return mark_sentences(stored.passage, stored.text, likely, self.subject.others(row))

    def asserted(self, number: int) -> list[tuple[Assertion, ...]]:
        """Return what each sentence of a passage says of the query's entity; empty for one that does not mention it."""
        stored = self.reader.stored(self.rows[number])
        return self.assertions.of_passage(stored.passage, stored.text)

    def only(self, assertions: Collection[Assertion], most: int) -> Findings:
        """Return the first passages with one of some assertions about the query's entity, or without a mention of it.

        Args:
            assertions: Assertions to accept.
            most: How many passages to return at most.
        """
        numbers: list[int] = []
        for number in range(len(self)):
            asserted = set().union(*self.asserted(number))
            if not asserted or not asserted.isdisjoint(assertions):
                numbers.append(number)
                if len(numbers) == most:
                    break
        weighed = self.weighed and replace(
            self.weighed,
            evidence=self.weighed.evidence[numbers],
            probabilities=[self.weighed.probabilities[number] for number in numbers],
            reread=[self.weighed.reread[number] for number in numbers],
            denied=[self.weighed.denied[number] for number in numbers],
        )
        rows, scores = [self.rows[number] for number in numbers], [self.scores[number] for number in numbers]
        return replace(self, rows=rows, scores=scores, weighed=weighed)

    def hit(self, number: int) -> Hit:
        """Return a passage with its evidence; its rank counts from 1."""
        row, reader, weighed = self.rows[number], self.reader, self.weighed
        document = self.document(number)
        record = reader.document_record(document)
        article = reader.article_title(row)
        stored = reader.stored(row)
        passage, text = stored.passage, stored.text
        ((entity, aspect, _),) = (reader.passage_vectors[row : row + 1].astype(np.float64) @ self._directions).tolist()
        marked = self.marked(number)
        # From the first marked sentence to the last; all of the passage where none is.
        first = passage.sentences[min(marked)].start if marked else passage.start
        last = passage.sentences[max(marked)].end if marked else passage.end
        return Hit(
            rank=number + 1,
            passage_id=passage.passage_id,
            doc_id=record.doc_id,
            title=article or record.title,
            book=record.title if article else "",
            heading=passage.heading,
            source=record.source,
            url=record.url,
            text=text,
            start=passage.start,
            end=passage.end,
            score=self.scores[number],
            entity_score=entity,
            aspect_score=aspect,
            sentences=self._sentence_scores(number, marked),
            metadata=dict(record.metadata),
            evidence={} if weighed is None else _contributions(weighed, number),
            probability=self.probability(number),
            above=passage.above,
            file=record.metadata.get("file", ""),
            place=place_of(reader, document, passage, first, last),
            language=reader.languages.of(row),
            unread=self.is_unread(number),
        )

    def _sentence_scores(self, number: int, marked: Collection[int]) -> tuple[SentenceScore, ...]:
        """Return the sentences of a passage with their scores; `marked` are the numbers of the marked ones."""
        stored = self.reader.stored(self.rows[number])
        shares = (stored.vectors.astype(np.float64) @ self._directions).tolist()
        sentences = []
        for place, (sentence, asserted) in enumerate(zip(stored.passage.sentences, self.asserted(number), strict=True)):
            of_entity, of_aspect, whole = shares[place]
            words = stored.text_of(sentence)
            if self.weighed is not None:
                whole += self.weighed.asked.share_held(words)
            sentences.append(
                SentenceScore(
                    start=sentence.start,
                    end=sentence.end,
                    text=words,
                    score=whole,
                    entity_score=of_entity,
                    aspect_score=of_aspect,
                    marked=place in marked,
                    assertions=asserted,
                )
            )
        return tuple(sentences)


def place_of(reader: GenerationReader, document: int, passage: Passage, start: int, end: int) -> str:
    """Return where characters of a passage stand in the document's file, in words; empty where that is not known.

    Args:
        reader: Of the index.
        document: Its row.
        passage: Of the document.
        start: Offset in the document's text.
        end: One past the last character.
    """
    record, original = reader.document_record(document), reader.original_layout(document)
    form = record.metadata.get("format", "")
    if form == "table":
        return f"row {record.doc_id.rpartition('#')[2]}"
    if original is None:
        return ""
    pages = [box.page + 1 for box in original.boxes(start, end)]
    if pages:
        return f"page {pages[0]}" if pages[0] == pages[-1] else f"pages {pages[0]}\u2013{pages[-1]}"
    outermost = next(filter(None, (*passage.above, passage.heading)), "")
    if outermost and "presentation" in original.media_type:
        return outermost.lower()
    if outermost and any(kind in original.media_type for kind in ("spreadsheet", "excel")):
        return f"sheet {outermost}"
    ranges = original.source_ranges(start, end) if form in _OF_LINES else []
    whole = reader.original(document) if ranges else None
    if whole is None:
        return ""
    source = whole.content.decode(whole.encoding or "utf-8", "replace")
    line = source.count("\n", 0, ranges[0][0]) + 1
    return f"line {line}"


#: Formats whose files people look at by lines.
_OF_LINES: Final = ("text", "Markdown")


def directions(vector: FloatArray, parts: Mapping[str, tuple[int, int]]) -> npt.NDArray[np.float64]:
    """Return the matrix whose product with vectors splits their inner product with a query, (dim, 3).

    Its columns give the entity's share, the aspect's share and the whole product. The first two are zeros for a model
    whose vectors have no such parts.
    """
    matrix = np.zeros((len(vector), 3))
    matrix[:, 2] = vector
    for column, name in enumerate(("entity", "aspect")):
        columns = slice(*parts.get(name, (0, 0)))
        matrix[columns, column] = vector[columns]
    return matrix


def _contributions(weighed: Weighed, number: int) -> dict[str, float]:
    """Return what each evidence adds to a passage's score."""
    shares = (weighed.evidence[number] * weighed.weights).tolist()
    contributions = {name: share for name, share in zip(EVIDENCE, shares, strict=True) if share}
    if (again := weighed.reread[number]) is not None:
        contributions[RERANKER] = again.added
    if weighed.denied[number]:
        contributions["denied"] = weighed.denied[number]
    return contributions
