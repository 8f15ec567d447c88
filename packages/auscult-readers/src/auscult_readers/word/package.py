"""Parts of a Word file (.docx): a zip archive of XML that is checked before anything in it is parsed.

Only parts with text are unpacked, each within limits. Pictures and external targets of relationships are never opened.
A part with a document type (DTD) is refused: no Word file has one, and it could define entities that expand or refer to
other files. The parser does not resolve entities either.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from auscult.readers.contract import UnreadableError

_MOST_MEMBERS: Final = 10_000
_LARGEST_PART: Final = 128 << 20
_HIGHEST_RATIO: Final = 250
_SMALL: Final = 4 << 20
"""A smaller part is no zip bomb, whatever its compression ratio is."""
_OFFICE_DOCUMENT: Final = "/officeDocument"
_AROUND: Final = {"header": "headers and footers", "footer": "headers and footers", "comments": "comments"}
_INSIDE: Final = frozenset({"aFChunk", "chart", "chartEx", "diagramData", "package", "oleObject"})
_KINDS: Final = ("styles", "numbering", "footnotes", "endnotes")
# "Strict" Word files name the same elements by other addresses.
_STRICT: Final = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
)  # fmt: skip
_DOCTYPE: Final = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_REMEDY: Final = "open it in Word or LibreOffice and save it as .docx"


class InsidePart(NamedTuple):
    """A part that the text shows at some place.

    Attributes:
        kind: End of its relationship's kind ("aFChunk", "chart", "diagramData", "package", "oleObject").
        name: Name of the part.
        read: Unpacks it within limits.
    """

    kind: str
    name: str
    read: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class WordParts:
    """The XML of a Word file: roots of lxml, None for parts that the file does not have.

    Attributes:
        document: The main text.
        properties: Title, author and dates.
        pictures: Number of pictures in the file.
        around: Number of words in headers and footers, and in comments.
        inside: Parts that the text shows at some place: files of other formats, charts, diagrams; by id.
    """

    document: Any
    styles: Any
    numbering: Any
    footnotes: Any
    endnotes: Any
    properties: Any
    pictures: int
    around: dict[str, int]
    inside: dict[str, InsidePart]


def is_word_package(content: bytes) -> bool:
    """Whether bytes are a zip archive that contains the text of a Word document."""
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        return False
    return "[Content_Types].xml" in names and any(name.startswith("word/") and name.endswith(".xml") for name in names)


def word_parts(content: bytes) -> WordParts:
    """Return the parts of a Word file.

    Args:
        content: Bytes of the file.

    Raises:
        UnreadableError: The file is broken, is no Word file, or is malicious.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _parts(archive, content)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, KeyError, zlib.error) as error:
        raise broken(f"what cannot be unpacked ({type(error).__name__})") from error


def broken(got: str) -> UnreadableError:
    """Return the error for a broken Word file."""
    return UnreadableError("broken Word file", "a whole Word file (.docx)", got, _REMEDY)


