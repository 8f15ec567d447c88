"""MedQuAD from its prepared files (benabacha2019; test split of arnold2020).

What documents of MedQuAD share with its test documents: names, UMLS concepts, passages.

MedQuAD is made of several sites that write about the same diseases, and repeat each other. `train-disjoint` leaves out
documents whose title is a test entity's name, or whose UMLS concepts are exactly a test document's; `train-strict`
leaves out all that share anything by the rules of `TestTraces`.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from auscult.documents import Document
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.records import BadRecords, Record, RecordError, read_records, reject, settle
from auscult.interfaces import Judgement, SentenceSplitter
from auscult.understanding import Query
from auscult_lab.corpora import medquad_records as format_

Shared = Literal["name", "concept", "passage"]
"""What a document may share with a test document."""

NOT_A_NAME = "What I need to know about "
"""Before the names in titles of some NIDDK pages."""


def normalised_words(text: str) -> str:
    """Runs of the letters a to z and of digits, in lower case and without accents, joined by spaces."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return " ".join(re.findall(r"[a-z0-9]+", "".join(c for c in folded if not unicodedata.combining(c))))


def normalised_name(name: str | None) -> str:
    """`normalised_words` of a title or synonym, without NIDDK's "What I need to know about"."""
    return normalised_words((name or "").replace(NOT_A_NAME, ""))


class TestTraces:
    """Names, concepts and passages of the test documents, to find what other documents share with them.

    A document shares a *name* where its title or one of its synonyms is a title, synonym or CDV's entity of a test
    document, as `normalised_name` has them; a *concept* where any UMLS identifier of it is one of a test document; a
    *passage* where the words of one of its passages are those of a test passage, as `normalised_words` has them.

    Related diseases share nothing by these rules, and neither do other spellings that no field joins, nor passages
    that have some of their sentences in common.
    """

    __test__ = False

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._concepts: set[str] = set()
        self._passages: set[str] = set()

    def add(self, record: Record) -> None:
        """Remember a test document.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        names, concepts, passages = _traces_of(record)
        self._names |= names
        self._concepts |= concepts
        self._passages |= passages

    def shared_by(self, record: Record) -> frozenset[Shared]:
        """What a document's record shares with a test document; empty for nothing.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        names, concepts, passages = _traces_of(record)
        found: dict[Shared, bool] = {
            "name": not names.isdisjoint(self._names),
            "concept": not concepts.isdisjoint(self._concepts),
            "passage": not passages.isdisjoint(self._passages),
        }
        return frozenset(what for what, shared in found.items() if shared)


def _traces_of(record: Record) -> tuple[set[str], set[str], set[str]]:
    """Names, concepts and passages of a record, normalised."""
    names = (record.text("title", ""), record.text("entity", ""), *record.texts("synonyms"))
    passages = (passage.text("text") for passage in record.records("passages"))
    return (
        set(map(normalised_name, names)) - {""},
        set(record.texts("umls_cuis")),
        set(map(normalised_words, passages)) - {""},
    )


def strict_documents(
    records: Iterable[Record], *, skip_bad: bool = False, report: BadRecords | None = None
) -> frozenset[str]:
    """Ids of the training documents that share nothing with a test document (`TestTraces`): `train-strict`.

    Args:
        records: Of all documents, in any order.
        skip_bad: Leave out documents with bad fields, instead of raising.
        report: Where these are counted.

    Raises:
        RecordError: A field is missing or of the wrong type (unless `skip_bad`).
    """
    traces = TestTraces()
    train = []
    for record in records:
        if record.fields.get("split") == "train":
            train.append(record)
        elif record.fields.get("split") == "test":
            with _settled(skip_bad, report):
                traces.add(record)
    apart: set[str] = set()
    for record in train:
        with _settled(skip_bad, report):
            if not traces.shared_by(record):
                apart.add(record.text("doc_id"))
    return frozenset(apart)


@contextmanager
def _settled(skip_bad: bool, report: BadRecords | None) -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        settle(error, skip_bad, report)


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
