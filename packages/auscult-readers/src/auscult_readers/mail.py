"""Reader of mail (.eml, .mbox, .mhtml, Outlook's .msg): headers as fields, the best part as text, attachments apart.

Of alternatives the HTML is read, which has lists and tables; the plain text if there is no HTML. Pictures in a page and
signatures are left out. Attachments are read as files of a folder are, also in archives. Messages in messages are read
up to three deep. A mailbox file has several messages. Remarks name the messages and attachments that cannot be read.
Specifications: RFC 5322, 2045 and 2557, MS-OXMSG.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any, Final

from auscult.errors import DataError
from auscult.readers.archives import OLE, members_of, streams_in
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.decoding import Decoded, decode_text
from auscult.readers.drafting import Facts
from auscult.readers.flow import has_words
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult.readers.notes import untitled_draft
from auscult.readers.registry import Registry
from auscult_readers.mail_lines import begins_with_envelope, join_flowed, split_mailbox

_FIRST: Final = re.compile(
    rb"(?:from|to|cc|subject|date|sender|reply-to|return-path|received|message-id|mime-version|delivered-to"
    rb"|content-[a-z-]+|dkim-signature|authentication-results|thread-[a-z]+|snapshot-content-location|x-[\w-]+)[ \t]*:",
    re.IGNORECASE,
)
# Only mail has these headers. Clinical notes may also begin with "Date:" or "Subject:".
_SURE: Final = re.compile(rb"^(?:received|message-id|mime-version|return-path)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_HEADER: Final = re.compile(rb"[!-9;-~]+[ \t]*:")
_END: Final = re.compile(rb"\r?\n\r?\n")
_OUTLOOK: Final = "__properties_version1.0"
_TAG: Final = re.compile(r"<(?:style|script).*?</(?:style|script)|<[^>]*>|&\w+;", re.DOTALL | re.IGNORECASE)
_AROUND: Final = re.compile(r"image/.*|font/.*|text/css|.*/(?:x-)?javascript|application/.*-signature")
_TEXTS: Final = ("text/html", "text/plain")
_DEEPEST: Final = 3
# Longest header in characters: the time to decode one grows faster than its length.
_LONGEST: Final = 32_000
_REMEDY: Final = "save it again from the mail program"


class MailReader:
    """Reads mail.

    Args:
        depth: Number of messages around the one to read, each attached to the next.
    """

    name = "mail"
    suffixes: tuple[str, ...] = (".eml", ".mbox", ".mht", ".mhtml", ".msg")

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins with headers of mail; any header is enough if its name ends as that of mail."""
        if file.content.startswith(OLE):
            return _OUTLOOK in streams_in(file.content)
        if begins_with_envelope(file.head):
            return True
        head = _END.split(file.head.lstrip(), maxsplit=1)[0]
        if file.suffix in self.suffixes:
            return _HEADER.match(head) is not None
        return _FIRST.match(head) is not None and _SURE.search(head) is not None

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the documents of each message: those of its attachments, then its own.

        A message without a text has its subject as its text. The keys in a file of several messages begin with the
        number of the message.

        Raises:
            UnreadableError: The message is broken, too deep in others, or has neither words nor attachments.
        """
        if self._depth > _DEEPEST:
            expected = f"messages in messages at most {_DEEPEST} deep"
            raise UnreadableError("nested too deeply", expected, "more", "save the inner message by itself")
        if file.content.startswith(OLE):
            yield from self._of_message(_of_outlook(file.content))
            return
        messages = split_mailbox(file.content)
        if len(messages) == 1:
            yield from self._of_message(message_from_bytes(messages[0]))
        else:
            yield from self._of_mailbox(messages)

    def _of_mailbox(self, messages: Sequence[bytes]) -> Iterator[DraftDocument]:
        problems: list[UnreadableError] = []
        remarks: list[str] = []
        last: DraftDocument | None = None
        for number, message in enumerate(messages, 1):
            try:
                for draft in self._of_message(message_from_bytes(message)):
                    if last is not None:
                        yield last
                    last = replace(draft, key=f"{number}/{draft.key}" if draft.key else str(number))
            except UnreadableError as error:
                problems.append(error)
                remarks.append(f"message {number}: {error.kind} ({error.got})")
        if last is None:
            raise problems[0]
        yield replace(last, remarks=[*last.remarks, *remarks])

    def _of_message(self, message: Message) -> Iterator[DraftDocument]:
        facts = _facts(message)
        bodies, attached = list[Message](), list[Message]()
        for part in _parts(message):
            is_file = part.get_content_disposition() == "attachment" or _name(part)
            (bodies if part.get_content_type() in _TEXTS and not is_file else attached).append(part)
        remarks, own = list[str](), list[DraftDocument]()
        for number, part in enumerate([*attached, *bodies[1:]], 2):
            name = _name(part) or f"part-{number}{'.html' if part.get_content_subtype() == 'html' else '.txt'}"
            for file_name, content in _files(name, part, remarks):
                try:
                    yield from self._documents(file_name, content, facts)
                except DataError as error:
                    kind = error.kind if isinstance(error, UnreadableError) else "not read"
                    remarks.append(f"attachment {file_name}: {kind} ({error.got})")
        try:
            own = [_body(bodies[0])] if bodies else []
        except UnreadableError as error:
            remarks.append(f"text: {error.kind} ({error.got})")
        if not own and has_words(facts.title):
            content = facts.title.encode()
            own = [replace(untitled_draft(content), content=content)]
        for draft in own:
            yield replace(
                draft,
                title=facts.title or draft.title,
                metadata={**draft.metadata, **facts.fields()},
                remarks=[*draft.remarks, *remarks],
            )
        if not own and not attached:
            raise UnreadableError("no words", "a message with words", "one without any", "leave it out")

    def _documents(self, name: str, content: bytes, facts: Facts) -> Iterator[DraftDocument]:
        """Yield the documents of an attachment, with the fields of the message."""
        file = SourceFile(name, content)
        reader = Registry().reader_of(file)
        if isinstance(reader, MailReader):
            reader = MailReader(self._depth + 1)
        for draft in reader.read(file):
            yield replace(
                draft,
                key=f"{name}#{draft.key}" if draft.key else name,
                content=content if draft.content is None else draft.content,
                title=draft.title or ("" if draft.to_rewrite else name),
                metadata={**facts.fields(), "message": facts.title, **draft.metadata},
            )


def _parts(part: Message) -> Iterator[Message]:
    """Yield the parts to read: the best of alternatives, and no pictures of a page and no signatures."""
    stack = [part]
    while stack:
        part = stack.pop()
        inner = _inner(part) if part.get_content_maintype() == "multipart" else []
        if not inner:
            yield part
        elif part.get_content_subtype() == "alternative":
            stack += sorted((child for child in inner if _kinds(child)), key=_kinds)[-1:]
        elif part.get_content_subtype() == "related":
            stack += [child for child in inner[:0:-1] if not _AROUND.fullmatch(child.get_content_type())] + inner[:1]
        else:
            stack += [child for child in inner[::-1] if not child.get_content_type().endswith("-signature")]


def _inner(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [inner for inner in payload if isinstance(inner, Message)] if isinstance(payload, list) else []


def _kinds(part: Message) -> int:
    """Return how well a part can be read: 2 for a page with words, 1 for plain text, 0 for all others."""
    pages = [each for each in part.walk() if each.get_content_type() == "text/html"]
    if any(has_words(_TAG.sub("", _text(each).text)) for each in pages):
        return 2
    return int(any(each.get_content_type() == "text/plain" for each in part.walk()))


def _payload(part: Message) -> bytes:
    if part.get_content_type() == "message/rfc822" and (inner := _inner(part)):
        return inner[0].as_bytes()
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _text(part: Message) -> Decoded:
    text = decode_text(_payload(part), part.get_content_charset() or "")
    if str(part.get_param("format", "")).lower() == "flowed" and part.get_content_subtype() == "plain":
        joined = join_flowed(text.text, delete_space=str(part.get_param("delsp", "")).lower() == "yes")
        return text._replace(text=joined)
    return text


def _body(part: Message) -> DraftDocument:
    text, _, remarks = _text(part)
    # The byte order mark has precedence over the encoding that a page declares, since the mail's header has, too.
    content = codecs.BOM_UTF8 + text.encode("utf-8", "replace")
    draft = read_page(content, Care.INVISIBLE) if part.get_content_type() == "text/html" else untitled_draft(content)
    return replace(draft, content=content, remarks=[*remarks, *draft.remarks])


def _decoded(header: str) -> str:
    """Return the text of a header, from encoded words or, against the standard, from UTF-8."""
    text = header[:_LONGEST].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    with suppress(MessageError, LookupError, ValueError):
        text = str(make_header(decode_header(text)))
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _name(part: Message) -> str:
    name = _decoded(part.get_filename() or "").replace("\\", "/").rpartition("/")[2]
    return name or ("message.eml" if part.get_content_type() == "message/rfc822" else "")


def _files(name: str, part: Message, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of an attachment, or of the files in it if it is an archive."""
    content = _payload(part)
    if not (members := members_of(name, content)):
        yield name, content
    for member in members:
        try:
            yield member.name, member.content()
        except UnreadableError as error:
            remarks.append(f"attachment {member.name}: {error.kind} ({error.got})")


