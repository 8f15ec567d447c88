"""NFCorpus in its authors' own layout: questions of NutritionFacts.org against medical abstracts (boteva2016).

A folder as the authors' archive unpacks:

- `raw/doc_dump.txt` (or `doc_dump.txt`): `id <tab> url <tab> title <tab> abstract`, one document a line, as written.
- `<split>.<kind>.queries`: `id <tab> text`, in lower case and tokenised. Kinds: "titles" (all queries), "all" (with
  every field of the page), "nontopic-titles", "vid-titles", "vid-desc" (parts of the queries).
- `<split>.3-2-1.qrel`: `query 0 document level`. 3: the page cites the document; 2: it links to a page that does;
  1: both are under one topic. `<split>.2-1-0.qrel` is the same, lowered by one; its authors experimented with that.

The splits "train", "dev" and "test" are the archive's own: 80, 10 and 10 % of the queries, the division that ck-hqa
follows too. Like ck-hqa (section 5.1), a shared topic does not count as relevant here: the relevance of a judgement
is 2 for a direct, 1 for an indirect link and 0 for a topic. Pass `topics=True` for 3, 2 and 1.

Departures from ck-hqa: it counts direct and indirect links alike, while a graded measure (nDCG) here distinguishes
them. Questions without a relevant document are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

from auscult.documents import Document, Section
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import REMEDY, BadRecords, Record, RecordError, reject, settle
from auscult.ingest.corpus import Judgement
from auscult.ingest.rows import numbered_lines
from auscult.ingest.sectioned import Draft, SectionedCorpus
from auscult.understanding import Query

Kind = Literal["titles", "all", "nontopic-titles", "vid-titles", "vid-desc"]
SPLITS = ("train", "dev", "test")

_FIELDS = ("id", "url", "title", "abstract")
# Subtracted from a level to get links on the scale 2-1-0.
_LEVELS = {"3-2-1": 1, "2-1-0": 0}


def is_nfcorpus(folder: Path) -> bool:
    """Check whether a folder is laid out like the authors' archive."""
    return any(path.is_file() for path in _dumps(folder)) or any(folder.glob("*.[0-9]-[0-9]-[0-9].qrel"))


class NfCorpus(SectionedCorpus):
    """A folder in the layout of NFCorpus' archive.

    Args:
        folder: Holds the queries and judgements, and `doc_dump.txt` or `raw/doc_dump.txt`.
        name: The corpus' name.
        kind: Field of the page that is the query.
        topics: Count a shared topic as relevant, on the scale 3-2-1.
        skip_bad: Leave bad documents out and count them in `bad`. Queries and judgements are always read strictly.
        splitter: Finds sentences; the default splitter when not given.

    Raises:
        CorpusMissingError: The folder has no doc_dump.txt.
        DataError: There is no such kind.
    """

    name = "nfcorpus"

    def __init__(
        self,
        folder: Path | str,
        *,
        name: str = "",
        kind: Kind = "titles",
        topics: bool = False,
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        self.folder = Path(folder)
        if kind not in get_args(Kind):
            raise DataError(f"one of {', '.join(get_args(Kind))} as kind of query", repr(kind), "name one of these")
        self.kind, self.topics = kind, topics
        dump = next((path for path in _dumps(self.folder) if path.is_file()), None)
        if dump is None:
            raise CorpusMissingError(
                f"doc_dump.txt in {self.folder} or {self.folder / 'raw'}",
                "no such file",
                "unpack NFCorpus' archive as it is, or its BEIR edition (corpus.jsonl, queries.jsonl, qrels/)",
            )
        super().__init__(dump, name=name, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Stream the documents' lines."""
        for path in self.paths:
            for number, line in numbered_lines(path):
                fields = [field.strip() for field in line.split("\t")]
                if len(fields) != len(_FIELDS):
                    expected = f"{', '.join(_FIELDS)} between tabs"
                    found = f"{len(fields)} fields ({path}, line {number})"
                    settle(RecordError("malformed line", expected, found, REMEDY), self._skip_bad, report)
                    continue
                yield Record(path, number, dict(zip(_FIELDS, fields, strict=True)))

    def draft(self, record: Record) -> Draft:
        """Read one document; one without abstract is read by its title."""
        doc_id, title = record.text("id"), record.text("title")
        return Draft(
            doc_id=doc_id,
            title=title,
            sections=[Section("", record.text("abstract") or title, passage_id=doc_id)],
            source="NFCorpus",
            url=record.text("url"),
        )

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream all documents, whatever the split: the splits divide queries and share documents."""
        return super().documents()

    def queries(self, split: str) -> Sequence[Query]:
        """Return the queries of a split that have a relevant document, in the order of the file.

        Queries without one (a few that are linked by topic alone) are left out, as in BEIR's edition: no ranking could
        be right for them.

        Raises:
            CorpusMissingError: A file of the split is not there.
            RecordError: A line is malformed; names file and line.
        """
        relevant = {judgement.query_id for judgement in self.judgements(split) if judgement.relevance > 0}
        path = self.folder / f"{split}.{self.kind}.queries"
        queries = []
        for number, line in numbered_lines(path):
            query_id, _, text = (part.strip() for part in line.partition("\t"))
            if not query_id or not text:
                reject("malformed line", f"{path}, line {number}", "id and text between tabs", repr(line[:40]))
            if query_id in relevant:
                queries.append(Query(query_id=query_id, entity=text, text=text))
        return queries

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the links of a split, in order: 2 direct, 1 indirect, 0 by topic (with `topics`, 3, 2 and 1).

        Raises:
            CorpusMissingError: There is no such split.
            RecordError: A line has not four fields, or its level is none of the file's; names file and line.
        """
        for levels, lowered in _LEVELS.items():
            path = self.folder / f"{split}.{levels}.qrel"
            if path.is_file():
                shift = int(self.topics) - lowered
                return [_judgement(line, f"{path}, line {n}", levels, shift) for n, line in numbered_lines(path)]
        have = sorted({path.name.partition(".")[0] for path in self.folder.glob("*.qrel")})
        raise CorpusMissingError(
            f"{split}.3-2-1.qrel or {split}.2-1-0.qrel in {self.folder}", f"the splits {have}", "name one of these"
        )


def _dumps(folder: Path) -> tuple[Path, Path]:
    return folder / "doc_dump.txt", folder / "raw" / "doc_dump.txt"


def _judgement(line: str, where: str, levels: str, shift: int) -> Judgement:
    parts = line.split()
    if len(parts) != 4:
        reject("malformed line", where, "query, 0, document and level", f"{len(parts)} fields")
    if parts[3] not in levels.split("-"):
        reject("wrong type", where, f"a level of {levels}", repr(parts[3]))
    return Judgement(parts[0], parts[2], int(parts[3]) + shift)
