"""The files of an index generation: names, record types and version (docs/index-format.md).

Numbers are little-endian on every machine. Tables of documents and passages end with one sentinel row: the
extent of row `i` is always `table[i]` to `table[i + 1]`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from auscult.index import titles, words

FORMAT: Final = "auscult-index"
FORMAT_VERSION: Final = 2

CURRENT: Final = "CURRENT"
LOCK: Final = "lock"
MANIFEST: Final = "manifest.json"

PASSAGE_VECTORS: Final = "passage_vectors.npy"
SENTENCE_VECTORS: Final = "sentence_vectors.npy"
DOCUMENTS: Final = "documents.npy"
PASSAGES: Final = "passages.npy"
SENTENCES: Final = "sentences.npy"
DOCUMENT_RECORDS: Final = "documents.jsonl"
PASSAGE_RECORDS: Final = "passages.jsonl"
TEXTS: Final = "texts.bin"
KNOWLEDGE_BASE: Final = "knowledge_base"

#: The files every generation has; a knowledge base may stand beside them.
REQUIRED_FILES: Final = (
    PASSAGE_VECTORS,
    SENTENCE_VECTORS,
    DOCUMENTS,
    PASSAGES,
    SENTENCES,
    DOCUMENT_RECORDS,
    PASSAGE_RECORDS,
    TEXTS,
    titles.TITLES,
    *words.file_names(),
)

PASSAGE_DTYPE: Final = np.dtype("<f4")
#: Half precision: sentence scores are shown, never ranked by (for their error see docs/index-format.md).
SENTENCE_DTYPE: Final = np.dtype("<f2")

#: record: byte offset of the line in documents.jsonl; text: byte offset in texts.bin; passages: first row in
#: passages.npy; source: row in the manifest's list of sources.
DOCUMENT_ROW: Final = np.dtype([("record", "<i8"), ("text", "<i8"), ("passages", "<i8"), ("source", "<i4")])

#: record: byte offset of the line in passages.jsonl; document: row in documents.npy; start, end: characters
#: in the document text; text_start, text_end: bytes in texts.bin; sentences: first row in sentences.npy.
PASSAGE_ROW: Final = np.dtype(
    [
        ("record", "<i8"),
        ("document", "<i8"),
        ("start", "<i8"),
        ("end", "<i8"),
        ("text_start", "<i8"),
        ("text_end", "<i8"),
        ("sentences", "<i8"),
    ]
)

#: start, end: characters in the document text; flags: the bits below.
SENTENCE_ROW: Final = np.dtype([("start", "<u4"), ("end", "<u4"), ("flags", "u1")])

BEGINS_PARAGRAPH: Final = 1
ENDS_PARAGRAPH: Final = 2
LIST_ITEM: Final = 4
