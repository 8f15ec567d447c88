"""Choose the encoder of an index by the languages of its documents: `--model auto`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from auscult.documents.document import Document
from auscult.documents.language import reading_language
from auscult.documents.language_names import ENGLISH, language_name

AUTO: Final = "auto"
"""Stands for the encoder that suits the documents."""
ENGLISH_ENCODER: Final = "fast"
SEVERAL: Final = "multilingual"
LOOKED_AT: Final = 1_000
"""Documents of each source, evenly spaced where they are files, whose languages are taken for those of all."""
_LEAST_SHARE: Final = 0.01
"""Where fewer documents are in another language, all others are not encoded more slowly for them."""


class Choice(NamedTuple):
    """An encoder, and why.

    Attributes:
        model: Its name.
        why: A sentence for people; empty where all is as usual.
    """

    model: str
    why: str = ""


def choose_encoder(documents: Iterable[Document]) -> Choice:
    """Return `multilingual` if one document of a hundred or more is in French, Spanish or German; otherwise `fast`.

    Args:
        documents: The documents, or some that stand for them.
    """
    counts = Counter(reading_language(document.text) for document in documents)
    total, others = counts.total(), [(code, count) for code, count in counts.most_common() if code != ENGLISH]
    if not others or sum(count for _, count in others) < _LEAST_SHARE * total:
        return Choice(ENGLISH_ENCODER)
    found = ", ".join(f"{language_name(code)} {count:,}" for code, count in others)
    why = (
        f"not in English: {found} of {total:,} documents; encoding with {SEVERAL}, which takes several times as long as"
        f" {ENGLISH_ENCODER} (--model {ENGLISH_ENCODER} reads English only)"
    )
    return Choice(SEVERAL, why)
