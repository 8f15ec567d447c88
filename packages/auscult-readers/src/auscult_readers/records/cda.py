"""Reader of clinical documents of HL7 (CDA, C-CDA): the narrative that a clinician signed, by sections.

The structured entries of a section repeat its narrative in codes. They are read only for a section without a narrative.
Enclosed files are read by the reader of their type; pictures and others are counted. The record number and name of the
patient become metadata; address and birth date are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow, has_words
from auscult.readers.tree import Element, Role, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.records.attachments import Attachment, read_attachment
from auscult_readers.records.cda_entries import MEDIA, lines_of_entry, words_of_null

MEDIA_TYPE: Final = "application/cda+xml"
_LOINC: Final = "2.16.840.1.113883.6.1"
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
_MOST_TOLD: Final = 20
_ROLES: Final = {
    **dict.fromkeys(("caption", "footnote", "paragraph", "td", "th", "tr", "tbody", "thead", "tfoot"), Role.BLOCK),
    "footnoteRef": Role.DROPPED,
    # Its content is the caption.
    "renderMultiMedia": Role.BLOCK,
    "br": Role.BREAK,
    "item": Role.ITEM,
    "table": Role.TABLE,
}


def read_cda(root: Element, encoding: str, name: str) -> Iterator[DraftDocument]:
    """Yield the document and its enclosed files, or the documents of the attachment that is its body.

    Args:
        root: The element `ClinicalDocument`.
        encoding: Encoding of the file.
        name: Name of the file.

    Raises:
        UnreadableError: The document has no words.
    """
    facts = _facts(root)
    body = root.child("component", "nonXMLBody", "text")
    if body is not None and (body.get("representation") == "B64" or body.child("reference")):
        reference = body.child("reference")
        attachment = Attachment(
            media_type=body.get("mediaType"),
            data="" if reference else body.words(),
            url=reference.get("value") if reference else "",
            title=facts.title,
        )
        yield from read_attachment(attachment, facts, name)
        return
    wordless = 0
    flow = Flow()
    typesetter = Typesetter(flow, _role_of, lambda _: 1)
    if titled := root.child("title"):
        typesetter.heading(titled, 1)
    if body is not None:
        typesetter.set(body)
    for section, depth in _sections(root):
        if (heading := section.child("title")) is None or not heading.words():
            heading = Element("title")
            heading.children.append(written(_code(section, "displayName") or "Section"))
        typesetter.heading(heading, depth + 1)
        text = section.child("text") or Element("text")
        if not has_words(text.words()):
            text, number = _text_of_entries(section)
            wordless += number
        typesetter.set(text)
        flow.block()
    draft = draft_of(flow, facts, media_type=MEDIA_TYPE, encoding=encoding)
    enclosed, remarks = _enclosed_files(root, facts, name)
    remarks += [f"entries that have no words: {wordless:,}"] if wordless else []
    drafts = [replace(draft, remarks=(*draft.remarks, *remarks)), *enclosed]
    for number, each in enumerate(drafts, start=1):
        yield each if len(drafts) == 1 else replace(each, key=str(number))


def _text_of_entries(section: Element) -> tuple[Element, int]:
    """Return the entries of a section that has no narrative as paragraphs, and the number of those without words."""
    text = Element("text")
    wordless = 0
    for entry in section.all_children("entry"):
        lines = lines_of_entry(entry)
        wordless += not lines and not any(entry.all(*MEDIA))
        text.children += [_paragraph(line) for line in lines]
    if not text.children and (reason := words_of_null(section)):
        text.children.append(_paragraph(reason.capitalize()))
    return text, wordless


def _paragraph(words: str) -> Element:
    paragraph = Element("paragraph")
    paragraph.children.append(written(words))
    return paragraph


def _enclosed_files(root: Element, facts: Facts, name: str) -> tuple[list[DraftDocument], list[str]]:
    """Return the documents of the enclosed files, and a remark on those that are not read, by their types."""
    drafts: list[DraftDocument] = []
    unread: Counter[str] = Counter()
    for media in root.all("observationMedia"):
        value = media.child("value") or Element("value")
        kind = value.get("mediaType").partition(";")[0].strip().lower()
        reference = value.child("reference")
        data = value.words() if value.get("representation") == "B64" else ""
        attachment = Attachment(media_type=kind, data=data, url=reference.get("value") if reference else "")
        try:
            drafts += read_attachment(attachment, facts, name)
        except UnreadableError:
            unread[kind if _MEDIA_TYPE.fullmatch(kind) else "of no type"] += 1
    told = ", ".join(f"{number:,} {kind}" for kind, number in unread.most_common(_MOST_TOLD))
    remarks = [f"enclosed files that are not read: {told}"] if told else []
    ids = {media.get("ID") for media in root.all(*MEDIA)}
    missing = sum(not ids.intersection(shown.get("referencedObject").split()) for shown in root.all("renderMultiMedia"))
    return drafts, [*remarks, *([f"pictures that are shown, but not in the file: {missing:,}"] if missing else [])]


def _sections(root: Element) -> Iterator[tuple[Element, int]]:
    """Yield all sections in order, each with its depth, from 1."""
    body = root.child("component", "structuredBody")
    stack = [(body, 0)] if body else []
    while stack:
        element, depth = stack.pop()
        if element.tag == "section":
            yield element, depth
        inner = [part for each in element.elements if each.tag == "component" for part in each.elements]
        stack.extend((part, depth + 1) for part in reversed(inner) if part.tag == "section")


def _role_of(element: Element) -> Role:
    if element.tag == "list":
        return Role.NUMBERED if element.get("listType") == "ordered" else Role.LIST
    if element.get("revised") == "delete" or "strikethrough" in element.get("styleCode").lower().split():
        return Role.STRUCK
    return _ROLES.get(element.tag, Role.INLINE)


def _join_parts(name: Element) -> str:
    """Return the parts of a name with blanks between them, or else its own text."""
    return " ".join(filter(None, (part.words() for part in name.elements))) or name.words()


def _facts(root: Element) -> Facts:
    patient = root.child("recordTarget", "patientRole", "id")
    named = [
        _join_parts(name)
        for role, *path in (
            ("recordTarget", "patientRole", "patient", "name"),
            ("author", "assignedAuthor", "assignedPerson", "name"),
        )
        for each in root.elements
        if each.tag == role and (name := each.child(*path))
    ]
    person = root.child("author", "assignedAuthor", "assignedPerson", "name")
    custodian = root.child("custodian", "assignedCustodian", "representedCustodianOrganization", "name")
    language, effective, identity = (root.child(name) for name in ("languageCode", "effectiveTime", "id"))
    titled = root.child("title")
    codes = dict.fromkeys(
        f"LOINC:{_code(section, 'code')}" for section, _ in _sections(root) if _code(section, "codeSystem") == _LOINC
    )
    metadata = {
        "patient": (patient.get("extension") or patient.get("root")) if patient else "",
        "date": iso_date(effective.get("value")) if effective else "",
        "author": _join_parts(person) if person else "",
        "language": language.get("code") if language else "",
        "type": _code(root, "displayName"),
        "document": (identity.get("extension") or identity.get("root")) if identity else "",
        "sections": "; ".join(codes),
    }
    return Facts(
        title=titled.words() if titled else _code(root, "displayName"),
        source=custodian.words() if custodian else "",
        names=named,
        metadata={key: value for key, value in metadata.items() if value},
    )


def _code(element: Element, attribute: str) -> str:
    code = element.child("code")
    return code.get(attribute) if code else ""


def is_cda(root: Element) -> bool:
    """Whether the root element is that of a clinical document."""
    return root.tag == "ClinicalDocument"
