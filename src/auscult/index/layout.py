"""The files of an index folder: names, record types and version (docs/index-format.md)."""

from __future__ import annotations

from typing import Final

import numpy as np

FORMAT: Final = "auscult-index"
FORMAT_VERSION: Final = 5
#: Format 4 lacks `before` and `knowledge` in the manifest, and the generation in CURRENT.
READ_VERSIONS: Final = (4, 5)

CURRENT: Final = "CURRENT"
LOCK: Final = "lock"
STORE: Final = "index.sqlite"

PASSAGE_DTYPE: Final = np.dtype("<f4")
#: Half precision: sentence scores are shown, never ranked by (for their error see docs/index-format.md).
SENTENCE_DTYPE: Final = np.dtype("<f2")
#: start, end: characters in the document text; flags: the bits below.
SENTENCE_ROW: Final = np.dtype([("start", "<u4"), ("end", "<u4"), ("flags", "u1")])

BEGINS_PARAGRAPH: Final = 1
ENDS_PARAGRAPH: Final = 2
LIST_ITEM: Final = 4
