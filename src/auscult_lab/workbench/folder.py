"""A workbench's folder: the user's data in BEIR's layout, experiments, trainings, and results.

WORK/workbench.json        description: title, digest of the data, counts, warnings, protocol and untrained models
WORK/data/NAME/            the data, normalised and divided, for `open_corpus` and every command
WORK/entities.json         entity and aspects of questions, where the data has them; for models that read no words
WORK/experiments/*.yaml    the experiments; users may edit and add files
WORK/runs/                 one folder per model, as for `auscult compare`
WORK/rankings/*.run.gz     every model's ranking of the test questions (TREC)
WORK/records.json          results
WORK/report.html           the page
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.files.reading import digest_of_files
from auscult.files.writing import whole_or_nothing, write_json, write_text
from auscult.understanding import Query
from auscult_lab.evaluation.task import Protocol
from auscult_lab.workbench.files import find_layout
from auscult_lab.workbench.userdata import SPLITS, Question, UserData

COUNTED = {"train": "training questions", "dev": "development questions", "test": "test questions"}
"""What counts call the questions of a split."""
_COUNTS = {"questions", "passages", "relevant passages", *COUNTED.values()}


@dataclass(frozen=True, slots=True)
class Description:
    """The content of workbench.json.

    Attributes:
        title: The user's title of the data.
        name: Name of the data's folder; the corpus' name.
        digest: SHA-256 of the user's files.
        counts: Size of the data, in the page's order.
        words: Mean number of words of a passage.
        warnings: Oddities of the data.
        protocol: "end-to-end" ranks all passages, "rerank" those that BM25 ranks highest.
        untrained: Names or folders of the untrained models to compare.
    """

    title: str
    name: str
    digest: str
    counts: dict[str, int]
    words: float
    warnings: list[str]
    protocol: Protocol = "rerank"
    untrained: list[str] = field(default_factory=list)

    @property
    def parts(self) -> tuple[str, ...]:
        """The splits with questions."""
        return tuple(name for name in SPLITS if self.counts[COUNTED[name]])


class WorkFolder:
    """The folder and its paths.

    Args:
        root: The folder; it need not exist yet.

    Attributes:
        described: File of the description.
        entities: File of the questions' entities and aspects.
        experiments: Folder of experiments.
        runs: Folder of trainings.
        rankings: Folder of rankings of the test questions.
        records: File of results.
        page: File of the report.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.described = root / "workbench.json"
        self.entities = root / "entities.json"
        self.experiments = root / "experiments"
        self.runs = root / "runs"
        self.rankings = root / "rankings"
        self.records = root / "records.json"
        self.page = root / "report.html"

    def data(self, name: str) -> Path:
        """Return the absolute path of the normalised data, for use in experiments."""
        return self.root.resolve() / "data" / name

    def describe(self, description: Description) -> None:
        """Write workbench.json.

        Raises:
            DataError: The folder cannot be written to.
        """
        write_json(self.described, asdict(description))

    def description(self) -> Description:
        """Read workbench.json.

        Raises:
            ConfigError: The file is missing: this is no workbench.
            DataError: It is damaged.
        """
        if not self.described.is_file():
            remedy = "make one: auscult try MYDATA --out " + str(self.root)
            raise ConfigError("the folder of a workbench", f"{self.root} without workbench.json", remedy)
        try:
            found = Description(**parse_json(self.described.read_text(encoding="utf-8")))
            if lost := _COUNTS - found.counts.keys():
                raise ValueError(f"counts without {', '.join(sorted(lost))}")
            return found
        except (OSError, ValueError, TypeError, AttributeError) as error:
            remedy = "make the workbench anew in another folder"
            raise DataError("a readable workbench.json", f"{self.described} ({error})", remedy) from error

    def write_entities(self, questions: Iterable[Question]) -> None:
        """Write entities.json, if questions have an entity or aspects.

        They are not in the data in BEIR's layout, because models would read them instead of the question.

        Raises:
            DataError: The folder cannot be written to.
        """
        entities = {
            each.question_id: {"entity": each.entity, "aspects": list(each.aspects)}
            for each in questions
            if each.entity or each.aspects
        }
        if entities:
            write_json(self.entities, entities)

    def name_entities(self, queries: Iterable[Query]) -> tuple[Query, ...]:
        """Add the data's entities and aspects to queries; without an entity, the text takes its place.

        Raises:
            DataError: entities.json is damaged.
        """
        if not self.entities.is_file():
            return tuple(queries)
        try:
            said = parse_json(self.entities.read_text(encoding="utf-8"))
            named = [(each, said.get(each.query_id, {})) for each in queries]
            return tuple(
                replace(each, entity=own.get("entity") or each.entity, aspects=tuple(own.get("aspects", ())))
                for each, own in named
            )
        except (OSError, ValueError, TypeError, AttributeError) as error:
            remedy = "make the workbench anew in another folder"
            raise DataError("a readable entities.json", f"{self.entities} ({error})", remedy) from error


def digest_of(path: Path) -> str:
    """Return the SHA-256 of the files of a user's data, with their names.

    Raises:
        CorpusMissingError: There is nothing to read.
        DataError: A file cannot be read.
    """
    layout = find_layout(path)
    try:
        return digest_of_files(layout.files, layout.root)
    except OSError as error:
        found = f"{error.filename} ({error.strerror})"
        raise DataError("a readable file", found, "correct its permissions") from error


def write_beir(data: UserData, folder: Path) -> None:
    """Write divided data in BEIR's layout, replacing earlier data.

    Args:
        data: Result of `splitting.divide`.
        folder: Folder to write to.

    Raises:
        DataError: The folder cannot be written to.
    """
    _write_lines(
        folder / "corpus.jsonl",
        ({"_id": passage.passage_id, "title": passage.title, "text": passage.text} for passage in data.passages),
    )
    _write_lines(
        folder / "queries.jsonl",
        # Without metadata, so that models read the question.
        ({"_id": question.question_id, "text": question.text, "metadata": {}} for question in data.questions),
    )
    split = {question.question_id: question.split for question in data.questions}
    for name in SPLITS:
        rows = [judged for judged in data.judgements if split.get(judged.question_id) == name]
        path = folder / "qrels" / f"{name}.tsv"
        path.unlink(missing_ok=True)
        if rows:
            lines = (f"{judged.question_id}\t{judged.passage_id}\t{judged.relevance}\n" for judged in rows)
            write_text(path, "query-id\tcorpus-id\tscore\n" + "".join(lines))


def count(data: UserData) -> dict[str, int]:
    """Count questions, passages and judgements of divided data."""
    parts = Counter(question.split for question in data.questions)
    return {
        "questions": len(data.questions),
        "passages": len(data.passages),
        "judgements": len(data.judgements),
        "relevant passages": len({each.passage_id for each in data.judgements if each.relevance > 0}),
        **{called: parts[name] for name, called in COUNTED.items()},
    }


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with whole_or_nothing(path) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