def local(element: Any) -> str:
    """Return an element's name without its namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Any, name: str) -> Iterator[Any]:
    """Yield the children with a name."""
    return (each for each in element if local(each) == name)


def child(element: Any, *path: str) -> Any:
    """Return the first element at a path of names; None if there is none."""
    for name in path:
        if element is None:
            return None
        element = next(children(element, name), None)
    return element


def value(element: Any, name: str = "val") -> str:
    """Return an attribute of any namespace; "" if there is none."""
    if element is None:
        return ""
    return next((str(held) for key, held in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _parts(archive: zipfile.ZipFile, content: bytes) -> WordParts:
    members = {member.filename: member for member in archive.infolist()}
    if len(archive.infolist()) > _MOST_MEMBERS:
        raise UnreadableError(
            "zip bomb", "a Word file of some dozen parts", f"{len(members):,} of them", "leave it out"
        )
    main, properties = "", ""
    for _, kind, target in _relations(archive, members, ""):
        if kind.endswith(_OFFICE_DOCUMENT):
            main = target
        elif kind.endswith("/core-properties"):
            properties = target
    main = main or "word/document.xml"
    if main not in members:
        raise broken("an archive without a document's text")
    # By the end of the relationship's name; the first of a kind counts.
    targets: dict[str, str] = {}
    around = dict.fromkeys(_AROUND.values(), 0)
    inside: dict[str, InsidePart] = {}
    for name, kind, target in _relations(archive, members, main):
        targets.setdefault(kind.rpartition("/")[2], target)
        if (named := _AROUND.get(kind.rpartition("/")[2])) is not None:
            around[named] += _count_words(archive, members, target)
        if kind.rpartition("/")[2] in _INSIDE and target in members:
            inside[name] = InsidePart(kind.rpartition("/")[2], target, partial(_unpacked, content, members[target]))
    others = {kind: _part(archive, members, targets.get(kind, "")) for kind in _KINDS}
    document = _part(archive, members, main)
    if document is None or local(document) != "document":
        raise broken("an archive whose main part is no Word document")
    told = _part(archive, members, properties)
    pictures = sum("/media/" in name for name in members)
    return WordParts(document=document, properties=told, pictures=pictures, around=around, inside=inside, **others)


def _relations(archive: zipfile.ZipFile, members: dict[str, Any], part: str) -> Iterator[tuple[str, str, str]]:
    """Yield id, kind and target of a part's relationships to other parts; external targets are skipped."""
    folder, name = posixpath.split(part)
    root = _part(archive, members, posixpath.join(folder, "_rels", f"{name}.rels"))
    for relation in root if root is not None else ():
        if value(relation, "TargetMode") != "External" and local(relation) == "Relationship":
            target = value(relation, "Target")
            placed = target if target.startswith("/") else posixpath.join(folder, target)
            yield value(relation, "Id"), value(relation, "Type"), posixpath.normpath(placed).lstrip("/")


def _part(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str) -> Any:
    """Return the root of a part; None if the file does not have the part."""
    member = members.get(name)
    if member is None:
        return None
    content = _bytes(archive, member)
    # Without zeros, the search also works for UTF-16.
    if _DOCTYPE.search(content) or (content[:4].count(0) and _DOCTYPE.search(content.replace(b"\0", b""))):
        remedy = "open it in Word or LibreOffice and save a new copy"
        raise UnreadableError("declared entities", "a Word file without a document type", "one with", remedy)
    for strict, usual in _STRICT:
        content = content.replace(strict, usual)
    return _parsed(content)


def _count_words(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str) -> int:
    """Return the number of words in a part that is not read; 0 if it is broken, since the text is still useful."""
    try:
        root = _part(archive, members, name)
    except UnreadableError:
        return 0
    return sum(len((each.text or "").split()) for each in root.iter() if local(each) == "t") if root is not None else 0


def _unpacked(content: bytes, member: zipfile.ZipInfo) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _bytes(archive, member)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, KeyError, zlib.error) as error:
        raise broken(f"what cannot be unpacked ({type(error).__name__})") from error


def _bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack a part within limits."""
    if member.file_size > _LARGEST_PART or (
        member.file_size > _SMALL and member.file_size > _HIGHEST_RATIO * max(member.compress_size, 1)
    ):
        got = f"a part of {member.file_size:,} bytes in {member.compress_size:,}"
        raise UnreadableError("zip bomb", "a Word file with parts of usual size", got, "leave it out, or save it again")
    if member.flag_bits & 0x1:
        raise UnreadableError("encrypted Word file", "a Word file without a password", "an encrypted one", _REMEDY)
    return archive.read(member)


def _parsed(content: bytes) -> Any:
    from docx.oxml import parse_xml

    try:
        return parse_xml(content)
    except (SyntaxError, ValueError, LookupError) as error:  # lxml's errors of XML are SyntaxErrors.
        raise broken("a part that is no XML") from error