def _facts(message: Message) -> Facts:
    def of(name: str) -> str:
        return _decoded(next((str(value) for key, value in message.raw_items() if key.lower() == name), ""))

    people = {
        name: [addresses for addresses in getaddresses([of(name)]) if any(addresses)] for name in ("from", "to", "cc")
    }
    metadata = {name: "; ".join(shown or address for shown, address in people[name]) for name in ("to", "cc")}
    metadata["author"] = "; ".join(shown or address for shown, address in people["from"])
    try:
        metadata["date"] = parsedate_to_datetime(of("date")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        metadata["date"] = ""
    return Facts(
        title=of("subject"),
        names=[shown for addresses in people.values() for shown, _ in addresses],
        metadata={name: value for name, value in metadata.items() if value},
    )


def _of_outlook(content: bytes) -> Message:
    """Convert an Outlook message to a message of mail."""
    from oxmsg import Message as Outlook

    try:
        outlook: Any = Outlook.load(io.BytesIO(content))
        headers: Mapping[str, str] = outlook.message_headers
        made = EmailMessage()
        people = "; ".join(f"{each.name} <{each.email_address}>" for each in outlook.recipients)
        for name, value in {
            "Subject": outlook.subject,
            "From": outlook.sender,
            "To": headers.get("To") or people.replace(";", ","),
            "Cc": headers.get("Cc"),
            "Date": outlook.sent_date,
        }.items():
            if value:
                made[name] = (
                    value if name == "Date" else " ".join(str(value).encode("utf-8", "replace").decode().split())
                )
        made.set_content(outlook.body or "")
        if outlook.html_body:
            made.add_alternative(outlook.html_body, subtype="html")
        for attached in outlook.attachments:
            # The library returns no bytes for an attached message, so that a remark calls it empty.
            data, name = attached.file_bytes or b"", attached.file_name or "attachment"
            made.add_attachment(data, "application", "octet-stream", filename=name)
    except Exception as error:  # On a broken file the library raises whatever comes up.
        got = f"what cannot be read ({type(error).__name__})"
        raise UnreadableError("broken message", "a whole Outlook message (.msg)", got, _REMEDY) from error
    return message_from_bytes(made.as_bytes())
