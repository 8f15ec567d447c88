"""Labels of clinical notes' passages (grundmann2021, section 3.1): entities from the text, aspects from headings.

A mention is no label where its sentence denies it, places it in the past, in a relative or in the future ("no nausea",
"father had gout", "return if febrile"). Marks of de-identification and the passage's own heading are no labels either.

Headings that mean the same have one aspect: "HPI", "Hx of present illness" and "GENHX" are "history of present
illness". `note_aspects.tsv` lists them; a user's table adds to it and takes precedence. A heading that no table lists
is its own aspect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from auscult.concepts.aspects import normalise_heading
from auscult.concepts.context import Context
from auscult.concepts.names import normalise_name
from auscult.concepts.opening import open_knowledge_base, open_named
from auscult.documents import Document
from auscult.errors import DataError
from auscult.files.reading import NotUtf8Error, read_lines
from auscult_lab.recognition.entity import Entity, EntityRecognizer
from auscult_lab.recognition.labelling import read_entities
from auscult_lab.recognition.opening import DICTIONARY, DictionaryRecognizer, open_recognizers

COLUMNS = ("heading", "aspect")

_APOSTROPHE = re.compile(r"['\u2019]")
_JOINED = re.compile(r"\b(pre|post|follow|work|x)[- ](op|operative|procedure|up|rays?)\b")
_NUMBER = re.compile(r"\s*(?:\(?\d{1,2}|[ivx]{1,4})[.)]\s+")
_PLURAL = re.compile(r"\((?:s|es)\)")
_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"\band\b|[&/,+]|\bwith\b")
_SILENT = frozenset({"a", "an", "any", "his", "her", "patients", "the", "this"})
# Synonyms are replaced by one word, so that the table need not list every combination of them.
_SAME = MappingProxyType(
    {
        "hx": "history", "histories": "history", "dx": "diagnosis", "diagnoses": "diagnosis", "meds": "medications",
        "medication": "medications", "medicines": "medications", "exam": "examination", "exams": "examination",
        "examinations": "examination", "preop": "preoperative", "postop": "postoperative", "labs": "laboratory",
        "laboratories": "laboratory", "lab": "laboratory", "procedures": "procedure", "operations": "operation",
        "surgeries": "surgery", "indications": "indication", "recommendations": "recommendation",
        "complaints": "complaint", "findings": "finding", "plans": "plan", "impressions": "impression",
        "allergy": "allergies", "xray": "xrays", "specimens": "specimen", "problems": "problem",
        "immunization": "immunizations", "presenting": "present", "studies": "study", "techniques": "technique",
        "preprocedure": "preoperative", "postprocedure": "postoperative", "details": "detail", "tests": "test",
        "consultations": "consultation", "instruction": "instructions", "complication": "complications",
        "anaesthesia": "anesthesia", "treatments": "treatment", "conclusions": "conclusion",
    }
)  # fmt: skip


class NoteAspects:
    """A table from headings to aspects.

    Args:
        table: Headings, in any spelling, to their aspects.
    """

    def __init__(self, table: Mapping[str, tuple[str, ...]]) -> None:
        self._table = {heading_key(heading): aspects for heading, aspects in table.items()}

    @classmethod
    def load(cls, *paths: Path | str) -> NoteAspects:
        """Read the built-in table and the user's tables; of contradicting ones the last counts.

        Args:
            paths: UTF-8 files of two columns between tabs: a heading and its aspect, or several between "|". A first
                line "heading<tab>aspect", empty lines and lines that begin with "#" are ignored.

        Raises:
            DataError: A file is missing or not UTF-8, or a line is not such a row or contradicts another one; names
                file and line.
        """
        table = dict(_read_builtin())
        for path in map(Path, paths):
            table.update(read_table(path))
        return cls(table)

    def aspects(self, heading: str) -> tuple[str, ...]:
        """Return the aspects of a heading.

        Args:
            heading: As written ("PMHx", "ASSESSMENT/PLAN", "2. ACTIVITY").

        Returns:
            Aspects in order, without repeats. The table is searched for the whole heading, then for its parts
            ("SHX/FHX"). Where it has neither, the heading's own normalised words; nothing for a heading without words.
        """
        if not _WORD.search(heading):
            return ()
        found = self._table.get(heading_key(heading))
        if found is not None:
            return found
        parts = [part for part in _PARTS.split(heading.lower()) if _WORD.search(part)]
        listed = [self._table.get(heading_key(part)) for part in parts]
        if not any(listed):
            return normalise_heading(_NUMBER.sub("", heading.lower(), count=1))
        pairs = zip(parts, listed, strict=True)
        return tuple(dict.fromkeys(each for part, known in pairs for each in known or normalise_heading(part)))

    def __contains__(self, heading: object) -> bool:
        """Check whether the table lists the whole heading."""
        return isinstance(heading, str) and heading_key(heading) in self._table

    def __len__(self) -> int:
        return len(self._table)


def heading_key(heading: str) -> str:
    """Return one key for headings that differ in case, punctuation, number, or a usual short form."""
    lower = _PLURAL.sub("", _NUMBER.sub("", _APOSTROPHE.sub("", heading.lower()), count=1))
    words = _WORD.findall(_JOINED.sub(r"\1\2", lower))
    return " ".join(_SAME.get(word, word) for word in words if word not in _SILENT) or " ".join(words)


def read_table(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a table of headings and aspects; see `NoteAspects.load`.

    Raises:
        DataError: See `NoteAspects.load`.
    """
    try:
        return _parse_rows(read_lines(path), str(path))
    except NotUtf8Error as error:
        raise DataError(error.expected, f"byte 0x{error.byte:02x}", "save the table as UTF-8") from error


