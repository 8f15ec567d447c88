"""From a flow of words to a draft: the heading that is the title, the sections between the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.flow import Flow, Heading, has_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a source says of itself; empty where it says nothing.

    Attributes:
        title: What it is about.
        source: Its publisher.
        url: Where the original is; never fetched.
        entity_ids: Codes of what it is about.
        metadata: Further fields; dates as ISO 8601.
    """

    title: str = ""
    source: str = ""
    url: str = ""
    entity_ids: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def draft_of(flow: Flow, facts: Facts, *, media_type: str, encoding: str) -> DraftDocument:
    """The draft of what has flown.

    Its title is the heading of the first level that stands in the title that the source tells, else the first of that
    level, else the told title. That heading has no section of its own name, and none stands below it.

    Args:
        flow: All words.
        facts: What the source says of itself.
        media_type: Of the source.
        encoding: That it was decoded by.

    Raises:
        UnreadableError: There are no words.
    """
    text = flow.text
    if not has_words(text):
        raise UnreadableError(
            "empty file", f"a file of {media_type} with words", "none", "check that it holds what it should"
        )
    first = [heading for heading in flow.headings if heading.level == 1]
    told = facts.title.casefold()
    title: Heading | None = next((each for each in first if each.text.casefold() in told), first[0] if first else None)
    sections, paths = flow.sections(title)
    return DraftDocument(
        text=text,
        sections=sections,
        title=title.text if title else facts.title,
        heading_paths=paths if any(paths) else (),
        media_type=media_type,
        encoding=encoding,
        runs=flow.runs,
        source=facts.source,
        url=facts.url,
        entity_ids=tuple(facts.entity_ids),
        metadata=dict(facts.metadata),
    )


__all__ = ["Facts", "draft_of"]
