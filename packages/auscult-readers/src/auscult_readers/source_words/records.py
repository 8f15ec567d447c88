"""Words of clinical messages, tables, JSON and mail: all that a person is meant to read."""

from __future__ import annotations

import csv
import email
import email.policy
import re
from collections.abc import Iterator
from email.message import MIMEPart
from typing import Any, Final

from auscult.files.json_text import parse_json
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.decoding import decode_text
from auscult_readers.source_words.comparison import NEGATED
from auscult_readers.source_words.part import (
    FOLLOWED,
    SHOWN_OTHERWISE,
    PartWords,
    Piece,
    parsed_html,
    parsed_xml,
    structure_part,
)
from auscult_readers.source_words.tokens import words_without
from auscult_readers.word.package import local

# Segments of HL7 v2 for programs: sender, patient, visit, insurance.
_HEAD: Final = frozenset({
    "MSH", "EVN", "PID", "PD1", "PV1", "PV2", "NK1", "IN1", "IN2", "IN3", "GT1", "BHS", "FHS", "BTS", "FTS", "MSA",
    "SFT", "ROL", "TXA", "QRD", "QRF", "DSC", "PRT",
})  # fmt: skip
_ESCAPE: Final = re.compile(r"\\[^\\\r\n]{1,40}\\")
_READABLE: Final = re.compile(r"[a-z]{3}| ")
_TAKEN_BACK: Final = ("D", "W", "X")
_FILES: Final = ("ED", "RP")
_RESULT_FIELDS: Final = 6
_LETTERS: Final = re.compile("[^\\W\\d_]{2}")
# Fields of numbers that a person reads: the value and unit of a result, amounts and units of medicines.
_NUMBERS: Final = {
    "OBX": (5, 6), "RXE": (3, 4, 5), "RXO": (2, 3, 4), "RXA": (6, 7), "RXC": (3, 4), "NTE": (3,), "TQ1": (2, 6),
}  # fmt: skip
_DISCONTINUED: Final = frozenset({"CA", "DC", "OC", "OD", "CR", "DR"})


