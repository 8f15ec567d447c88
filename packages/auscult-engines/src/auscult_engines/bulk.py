"""Encode many documents on many cores or machines, and resume after an interruption.

Workers encode documents in chunks. The result for a chunk is a file beside the index. Its name is a digest of the model
and the documents, so that the same command does not encode the chunk again. Only this process writes the index, in
the order of the documents: the index does not depend on the workers.

    "here"        by this process, whose transformer uses all cores
    "processes"   by local processes, one a core
    "ray"         by the workers of a Ray cluster: RAY_ADDRESS, or one of this machine's; all see the model's path

A worker that dies is replaced, and its chunk read again, three times.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self

import numpy as np

from auscult.documents import Document
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder, EncodedDocument, ExpandsTexts, Expansion, FloatArray, Terms
from auscult.encoders.passages import encode_passages
from auscult.errors import DataError
from auscult.files.writing import whole_or_nothing
from auscult.index.store import content_hash
from auscult.provenance import usable_cores
from auscult.telemetry import naming_extra
from auscult.understanding import Query

Executor = Literal["here", "processes", "ray"]
EXECUTORS: Final[tuple[Executor, ...]] = ("here", "processes", "ray")
_TRIES: Final = 3
Read = list[EncodedDocument]


class Workers(Protocol):
    """Workers that encode chunks, several at a time."""

    ahead: int
    """How many chunks may be under way."""

    def begin(self, documents: Sequence[Document]) -> Callable[[], Read]:
        """Start to encode a chunk. Return a function that waits for the result."""
        ...


class BulkEncoder:
    """An encoder whose documents workers encode ahead of time.

    Args:
        encoder: The model that the workers use.
        workers: The workers.
        folder: Folder for encoded chunks, until the index is complete.
        chunk: Documents that a worker encodes at once.
    """

    def __init__(self, encoder: DocumentEncoder, workers: Workers, folder: Path, chunk: int) -> None:
        self.name, self.dim, self.fingerprint = encoder.name, encoder.dim, encoder.fingerprint
        self.parts: Mapping[str, slice] = encoder.parts
        self._encoder = encoder
        self._workers = workers
        self._folder = folder
        self._chunk = chunk
        self._ready: dict[str, EncodedDocument] = {}
        self._expansions: dict[str, Expansion] = {}

    def stream(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents, each after a worker has encoded it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        under_way: deque[tuple[list[Document], Callable[[], Read]]] = deque()
        remaining = iter(documents)
        while chunk := [*islice(remaining, self._chunk)]:
            under_way.append((chunk, self._begin(chunk)))
            if len(under_way) > self._workers.ahead:
                yield from self._finish(*under_way.popleft())
        while under_way:
            yield from self._finish(*under_way.popleft())

    @property
    def expands(self) -> bool:
        """Whether the encoder expands documents by terms."""
        return isinstance(self._encoder, ExpandsTexts) and self._encoder.expands

    def encode_passages(self, documents: Sequence[Document]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the vectors of sentences and passages of documents that `stream` has yielded."""
        placed = []
        for document in documents:
            read = self._ready.pop(document.doc_id)
            placed.append((read.sentences, read.passages))
            if read.expansion is not None:
                self._expansions[document.doc_id] = read.expansion
        return placed

    def expand_documents(self, documents: Sequence[Document]) -> list[Expansion]:
        """Return the terms of documents whose vectors `encode_passages` has just given."""
        return [self._expansions.pop(document.doc_id) for document in documents]

    def expand_query(self, query: Query) -> Terms:
        """Return the encoder's own terms of a query."""
        if not isinstance(self._encoder, ExpandsTexts):
            raise TypeError(f"an encoder that reads terms, not '{self.name}'")
        return self._encoder.expand_query(query)

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Return the sentences' vectors alone; see `encode_passages`."""
        return [sentences for sentences, _ in self.encode_passages(documents)]

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """Return the encoder's own vectors of queries."""
        return self._encoder.encode_queries(queries)

    def _begin(self, chunk: list[Document]) -> Callable[[], Read]:
        place = self._folder / f"{self._key(chunk)}.npz"
        if place.is_file():
            return lambda: _load_chunk(place)
        wait = self._workers.begin(chunk)

        def finish() -> Read:
            documents = wait()
            arrays = {
                f"{number}-{side}": rows
                for number, (sentences, passages, expansion) in enumerate(documents)
                for side, rows in enumerate((sentences, passages, *(expansion or ())))
            }
            with whole_or_nothing(place) as partial, partial.open("wb") as file:
                np.savez(file, **arrays)
            return documents

        return finish

    def _finish(self, chunk: list[Document], wait: Callable[[], Read]) -> Iterator[Document]:
        for document, encoded in zip(chunk, wait(), strict=True):
            self._ready[document.doc_id] = encoded
            yield document

    def _key(self, chunk: Sequence[Document]) -> str:
        digest = hashlib.sha256(self.fingerprint.encode())
        for document in chunk:
            digest.update(content_hash(document))
        return digest.hexdigest()[:32]


