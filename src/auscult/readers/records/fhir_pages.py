"""The narrative of a FHIR resource as a page: its title, its sections' titles, and their XHTML as it stands there.

A highlight has to go back to what a person can read, which a bundle's JSON is not. So the page is what the document is
read from and what is kept of it.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Final

from auscult.readers.contract import UnreadableError
from auscult.readers.flow import has_words
from auscult.readers.records.fhir_resources import Fields, Resource

_DEEPEST: Final = 30
_LOWEST: Final = 6
_TAG: Final = re.compile(r"<[^<>]*+>")


def narrative_page(resource: Resource, title: str) -> bytes:
    """A page of what a resource says in words, in UTF-8; empty where it says nothing.

    Args:
        resource: A `Composition`, whose sections are read, or else its narrative; or a `DiagnosticReport`, whose
            narrative and conclusion are.
        title: Of the page.

    Raises:
        UnreadableError: Sections are nested more than 30 deep.
    """
    parts: list[str] = []
    for section in resource.each("section"):
        parts += _section(section, 1)
    if not parts and (narrative := _narrative(resource)):
        parts.append(narrative)
    if resource.kind == "DiagnosticReport" and (conclusion := resource.text("conclusion")):
        paragraphs = "".join(
            f"<p>{escape(line, quote=False)}</p>\n" for line in conclusion.splitlines() if line.strip()
        )
        parts.append(f"<h2>Conclusion</h2>\n{paragraphs}")
    if not parts:
        return b""
    named = escape(title, quote=False)
    head = f'<head><meta charset="utf-8"/><title>{named}</title></head>'
    heading = f"<h1>{named}</h1>\n" if title else ""
    page = f'<html xmlns="http://www.w3.org/1999/xhtml">{head}\n<body>\n{heading}{"".join(parts)}</body></html>\n'
    # JSON may escape half a character; a page has none.
    return page.encode("utf-8", "replace")


def _section(section: Fields, depth: int) -> list[str]:
    if depth > _DEEPEST:
        raise UnreadableError(
            "deep nesting", f"sections nested at most {_DEEPEST} deep", "deeper ones", "leave the resource out"
        )
    level = min(depth + 1, _LOWEST)
    inner = [part for each in section.each("section") for part in _section(each, depth + 1)]
    narrative = _narrative(section)
    if not narrative and not inner:
        return []
    title = section.text("title") or section.text("code", "text") or section.text("code", "coding", "display")
    heading = [f"<h{level}>{escape(title, quote=False)}</h{level}>\n"] if title else []
    return [*heading, *([f"{narrative}\n"] if narrative else []), *inner]


def _narrative(holder: Fields) -> str:
    """The XHTML of what a resource or a section says, if it has words."""
    div = holder.text("text", "div")
    return div if has_words(unescape(_TAG.sub(" ", div))) else ""


__all__ = ["narrative_page"]
