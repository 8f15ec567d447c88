"""Questions in French, Spanish, German and English to tune the encoder `multilingual` with, and their passages.

`data/questions/in_languages.jsonl.gz` has a row for each question and language: `id`, `lang`, `question`. The `id` is
that of an English question, whose passage answers, or of a row of its own: that has `collection` ("frwiki", "cases"),
`doc_id` and `passage`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from auscult.catalogue import data_dir
from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.encoders.general.readers import WindowReader
from auscult.files.records import read_many
from study.shipped.candidates import Found, candidates, nearest_by_terms
from study.shipped.multilingual_texts import LEARNED_HALF, french_articles
from study.shipped.tuning import AskedPassage
from study.shipped.windows import Windows
from study.shipped.written import COLLECTIONS, kept_apart, read_documents, read_questions

FILE: Final = "in_languages.jsonl.gz"
FRENCH_ARTICLES: Final = "frwiki"
CASES: Final = "cases"
_OTHERS: Final = 300
"""Documents of a collection that nothing is asked about, which are wrong for all questions."""
_STRETCH: Final = 1_200
_WRONG: Final = 12


@dataclass(frozen=True, slots=True)
class SpokenQuestion:
    """A question in a language, and the passage that answers it.

    Attributes:
        lang: Its language.
        collection: Name of the collection.
        doc_id: The document.
        passage: Number of the passage.
        question: The question.
    """

    lang: str
    collection: str
    doc_id: str
    passage: int
    question: str


def read_spoken(folder: Path) -> list[SpokenQuestion]:
    """Return the written questions in English, then those in other languages and about other texts.

    Args:
        folder: Folder of the written questions.
    """
    english = {
        each.question_id: SpokenQuestion("en", each.collection, each.doc_id, each.passage, each.question)
        for each in read_questions(folder)
    }
    spoken = [*english.values()]
    for record in read_many([folder / FILE]) if (folder / FILE).is_file() else ():
        known = english.get(record.text("id"))
        collection, doc_id, passage = (
            (known.collection, known.doc_id, known.passage)
            if known is not None
            else (record.text("collection"), record.text("doc_id"), int(record.fields["passage"]))
        )
        spoken.append(SpokenQuestion(record.text("lang"), collection, doc_id, passage, record.text("question")))
    return spoken


def case_reports() -> list[Document]:
    """Return the Spanish case reports in stretches of some 1,200 characters, without titles and headings."""
    found = []
    for record in read_many([data_dir() / "languages" / "case_reports.jsonl.gz"]):
        if record.text("language") == "es":
            text = record.text("text")
            parts = [Section("", text[at : at + _STRETCH]) for at in range(0, len(text), _STRETCH)]
            found.append(build_document(doc_id=record.text("id"), title="", sections=parts))
    return found


def documents_of(collection: str, asked: Sequence[SpokenQuestion], most: int | None = None) -> list[Document]:
    """Return the documents that questions are about, and the first others of their collection that may be learned from.

    Args:
        collection: Name of the collection.
        asked: The questions.
        most: Number of documents, if fewer are asked about; by default 300 more than are.
    """
    if collection in COLLECTIONS:
        every = read_documents(collection, kept_apart=kept_apart())
    else:
        every = french_articles(LEARNED_HALF) if collection == FRENCH_ARTICLES else case_reports()
    wanted = {each.doc_id for each in asked}
    count = _OTHERS if most is None else max(0, most - len(wanted))
    others = [each for each in every if each.doc_id not in wanted][:count]
    return [*(each for each in every if each.doc_id in wanted), *others]


def asked_passages(
    questions: Sequence[SpokenQuestion], documents: Sequence[Document], windows: Windows, begin: int,
    reader: WindowReader, chance: np.random.Generator,
) -> list[AskedPassage]:  # fmt: skip
    """Return questions about one collection as token ids, with right passages and wrong ones, by number.

    Wrong are other passages of the document, and those with the most words of the question.

    Args:
        questions: The questions.
        documents: The documents of the collection, in the order of the windows.
        windows: Windows of their passages, among others.
        begin: Number of their first passage.
        reader: Cuts questions.
        chance: Draws passages of the same document.
    """
    first, texts = {}, list[str]()
    for document in documents:
        first[document.doc_id] = (len(texts), len(texts) + len(document.passages))
        texts += map(document.slice, document.passages)
    same = defaultdict[str, list[int]](list)
    for number, text in enumerate(texts):
        same[text].append(number)
    tokens, _ = reader.cut([[each.question] for each in questions])
    near = nearest_by_terms(tokens, [windows.tokens_of(begin + number) for number in range(len(texts))])
    found = []
    for each, ids, nearest in zip(questions, tokens, near, strict=True):
        page = range(*first[each.doc_id])
        right = same[texts[page[each.passage]]]
        wrong = candidates(Found(right, page=[*page], terms=nearest), most=_WRONG, chance=chance)
        found.append(
            AskedPassage(
                tuple(ids), f"{each.collection} {each.lang}", begin + page[each.passage],
                tuple(begin + number for number in right), tuple(begin + other.passage for other in wrong),
            )
        )  # fmt: skip
    return found


def is_asked(question: SpokenQuestion, documents: Mapping[str, Document]) -> bool:
    """Return whether the passage of a question is there and has text.

    Args:
        question: The question.
        documents: The documents by identifier.
    """
    document = documents.get(question.doc_id)
    return (
        document is not None
        and question.passage < len(document.passages)
        and bool(document.passages[question.passage].sentences)
    )
