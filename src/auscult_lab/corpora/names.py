"""Names of the lab's corpora, and file names of study collections."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from auscult.catalogue import catalogue
from auscult.sources.corpus import Corpus

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


class StudyCorpora:
    """The lab's corpora, for `auscult.sources.opening`; the code of a format is imported when it is needed.

    Its entry points in `pyproject.toml` are named after the file names of study collections.
    """

    def names(self, spec: str) -> bool:
        """Check whether a text names a corpus of the lab."""
        prefixes = (*NOTE_PREFIXES, PATIENTS)
        return spec in catalogue() or spec == WIKISECTION or spec in NOTE_QUERIES or spec.startswith(prefixes)

    def open(self, spec: str, *, skip_bad: bool) -> Corpus | None:
        """Open a corpus; None for a path that has no study collection's format."""
        from auscult_lab.corpora.opening import open_study_corpus

        return open_study_corpus(spec, skip_bad=skip_bad)


STUDY_CORPORA = StudyCorpora()
