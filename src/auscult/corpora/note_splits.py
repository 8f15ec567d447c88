"""Dividing notes into train, validation and test so that no text, and no patient, is on two sides.

Samples are collected from several places and repeat each other, whole or in part. Notes that share at least a third of
the shorter one's runs of eight words are taken for one sample and stay together; a hash of the sample's first note then
decides. Cost: linear in the text, but for runs that many notes share, which are template and are not counted.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

_SEED = "auscult clinical notes 1"
_RUN = 8
_SHARED = 1 / 3
# Runs of words that more notes share are phrases of the trade: "was prepped and draped in the usual sterile fashion".
_MOST_HOLDERS = 50
_WORD = re.compile(r"\w+")


def split_of(sample: str) -> str:
    """The split of a sample, by a seeded hash of its name: "test" and "validation" one in ten each, else "train"."""
    digest = hashlib.sha256(f"{_SEED}\n{sample}".encode()).digest()
    return {0: "test", 1: "validation"}.get(int.from_bytes(digest[:8], "big") % 10, "train")


def split_notes(notes: Mapping[str, str], patients: Mapping[str, str] | None = None) -> dict[str, str]:
    """The split of each note.

    Args:
        notes: Id -> text.
        patients: Id -> patient, of notes whose patient is known; one patient's notes stay together.

    Returns:
        Id -> "train", "validation" or "test"; the same in every order of the notes.
    """
    patients = patients or {}
    keeper = _Groups(notes)
    first_of: dict[str, str] = {}
    for note, patient in sorted(patients.items()):
        if note in notes:
            keeper.join(first_of.setdefault(patient, note), note)
    for first, second in same_samples(notes):
        keeper.join(first, second)
    # A patient's name decides before a note's: further notes of the same patient never move the others.
    names = {keeper.first(note): patient for note, patient in sorted(patients.items(), reverse=True) if note in notes}
    return {note: split_of(names.get(keeper.first(note), keeper.first(note))) for note in notes}


def same_samples(notes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of notes that share at least a third of the shorter one's runs of words, case and punctuation aside."""
    holders: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for note, text in sorted(notes.items()):
        runs = _runs(text)
        sizes[note] = len(runs)
        for run in runs:
            holders.setdefault(run, []).append(note)
    shared: Counter[tuple[str, str]] = Counter()
    for own in holders.values():
        if 1 < len(own) <= _MOST_HOLDERS:
            shared.update(combinations(own, 2))
    return [pair for pair, count in shared.items() if count >= _SHARED * min(sizes[note] for note in pair)]


def _runs(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {" ".join(words[start : start + _RUN]) for start in range(max(1, len(words) - _RUN + 1))}


class _Groups:
    """Notes that belong together; each group is known by its first note."""

    def __init__(self, notes: Iterable[str]) -> None:
        self._above = {note: note for note in notes}

    def first(self, note: str) -> str:
        while self._above[note] != note:
            self._above[note] = self._above[self._above[note]]
            note = self._above[note]
        return note

    def join(self, one: str, other: str) -> None:
        first, second = sorted((self.first(one), self.first(other)))
        self._above[second] = first


__all__ = ["same_samples", "split_notes", "split_of"]
