"""What documents say of themselves besides their text, at rest: by field, the values and who has which.

One field, `access`, names who may see a document: one group, or several between commas, one of which suffices. A
document without it, or with nothing but blanks, is seen by everybody who may search the index. Hidden documents are
treated as removed ones are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from auscult.index.blocks import BlockFile, BlockWriter, SortedStrings, add_strings

if TYPE_CHECKING:
    from auscult.index.segment import Segment


@dataclass(frozen=True, slots=True)
class Between:
    """Values from a first to a last one, in the order of text, which dates as in "2024-05-31" have too.

    A bound stands for all that begins with it: up to "2024-05" is up to the end of May. An empty one bounds nothing.
    """

    first: str = ""
    last: str = ""

    def holds(self, value: str) -> bool:
        """Whether a value is among them."""
        return self.first <= value and (not self.last or value[: len(self.last)] <= self.last)


Where = Mapping[str, str | Sequence[str] | Between]
"""By field, the value that a document has to have, one of several, or one between two; all fields have to agree."""
ANY: Final[Where] = MappingProxyType({})
"""Every document."""

SOURCE: Final = "source"
"""The field that holds a document's source; every other one is of its metadata."""


def fields_of(source: str, metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a document's values by field."""
    return {**metadata, SOURCE: source}


def write_fields(writer: BlockWriter, documents: Sequence[Mapping[str, str]]) -> list[str]:
    """Put the fields of documents into a segment.

    Returns:
        Their names, in the order in which they are numbered.
    """
    names = list(dict.fromkeys(name for document in documents for name in document))
    for number, name in enumerate(names):
        values = sorted({document[name] for document in documents if name in document})
        places = {value: place for place, value in enumerate(values)}
        add_strings(writer, f"field{number}", [value.encode("utf-8", "surrogatepass") for value in values])
        rows = [places[document[name]] if name in document else -1 for document in documents]
        writer.add(f"field{number}/rows", np.array(rows, np.int64), "<i4")
    return names


class Column:
    """One field of a segment's documents.

    Attributes:
        values: The distinct ones.
        rows: Number of each document's value, (documents,); -1 where it has none.
    """

    def __init__(self, file: BlockFile, name: str) -> None:
        names = file.notes["fields"]
        if name in names:
            number = names.index(name)
            strings = SortedStrings(file, f"field{number}").all()
            self.values = [each.decode("utf-8", "surrogatepass") for each in strings]
            self.rows: npt.NDArray[np.int32] = file.array(f"field{number}/rows")
        else:
            self.values = []
            self.rows = np.full(file.length("keys"), -1, np.int32)


ACCESS: Final = "access"
"""The field of a document's metadata that names who may see it."""


def groups_in(value: str) -> frozenset[str]:
    """Return the groups that a document's field names: "ward 3, cardiology"."""
    return frozenset(name for each in value.split(",") if (name := each.strip()))


def is_open_to(value: str, groups: Collection[str]) -> bool:
    """Whether somebody of these groups may see a document with this field."""
    # A comma without a name is a mistake, and is read as the narrower of what it may mean.
    return not value.strip() or not groups_in(value).isdisjoint(groups)


def seen(segment: Segment, groups: Collection[str]) -> Segment:
    """Return a segment without the documents that these groups may not see; itself where that is none."""
    column = Column(segment.file, ACCESS)
    # The last is for -1, of documents without the field.
    is_open = np.array([*(is_open_to(value, groups) for value in column.values), True])
    visible: npt.NDArray[np.bool_] = is_open[column.rows]
    return segment if visible[segment.living].all() else segment.without(~visible)
