"""Complete names as a person types, by bisection in a sorted array of all positions where a word begins.

"infarct" completes to "myocardial infarction", because each name is entered once for every word it has. The
array holds offsets into one long text, so 480,000 entries take a few megabytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.mentions import fold

_NAME, _SYNONYM, _INNER_NAME, _INNER_SYNONYM = range(4)

# "IgA nephropathy, susceptibility to, 1" is a preferred name, but not what people type "IgA" for.
_SUSCEPTIBILITY = "susceptibility"


@dataclass(frozen=True, slots=True)
class Completion:
    """A concept that has a name with the typed prefix.

    Attributes:
        concept_id: Primary identifier.
        name: Preferred name.
        matched: The name or synonym that holds the prefix.
    """

    concept_id: str
    name: str
    matched: str


class Autocomplete:
    """Prefix completion over all names and synonyms of a knowledge base (codes take no part).

    Args:
        knowledge_base: The knowledge base.
        languages: Codes of languages whose names are completed beside the English ones.
    """

    def __init__(self, knowledge_base: KnowledgeBase, languages: Sequence[str] = ()) -> None:
        self.knowledge_base = knowledge_base
        self._names: list[tuple[str, str]] = []
        pieces: list[str] = []
        starts: list[int] = []
        owners: list[int] = []
        ranks: list[int] = []
        offset = 0
        for concept in knowledge_base:
            of_languages = [knowledge_base.foreign.names(concept.concept_id, [each]) for each in languages]
            for number, name in chain.from_iterable(map(enumerate, (concept.names, *of_languages))):
                words = " ".join(fold(name).split())
                if not words:
                    continue
                owner = len(self._names)
                self._names.append((concept.concept_id, name))
                position = 0
                while position >= 0:
                    preferred = number == 0 and _SUSCEPTIBILITY not in words
                    if position == 0:
                        kind = _NAME if preferred else _SYNONYM
                    else:
                        kind = _INNER_NAME if preferred else _INNER_SYNONYM
                    starts.append(offset + position)
                    owners.append(owner)
                    ranks.append(kind * 1000 + min(len(words), 999))
                    position = words.find(" ", position) + 1 or -1
                pieces.append(words + "\n")
                offset += len(words) + 1
        self._text = "".join(pieces)
        order = sorted(range(len(starts)), key=lambda i: self._text[starts[i] : starts[i] + 40])
        self._starts = np.array(starts, dtype=np.int32)[order]
        self._owners = np.array(owners, dtype=np.int32)[order]
        self._ranks = np.array(ranks, dtype=np.int32)[order]

    def complete(self, prefix: str, limit: int = 10) -> list[Completion]:
        """Return concepts that have a name, or a word in a name, that begins with the prefix.

        Order: whole names equal to the prefix, preferred names that begin with it, synonyms that do, then
        names with an inner word that does; shorter names first. Case, accents and punctuation don't matter.

        Args:
            prefix: The text typed so far; a blank prefix has no completions.
            limit: Maximum number of concepts; each appears once.
        """
        typed = " ".join(fold(prefix).split())[:40]
        if not typed or limit < 1:
            return []
        width = len(typed)

        def head(position: int) -> str:
            start = int(self._starts[position])
            return self._text[start : start + width]

        entries = range(len(self._starts))
        low = bisect_left(entries, typed, key=head)
        high = bisect_right(entries, typed, lo=low, key=head)
        ranks = self._ranks[low:high].copy()
        # A name that equals the prefix comes first.
        ranks[(ranks % 1000 == width) & (ranks < 2000)] -= 2000
        wanted = min(len(ranks), 8 * limit)
        while True:
            best = np.argpartition(ranks, wanted - 1)[:wanted] if wanted < len(ranks) else np.arange(len(ranks))
            best = best[np.lexsort((best, ranks[best]))]
            completions = self._take_distinct(self._owners[low:high][best], limit)
            if len(completions) == limit or wanted >= len(ranks):
                return completions
            wanted = min(len(ranks), 8 * wanted)

    def _take_distinct(self, owners: np.typing.NDArray[np.int32], limit: int) -> list[Completion]:
        completions: dict[str, Completion] = {}
        for owner in owners:
            concept_id, matched = self._names[owner]
            if concept_id not in completions:
                completions[concept_id] = Completion(concept_id, self.knowledge_base.concepts[concept_id].name, matched)
                if len(completions) == limit:
                    break
        return list(completions.values())
