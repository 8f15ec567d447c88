"""MedQuAD from its prepared files (benabacha2019; test split of arnold2020)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from auscult.documents import Document
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.records import BadRecords, Record, RecordError, read_records, reject, settle
from auscult.interfaces import Judgement, SentenceSplitter
from auscult.understanding import Query
from auscult_lab.corpora import medquad_records as format_
from auscult_lab.corpora.medquad_overlap import strict_documents

DOCUMENTS = "documents.jsonl.gz"
QUERIES: Mapping[str, str] = {
    "test": "queries_test.jsonl.gz",
    "train": "queries_train.jsonl.gz",
    "train-disjoint": "queries_train.jsonl.gz",
    format_.STRICT: "queries_train.jsonl.gz",
}
CANDIDATES = "candidates_test_bm25.tsv.gz"
CANDIDATE_COLUMNS = ("query_id", "rank", "relevance", "passage_id", "bm25_score")


class MedQuadCorpus:
    """A folder of prepared files: 5,486 documents, CDV's 3,293 test queries, 9,889 train queries.

    Splits: "test", "train", and its parts "train-disjoint" and "train-strict" (`medquad_records.SPLITS`): only these
    may be learned from when the test is reported. The first is what older figures were made with; some of its
    documents share names, concepts and passages with test documents, those of the second none.

    Args:
        path: The folder.
        skip_bad: Leave bad records out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.

    Attributes:
        bad: What the latest pass over the documents skipped.
    """

    name = "medquad"

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
        require_split(split)
        self.bad = report = BadRecords()
        strict = self._strict(split, report)
        seen: set[str] = set()
        for record in read_records(self.path / DOCUMENTS, skip_bad=self._skip_bad, report=report):
            try:
                doc_id = record.text("doc_id")
                if doc_id in seen:
                    reject("duplicate id", record.where, "an id of its own for each document", f"{doc_id!r} again")
                seen.add(doc_id)
                if format_.in_split(record, split, strict):
                    yield format_.document_of(record, self._splitter)
            except RecordError as error:
                settle(error, self._skip_bad, report)

    def queries(self, split: str) -> Sequence[Query]:
        """Queries of a split, in file order."""
        return [format_.query_of(record) for record in self._asked(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Relevant passages of a split's queries, in file order."""
        return [judgement for record in self._asked(split) for judgement in format_.judgements_of(record)]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Up to 64 passages for each test query, sorted by passage id; none for other splits.

        The file lists true answers first. Sorting takes that order away for good.
        """
        require_split(split)
        if split != "test":
            return {}
        found: dict[str, list[str]] = {}
        for query_id, passage_id in _read_candidates(self.path / CANDIDATES):
            found.setdefault(query_id, []).append(passage_id)
        return {query_id: sorted(passage_ids) for query_id, passage_ids in found.items()}

    def _asked(self, split: str) -> Iterator[Record]:
        require_split(split)
        strict = self._strict(split)
        for record in read_records(self.path / QUERIES[split]):
            if split == "test" or format_.in_split(record, split, strict):
                yield record

    def _strict(self, split: str | None, report: BadRecords | None = None) -> frozenset[str]:
        """The documents of `train-strict`, where it is asked for."""
        if split != format_.STRICT:
            return frozenset()
        records = read_records(self.path / DOCUMENTS, skip_bad=self._skip_bad)
        return strict_documents(records, skip_bad=self._skip_bad, report=report)


def require_split(split: str | None) -> None:
    """Refuse a name that is no split's; None means all.

    Raises:
        ConfigError: There is no such split.
    """
    if split is not None and split not in format_.SPLITS:
        raise ConfigError(f"one of the splits {', '.join(format_.SPLITS)}", repr(split), "correct the split")


def _read_candidates(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        raise CorpusMissingError(f"candidates at {path}", "no such file", "run: auscult data get medquad")
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.rstrip("\r\n").split("\t")
                if len(fields) != len(CANDIDATE_COLUMNS) or (number == 1) != (fields[0] == CANDIDATE_COLUMNS[0]):
                    raise DataError(
                        f"the columns {', '.join(CANDIDATE_COLUMNS)} and one header line",
                        f"another line ({path}, line {number})",
                        "run: auscult data get medquad",
                    )
                if number > 1:
                    yield fields[0], fields[3]
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as damage:
        raise DataError(
            "a whole gzip file of UTF-8 text",
            f"{damage} ({path}, behind line {number})",
            "run: auscult data get medquad",
        ) from damage
