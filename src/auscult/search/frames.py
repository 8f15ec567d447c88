"""The frame of a document's sentences: which stand in one block (a paragraph, or a list with its lead-in) and section.

A section ends where a passage begins under another heading. A passage without a heading, or under the same one, goes on
with what stands before it: long sections are often cut into several passages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auscult.concepts.names import normalise_name
from auscult.documents import Document, Sentence

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Frame:
    """Of a document's sentences, in order; all arrays are (sentences,).

    Attributes:
        starts: Offset of each in the text.
        ends: One past its last character.
        blocks: Number of its block, rising: a list is one with the paragraph before it that ends in a colon.
        sections: Number of its section, rising.
    """

    starts: IntArray
    ends: IntArray
    blocks: IntArray
    sections: IntArray

    @property
    def begins_block(self) -> BoolArray:
        """Whether a sentence is the first of its block."""
        return np.diff(self.blocks, prepend=-1) > 0

    @property
    def ends_block(self) -> BoolArray:
        """Whether a sentence is the last of its block."""
        return np.append(self.begins_block[1:], True)[: len(self.blocks)]


def frame_of(document: Document) -> Frame:
    """The frame of a document."""
    sentences = document.sentences
    sections = _sections(document)
    blocks, block = [], -1
    for number, each in enumerate(sentences):
        same_section = number > 0 and sections[number] == sections[number - 1]
        if not same_section or (each.begins_paragraph and not _goes_on(document, sentences, number)):
            block += 1
        blocks.append(block)
    return Frame(
        np.array([each.start for each in sentences], np.int64),
        np.array([each.end for each in sentences], np.int64),
        np.array(blocks, np.int64),
        np.array(sections, np.int64),
    )


def _goes_on(document: Document, sentences: tuple[Sentence, ...], number: int) -> bool:
    """Whether a list item belongs to what stands before it: another item, or its lead-in."""
    if not sentences[number].list_item:
        return False
    before = sentences[number - 1]
    return before.list_item or document.text[before.start : before.end].endswith((":", "\uff1a"))


def _sections(document: Document) -> list[int]:
    numbers: list[int] = []
    section, current = -1, ""
    for passage in document.passages:
        heading = normalise_name(passage.heading)
        if section < 0 or (heading and heading != current):
            section, current = section + 1, heading
        numbers += [section] * len(passage.sentences)
    return numbers
