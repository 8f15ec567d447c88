"""People's judgements of hits: kept a line each, and made into a collection that models are measured and trained on.

A line names document and passage, and does not repeat their text: what is removed from the index is gone here, too.
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
    """What somebody said of a hit.

    Attributes:
        question: What was asked in words.
        entity: And as an entity.
        aspects: With aspects.
        relevance: 0 where it does not answer; 1 and more where it does, and how well.
        span: Which characters of the document's text answer; None where that was not said.
        caller: Who said it; empty for nobody in particular.
        time: ISO 8601.
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
        """The same for all judgements of one question."""
        asked = json.dumps([self.question, self.entity, self.aspects])
        return f"q{hashlib.sha256(asked.encode()).hexdigest()[:12]}"


class Feedback:
    """The file of judgements.

    Args:
        folder: That it is in; made with the first judgement.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()

    def add(self, judged: Judged) -> None:
        """Keep a judgement; it is on the disk when this returns.

        Raises:
            OSError: The disk refuses.
        """
        line = (json.dumps(asdict(judged), ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                # A line that a crash cut off must not swallow this one.
                if file.tell():
                    with self._path.open("rb") as written:
                        written.seek(-1, os.SEEK_END)
                        line = line if written.read() == b"\n" else b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())


def read(folder: Path) -> Iterator[Judged]:
    """Yield the judgements of a folder, in the order given; a line that was cut off is passed over.

    Raises:
        DataError: There is no file of them.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataError(
            f"judgements in {path}", "no such file", "judge some hits first: on the page, or POST /feedback"
        )
    for line in path.read_bytes().splitlines():
        try:
            told = parse_json(line)
            span = tuple(told["span"]) if told["span"] else None
            yield Judged(**{**told, "aspects": tuple(told["aspects"]), "span": span})
        except (ValueError, TypeError, KeyError):
            continue


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        judgements: How many, one for each question and passage.
        gone: Judgements of passages that are in the index no more.
    """

    queries: int
    judgements: int
    gone: int


def export(judgements: Iterable[Judged], reader: GenerationReader, folder: Path) -> Exported:
    """Write judgements as a collection in BEIR's layout, which `auscult evaluate` and `auscult try` read.

    Of several people's judgements of one passage the mean counts, rounded; of one person's the last.

    Args:
        judgements: In the order in which they were given.
        reader: Of the index; its texts become the collection.
        folder: Written whole or not at all.

    Raises:
        DataError: No judged passage is in the index.
    """
    said: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    queries: dict[str, Judged] = {}
    documents: dict[str, str] = {}
    for each in judgements:
        queries.setdefault(each.query_id, each)
        documents[each.passage_id] = each.doc_id
        said[each.query_id, each.passage_id][each.caller] = each.relevance
    passages = {passage: found for passage in documents if (found := _passage(reader, documents[passage], passage))}
    kept = {pair: sum(by.values()) / len(by) for pair, by in said.items() if pair[1] in passages}
    if not kept:
        raise DataError("judgements of passages of this index", "none", "name the index that was served")
    asked = [queries[query_id] for query_id in dict.fromkeys(query_id for query_id, _ in kept)]
    with whole_folder(folder) as fresh:
        _write_lines(fresh / "corpus.jsonl", passages.values())
        _write_lines(fresh / "queries.jsonl", map(_query, asked))
        (fresh / "qrels").mkdir()
        rows = [f"{query_id}\t{passage_id}\t{round(mean)}" for (query_id, passage_id), mean in kept.items()]
        head = "query-id\tcorpus-id\tscore"
        (fresh / "qrels" / "test.tsv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return Exported(len(asked), len(kept), len(said) - len(kept))


def _passage(reader: GenerationReader, doc_id: str, passage_id: str) -> dict[str, Any] | None:
    row = reader.row_of(doc_id)
    for place in reader.passages_of(row) if row is not None else ():
        if reader.passage_id(place) == passage_id:
            title = reader.document_record(row or 0).title
            heading = reader.passage(place).heading
            named = " - ".join(filter(None, (title, heading)))
            return {"_id": passage_id, "title": named, "text": reader.passage_text(place)}
    return None


def _query(judged: Judged) -> dict[str, Any]:
    aspects = list(judged.aspects)
    text = judged.question or " ".join((judged.entity, *aspects))
    told = {"entity": judged.entity, "aspects": aspects} if judged.entity else {}
    return {"_id": judged.query_id, "text": text, "metadata": told}


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
