r"""Reader of HL7 v2: the reports in messages (ORU, MDM and others), one document per message.

Segments end with carriage returns; in files that people saved, with any line end. The OBX segments are the report:
texts line by line, and results as "Potassium: 6.9 mmol/L; reference range: 3.5-5.1". NTE segments are comments. Each
OBR begins a section, and so does each heading of a text. Allergies (AL1, IAM) and medicines (RXE, RXA, with the route
of RXR) are sections of lines with named fields: "Allergen: Penicillin; severity: severe". Enclosed files are read by
the reader of their type. Escape sequences are resolved (`\.br\` ends a line, `\T\` is an ampersand).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from auscult.documents import Section
from auscult.documents.note_headings import note_sections
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.decoding import decode_text, decoded
from auscult.readers.flow import Facts, Flow, draft_of, has_words
from auscult.readers.records.attachments import Attachment, read_attachment
from auscult.readers.tree import Piece, written

MEDIA_TYPE: Final = "application/hl7-v2"
_BEGIN: Final = re.compile(r"[\x0b\s]*+(?:MSH|[FB]HS)([^\w\s])[^\w\s]{3,5}\1")
_SEGMENT: Final = re.compile(r"[A-Z][A-Z0-9]{2}(?=[^\w\s]|\Z)")
_LINE: Final = re.compile(r"[^\r\n\x0b\x1c]+")
_CHARSETS: Final = {"8859/1": "cp1252", "8859/2": "iso8859-2", "8859/9": "iso8859-9", "8859/15": "iso8859-15"}
_SIGNS: Final = "^~\\&"
# A line that is no segment continues a field. The standard forbids line ends in fields, but files have them.
_REST: Final = "rest"
_WORDLIKE: Final = re.compile(r"[^\W\d_]{2}")
# Segments and fields for programs.
_NO_RESULTS: Final = ("HD", "EI")
# D: deleted, W: it was of another patient, X: there is none.
_TAKEN_BACK: Final = ("D", "W", "X")
# Headings of segments, and their fields by number. Codes that HL7 defines without a name: tables 0127, 0128 and 0322.
_ALLERGY: Final = {3: "Allergen", 2: "type", 4: "severity", 5: "reaction"}
_LISTED: Final[dict[str, tuple[str, dict[int, str]]]] = {
    "AL1": ("Allergies", {**_ALLERGY, 6: "identified"}),
    "IAM": ("Allergies", _ALLERGY),
    "RXE": ("Medicines ordered", {2: "Medicine", 3: "amount", 4: "at most", 5: "unit", 6: "form", 7: "instructions"}),
    "RXA": (
        "Medicines given",
        {5: "Medicine", 20: "status", 6: "amount", 7: "unit", 3: "date", 18: "refused because", 9: "notes"},
    ),
    "RXR": ("", {1: "Route", 2: "site"}),
}
_DATES: Final = ("identified", "date")
_MEANINGS: Final = {
    "type": {
        "DA": "drug", "FA": "food", "MA": "miscellaneous", "MC": "miscellaneous contraindication",
        "EA": "environmental", "AA": "animal", "PA": "plant", "LA": "pollen",
    },
    "severity": {"SV": "severe", "MO": "moderate", "MI": "mild", "U": "unknown"},
    "status": {"CP": "complete", "RE": "refused", "NA": "not administered", "PA": "partially administered"},
}  # fmt: skip
# The field of a segment that says whether it was deleted.
_ACTIONS: Final = {"IAM": 6, "RXA": 21}
_LINE_BREAKS: Final = (".br", ".sp", ".ce")
_KINDS: Final = {"rtf": "text/rtf", "html": "text/html", "plain": "text/plain", "xml": "text/xml"}
_MOST_TOLD: Final = 20


@dataclass(frozen=True, slots=True)
class _Message:
    r"""The segments of a message, each as a list of fields with offsets in the source. The first is its name.

    Attributes:
        signs: Separators of components and repetitions, escape character, separator of subcomponents; usually `^~\&`.
    """

    signs: str
    segments: list[list[Piece]]

    def field(self, segment: list[Piece] | str, number: int) -> str:
        """Return a field of a segment, or of the first segment with a name; "" if there is none."""
        if isinstance(segment, str):
            segment = next((each for each in self.segments if each[0].text == segment), [])
        return segment[number].text if number < len(segment) else ""

    def part(self, value: str, number: int) -> str:
        """Return a component of a field's first repetition as plain text. Components count from 1."""
        parts = value.partition(self.signs[1])[0].split(self.signs[0])
        return self.plain(parts[number - 1]) if number <= len(parts) else ""

    def plain(self, value: str) -> str:
        """Return a value on one line, its components separated by blanks."""
        said = "".join(piece.text if piece else " " for piece in self.pieces(Piece(value, 0, len(value))))
        return " ".join(said.replace(self.signs[0], " ").replace(self.signs[3], " ").split())

    def coded(self, value: str) -> str:
        """Return the words of a coded field; without words, its code if that has letters ("CREATININE")."""
        code = self.part(value, 1)
        return self.part(value, 2) or self.part(value, 5) or (code if _WORDLIKE.search(code) else "")

    def person(self, value: str, family: int) -> str:
        """Return the name of a person. `family`: number of the component with the family name."""
        value = self.signs[0].join(part.partition(self.signs[3])[0] for part in value.split(self.signs[0]))
        return " ".join(filter(None, (self.part(value, family + number) for number in (1, 2, 0))))

    def pieces(self, field: Piece) -> Iterator[Piece | None]:
        """Yield the pieces of a text with escape sequences resolved; None for the end of a line."""
        at = 0
        escape, repetition = re.escape(self.signs[2]), re.escape(self.signs[1])
        for match in re.finditer(rf"{escape}([^{escape}\r\n]{{0,200}}){escape}|{repetition}", field.text):
            yield Piece(field.text[at : match.start()], field.start + at, field.start + match.start())
            at = match.end()
            text = self._said(match[1])
            yield None if text is None else Piece(text, field.start + match.start(), field.start + at)
        yield Piece(field.text[at:], field.start + at, field.end)

    def _said(self, code: str | None) -> str | None:
        """Return the text of an escape sequence; None for the end of a line, which repetitions also have."""
        if code is None or code.lower().startswith(_LINE_BREAKS) or code in ("X0D", "X0A", "X0D0A"):
            return None
        if re.fullmatch(r"X(?:[0-9A-Fa-f]{2})+", code):
            return decoded(bytes.fromhex(code[1:]))[0]
        return {"F": "|", **dict(zip("SRET", self.signs, strict=False))}.get(code, "")


