"""The lab's corpora as an extension of the product: their names, and opening one."""

from __future__ import annotations

from auscult.catalogue import catalogue
from auscult.ingest.corpus import Corpus
from auscult_lab.corpora.special_names import NOTE_PREFIXES, NOTE_QUERIES, PATIENTS, WIKISECTION


class StudyCorpora:
    """The lab's corpora, for `auscult.ingest.opening`; the code of a format is imported when it is needed.

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
