"""Texts in English, French and Spanish that the encoder `multilingual` may learn from, and those that measure it.

The articles of the French Wikipedia are divided by a hash of their identifiers: one half is learned from, the other
measures. Of the cases of CasiMedicos, the part "train" may be learned from. Package leaflets only measure.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from auscult.catalogue import data_dir
from auscult.concepts.opening import open_knowledge_base
from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.files.records import Record, read_many
from study.shipped.written import half_of, kept_apart, read_documents, read_questions

LEARNED_HALF: Final = 0
MOST_DOCUMENTS, MOST_PASSAGES, MOST_CHARACTERS = 1_800, 16, 450
"""Documents, passages of a document, and characters of a passage, that the towers learn from."""
_TAKEN: Final[Mapping[str, int]] = {"medquad": 350, "labels": 200, "wikipedia": 700, "nhs": 350}
_SEED: Final = 55
_LANGUAGES = "languages"
_FRENCH_WIKIPEDIA = "other_languages/frwiki_medical.jsonl.gz"


def health_texts() -> Iterator[str]:
    """Yield passages whose pieces are counted, in three languages.

    Raises:
        CorpusMissingError: A data set is not on this machine.
    """
    for collection in ("medquad", "wikipedia"):
        for document in read_documents(collection):
            yield from (document.slice(passage) for passage in document.passages)
    for document in french_articles(LEARNED_HALF):
        yield f"{document.title}\n{document.text}"
    for record in _records(f"{_LANGUAGES}/case_reports.jsonl.gz"):
        yield record.text("text")
    for record in _records(f"{_LANGUAGES}/casimedicos/documents.jsonl.gz"):
        if record.text("split") == "train":
            yield from (section.text("text") for section in record.records("sections"))


def names() -> Iterator[str]:
    """Yield names of the knowledge base, and Spanish names of diseases."""
    for concept in open_knowledge_base("knowledge-base"):
        yield from concept.names
    yield from (name for _, name in spanish_names())


def spanish_names() -> list[tuple[str, str]]:
    """Return names of diseases in English and Spanish, from the Disease Ontology (CC0)."""
    with gzip.open(data_dir() / _LANGUAGES / "names.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [(row["english"], row["name"]) for row in rows if row["lang"] == "es" and row["source"] == "DOID"]


def everyday_names() -> list[tuple[str, str]]:
    """Return everyday names of diseases, findings and tests in English, and in French, Spanish or German."""
    lines = resources.files("auscult.concepts").joinpath("everyday_names.tsv").read_text(encoding="utf-8")
    rows = [*csv.DictReader(lines.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [(row["english"], name) for row in rows for lang in ("es", "fr", "de") for name in row[lang].split("|")]


def french_articles(half: int) -> list[Document]:
    """Return the medical articles of one half of the French Wikipedia's, in order.

    Args:
        half: `LEARNED_HALF`, or the other one, which measures.
    """
    return [
        build_document(doc_id=doc_id, title=record.text("title"), sections=sections_of(record))
        for record in _records(_FRENCH_WIKIPEDIA)
        if half_of(doc_id := record.text("doc_id")) == half
    ]


def sections_of(record: Record) -> list[Section]:
    """Return the sections of a record of the multilingual sets."""
    return [
        Section(each.text("heading", ""), each.text("text"), passage_id=each.text("passage_id", ""))
        for each in record.records("sections")
    ]


def _records(path: str) -> Iterator[Record]:
    yield from read_many([data_dir() / path])


def towers_documents(questions: Path) -> list[Document]:
    """Return the documents that the towers learn from, in a random order that is always the same.

    Of the English collections some are taken, those with written questions first. Of a passage only the beginning is
    taken, and of a document the first passages, so that two processor cores read them in an hour.

    Args:
        questions: Folder of the written questions.
    """
    asked = {each.doc_id for each in read_questions(questions)}
    chance = random.Random(_SEED)
    documents = french_articles(LEARNED_HALF)
    for collection, count in _TAKEN.items():
        found = read_documents(collection, kept_apart=kept_apart())
        chance.shuffle(found)
        documents += sorted(found, key=lambda document: document.doc_id not in asked)[:count]
    chance.shuffle(documents)
    return [shortened(document) for document in documents[:MOST_DOCUMENTS]]


def shortened(document: Document) -> Document:
    """Return a document with the first passages of another, each with its first sentences."""
    sections = []
    for passage in document.passages[:MOST_PASSAGES]:
        ends = [sentence.end for sentence in passage.sentences if sentence.end - passage.start <= MOST_CHARACTERS]
        end = ends[-1] if ends else passage.start + MOST_CHARACTERS
        text = document.text[passage.start : min(end, passage.end)]
        sections.append(Section(passage.heading, text, passage.passage_id, passage.aspect))
    return build_document(doc_id=document.doc_id, title=document.title, sections=sections)
