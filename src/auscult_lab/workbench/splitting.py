"""Divide questions into training, development and test: as given, or at random with a seed.

Questions in nearly the same words stay together. Two are alike when they share `ALIKE` of their distinct stemmed words
(Jaccard). Pairs are found without comparing all: such sets have one of their rarest words in common (prefix filtering).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from auscult.documents.analysis import Analyzer
from auscult_lab.corpora.note_splits import Groups
from auscult_lab.workbench.userdata import Findings, Place, Question, UserData

SHARES = {"train": 0.6, "dev": 0.2, "test": 0.2}
LEAST_TEST = 10
"""Fewer are too little data; a division gives the test part so many where its share is smaller."""
ALIKE = 0.8
_PLAIN = Analyzer()
_STEMMED = Analyzer(stop_words=True, stemming=True)


def divide(data: UserData, findings: Findings, *, seed: int = 1) -> UserData:
    """Assign a split to every question.

    Training and test parts of the data are kept. Without them, questions are divided 60/20/20; those in nearly the same
    words (`groups_of`) stay together. Of few questions, more than a fifth are for testing.

    Args:
        data: Checked data.
        findings: Collects faults and warnings.
        seed: Seed of the division.
    """
    given = {question.split for question in data.questions}
    kept = {"train", "test"} <= given
    questions = (
        _keep_division(data.questions, findings) if kept else _divide_at_random(data.questions, given, findings, seed)
    )
    if (tested := sum(question.split == "test" for question in questions)) < LEAST_TEST:
        remedy = f"bring {LEAST_TEST} or more, or name no parts" if kept else "bring more questions"
        findings.fault(Place(data.name), "too little data", f"{tested} test questions with a relevant passage", remedy)
    return replace(data, questions=questions)


def _divide_at_random(
    questions: Sequence[Question], given: set[str], findings: Findings, seed: int
) -> tuple[Question, ...]:
    if given - {""}:
        named = " and ".join(sorted(given - {""}))
        findings.warn(f"The data names only {named}, where training and test are needed; questions are divided anew.")
    groups = groups_of([question.text for question in questions])
    together = sum(len(group) for group in groups if len(group) > 1)
    if together:
        findings.warn(f"{together:,} questions ask nearly the same as another; these stay in one part.")
    random.Random(seed).shuffle(groups)
    splits: dict[int, str] = {}
    counts = dict.fromkeys(SHARES, 0)
    shares = _choose_shares(len(questions))
    for group in groups:
        # Assign the group to the part that lacks most of its share.
        name = max(shares, key=lambda part: shares[part] - counts[part] / len(questions))
        splits |= dict.fromkeys(group, name)
        counts[name] += len(group)
    return tuple(replace(each, split=splits[row]) for row, each in enumerate(questions))


def _choose_shares(questions: int) -> dict[str, float]:
    """Return `SHARES`, or shares with `LEAST_TEST` questions for testing and the others in the same ratio."""
    tested = max(SHARES["test"], LEAST_TEST / questions)
    if tested == SHARES["test"]:
        return SHARES
    rest = (1.0 - tested) / (1.0 - SHARES["test"])
    return {name: tested if name == "test" else share * rest for name, share in SHARES.items()}


def _keep_division(questions: Sequence[Question], findings: Findings) -> tuple[Question, ...]:
    assigned = tuple(question for question in questions if question.split)
    if len(assigned) < len(questions):
        left = len(questions) - len(assigned)
        findings.warn(f"{left:,} questions are in no part and are left out.")
    parts = [[assigned[row].split for row in group] for group in groups_of([question.text for question in assigned])]
    tested = sum(question.split == "test" for question in assigned)
    for learned, called in (("train", "training"), ("dev", "development")):
        if alike := sum(part.count("test") for part in parts if learned in part):
            findings.warn(f"{alike:,} of {tested:,} test questions ask nearly the same as a {called} question.")
    return assigned


def words_of(text: str) -> tuple[str, ...]:
    """Return a text's words without case, accents and punctuation."""
    return tuple(_PLAIN(text))


def groups_of(texts: Sequence[str]) -> list[list[int]]:
    """Group rows of texts that are alike, directly or through others; every row is in one group.

    Args:
        texts: In any order.

    Returns:
        Groups in the order of their first rows, with rows in order.
    """
    # Questions of stop words only are compared by these.
    sets = [frozenset(_STEMMED(text)) or frozenset(_PLAIN(text)) for text in texts]
    times = Counter(word for words in sets for word in words)
    alike = Groups(range(len(sets)))
    holders: dict[str, list[int]] = {}
    for row, words in enumerate(sets):
        rarest = sorted(words, key=lambda word: (times[word], word))
        for word in rarest[: len(words) - math.ceil(ALIKE * len(words)) + 1]:
            for other in holders.setdefault(word, []):
                together = alike.first(other) == alike.first(row)
                if not together and len(words & sets[other]) >= ALIKE * len(words | sets[other]):
                    alike.join(row, other)
            holders[word].append(row)
    groups: dict[int, list[int]] = {}
    for row in range(len(sets)):
        groups.setdefault(alike.first(row), []).append(row)
    return list(groups.values())
