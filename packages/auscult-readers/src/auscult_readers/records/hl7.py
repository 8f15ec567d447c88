"""Reader of HL7 v2: the reports in messages (ORU, MDM and others), one document per message.

Segments end with carriage returns; in files that people saved, with any line end. The OBX segments are the report:
texts line by line, and results as "Potassium: 6.9 mmol/L; reference range: 3.5-5.1". NTE segments are comments on the
segment before them. Each OBR begins a section, and so does each heading of a text. Allergies, problems, diagnoses,
procedures and medicines are sections of lines with named fields: "Allergen: Penicillin; severity: severe". Enclosed
files are read by the reader of their type. Segments of other names are counted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from auscult.documents import Section
from auscult.documents.language import reading_language
from auscult.documents.note_headings import note_sections
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.decoding import decode_text
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import has_words
from auscult_readers.records.attachments import read_attachment
from auscult_readers.records.hl7_message import HEADER, Message, messages_of
from auscult_readers.records.hl7_report import Report

MEDIA_TYPE: Final = "application/hl7-v2"
_CHARSETS: Final = {"8859/1": "cp1252", "8859/2": "iso8859-2", "8859/9": "iso8859-9", "8859/15": "iso8859-15"}
# The event of a message that cancels a document.
_CANCELLED: Final = "T11"
_MOST_TOLD: Final = 20


class Hl7Reader:
    """Reads HL7 v2 messages."""

    name = "HL7 v2"
    suffixes = (".hl7",)

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins with the header of a message or batch."""
        return HEADER.match(file.head.decode("latin-1")) is not None

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield one document per message. If there are several, their keys are the control numbers.

        Remarks of the first document name everything that was not read.

        Raises:
            UnreadableError: No message has a report.
        """
        drafts: list[tuple[str, DraftDocument]] = []
        problem: UnreadableError | None = None
        unread: Counter[str] = Counter()
        messages = silent = 0
        text, encoding, of_decoding = decode_text(file.content, _charset(file.head))
        remarks = [*of_decoding]
        for messages, message in enumerate(messages_of(text), start=1):
            key = message.plain(message.field("MSH", 9)) or str(messages)
            documents, problems, others = _read(message, encoding, file.name)
            unread += others
            remarks += [f"message {messages}: {reason}" for reason in problems]
            problem = problem or next((reason for reason in problems if isinstance(reason, UnreadableError)), None)
            silent += not (documents or problems)
            drafts += [
                (key if number == 1 else f"{key}/{number}", draft) for number, draft in enumerate(documents, start=1)
            ]
        told = ", ".join(f"{number:,} {kind}" for kind, number in unread.most_common(_MOST_TOLD))
        if not drafts:
            got = f"only segments that are not read: {told}" if told else "none"
            raise problem or UnreadableError("no text", "messages with reports", got, "leave it out")
        if len(remarks) > _MOST_TOLD:
            remarks[_MOST_TOLD:] = [f"{len(remarks) - _MOST_TOLD:,} more"]
        remarks += [f"messages without a report: {silent:,} of {messages:,}"] if silent else []
        remarks += [f"segments that are not read: {told}"] if told else []
        drafts[0] = (drafts[0][0], replace(drafts[0][1], remarks=(*drafts[0][1].remarks, *remarks)))
        times: Counter[str] = Counter()
        for key, draft in drafts:
            times[key] += 1
            yield replace(draft, key="" if len(drafts) == 1 else key if times[key] == 1 else f"{key}~{times[key]}")


def _charset(head: bytes) -> str:
    """Return the encoding that the header names; "" for encodings that are detected from the bytes."""
    found = re.search(rb"MSH([^\r\n])[^\r\n]*", head)
    fields = found[0].split(found[1]) if found else []
    return _CHARSETS.get(fields[17].decode("latin-1").partition("~")[0].strip(), "") if len(fields) > 17 else ""


def _read(
    message: Message, encoding: str, name: str
) -> tuple[list[DraftDocument], list[UnreadableError | str], Counter[str]]:
    """Return the drafts of a message, errors or remarks on what was not read, and the segments that are not read.

    The drafts are those of the report and of enclosed files.
    """
    if message.part(message.field("MSH", 8), 2) == _CANCELLED or message.field("TXA", 19).strip() == "CA":
        return [], ["a document that was cancelled was left out"], Counter()
    facts = _facts(message)
    report = Report(message, facts.title)
    drafts: list[DraftDocument] = []
    problems: list[UnreadableError | str] = [*report.taken_back]
    if has_words(report.flow.text):
        draft = draft_of(report.flow, facts, media_type=MEDIA_TYPE, encoding=encoding, divided=True)
        drafts.append(_by_headings(replace(draft, title=facts.title), report.results))
    for attachment in report.attached:
        try:
            drafts += read_attachment(attachment, facts, name)
        except UnreadableError as problem:
            problems.append(problem)
    return drafts, problems, report.unread


def _by_headings(draft: DraftDocument, results: list[tuple[int, int]]) -> DraftDocument:
    """Divide the sections of a draft at the headings in its texts.

    Args:
        draft: The draft.
        results: Ranges of results, entries and comments on them, whose names are no headings.
    """
    sections, paths, language = [], [], reading_language(draft.text)
    for section, path in zip(draft.sections, draft.heading_paths or [()] * len(draft.sections), strict=True):
        begin = section.start or 0
        for start, end, is_text in _stretches(draft.text, begin, begin + len(section.text), results):
            stretch = draft.text[start:end]
            for inner in note_sections(stretch, language=language) if is_text else [Section("", stretch, start=0)]:
                above = (*path, section.heading) if inner.heading and section.heading else path
                heading = inner.heading or section.heading
                sections.append(Section(heading, inner.text, start=start + (inner.start or 0)))
                paths.append(tuple(above))
    return replace(draft, sections=sections, heading_paths=paths if any(paths) else ())


def _stretches(text: str, start: int, end: int, results: list[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """Return the parts of a section that are texts or results, as start, end and whether it is a text."""
    parts: list[tuple[int, int, bool]] = []
    at = start
    while at < end:
        number = bisect_left(results, (at, 0))
        first, last = results[number] if number < len(results) and results[number][0] < end else (end, end)
        for begin, stop, is_text in ((at, first, True), (first, last, False)):
            begin += len(text[begin:stop]) - len(text[begin:stop].lstrip())
            stop = begin + len(text[begin:stop].rstrip())
            if begin < stop:
                joined = parts.pop()[0] if parts and not (is_text or parts[-1][2]) else begin
                parts.append((joined, stop, is_text))
        at = max(last, at + 1)
    return parts


def _facts(message: Message) -> Facts:
    patient = message.field("PID", 3) or message.field("PID", 2)
    named = message.person(message.field("PID", 5), 1)
    author = message.person(message.field("TXA", 9), 2) or message.person(
        message.field("OBR", 32).replace(message.signs[3], message.signs[0]), 2
    )
    kind = message.part(message.field("TXA", 2), 2) or message.coded(message.field("OBR", 4))
    dates = (("OBR", 7), ("TXA", 4), ("OBX", 14), ("OBR", 22), ("MSH", 6))
    metadata = {
        "patient": message.part(patient, 1),
        "date": next(filter(None, (iso_date(message.part(message.field(*each), 1)) for each in dates)), ""),
        "type": kind,
        "status": message.part(message.field("OBR", 25) or message.field("TXA", 17), 1),
        "author": author,
    }
    return Facts(
        title=kind,
        source=message.part(message.field("MSH", 3), 1),
        names=[named, author],
        metadata={key: value for key, value in metadata.items() if value},
    )