class Hl7Reader:
    """Reads HL7 v2 messages."""

    name = "HL7 v2"
    suffixes = (".hl7",)

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins with the header of a message or batch."""
        return _BEGIN.match(file.head.decode("latin-1")) is not None

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield one document per message. If there are several, their keys are the control numbers.

        Remarks of the first document name everything that was not read.

        Raises:
            UnreadableError: No message has a report.
        """
        drafts: list[tuple[str, DraftDocument]] = []
        problem: UnreadableError | None = None
        messages = silent = 0
        text, encoding, of_decoding = decode_text(file.content, _charset(file.head))
        remarks = [*of_decoding]
        for messages, message in enumerate(_messages(text), start=1):
            key = message.plain(message.field("MSH", 9)) or str(messages)
            documents, problems = _read(message, encoding, file.name)
            remarks += [f"message {messages}: {reason}" for reason in problems]
            problem = problem or next((reason for reason in problems if isinstance(reason, UnreadableError)), None)
            silent += not (documents or problems)
            drafts += [
                (key if number == 1 else f"{key}/{number}", draft) for number, draft in enumerate(documents, start=1)
            ]
        if not drafts:
            raise problem or UnreadableError("no text", "messages with reports", "none", "leave it out")
        if len(remarks) > _MOST_TOLD:
            remarks[_MOST_TOLD:] = [f"{len(remarks) - _MOST_TOLD:,} more"]
        remarks += [f"messages without a report: {silent:,} of {messages:,}"] if silent else []
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


