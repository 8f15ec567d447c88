"""MedQuAD's XML: a document a file, its questions as headings of their answers.

The corpus of that name (`auscult_lab.corpora`) reads the prepared collection, with its ids and judgements; this reads a
file that somebody drops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from auscult.concepts.identifiers import normalise_identifiers
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow, has_words
from auscult.readers.tree import Element, Piece, descend

MEDIA_TYPE: Final = "application/xml"
# Attribute names of document id and source by root element: two files of the collection have others.
ROOTS: Final = {"Document": ("id", "source"), "DiseaseFile": ("fid", "source"), "doc": ("docid", "corpus")}


def is_medquad(root: Element) -> bool:
    """Whether a file is of MedQuAD's schema."""
    return root.tag in ROOTS and root.first("QAPair") is not None


def read_medquad(root: Element, encoding: str) -> DraftDocument:
    """Return the document of a file. Pairs whose answer is withheld are left out.

    The heading of a section is the type of its question ("symptoms"), or the question if it has no type. Answers keep
    their line breaks.

    Raises:
        UnreadableError: No question has an answer.
    """
    flow = Flow()
    for pair in root.all("QAPair"):
        question, answer = pair.first("Question"), pair.first("Answer")
        if answer is None or not has_words(answer.words()):
            continue
        if question is not None and has_words(question.words()):
            flow.begin_heading(2)
            _set(flow, question, verbatim=False)
            flow.end_heading()
            if (kind := question.get("qtype").strip()) and flow.headings:
                flow.headings[-1] = replace(flow.headings[-1], text=kind)
        flow.block()
        _set(flow, answer, verbatim=True)
    if not flow.length:
        raise UnreadableError("empty file", "questions with answers", "none with an answer", "leave it out")
    return draft_of(flow, _facts(root), media_type=MEDIA_TYPE, encoding=encoding)


def _set(flow: Flow, element: Element, *, verbatim: bool) -> None:
    for node in descend(element):
        if isinstance(node, Piece):
            (flow.verbatim if verbatim else flow.add)(node)


def _facts(root: Element) -> Facts:
    named, source = ROOTS[root.tag]
    metadata = {
        "document": root.get(named),
        "category": _first(root, "Category"),
        "semantic_group": _first(root, "SemanticGroup"),
        "semantic_types": "; ".join(_texts(root, "SemanticType")),
        "synonyms": "; ".join(_texts(root, "Synonym")),
    }
    return Facts(
        title=_first(root, "Focus"),
        source=root.get(source),
        url=root.get("url"),
        entity_ids=normalise_identifiers([f"UMLS:{cui}" for cui in _texts(root, "CUI")]),
        metadata={name: value for name, value in metadata.items() if value},
    )


def _texts(root: Element, tag: str) -> list[str]:
    return [text for element in root.all(tag) if (text := element.words())]


def _first(root: Element, tag: str) -> str:
    return next(iter(_texts(root, tag)), "")
