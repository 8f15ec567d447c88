"""Read questions, passages and judgements from a user's folder or file; collect all faults.

Columns are recognised by the names that people commonly give them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from auscult_lab.workbench.files import SUFFIXES, Layout, Row, Table, find_layout, read_table, split_name
from auscult_lab.workbench.userdata import Findings, Judged, Place, Question, UserData, UserPassage

_QUESTION_IDS = ("question_id", "query_id", "qid", "q_id", "questionid", "queryid")
_PASSAGE_IDS = ("passage_id", "pid", "p_id", "corpus_id", "document_id", "doc_id", "docid", "passageid", "answer_id")
_QUESTIONS = ("question", "query", "question_text", "query_text", "q")
_TEXTS = (
    "passage", "passage_text", "text", "content", "body", "answer", "answer_text", "paragraph", "snippet", "context",
    "abstract", "document_text",
)  # fmt: skip
_TITLES = ("title", "document_title", "document", "doc_title", "page", "name")
_HEADINGS = ("heading", "section", "section_title", "header", "subtitle")
_LABELS = ("relevance", "label", "score", "rel", "grade", "rating", "judgement", "judgment", "relevant")
_SPLITS = ("split", "set", "partition", "fold", "subset")
_ENTITIES, _ASPECTS = ("entity", "disease", "focus", "concept"), ("aspects", "aspect", "question_type", "qtype")


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a kind of file.

    Attributes:
        names: role -> names of columns for it, best first.
        required: Roles without which the file cannot be used.
    """

    names: Mapping[str, Sequence[str]]
    required: tuple[str, ...]


QUESTIONS = Roles(
    {
        "question id": ("id", *_QUESTION_IDS, "number"),
        "question": (*_QUESTIONS, "text", "title"),
        "entity": _ENTITIES,
        "aspects": _ASPECTS,
        "split": _SPLITS,
    },
    required=("question id", "question"),
)
"""Of a file of questions."""
PASSAGES = Roles(
    {"passage id": ("id", *_PASSAGE_IDS), "passage": _TEXTS, "title": _TITLES, "heading": _HEADINGS},
    required=("passage id", "passage"),
)
"""Of a file of passages."""
JUDGEMENTS = Roles(
    {
        "question id": (*_QUESTION_IDS, *_QUESTIONS),
        "passage id": (*_PASSAGE_IDS, "passage", "document", "answer"),
        "label": _LABELS,
        "split": _SPLITS,
    },
    required=("question id", "passage id"),
)
"""Of a file of judgements."""
JOINED = Roles(
    {
        "question id": _QUESTION_IDS,
        "question": _QUESTIONS,
        "passage id": _PASSAGE_IDS,
        "passage": _TEXTS,
        "title": _TITLES,
        "heading": _HEADINGS,
        "label": _LABELS,
        "entity": _ENTITIES,
        "aspects": _ASPECTS,
        "split": _SPLITS,
    },
    required=("question", "passage"),
)
"""Of one file that holds a question, a passage and a label in each row."""


def find_columns(columns: Sequence[str], roles: Roles) -> dict[str, str]:
    """Return the column of each role; a column has one role, and roles without a column are left out.

    Args:
        columns: Folded names.
        roles: One of `QUESTIONS`, `PASSAGES`, `JUDGEMENTS`, `JOINED`.
    """
    free = list(columns)
    by_role: dict[str, str] = {}
    for role, names in roles.names.items():
        for name in names:
            if name in free:
                by_role[role] = name
                free.remove(name)
                break
    return by_role


_LISTED = 10
# Limit of grades: nDCG overflows on grades of a thousand million.
_HIGHEST = 1_000
_WORDS = {"relevant": 1, "yes": 1, "true": 1, "not relevant": 0, "irrelevant": 0, "no": 0, "false": 0, "nonrelevant": 0}


def read_user_data(path: Path, findings: Findings) -> UserData:
    """Read everything.

    Args:
        path: See `files.find_layout`.
        findings: Collects faults and warnings.

    Raises:
        CorpusMissingError: There is nothing to read.
    """
    layout = find_layout(path)
    _warn_of_unread(layout, findings)
    name = re.sub(r"[^\w.-]+", "-", path.resolve().name.removesuffix(".gz"))
    name = (name if path.is_dir() else name.rsplit(".", 1)[0]).strip("-.") or "data"
    return _read_joined(name, layout, findings) if layout.joined else _read_by_role(name, layout, findings)


def _warn_of_unread(layout: Layout, findings: Findings) -> None:
    unread = {"their names say nothing": layout.unnamed, f"only {', '.join(SUFFIXES)} are": layout.other_formats}
    for reason, files in unread.items():
        if files:
            names = ", ".join(str(file.relative_to(layout.root)) for file in files[:_LISTED])
            more = f" and {len(files) - _LISTED:,} more" if len(files) > _LISTED else ""
            findings.warn(f"Not read, because {reason}: {names}{more}.")


