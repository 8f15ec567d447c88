"""Metadata fields of documents: for each field its values, and which document has which.

The field `access` names who may see a document: one group, or several separated by commas, of which one suffices. A
document with an empty field or without it is visible to everybody who may search the index. Hidden documents are
treated like deleted ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.index.blocks import BlockFile, BlockWriter, SortedStrings, add_strings


@dataclass(frozen=True, slots=True)
class Between:
    """Values between two bounds, both included, in the order of text. Dates are written "2024-05-31".

    An upper bound includes all values that begin with it: up to "2024-05" is up to the end of May. An empty string is
    no bound.
    """

    first: str = ""
    last: str = ""

    def holds(self, value: str) -> bool:
        """Return whether a value is within the bounds."""
        return self.first <= value and (not self.last or value[: len(self.last)] <= self.last)


Where = Mapping[str, str | Sequence[str] | Between]
"""By field, the value that a document must have, a list of values of which one must match, or bounds. All fields must
match."""
ANY: Final[Where] = MappingProxyType({})
"""Every document."""

SOURCE: Final = "source"
"""The field with a document's source; all others are from its metadata."""


def fields_of(source: str, metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a document's values by field."""
    return {**metadata, SOURCE: source}


def write_fields(writer: BlockWriter, documents: Sequence[Mapping[str, str]]) -> list[str]:
    """Write the fields of documents to a segment.

    Returns:
        The names of the fields, in the order of their numbers.
    """
    names = list(dict.fromkeys(name for document in documents for name in document))
    for number, name in enumerate(names):
        values = sorted({document[name] for document in documents if name in document})
        places = {value: place for place, value in enumerate(values)}
        add_strings(writer, f"field{number}", values)
        rows = [places[document[name]] if name in document else -1 for document in documents]
        writer.add(f"field{number}/rows", np.array(rows, np.int64), "<i4")
    return names


class Column:
    """One field of a segment's documents.

    Attributes:
        values: The distinct values.
        rows: Number of each document's value, (documents,); -1 for a document without the field.
    """

    def __init__(self, file: BlockFile, name: str) -> None:
        names = file.notes["fields"]
        if name in names:
            number = names.index(name)
            self.values = SortedStrings(file, f"field{number}").all()
            self.rows: npt.NDArray[np.int32] = file.array(f"field{number}/rows")
        else:
            self.values = []
            self.rows = np.full(file.length("keys"), -1, np.int32)


ACCESS: Final = "access"
"""The field of a document's metadata that names who may see it."""


def groups_in(value: str) -> frozenset[str]:
    """Return the groups in the field `access` of a document, such as "ward 3, cardiology"."""
    return frozenset(name for each in value.split(",") if (name := each.strip()))


def is_open_to(value: str, groups: Collection[str]) -> bool:
    """Return whether some groups may see a document with this field `access`."""
    # A comma without a name is a mistake. It names no group, so nobody sees the document, which is the safe reading.
    return not value.strip() or not groups_in(value).isdisjoint(groups)