def _parse_rows(lines: Iterable[tuple[int, str]], where: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in lines:
        cells = tuple(cell.strip() for cell in line.split("\t"))
        if not line.strip() or line.startswith("#") or cells == COLUMNS:
            continue
        heading, aspects = _parse_row(cells, f"{where}:{number}")
        before = keys.setdefault(heading_key(heading), aspects)
        if before != aspects:
            got = f"{heading!r} as {'|'.join(aspects)}, and before as {'|'.join(before)}"
            raise DataError(f"one aspect for each heading at {where}:{number}", got, "remove one of the lines")
        table[heading] = aspects
    return table


def _parse_row(cells: tuple[str, ...], where: str) -> tuple[str, tuple[str, ...]]:
    if len(cells) != 2:
        expected = f"a heading and an aspect between tabs at {where}"
        raise DataError(expected, f"{len(cells)} columns", "put one tab between them")
    heading, aspects = cells[0], [" ".join(part.lower().split()) for part in cells[1].split("|")]
    if not _WORD.search(heading) or not all(_WORD.search(aspect) for aspect in aspects):
        expected = f"words for heading and aspect at {where}"
        raise DataError(expected, f"{cells[0]!r} and {cells[1]!r}", "fill in both or remove the line")
    return heading, tuple(dict.fromkeys(aspects))


@cache
def _read_builtin() -> Mapping[str, tuple[str, ...]]:
    name = "note_aspects.tsv"
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return MappingProxyType(_parse_rows(enumerate(text.splitlines(), start=1), name))


@cache
def _load_default() -> NoteAspects:
    return NoteAspects.load()


def note_aspects(heading: str) -> tuple[str, ...]:
    """Return the aspects of a note's heading by the built-in table; see `NoteAspects.aspects`."""
    return _load_default().aspects(heading)


NO_LABELS: tuple[Context, ...] = ("negated", "historical", "family", "hypothetical")
"""Contexts in which a mention is no label."""


@dataclass(frozen=True, slots=True)
class PassageEntity:
    """An entity of a passage.

    Attributes:
        key: Its concept's identifier, or "name:" and its words where it has none.
        name: The words of its first mention, in small letters but for acronyms.
        mentioned: Whether at least one mention is a label; otherwise all are negated, about others, or the like.
    """

    key: str
    name: str
    mentioned: bool


class NoteLabeller:
    """Finds entities and aspects of notes. Nothing is opened before the first note is read.

    Args:
        recognizer: Finds entities; names of the default knowledge base where not given.
        no_labels: Contexts in which a mention is no label.
        aspects: Function from a heading to its aspects.
        name: Identifies how labels are made; empty for the defaults.
    """

    def __init__(
        self,
        recognizer: EntityRecognizer | None = None,
        *,
        no_labels: Sequence[Context] = NO_LABELS,
        aspects: Callable[[str], tuple[str, ...]] = note_aspects,
        name: str = "",
    ) -> None:
        self.name = name
        self._given = recognizer
        self._no_labels = frozenset(no_labels)
        self._aspects = aspects

    def aspects(self, note: Document) -> list[tuple[str, ...]]:
        """Return the aspects of each passage, in order; none for one without heading."""
        return [self._aspects(passage.heading) if passage.heading.strip() else () for passage in note.passages]

    def entities(self, note: Document) -> list[tuple[PassageEntity, ...]]:
        """Return the entities of each passage, in order of their first mention.

        Raises:
            CorpusMissingError: The default knowledge base is not on this machine.
            MissingExtraError: What reads contexts is not installed.
        """
        rows = iter(read_entities(note, self._recognizer))
        return [self._of_passage(next(rows) for _ in passage.sentences) for passage in note.passages]

    def _of_passage(self, sentences: Iterable[tuple[Entity, ...]]) -> tuple[PassageEntity, ...]:
        entities: dict[str, PassageEntity] = {}
        for entity in chain.from_iterable(sentences):
            name = " ".join(entity.name.split())
            key = entity.concept_id or f"name:{normalise_name(name)}"
            known = entities.get(key)
            mentioned = not entity.contexts & self._no_labels or (known is not None and known.mentioned)
            # Words in capitals that are short enough to be acronyms ("COPD") stay as they are.
            words = (word if word.isupper() and len(word) < 6 else word.lower() for word in name.split())
            entities[key] = PassageEntity(key, known.name if known else " ".join(words), mentioned)
        return tuple(entities.values())

    @cached_property
    def _recognizer(self) -> EntityRecognizer:
        return self._given or DictionaryRecognizer(open_knowledge_base())


def open_labeller(
    recognizers: Sequence[str] = (), *, knowledge: str | None = None, tables: Sequence[Path] = (), how: str
) -> NoteLabeller:
    """Open a labeller by a user's options.

    Args:
        recognizers: As `open_recognizers` takes them; the dictionary where none is named.
        knowledge: As `open_knowledge_base` takes it; None for the default.
        tables: Tables of headings and their aspects, beside the built-in one.
        how: How users name another knowledge base, for the error (`open_named`).

    Raises:
        CorpusMissingError, ConfigError, DataError, MissingExtraError, ModelError: One of them cannot be opened.
    """
    # Tables first: a wrong one should fail before the knowledge base takes its time.
    aspects = NoteAspects.load(*tables).aspects
    found = open_recognizers(recognizers or [DICTIONARY], open_named(knowledge, how))
    own = [*([Path(knowledge).name] if knowledge else []), *recognizers, *(table.name for table in tables)]
    return NoteLabeller(found, aspects=aspects, name=", ".join(own))
