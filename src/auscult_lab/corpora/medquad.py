"""MedQuAD (benabacha2019; test split of arnold2020), from its prepared files or from the two public repositories."""

from __future__ import annotations

import gzip
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from auscult.documents import Document
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.records import BadRecords, Record, RecordError, read_records, reject, settle
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.corpora import medquad_records as format_
from auscult_lab.corpora.medquad_build import candidate_pools, document_records, test_queries, train_queries
from auscult_lab.corpora.medquad_sources import CdvAnnotations, read_annotations, read_tree


class _MedQuad(ABC):
    """Queries, judgements and candidates from records, for both corpora."""

    name = "medquad"

    @abstractmethod
    def _questions_of(self, split: str) -> Iterable[Record]:
        """Return the records of a split's queries, in the order of the prepared files."""

    @abstractmethod
    def _pools(self) -> Iterable[tuple[str, list[str]]]:
        """Return each test query's id and candidates."""

    def _require(self, split: str | None) -> None:
        format_.require_split(split)

    def queries(self, split: str) -> Sequence[Query]:
        """Return the queries of a split, in file order."""
        return [format_.query_of(record) for record in self._questions_of(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the relevant passages of a split's queries, in file order."""
        return [judgement for record in self._questions_of(split) for judgement in format_.judgements_of(record)]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return up to 64 passages for each test query, sorted by passage id; none for other splits.

        CDV's pools list true answers first. Sorting removes that order.
        """
        self._require(split)
        return {query_id: sorted(pool) for query_id, pool in self._pools()} if split == "test" else {}


class MedQuadCorpus(_MedQuad):
    """A folder of prepared files: 5,486 documents, CDV's 3,293 test queries, 9,889 train queries.

    Splits: "test", "train", and its parts "train-disjoint" and "train-strict" (`medquad_records.SPLITS`). A model that
    is tested on "test" may learn from these parts only. Some documents of "train-disjoint", which older figures
    used, share names, concepts or passages with test documents; those of "train-strict" share none.

    Args:
        path: The folder.
        skip_bad: Leave bad records out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.

    Attributes:
        bad: What the latest pass over the documents skipped.
    """

    def __init__(self, path: Path | str, skip_bad: bool = False, *, splitter: SentenceSplitter | None = None) -> None:
        self.path = Path(path)
        self.bad = BadRecords()
        self._skip_bad = skip_bad
        self._splitter = splitter

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream documents: the test split in CDV's order, then the others by file.

        Raises:
            CorpusMissingError: The file is not there.
            ConfigError: No such split.
            RecordError: A record is bad or repeats an id (unless `skip_bad`).
        """
        self._require(split)
        self.bad = report = BadRecords()
        strict = self._strict(split, report)
        seen: set[str] = set()
        for record in read_records(self.path / format_.DOCUMENTS, skip_bad=self._skip_bad, report=report):
            try:
                doc_id = record.text("doc_id")
                if doc_id in seen:
                    reject("duplicate id", record.where, "an id of its own for each document", f"{doc_id!r} again")
                seen.add(doc_id)
                if format_.in_split(record, split, strict):
                    yield format_.document_of(record, self._splitter)
            except RecordError as error:
                settle(error, self._skip_bad, report)

    def _questions_of(self, split: str) -> Iterator[Record]:
        self._require(split)
        strict = self._strict(split)
        for record in read_records(self.path / format_.QUERIES[split]):
            if split == "test" or format_.in_split(record, split, strict):
                yield record

    def _strict(self, split: str | None, report: BadRecords | None = None) -> frozenset[str]:
        """Return the document ids of `train-strict`; none for other splits."""
        if split != format_.STRICT:
            return frozenset()
        records = read_records(self.path / format_.DOCUMENTS, skip_bad=self._skip_bad)
        return format_.strict_documents(records, skip_bad=self._skip_bad, report=report)

    def _pools(self) -> Iterable[tuple[str, list[str]]]:
        path, remedy = self.path / format_.CANDIDATES, "run: auscult data get medquad"
        if not path.is_file():
            raise CorpusMissingError(f"candidates at {path}", "no such file", remedy)
        columns = format_.CANDIDATE_COLUMNS
        pools: dict[str, list[str]] = {}
        number = 0
        try:
            with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
                for number, line in enumerate(lines, start=1):
                    fields = line.rstrip("\r\n").split("\t")
                    if len(fields) != len(columns) or (number == 1) != (fields[0] == columns[0]):
                        expected = f"the columns {', '.join(columns)} and one header line"
                        raise DataError(expected, f"another line ({path}, line {number})", remedy)
                    if number > 1:
                        pools.setdefault(fields[0], []).append(fields[3])
        except (EOFError, OSError, UnicodeDecodeError, zlib.error) as damage:
            found = f"{damage} ({path}, behind line {number})"
            raise DataError("a whole gzip file of UTF-8 text", found, remedy) from damage
        return pools.items()


class MedQuadXmlCorpus(_MedQuad):
    """MedQuAD read from the public XML tree: documents, queries and candidates of the prepared files.

    The tree is read once, at first use, and its records (not the documents with their sentences) stay in
    memory: about 60 MB.

    Args:
        root: The top folder of a copy of github.com/abachaa/MedQuAD.
        annotations: A copy of `data/MedQuAD/` of github.com/sebastianarnold/cdv. Without it there are
            documents, but neither splits nor queries.
        skip_bad: Leave files out that cannot be read and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
    """

    def __init__(
        self,
        root: Path | str,
        annotations: Path | str | None = None,
        *,
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        self.root = Path(root)
        self.annotations = Path(annotations) if annotations is not None else None
        self.bad = BadRecords()
        self._skip_bad = skip_bad
        self._splitter = splitter

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream documents: the test split in CDV's order, then the others by file.

        Raises:
            CorpusMissingError: The tree or the annotations are not there.
            ConfigError: No such split, or a split without annotations.
            DataError: A file is malformed (unless `skip_bad`), or the annotations do not fit the tree.
        """
        self._require(split)
        strict = self._strict(split)
        for record in self._records:
            if format_.in_split(record, split, strict):
                yield format_.document_of(record, self._splitter)

    @cached_property
    def _cdv(self) -> CdvAnnotations | None:
        return read_annotations(self.annotations) if self.annotations is not None else None

    @cached_property
    def _records(self) -> list[Record]:
        self.bad = BadRecords()
        tree = list(read_tree(self.root, skip_bad=self._skip_bad, report=self.bad))
        return [self._as_record(fields) for fields in document_records(tree, self._cdv)]

    def _as_record(self, fields: Mapping[str, Any]) -> Record:
        return Record(self.root / fields.get("file", ""), 1, fields)

    def _strict(self, split: str | None) -> frozenset[str]:
        return format_.strict_documents(self._records) if split == format_.STRICT else frozenset()

    def _questions_of(self, split: str) -> Iterable[Record]:
        self._require(split)
        if split == "test":
            return [self._as_record(fields) for fields in (test_queries(self._cdv) if self._cdv else ())]
        records = map(self._as_record, train_queries(dict(record.fields) for record in self._records))
        strict = self._strict(split)
        return [record for record in records if format_.in_split(record, split, strict)]

    def _pools(self) -> Iterable[tuple[str, list[str]]]:
        documents, queries = (
            [dict(record.fields) for record in each] for each in (self._records, self._questions_of("test"))
        )
        for query_id, pool in candidate_pools(documents, queries):
            yield query_id, [candidate.passage_id for candidate in pool]

    def _require(self, split: str | None) -> None:
        super()._require(split)
        if split is not None and self.annotations is None:
            raise ConfigError(
                "CDV's annotations, which make the splits",
                "the XML tree alone",
                "name a copy of data/MedQuAD/ of github.com/sebastianarnold/cdv",
            )
