"""Read names of concepts in other languages than English from files; the kind is recognised by name and columns.

- Babelon tables of the Human Phenotype Ontology's translations: `subject_id`, `predicate_id`, `source_value`,
  `translation_language`, `translation_value`, `translation_status`, in any order, with others.
- Their tables of synonyms: `subject_id`, `translation_value`, several values separated by `|`. The language is that of
  the file's name (`hp-fr.synonyms.tsv`).
- Translations of the Disease Ontology: `source_id`, `predicate`, `source_text`, `translation_text`,
  `translation_lang`, `status`.
- Prepared tables: `id`, `lang`, `english`, `name`, `kind`, `status`, `source`.
- Lists of names by English name: `english` and the codes of languages, several names separated by `|`.
- Orphadata's `XX_product1.xml` (`orphadata`).

Tables are UTF-8, separated by tabs, plain or gzip-compressed; their first line names the columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.languages import ForeignName, language_code
from auscult.concepts.orphadata import read_orphadata
from auscult.concepts.reading import existing, read_rows
from auscult.documents.language_names import ENGLISH, NAMES
from auscult.errors import DataError

BABELON: Final = ("subject_id", "predicate_id", "translation_language", "translation_value")
SYNONYMS: Final = ("subject_id", "translation_value")
DISEASE_ONTOLOGY: Final = ("source_id", "predicate", "source_text", "translation_text", "translation_lang")
PREPARED: Final = ("id", "lang", "english", "name")
_ENGLISH_NAME: Final = "english"
_LABEL: Final = "rdfs:label"
_SYNONYM: Final = re.compile(r"oboInOwl:has(?:Exact|Narrow|Related)Synonym")
_UNTRANSLATED: Final = frozenset({"NOT_TRANSLATED", "UNTRANSLATED"})
_IN_FILE_NAME: Final = re.compile(r"-([a-z]{2,3})[.-](?:new-)?synonyms")
_FRENCH: Final = "fr"
_LICENCES: Final = MappingProxyType(
    {
        "HP": (
            "Human Phenotype Ontology",
            "licence of the Human Phenotype Ontology (https://hpo.jax.org/license), which forbids altered copies",
        ),
        "DOID": ("Disease Ontology", "CC0 1.0"),
        "BDPM": ("French public medicines database", "French open licence; no formal text beside the copy"),
    }
)
"""Title and licence by the prefix of a table's identifiers; tables do not say their licence themselves."""

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NameFile:
    """A file of names.

    Attributes:
        title: What it is.
        licence: Licence of the names; empty if it is not known.
        names: The names, preferred names before synonyms.
    """

    title: str
    licence: str
    names: tuple[ForeignName, ...]


def read_names(path: Path | str) -> NameFile:
    """Read a file of names.

    Raises:
        DataError: The file is absent, malformed, of an unknown kind, or has no name in another language than English.
    """
    path = existing(Path(path))
    if path.name.removesuffix(".gz").endswith(".xml"):
        licence, listed = read_orphadata(path)
        title = "Orphadata"
    else:
        prefix, listed = _read_table(path)
        title, licence = _LICENCES.get(prefix, (path.name, ""))
    names = tuple(name for name in listed if name.language != ENGLISH)
    if not names:
        raise DataError(f"names in another language than English in {path}", "none", "give a translation")
    return NameFile(title, licence, names)


def _read_table(path: Path) -> tuple[str, list[ForeignName]]:
    """Return the prefix of a table's identifiers, and its names."""
    rows = read_rows(path, None)
    _, columns = next(rows, (1, []))
    build = _kind_of(columns, path)
    found: list[tuple[bool, ForeignName]] = []
    prefix = ""
    for number, cells in rows:
        row = dict(zip(columns, map(_unquoted, cells), strict=False))
        try:
            found += build(row)
        except (DataError, KeyError) as error:
            remedy = "correct or remove that line"
            raise DataError(
                f"a name with its language at {path}:{number}", repr("|".join(cells)[:80]), remedy
            ) from error
        prefix = prefix or row.get("source", "") or _id_of(row).partition(":")[0]
    # Preferred names first; otherwise in the order of the file.
    return prefix, [name for _, name in sorted(found, key=lambda each: not each[0])]