def _messages(text: str) -> Iterator[_Message]:
    message: _Message | None = None
    separator = "|"
    for line in _LINE.finditer(text):
        begin = _BEGIN.match(line[0])
        if begin and "MSH" in begin[0]:
            if message:
                yield message
            separator, signs = begin[1], begin[0].partition(begin[1])[2][:-1]
            message = _Message(signs[:4] + _SIGNS[len(signs) :], [])
        elif message is None or begin:
            continue
        at, fields = line.start(), []
        for field in line[0].split(separator):
            fields.append(Piece(field, at, at + len(field)))
            at += len(field) + 1
        is_segment = begin or (_SEGMENT.match(line[0]) and line[0][3:4] in ("", separator))
        message.segments.append(fields if is_segment else [written(_REST), fields[0]])
    if message:
        yield message


def _read(message: _Message, encoding: str, name: str) -> tuple[list[DraftDocument], list[UnreadableError | str]]:
    """Return the drafts of a message (its report and enclosed files), and errors or remarks on what was not read."""
    facts = _facts(message)
    report = _Report(message, facts.title)
    for segment in message.segments:
        report.add(segment)
    drafts: list[DraftDocument] = []
    problems: list[UnreadableError | str] = [*report.taken_back]
    if has_words(report.flow.text):
        draft = draft_of(report.flow, facts, media_type=MEDIA_TYPE, encoding=encoding)
        drafts.append(_by_headings(replace(draft, title=facts.title), report.results))
    for attachment in report.attached:
        try:
            drafts += read_attachment(attachment, facts, name)
        except UnreadableError as problem:
            problems.append(problem)
    return drafts, problems


class _Report:
    """Builds the report of a message from its segments.

    Args:
        message: The message.
        title: Title of the report, which is no heading in it.

    Attributes:
        flow: The text.
        results: Ends of the lines of results and entries of lists.
        attached: The enclosed files.
        taken_back: Remarks on results and entries that the sender took back.
    """

    def __init__(self, message: _Message, title: str) -> None:
        self.flow = Flow()
        self.results: list[int] = []
        self.attached: list[Attachment] = []
        self.taken_back: list[str] = []
        self._message, self._title = message, title
        # The headings that the next lines are below: of an OBR, of a text, and of a list.
        self._about = self._named = self._listed = ""
        # Whether the segment before can go on in a line that is no segment.
        self._goes_on = False

    def add(self, segment: list[Piece]) -> None:
        """Add a segment."""
        kind = segment[0].text
        is_observation = kind == "OBX" and len(segment) > 5
        if kind == "OBR":
            about = self._message.coded(self._message.field(segment, 4))
            _heading(self.flow, about if about != self._title or self.flow.length else "", 2)
            self._about, self._named, self._listed = about, "", ""
        elif kind in _LISTED:
            self._add_entry(kind, segment)
        elif kind == "NTE" and len(segment) > 3:
            _lines(self.flow, self._message, segment[3])
        elif kind == _REST and self._goes_on:
            _lines(self.flow, self._message, segment[1])
        elif is_observation:
            self._add_observation(segment)
        self._goes_on = kind in ("NTE", _REST) or (is_observation and segment[5].text != "")

    def _add_entry(self, kind: str, segment: list[Piece]) -> None:
        """Add an allergy or medicine as a line."""
        if self._message.part(self._message.field(segment, _ACTIONS.get(kind, 0)), 1) == "D":
            self.taken_back.append("an entry that was taken back was left out")
            return
        heading, fields = _LISTED[kind]
        if line := _listed(self._message, segment, fields):
            _heading(self.flow, heading if heading != self._listed else "", 2)
            self.flow.line()
            for piece in line:
                self.flow.verbatim(piece)
            self.results.append(self.flow.length - 1)
            self._listed = heading or self._listed

    def _add_observation(self, segment: list[Piece]) -> None:
        """Add a text, a result or an enclosed file."""
        message = self._message
        form, value, name = segment[2].text.strip(), segment[5], message.coded(segment[3].text)
        if message.field(segment, 11).strip() in _TAKEN_BACK:
            self.taken_back.append("a result that was taken back was left out")
        elif form in ("ED", "RP"):
            parts = value.text.split(message.signs[0])
            data = message.plain(parts[4]) if form == "ED" and len(parts) > 4 else ""
            url = value.text if form == "RP" else ""
            self.attached.append(Attachment(media_type=_media_type(parts), data=data, url=url))
        elif form in ("TX", "FT"):
            _heading(self.flow, name if name not in (self._named, self._about, self._title) else "", 3)
            _lines(self.flow, message, value)
            self._named = name
        elif form not in _NO_RESULTS:
            _result(self.flow, message, segment, name)
            self.results.append(self.flow.length - 1)


