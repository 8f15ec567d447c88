"""Names of corpora that the catalogue lacks, and prefixes of paths to notes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

NOTES: Final = "clinical-notes"
WIKISECTION: Final = "wikisection"
"""Both encyclopedias as one corpus: its split "test" is the part of WikiSectionQA that could be had."""
NOTE_QUERIES: Final[Mapping[str, Literal["random", "bm25"]]] = MappingProxyType(
    {NOTES: "random", f"{NOTES}-bm25": "bm25"}
)
"""The benchmark on clinical notes, with the candidates of its queries."""
RANDOM: Final = "notes:"
NOTE_PREFIXES: Final[Mapping[str, Literal["random", "bm25"]]] = MappingProxyType(
    {RANDOM: "random", "notes-bm25:": "bm25"}
)
"""Before the name or path of any notes: the same benchmark made of them, its split "test" a tenth of the patients."""
PATIENTS: Final = "patients:"
"""Before the path of a folder of notes: each folder in it holds the notes of one patient."""
