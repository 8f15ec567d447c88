"""Short texts that a student learns to read: what documents are asked for by, and what things are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auscult.concepts.opening import open_knowledge_base
from auscult.documents import Document, Passage
from auscult.understanding.aspect_words import question_about
from auscult_lab.general.data import aspect_of
from auscult_lab.training.labels import title_words


def asking(document: Document, passage: Passage) -> Iterator[str]:
    """The passage's title and heading, apart, together, and as a question."""
    title = title_words(document.title)
    aspect = aspect_of(passage.heading or passage.aspect, document.title)
    if title:
        yield title
    if aspect:
        yield aspect
    if title and aspect:
        yield f"{aspect} of {title}"
        yield question_about(aspect, title)


def short_texts(documents: Sequence[Document], knowledge: str | None) -> list[str]:
    """What asks for documents, and the names and definitions of a knowledge base; each once.

    Args:
        documents: To learn from.
        knowledge: As `concepts.opening` names it; None for none.
    """
    found = [text for document in documents for passage in document.passages for text in asking(document, passage)]
    if knowledge is not None:
        for concept in open_knowledge_base(knowledge):
            found += [*concept.names, concept.definition]
    return [text for text in dict.fromkeys(found) if text]
