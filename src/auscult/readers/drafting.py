"""From a flow of words to a draft: the heading that is the title, the sections between the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        names: Of its patients and authors, as people write them.
        metadata: Further fields; dates as ISO 8601.
    """

    title: str = ""
    source: str = ""
    url: str = ""
    entity_ids: Sequence[str] = ()
    names: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> dict[str, str]:
        """The metadata with `names`, a name a line."""
        names = "\n".join(dict.fromkeys(filter(None, (" ".join(each.split()) for each in self.names))))
        return {**self.metadata, **({"names": names} if names else {})}


def draft_of(
    flow: Flow,
    facts: Facts,
    *,
    media_type: str,
    encoding: str,
    told_first: bool = False,
    without: Callable[[str], bool] | None = None,
) -> DraftDocument:
    """The draft of what has flown.

    Its title is a heading of the first level, but not the publisher's name: one that is part of the told title, or has
    it as a part; else the only one, unless what is told goes first; else the first, where nothing is told. That
    heading's section has no heading, and none stands below it. Where there is no such heading, the title is the told
    one.

    Args:
        flow: All words.
        facts: What the source says of itself.
        media_type: Of the source.
        encoding: That it was decoded by.
        told_first: Whether the told title is the author's own (front matter), rather than a window's.
        without: Tells headings that are no passage where no words stand below them. By default all are one.

    Raises:
        UnreadableError: There are no words.
    """
    text = flow.text
    if not has_words(text):
        raise UnreadableError(
            "empty file", "a file with words to read", "one without", "check that it holds what it should"
        )
    title = _title(flow.headings, facts, told_first)
    sections, paths = flow.sections(title, without)
    if not sections:
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
        metadata=facts.fields(),
    )


def _title(headings: Sequence[Heading], facts: Facts, told_first: bool) -> Heading | None:
    told, publisher = facts.title.casefold(), facts.source.casefold()
    # Some sites have their name for a heading on every page.
    first = [each for each in headings if each.level == 1 and not (told and each.text.casefold() == publisher)]
    for heading in first if told else ():
        named = heading.text.casefold()
        if named in told or told in named:
            return heading
    if not first or (told and (told_first or len(first) > 1)):
        return None
    return first[0]


__all__ = ["Facts", "draft_of"]
