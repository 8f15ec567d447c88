"""Who may see which documents: groups named in a document's field `access`, and what is left of a segment for some.

`access` names one group, or several between commas; one of them suffices. A document without it, or with nothing but
blanks, is seen by everybody who may search the index. Hidden documents are treated as removed ones are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.index.fields import Column
from auscult.index.segment import Segment

ACCESS: Final = "access"
"""The field of a document's metadata that names who may see it."""


def groups_in(value: str) -> frozenset[str]:
    """The groups that a document's field names: "ward 3, cardiology"."""
    return frozenset(name for each in value.split(",") if (name := each.strip()))


def is_open_to(value: str, groups: Collection[str]) -> bool:
    """Whether somebody of these groups may see a document with this field."""
    # A comma without a name is a mistake, and is read as the narrower of what it may mean.
    return not value.strip() or not groups_in(value).isdisjoint(groups)


def seen(segment: Segment, groups: Collection[str]) -> Segment:
    """A segment without the documents that somebody of these groups may not see; itself where that is none."""
    column = Column(segment.file, ACCESS)
    # The last is for -1, of documents without the field.
    is_open = np.array([*(is_open_to(value, groups) for value in column.values), True])
    visible: npt.NDArray[np.bool_] = is_open[column.rows]
    return segment if visible[segment.living].all() else segment.without(~visible)
