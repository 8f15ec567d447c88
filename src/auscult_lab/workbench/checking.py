"""Check that questions, passages and judgements fit together; repair oddities, with a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from auscult_lab.workbench.splitting import words_of
from auscult_lab.workbench.userdata import Findings, Judged, Place, Question, UserData, UserPassage

LEAST_QUESTIONS = 30
"""Fewer say nothing about which model is better."""
LEAST_PASSAGES = 10
FEW_QUESTIONS = 150
"""Below, intervals are wide, which is told."""
_Kept = TypeVar("_Kept", Question, UserPassage)


def check(data: UserData, findings: Findings) -> UserData:
    """Check everything, and leave out unusable parts.

    Args:
        data: The data as read.
        findings: Collects faults and warnings.

    Returns:
        Data without repeats, without questions that have no answer, and with ids that are valid in files of runs. Use
        it only when `findings` has no fault.
    """
    questions = _drop_repeats(data.questions, "question", findings)
    passages = _drop_repeats([_fill_text(passage, findings) for passage in data.passages], "passage", findings)
    if findings.faults and not (questions and passages and data.judgements):
        # Otherwise everything that depends on unreadable parts would be reported, too.
        return data
    known_ids = {question.question_id for question in questions}, {passage.passage_id for passage in passages}
    judgements = []
    # Missing ids were reported by the reading.
    for judged in (judged for judged in data.judgements if judged.question_id and judged.passage_id):
        ids = zip(("question", "passage"), (judged.question_id, judged.passage_id), known_ids, strict=True)
        unknown = [(what, value) for what, value, known in ids if value not in known]
        for what, value in unknown:
            remedy = f"add the {what}, or remove the judgement"
            findings.fault(judged.place, f"judgement on an unknown {what}", f"'{value}'", remedy)
        if not unknown:
            judgements.append(judged)
    judgements = _drop_repeated_judgements(judgements, findings)
    questions, judgements = _keep_answerable(questions, judgements, len(passages), findings)
    _check_amounts(data, questions, passages, judgements, findings)
    _check_tests_unseen(questions, judgements, findings)
    return UserData(data.name, *_replace_blanks(questions, passages, judgements, findings))


def _fill_text(passage: UserPassage, findings: Findings) -> UserPassage:
    if passage.text or not passage.title:
        return passage
    findings.warn("Some passages have a title but no text; they are read by their title.")
    return replace(passage, text=passage.title)


def _drop_repeats(rows: Sequence[_Kept], what: str, findings: Findings) -> list[_Kept]:
    """Return rows with words and unique ids; exact repeats are dropped."""
    seen: dict[str, _Kept] = {}
    repeats = 0
    for row in rows:
        identifier = _id_of(row)
        if not identifier:
            findings.fault(row.place, "missing id", f"a {what} without", f"give the {what} an id")
        if not words_of(row.text):
            findings.fault(row.place, f"empty {what}", repr(row.text[:20]), f"write its text, or remove the {what}")
        elif identifier and identifier not in seen:
            seen[identifier] = row
        elif identifier and seen[identifier].text == row.text:
            repeats += 1
            _check_one_split(identifier, _places_by_split(seen[identifier], row), findings)
        elif identifier:
            found = f"'{identifier}', as at {seen[identifier].place}, with other words"
            findings.fault(row.place, f"repeated {what} id", found, f"give each {what} an id of its own")
    if repeats:
        findings.warn(f"{repeats:,} {what}s stand in the data twice, word for word; each is taken once.")
    extra = len(seen) - len({row.text for row in seen.values()})
    if extra:
        findings.warn(f"{extra:,} {what}s repeat the words of another under an id of their own.")
    return list(seen.values())


def _id_of(row: Question | UserPassage) -> str:
    return row.question_id if isinstance(row, Question) else row.passage_id


def _places_by_split(*rows: Question | UserPassage) -> dict[str, Place]:
    return {row.split: row.place for row in rows if isinstance(row, Question)}


def _drop_repeated_judgements(rows: Sequence[Judged], findings: Findings) -> list[Judged]:
    seen: dict[tuple[str, str], Judged] = {}
    repeats = 0
    for row in rows:
        first = seen.setdefault((row.question_id, row.passage_id), row)
        if first is row:
            continue
        repeats += 1
        if first.relevance != row.relevance:
            got = f"{row.relevance}, and {first.relevance} at {first.place}"
            findings.fault(row.place, "contradicting judgements", got, "decide for one of them")
        elif first.split != row.split:
            got = f"'{row.question_id}' in {first.split or 'no split'} and in {row.split or 'no split'}"
            findings.fault(row.place, "one question in two splits", got, "keep it in one of them")
    if repeats:
        findings.warn(f"{repeats:,} judgements are given twice.")
    return list(seen.values())


def _keep_answerable(
    questions: list[Question], judgements: list[Judged], passages: int, findings: Findings
) -> tuple[list[Question], list[Judged]]:
    """Return questions with a relevant and an irrelevant passage, each in one split, and their judgements."""
    relevant = Counter(judged.question_id for judged in judgements if judged.relevance > 0)
    splits: dict[str, dict[str, Place]] = {}
    for judged in judgements:
        splits.setdefault(judged.question_id, {}).setdefault(judged.split, judged.place)
    usable = []
    unanswered = 0
    for question in questions:
        own = {question.split: question.place} | splits.get(question.question_id, {})
        _check_one_split(question.question_id, own, findings)
        if not relevant[question.question_id]:
            unanswered += 1
        elif relevant[question.question_id] >= passages:
            got = f"all {passages} passages answer '{question.question_id}'"
            findings.fault(question.place, "question without a negative", got, "add passages that do not answer it")
        else:
            usable.append(replace(question, split=question.split or next(filter(None, own), "")))
    if unanswered and usable:
        findings.warn(f"{unanswered:,} of {len(questions):,} questions have no relevant passage and are left out.")
    ids = {question.question_id for question in usable}
    return usable, [judged for judged in judgements if judged.question_id in ids]


def _check_one_split(question_id: str, said: Mapping[str, Place], findings: Findings) -> None:
    """Check that all splits named for a question are the same; empty ones are ignored."""
    own = {name: place for name, place in said.items() if name}
    if len(own) > 1:
        found = f"'{question_id}' in {' and '.join(sorted(own))}"
        findings.fault(max(own.values(), key=str), "one question in two splits", found, "keep it in one of them")


def _check_amounts(
    data: UserData,
    questions: Sequence[Question],
    passages: Sequence[UserPassage],
    judgements: Sequence[Judged],
    findings: Findings,
) -> None:
    everything = Place(data.name)
    if data.judgements and not any(judged.relevance > 0 for judged in data.judgements):
        remedy = "label the passages that answer with 1"
        findings.fault(everything, "no relevant passage", "no judgement is positive", remedy)
    elif len(questions) < LEAST_QUESTIONS:
        got = f"{len(questions)} questions with a relevant passage"
        remedy = f"bring {LEAST_QUESTIONS} or more; a few hundred tell models apart"
        findings.fault(everything, "too little data", got, remedy)
    elif len(questions) < FEW_QUESTIONS:
        findings.warn(
            f"Only {len(questions)} questions: differences between models must be large to be told from chance."
        )
    if len(passages) < LEAST_PASSAGES:
        got = f"{len(passages)} passages"
        findings.fault(everything, "too little data", got, f"bring {LEAST_PASSAGES} or more")
    if judgements and all(judged.relevance > 0 for judged in judgements):
        findings.warn("All judgements are positive; every other passage counts as not relevant.")


def _check_tests_unseen(questions: Sequence[Question], judgements: Sequence[Judged], findings: Findings) -> None:
    """Report test questions that are also in training, which test nothing."""
    learned = {words_of(each.text): each for each in questions if each.split in ("train", "dev")}
    for question in questions:
        known = learned.get(words_of(question.text))
        if question.split == "test" and known is not None:
            found = f"'{question.question_id}', as '{known.question_id}' at {known.place}"
            findings.fault(question.place, "test question that is trained on", found, "remove one of the two")


def _replace_blanks(
    questions: Sequence[Question], passages: Sequence[UserPassage], judgements: Sequence[Judged], findings: Findings
) -> tuple[tuple[Question, ...], tuple[UserPassage, ...], tuple[Judged, ...]]:
    """Replace white space in ids, which the format of runs does not allow."""
    question_ids = _names_without_blanks([question.question_id for question in questions], findings)
    passage_ids = _names_without_blanks([passage.passage_id for passage in passages], findings)
    return (
        tuple(replace(question, question_id=question_ids[question.question_id]) for question in questions),
        tuple(replace(passage, passage_id=passage_ids[passage.passage_id]) for passage in passages),
        tuple(
            replace(judged, question_id=question_ids[judged.question_id], passage_id=passage_ids[judged.passage_id])
            for judged in judgements
        ),
    )


def _names_without_blanks(ids: Sequence[str], findings: Findings) -> dict[str, str]:
    plain: dict[str, str] = {}
    taken = {identifier for identifier in ids if identifier.split() == [identifier]}
    for identifier in ids:
        name = identifier
        while name.split() != [name] or (name != identifier and name in taken):
            name = "_".join(name.split()) if name.split() != [name] else f"{name}_"
        taken.add(name)
        plain[identifier] = name
        if name != identifier:
            findings.warn("Blanks in ids are replaced by underscores.")
    return plain