def _heading(flow: Flow, title: str, level: int) -> None:
    if title:
        flow.begin_heading(level)
        flow.add(written(title))
        flow.end_heading()


def _lines(flow: Flow, message: _Message, field: Piece) -> None:
    """Add the lines of a text. An empty line ends a paragraph."""
    flow.line() if field.text.strip() else flow.block()
    for piece in message.pieces(field):
        if piece is None:
            flow.broken()
        else:
            flow.verbatim(piece)


def _result(flow: Flow, message: _Message, segment: list[Piece], called: str) -> None:
    """Add a result as a line: "Potassium: 6.9 mmol/L; reference range: 3.5-5.1; H"."""
    form, field = segment[2].text.strip(), segment[5]
    if form in ("CE", "CWE", "CNE", "CF"):
        value = message.coded(field.text) or message.part(field.text, 1)
    else:
        # A structured number has components: ">^200".
        value = message.plain(field.text.replace(message.signs[0], "") if form == "SN" else field.text)
    if not has_words(value):
        return
    unit, reference, flag = (message.field(segment, number) for number in (6, 7, 8))
    unit = message.part(unit, 1)
    rest = [f" {unit}" if unit else "", f"; reference range: {message.plain(reference)}" if reference else ""]
    rest.append(f"; {message.plain(flag)}" if flag not in ("", "N") else "")
    flow.line()
    for piece in (written(f"{called}: " if called else ""), _placed(field, value), written("".join(rest))):
        if piece.text:
            flow.verbatim(piece)


def _placed(field: Piece, value: str) -> Piece:
    """Return a value with its offsets in the source if the field contains it unchanged."""
    at = field.text.find(value)
    return Piece(value, field.start + at, field.start + at + len(value)) if at >= 0 else written(value)


def _listed(message: _Message, segment: list[Piece], fields: dict[int, str]) -> list[Piece]:
    """Return the fields of an entry with their names: "Medicine: Amoxicillin; amount: 500; unit: mg"."""
    line: list[Piece] = []
    for number, name in fields.items():
        field = segment[number] if number < len(segment) else Piece("", 0, 0)
        values = []
        for each in field.text.split(message.signs[1]):
            code = message.part(each, 1)
            said = message.coded(each) or code
            values.append(iso_date(said) if name in _DATES else _MEANINGS.get(name, {}).get(said, said))
        value = ", ".join(filter(None, values))
        # In HL7, two quotation marks are an empty value, and 999 is an unknown amount.
        if value not in ("", '""') and not (name == "amount" and value == "999"):
            line += [written(f"; {name}: " if line else f"{name}: "), _placed(field, value)]
    return line


def _media_type(parts: list[str]) -> str:
    """Return the media type of an enclosed file, from "^application^pdf" or the common "^AP^PDF" or "^TEXT^RTF"."""
    kind, subtype = ([each.strip().lower() for each in parts[1:3]] + ["", ""])[:2]
    return _KINDS.get(subtype, f"{'application' if kind == 'ap' else kind}/{subtype}" if kind and subtype else "")


def _by_headings(draft: DraftDocument, results: list[int]) -> DraftDocument:
    """Divide the sections of a draft at the headings in its texts.

    Args:
        draft: The draft.
        results: Ends of results, whose names are no headings.
    """
    sections, paths = [], []
    for section, path in zip(draft.sections, draft.heading_paths or [()] * len(draft.sections), strict=True):
        begin = section.start or 0
        end = next((at - begin for at in results if begin <= at < begin + len(section.text)), None)
        cut = len(section.text) if end is None else section.text.rfind("\n", 0, end) + 1
        for inner in note_sections(section.text[:cut]):
            above = (*path, section.heading) if inner.heading and section.heading else path
            sections.append(Section(inner.heading or section.heading, inner.text, start=begin + (inner.start or 0)))
            paths.append(tuple(above))
        if rest := section.text[cut:].lstrip():
            sections.append(Section(section.heading, rest, start=begin + len(section.text) - len(rest)))
            paths.append(tuple(path))
    return replace(draft, sections=sections, heading_paths=paths if any(paths) else ())


def _facts(message: _Message) -> Facts:
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
