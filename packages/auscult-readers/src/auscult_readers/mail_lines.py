"""Lines of mail: the envelope lines between the messages of a mailbox file, and paragraphs broken for sending.

Specifications: RFC 4155 (mbox), RFC 3676 (format=flowed).
"""

from __future__ import annotations

import re
from typing import Final

# "From anna@x.org Sat Jan  3 10:00:00 2026": the address is in no fixed form, the day and the year are.
_ENVELOPE: Final = re.compile(
    rb"From [^\r\n]{1,320}[ \t](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?[ \t][^\r\n]{0,80}\d{4}[^\r\n]{0,40}\r?\n"
)
_BETWEEN: Final = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))" + _ENVELOPE.pattern)
_HEADER: Final = re.compile(rb"[!-9;-~]+[ \t]*:")
_QUOTED_FROM: Final = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_SIGNATURE: Final = "-- "


def begins_with_envelope(content: bytes) -> bool:
    """Whether a file begins with an envelope line and a header of mail."""
    envelope = _ENVELOPE.match(content)
    return envelope is not None and _HEADER.match(content, envelope.end()) is not None


def split_mailbox(content: bytes) -> list[bytes]:
    """Return the messages of a file, without envelope lines; the content itself if it begins with none."""
    if not begins_with_envelope(content):
        return [content]
    # A sentence that begins with "From" is no envelope: headers follow one.
    found = [each for each in _BETWEEN.finditer(content) if _HEADER.match(content, each.end())]
    ends = [each.start() for each in found[1:]] + [len(content)]
    return [_QUOTED_FROM.sub(b"", content[each.end() : end]) for each, end in zip(found, ends, strict=True)]


def join_flowed(text: str, *, delete_space: bool) -> str:
    """Join the lines of paragraphs that a mail program broke for sending (format=flowed).

    Args:
        text: The text of a message.
        delete_space: Whether the space at the end of a broken line is not part of the text (delsp=yes). Then a line may
            end inside a word.
    """
    lines: list[str] = []
    open_quote: str | None = None
    for line in text.splitlines():
        written = line.lstrip(">")
        quote = line[: len(line) - len(written)]
        continues = open_quote == quote and written != _SIGNATURE
        # The first space only protects the line. Where a paragraph goes on, it may also be a blank between words.
        is_protected = written.startswith(" " if quote or not continues else (" >", " From ", "  "))
        body = written[1:] if is_protected else written
        is_broken = written.endswith(" ") and written != _SIGNATURE
        part = body[:-1] if is_broken and delete_space else body
        if continues:
            lines[-1] += part
        else:
            lines.append(f"{quote} {part}" if quote else part)
        open_quote = quote if is_broken else None
    return "\n".join(lines) + ("\n" if text.endswith(("\n", "\r")) else "")