def words_of_message(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of HL7 v2 messages, and the comments on each result."""
    words, pieces = PartWords(), list[Piece]()
    name = ""
    taken_back = False
    for line in re.split(r"[\r\n]+", decode_text(content).text):
        fields = line.split("|")
        kind = fields[0].strip()
        if kind == "OBX":
            before, name = name, next(iter(_texts(fields[3])), "") if len(fields) > 3 else ""
            # Parts of one text have one heading.
            fields[3:4] = [""] if name == before else fields[3:4]
            taken_back = len(fields) > 11 and fields[11].strip() in _TAKEN_BACK
            pieces.append(Piece("", name))
        elif kind != "NTE":
            name, taken_back = kind, False
        if kind == "NTE" and len(fields) > 3:
            pieces.append(Piece(_ESCAPE.sub(" ", fields[3]), name))
        if kind == "ORC" and len(fields) > 1 and fields[1].strip() in _DISCONTINUED:
            words.add("discontinued", "order that was discontinued")
            words.end_word()
        for number, field in enumerate(fields[1:], 1):
            if kind in _HEAD or (kind == "OBX" and (number > _RESULT_FIELDS or (number == 5 and fields[2] in _FILES))):
                continue
            shown = [*_texts(field)] if number not in _NUMBERS.get(kind, ()) else [*_values(field)]
            for text in shown:
                words.add(text, "result that was taken back" if taken_back else "")
                words.end_word()
    yield words.draft("message")
    yield structure_part(FOLLOWED, pieces)


def _texts(field: str) -> Iterator[str]:
    """Yield what people read in a field: the text of each code, or a text without code."""
    for repetition in field.split("~"):
        code, *others = repetition.split("^")
        if others and _LETTERS.search(others[0]):
            yield _ESCAPE.sub(" ", others[0])
        elif not others and _READABLE.search(code):
            yield _ESCAPE.sub(" ", code)


def _values(field: str) -> Iterator[str]:
    for repetition in field.split("~"):
        code, *others = repetition.split("^")
        yield _ESCAPE.sub(" ", others[0] if others and others[0].strip() else code)


# Fields of FHIR for programs. Codes with a text beside them are for programs, too.
_FOR_PROGRAMS: Final = frozenset({
    "resourceType", "id", "reference", "system", "url", "version", "profile", "lastUpdated", "versionId", "use",
    "contentType", "data", "linkId", "intent", "meta", "identifier", "fullUrl", "link", "source", "hash", "size",
    "mode", "subject", "patient", "encounter", "performer", "author", "recorder", "requester", "asserter", "custodian",
    "extension", "modifierExtension", "div", "period", "creation", "issued", "category", "request", "response",
    "search", "total", "language", "clinicalStatus", "verificationStatus", "status", "type", "context",
    "relatesTo", "security", "class", "participant", "contained-id", "basedOn", "partOf", "managingOrganization",
})  # fmt: skip
_DATED: Final = re.compile(r"\d{4}(-\d\d(-\d\d)?)?(T.*)?")
# Words for the codes of a timing (FHIR R4, EventTiming and UnitsOfTime).
_CODES: Final = {
    "AC": "before", "PC": "after", "ACM": "breakfast", "ACD": "lunch", "ACV": "dinner", "PCM": "breakfast",
    "PCD": "lunch", "PCV": "dinner", "MORN": "morning", "AFT": "afternoon", "EVE": "evening", "NIGHT": "night",
    "HS": "sleep", "WAKE": "waking",
}  # fmt: skip
_YES: Final = {"asNeededBoolean": "needed", "doNotPerform": NEGATED}
_DAYS: Final = frozenset({"mon", "tue", "wed", "thu", "fri", "sat", "sun"})


def words_of_resources(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of FHIR resources in JSON or XML. Numbers are as written, and codes of a timing are in words.

    Raises:
        UnreadableError: The content is neither.
    """
    words = PartWords()
    text = decode_text(content).text
    if text.lstrip().startswith("<"):
        resources = [_as_object(parsed_xml(content))]
    else:
        resources = [_parsed(each) for each in (text.splitlines() if _is_lines(text) else [text]) if each.strip()]
    for resource in resources:
        for text in _of_resource(resource, ""):
            words.add(text)
            words.end_word()
    yield words.draft("resources")


def _as_object(element: Any) -> Any:
    """Return a resource in XML as in JSON: the value of an element, or its children by name."""
    if element.get("value") is not None:
        return element.get("value")
    held: dict[str, list[Any]] = {}
    for child in element:
        if local(child):
            held.setdefault(local(child), []).append(_as_object(child))
    return held


def _is_lines(text: str) -> bool:
    """Return whether each line is an object of its own."""
    first = text.strip().partition("\n")[0]
    try:
        parse_json(first)
    except ValueError:
        return False
    return True


def _parsed(text: str) -> Any:
    try:
        return parse_json(text, parse_float=str, parse_int=str)
    except ValueError as error:
        raise UnreadableError("broken JSON", "JSON", "something else", "export the file again") from error


def _of_resource(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        has_text = bool({"display", "text"} & value.keys())
        for key, inner in value.items():
            coded = key in ("code", "coding") and (has_text or "unit" in value) and not isinstance(inner, dict)
            if key in _YES and inner in (True, ["true"], "true"):
                yield _YES[key]
            elif key not in _FOR_PROGRAMS and not key.startswith("_") and not coded:
                yield from _of_resource(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_resource(inner, name)
    elif isinstance(value, str) and not _DATED.fullmatch(value):
        # A code without words in a field that this table lacks is for programs.
        if value in _CODES:
            yield _CODES[value]
        elif name == "dayOfWeek" and value in _DAYS:
            yield _DAY_NAMES[value]
        elif name not in ("code", "periodUnit", "durationUnit", "boundsUnit", "frequency", "period"):
            yield value


_DAY_NAMES: Final = {
    "mon": "monday", "tue": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday", "sat": "saturday",
    "sun": "sunday",
}  # fmt: skip


_NO_TEXT: Final = frozenset({"id", "url", "entity_ids", "split"})


def words_of_objects(content: bytes) -> Iterator[DraftDocument]:
    """Yield the values of JSON lines and of lists of objects.

    Raises:
        UnreadableError: The content is no JSON.
    """
    text = decode_text(content).text
    words = PartWords()
    # The index has one document for rows with the same text.
    rows: dict[tuple[str, ...], None] = {}
    documents = [text] if not _is_lines(text) else text.splitlines()
    for document in filter(str.strip, documents):
        parsed = _parsed(document)
        for row in parsed if isinstance(parsed, list) else [parsed]:
            rows.setdefault(tuple(_leaves(row)))
    for value in (value for row in rows for value in row):
        words.add(value)
        words.end_word()
    yield words.draft("objects")


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _NO_TEXT:
                yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value


def words_of_table(content: bytes) -> Iterator[DraftDocument]:
    """Yield the cells of a table below its header, without ids."""
    text = decode_text(content).text
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    words = PartWords()
    rows: Iterator[list[str]] = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    names = [name.strip().lower() for name in next(rows, [])]
    ids = {number for number, name in enumerate(names) if name in _NO_TEXT}
    # The index has one document for rows with the same text.
    distinct = dict.fromkeys(tuple(cell for number, cell in enumerate(row) if number not in ids) for row in rows)
    for cell in (cell for row in distinct for cell in row):
        words.add(cell)
        words.end_word()
    yield words.draft("cells")


_ENVELOPE: Final = re.compile(rb"^From \S.*\r?\n", re.MULTILINE)


def words_of_mail(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of the subject and text of each message of a mail or mailbox, as a mail program shows them."""
    messages = _ENVELOPE.split(content) if content.startswith(b"From ") else [content]
    for number, each in enumerate(filter(bytes.strip, messages), 1):
        words = PartWords()
        message = email.message_from_bytes(each, policy=email.policy.default)
        forms = [_shown_text(body) for kind in ("plain", "html") if (body := message.get_body((kind,))) is not None]
        text = forms[-1][0] if forms else ""
        if len(forms) > 1:
            # A program shows one of two forms of a text, so only what both say has to be read.
            words.excuse(words_without(text, forms[0][0]), SHOWN_OTHERWISE)
        words.add(text)
        words.end_word()
        words.add(" ".join(left_out for _, left_out in forms), SHOWN_OTHERWISE)
        words.end_word()
        # A page often begins with the subject, which is the title then.
        words.add(words_without(str(message["subject"] or ""), text))
        yield words.draft(f"message {number}")


def _shown_text(body: MIMEPart) -> tuple[str, str]:
    """Return the text of a part of a message, and what was left out as a quotation or signature."""
    text = str(body.get_content())
    if body.get_content_type() != "text/html":
        return _without_quotes(_flowed(text, body))
    root = parsed_html(text)
    # Blanks, so that words of adjacent headings and paragraphs are not joined.
    return ("" if root is None else " ".join(root.itertext())), ""


def _flowed(text: str, body: MIMEPart) -> str:
    """Return a text with the line ends removed that RFC 3676 calls soft."""
    if body.get_param("format") != "flowed":
        return text
    joined = "" if str(body.get_param("delsp")).lower() == "yes" else " "
    return re.sub(r"(?<!\n--) \r?\n(?!>)", joined, text)


def _without_quotes(text: str) -> tuple[str, str]:
    """Return the text of a message and its quotations and signature, which other messages have."""
    body, _, signature = text.partition("\n-- \n")
    quoted = re.findall(r"^>.*$", body, re.MULTILINE)
    return re.sub(r"^>.*$", "", body, flags=re.MULTILINE), "\n".join([*quoted, signature])
