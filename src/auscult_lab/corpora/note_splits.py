"""Split notes into train, validation and test so that no text and no patient is in two splits.

Collections of notes repeat each other, whole or in part. Notes that share at least a third of the shorter one's runs of
eight words are one sample and stay together; a hash of the sample's first note decides its split. Runs that many notes
share are template text and are not counted, so the cost is linear in the text.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

_SEED = "auscult clinical notes 1"
_RUN = 8
_SHARED = 1 / 3
# Runs of words that more notes share are stock phrases: "was prepped and draped in the usual sterile fashion".
_MOST_HOLDERS = 50
_WORD = re.compile(r"\w+")
_Member = TypeVar("_Member", str, int)


def split_of(sample: str) -> str:
    """Return the split of a sample by a seeded hash of its name: "test" and "validation" one in ten each."""
    digest = hashlib.sha256(f"{_SEED}\n{sample}".encode()).digest()
    return {0: "test", 1: "validation"}.get(int.from_bytes(digest[:8], "big") % 10, "train")


def split_notes(notes: Mapping[str, str], patients: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the split of each note.

    Args:
        notes: Id -> text.
        patients: Id -> patient, of notes whose patient is known; one patient's notes stay together.

    Returns:
        Id -> "train", "validation" or "test"; the same in every order of the notes.
    """
    return {note: split_of(sample) for note, sample in samples_of(notes, patients).items()}


def samples_of(notes: Mapping[str, str], patients: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the sample of each note: notes that share text or a patient, named by a patient or the first note.

    Args:
        notes: Id -> text.
        patients: Id -> patient, of notes whose patient is known.

    Returns:
        Id -> name of the sample; the same in every order of the notes.
    """
    patients = patients or {}
    keeper = Groups(notes)
    first_of: dict[str, str] = {}
    for note, patient in sorted(patients.items()):
        if note in notes:
            keeper.join(first_of.setdefault(patient, note), note)
    for first, second in same_samples(notes):
        keeper.join(first, second)
    # A sample is named by its patient where known: further notes of the patient then change no split.
    names = {keeper.first(note): patient for note, patient in sorted(patients.items(), reverse=True) if note in notes}
    return {note: names.get(keeper.first(note), keeper.first(note)) for note in notes}


def same_samples(notes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return pairs of notes that share at least a third of the shorter one's runs of words."""
    names = sorted(notes)
    if not names:
        return []
    runs = [_runs(notes[name]) for name in names]
    sizes = [len(own) for own in runs]
    # Numbers and one sort: for a hospital's notes, a dictionary of all runs would not fit into memory.
    order = np.argsort(values := np.concatenate(runs), kind="stable")
    holders = np.repeat(np.arange(len(names)), sizes)[order]
    starts = np.flatnonzero(np.diff(values[order], prepend=~values[order[0]]) != 0)
    held = np.diff(starts, append=len(values))
    several = (held > 1) & (held <= _MOST_HOLDERS)
    shared: Counter[tuple[int, int]] = Counter()
    for start, number in zip(starts[several].tolist(), held[several].tolist(), strict=True):
        shared.update(combinations(holders[start : start + number].tolist(), 2))
    return [
        (names[one], names[other])
        for (one, other), count in shared.items()
        if count >= _SHARED * min(sizes[one], sizes[other])
    ]


def _runs(text: str) -> npt.NDArray[np.int64]:
    """Return hashes of a text's runs of words, each once. They are compared within one process alone."""
    words = _WORD.findall(text.lower())
    runs = (hash(" ".join(words[start : start + _RUN])) for start in range(max(1, len(words) - _RUN + 1)))
    return np.unique(np.fromiter(runs, dtype=np.int64))


class Groups(Generic[_Member]):
    """Groups of ordered members (a union-find structure); the first member identifies a group.

    Args:
        members: All members; at first, each is its own group.
    """

    def __init__(self, members: Iterable[_Member]) -> None:
        self._above: dict[_Member, _Member] = {member: member for member in members}

    def first(self, member: _Member) -> _Member:
        """Return the first of a member's group."""
        while self._above[member] != member:
            self._above[member] = self._above[self._above[member]]
            member = self._above[member]
        return member

    def join(self, one: _Member, other: _Member) -> None:
        """Make one group of two members'."""
        first, second = sorted((self.first(one), self.first(other)))
        self._above[second] = first
