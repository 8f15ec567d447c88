"""Tasks of the package of engines: encode on many cores or machines, and write an index at an address.

The package registers them by entry points of `auscult.tasks` (`extensions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents.document import Document
from auscult.encoders.contract import DocumentEncoder
from auscult.engines.opening import PACKAGE
from auscult.extensions import load_from
from auscult.index.manifest import Counts
from auscult.ingest.files import FilesCorpus

_TASKS: Final = "auscult.tasks"


@dataclass(frozen=True, slots=True)
class WriteReport:
    """The result of writing an index at an address.

    Attributes:
        written: Number of new and changed documents.
        unchanged: Number of documents that the index had already.
        removed: Number of documents that left the index, replaced ones included.
        removed_ids: Ids of the first of these.
        counts: Contents of the index now.
    """

    written: int
    unchanged: int
    removed: int
    removed_ids: Sequence[str]
    counts: Counts


class StreamEncoder(DocumentEncoder, Protocol):
    """An encoder of the documents of its stream, which workers encode ahead of time."""

    def stream(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents, each after a worker has encoded it."""
        ...


def encode_in_bulk(
    encoder: DocumentEncoder, model: str, out: Path, *, executor: Literal["here", "processes", "ray"], workers: int
) -> AbstractContextManager[StreamEncoder]:
    """Open an encoder for `build_index`, which must index the documents of its stream.

    Args:
        encoder: The model, opened.
        model: What `load_model` takes to load it, here and on all machines with workers.
        out: The index folder that is written.
        executor: Where documents are encoded.
        workers: How many workers; 0 for one a core, or for all cores of the cluster.

    Raises:
        ConfigError: The package with this task is not installed.
        MissingExtraError: Ray is not installed.
        DataError: A worker died again and again.
    """
    encode: Callable[..., AbstractContextManager[StreamEncoder]]
    encode = load_from(PACKAGE, _TASKS, "encode-in-bulk", "documents are encoded in chunks")
    return encode(encoder, model, out, executor=executor, workers=workers)


def write_files(
    files: FilesCorpus,
    address: str,
    encoder: DocumentEncoder,
    model: str,
    *,
    knowledge_base: KnowledgeBase | None,
    processes: int,
    batch_size: int,
    replace: bool,
    progress: Callable[[int, int, int], None],
) -> WriteReport:
    """Make the index at an address hold the documents of files, together with all processes of the same job.

    Unchanged documents are not encoded again. Documents that the files do not hold are removed.

    Args:
        files: Files to read; their report is filled.
        address: Address of the index.
        encoder: Encodes the documents.
        model: What `load_model` takes to load the encoder, here and at searchers.
        knowledge_base: Stored in the index together with the entities that documents are about.
        processes: How many processes take part on this machine.
        batch_size: Documents encoded at once.
        replace: Whether documents of other places, and another job that was not finished, may be removed.
        progress: Called with how many shares were read and written, and how many there are.

    Raises:
        AuscultError: The package with this task is not installed, a file, a document or a worker is at fault, or a
            server cannot be reached or refuses.
    """
    write: Callable[..., WriteReport] = load_from(PACKAGE, _TASKS, "write-files", "indexes are written at addresses")
    return write(
        files,
        address,
        encoder,
        model,
        knowledge_base=knowledge_base,
        processes=processes,
        batch_size=batch_size,
        replace=replace,
        progress=progress,
    )
