"""Hits on the page: the excerpt of a passage, its marked sentences, and why it was found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from auscult.concepts import KnowledgeBase
from auscult.documents.analysis import Analyzer
from auscult.index.words import analyser_for
from auscult.schema import Assertion
from auscult.search.certainty import Label, label
from auscult.search.evidence import question_terms
from auscult.search.hits import Hit, date_of
from auscult.search.marks import excerpt
from auscult.search.siblings import sibling_note
from auscult.understanding import Query
from auscult_service.page.asking import PageQuestion, document_path
from auscult_service.page.messages import Message, message
from auscult_service.page.reading import split_marker
from auscult_service.page.words import ASSERTIONS, aspect_name

STYLES: Final[Mapping[Label, str]] = {
    "answers": "sure",
    "may answer": "maybe",
    "uncertain": "doubtful",
    "no answer": "doubtful",
}
"""CSS class by label."""
_LEAST: Final = 0.05
"""Least contribution to the score for a reason to be named."""


def find_reasons(hit: Hit, query: Query) -> list[Message]:
    """Return why a hit was found: where it names the entity, whether it speaks about the aspect, and which words."""
    reasons, analyse = [], analyser_for(query.language)
    if query.entity:
        reasons.append(_find_place(hit, query, analyse))
    under = tuple(
        aspect_name(aspect) for aspect in query.aspects if _find_name((aspect,), " ".join(hit.headings), analyse)
    )
    if under:
        reasons.append(message("headed %(aspects)s", aspects=under))
    elif query.aspects and hit.evidence.get("aspect_vector", 0.0) > _LEAST:
        reasons.append(message("speaks about %(aspects)s", aspects=tuple(map(aspect_name, query.aspects))))
    terms = list(dict.fromkeys(question_terms(query)))
    if query.text and len(terms) > 1:
        present = set(analyse(f"{hit.title} {hit.heading} {hit.text}"))
        found = sum(term in present for term in terms)
        reasons.append(message("your words: %(found)s of %(all)s", found=found, all=len(terms)))
    return reasons


def _find_place(hit: Hit, query: Query, analyse: Analyzer) -> Message:
    """Return where a hit names the entity."""
    if name := _find_name(query.all_names, hit.title, analyse):
        return message("names %(name)s in the title", name=name)
    if name := _find_name(query.all_names, f"{hit.heading} {hit.text}", analyse):
        return message("names %(name)s in the passage", name=name)
    if hit.evidence.get("entity_document", 0.0) > _LEAST:
        return message("words of %(name)s elsewhere in the document", name=query.entity)
    return message("does not name %(name)s", name=query.entity)


def _find_name(names: tuple[str, ...], text: str, analyse: Analyzer) -> str:
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
        labels: What it says about the entity; empty where the entity is affirmed or not mentioned.
    """

    marker: str
    text: str
    marked: bool
    labels: tuple[Message, ...] = ()


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
        warning: Sentence that the hit is about a similar disease; None where it is not.
        excerpt: The part of its passage that is shown.
        verdict: Whether it answers; None where there is no probability.
        style: CSS class of the verdict; empty without one.
        date: Date of its document; empty where unknown.
        language: Code of its language, for readers of screens; empty where unknown.
        also: Other places with the same text.
    """

    hit: Hit
    number: int
    href: str
    reasons: tuple[Message, ...]
    warning: Message | None
    excerpt: ShownExcerpt
    verdict: Label | None
    style: str
    date: str
    language: str = ""
    also: tuple[SameText, ...] = ()


def show_hit(
    hit: Hit, number: int, query: Query, question: PageQuestion, index: str, known: KnowledgeBase | None = None
) -> ShownHit:
    """Add to a hit what the page shows beside it. With a knowledge base, similar diseases are warned of."""
    warning = None
    if sibling_note(query, hit.title, known):
        warning = message(
            "Similar, but not the one asked: '%(title)s', where '%(entity)s' was asked for.",
            title=hit.title.strip(),
            entity=query.entity,
        )
    verdict = None if hit.probability is None else label(hit.probability)
    return ShownHit(
        hit=hit,
        number=number,
        href=question.at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id)),
        reasons=tuple(find_reasons(hit, query)),
        warning=warning,
        excerpt=excerpt_of(hit),
        verdict=verdict,
        style=STYLES[verdict] if verdict else "",
        date=date_of(hit.metadata, DATES),
        language=language_in(hit.metadata) or hit.language,
    )


_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")


def language_in(metadata: Mapping[str, str]) -> str:
    """Return the code of a document's language as HTML has it; empty for none or another word."""
    code = metadata.get("language", "").replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else ""


def assertion_labels(assertions: Sequence[Assertion]) -> tuple[Message, ...]:
    """Return the labels of a sentence; empty where all its assertions are affirmed, or it has none."""
    return () if set(assertions) <= {"affirmed"} else tuple(ASSERTIONS[assertion] for assertion in assertions)


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
        labels = assertion_labels(sentences[number].assertions)
        sentence = ExcerptSentence(marker, text, sentences[number].marked, labels)
        if paragraphs and not begins:
            paragraphs[-1] = replace(paragraphs[-1], sentences=(*paragraphs[-1].sentences, sentence))
        else:
            paragraphs.append(ExcerptParagraph((sentence,), bool(marker)))
    return ShownExcerpt(tuple(paragraphs), stretch.start > 0, stretch.stop < len(sentences))
