"""Self-supervised labels of sentences, from titles, mentions and headings (arnold2020, Eq. 15).

    E(s_t, D) = {E | title(D) = E or s_t mentions E}
    A(s_t, D) = {A | heading(s_t) = A}

The paper uses hyperlinks. Plain text has none, so mentions are linked through the knowledge base.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from auscult.concepts import KnowledgeBase, MentionLinker, normalise_heading
from auscult.documents import Document, Passage

_PARENTHESES = re.compile(r"\s*\([^)]*\)")


@dataclass(frozen=True, slots=True)
class EntityLabel:
    """An entity as a label.

    Attributes:
        key: Its identifier in the knowledge base, or "title:" and the title where it has none.
        name: Its name in the document.
    """

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A document and the labels of its sentences.

    Attributes:
        document: The document.
        title: The entity of every sentence; None for a document without a title.
        mentions: For each sentence, the further entities it mentions.
        aspects: For each passage, its normalised headings; empty where it has none.
        passage_of: For each sentence, the position of its passage.
    """

    document: Document
    title: EntityLabel | None
    mentions: tuple[tuple[EntityLabel, ...], ...]
    aspects: tuple[tuple[str, ...], ...]
    passage_of: tuple[int, ...]


def title_words(title: str) -> str:
    """Return a title as a name: without the part in parentheses ("Mole (skin)")."""
    return _PARENTHESES.sub("", title).strip() or title.strip()


def title_label(document: Document, knowledge: KnowledgeBase | None) -> EntityLabel | None:
    """Return the entity of a document's title, whether or not the knowledge base has it; None without a title."""
    name = title_words(document.title)
    if not name:
        return None
    if knowledge is not None:
        found = next(iter(knowledge.by_name(name)), None)
        if found is not None:
            return EntityLabel(found.concept_id, name)
    return EntityLabel(f"title:{name.lower()}", name)


def label_documents(
    documents: Iterable[Document], knowledge: KnowledgeBase | None, linker: MentionLinker | None
) -> Iterator[LabelledDocument]:
    """Label documents that have at least one sentence.

    Args:
        documents: Documents to label.
        knowledge: Resolves titles; None leaves them unresolved.
        linker: Finds mentions; None labels by title only.
    """
    for document in documents:
        sentences = document.sentences
        if not sentences:
            continue
        title = title_label(document, knowledge)
        passage_of = tuple(row for row, passage in enumerate(document.passages) for _ in passage.sentences)
        yield LabelledDocument(
            document=document,
            title=title,
            mentions=_mentions(document, title, linker),
            aspects=tuple(passage_aspects(passage) for passage in document.passages),
            passage_of=passage_of,
        )


def passage_aspects(passage: Passage) -> tuple[str, ...]:
    """Return the normalised headings of a passage; empty where it has none."""
    return tuple(normalise_heading(passage.heading)) if passage.heading.strip() else ()


def _mentions(
    document: Document, title: EntityLabel | None, linker: MentionLinker | None
) -> tuple[tuple[EntityLabel, ...], ...]:
    if linker is None:
        return tuple(() for _ in document.sentences)
    by_sentence = []
    for sentence in document.sentences:
        labels = {
            mention.concept_id: EntityLabel(mention.concept_id, mention.name)
            for mention in linker.link_text(document.slice(sentence))
            if title is None or mention.concept_id != title.key
        }
        by_sentence.append(tuple(labels.values()))
    return tuple(by_sentence)
