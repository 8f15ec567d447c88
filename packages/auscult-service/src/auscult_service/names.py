"""Names that complete what a user types: of the knowledge base, of documents' titles, and of aspects."""

from __future__ import annotations

import threading
from typing import Final

from auscult import schema
from auscult.concepts import Autocomplete, Concept, KnowledgeBase
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.names import normalise_name
from auscult.search import Searcher
from auscult.search.coverage import aspects_of
from auscult.understanding.aspects import QUESTIONS

_TITLE: Final = "title:"
_CONSIDERED: Final = 4
_ASPECT_WORDS: Final = 3
_NAME_WORDS: Final = 8


class Names:
    """Names for completion over one generation of an index; built once, in the background.

    Args:
        searcher: The searcher over the documents whose titles may be shown.

    Attributes:
        headed: The aspects that documents have headings for; empty until the names are built.
    """

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._titles: Autocomplete | None = None
        self.headed: tuple[str, ...] = ()
        self._building = threading.Lock()

    def build(self) -> None:
        """Build the names: some seconds for hundreds of thousands."""
        with self._building:
            if self._titles is None:
                # Complete something once, so that the knowledge base's names are loaded, too.
                self._searcher.completion.complete("a", 1)
                known = self._searcher.knowledge_base
                # Every title is looked up: a set is faster than the stored names.
                names = frozenset(known.name_index) if known is not None else frozenset()
                # Normalised titles that the knowledge base does not name.
                titles = (
                    Concept(_TITLE + title, title)
                    for title in self._searcher.index.reader.titles
                    if title not in names and not normalise_identifier(title)
                )
                self.headed = aspects_of(self._searcher)
                self._titles = Autocomplete(KnowledgeBase(titles))

    def complete(self, prefix: str, limit: int) -> schema.EntityCompletions:
        """Return concepts and titles with a word that begins with the prefix; names that are titles come first.

        Before the names are built, the answer is empty and marked as incomplete.
        """
        if self._titles is None:
            return schema.EntityCompletions(entities=[], complete=False)
        titles, typed = self._searcher.index.reader.titles, normalise_name(prefix)
        titled: list[schema.EntityCompletion] = []
        others: list[schema.EntityCompletion] = []
        for completion in self._searcher.completion.complete(prefix, _CONSIDERED * limit):
            concept = self._searcher.completion.knowledge_base.concepts[completion.concept_id]
            # A name that was typed in full comes first as well.
            is_own = normalise_name(completion.matched) == typed or any(
                normalise_name(name) in titles for name in concept.names
            )
            (titled if is_own else others).append(
                schema.EntityCompletion(name=completion.name, matched=completion.matched, code=completion.concept_id)
            )
        for match in self._titles.complete(prefix, limit):
            title = titles.get(match.name, match.name)
            titled.append(schema.EntityCompletion(name=title, matched=title, code=""))
        return schema.EntityCompletions(entities=[*titled, *others][:limit], complete=True)

    def aspects(self, typed: str = "") -> tuple[str, list[str]]:
        """Return the typed words up to an entity, and the aspects that may follow, those with headings first.

        "gout tre" gives "gout" and "treatment". Without a known name before the last words, there are no aspects. With
        nothing typed, all aspects are returned.
        """
        ordered = tuple(dict.fromkeys((*self.headed, *QUESTIONS)))
        words = typed.split()
        if not words:
            return "", [*ordered]
        if typed[-1].isspace():
            words.append("")
        is_known = self._searcher.parser.is_known
        for number in range(1, min(_ASPECT_WORDS, len(words) - 1) + 1):
            before, tail = words[:-number], " ".join(words[-number:]).lower()
            found = [aspect for aspect in ordered if f" {aspect}".find(f" {tail}") >= 0]
            if found and any(is_known(" ".join(before[first:])) for first in range(len(before))[-_NAME_WORDS:]):
                return " ".join(before), found
        return "", []
