"""The main functions of the package: build an index of files or documents, open it, search it.

    index = auscult.build_index("folder", out="my-index")
    for hit in auscult.open_index("my-index").search("How is gout treated?"):
        print(hit)

`auscult index` builds with the same code (`ingest.sources`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

from auscult.documents.document import Document
from auscult.encoders.registry import load_model
from auscult.errors import ConfigError
from auscult.index.manifest import Counts
from auscult.ingest import building
from auscult.ingest.choosing import AUTO, LOOKED_AT, Choice, choose_encoder
from auscult.ingest.files import Choices, FilesCorpus
from auscult.ingest.knowledge import knowledge_for
from auscult.ingest.sources import NO_KNOWLEDGE, index_sources, lasting_name, open_sources
from auscult.search.searcher import Searcher

_LOG: Final = logging.getLogger("auscult")
# Beginnings of lines about files that were not indexed.
_TROUBLE: Final = ("skipped: ", "not read: ")


@dataclass(frozen=True, slots=True)
class Index:
    """An index that was built.

    Attributes:
        counts: Of documents, passages and sentences.
        seconds: Wall-clock time of the build.
        left_out: How many files could not be read, and a line for each, with the reason.
    """

    folder: Path
    counts: Counts
    seconds: float
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.counts.in_words()} in {self.seconds:.1f} s: {self.folder}"

    def open(self) -> Searcher:
        """Open the index for searches.

        Raises:
            AuscultError: As for `open_index`.
        """
        return open_index(self.folder)


def build_index(
    source: str | Path | Iterable[str | Path | Document],
    out: str | Path,
    *,
    model: str = AUTO,
    knowledge: str | Path | Sequence[str | Path] | None = None,
    choices: Choices | None = None,
    skip_bad: bool = False,
) -> Index:
    """Build an index, in place of an older one.

    Files that cannot be read are skipped. The logger "auscult" warns about each, and `Index.left_out` names them.

    Args:
        source: A folder, file or pattern, several of these, or documents.
        out: The index folder. Readers see an old index until the new one is complete.
        model: A shipped encoder ("fast", "best", "multilingual"), a model folder, or "auto": `multilingual` if some
            documents are in French, Spanish or German, else `fast`.
        knowledge: Taxonomies that resolve entities (`concepts.opening`); an empty list for none. Default: the knowledge
            base of this machine.
        choices: How to read files.
        skip_bad: Also skip unreadable records within files.

    Raises:
        AuscultError: Nothing to index, a missing path or model, or a folder that cannot be written.
    """
    begun = time.perf_counter()
    folder = Path(out)
    paths, documents = _divide_source(source)
    sources = None
    if documents is None:
        sources = open_sources(paths, choices or Choices(), index=folder, skip_bad=skip_bad, report=None)
    encoder = None if model == AUTO else load_model(model)
    known = knowledge_for(knowledge) if knowledge is None or knowledge else None
    left_out: list[str] = []
    if sources is None:
        documents = documents if documents is not None else iter(())
        choice = Choice(model)
        if model == AUTO:
            first = [*islice(documents, LOOKED_AT)]
            choice, documents = choose_encoder(first), chain(first, documents)
            if choice.why:
                _LOG.info("%s", choice.why)
        manifest = building.build_index(
            documents,
            encoder or load_model(choice.model),
            folder,
            knowledge_base=known,
            corpus="documents",
            model_path=lasting_name(choice.model),
        )
    else:
        try:
            manifest = index_sources(
                sources,
                lambda named: nullcontext((encoder or load_model(named), lambda documents: documents)),
                folder,
                knowledge_base=known,
                model=model,
                say=lambda sentence: _LOG.info("%s", sentence),
            )
        finally:
            # Also after an error: the skipped files may explain why there was nothing to index.
            left_out = sources.left_out()
            for line in left_out:
                _LOG.log(logging.WARNING if line.startswith(_TROUBLE) else logging.INFO, "%s", line)
    if known is None and knowledge is None:
        _LOG.info("%s", NO_KNOWLEDGE)
    return Index(folder, manifest.counts, time.perf_counter() - begun, tuple(left_out))


def open_index(folder: str | Path) -> Searcher:
    """Open an index with the model that it was built with.

    Args:
        folder: The index folder, or the address of a published index.

    Raises:
        IndexFolderError: The folder has no complete index.
        ModelError: The model cannot be loaded.
        EngineError: The server with the index cannot be reached.
    """
    return Searcher.open(folder)


def read_files(*paths: str | Path, choices: Choices | None = None, skip_bad: bool = False) -> FilesCorpus:
    """Return the documents of files as an iterable. After the iteration, its `report` has what could not be read.

    Args:
        paths: Folders, files, archives and patterns.
        choices: How to read files.
        skip_bad: Skip an unreadable file even if it is the only one.

    Raises:
        CorpusMissingError: A path does not exist.
    """
    return FilesCorpus(*paths, choices=choices, skip_bad=skip_bad)


def _divide_source(
    source: str | Path | Iterable[str | Path | Document],
) -> tuple[list[str], Iterator[Document] | None]:
    """Return the source as paths, or as an iterator of documents, depending on its first item."""
    if isinstance(source, str | Path):
        return [str(source)], None
    items = iter(source)
    first = next(items, None)
    if first is None:
        return [], iter(())
    if isinstance(first, Document):
        return [], _check_documents(chain([first], items))
    paths = []
    for item in chain([first], items):
        if not isinstance(item, str | Path):
            raise ConfigError("paths or documents to index", f"a {type(item).__name__}", "give one or the other")
        paths.append(str(item))
    return paths, None


def _check_documents(items: Iterable[str | Path | Document]) -> Iterator[Document]:
    for item in items:
        if not isinstance(item, Document):
            raise ConfigError("documents alone, or paths alone", f"{item!r} behind a document", "build of one kind")
        yield item
