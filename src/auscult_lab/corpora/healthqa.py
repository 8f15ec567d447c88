"""HealthQA: consumer questions over sections of patient.info articles (zhu2019 section 4).

Three text files, one a split, in the form in which the authors share them and their code reads them
(`pinfo-mz-train.txt`, `pinfo-mz-dev.txt`, `pinfo-mz-test.txt`; any other beginning of the name will do, and "valid",
"val" or "validation" for "dev"). One line is

    label <tab> question <tab> text,

with words between spaces and one comma after the text, which is removed. Ten lines in a row are one
question: the section it was written for (label 1) and nine others, some of the same article (label 0). The protocol is
to rank these ten. Groups are found by counting to ten, since two neighbouring questions may have the same wording.

A text that occurs in several lines is one document with one passage, whose id comes from its words. Where the folder
also holds `HealthQA_test_lines.tsv` (CDV's public annotations; arnold2020), test questions carry the entity and aspect
that it gives; elsewhere the question stands in the entity's place, as in a BEIR folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auscult.documents import Document, Section, build_document
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError
from auscult.files.records import BadRecords, reject
from auscult.ingest.corpus import Judgement
from auscult.ingest.rows import numbered_lines
from auscult.understanding import Query

SPLITS = ("train", "dev", "test")
CANDIDATES = 10
ANNOTATIONS = "HealthQA_test_lines.tsv"

_FILE = re.compile(r"(?:.*-mz-)?(train|dev|valid|val|validation|test)\.txt")
_SAME = {"valid": "dev", "val": "dev", "validation": "dev"}


@dataclass(frozen=True, slots=True)
class Group:
    """One question with its candidates.

    Attributes:
        line: Number of the group's first line, counted from 0, as CDV's annotations count.
        texts: By passage id, each once, in the order of the file.
        relevant: The ids of those labelled 1.
    """

    line: int
    question: str
    texts: Mapping[str, str]
    relevant: tuple[str, ...]


def split_files(folder: Path) -> dict[str, Path]:
    """Return HealthQA's files in a folder, by split; empty where it holds none."""
    found = ((_FILE.fullmatch(path.name), path) for path in sorted(folder.glob("*.txt")))
    return {_SAME.get(match[1], match[1]): path for match, path in found if match}


class HealthQaCorpus:
    """A folder with HealthQA's files.

    Args:
        folder: Holds at least one of the three files.
        name: The corpus' name.
        skip_bad: Without effect: lines belong together by tens, and a figure over a silently smaller set would not be
            comparable, so the files are always read strictly.
        splitter: Finds sentences; the default splitter when not given.

    Attributes:
        bad: Nothing is ever skipped.

    Raises:
        CorpusMissingError: The folder holds none of the files.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        name: str = "healthqa",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.name = name
        self.bad = BadRecords()
        self.paths = split_files(self.folder)
        self._splitter = splitter
        if not self.paths:
            raise CorpusMissingError(
                f"pinfo-mz-train.txt, pinfo-mz-dev.txt or pinfo-mz-test.txt in {self.folder}",
                "none of them",
                "ask HealthQA's authors for the texts and put them there",
            )

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream the candidate texts of a split's file, or of all files, each once.

        Raises:
            CorpusMissingError: The split's file is not there.
            RecordError: A line is malformed; names file and line.
        """
        seen: set[str] = set()
        for each in [split] if split else [name for name in SPLITS if name in self.paths]:
            for group in self.groups(each):
                for passage_id, text in group.texts.items():
                    if passage_id not in seen:
                        seen.add(passage_id)
                        yield build_document(
                            doc_id=passage_id,
                            title="",
                            sections=[Section("", text, passage_id=passage_id)],
                            source="HealthQA",
                            splitter=self._splitter,
                        )

    def queries(self, split: str) -> Sequence[Query]:
        """Return the questions of a split, in order."""
        marks = self._marks(split)
        return [
            replace(
                marks.get(group.line, Query("", group.question)),
                query_id=self._query_id(split, group),
                text=group.question,
            )
            for group in self.groups(split)
        ]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the section that each question was written for."""
        return [
            Judgement(self._query_id(split, group), passage_id)
            for group in self.groups(split)
            for passage_id in group.relevant
        ]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return the given ten of each question; fewer where a text is among them twice."""
        return {self._query_id(split, group): tuple(group.texts) for group in self.groups(split)}

    def groups(self, split: str) -> Iterator[Group]:
        """Stream the questions of a split's file with their candidates.

        Raises:
            CorpusMissingError: The split's file is not there.
            RecordError: A line has not three fields, a label is neither 0 nor 1, or ten lines are no group.
        """
        path = self._path(split)
        rows: list[tuple[str, str, str]] = []
        first = line = 0
        for line, text in numbered_lines(path):
            first = first if rows else line - 1
            rows.append(_row(text, f"{path}, line {line}"))
            if len(rows) == CANDIDATES:
                yield _group(rows, first, path)
                rows = []
        if rows:
            found = f"{len(rows)} left over"
            reject("incomplete group", f"{path}, line {line}", f"lines in groups of {CANDIDATES}", found)

    def _path(self, split: str) -> Path:
        path = self.paths.get(_SAME.get(split, split))
        if path is None:
            raise CorpusMissingError(
                f"a file of HealthQA's split '{split}' in {self.folder}",
                f"files of {', '.join(self.paths)}",
                "name one of these splits, or add the file",
            )
        return path

    def _query_id(self, split: str, group: Group) -> str:
        return f"{self._path(split).stem}-{group.line}"

    def _marks(self, split: str) -> dict[int, Query]:
        """Return CDV's entity and aspect by the line of the relevant text, which is a group's first."""
        path = self.folder / ANNOTATIONS
        if split != "test" or not path.is_file():
            return {}
        marks = {}
        for number, text in numbered_lines(path):
            fields = text.split("\t")
            if number == 1:
                continue
            if len(fields) != 7 or not fields[0].isdecimal():
                found = f"{len(fields)} fields"
                reject("malformed line", f"{path}, line {number}", "seven fields, the first a line number", found)
            aspects = (fields[6],) if fields[6] else ()
            marks[int(fields[0])] = Query(fields[0], fields[4], aspects, entity_id=fields[3])
        return {line: mark for line, mark in marks.items() if mark.entity}


def _row(line: str, where: str) -> tuple[str, str, str]:
    fields = line.split("\t")
    if len(fields) != 3:
        reject("malformed line", where, "label, question and text between tabs", f"{len(fields)} fields")
    label, question, text = fields[0].strip(), fields[1].strip(), fields[2].strip().removesuffix(",").rstrip()
    if label not in {"0", "1"}:
        reject("wrong type", where, "a label 0 or 1", repr(label[:20]))
    if not question or not text:
        reject("missing field", where, "a question and a text", "an empty one")
    return label, question, text


def _group(rows: Sequence[tuple[str, str, str]], first: int, path: Path) -> Group:
    where = f"{path}, line {first + 1}"
    questions = {question for _, question, _ in rows}
    if len(questions) > 1:
        reject("mixed group", where, f"{CANDIDATES} lines of one question", f"{len(questions)} questions")
    ids = [(label, f"healthqa:{hashlib.sha256(text.encode()).hexdigest()[:16]}", text) for label, _, text in rows]
    relevant = tuple(dict.fromkeys(passage_id for label, passage_id, _ in ids if label == "1"))
    if len(relevant) != 1:
        reject("bad group", where, "one text with label 1 in a group", f"{len(relevant)} of them")
    return Group(first, rows[0][1], {passage_id: text for _, passage_id, text in ids}, relevant)
