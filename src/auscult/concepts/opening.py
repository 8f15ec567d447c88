"""Open a knowledge base by catalogue name, folder or files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType

from auscult.catalogue import catalogue, data_dir, entry, locate
from auscult.concepts import KnowledgeBase
from auscult.concepts.adding_names import with_names
from auscult.concepts.health_topics import with_health_topics
from auscult.concepts.knowledge_base import PREPARED
from auscult.concepts.name_files import NameFile, read_names
from auscult.errors import ConfigError, CorpusMissingError, DataError

DEFAULT = "knowledge-base"
DEFAULT_FOLDER = "kg"
"""Folder of its files, under `data_dir()`."""
TOPICS = "health-topics"
"""Catalogue name of the medicines, herbs, tests and operations that questions are also about (`health_topics`)."""
ACCEPTED = "a data set, a file of `auscult concepts build`, taxonomies (.obo, .tsv), or a folder of them"
"""The values that `open_knowledge_base` accepts, worded for the command line's help."""

EVERYDAY = "everyday-names"
"""Name of the short list of everyday names in other languages that this package brings."""
SPANISH = "disease-names-es"
FRENCH = "medicine-names-fr"
NAMES_ACCEPTED = (
    "translations of the HPO or the Disease Ontology (.tsv), Orphadata's XX_product1.xml, "
    f"`{EVERYDAY}`, `{SPANISH}` or `{FRENCH}`"
)
"""The values that `open_names` accepts, worded for the command line's help."""

_LANGUAGE_OF: Mapping[str, str] = MappingProxyType({SPANISH: "es", FRENCH: "fr"})
"""Data sets of names by the language of the rows that are theirs; they share a file."""
_SAVED = ".jsonl.gz"
_TAXONOMIES = (".obo", ".obo.gz", ".tsv", ".tsv.gz")


def open_knowledge_base(spec: str | Path | Sequence[str | Path] = DEFAULT) -> KnowledgeBase:
    """Open a knowledge base.

    Args:
        spec: One of these, or several taxonomy files, most trusted first:

            - a catalogue name: "knowledge-base" (Disease Ontology, Mondo, Symptom Ontology, ICD-10-CM),
              "health-topics", or one taxonomy such as "symptom-ontology";
            - a file that `KnowledgeBase.save` wrote (`.jsonl.gz`);
            - an OBO file or TSV table, plain or gzip-compressed;
            - a folder of the catalogue's prepared files (see `KnowledgeBase.from_folder`), or any other folder that
              holds OBO files and TSV tables, read in the order of their names.

    Raises:
        CorpusMissingError: It is not on this machine; the remedy says where to get it.
        ConfigError: No file at all, a data set of documents, or a folder among several files.
        DataError: A file of it is malformed, or a folder holds no taxonomy.
    """
    specs = [spec] if isinstance(spec, str | Path) else list(spec)
    if specs == [TOPICS]:
        return with_health_topics(KnowledgeBase([]), locate(TOPICS))
    places = [_locate(each) for each in specs]
    if len(places) != 1:
        if not places:
            raise ConfigError("at least one taxonomy", "none", f"give '{DEFAULT}', or a file")
        for place in places:
            if place.is_dir() or place.name.endswith(_SAVED):
                kind = "folder" if place.is_dir() else "saved knowledge base"
                raise ConfigError("taxonomy files, where several are given", f"the {kind} {place}", "give it alone")
        return KnowledgeBase.from_files(places)
    (place,) = places
    if place.is_dir():
        return _open_folder(place)
    return KnowledgeBase.load(place) if place.name.endswith(_SAVED) else KnowledgeBase.from_files([place])


def open_for_questions() -> KnowledgeBase:
    """Open the knowledge base that questions are read with by default: the standard one and, if present, the topics.

    Models are trained with the standard one alone, whose mentions in texts make their labels.

    Raises:
        CorpusMissingError: The default is not on this machine.
    """
    known = open_knowledge_base()
    complete = known if entry(TOPICS).missing(data_dir()) else with_health_topics(known, locate(TOPICS))
    return with_default_names(complete)


def open_names(spec: str | Path) -> NameFile:
    """Open names in other languages than English.

    Args:
        spec: "everyday-names", a data set of names, or a file that `read_names` reads.

    Raises:
        CorpusMissingError: It is not on this machine.
        DataError: It is malformed, or has no such names.
    """
    if spec == EVERYDAY:
        with as_file(files("auscult.concepts") / "everyday_names.tsv") as path:
            return replace(read_names(path), title="Everyday names", licence="that of this package")
    language = _LANGUAGE_OF.get(str(spec))
    if language is None:
        return read_names(spec)
    chosen = entry(str(spec))
    listed = read_names(locate(chosen.name))
    names = tuple(name for name in listed.names if name.language == language)
    return NameFile(chosen.title, chosen.licence, names)


def with_default_names(known: KnowledgeBase) -> KnowledgeBase:
    """Return a knowledge base with the everyday names and, if it is on this machine, the Spanish names of diseases."""
    specs = [EVERYDAY] if entry(SPANISH).missing(data_dir()) else [EVERYDAY, SPANISH]
    return with_names(known, [open_names(spec) for spec in specs])[0]


def default_is_here() -> bool:
    """Whether all files of the default knowledge base are on this machine."""
    return not entry(DEFAULT).missing(data_dir())


def open_named(named: str | Path | Sequence[str | Path] | None, how: str) -> KnowledgeBase:
    """Open the knowledge base that a user names, or else the catalogue's; if that is missing, say how to name one.

    Args:
        named: A value for `open_knowledge_base`; None for the default.
        how: How to name another, as an imperative clause: "pass --kb with a taxonomy".

    Raises:
        CorpusMissingError, ConfigError, DataError: See `open_knowledge_base`.
    """
    if named is not None:
        return open_knowledge_base(named)
    try:
        return with_default_names(open_knowledge_base())
    except CorpusMissingError as error:
        remedy = f"{how}, or see: auscult data show {DEFAULT}"
        raise CorpusMissingError(error.expected, error.got, remedy) from error


def _locate(spec: str | Path) -> Path:
    if spec == DEFAULT:
        locate(DEFAULT)
        return data_dir() / DEFAULT_FOLDER
    if isinstance(spec, str) and spec in catalogue():
        if catalogue()[spec].reader:
            raise ConfigError("a data set of concepts", f"'{spec}', which holds documents", f"give '{DEFAULT}'")
        return locate(spec)
    path = Path(spec)
    if not path.exists():
        remedy = f"correct the path, or give '{DEFAULT}' (see: auscult data show {DEFAULT})"
        raise CorpusMissingError(f"a knowledge base at {path}", "no such file or folder", remedy)
    return path


def _open_folder(folder: Path) -> KnowledgeBase:
    if (folder / PREPARED).is_file():
        return KnowledgeBase.from_folder(folder)
    taxonomies = sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(_TAXONOMIES))
    if not taxonomies:
        raise DataError(
            f"taxonomies ({', '.join(_TAXONOMIES)}) in the folder {folder}",
            "none",
            f"name their folder, or give '{DEFAULT}' (see: auscult data show {DEFAULT})",
        )
    return KnowledgeBase.from_files(taxonomies)
