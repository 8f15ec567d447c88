"""Words of web pages and of clinical and scientific XML, by libxml2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.decoding import decode_text
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import declared_encoding, read_page
from auscult.readers.html.standard import CONTAINERS
from auscult_readers.medquad import ROOTS
from auscult_readers.source_words.comparison import NEGATED
from auscult_readers.source_words.page_looks import HIDDEN_STYLE, Looks, headed_part, write_out
from auscult_readers.source_words.part import (
    BESIDE,
    HIDDEN,
    PRINTED,
    SHOWN_OTHERWISE,
    STRUCK,
    TECHNICAL,
    PartWords,
    Rules,
    add_tree,
    parsed_html,
    parsed_xml,
)
from auscult_readers.source_words.tokens import words_in, words_without
from auscult_readers.word.package import local

_XHTML: Final = "http://www.w3.org/1999/xhtml"
# "head" is not here: this parser puts elements that it does not know there, if a page has no "body".
_WORDLESS: Final = frozenset({"script", "style", "template", "title", "desc", "metadata"})
# Elements whose text is hidden in a browser that runs scripts and plays media.
_NEVER_SHOWN: Final = frozenset({
    "annotation", "annotation-xml", "applet", "audio", "canvas", "datalist", "embed", "map", "noembed", "noframes",
    "noscript", "picture", "rp", "video",
})  # fmt: skip
_PARTING: Final = CONTAINERS | {
    "br", "button", "foreignobject", "iframe", "input", "label", "legend", "mfrac", "mi", "mn", "msqrt", "msub", "msup",
    "mtable", "mtd", "object", "option", "output", "rb", "rt", "ruby", "select", "sub", "sup", "svg", "td", "text",
    "textarea", "th", "tspan",
}  # fmt: skip
_STRUCK_CLASS: Final = re.compile(r"line-through|strikethrough", re.IGNORECASE)

AROUND: Final = "navigation, forms and other parts around the text"


def _reason_in_page(looks: Looks, element: Any) -> str | None:
    name = local(element).lower()
    if name in _WORDLESS:
        return None
    if name in _NEVER_SHOWN:
        return SHOWN_OTHERWISE
    style = looks.of(element)
    if name in ("del", "s", "strike") or "line-through" in style or _STRUCK_CLASS.search(element.get("class") or ""):
        return STRUCK
    # The reader keeps panels that a script opens. Here they are hidden like all others.
    hides = element.get("hidden") is not None or (element.get("aria-hidden") or "").lower() == "true"
    if hides or HIDDEN_STYLE.search(style) or (name == "dialog" and element.get("open") is None):
        return HIDDEN
    return AROUND if name in ("nav", "search") else ""


def words_of_page(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of a web page, and of pages within it, and what is under each heading.

    The page is also read as a document, with navigation and without. The difference are words around the text, which
    the report counts.

    Raises:
        UnreadableError: The reader of pages finds no words.
    """
    source = decode_text(content, declared_encoding(content[:4096])).text
    words = PartWords()
    root = _page_tree(source)
    if root is not None:
        write_out(root)
        rules = Rules(partial(_reason_in_page, Looks(root)), lambda name: name.lower() in _PARTING)
        add_tree(words, root, rules)
    words.excuse(_around(content), AROUND)
    yield words.draft("page")
    if root is not None:
        yield headed_part(root)


def words_of_sheets_as_shown(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of the cells of a workbook that LibreOffice has saved as a page: as they are shown.

    Dates are left out: how they are shown depends on the machine.
    """
    words = PartWords()
    root = parsed_html(decode_text(content, declared_encoding(content[:4096])).text)
    for cell in root.iter("td") if root is not None else ():
        dated = _DATE_FORMAT.search(_QUOTED.sub("", cell.get("sdnum", "").rpartition(";")[2])) is not None
        add_tree(words, cell, Rules(partial(_reason_in_cell, dated), lambda name: name in ("br", "td")))
        words.end_word()
    yield words.draft(f"{PRINTED} sheet")


_DATE_FORMAT: Final = re.compile("[DMYHS]")
_QUOTED: Final = re.compile('"[^"]*"')


def _reason_in_cell(dated: bool, element: Any) -> str | None:
    if dated:
        return SHOWN_OTHERWISE
    return STRUCK if local(element) in ("s", "strike", "del") else ""


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
    """Yield the words of titles and narratives of a clinical document (CDA), and of entries without narrative.

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
        if local(element) == "section" and not words_in("".join(_narrative(element))):
            _add_entries(words, element)
    yield words.draft("narrative")


def _narrative(section: Any) -> Iterator[str]:
    for child in section:
        if local(child) == "text":
            yield from child.itertext()


def _add_entries(words: PartWords, section: Any) -> None:
    """Add the names and values of the entries of a section, in which no narrative repeats them."""
    for entry in section:
        for element in entry.iter() if local(entry) == "entry" else ():
            if (element.get("negationInd") or "").lower() == "true":
                words.add(NEGATED)
            if local(element) == "originalText":
                words.add(" ".join(element.itertext()))
            words.add(f" {element.get('displayName') or ''} ")
            if element.get("unit") is not None and element.get("value") is not None:
                words.add(f" {element.get('value')} {element.get('unit') if element.get('unit') != '1' else ''} ")
            words.end_word()


def _reason_in_narrative(element: Any) -> str | None:
    if local(element) in ("footnoteRef", "renderMultiMedia"):
        return None
    struck = "strikethrough" in (element.get("styleCode") or "").lower()
    return STRUCK if struck or element.get("revised") == "delete" else ""


_CLINICAL: Final = Rules(_reason_in_narrative, lambda name: name not in ("content", "sub", "sup", "linkHtml"))

_AROUND_ARTICLE: Final = {
    "ref-list": BESIDE,
    "label": BESIDE,
    "xref": BESIDE,
    "object-id": TECHNICAL,
    "annotation": SHOWN_OTHERWISE,
    "strike": STRUCK,
    "sub-article": "another article",
    "response": "another article",
}
_WITHIN_ARTICLE_WORDS: Final = frozenset({
    "bold", "ext-link", "italic", "monospace", "named-content", "overline", "sc", "styled-content", "underline", "xref",
})  # fmt: skip
_ARTICLE: Final = Rules(
    lambda element: _AROUND_ARTICLE.get(local(element), ""), lambda name: name not in _WITHIN_ARTICLE_WORDS
)
_COMMAND: Final = re.compile(
    r"\\(?:documentclass|usepackage|setlength)(?:\[[^\]]*\])?(?:\{[^{}]*\})*|\\[a-zA-Z]+|[$&{}^_~]"
)


def words_of_article(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of title, abstract and body of each article in JATS.

    Raises:
        UnreadableError: The file is not well-formed XML.
    """
    words = PartWords()
    root = parsed_xml(content)
    for formula in root.iter("{*}tex-math"):
        formula.text = _COMMAND.sub(" ", (formula.text or "").replace("\\%", "%"))
    for element in root.iter("{*}article-title", "{*}abstract", "{*}body", "{*}back", "{*}floats-group"):
        above = {local(each) for each in element.iterancestors()}
        if not above & {"abstract", "body", "back", "floats-group", "ref-list"}:
            add_tree(words, element, _ARTICLE, "another article" if above & {"sub-article", "response"} else "")
            words.end_word()
    yield words.draft("article")


_AROUND_ANSWERS: Final = {"Question": SHOWN_OTHERWISE, "FocusAnnotations": TECHNICAL}


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
