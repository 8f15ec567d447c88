"""What a search found: passages in order, of which a hit is made when it is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.documents import Passage
from auscult.encoders import RERANKER
from auscult.index.reader import GenerationReader
from auscult.interfaces import Assertion, FloatArray, Hit, SentenceScore
from auscult.search.assertions import AssertionReader
from auscult.search.evidence import EVIDENCE
from auscult.search.marks import Marker


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What found passages were weighed by.

    Attributes:
        evidence: Of each, (passages, evidence).
        weights: Of the evidence, (evidence,).
        probabilities: That each answers.
        words: The share of each of the question's words.
        reread: What reading together with the question added to each, NaN where it was not read; none where none was.
        holding: Which of these words a text holds.
    """

    evidence: FloatArray
    weights: FloatArray
    probabilities: Sequence[float]
    words: Mapping[str, float]
    reread: Sequence[float]
    holding: Callable[[str], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The best passages, best first.

    Attributes:
        reader: Of the index that was searched.
        rows: Of passages.
        scores: Of each.
        vector: Of the query.
        parts: Its columns, as (first, one past the last); none where it is one.
        marker: Marks sentences for the query.
        assertions: Reads what sentences say of the query's entity.
        weighed: None where the model's vectors alone scored.
    """

    reader: GenerationReader
    rows: Sequence[int]
    scores: Sequence[float]
    vector: FloatArray
    parts: Mapping[str, tuple[int, int]]
    marker: Marker
    assertions: AssertionReader
    weighed: Weighed | None = None
    _directions: npt.NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_directions", directions(self.vector, self.parts))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Hit]:
        return map(self.hit, range(len(self)))

    def document(self, number: int) -> int:
        """The row of a passage's document."""
        return int(self.reader.passage_documents[self.rows[number]])

    def probability(self, number: int) -> float | None:
        """That a passage answers; None where the model's vectors alone scored."""
        return None if self.weighed is None else self.weighed.probabilities[number]

    def asserted(self, number: int) -> list[tuple[Assertion, ...]]:
        """What each sentence of a passage says of the query's entity; empty for one that does not mention it."""
        row = self.rows[number]
        passage, text = self.reader.passage(row), self.reader.passage_text(row)
        headings = (*passage.above, passage.heading)
        said, lead = [], ""
        for sentence in passage.sentences:
            words = text[sentence.start - passage.start : sentence.end - passage.start]
            said.append(self.assertions.read(words, headings, lead if sentence.list_item else ""))
            if not sentence.list_item:
                lead = words if words.endswith(":") else ""
        return said

    def only(self, wanted: Collection[Assertion], most: int) -> Findings:
        """Return the first passages that say one of some things of the query's entity, or do not mention it.

        Args:
            wanted: What they may say.
            most: How many.
        """
        kept: list[int] = []
        for number in range(len(self)):
            said = set().union(*self.asserted(number))
            if not said or not said.isdisjoint(wanted):
                kept.append(number)
                if len(kept) == most:
                    break
        weighed = self.weighed and replace(
            self.weighed,
            evidence=self.weighed.evidence[kept],
            probabilities=[self.weighed.probabilities[number] for number in kept],
            reread=[self.weighed.reread[number] for number in kept] if self.weighed.reread else [],
        )
        rows, scores = [self.rows[number] for number in kept], [self.scores[number] for number in kept]
        return replace(self, rows=rows, scores=scores, weighed=weighed)

    def hit(self, number: int) -> Hit:
        """A passage with its evidence; its rank counts from 1."""
        row, reader, weighed = self.rows[number], self.reader, self.weighed
        document = self.document(number)
        record = reader.document_record(document)
        article = reader.article_title(row)
        stored = reader.stored(row)
        passage, text, vectors = stored.passage, stored.text, stored.vectors
        ((entity, aspect, _),) = (reader.passage_vectors[row : row + 1].astype(np.float64) @ self._directions).tolist()
        shares = (vectors.astype(np.float64) @ self._directions).tolist()
        marked = self.marker.marked(passage, text, vectors)
        sentences = []
        asserted = self.asserted(number)
        for place, (sentence, share) in enumerate(zip(passage.sentences, shares, strict=True)):
            of_entity, of_aspect, whole = share
            words = text[sentence.start - passage.start : sentence.end - passage.start]
            if weighed is not None:
                whole += sum(weighed.words[term] for term in weighed.holding(words))
            sentences.append(
                SentenceScore(
                    start=sentence.start,
                    end=sentence.end,
                    text=words,
                    score=whole,
                    entity_score=of_entity,
                    aspect_score=of_aspect,
                    marked=place in marked,
                    assertions=asserted[place],
                )
            )
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
            sentences=tuple(sentences),
            metadata=dict(record.metadata),
            evidence={} if weighed is None else _told(weighed, number),
            probability=self.probability(number),
            above=passage.above,
            file=record.metadata.get("file", ""),
            place=place_of(reader, document, passage, *_answering(passage, marked)),
        )


def _answering(passage: Passage, marked: Collection[int]) -> tuple[int, int]:
    """Return the range from the first marked sentence of a passage to the last; all of it where none is."""
    if not marked:
        return passage.start, passage.end
    return passage.sentences[min(marked)].start, passage.sentences[max(marked)].end


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
    """What a row of vectors times this is: the shares of entity and aspect in its inner product with a query, and all.

    Zeros for the shares where vectors speak for both together. Shape (dim, 3).
    """
    found = np.zeros((len(vector), 3))
    found[:, 2] = vector
    for column, name in enumerate(("entity", "aspect")):
        columns = slice(*parts.get(name, (0, 0)))
        found[columns, column] = vector[columns]
    return found


def _told(weighed: Weighed, number: int) -> dict[str, float]:
    """What each reason adds to a score."""
    shares = (weighed.evidence[number] * weighed.weights).tolist()
    found = {name: share for name, share in zip(EVIDENCE, shares, strict=True) if share}
    if weighed.reread and not math.isnan(weighed.reread[number]):
        found[RERANKER] = weighed.reread[number]
    return found
