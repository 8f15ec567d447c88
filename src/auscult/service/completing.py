"""Names that go on from what was typed: of the knowledge base, and titles that it does not know."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final

from auscult.concepts import Autocomplete, Concept, KnowledgeBase
from auscult.concepts.aspects import INFORMATION
from auscult.concepts.identifiers import normalise_identifier
from auscult.search import Searcher
from auscult.service import models
from auscult.understanding.aspect_words import QUESTIONS, question_about

_TITLE: Final = "title:"


class Names:
    """What completes names over one generation of an index; built once, in the background.

    Args:
        searcher: Over the documents whose titles may be told.
    """

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._titles: Autocomplete | None = None
        self._building = threading.Lock()

    @property
    def is_built(self) -> bool:
        """Whether it answers at once."""
        return self._titles is not None

    def build(self) -> None:
        """Gather the names: some seconds for hundreds of thousands."""
        with self._building:
            if self._titles is None:
                # Asked for here, so that it is at hand.
                self._searcher.completion.complete("a", 1)
                self._titles = Autocomplete(KnowledgeBase(self._unknown()))

    def complete(self, prefix: str, limit: int) -> models.EntityCompletions:
        """Concepts and titles with a word that begins so; concepts first where both do alike.

        Where names are still being gathered, there are none yet.
        """
        if self._titles is None:
            return models.EntityCompletions(entities=[], complete=False)
        found = [
            models.EntityCompletion(name=each.name, matched=each.matched, code=each.concept_id)
            for each in self._searcher.completion.complete(prefix, limit)
        ]
        titles = self._searcher.index.reader.titles
        for each in self._titles.complete(prefix, limit - len(found)):
            title = titles.get(each.name, each.name)
            found.append(models.EntityCompletion(name=title, matched=title, code=""))
        return models.EntityCompletions(entities=found, complete=True)

    def _unknown(self) -> Iterator[Concept]:
        """Titles that name nothing of the knowledge base, as they are folded."""
        known = self._searcher.knowledge_base
        names = known.name_index if known is not None else {}
        for title in self._searcher.index.reader.titles:
            if title not in names and not normalise_identifier(title):
                yield Concept(_TITLE + title, title)


def aspects(prefix: str, limit: int) -> models.AspectCompletions:
    """Aspects with a word that begins so, in their order; all where nothing was typed."""
    typed = " ".join(prefix.lower().split())
    names = (*QUESTIONS, INFORMATION)
    first = [name for name in names if name.startswith(typed)]
    inner = [name for name in names if name not in first and f" {typed}" in name]
    return models.AspectCompletions(
        aspects=[
            models.AspectCompletion(aspect=name, example=question_about(name, "gout"))
            for name in (*first, *inner)[:limit]
        ]
    )