def _id_of(row: Row) -> str:
    text = row.get("subject_id") or row.get("source_id") or row.get("id") or ""
    return text if normalise_identifier(text) else ""


def _kind_of(columns: list[str], path: Path) -> Callable[[Row], Iterator[tuple[bool, ForeignName]]]:
    """Return the function that yields (whether it is preferred, name) of a row."""
    named = frozenset(columns)
    if named.issuperset(BABELON):
        return _of_babelon
    if named.issuperset(SYNONYMS):
        language = _IN_FILE_NAME.search(path.name)
        if language is None:
            remedy = "name it like hp-fr.synonyms.tsv"
            raise DataError("the language of synonyms in the name of the file", path.name, remedy)
        return lambda row: _of_synonyms(row, language[1])
    if named.issuperset(DISEASE_ONTOLOGY):
        return _of_disease_ontology
    if named.issuperset(PREPARED):
        return _of_prepared
    if columns[:1] == [_ENGLISH_NAME] and len(columns) > 1 and NAMES.keys() >= set(columns[1:]):
        return _of_list
    kinds = " or ".join(f"'{' '.join(kind)}'" for kind in (BABELON, SYNONYMS, DISEASE_ONTOLOGY, PREPARED))
    got = f"columns '{' '.join(columns)}' in {path.name}" if columns else f"an empty file {path.name}"
    raise DataError(f"an .xml file of Orphadata or a .tsv table with columns {kinds}", got, "convert the names")


def _of_babelon(row: Row) -> Iterator[tuple[bool, ForeignName]]:
    name = row["translation_value"]
    if row.get("translation_status", "").upper() in _UNTRANSLATED or not name:
        return
    is_label = row["predicate_id"] == _LABEL
    if is_label or _SYNONYM.fullmatch(row["predicate_id"]):
        language = language_code(row["translation_language"])
        yield is_label, ForeignName(name, language, _identifiers(row["subject_id"]), row.get("source_value", ""))


def _of_synonyms(row: Row, language: str) -> Iterator[tuple[bool, ForeignName]]:
    # A template of ROBOT has a second line of column names: "ID", "AL oboInOwl:hasExactSynonym@fr".
    if row["subject_id"] == "ID":
        return
    for name in row["translation_value"].split("|"):
        if name.strip():
            yield False, ForeignName(name.strip(), language_code(language), _identifiers(row["subject_id"]))


def _of_disease_ontology(row: Row) -> Iterator[tuple[bool, ForeignName]]:
    is_label = row["predicate"] == _LABEL
    if row["translation_text"] and (is_label or _SYNONYM.fullmatch(row["predicate"])):
        language = language_code(row["translation_lang"])
        yield (
            is_label,
            ForeignName(row["translation_text"], language, _identifiers(row["source_id"]), row["source_text"]),
        )


def _of_prepared(row: Row) -> Iterator[tuple[bool, ForeignName]]:
    is_label, language = row.get("kind") in ("label", "substance"), language_code(row["lang"])
    identifier = normalise_identifier(row["id"])
    name = row["name"] if identifier else row["name"].lower()
    if identifier or row["english"]:
        yield is_label, ForeignName(name, language, _identifiers(row["id"]), row["english"])
    elif row.get("kind") == "substance":
        # French names of substances are written in capitals and without their English name, which is mostly the same
        # but for accents and a final "e": "IBUPROFÈNE".
        yield is_label, ForeignName(name, language, (), name)
        if language == _FRENCH and name.endswith("e"):
            yield is_label, ForeignName(name, language, (), name[:-1])


def _of_list(row: Row) -> Iterator[tuple[bool, ForeignName]]:
    for language in row.keys() - {_ENGLISH_NAME}:
        for number, name in enumerate(filter(None, map(str.strip, row[language].split("|")))):
            yield number == 0, ForeignName(name, language, (), row[_ENGLISH_NAME])


def _identifiers(text: str) -> tuple[str, ...]:
    identifier = normalise_identifier(text)
    if not identifier:
        raise DataError("an identifier", repr(text), "correct it")
    return (identifier,)


def _unquoted(cell: str) -> str:
    text = cell.strip()
    return text[1:-1].replace('""', '"').strip() if len(text) > 1 and text[0] == text[-1] == '"' else text
