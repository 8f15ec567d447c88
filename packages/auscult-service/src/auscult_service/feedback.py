"""People's judgements of hits: stored one per line, and exported as a collection to evaluate and train models.

A line names document and passage but not their text, so a document removed from the index leaves no text here.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult.files.writing import whole_folder
from auscult.index.reader import GenerationReader

FILE: Final = "feedback.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judgement of a hit.

    Attributes:
        question: The question in words; empty where the search was by entity.
        entity: The entity of the search; may be empty.
        aspects: The aspects of the search; may be empty.
        relevance: 0 where the hit does not answer; 1 to 3 for how well it does.
        span: The characters of the document's text that answer, half-open; None where not given.
        caller: Name of the judge; empty for an anonymous one.
        time: Time of the judgement, ISO 8601.
    """

    index: str
    question: str
    entity: str
    aspects: tuple[str, ...]
    doc_id: str
    passage_id: str
    relevance: int
    span: tuple[int, int] | None = None
    caller: str = ""
    time: str = ""

    @property
    def query_id(self) -> str:
        """Id that all judgements of one question share."""
        parts = json.dumps([self.question, self.entity, self.aspects])
        return f"q{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


class Feedback:
    """The file of judgements.

    Args:
        folder: The folder of the file; created with the first judgement.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()

    def add(self, judged: Judged) -> None:
        """Store a judgement. It is on the disk when this returns.

        Raises:
            OSError: The file cannot be written.
        """
        line = (json.dumps(asdict(judged), ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                # A crash may have left half a line: begin a new one.
                if file.tell():
                    with self._path.open("rb") as written:
                        written.seek(-1, os.SEEK_END)
                        line = line if written.read() == b"\n" else b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())


def read(folder: Path) -> Iterator[Judged]:
    """Yield the judgements of a folder in order. Incomplete lines are skipped.

    Raises:
        DataError: There is no file of judgements.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataError(
            f"judgements in {path}", "no such file", "judge some hits first: on the page, or POST /feedback"
        )
    for line in path.read_bytes().splitlines():
        try:
            record = parse_json(line)
            span = tuple(record["span"]) if record["span"] else None
            yield Judged(**{**record, "aspects": tuple(record["aspects"]), "span": span})
        except (ValueError, TypeError, KeyError):
            continue


@dataclass(frozen=True, slots=True)
class Exported:
    """Counts of an export.

    Attributes:
        queries: Number of questions.
        judgements: Number of judgements, one for each pair of question and passage.
        gone: Number of such pairs whose passage is no longer in the index.
    """

    queries: int
    judgements: int
    gone: int


def export(judgements: Iterable[Judged], reader: GenerationReader, folder: Path) -> Exported:
    """Write judgements as a collection in BEIR's layout, which `auscult evaluate` and `auscult try` read.

    Where several people judged a passage, their rounded mean counts; where one person judged it twice, the last.

    Args:
        judgements: In the order in which they were given.
        reader: The index; its texts become the collection.
        folder: The folder to write; it is written completely or not at all.

    Raises:
        DataError: No judged passage is in the index.
    """
    ratings: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    queries: dict[str, Judged] = {}
    documents: dict[str, str] = {}
    for judgement in judgements:
        queries.setdefault(judgement.query_id, judgement)
        documents[judgement.passage_id] = judgement.doc_id
        ratings[judgement.query_id, judgement.passage_id][judgement.caller] = judgement.relevance
    found = ((passage, _find_passage(reader, doc_id, passage)) for passage, doc_id in documents.items())
    passages = {passage: record for passage, record in found if record}
    means = {pair: sum(by.values()) / len(by) for pair, by in ratings.items() if pair[1] in passages}
    if not means:
        raise DataError("judgements of passages of this index", "none", "name the index that was served")
    judged = [queries[query_id] for query_id in dict.fromkeys(query_id for query_id, _ in means)]
    with whole_folder(folder) as fresh:
        _write_lines(fresh / "corpus.jsonl", passages.values())
        _write_lines(
            fresh / "queries.jsonl",
            (
                {
                    "_id": each.query_id,
                    "text": each.question or " ".join((each.entity, *each.aspects)),
                    "metadata": {"entity": each.entity, "aspects": list(each.aspects)} if each.entity else {},
                }
                for each in judged
            ),
        )
        (fresh / "qrels").mkdir()
        rows = [f"{query_id}\t{passage_id}\t{round(mean)}" for (query_id, passage_id), mean in means.items()]
        head = "query-id\tcorpus-id\tscore"
        (fresh / "qrels" / "test.tsv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return Exported(len(judged), len(means), len(ratings) - len(means))


def _find_passage(reader: GenerationReader, doc_id: str, passage_id: str) -> dict[str, Any] | None:
    row = reader.row_of(doc_id)
    for place in reader.passages_of(row) if row is not None else ():
        if reader.passage_id(place) == passage_id:
            title = reader.document_record(row or 0).title
            heading = reader.passage(place).heading
            named = " - ".join(filter(None, (title, heading)))
            return {"_id": passage_id, "title": named, "text": reader.passage_text(place)}
    return None


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
