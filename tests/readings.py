"""Files read by a reader, and what has to hold of every draft, whatever the file."""

from __future__ import annotations

from pathlib import Path

from auscult.documents import build_document, check_document
from auscult.documents.original import Original
from auscult.readers.contract import DraftDocument, Reader, SourceFile
from places import ROOT

SAMPLES: Path = ROOT / "tests" / "data" / "readers"


def read(reader: Reader, content: bytes | str, name: str = "file") -> list[DraftDocument]:
    """The drafts of a file, each of which keeps the contract."""
    data = content.encode() if isinstance(content, str) else content
    drafts = list(reader.read(SourceFile(name, data)))
    assert drafts
    for draft in drafts:
        check_draft(draft, data)
    assert len({draft.key for draft in drafts}) == len(drafts)
    return drafts


def read_sample(reader: Reader, name: str) -> list[DraftDocument]:
    """The drafts of a sample file."""
    return read(reader, (SAMPLES / name).read_bytes(), name)


def source_of(draft: DraftDocument, content: bytes) -> str:
    """The decoded source that a draft's runs are of."""
    return (content if draft.content is None else draft.content).decode(draft.encoding, "replace")


def check_draft(draft: DraftDocument, content: bytes) -> None:
    """Sections slice back to the text, and runs to the source."""
    end = 0
    for section in draft.sections:
        assert section.start is not None
        assert section.start >= end
        end = section.start + len(section.text)
        assert draft.text[section.start : end] == section.text
    assert not draft.heading_paths or len(draft.heading_paths) == len(draft.sections)
    if draft.encoding:
        _check_runs(draft, source_of(draft, content))
    built = build_document(
        doc_id="d",
        title=draft.title,
        sections=draft.sections,
        text=draft.text,
        metadata=draft.metadata,
        original=Original(name="f", media_type=draft.media_type, content=content, runs=draft.runs),
    )
    check_document(built)


def _check_runs(draft: DraftDocument, source: str) -> None:
    place = 0
    for start, end, source_start, source_end in draft.runs.tolist():
        assert place <= start < end <= len(draft.text)
        assert 0 <= source_start < source_end <= len(source)
        place = end
        read, stood = draft.text[start:end], source[source_start:source_end]
        if len(read) == len(stood):
            assert all(
                one == other or (one.isspace() and other.isspace()) for one, other in zip(read, stood, strict=True)
            )
        elif not read.isspace():
            # What is whole is a reference, or one of ours for a tag.
            assert stood[0] in "&<\\", stood


def sources_of(draft: DraftDocument, words: str, content: bytes | str) -> list[str]:
    """What a highlight of words of a draft's text would mark in its source."""
    data = content.encode() if isinstance(content, str) else content
    start = draft.text.index(words)
    original = Original(name="f", media_type=draft.media_type, content=data, runs=draft.runs)
    source = source_of(draft, data)
    return [source[first:last] for first, last in original.source_ranges(start, start + len(words))]