@contextmanager
def reading_in_bulk(
    encoder: DocumentEncoder, model: str, out: Path, *, executor: Executor, workers: int = 0, chunk: int = 64
) -> Iterator[BulkEncoder]:
    """Open an encoder for `build_index`, which must index the documents of its `stream`.

    The encoded chunks are deleted after the block, unless an error ends it.

    Args:
        encoder: The model, opened.
        model: What `load_model` takes to load it, here and on all machines with workers.
        out: The index folder that is written.
        executor: Where documents are encoded.
        workers: How many workers; 0 for one a core, or for all cores of the cluster.
        chunk: Documents that a worker encodes at once.

    Raises:
        MissingExtraError: Ray is not installed.
        DataError: A worker died again and again.
    """
    folder = out.parent / f".{out.name}.reading"
    opened: AbstractContextManager[Workers] = nullcontext(_Here(encoder))
    if executor == "processes":
        opened = _Processes(model, workers or usable_cores())
    elif executor == "ray":
        opened = _Ray(model, workers)
    with opened as reader:
        yield BulkEncoder(encoder, reader, folder, chunk)
    shutil.rmtree(folder, ignore_errors=True)


class _Here:
    ahead = 0

    def __init__(self, encoder: DocumentEncoder) -> None:
        self._encoder = encoder

    def begin(self, documents: Sequence[Document]) -> Callable[[], Read]:
        return lambda: encode_passages(self._encoder, documents)


class _Processes:
    """Local processes. They are spawned, as a forked copy of a process with threads may hang."""

    def __init__(self, model: str, workers: int) -> None:
        self.ahead = 2 * workers
        self._model = model
        self._workers = workers
        self._pool = self._new_pool()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def begin(self, documents: Sequence[Document]) -> Callable[[], Read]:
        chunk = list(documents)
        pool = self._pool
        future = self._submit(chunk)

        def wait() -> Read:
            nonlocal pool, future
            for _ in range(_TRIES):
                try:
                    return future.result()
                except BrokenProcessPool:
                    # The pool is broken for all chunks under way. The first one to notice replaces it.
                    if self._pool is pool:
                        self._pool = self._new_pool()
                    pool = self._pool
                    future = self._submit(chunk)
            raise _death_of(chunk)

        return wait

    def _submit(self, chunk: list[Document]) -> Future[Read]:
        try:
            return self._pool.submit(read_chunk, self._model, chunk)
        except BrokenProcessPool:
            self._pool = self._new_pool()
            return self._pool.submit(read_chunk, self._model, chunk)

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"))


class _Ray:
    """Tasks of a Ray cluster, which replaces dead workers by itself."""

    def __init__(self, model: str, workers: int) -> None:
        # A running cluster has its own number of cores.
        cores = None if "RAY_ADDRESS" in os.environ else workers or usable_cores()
        with _reaching_nobody() if cores else nullcontext():
            with naming_extra("ray", "ray"):
                import ray
            self._ray: Any = ray
            self._ray.init(log_to_driver=False, include_dashboard=False if cores else None, num_cpus=cores)
        self.ahead = 2 * max(1, cores or workers or int(self._ray.cluster_resources().get("CPU", 1)))
        self._model = model
        self._read: Any = ray.remote(max_retries=_TRIES)(read_chunk)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def begin(self, documents: Sequence[Document]) -> Callable[[], Read]:
        chunk = list(documents)
        reference = self._read.remote(self._model, chunk)

        def wait() -> Read:
            try:
                documents: Read = self._ray.get(reference)
            except self._ray.exceptions.WorkerCrashedError as error:
                raise _death_of(chunk) from error
            return documents

        return wait


@contextmanager
def _reaching_nobody() -> Iterator[None]:
    """Keep a Ray cluster that is started here to this machine.

    Ray would find this machine's address by a connection to a public name server. Its helper process would query the
    metadata services of three clouds, although usage statistics are off.
    """
    here = "127.0.0.1,localhost,::1"
    # Port 9 is "discard": no proxy listens there.
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    loopback = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "no_proxy": here, "NO_PROXY": here}
    before = dict(os.environ)
    os.environ.update(proxies | loopback)
    try:
        yield
    finally:
        for name in proxies | loopback:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def read_chunk(model: str, documents: list[Document]) -> Read:
    """Encode a chunk in a worker."""
    return encode_passages(_open_model(model), documents)


@lru_cache(maxsize=1)
def _open_model(model: str) -> DocumentEncoder:
    return load_model(model)


def _death_of(chunk: Sequence[Document]) -> DataError:
    remedy = "see whether memory is short; choose fewer --workers, or look at these documents"
    return DataError(
        f"a worker that reads {chunk[0].doc_id} to {chunk[-1].doc_id}", f"one that died {_TRIES} times", remedy
    )


def _load_chunk(place: Path) -> Read:
    with np.load(place) as arrays:
        documents = sum(name.endswith("-0") for name in arrays.files)
        expanded = len(arrays.files) > 2 * documents
        return [
            EncodedDocument(
                arrays[f"{number}-0"],
                arrays[f"{number}-1"],
                Expansion(*(arrays[f"{number}-{side}"] for side in range(2, 6))) if expanded else None,
            )
            for number in range(documents)
        ]
