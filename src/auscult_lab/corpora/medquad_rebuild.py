"""From a copy of the two public repositories to the prepared MedQuAD files, or straight to a corpus."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.files.reading import packing
from auscult.files.records import BadRecords, Record
from auscult.files.writing import renewed_folder
from auscult.interfaces import Judgement, SentenceSplitter
from auscult.understanding import Query
from auscult_lab.corpora import medquad_records as format_
from auscult_lab.corpora.medquad import (
    CANDIDATE_COLUMNS,
    CANDIDATES,
    DOCUMENTS,
    QUERIES,
    require_split,
    strict_documents,
)
from auscult_lab.corpora.medquad_build import (
    candidate_pools,
    candidate_rows,
    document_records,
    test_queries,
    train_queries,
    withheld_records,
)
from auscult_lab.corpora.medquad_cdv import CdvAnnotations, read_annotations
from auscult_lab.corpora.medquad_xml import XmlDocument, read_tree

WITHHELD = "questions_without_answers.jsonl.gz"


def rebuild(tree: Path, annotations: Path, folder: Path) -> tuple[Path, ...]:
    """Write the five prepared files.

    All are written beside their places first and put there together at the end, so that a failure leaves what
    was there. The same input gives the same bytes.

    Args:
        tree: The top folder of a copy of github.com/abachaa/MedQuAD.
        annotations: A copy of `data/MedQuAD/` of github.com/sebastianarnold/cdv.
        folder: Where the files go; made where needed.

    Returns:
        The files written.

    Raises:
        CorpusMissingError: A part of the input is not there.
        DataError: A part of it is malformed, or tree and annotations do not fit each other.
    """
    cdv = read_annotations(annotations)
    documents = list(read_tree(tree))
    records = document_records(documents, cdv)
    asked = list(test_queries(cdv))
    contents: dict[str, Iterable[str]] = {
        DOCUMENTS: map(_json_line, records),
        QUERIES["test"]: map(_json_line, asked),
        QUERIES["train"]: map(_json_line, train_queries(records)),
        CANDIDATES: _table(candidate_rows(candidate_pools(records, asked))),
        WITHHELD: map(_json_line, withheld_records(documents)),
    }
    with renewed_folder(folder) as fresh:
        for name, lines in contents.items():
            with packing(fresh / name) as packed, io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream:
                stream.writelines(lines)
    return tuple(folder / name for name in contents)


def _json_line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _table(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "\t".join(CANDIDATE_COLUMNS) + "\n"
    for row in rows:
        yield "\t".join(row) + "\n"


class MedQuadXmlCorpus:
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

    name = "medquad"

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

    @cached_property
    def _cdv(self) -> CdvAnnotations | None:
        return read_annotations(self.annotations) if self.annotations is not None else None

    @cached_property
    def _records(self) -> list[Record]:
        self.bad = BadRecords()
        tree: list[XmlDocument] = list(read_tree(self.root, skip_bad=self._skip_bad, report=self.bad))
        return [self._as_record(fields) for fields in document_records(tree, self._cdv)]

    def _strict(self, split: str | None) -> frozenset[str]:
        return strict_documents(self._records) if split == format_.STRICT else frozenset()

    def _as_record(self, fields: Mapping[str, Any]) -> Record:
        return Record(self.root / fields.get("file", ""), 1, fields)

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

    def queries(self, split: str) -> Sequence[Query]:
        """Queries of a split, in the order of the prepared files."""
        return [format_.query_of(record) for record in self._asked(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Relevant passages of a split's queries."""
        return [judgement for record in self._asked(split) for judgement in format_.judgements_of(record)]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Up to 64 passages for each test query, sorted by passage id; none for other splits."""
        self._require(split)
        if split != "test":
            return {}
        pools = candidate_pools(
            (dict(record.fields) for record in self._records), (dict(record.fields) for record in self._asked(split))
        )
        return {query_id: sorted(c.passage_id for c in pool) for query_id, pool in pools}

    def _asked(self, split: str) -> Iterator[Record]:
        self._require(split)
        if split == "test":
            return (self._as_record(fields) for fields in (test_queries(self._cdv) if self._cdv else ()))
        records = map(self._as_record, train_queries(dict(record.fields) for record in self._records))
        strict = self._strict(split)
        return (record for record in records if format_.in_split(record, split, strict))

    def _require(self, split: str | None) -> None:
        require_split(split)
        if split is not None and self.annotations is None:
            raise ConfigError(
                "CDV's annotations, which make the splits",
                "the XML tree alone",
                "name a copy of data/MedQuAD/ of github.com/sebastianarnold/cdv",
            )