def _read_by_role(name: str, layout: Layout, findings: Findings) -> UserData:
    questions, passages, judgements = [], [], []
    for file in layout.passages:
        for row, cells in _read_rows(read_table(file, layout.root, findings), PASSAGES, findings):
            passages.append(_build_passage(row, cells, cells.get("passage id", "")))
    for file, split in layout.questions:
        for row, cells in _read_rows(read_table(file, layout.root, findings), QUESTIONS, findings):
            questions.append(_build_question(row, cells, cells.get("question id", ""), split, findings))
    for file, split in layout.judgements:
        for row, cells in _read_rows(read_table(file, layout.root, findings), JUDGEMENTS, findings):
            ids = cells.get("question id", ""), cells.get("passage id", "")
            _check_ids(row.place, {"question id": ids[0], "passage id": ids[1]}, findings)
            judgements.append(_build_judgement(row, cells, *ids, split, findings))
    return UserData(name, tuple(questions), tuple(passages), tuple(judgements))


def _read_joined(name: str, layout: Layout, findings: Findings) -> UserData:
    """Read rows "question, passage, label"; missing ids are made from texts."""
    questions: dict[str, Question] = {}
    passages: dict[str, UserPassage] = {}
    judgements = []
    question_ids: dict[str, str] = {}
    passage_ids: dict[str, str] = {}
    for file, split in layout.joined:
        for row, cells in _read_rows(read_table(file, layout.root, findings), JOINED, findings):
            question, passage = cells.get("question", ""), cells.get("passage", "")
            question_id = cells.get("question id") or question_ids.setdefault(question, f"q{len(question_ids) + 1}")
            passage_id = cells.get("passage id") or passage_ids.setdefault(passage, f"p{len(passage_ids) + 1}")
            asked = _build_question(row, cells, question_id, split, findings)
            _check_same_text(questions.setdefault(question_id, asked), asked, "question", findings)
            given = _build_passage(row, cells, passage_id)
            _check_same_text(passages.setdefault(passage_id, given), given, "passage", findings)
            judgements.append(_build_judgement(row, cells, question_id, passage_id, split, findings))
    return UserData(name, tuple(questions.values()), tuple(passages.values()), tuple(judgements))


def _check_same_text(
    first: Question | UserPassage, again: Question | UserPassage, what: str, findings: Findings
) -> None:
    if first.text != again.text:
        found = f"other words than at {first.place}"
        findings.fault(again.place, f"one id for two {what}s", found, f"give each {what} an id of its own")


def _read_rows(table: Table, roles: Roles, findings: Findings) -> Iterator[tuple[Row, Mapping[str, str]]]:
    """Yield each row with its cells by role; nothing where a required column is missing."""
    by_role = find_columns(table.columns, roles)
    if table.rows and (missing := [role for role in roles.required if role not in by_role]):
        for role in missing:
            columns = f"columns {', '.join(table.columns)}"
            remedy = f"name the column with the {role} '{roles.names[role][0]}'"
            findings.fault(Place(table.place.file, 1), f"no column for the {role}", columns, remedy)
        return
    if "label" in roles.names and "label" not in by_role and table.rows:
        findings.warn(f"{table.place.file} has no column of labels: every row counts as relevant.")
    for row in table.rows:
        yield row, {role: _read_cell(row, role, column, roles, findings) for role, column in by_role.items()}


def _read_cell(row: Row, role: str, column: str, roles: Roles, findings: Findings) -> str:
    if column in row.objects and role not in roles.required:
        return ""
    if column in row.objects:
        findings.fault(row.place, "object for text", f"an object as '{column}'", f"write the {role} as text")
    return row.cells.get(column, "")


def _check_ids(place: Place, ids: Mapping[str, str], findings: Findings) -> None:
    for what, value in ids.items():
        if not value:
            findings.fault(place, "missing id", f"no {what}", f"fill in the {what}, or remove the row")


def _build_question(row: Row, cells: Mapping[str, str], question_id: str, split: str, findings: Findings) -> Question:
    part = cells.get("split", "")
    if part and not split_name(part):
        findings.fault(row.place, "unknown split", f"'{part}'", "write train, dev or test")
    aspects = tuple(part.strip() for part in cells.get("aspects", "").split(";") if part.strip())
    text = cells.get("question", "")
    return Question(question_id, text, row.place, cells.get("entity", ""), aspects, split_name(part) or split)


def _build_passage(row: Row, cells: Mapping[str, str], passage_id: str) -> UserPassage:
    title = ": ".join(filter(None, dict.fromkeys((cells.get("title", ""), cells.get("heading", "")))))
    return UserPassage(passage_id, cells.get("passage", ""), row.place, title)


def _build_judgement(
    row: Row, cells: Mapping[str, str], question_id: str, passage_id: str, split: str, findings: Findings
) -> Judged:
    label = cells.get("label", "1")
    relevance = _parse_relevance(label)
    if relevance is None:
        remedy = "write 1 for relevant and 0 for not, or a grade"
        findings.fault(row.place, "no number as label", f"'{label}'", remedy)
    elif relevance > _HIGHEST:
        findings.fault(row.place, "label too high", f"'{label}'", f"write a grade of {_HIGHEST:,} at most")
    return Judged(question_id, passage_id, relevance or 0, row.place, split_name(cells.get("split", "")) or split)


def _parse_relevance(said: str) -> int | None:
    """Parse a label as a whole number; None where it is none. Negative grades (junk) are not relevant."""
    word = said.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    try:
        value = float(word)
    except ValueError:
        return None
    return max(int(value), 0) if value.is_integer() else None
