"""Words of web pages and of clinical and scientific XML, by libxml2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.decoding import decoded
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import declared_encoding, read_page
from auscult.readers.html.standard import CONTAINERS
from auscult.readers.medquad import ROOTS
from auscult.readers.source_words.comparison import words_without
from auscult.readers.source_words.part import (
    FORMULA,
    HIDDEN,
    STRUCK,
    PartWords,
    Rules,
    add_tree,
    parsed_html,
    parsed_xml,
)
from auscult.readers.word.package import local

_XHTML: Final = "http://www.w3.org/1999/xhtml"
_WORDLESS: Final = frozenset({"head", "script", "style", "template"})
_NEVER_SHOWN: Final = frozenset({
    "annotation", "applet", "audio", "canvas", "datalist", "embed", "iframe", "map", "noembed", "noframes", "noscript",
    "object", "picture", "rp", "rt", "svg", "video",
})  # fmt: skip
_PARTING: Final = CONTAINERS | {"br", "input", "label", "legend", "option", "output", "select", "textarea"}
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRUCK_CLASS: Final = re.compile(r"line-through|strikethrough", re.IGNORECASE)


def _reason_in_page(element: Any) -> str | None:
    name = local(element).lower()
    if name in _WORDLESS:
        return None
    style = element.get("style") or ""
    if name in _NEVER_SHOWN:
        return "never shown as text"
    if name == "math":
        return FORMULA
    if name in ("del", "s", "strike") or _STRUCK_CLASS.search(f"{style} {element.get('class') or ''}"):
        return STRUCK
    # The reader keeps panels that a script opens. Here they are hidden like all others.
    hides = element.get("hidden") is not None or (element.get("aria-hidden") or "").lower() == "true"
    if hides or _HIDDEN_STYLE.search(style) or (name == "dialog" and element.get("open") is None):
        return HIDDEN
    return ""


_PAGE: Final = Rules(_reason_in_page, lambda name: name.lower() in _PARTING)


def words_of_page(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of a web page.

    The page is also read as a document, with navigation and without. The difference are words around the text, which
    need not be kept.

    Raises:
        UnreadableError: The reader of pages finds no words.
    """
    source, _ = decoded(content, declared_encoding(content[:4096]))
    words = PartWords()
    root = _page_tree(source)
    if root is not None:
        add_tree(words, root, _PAGE)
    words.excuse(_around(content), "navigation, forms and other parts around the text")
    yield words.draft("page")


def _page_tree(source: str) -> Any:
    if _XHTML in source[:2000]:
        try:
            return parsed_xml(source.encode("utf-8", "replace"))
        except UnreadableError:
            # Most pages that declare the namespace of XHTML are not well-formed.
            pass
    return parsed_html(source)


def _around(content: bytes) -> str:
    """Return the words of a page that its reader leaves out as navigation, forms and the like."""
    whole, text = read_page(content, Care.INVISIBLE), read_page(content)
    headings = (heading for each in text.sections for heading in (each.heading, *each.above))
    return words_without(whole.text, " ".join([text.title, *headings, *(each.text for each in text.sections)]))


def words_of_clinical_document(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of titles and narratives of a clinical document (CDA).

    Raises:
        UnreadableError: The file is not well-formed XML.
    """
    root = parsed_xml(content)
    words = PartWords()
    for element in root.iter():
        parent = element.getparent()
        in_body = parent is not None and local(parent) in ("section", "ClinicalDocument", "nonXMLBody")
        if in_body and local(element) in ("title", "text"):
            add_tree(words, element, _CLINICAL)
            words.end_word()
    yield words.draft("narrative")


def _reason_in_narrative(element: Any) -> str | None:
    if local(element) in ("footnoteRef", "renderMultiMedia"):
        return None
    struck = "strikethrough" in (element.get("styleCode") or "").lower()
    return STRUCK if struck or element.get("revised") == "delete" else ""


_CLINICAL: Final = Rules(_reason_in_narrative, lambda name: name not in ("content", "sub", "sup", "linkHtml"))

_AROUND_ARTICLE: Final = {
    "ref-list": "references",
    "sub-article": "another article",
    "response": "another article",
    "front-stub": "another article",
    "object-id": "identifier",
    "tex-math": FORMULA,
    "math": FORMULA,
    "strike": STRUCK,
    "label": "label of a section or note",
    "xref": "mark of a reference",
}
_WITHIN_ARTICLE_WORDS: Final = frozenset({
    "bold", "ext-link", "italic", "monospace", "named-content", "overline", "sc", "styled-content", "sub", "sup",
    "underline", "xref",
})  # fmt: skip
_ARTICLE: Final = Rules(
    lambda element: _AROUND_ARTICLE.get(local(element), ""), lambda name: name not in _WITHIN_ARTICLE_WORDS
)


def words_of_article(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of title, abstract and body of each article in JATS.

    Raises:
        UnreadableError: The file is not well-formed XML.
    """
    words = PartWords()
    for element in parsed_xml(content).iter("{*}article-title", "{*}abstract", "{*}body", "{*}back", "{*}floats-group"):
        above = {local(each) for each in element.iterancestors()}
        if not above & {"abstract", "body", "back", "floats-group", "sub-article", "response"}:
            add_tree(words, element, _ARTICLE)
            words.end_word()
    yield words.draft("article")


_AROUND_ANSWERS: Final = {"Question": "question, headed by its kind", "FocusAnnotations": "codes and other names"}


def words_of_xml(content: bytes) -> Iterator[DraftDocument]:
    """Yield all words of any other XML.

    Raises:
        UnreadableError: The file is not well-formed XML.
    """
    root = parsed_xml(content)
    reasons = _AROUND_ANSWERS if root.tag in ROOTS else {}
    words = PartWords()
    add_tree(words, root, Rules(lambda element: reasons.get(local(element), ""), lambda _: True))
    yield words.draft("file")
