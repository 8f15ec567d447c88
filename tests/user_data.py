"""A small data set as a user would bring it, and its parts to spoil."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

DISEASES = (
    "gout", "asthma", "measles", "mumps", "rickets", "scurvy", "lupus", "cholera", "anthrax", "tetanus", "rabies",
    "malaria", "eczema", "psoriasis", "migraine",
)  # fmt: skip
ASPECTS = {
    "signs": ("How does {0} show itself?", "People with {0} often notice fever, pain and a rash as its first signs."),
    "causes": ("Where does {0} come from?", "The origin of {0} lies in genes, germs or food, as studies have found."),
    "cures": ("What helps against {0}?", "Doctors treat {0} with rest, tablets and plenty of water for two weeks."),
}
Row = Sequence[object]


def questions() -> list[list[str]]:
    """Rows (id, words): 45 of them."""
    return [[f"{name}-{side}", ask.format(name)] for name in DISEASES for side, (ask, _) in ASPECTS.items()]


def passages() -> list[list[str]]:
    """Rows (id, title, text), each the answer of one question."""
    return [
        [f"P-{name}-{side}", name.title(), tell.format(name)]
        for name in DISEASES
        for side, (_, tell) in ASPECTS.items()
    ]


def judgements() -> list[list[str]]:
    """Rows (question, passage, label)."""
    return [[asked, f"P-{asked}", "1"] for asked, _ in questions()]


def write_table(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def write_folder(
    folder: Path,
    *,
    question_rows: Sequence[Row] | None = None,
    texts: Sequence[Row] | None = None,
    judged: Sequence[Row] | None = None,
) -> Path:
    """Write three CSV files, with other rows where some are given."""
    write_table(folder / "questions.csv", ("ID", "Question"), questions() if question_rows is None else question_rows)
    write_table(folder / "passages.csv", ("ID", "Title", "Text"), passages() if texts is None else texts)
    write_table(
        folder / "judgements.csv", ("question id", "passage id", "label"), judgements() if judged is None else judged
    )
    return folder


def write_beir(folder: Path, *, splits: bool = True) -> Path:
    """Write BEIR's layout, with given splits."""
    lines = [json.dumps({"_id": row[0], "text": row[1]}) for row in questions()]
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    lines = [json.dumps({"_id": row[0], "title": row[1], "text": row[2]}) for row in passages()]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    parts = {"train": judgements()[:25], "dev": judgements()[25:33], "test": judgements()[33:]}
    for name, rows in (parts if splits else {"test": judgements()}).items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        (folder / "qrels" / f"{name}.tsv").write_text("query-id\tcorpus-id\tscore\n" + text)
    return folder
