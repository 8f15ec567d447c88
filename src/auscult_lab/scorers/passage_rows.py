"""Number the passages of a collection for scorers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from auscult.documents import Document, Passage
from auscult.errors import DataError, ModelError


def distinct_passages(documents: Iterable[Document]) -> Iterator[tuple[Document, Passage]]:
    """Yield every passage of a collection with its document.

    Raises:
        DataError: A passage id occurs twice.
    """
    seen: set[str] = set()
    for document in documents:
        for passage in document.passages:
            if passage.passage_id in seen:
                raise DataError(
                    "a collection whose passage ids are unique",
                    f"'{passage.passage_id}' twice (second in document '{document.doc_id}')",
                    "give every passage its own id",
                )
            seen.add(passage.passage_id)
            yield document, passage


def rows_of(positions: dict[str, int], passage_ids: Sequence[str], name: str) -> npt.NDArray[np.int64]:
    """Return the rows of some passages, int64, (passages,).

    Args:
        positions: Rows by passage id; empty before a collection was prepared.
        passage_ids: Ids of the passages, in any order.
        name: Name of the scorer, for error messages.

    Raises:
        ModelError: No collection was prepared.
        DataError: A passage is not of the prepared collection.
    """
    if not positions:
        raise ModelError("a prepared collection", "none yet", f"call prepare() of '{name}' first")
    try:
        return np.fromiter((positions[each] for each in passage_ids), dtype=np.int64, count=len(passage_ids))
    except KeyError as error:
        raise DataError(
            "passages of the prepared collection", f"'{error.args[0]}'", "prepare the collection it is from"
        ) from None
