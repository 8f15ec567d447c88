"""Lasting ids of single sentences: `gout-leaflet#120-184-9f3a`.

An id names the document, the range in its text, and four digits of a digest of the sentence. An invented id is refused,
and so is the id of a sentence that has changed since.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from auscult.documents.document import Document, Passage
from auscult.errors import QueryError
from auscult.index.reader import GenerationReader
from auscult.search.findings import place_of

_FORM: Final = re.compile(r"(?P<doc_id>.+)#(?P<start>\d{1,12})-(?P<end>\d{1,12})-(?P<digest>[0-9a-f]{4})", re.DOTALL)
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class SentenceId:
    """What an id says.

    Attributes:
        start: Offset in the document text.
        end: One past the last character.
        digest: The first digits of the sentence's SHA-256.
    """

    doc_id: str
    start: int
    end: int
    digest: str

    def __str__(self) -> str:
        return f"{self.doc_id}#{self.start}-{self.end}-{self.digest}"


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence that an id names.

    Attributes:
        document: The document that holds it.
        number: In the document, from 0.
        text: Of the sentence.
        passage: That holds it.
        place: Where it stands in the document's file, in words (`Hit.place`).
    """

    document: Document
    number: int
    text: str
    passage: Passage
    place: str


def sentence_id(doc_id: str, start: int, end: int, text: str) -> str:
    """Return the id of a sentence, such as "gout#120-184-9f3a".

    Args:
        doc_id: Id of its document.
        start: Offset of its first character in the document's text.
        end: Offset one past its last character.
        text: Its text, of which the id has a digest.
    """
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return str(SentenceId(doc_id, start, end, digest))


def read_sentence_id(written: str) -> SentenceId:
    """Parse an id.

    Raises:
        QueryError: The text is not an id.
    """
    found = _FORM.fullmatch(written.strip())
    if found is None:
        raise QueryError("a sentence id such as gout#120-184-9f3a", f"'{written}'", "copy one from an answer as it is")
    return SentenceId(found["doc_id"], int(found["start"]), int(found["end"]), found["digest"])


def find_sentence(reader: GenerationReader, written: str) -> CitedSentence:
    """Return the sentence that an id names.

    Args:
        reader: Reader of the index, or of the part of it that a caller may see.
        written: The id.

    Raises:
        QueryError: The text is not an id, there is no such document or sentence, or the sentence has changed.
    """
    named = read_sentence_id(written)
    row = reader.row_of(named.doc_id)
    if row is None:
        raise QueryError("the id of a sentence here", f"'{written}', of no document here", "take ids from answers only")
    document = reader.document(row)
    number = 0
    for passage in document.passages:
        for sentence in passage.sentences:
            if (sentence.start, sentence.end) == (named.start, named.end):
                text = document.slice(sentence)
                if sentence_id(document.doc_id, named.start, named.end, text) != str(named):
                    break
                place = place_of(reader, row, passage, named.start, named.end)
                return CitedSentence(document, number, text, passage, place)
            number += 1
    got = f"'{written}', which no sentence of that document has (now)"
    raise QueryError("the id of a sentence here", got, "search again, and take ids from answers only")
