"""Hits on the page: the excerpt of a passage, its marked sentences, and why it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from auscult.concepts import KnowledgeBase
from auscult.index.words import analyse
from auscult.search.assertions import assertion_label
from auscult.search.certainty import Label, label
from auscult.search.evidence import question_terms
from auscult.search.hits import Hit
from auscult.search.marks import excerpt
from auscult.search.siblings import sibling_note
from auscult.service.page.asking import PageQuestion, document_path
from auscult.service.page.reading import parted
from auscult.understanding import Query

STYLES: Final[Mapping[Label, str]] = {
    "answers": "sure",
    "may answer": "maybe",
    "uncertain": "doubtful",
    "no answer": "doubtful",
}
"""CSS class by label."""
_LEAST: Final = 0.05
"""Least contribution to the score for a reason to be named."""


def reasons(hit: Hit, query: Query) -> list[str]:
    """Return why a hit was found: where it names the entity, whether it speaks about the aspect, and which words."""
    reasons = [_where_named(hit, query), _speaks_about(hit, query)]
    terms = list(dict.fromkeys(question_terms(query)))
    if query.text and len(terms) > 1:
        present = set(analyse(f"{hit.title} {hit.heading} {hit.text}"))
        reasons.append(f"your words: {sum(term in present for term in terms)} of {len(terms)}")
    return [reason for reason in reasons if reason]


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
    haystack = f" {' '.join(analyse(text))} "
    for name in names:
        terms = analyse(name)
        if terms and f" {' '.join(terms)} " in haystack:
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
"""Metadata fields with a date; the first one that a document has is used."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a hit; marker and text together are its text in the document.

    Attributes:
        marker: Bullet or number at its beginning, with the space after it; empty for none.
        text: The rest of the sentence.
        marked: Whether the sentence is highlighted.
        label: What it says about the entity; empty where the entity is affirmed or not mentioned.
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
    """Another document or passage with the same text."""

    title: str
    source: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HitView:
    """A hit as a page shows it.

    Attributes:
        hit: The hit.
        number: Its number over all pages, from 1.
        path: The headings above it and its own.
        href: URL of its document, at the passage.
        blocks: The paragraphs of the excerpt.
        cut_before: Whether the passage begins before the excerpt.
        cut_after: Whether the passage continues after the excerpt.
        reasons: Why it was found, in words.
        likely: Verdict on whether it answers; empty where there is no probability.
        likelihood: CSS class of the label.
        warning: Sentence that the hit is about a similar disease; empty for none.
        date: Date of its document; empty where unknown.
        also: Other places with the same text.
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
    hit: Hit, number: int, query: Query, question: PageQuestion, index: str, known: KnowledgeBase | None = None
) -> HitView:
    """Return the view of a hit. With a knowledge base, hits about similar diseases get a warning."""
    blocks, before, after = blocks_of(hit)
    note = sibling_note(query, hit.title, known)
    likely, likelihood = ("", "maybe")
    if hit.probability is not None:
        word = label(hit.probability)
        likely, likelihood = word, STYLES[word]
    return HitView(
        hit=hit,
        number=number,
        path=tuple(filter(None, (*hit.above, hit.heading))),
        href=question.at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id)),
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
    """Return the date of a document; empty where it has none."""
    return next((metadata[name] for name in DATES if metadata.get(name)), "")


def grouped(views: Sequence[HitView]) -> list[HitView]:
    """Merge hits with the same text into the first of them, which lists the places of the others."""
    first: dict[str, HitView] = {}
    for view in views:
        key = " ".join(view.hit.text.split()).casefold()
        if key in first:
            same = view.hit.doc_id == first[key].hit.doc_id
            name = " \u203a ".join(view.path) if same and view.path else view.hit.title or view.hit.name
            place = Place(name, "" if same else view.hit.source, view.href)
            first[key] = replace(first[key], also=(*first[key].also, place))
        else:
            first[key] = view
    return list(first.values())


def blocks_of(hit: Hit) -> tuple[tuple[Block, ...], bool, bool]:
    """Return the paragraphs of a hit's excerpt, and whether the passage is cut before and after it."""
    sentences = hit.sentences
    if not sentences:
        return (), False, False
    stretch = excerpt(sentences)
    blocks: list[Block] = []
    for number in stretch:
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
    return tuple(blocks), stretch.start > 0, stretch.stop < len(sentences)
