"""A folder of more than forty kinds of file, each with a sentence of its own, and of a dozen that are not read.

PYTHONPATH=tests python tests/forty_kinds.py FOLDER
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import docx

from good_files import CDA, FHIR, HTML, JATS, MARKDOWN, NDJSON, NOTE, XML, scanned_pdf, zipped
from small_office_files import (
    GOUT,
    ROWS,
    RTF,
    book,
    compound,
    mail,
    old_workbook,
    open_sheet,
    open_slides,
    open_text,
    outlook,
    slides,
    web_archive,
    workbook,
)
from small_pdfs import Drawn, grey_png
from small_word_files import saved

Maker = Callable[[str], bytes]


def _of(template: str, encoding: str = "utf-8") -> Maker:
    return lambda sentence: template.replace(GOUT, sentence).encode(encoding)


def _pdf(sentence: str) -> bytes:
    drawn = Drawn()
    drawn.line(60, 90, "Gout", ("Helvetica-Bold", 18))
    drawn.paragraph(60, 130, 470, sentence)
    return drawn.content()


def _word(sentence: str) -> bytes:
    made = docx.Document()
    made.add_heading("Gout", 0)
    made.add_paragraph(sentence)
    return saved(made)


def _attached(media_type: str, content: bytes) -> bytes:
    held = {"contentType": media_type, "data": base64.b64encode(content).decode()}
    return json.dumps(
        {"resourceType": "DocumentReference", "id": "d1", "status": "current", "content": [{"attachment": held}]}
    ).encode()


def _rtf(sentence: str) -> bytes:
    return RTF.replace(GOUT.encode(), sentence.encode())


def _row(sentence: str) -> list[tuple[str, ...]]:
    return [*ROWS, ("Rest", sentence)]


_FLAT = (
    '<?xml version="1.0"?><office:document xmlns:office="o" xmlns:text="t" '
    'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
    f"<text:h text:outline-level='1'>Gout</text:h><text:p>{GOUT}</text:p></office:text></office:body></office:document>"
)
_XHTML = f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>{GOUT}</p></body></html>'
_JSON = json.dumps([{"id": "1", "title": "Gout", "text": GOUT}])

KINDS: dict[str, Maker] = {
    "note.txt": _of(NOTE),
    "note-utf16.txt": _of(NOTE, "utf-16"),
    "note-windows.txt": _of(f"Ménière. {GOUT}", "cp1252"),
    "note-without-ending": _of(NOTE),
    "leaflet.md": _of(MARKDOWN),
    "plain.markdown": _of(f"# Gout\n\n{GOUT}\n"),
    "page.html": _of(HTML),
    "part.htm": _of(f"<h1>Gout</h1><p>{GOUT}"),
    "page.xhtml": _of(_XHTML),
    "medquad.xml": _of(XML),
    "article.nxml": _of(JATS),
    "letter.xml": _of(CDA),
    "other.xml": _of(f'<?xml version="1.0"?><leaflet><title>Gout</title><text>{GOUT}</text></leaflet>'),
    "bundle.json": _of(FHIR.replace("Uric acid is high.", GOUT)),
    "resources.ndjson": _of(NDJSON),
    "attached-note.json": lambda sentence: _attached("text/plain", sentence.encode()),
    "attached-rtf.json": lambda sentence: _attached("application/rtf", _rtf(sentence)),
    "attached-pdf.json": lambda sentence: _attached("application/pdf", _pdf(sentence)),
    "table.csv": _of(f'id,title,text\n1,Gout,"{GOUT}"\n'),
    "table.tsv": _of(f"id\ttitle\ttext\n1\tGout\t{GOUT}\n"),
    "semicolons.csv": _of(f"id;title;text\n1;Gout;{GOUT}\n"),
    "rows.jsonl": _of(json.dumps({"id": "1", "title": "Gout", "text": GOUT}) + "\n"),
    "rows.json": _of(_JSON),
    "leaflet.pdf": _pdf,
    "leaflet.docx": _word,
    "template.dotx": _word,
    "letter.rtf": _rtf,
    "lecture.pptx": slides,
    "values.xlsx": lambda sentence: workbook(_row(sentence)),
    "values.xls": lambda sentence: old_workbook(_row(sentence)),
    "values.ods": lambda sentence: open_sheet(_row(sentence)),
    "leaflet.odt": open_text,
    "flat.fodt": _of(_FLAT),
    "lecture.odp": open_slides,
    "joints.epub": book,
    "page.eml": lambda sentence: mail(text=sentence),
    "plain.eml": lambda sentence: mail(text=sentence, page=False),
    "with-attachment.eml": lambda sentence: mail(("leaflet.docx", _word(sentence)), text="See what is attached."),
    "with-archive.eml": lambda sentence: mail(("all.zip", zipped({"a.rtf": _rtf(sentence)})), text="See the archive."),
    "saved.mhtml": web_archive,
    "letter.msg": lambda sentence: outlook(text=sentence),
    "notes.zip": lambda sentence: zipped({"a/note.txt": sentence.encode()}),
    "outer.zip": lambda sentence: zipped({"inner.zip": zipped({"page.html": _of(HTML)(sentence)})}),
    "packed-note.txt.gz": lambda sentence: gzip.compress(sentence.encode(), mtime=0),
    "packed-page.html.gz": lambda sentence: gzip.compress(_of(HTML)(sentence), mtime=0),
}
"""How a file of each kind is made, by its name."""

BAD: dict[str, tuple[bytes, str]] = {
    "scan.png": (grey_png(), "image"),
    "scan.pdf": (scanned_pdf(), "scanned PDF"),
    "broken.pdf": (b"%PDF-1.7\n" + bytes(100), "broken PDF"),
    "broken.docx": (_word("x")[:900], "broken Word file"),
    "old.doc": (compound({"WordDocument": b"x" * 5000}), "old Word file"),
    "old.ppt": (compound({"PowerPoint Document": b"x" * 5000}), "presentation"),
    "locked.docx": (compound({"EncryptedPackage": b"x" * 5000}), "encrypted Office file"),
    "empty.txt": (b"  \n", "empty file"),
    "data.sqlite": (b"SQLite format 3\0" + bytes(100), "database"),
    "voice.wav": (b"RIFF\0\0\0\0WAVEfmt ", "sound or film"),
    "all.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(40), "packed file"),
    "bomb.zip": (zipped({"zeros.txt": bytes(20_000_000)}), "zip bomb"),
    "leads-out.zip": (zipped({"../outside.txt": b"x"}), "path traversal"),
}
"""Files that are not read, by their names, with the kind that the report names."""


def word_of(name: str) -> str:
    """A word that stands in one file alone."""
    return "zu" + "".join(letter for letter in name.lower() if letter.isalpha()) + "qa"


def sentence_of(name: str) -> str:
    """What a file says."""
    return f"The {word_of(name)} sign tells gout from other swellings."


def write(folder: Path) -> None:
    """Write all of them into a folder."""
    folder.mkdir(parents=True)
    for name, make in KINDS.items():
        (folder / name).write_bytes(make(sentence_of(name)))
    for name, (content, _) in BAD.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
