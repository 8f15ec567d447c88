"""Make questions from the titles and headings of an index' documents, without any labels.

A passage of the document "Gout" under the heading "Symptoms" answers ⟨gout, symptoms⟩. Questions have one of these
forms:

    parts     entity and aspect
    read      a question in words, as `Searcher.understand` understands it, with its errors
    unread    a question in words, without recognised entity
    entity    the entity only; every passage of its documents answers
    words     some words of a sentence, as in a search for a fact; the passage with the sentence answers
    more      the entity and such words
    named     as parts or read, about an entity that the knowledge base finds in a passage on another subject; passages
              under that heading that name it answer
    unknown   as parts or read, about an entity with an invented name; nothing answers

The entity is named by its title or, half of the time, by another name from the knowledge base. Questions are worded as
the examples in `understanding.aspects`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from auscult.concepts import KnowledgeBase
from auscult.concepts.aspects import normalise_heading
from auscult.concepts.identifiers import normalise_identifiers
from auscult.concepts.mentions import MentionLinker, fold
from auscult.concepts.names import normalise_name
from auscult.errors import QueryError
from auscult.index.words import analyse
from auscult.search.searcher import Searcher
from auscult.understanding import Query
from auscult.understanding.aspects import QUESTIONS, question_about

FORMS = ("parts", "read", "unread", "entity", "words", "more", "named", "unknown")
_SHARES = (3, 3, 3, 1, 5, 3, 3, 2)
_ALL_WORDS = 0.999
_LIKELY = 4
_SHORTEST = 4
_WORD = re.compile(rf"\w{{{_SHORTEST},}}")
_FEWEST, _MOST = 3, 10
_KEPT = (0.3, 0.5, 0.7)
_PIECE, _PIECES = 3, (2, 3, 4)
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question and its answers.

    Attributes:
        query: The query, as it is searched.
        relevant: Rows of the passages that answer; may be empty.
        related: Rows of all passages about its entity; no other passage answers.
    """

    query: Query
    relevant: npt.NDArray[np.int64]
    related: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of documents with one title: their passages, by aspect."""

    title: str
    related: npt.NDArray[np.int64]
    by_aspect: dict[str, list[int]]


def own_questions(
    searcher: Searcher, count: int, seed: int = 0, about: Collection[str] | None = None
) -> Iterator[OwnQuestion]:
    """Draw questions; subjects are repeated only when all were drawn.

    Args:
        searcher: An opened index whose documents have titles.
        count: Number of questions.
        seed: Seed of all random draws.
        about: Ids of the documents on whose subjects to make questions; None for all.

    Raises:
        QueryError: No such document of the index has a title and a passage with a sentence.
    """
    subjects = _find_subjects(searcher)
    eligible = subjects
    if about is not None:
        reader = searcher.index.reader
        # The index has only one of documents with the same text.
        rows = [row for doc_id in about if (row := reader.row_of(doc_id)) is not None]
        eligible = [each for each in subjects if np.isin(reader.passage_documents[each.related], rows).all()]
    if not eligible:
        raise QueryError("an index of documents with titles", "none with one", "fit on another collection")
    by_aspect: dict[str, list[int]] = {}
    for subject in subjects:
        for aspect, rows in subject.by_aspect.items():
            by_aspect.setdefault(aspect, []).extend(rows)
    chance = random.Random(seed)
    order: list[_Subject] = []
    for number in range(count):
        if number % len(eligible) == 0:
            order = chance.sample(eligible, len(eligible))
        yield _make_question(searcher, order[number % len(eligible)], subjects, by_aspect, chance)


def _make_question(
    searcher: Searcher,
    subject: _Subject,
    subjects: Sequence[_Subject],
    by_aspect: Mapping[str, Sequence[int]],
    chance: random.Random,
) -> OwnQuestion:
    # People seldom ask for headings such as "history".
    likely = [_LIKELY if aspect in QUESTIONS else 1 for aspect in subject.by_aspect]
    (aspect,) = chance.choices(list(subject.by_aspect), likely)
    name = (
        _choose_another_name(searcher.knowledge_base, subject.title, chance) if chance.random() < 0.5 else subject.title
    )
    relevant, related = np.array(subject.by_aspect[aspect]), subject.related
    (form,) = chance.choices(FORMS, _SHARES)
    if form == "unknown":
        name, relevant, related = _invent_name(subjects, chance), _NONE, _NONE
        form = chance.choice(("parts", "read"))
    row = chance.choice(subject.related.tolist())
    if form == "named":
        form = chance.choice(("parts", "read"))
        if another := _named(searcher, subject, row, chance):
            name, aspect, related = another
            relevant = np.intersect1d(related, by_aspect[aspect])
    text = question_about(aspect, name)
    if form in ("words", "more") and (words := _choose_words(searcher, row, chance)):
        text, relevant = f"{name} {words}" if form == "more" else words, np.array([row])
    if form == "parts":
        query = Query("", name, (aspect,))
    elif form == "entity":
        query, relevant = Query("", name), subject.related
    else:
        query = Query("", "", text=text)
    query = searcher.understand(query).query
    if form == "unread":
        query = replace(query, text=text, entity="", entity_id="", names=(), several=())
    return OwnQuestion(query, relevant, related)


def _named(
    searcher: Searcher, subject: _Subject, row: int, chance: random.Random
) -> tuple[str, str, npt.NDArray[np.int64]] | None:
    """Return another entity that a passage names, an aspect of the passage, and all passages that name the entity."""
    reader, known = searcher.index.reader, searcher.knowledge_base
    aspects = [aspect for aspect, rows in subject.by_aspect.items() if row in rows]
    if known is None or not aspects:
        return None
    text = reader.passage_text(row)
    mentions = MentionLinker.of_short_text(known, text).link_text(text)
    own = {concept.concept_id for concept in known.by_name(subject.title)}
    names = sorted({fold(mention.name) for mention in mentions if mention.concept_id not in own})
    if not names:
        return None
    name = chance.choice(names)
    return name, chance.choice(aspects), np.flatnonzero(reader.words.coverage([analyse(name)], "text", 0) > _ALL_WORDS)


def _choose_words(searcher: Searcher, row: int, chance: random.Random) -> str:
    """Return some words of a sentence of a passage, in order; empty where the sentence has too few."""
    reader = searcher.index.reader
    passage = reader.passage(row)
    sentence = chance.choice(passage.sentences)
    share = chance.choice(_KEPT)
    text = reader.passage_text(row)[sentence.start - passage.start : sentence.end - passage.start]
    words = [word for word in _WORD.findall(text) if chance.random() < share]
    return " ".join(words[:_MOST]) if len(words) >= _FEWEST else ""


def _invent_name(subjects: Sequence[_Subject], chance: random.Random) -> str:
    """Return a name joined from pieces of titles."""
    pieces = []
    for subject in chance.choices(subjects, k=chance.choice(_PIECES)):
        start = chance.randrange(max(1, len(subject.title) - _PIECE))
        pieces.append(subject.title[start : start + _PIECE])
    return "".join(pieces).lower()


def _choose_another_name(known: KnowledgeBase | None, title: str, chance: random.Random) -> str:
    """Return another name that no other concept has; the title where there is none."""
    concepts = known.by_name(title) if known else ()
    if not known or len(concepts) != 1:
        return title
    names = [name for name in concepts[0].names if len(name) >= _SHORTEST and len(known.by_name(name)) == 1]
    return chance.choice(names) if names else title


def _find_subjects(searcher: Searcher) -> list[_Subject]:
    reader = searcher.index.reader
    wordless = set(reader.wordless.tolist())
    about: dict[str, list[int]] = {}
    titles: dict[str, str] = {}
    joined: dict[str, str] = {}
    for row in reader.documents.tolist():
        record = reader.document_record(row)
        name = normalise_name(record.title)
        if not name:
            continue
        identifiers = normalise_identifiers(list(record.entity_ids))
        # Documents with several identifiers do not say which is that of their subject.
        key = joined.setdefault(identifiers[0], name) if len(identifiers) == 1 else name
        key = joined.setdefault(name, key)
        titles.setdefault(key, record.title)
        about.setdefault(key, []).extend(passage for passage in reader.passages_of(row) if passage not in wordless)
    return [_build_subject(searcher, titles[key], rows) for key, rows in about.items() if rows]


def _build_subject(searcher: Searcher, title: str, rows: Sequence[int]) -> _Subject:
    by_aspect: dict[str, list[int]] = {}
    for row in rows:
        for aspect in normalise_heading(searcher.index.reader.passage(row).heading):
            by_aspect.setdefault(aspect, []).append(row)
    return _Subject(title, np.array(rows), by_aspect)
