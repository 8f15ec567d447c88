"""A little of what `tests/fuzz_readers.py` does at length; and that it would notice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Section
from auscult.documents.original import RUN, WORD
from auscult.files.limits import VARIABLE
from auscult.readers.contract import DraftDocument
from fuzz_readers import CANARY, Counts, changed_files, check_draft, fuzz, listener, mutated, read_all
from good_files import good_files
from hostile_files import GROUPS


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "seconds=20")


def test_good_files_are_all_read(tmp_path: Path) -> None:
    counts = Counts()
    read_all(iter(good_files().items()), tmp_path, counts)
    assert counts.findings == []
    assert counts.refused == Counter()
    # Three members are in the archive, rows and resources are documents of their own.
    assert counts.read == len(good_files()) + 2
    assert counts.documents > counts.read


def test_randomly_changed_and_small_hostile_files_break_nothing() -> None:
    counts = fuzz(70, seed=7, groups=("entities", "pages", "word", "odd", "office"))
    assert counts.findings == []
    assert counts.fetched == 0
    assert counts.files > 100
    assert counts.read > 20
    assert counts.refused["declared entities"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("group", sorted({*GROUPS} - {"entities", "pages", "word", "odd", "office"}))
def test_large_hostile_files_break_nothing(group: str) -> None:
    counts = fuzz(0, seed=7, groups=(group,))
    assert counts.findings == []
    assert counts.files > 1
    if group == "archives":
        assert counts.refused["zip bomb"] >= 2
        assert counts.refused["path traversal"] >= 3


def test_mutations_are_reproducible_and_change_the_file() -> None:
    assert list(changed_files(30, 3)) == list(changed_files(30, 3))
    content = good_files()["page.html"]
    changed = {mutated(random.Random(seed), content, [content]) for seed in range(30)}
    assert len(changed) > 20


@pytest.mark.parametrize(
    "draft",
    [
        DraftDocument(text="Gout hurts", sections=[Section("", "hurts", start=4)], media_type="text/plain"),
        DraftDocument(text="Gout", sections=[], media_type="a", runs=np.array([(0, 9, 0, 9)], RUN)),
        DraftDocument(
            text="Gout", sections=[], media_type="a", words=np.array([(0, 4, 1, 0, 0, 1, 1)], WORD), pages=[(1, 1)]
        ),
        DraftDocument(text="Gout \ud800", sections=[], media_type="a"),
    ],
    ids=["section", "runs", "page", "surrogate"],
)
def test_inconsistent_drafts_are_detected(draft: DraftDocument) -> None:
    with pytest.raises((ValueError, UnicodeEncodeError)):
        check_draft(draft)


def test_network_access_and_leaked_secrets_are_detected(tmp_path: Path) -> None:
    import urllib.request

    with listener() as (address, met), pytest.raises(OSError):  # noqa: PT011
        urllib.request.urlopen(address, timeout=2)  # noqa: S310
    assert met() == 1
    counts = Counts()
    read_all(iter([("note.txt", f"The word is {CANARY}.".encode())]), tmp_path, counts)
    assert counts.findings == ["note.txt: the secret is in a draft"]
