"""What `languages.py` compares: each scores all passages of a set for questions of one language."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from auscult.concepts.opening import open_for_questions
from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.readers import Counts, Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.towers import unit
from auscult.encoders.onnx_runtime import open_session
from auscult.files.writing import whole_or_nothing
from auscult.index.manifest import CURRENT
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query
from auscult_lab.scorers.lexical import Bm25Config, Bm25Index
from kept_vectors import KeptVectors
from packaged_readers import added
from study.shipped.packed_e5 import POSITIONS, open_packed_e5

Score = Callable[[Sequence[Query]], FloatArray]
"""Scores of all passages for queries, (queries, passages)."""
ASKED, TOLD = "query:", "passage:"
"""What stands before questions and passages, as multilingual-e5-small was trained. The blank belongs to the text."""
E5: Final = "multilingual-e5-small"


def words_of(query: Query) -> str:
    """Return a query as words: the question, or aspect and entity."""
    return query.text or query.terms


def texts_of(documents: Sequence[Document]) -> list[str]:
    """Return title, heading and text of each passage."""
    return [
        "\n".join(filter(None, (document.title, passage.heading, document.slice(passage))))
        for document in documents
        for passage in document.passages
    ]


def bm25(documents: Sequence[Document], analyzer: Callable[[str], list[str]] | None = None) -> Score:
    """Return BM25 over title, heading and text.

    Args:
        documents: The documents.
        analyzer: Text to terms; folded words for None.
    """
    terms, config = analyzer or Analyzer(), Bm25Config()
    index = Bm25Index([terms(text) for text in texts_of(documents)], config.k1, config.b)
    return lambda queries: np.stack([index.score_all(terms(words_of(query))) for query in queries])


class E5Alone:
    """multilingual-e5-small with all of its pieces and 8-bit weights; its vectors are kept in a folder.

    Args:
        folder: Folder of the file and of the vectors.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "e5"
        self._reader: WindowReader | None = None
        self._told = KeptVectors(self._folder, f"{E5} told", self._read)
        self._asked = KeptVectors(self._folder, f"{E5} asked", lambda texts: unit(self._open().ask(texts)))

    def read(self, documents: Sequence[Document]) -> FloatArray:
        """Return the vectors of passages, with their title and heading, cut at 512 tokens."""
        return np.concatenate([self._told.of(texts_of([document])) for document in documents])

    def score(self, documents: Sequence[Document]) -> Score:
        """Return the cosines of questions with passages."""
        told = self.read(documents)
        return lambda queries: self._asked.of([*map(words_of, queries)]) @ told.T

    def _read(self, texts: Sequence[str]) -> FloatArray:
        # A passage is one sentence here: it is read in one window, and cut at its end.
        return unit(self._open().read([[text] for text in texts])[0])

    def _open(self) -> WindowReader:
        if self._reader is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            packed = open_packed_e5()
            model, tokenizer = self._folder / "model.onnx", self._folder / "tokenizer.json"
            if not tokenizer.is_file():
                model.write_bytes(packed.as_onnx(range(len(packed.pieces))))
                packed.tokenizer().save(str(tokenizer))
            self._reader = WindowReader(
                Transformer(open_session(model, threads=1)), open_tokenizer(tokenizer), packed.width,
                asked=ASKED, told=TOLD, window=POSITIONS, as_written=True,
            )  # fmt: skip
        return self._reader


class KeptReader(WindowReader):
    """A reader whose sums of passages are kept in a folder, so that other towers need not read again.

    Args:
        reader: The reader.
        folder: The folder.
        identity: Identifies the reader.
    """

    def __init__(self, reader: WindowReader, folder: Path, identity: str) -> None:
        vars(self).update(vars(reader))
        self._folder, self._identity = folder, identity

    def read(self, passages: Sequence[Sequence[str]]) -> tuple[FloatArray, Counts]:
        """Return sums and token counts of sentences, from the folder where they are kept."""
        keys = ["\0".join((self._identity, *passage)) for passage in passages]
        files = [self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.npz" for key in keys]
        missing = [row for row, file in enumerate(files) if not file.is_file()]
        if missing:
            self._folder.mkdir(parents=True, exist_ok=True)
            sums, counts = super().read([passages[row] for row in missing])
            edges = np.cumsum([0, *(len(passages[row]) for row in missing)]).tolist()
            for row, (begin, end) in zip(missing, pairwise(edges), strict=True):
                with whole_or_nothing(files[row]) as partial, partial.open("wb") as stream:
                    np.savez(stream, sums=sums[begin:end], counts=counts[begin:end])
        kept = [_load(file) for file in files]
        rows = [sums for sums, _ in kept] or [np.zeros((0, self.dim), np.float32)]
        return np.concatenate(rows), np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in kept)])


def _load(file: Path) -> tuple[FloatArray, Counts]:
    with np.load(file) as kept:
        return kept["sums"], kept["counts"]


def open_encoder(name: str, cache: Path) -> DocumentEncoder:
    """Open an encoder whose passages are read once, whatever its towers are."""
    encoder = load_model(name)
    if isinstance(encoder, GeneralEncoder):
        # The towers do not change what the transformer reads.
        identity = f"{Path(name).name} {encoder.reader.room} {encoder.reader.around}"
        encoder.reader = KeptReader(encoder.reader, cache / "read" / Path(name).name, identity)
    return encoder


def open_searcher(name: str, encoder: DocumentEncoder, documents: Sequence[Document], cache: Path) -> Searcher:
    """Return a searcher of an index of documents, which is kept in a folder."""
    words = "\n".join((encoder.fingerprint, *texts_of(documents)))
    place = cache / "indexes" / f"{Path(name).name}-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
    if not (place / CURRENT).is_file():
        build_index(documents, encoder, place, knowledge_base=open_for_questions())
    return Searcher.open(place, encoder)


def searched(searcher: Searcher, *, understood: bool = True) -> Score:
    """Return the scores of `auscult search`.

    Args:
        searcher: The searcher.
        understood: Whether names and aspects are read in questions; otherwise questions are scored as they are.
    """

    def score(query: Query) -> FloatArray:
        if understood:
            query = searcher.understand(query).query
        _, evidence, _ = searcher.gather(query)
        return searcher.fusion.scores(query, evidence)

    return lambda queries: np.stack([score(query) for query in queries])


def both(first: Score, second: Score) -> Score:
    """Return the sum of two models' scores, standardised by question."""
    return lambda queries: added(first(queries), second(queries))


def question_vectors(searcher: Searcher) -> Score:
    """Return the inner products of the question parts alone: what the transformer finds by itself."""
    encoder: Any = searcher.encoder
    part = encoder.parts["question"]

    def score(queries: Sequence[Query]) -> FloatArray:
        asked = unit(encoder.encode_queries(queries)[:, part])
        rows: FloatArray = np.asarray(searcher.index.reader.passage_vectors, np.float32)[:, part]
        return asked @ unit(rows).T

    return score
