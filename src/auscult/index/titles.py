"""Names of documents in a segment: sorted, each with the row of its document, so that opening reads none.

A name is a title folded by `normalise_name`, or the identifier of a document's only entity. `subject` reduces a
document to its entity, for a knowledge base.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.concepts.identifiers import normalise_identifiers
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.names import normalise_name
from auscult.concepts.word_counts import SummedCounts, count_words
from auscult.documents.document import Document
from auscult.documents.language_names import READ_BESIDE_ENGLISH
from auscult.index.blocks import BlockFile, BlockWriter, SortedStrings, add_strings
from auscult.index.mappings import add_counts, open_counts
from auscult.index.store import DocumentRecord

_WORDS: Final = "titles/words"
_BEHIND_NAME: Final = re.compile(r"\s*(?:,|\(|\s\d).*", re.DOTALL)
_SHORTEST: Final = 4
_HUMP: Final = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
Name = tuple[str, int]
"""A name and the row of its document."""


def names_of(row: int, title: str, entity_ids: Sequence[str], language: str = "") -> Iterator[Name]:
    """Yield the names of a document. Several identifiers give none, as any of them may be its own.

    Args:
        row: Row of the document.
        title: Its title.
        entity_ids: Identifiers of its entities.
        language: Code of its language. Leaflets in French, Spanish and German are called by the name of the medicine,
            with strength and form behind it ("Epivir 150 mg comprimidos"): the name alone is one of theirs, too.
    """
    identifiers = normalise_identifiers(list(entity_ids))
    short = _BEHIND_NAME.sub("", title) if language in READ_BESIDE_ENGLISH else ""
    names = (title, short if len(short) >= _SHORTEST else "")
    for name in dict.fromkeys((*map(normalise_name, names), *(identifiers if len(identifiers) == 1 else ()))):
        if name:
            yield name, row


def further_names(metadata: Mapping[str, str]) -> str:
    """Return further names of a document as one text: its patients and authors, its file and the file's folder.

    File names are given as they are and in words: "DischargeLetter.pdf" is "DischargeLetter.pdf Discharge Letter.pdf".
    """
    place = " ".join(metadata.get("file", "").split("/")[-2:])
    return " ".join((metadata.get("names", ""), place, _HUMP.sub(" ", place)))


def write_titles(writer: BlockWriter, names: Iterable[Name]) -> None:
    """Write names to a segment, with the number of names that have each word."""
    ordered = sorted(names)
    add_strings(writer, "titles", [name for name, _ in ordered])
    writer.add("titles/rows", np.array([row for _, row in ordered], np.int64), "<i4")
    add_counts(writer, _WORDS, count_words(dict.fromkeys(name for name, _ in ordered)))


def read_titles(file: BlockFile) -> Iterator[Name]:
    """Read the names of a segment."""
    return zip(SortedStrings(file, "titles").all(), file.array("titles/rows").tolist(), strict=True)


class Titles(Mapping[str, str]):
    """Titles by name or identifier, each of the first document that has it.

    Args:
        files: Files of the segments, in the order of their documents.
        living: For each segment, which of its documents were not deleted.
        title: Returns the title of a document by the number of its segment and its row there.
    """

    def __init__(
        self,
        files: Sequence[BlockFile],
        living: Sequence[npt.NDArray[np.bool_]],
        title: Callable[[int, int], str],
    ) -> None:
        self._files = files
        self._names = [SortedStrings(file, "titles") for file in files]
        self._living = living
        self._title = title

    def __getitem__(self, name: str) -> str:
        """Return the title of the first document of a name.

        Raises:
            KeyError: No document has the name.
        """
        place = self._find(name)
        if place is None:
            raise KeyError(name)
        return self._title(*place)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def _find(self, name: str) -> tuple[int, int] | None:
        """Return segment and row of the first document with a name; None for an unknown name."""
        for number, (file, names) in enumerate(zip(self._files, self._names, strict=True)):
            place = names.find(name)
            while place is not None and place < len(names) and names[place] == name:
                (row,) = file.array("titles/rows", place, place + 1).tolist()
                if self._living[number][row]:
                    return number, row
                place += 1
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, None]:
        """All names in order, without reading documents."""
        return dict.fromkeys(name for number in range(len(self._files)) for name in self._names_in(number))

    @cached_property
    def words(self) -> Mapping[str, int]:
        """How often each word occurs in the distinct names.

        The counts of the first segment are read from it if none of its documents was deleted. It is the largest one
        (`segment.plan`), so there are few other names to count.
        """
        if not self._files or not self._living[0].all():
            return count_words(self)
        first = self._names[0]
        later = dict.fromkeys(name for number in range(1, len(self._files)) for name in self._names_in(number))
        further = (name for name in later if first.find(name) is None)
        return SummedCounts([open_counts(self._files[0], _WORDS), count_words(further)])

    def _names_in(self, number: int) -> Iterator[str]:
        """Yield the names of a segment's documents that were not deleted."""
        rows, living = self._files[number].array("titles/rows").tolist(), self._living[number]
        return (name for name, row in zip(self._names[number].all(), rows, strict=True) if living[row])


def subject(document: Document | DocumentRecord, known: KnowledgeBase) -> Document:
    """Return a document without its text, titled with the preferred name of its concept if the title is a synonym.

    `with_documents` matches a document to a concept by preferred name only. Without this, "Heart attack" would become a
    concept besides "myocardial infarction". Of several concepts with the name, one that shares an identifier is taken.
    """
    named = known.by_name(document.title)
    ids = set(document.entity_ids)
    concept = next((c for c in named if ids & {c.concept_id, *c.xrefs}), named[0] if named else None)
    title = concept.name if concept else document.title
    return Document(document.doc_id, title, "", (), source=document.source, entity_ids=document.entity_ids)


def with_subjects(known: KnowledgeBase, records: Iterable[DocumentRecord]) -> KnowledgeBase:
    """Return a knowledge base with the entities of some documents; the same one if they have none."""
    subjects = [subject(record, known) for record in records if record.entity_ids]
    return known.with_documents(subjects) if subjects else known
