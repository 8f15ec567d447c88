"""Hits on the page: the excerpt of a passage, its marked sentences, and why it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from auscult.concepts import KnowledgeBase
from auscult.index.words import analyse
from auscult.search.assertions import assertion_label
from auscult.search.certainty import Label, label
from auscult.search.evidence import question_terms
from auscult.search.hits import Hit, date_of
from auscult.search.marks import excerpt
from auscult.search.siblings import sibling_note
from auscult.understanding import Query
from auscult_service.page.asking import PageQuestion, document_path
from auscult_service.page.reading import split_marker

STYLES: Final[Mapping[Label, str]] = {
    "answers": "sure",
    "may answer": "maybe",
    "uncertain": "doubtful",
    "no answer": "doubtful",
}
"""CSS class by label."""
_LEAST: Final = 0.05
"""Least contribution to the score for a reason to be named."""


def find_reasons(hit: Hit, query: Query) -> list[str]:
    """Return why a hit was found: where it names the entity, whether it speaks about the aspect, and which words."""
    reasons = []
    if query.entity:
        places = (("in the title", hit.title), ("in the passage", f"{hit.heading} {hit.text}"))
        named = ((place, _find_name(query.all_names, text)) for place, text in places)
        where = next((f"names {name} {place}" for place, name in named if name), "")
        if not where and hit.evidence.get("entity_document", 0.0) > _LEAST:
            where = f"words of {query.entity} elsewhere in the document"
        reasons.append(where or f"does not name {query.entity}")
    under = [aspect for aspect in query.aspects if _find_name((aspect,), " ".join(hit.headings))]
    if under:
        reasons.append(f"headed {' and '.join(under)}")
    elif query.aspects and hit.evidence.get("aspect_vector", 0.0) > _LEAST:
        reasons.append(f"speaks about {' and '.join(query.aspects)}")
    terms = list(dict.fromkeys(question_terms(query)))
    if query.text and len(terms) > 1:
        present = set(analyse(f"{hit.title} {hit.heading} {hit.text}"))
        reasons.append(f"your words: {sum(term in present for term in terms)} of {len(terms)}")
    return reasons


def _find_name(names: tuple[str, ...], text: str) -> str:
    """Return the first of some names that a text has; empty for none."""
    haystack = f" {' '.join(analyse(text))} "
    for name in names:
        terms = analyse(name)
        if terms and f" {' '.join(terms)} " in haystack:
            return name
    return ""


DATES: Final = ("date", "updated", "published", "last_updated", "year")
"""Metadata fields with a date, as the page shows it; the first one that a document has is used."""


@dataclass(frozen=True, slots=True)
class ExcerptSentence:
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
class ExcerptParagraph:
    """A paragraph, or a list item."""

    sentences: tuple[ExcerptSentence, ...]
    list_item: bool


class ShownExcerpt(NamedTuple):
    """The part of a passage that is shown.

    Attributes:
        paragraphs: Its paragraphs, in order.
        cut_before: Whether the passage begins before it.
        cut_after: Whether the passage continues after it.
    """

    paragraphs: tuple[ExcerptParagraph, ...]
    cut_before: bool
    cut_after: bool


class SameText(NamedTuple):
    """Another document or passage with the text of a hit."""

    title: str
    source: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHit:
    """A hit, and what only the page that shows it knows.

    Attributes:
        hit: The hit.
        number: Its number over all pages, from 1.
        href: URL of its document, at the passage.
        reasons: Why it was found, in words.
        warning: Sentence that the hit is about a similar disease; empty for none.
        excerpt: The part of its passage that is shown.
        verdict: Whether it answers; None where there is no probability.
        style: CSS class of the verdict; empty without one.
        date: Date of its document; empty where unknown.
        also: Other places with the same text.
    """

    hit: Hit
    number: int
    href: str
    reasons: tuple[str, ...]
    warning: str
    excerpt: ShownExcerpt
    verdict: Label | None
    style: str
    date: str
    also: tuple[SameText, ...] = ()


def show_hit(
    hit: Hit, number: int, query: Query, question: PageQuestion, index: str, known: KnowledgeBase | None = None
) -> ShownHit:
    """Add to a hit what the page shows beside it. With a knowledge base, similar diseases are warned of."""
    note = sibling_note(query, hit.title, known)
    verdict = None if hit.probability is None else label(hit.probability)
    return ShownHit(
        hit=hit,
        number=number,
        href=question.at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id)),
        reasons=tuple(find_reasons(hit, query)),
        warning=f"{note[:1].upper()}{note[1:]}." if note else "",
        excerpt=excerpt_of(hit),
        verdict=verdict,
        style=STYLES[verdict] if verdict else "",
        date=date_of(hit.metadata, DATES),
    )


def merge_same_texts(hits: Sequence[ShownHit]) -> list[ShownHit]:
    """Merge hits with the same text into the first of them, which lists the places of the others."""
    first: dict[str, ShownHit] = {}
    for shown in hits:
        hit = shown.hit
        key = " ".join(hit.text.split()).casefold()
        if key in first:
            same = hit.doc_id == first[key].hit.doc_id
            name = " \u203a ".join(hit.headings) if same and hit.headings else hit.title or hit.name
            place = SameText(name, "" if same else hit.source, shown.href)
            first[key] = replace(first[key], also=(*first[key].also, place))
        else:
            first[key] = shown
    return list(first.values())


def excerpt_of(hit: Hit) -> ShownExcerpt:
    """Return the part of a hit's passage around its marked sentences, in paragraphs."""
    sentences = hit.sentences
    if not sentences:
        return ShownExcerpt((), cut_before=False, cut_after=False)
    stretch = excerpt(sentences)
    paragraphs: list[ExcerptParagraph] = []
    for number in stretch:
        # A line break before a sentence begins a paragraph.
        before = sentences[number - 1].end - hit.start if number else 0
        begins = number == 0 or "\n" in hit.text[before : sentences[number].start - hit.start]
        marker, text = split_marker(sentences[number].text) if begins else ("", sentences[number].text)
        says = assertion_label(sentences[number].assertions)
        sentence = ExcerptSentence(marker, text, sentences[number].marked, says)
        if paragraphs and not begins:
            paragraphs[-1] = replace(paragraphs[-1], sentences=(*paragraphs[-1].sentences, sentence))
        else:
            paragraphs.append(ExcerptParagraph((sentence,), bool(marker)))
    return ShownExcerpt(tuple(paragraphs), stretch.start > 0, stretch.stop < len(sentences))
