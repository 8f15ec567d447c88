"""What a fast reader does not read: words that say little alone, and punctuation."""

from __future__ import annotations

from typing import Final

from auscult.concepts.names import FUNCTION_WORDS as WORDS

_MARKS = ". , ; : ! ? ( ) [ ] { } / \" ' ` - – — … • * # | “ ” ‘ ’"
FUNCTION_WORDS: Final = (*sorted(WORDS), *_MARKS.split())
