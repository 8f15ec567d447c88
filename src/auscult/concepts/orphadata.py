"""Read names of rare diseases from Orphadata's "Rare diseases and alignment", one file a language (`de_product1.xml`).

Used are `JDBOR/Availability/Licence`, and of each `JDBOR/DisorderList/Disorder` its `OrphaCode`, `Name`,
`SynonymList/Synonym` and those of its `ExternalReferenceList/ExternalReference` that are exact (`E`). A file is read in
pieces and never as a tree; a file with a document type is refused, as it could declare entities.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NoReturn
from xml.parsers import expat

from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.languages import ForeignName, language_code
from auscult.errors import DataError
from auscult.files.limits import TooLargeError, limits
from auscult.files.reading import open_as_named, unreadable

_PIECE: Final = 1 << 16
_LICENCE: Final = ("JDBOR", "Availability", "Licence")
_DISORDER: Final = ("JDBOR", "DisorderList", "Disorder")
_CODE: Final = (*_DISORDER, "OrphaCode")
_NAME: Final = (*_DISORDER, "Name")
_SYNONYM: Final = (*_DISORDER, "SynonymList", "Synonym")
_REFERENCE: Final = (*_DISORDER, "ExternalReferenceList", "ExternalReference")
_RELATION: Final = (*_REFERENCE, "DisorderMappingRelation")
_READ: Final = frozenset(
    {
        (*_LICENCE, "FullName"), (*_LICENCE, "ShortIdentifier"), _CODE, _NAME, _SYNONYM, (*_REFERENCE, "Source"),
        (*_REFERENCE, "Reference"), (*_RELATION, "Name"),
    }
)  # fmt: skip
_EXACT: Final = "21527"
"""Orphadata's number of the relation "E (Exact mapping: the two concepts are equivalent)"."""
_EQUIVALENT: Final = ("MONDO", "OMIM", "GARD", "MESH", "UMLS", "ICD11", "ICD10")
"""Vocabularies whose identifiers stand for the disease, the most exact first. MedDRA's licence restricts copies."""


def read_orphadata(path: Path) -> tuple[str, list[ForeignName]]:
    """Read a file.

    Args:
        path: `.xml` or `.xml.gz`.

    Returns:
        The licence that it states, or an empty text; its names, each disorder's own name first.

    Raises:
        TooLargeError: It is larger than the limits allow.
        DataError: It cannot be read, is not well-formed, has a document type, or is no such file.
    """
    handler = _Disorders(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = handler.begin, handler.end
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = handler.refuse
    try:
        with open_as_named(path) as stream:
            size = 0
            while piece := stream.read(_PIECE):
                size += len(piece)
                if size > limits().file:
                    raise TooLargeError("file", "a file of", "bytes, unpacked", str(path))
                parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        got = f"{expat.ErrorString(error.code)} in line {error.lineno}"
        raise DataError(f"well-formed XML in {path}", got, "download it again") from error
    except (LookupError, EOFError) as error:
        raise DataError(f"well-formed XML in {path}", str(error), "download it again") from error
    except OSError as error:
        raise unreadable(path, error) from error
    if not handler.is_product:
        raise DataError(f"Orphadata's list of disorders (JDBOR/DisorderList) in {path}", "other XML", "check the file")
    return handler.licence, handler.names


class _Disorders:
    """Collects the names of disorders from the events of a file."""

    def __init__(self, path: Path) -> None:
        self.names: list[ForeignName] = []
        self.licence = ""
        self.is_product = False
        self._path = path
        self._open: tuple[str, ...] = ()
        self._pieces: list[str] = []
        self._language = self._relation = ""
        self._begin_disorder()

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._open = (*self._open, name)
        self._pieces = []
        if self._open == _DISORDER:
            self.is_product = True
            self._begin_disorder()
        elif self._open in (_NAME, _SYNONYM):
            self._language = attributes.get("lang", "")
        elif self._open == _REFERENCE:
            self._source = self._reference = self._relation = ""
        elif self._open == _RELATION:
            self._relation = attributes.get("id", "")

    def text(self, text: str) -> None:
        self._pieces.append(text)

    def end(self, _: str) -> None:
        if self._open in _READ:
            self._take(" ".join("".join(self._pieces).split()))
        elif self._open == _REFERENCE:
            is_exact = self._relation == _EXACT
            if is_exact and (identifier := normalise_identifier(f"{self._source}:{self._reference}")):
                self._references.append(identifier)
        elif self._open == _DISORDER:
            self._end_disorder()
        self._open = self._open[:-1]
        self._pieces = []

    def refuse(self, *_: object) -> NoReturn:
        raise DataError(f"XML without a document type in {self._path}", "one with", "download it again")

    def _take(self, text: str) -> None:
        field = self._open[-1]
        if self._open[:-1] == _LICENCE:
            # "Creative Commons Attribution 4.0 International", then "CC-BY-4.0".
            self.licence = f"{self.licence} ({text})" if self.licence else text
        elif self._open == _CODE:
            self._code = text
        elif self._open in (_NAME, _SYNONYM):
            self._found.append((text, self._language))
        elif self._open[:-1] == _RELATION:
            # Files of other releases may number relations otherwise; the letter is the same in all languages.
            self._relation = _EXACT if text.startswith("E (") else self._relation
        elif field == "Source":
            self._source = text
        else:
            self._reference = text

    def _begin_disorder(self) -> None:
        self._code = self._source = self._reference = ""
        self._found: list[tuple[str, str]] = []
        self._references: list[str] = []

    def _end_disorder(self) -> None:
        own = normalise_identifier(f"ORPHANET:{self._code}")
        if own is None:
            raise DataError(f"a disorder with its OrphaCode in {self._path}", repr(self._code), "download it again")
        ranked = [each for prefix in _EQUIVALENT for each in self._references if each.startswith(f"{prefix}:")]
        identifiers = (own, *ranked)
        self.names += [
            ForeignName(name, language_code(language), identifiers) for name, language in self._found if name
        ]
