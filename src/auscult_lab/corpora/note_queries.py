"""A retrieval benchmark on clinical notes, after grundmann2021 (sections 3.1 and 4.1), on notes that may be shared.

A query is an entity and an aspect, "atrial fibrillation; past medical history". Both come from the notes of a split:
entities from the recogniser, aspects from headings. Every passage of the split with that entity under that aspect is
relevant. Mentions about others, about the past or future, or of absent findings ("no nausea") are no labels; the paper
names such labels as a source of its errors. Models see neither headings nor labels.

Corpora: MTSamples, ACI-Bench and PriMock57. MTS-Dialog is left out: its sections come from MTSamples. Samples are
split 8:1:1 (`note_splits`).

Candidates: "random" ranks the relevant passages among random ones of the split, 64 in all, as the paper does for
MIMIC-III. "bm25" leaves them to be drawn by BM25 (arnold2020, section 5.1), which is harder.

Departures: all passages of the split with a query's labels are relevant; the paper has one passage per query and does
not say how it treats others with the same labels. Names of one concept are one entity.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from auscult.documents import Document
from auscult.errors import DataError
from auscult.files.records import BadRecords
from auscult.ingest.corpus import Corpus, Judgement
from auscult.understanding import Query
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.note_splits import split_notes

NAME = "clinical-notes"
SOURCES = ("mtsamples", "aci-bench", "primock57")
"""Catalogue names of the corpora it is made of."""
OVERLAPPING = (*SOURCES, "mts-dialog")
"""Catalogue names of all corpora that share text with it."""
SPLITS = ("train", "validation", "test")
MOST_QUERIES = 1000
CANDIDATES = 64

Candidates = Literal["random", "bm25"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with its answers."""

    query: Query
    passage_ids: tuple[str, ...]


class NoteQueriesCorpus:
    """Notes in three splits, and queries of each.

    Args:
        sources: Corpora of notes; ids must be unique across all of them.
        labeller: Reads entities and aspects off a note; only needed for queries.
        candidates: "random" or "bm25".
        most_queries: How many queries a split has at most.
        seed: Draws queries and candidates.
        name: The corpus' name.
    """

    def __init__(
        self,
        *sources: Corpus,
        labeller: NoteLabeller | None = None,
        candidates: Candidates = "random",
        most_queries: int = MOST_QUERIES,
        seed: int = 0,
        name: str = "",
    ) -> None:
        self.name = name or (NAME if candidates == "random" else f"{NAME}-{candidates}")
        self._sources = sources
        self._labeller = labeller or NoteLabeller()
        self._draws = candidates
        self._most = most_queries
        self._seed = seed
        self._queries: dict[str, tuple[_Asked, ...]] = {}

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Return the notes of a split, or all; passages carry their aspects as a label."""
        splits = self.splits
        return (note for note in self._notes if split is None or splits[note.doc_id] == split)

    def queries(self, split: str) -> Sequence[Query]:
        """Return queries of a split, in the order drawn."""
        return [item.query for item in self._queries_of(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Judge every passage with a query's entity and aspect relevant."""
        return [
            Judgement(item.query.query_id, passage_id)
            for item in self._queries_of(split)
            for passage_id in item.passage_ids
        ]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return relevant passages among random ones of the split; nothing where BM25 is to draw them."""
        if self._draws == "bm25":
            return {}
        pool = [passage.passage_id for note in self.documents(split) for passage in note.passages]
        return {item.query.query_id: self._among_random(item, pool) for item in self._queries_of(split)}

    @property
    def bad(self) -> BadRecords:
        """Bad records that its corpora have skipped so far."""
        merged = BadRecords()
        for source in self._sources:
            own = getattr(source, "bad", None)
            if isinstance(own, BadRecords):
                merged.counts.update(own.counts)
                for kind, examples in own.examples.items():
                    merged.examples.setdefault(kind, examples)
        return merged

    @cached_property
    def splits(self) -> Mapping[str, str]:
        """Note id -> split."""
        texts = {note.doc_id: "\n".join(note.slice(passage) for passage in note.passages) for note in self._notes}
        patients = {note.doc_id: note.metadata["patient"] for note in self._notes if note.metadata.get("patient")}
        return split_notes(texts, patients)

    @cached_property
    def _notes(self) -> tuple[Document, ...]:
        notes = tuple(
            replace(
                note,
                passages=tuple(
                    replace(passage, aspect=" and ".join(aspects))
                    for passage, aspects in zip(note.passages, self._labeller.aspects(note), strict=True)
                ),
            )
            for source in self._sources
            for note in source.documents()
        )
        note_id, times = Counter(note.doc_id for note in notes).most_common(1)[0] if notes else ("", 1)
        if times > 1:
            raise DataError("an id of its own for each note", f"{note_id!r} {times} times", "rename the repeats")
        return notes

    def _among_random(self, item: _Asked, pool: Sequence[str]) -> tuple[str, ...]:
        """Draw with a seed of the query, so that a subset of queries gets the same candidates as the whole."""
        chance = np.random.default_rng([self._seed, zlib.crc32(item.query.query_id.encode())])
        relevant = set(item.passage_ids)
        others = [pool[row] for row in chance.permutation(len(pool)) if pool[row] not in relevant]
        return tuple(sorted((*relevant, *others[: max(0, CANDIDATES - len(relevant))])))

    def _queries_of(self, split: str) -> tuple[_Asked, ...]:
        if split not in self._queries:
            self._queries[split] = tuple(self._draw(split)) if split in SPLITS else ()
        return self._queries[split]

    def _draw(self, split: str) -> Iterator[_Asked]:
        """Draw a passage, one of its entities and one of its aspects, until there are enough different queries."""
        answers: dict[tuple[str, str], list[str]] = {}
        names: dict[str, Counter[str]] = {}
        rows: list[tuple[str, str]] = []
        for note in self.documents(split):
            labels = zip(note.passages, self._labeller.aspects(note), self._labeller.entities(note), strict=True)
            for passage, aspects, entities in labels:
                mentioned = [entity for entity in entities if entity.mentioned]
                for entity in mentioned:
                    names.setdefault(entity.key, Counter())[entity.name] += 1
                for row in ((entity.key, aspect) for entity in mentioned for aspect in aspects):
                    answers.setdefault(row, []).append(passage.passage_id)
                    rows.append(row)
        order = np.random.default_rng(self._seed).permutation(len(rows))
        drawn = list(dict.fromkeys(rows[row] for row in order))[: self._most]
        for key, aspect in drawn:
            # The most frequent spelling in the split; of equals, the first by the alphabet.
            name = min(names[key], key=lambda each: (-names[key][each], each))
            query = Query(f"{split}:{key}:{aspect.replace(' ', '_')}", name, (aspect,), entity_id=key)
            yield _Asked(query, tuple(answers[key, aspect]))
