"""Hits as they are read: the stretch of a passage that answers, its marked sentences, and why it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from auscult.concepts import KnowledgeBase
from auscult.index.words import analyse
from auscult.interfaces import Hit
from auscult.search.assertions import assertion_label
from auscult.search.certainty import Verdict, verdict
from auscult.search.evidence import question_terms
from auscult.search.marks import excerpt
from auscult.search.siblings import sibling_note
from auscult.service.page.asking import Asked, document_path
from auscult.service.page.reading import parted
from auscult.understanding import Query

_STYLES: Final[Mapping[Verdict, str]] = {"answers": "sure", "may answer": "maybe", "no answer": "doubtful"}
"""Of a word, the class for the style sheet."""
_LEAST: Final = 0.05
"""What a reason adds to a score so that it is named."""


def reasons(hit: Hit, query: Query) -> list[str]:
    """Return why a hit is shown: where it names the entity, whether it speaks of the aspect."""
    told = [_where_named(hit, query), _speaks_about(hit, query)]
    terms = list(dict.fromkeys(question_terms(query)))
    if query.text and len(terms) > 1:
        held = set(analyse(f"{hit.title} {hit.heading} {hit.text}"))
        told.append(f"your words: {sum(term in held for term in terms)} of {len(terms)}")
    return [each for each in told if each]


def _where_named(hit: Hit, query: Query) -> str:
    if not query.entity:
        return ""
    for place, text in (("in the title", hit.title), ("in the passage", f"{hit.heading} {hit.text}")):
        if name := _named(query.all_names, text):
            return f"names {name} {place}"
    if hit.evidence.get("entity_document", 0.0) > _LEAST:
        return f"words of {query.entity} elsewhere in the document"
    return f"does not name {query.entity}"


def _named(names: tuple[str, ...], text: str) -> str:
    held = f" {' '.join(analyse(text))} "
    for name in names:
        terms = analyse(name)
        if terms and f" {' '.join(terms)} " in held:
            return name
    return ""


def _speaks_about(hit: Hit, query: Query) -> str:
    headings = " ".join((*hit.above, hit.heading))
    under = [aspect for aspect in query.aspects if _named((aspect,), headings)]
    if under:
        return f"headed {' and '.join(under)}"
    if query.aspects and hit.evidence.get("aspect_vector", 0.0) > _LEAST:
        return f"speaks about {' and '.join(query.aspects)}"
    return ""


DATES: Final = ("date", "updated", "published", "last_updated", "year")
"""Fields of metadata that say when, the first that a document has."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a hit: marker and text together are what the document has.

    Attributes:
        marker: The bullet or number that it begins with, with the blank behind it; empty for none.
        label: What it says of the entity; empty where that is affirmed, or not mentioned.
    """

    marker: str
    text: str
    marked: bool
    label: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or a list item."""

    pieces: tuple[Piece, ...]
    list_item: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Another place where the same text stands."""

    title: str
    source: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HitView:
    """What a page shows of a hit.

    Attributes:
        number: From 1, over all pages.
        path: The headings above it and its own.
        href: Of its document, at the passage.
        cut_before: Whether the passage begins before the stretch.
        cut_after: Whether it goes on behind it.
        warning: That it is of a similar disease, and not the one asked for; empty for none.
        also: Other places of the same text.
    """

    hit: Hit
    number: int
    path: tuple[str, ...]
    href: str
    blocks: tuple[Block, ...]
    cut_before: bool
    cut_after: bool
    reasons: tuple[str, ...]
    likely: str
    likelihood: str
    warning: str
    date: str
    also: tuple[Place, ...] = ()


def view_of(
    hit: Hit, number: int, query: Query, asked: Asked, index: str, known: KnowledgeBase | None = None
) -> HitView:
    """Return what a page shows of a hit; a knowledge base tells names of one disease from similar ones'."""
    blocks, before, after = blocks_of(hit)
    note = sibling_note(query, hit.title, known)
    likely, likelihood = ("", "maybe")
    if hit.probability is not None:
        word = verdict(hit.probability)
        likely, likelihood = word, _STYLES[word]
    return HitView(
        hit=hit,
        number=number,
        path=tuple(filter(None, (*hit.above, hit.heading))),
        href=asked.at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id)),
        blocks=blocks,
        cut_before=before,
        cut_after=after,
        reasons=tuple(reasons(hit, query)),
        likely=likely,
        likelihood=likelihood,
        warning=f"{note[:1].upper()}{note[1:]}." if note else "",
        date=date_of(hit.metadata),
    )


def date_of(metadata: Mapping[str, str]) -> str:
    """Return a document's date; empty where it does not say."""
    return next((metadata[name] for name in DATES if metadata.get(name)), "")


def grouped(views: Sequence[HitView]) -> list[HitView]:
    """Return hits of one text under the first of them, which names the places of the others."""
    first: dict[str, HitView] = {}
    for view in views:
        key = " ".join(view.hit.text.split()).casefold()
        if key in first:
            same = view.hit.doc_id == first[key].hit.doc_id
            name = " \u203a ".join(view.path) if same and view.path else view.hit.title or view.hit.doc_id
            place = Place(name, "" if same else view.hit.source, view.href)
            first[key] = replace(first[key], also=(*first[key].also, place))
        else:
            first[key] = view
    return list(first.values())


def blocks_of(hit: Hit) -> tuple[tuple[Block, ...], bool, bool]:
    """Return the stretch of a passage that answers in its paragraphs, and whether it is cut before and behind."""
    sentences = hit.sentences
    if not sentences:
        return (), False, False
    shown = excerpt(sentences)
    blocks: list[Block] = []
    for number in shown:
        # A line break before a sentence begins a paragraph.
        before = sentences[number - 1].end - hit.start if number else 0
        begins = number == 0 or "\n" in hit.text[before : sentences[number].start - hit.start]
        marker, text = parted(sentences[number].text) if begins else ("", sentences[number].text)
        label = assertion_label(sentences[number].assertions)
        piece = Piece(marker, text, sentences[number].marked, label)
        if blocks and not begins:
            blocks[-1] = replace(blocks[-1], pieces=(*blocks[-1].pieces, piece))
        else:
            blocks.append(Block((piece,), bool(marker)))
    return tuple(blocks), shown.start > 0, shown.stop < len(sentences)
