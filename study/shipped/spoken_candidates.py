"""Fit the weights of the encoder `multilingual` on questions in four languages about held-out documents.

Questions in words are the written ones (`spoken_questions`). Queries by entity and aspect are made of titles and
headings, as for the other encoders, and again with the heading, and the title where it has names, in another language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from auscult.documents import Document
from auscult.search.searcher import Searcher
from auscult.understanding import Query
from auscult_lab.fitting.fitting import Candidates, candidates
from auscult_lab.fitting.own_questions import OwnQuestion
from study.shipped.spoken_questions import SpokenQuestion, is_asked
from study.shipped.written import NearMiss


def spoken_candidates(
    searcher: Searcher, asked: Sequence[SpokenQuestion], documents: Sequence[Document],
    misses: Sequence[NearMiss | SpokenQuestion], chance: np.random.Generator,
) -> Iterator[tuple[str, Candidates]]:  # fmt: skip
    """Yield the language and the candidates of each question about an index's documents.

    Args:
        searcher: Searcher of an index of the documents.
        asked: Questions about them, and about others, which are left out.
        documents: The documents of the index.
        misses: Questions that the collection does not answer; near misses are in English.
        chance: Draws candidates.
    """
    reader = searcher.index.reader
    rows = {reader.passage_id(row): row for row in range(len(reader.passage_documents))}
    by_id = {document.doc_id: document for document in documents}
    for each in asked:
        if is_asked(each, by_id):
            document = by_id[each.doc_id]
            text = document.slice(document.passages[each.passage])
            same = [
                rows[passage.passage_id]
                for other in documents for passage in other.passages
                if passage.passage_id in rows and other.slice(passage) == text
            ]  # fmt: skip
            relevant = np.array(same, np.int64)
            related = np.flatnonzero(np.isin(reader.passage_documents, reader.passage_documents[relevant]))
            own = OwnQuestion(_understood(searcher, Query("", "", text=each.question)), relevant, related)
            yield each.lang, candidates(searcher, own, chance, hides=False)
    nothing = np.zeros(0, np.int64)
    for miss in misses:
        own = OwnQuestion(_understood(searcher, Query("", "", text=miss.question)), nothing, nothing)
        lang = miss.lang if isinstance(miss, SpokenQuestion) else "en"
        yield lang, candidates(searcher, own, chance, hides=False)


def in_another_language(
    searcher: Searcher, made: OwnQuestion, headings: Mapping[str, Sequence[str]], names: Mapping[str, Sequence[str]],
    chance: np.random.Generator,
) -> OwnQuestion | None:  # fmt: skip
    """Return a query by entity and aspect with its aspect in another language; None for one in words.

    Args:
        searcher: Searcher of the index.
        made: A question of `fitting.own_questions`.
        headings: Names of aspects in other languages.
        names: Names of entities in other languages, by the English one in lower case; half of them are used.
        chance: Draws these.
    """
    query = made.query
    if query.text or not query.aspects or query.aspects[0] not in headings:
        return None
    others = names.get(query.entity.lower(), ()) if chance.random() < 0.5 else ()
    entity = str(chance.choice([*others])) if others else query.entity
    spoken = Query("", entity, (str(chance.choice([*headings[query.aspects[0]]])),))
    return replace(made, query=_understood(searcher, spoken))


def _understood(searcher: Searcher, query: Query) -> Query:
    return searcher.understand(query).query
