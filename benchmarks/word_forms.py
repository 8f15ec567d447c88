"""Accuracy and cost of the rules of `auscult.documents.word_forms`.

    python benchmarks/word_forms.py LISTS [--texts FILE ...]

LISTS is the folder of SCOWL's word lists (Debian's package scowl: /usr/share/dict/scowl). Of the words that British
lists have and American ones lack (size 70), as many as possible should become American words; of those in American
lists, few should change, and none into another word. With --texts, files of text, also measures the time of index terms
with and without the normal form: the median of seven rounds after a warm-up.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable
from pathlib import Path

from auscult.documents.analysis import Analyzer
from auscult.documents.word_forms import american

LARGEST = 70
ROUNDS = 7


def words_of(folder: Path, kinds: Iterable[str]) -> set[str]:
    """Return the words of SCOWL's lists of some kinds, in lower case."""
    files = [file for kind in kinds for file in folder.glob(f"{kind}-words.*") if int(file.suffix[1:]) <= LARGEST]
    lines = (line for file in files for line in file.read_text("latin-1").splitlines())
    return {line.lower() for line in lines if line.isalpha()}


def seconds(analyse: Analyzer, texts: list[str]) -> float:
    """Return the median time to compute the terms of texts."""
    rounds = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        for text in texts:
            analyse(text)
        rounds.append(time.perf_counter() - began)
    return statistics.median(rounds[1:])


def main() -> None:
    """Print the counts, and the times where texts are given."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("lists", type=Path)
    options.add_argument("--texts", type=Path, nargs="*", default=[])
    chosen = options.parse_args()
    known = words_of(chosen.lists, ("american", "english"))
    british = words_of(chosen.lists, ("british", "british_z")) - known
    changed = {word: american(word) for word in known if american(word) != word}
    print(f"British alone: {len(british):,}; come out American: {sum(american(each) in known for each in british):,}")
    print(f"American: {len(known):,}; changed: {len(changed):,}; into another word of them:")
    print(", ".join(f"{word} {other}" for word, other in sorted(changed.items()) if other in known))
    texts = [block for file in chosen.texts for block in file.read_text("utf-8").split("\n\n")]
    if texts:
        for normal_form in (False, True):
            taken = seconds(Analyzer(stop_words=True, stemming=True, normal_form=normal_form), texts)
            print(f"normal form {normal_form}: {sum(map(len, texts)) / taken / 1e6:.2f} million characters a second")


if __name__ == "__main__":
    main()
