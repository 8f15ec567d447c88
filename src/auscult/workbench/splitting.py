"""Dividing questions into training, development and test: as given, or at random with a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from auscult.workbench.faults import Findings, Place
from auscult.workbench.similarity import groups_of
from auscult.workbench.userdata import Question, UserData

SHARES = {"train": 0.6, "dev": 0.2, "test": 0.2}
LEAST_TEST = 10


def divide(data: UserData, findings: Findings, *, seed: int = 1) -> UserData:
    """Give every question its split.

    Where the data names a training and a test part for its questions, these are kept. Otherwise questions are divided
    60/20/20, those that ask the same in nearly the same words (`similarity`) staying together.

    Args:
        data: Checked.
        findings: Where faults and warnings go.
        seed: Of the division.
    """
    given = {question.split for question in data.questions}
    if {"train", "test"} <= given:
        return replace(data, questions=_as_given(data.questions, findings, data.name))
    if given - {""}:
        named = " and ".join(sorted(given - {""}))
        findings.warn(f"The data names only {named}, where training and test are needed; questions are divided anew.")
    groups = groups_of([question.text for question in data.questions])
    together = sum(len(group) for group in groups if len(group) > 1)
    if together:
        findings.warn(f"{together:,} questions ask nearly the same as another; these stay in one part.")
    random.Random(seed).shuffle(groups)
    splits: dict[int, str] = {}
    counts = dict.fromkeys(SHARES, 0)
    for group in groups:
        # To the part that lacks most of its share.
        name = max(SHARES, key=lambda part: SHARES[part] - counts[part] / len(data.questions))
        splits |= dict.fromkeys(group, name)
        counts[name] += len(group)
    return replace(data, questions=tuple(replace(each, split=splits[row]) for row, each in enumerate(data.questions)))


def _as_given(questions: Sequence[Question], findings: Findings, name: str) -> tuple[Question, ...]:
    kept = tuple(question for question in questions if question.split)
    if len(kept) < len(questions):
        left = len(questions) - len(kept)
        findings.warn(f"{left:,} questions are in no part and are left out.")
    if (tested := sum(question.split == "test" for question in kept)) < LEAST_TEST:
        found = f"{tested} test questions with a relevant passage"
        findings.fault(Place(name), "too little data", found, f"bring {LEAST_TEST} or more, or name no parts")
    parts = [{kept[row].split for row in group} for group in groups_of([question.text for question in kept])]
    if shared := sum(1 for part in parts if "test" in part and len(part) > 1):
        findings.warn(f"{shared:,} test questions ask nearly the same as a training question.")
    return kept


__all__ = ["LEAST_TEST", "SHARES", "divide"]
