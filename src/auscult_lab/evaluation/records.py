"""Result records: measures of a model on a task, with date and machine, stored as a JSON list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult.files.writing import check_file, write_json
from auscult_lab.evaluation.pre_trained import PRE_TRAINED, is_pre_trained
from auscult_lab.evaluation.statistics import Difference

Track = Literal["untrained", "zero-shot", "adapted"]
"""What a model was trained on.

"untrained" is for term-based models, which stand beside both tracks; "zero-shot" saw no text of the corpus
it is evaluated on; "adapted" also saw that corpus' training documents. One model may be "adapted" on one corpus and
"zero-shot" on another (`tracks.track_on`).
"""

TEST = "test"
"""The split that published figures are of."""


def label_of(model: str, track: Track) -> str:
    """Return a label that is unique in one evaluation: the name and, for a trained model, the track."""
    return model if track == "untrained" else f"{model}, {track}"


class Asked(NamedTuple):
    """The task of a record; records with equal tasks may share a table.

    Attributes:
        subset: See `EvaluationRecord.query_subset`.
    """

    corpus: str
    protocol: str
    split: str
    queries: int
    subset: str

    @property
    def title(self) -> str:
        """The corpus, and its split where that is not the test split."""
        return self.corpus if self.split == TEST else f"{self.corpus} (split {self.split})"


class GroupRecord(BaseModel):
    """Measures of the queries of one source, aspect, question type or length, as fractions."""

    model_config = ConfigDict(frozen=True)

    name: str
    queries: int
    measures: dict[str, float]


class DifferenceRecord(BaseModel):
    """A model's differences from another model of the same evaluation.

    Attributes:
        than: The other model's label.
        measures: Measure -> difference; "MAP" repeats "AP".
    """

    model_config = ConfigDict(frozen=True)

    than: str
    measures: dict[str, Difference]


class EvaluationRecord(BaseModel):
    """One model's result on one task.

    Attributes:
        measures: Means over queries as fractions, in ir_measures' notation; "MAP" repeats "AP".
        intervals: 95 % bootstrap intervals, lower and upper end, as fractions.
        better_than: measure -> labels of the models of the same evaluation that it beats significantly (paired
            randomisation test, Holm's correction, p < 0.05).
        comparison: Hash of the evaluation, equal in all of its records; empty in older records.
        split: Split of the queries.
        queries: Number of queries.
        query_subset: Empty for all queries of the split; else the subset: size and seed of a random one, or the number
            and a hash of given ids.
        names: Whether models saw titles and headings (`task.Task.without_names`).
        candidates: Mean number of candidates per query; None end to end.
        match_rates: Shares of top-1 passages with the right entity and aspect; none where no query has an aspect.
        by_source: Measures of each source's queries; `by_aspect` likewise.
        by_question_type: Measures of each kind of question (`breakdown`), where queries are questions.
        by_length: Measures of queries of each length in words (`breakdown`).
        length_of: The text whose words are counted: the "query" as models read it; in older records the "question" as
            asked, although models read its entity and aspects where it has them.
        differences: Differences from models in planned comparisons (`comparison.compare_runs`).
        ms_per_query: Mean wall-clock milliseconds to score one query.
        prepare_seconds: Wall-clock seconds to read or encode the collection.
        precision: Precision of transformers, "float32" or "bf16".
        version: Version of this package.
        revision: Commit of its checkout; empty for an installed package.
        date: ISO 8601, UTC.
        training: Training record of the model.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["evaluation"] = "evaluation"
    corpus: str
    protocol: Literal["rerank", "end-to-end"]
    track: Track
    model: str
    measures: dict[str, float]
    intervals: dict[str, tuple[float, float]] = Field(default_factory=dict)
    better_than: dict[str, list[str]] = Field(default_factory=dict)
    comparison: str = ""
    split: str = TEST
    queries: int
    query_subset: str = ""
    documents: int = 0
    names: Literal["shown", "hidden"] = "shown"
    candidates: float | None = None
    match_rates: dict[str, float] = Field(default_factory=dict)
    by_source: list[GroupRecord] = Field(default_factory=list)
    by_aspect: list[GroupRecord] = Field(default_factory=list)
    by_question_type: list[GroupRecord] = Field(default_factory=list)
    by_length: list[GroupRecord] = Field(default_factory=list)
    length_of: Literal["question", "query"] = "question"
    differences: list[DifferenceRecord] = Field(default_factory=list)
    ms_per_query: float
    prepare_seconds: float = 0.0
    precision: str = "float32"
    seed: int
    version: str
    revision: str
    hardware: str
    date: str
    fingerprint: str = ""
    training: dict[str, Any] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The model's label (`label_of`), unique in one evaluation."""
        return label_of(self.model, self.track)

    @property
    def track_told(self) -> str:
        """The track in words; not "zero-shot" where an encoder may have read anything."""
        return PRE_TRAINED if self.track == "zero-shot" and is_pre_trained(self.training) else self.track

    @property
    def of_bench(self) -> bool:
        """Whether its training record is that of a ranker, a CAPR model, or an ensemble of them."""
        return self.training.get("kind") in ("ranker", "capr", "fusion")

    @property
    def microseconds_per_candidate(self) -> float | None:
        """Mean wall-clock microseconds to score one candidate; None where the number of candidates is unknown."""
        return 1000.0 * self.ms_per_query / self.candidates if self.candidates else None

    @property
    def compared_in(self) -> str:
        """Identifier of the comparison; equal in two records of a task only if their models were compared.

        Records without `comparison` have their date instead. In most of them it is the date of the evaluation, equal in
        all of its records. In the latest it is that of their own ranking, so nothing shows which models they were
        compared with.
        """
        return self.comparison or self.date

    @property
    def asked(self) -> Asked:
        """The task of the record."""
        return Asked(self.corpus, self.protocol, self.split, self.queries, self.query_subset)

    @property
    def key(self) -> tuple[Asked, str, str]:
        """Key by which a newer record replaces an older one: task, track and model."""
        return (self.asked, self.track, self.model)


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read a JSON file of records of any kind; evaluation records are checked.

    Returns:
        The records; a file that holds a single record gives a list of one.

    Raises:
        DataError: The file is not JSON, or a record lacks a field.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError("a JSON file of result records", f"{path}: {error}", "mend or remove the file") from None
    records = content if isinstance(content, list) else [content]
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise DataError("result records", f"{path}, record {number}: no object", "mend or remove it")
        if record.get("kind", "evaluation") == "evaluation":
            parse_record(record, f"{path}, record {number}")
    return records


def records_of_others(path: Path, model: str) -> list[dict[str, Any]]:
    """Return a file's records of all models but one; none if there is no file."""
    return [record for record in read_records(path) if record["model"] != model] if path.is_file() else []


def parse_record(record: dict[str, Any], where: str = "record") -> EvaluationRecord:
    """Check an evaluation record.

    Raises:
        DataError: A field is missing or has a wrong type; names it.
    """
    try:
        return EvaluationRecord.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError("an evaluation record", f"{where}: field '{field}': {first['msg']}", "evaluate again") from None


def check_records(path: Path) -> None:
    """Check, before the work is done, that records can be merged into a file.

    Raises:
        DataError: The existing file is no list of records, or the file cannot be written.
    """
    check_file(path)
    if path.exists():
        read_records(path)


def write_records(path: Path, records: Sequence[EvaluationRecord]) -> None:
    """Merge records into the JSON list of a file, and write it atomically.

    A record replaces an older one with the same corpus, protocol, split, queries, track and model.

    Raises:
        DataError: The existing file is no list of records, or the file cannot be written.
    """
    old = read_records(path) if path.exists() else []
    replaced = {record.key for record in records}
    kept = [
        each for each in old if each.get("kind", "evaluation") != "evaluation" or parse_record(each).key not in replaced
    ]
    content = kept + [record.model_dump(mode="json") for record in records]
    write_json(path, content)


def evaluation_records(records: Iterable[dict[str, Any]]) -> list[EvaluationRecord]:
    """Parse the records of kind "evaluation"."""
    return [parse_record(each) for each in records if each.get("kind", "evaluation") == "evaluation"]
