"""Opening a corpus by its name or its path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from auscult.catalogue import catalogue, locate
from auscult.errors import AuscultError, ConfigError, CorpusMissingError
from auscult.ingest.corpus import Corpus
from auscult.ingest.files import Choices
from auscult.ingest.opening import open_corpus as open_own
from auscult.ingest.rows import SUFFIXES, CsvCorpus
from auscult.readers.walking import is_pattern
from auscult_lab.corpora.beir import BeirCorpus
from auscult_lab.corpora.covidqa import ARTICLES, QUESTIONS, CovidQaCorpus
from auscult_lab.corpora.cpgqa import CpgQaCorpus
from auscult_lab.corpora.described import (
    CLINICAL_NOTES,
    DRUG_LABELS,
    NHS,
    OPENSTAX,
    PMC_TRIALS,
    PUBMEDQA,
    WIKIPEDIA,
    DescribedCorpus,
    PubMedQaCorpus,
)
from auscult_lab.corpora.healthqa import HealthQaCorpus, split_files
from auscult_lab.corpora.medquad import MedQuadCorpus, MedQuadXmlCorpus
from auscult_lab.corpora.medquad_records import DOCUMENTS
from auscult_lab.corpora.nfcorpus import NfCorpus, is_nfcorpus
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.note_queries import OVERLAPPING, SOURCES, Candidates, NoteQueriesCorpus
from auscult_lab.corpora.notes import MimicCorpus, TextFolderCorpus, holds_only_notes, note_events
from auscult_lab.corpora.questions import AnsweredQuestions, BioasqCorpus, ConsumerQuestionsCorpus, is_task_b
from auscult_lab.corpora.special_names import NOTE_PREFIXES, NOTE_QUERIES, NOTES, PATIENTS, RANDOM, WIKISECTION
from auscult_lab.corpora.wikisection import WikiSectionCorpus, collection_of, is_wikisection


class _Opener(Protocol):
    """Opens a corpus of a catalogue entry."""

    def __call__(self, path: Path, /, *, name: str, skip_bad: bool) -> Corpus: ...


def _open_nfcorpus(path: Path, *, name: str, skip_bad: bool) -> Corpus:
    """Open its authors' edition, or else BEIR's."""
    reader = NfCorpus if is_nfcorpus(path) else BeirCorpus
    return reader(path, name=name, skip_bad=skip_bad)


def _open_wikisection(path: Path, *, name: str, skip_bad: bool) -> Corpus:
    files = [file for file in sorted(path.glob("*.json*")) if is_wikisection(file)]
    if not files:
        raise CorpusMissingError(
            f"JSON files of WikiSection's format in {path}",
            "none (a Git LFS pointer is none)",
            "put the unpacked .json files there",
        )
    return WikiSectionCorpus(*files, name=name, skip_bad=skip_bad)


# The readers that catalogue entries name.
READERS: Mapping[str, _Opener] = MappingProxyType(
    {
        "medquad": lambda path, *, name, skip_bad: MedQuadCorpus(path, skip_bad),
        "wikipedia": partial(DescribedCorpus, WIKIPEDIA),
        "nhs": partial(DescribedCorpus, NHS),
        "openstax": partial(DescribedCorpus, OPENSTAX),
        "drug_labels": partial(DescribedCorpus, DRUG_LABELS),
        "pmc_trials": partial(DescribedCorpus, PMC_TRIALS),
        "clinical_notes": partial(DescribedCorpus, CLINICAL_NOTES),
        "pubmedqa": partial(PubMedQaCorpus, PUBMEDQA),
        "mimic": MimicCorpus,
        "beir": BeirCorpus,
        "healthqa": HealthQaCorpus,
        "nfcorpus": _open_nfcorpus,
        "wikisection": _open_wikisection,
        "bioasq": BioasqCorpus,
        "consumer_questions": ConsumerQuestionsCorpus,
        "cpgqa": lambda path, *, name, skip_bad: CpgQaCorpus(path, name=name, skip_bad=skip_bad),
        "covidqa": lambda path, *, name, skip_bad: CovidQaCorpus(
            path / ARTICLES, path / QUESTIONS, name=name, skip_bad=skip_bad
        ),
    }
)


def searches_all(corpus: Corpus) -> bool:
    """Check whether a corpus' queries search all passages: it has no candidates, and no publication draws any."""
    return isinstance(corpus, (BeirCorpus, NfCorpus, AnsweredQuestions, CovidQaCorpus, CpgQaCorpus, PubMedQaCorpus))


def open_with_parents(spec: str, parent: str) -> Corpus:
    """Open a folder in BEIR's layout. A pattern in passage ids joins passages to documents (`BeirCorpus`).

    Raises:
        ConfigError: The corpus has another layout, or the pattern is invalid.
    """
    found = open_corpus(spec)
    if not isinstance(found, BeirCorpus):
        raise ConfigError("a folder in BEIR's layout, whose passages --parent joins", f"'{spec}'", "leave --parent out")
    return BeirCorpus(found.folder, name=found.name, parent=parent)


def open_corpus(
    spec: str, *, skip_bad: bool = False, labeller: NoteLabeller | None = None, choices: Choices | None = None
) -> Corpus:
    """Open a corpus.

    Args:
        spec: A catalogue name ("medquad", "enwiki", ...), "wikisection", "clinical-notes" (with random candidates) or
            "clinical-notes-bm25", or a path: a BioASQ Task B file or a folder of them, a JSON file of WikiSection's
            format or a folder of them, a BEIR folder, a folder of HealthQA's or NFCorpus' files, a folder of prepared
            MedQuAD files, a copy of github.com/abachaa/MedQuAD, MIMIC-III's NOTEEVENTS.csv (plain or gzip-compressed)
            or its folder, or a folder of plain-text notes (*.txt). "patients:FOLDER" is such a folder in which each
            patient's notes lie in a folder of their own; "notes:" and "notes-bm25:" before a name or path of notes
            make the benchmark of "clinical-notes" of them. Other paths are read as `auscult.ingest.opening` does.
        skip_bad: Leave bad records out and count them in the corpus' `bad`, instead of raising.
        labeller: Finds the labels of notes from which queries are made (`makes_queries`); None for the default one.
        choices: How files are read; the mapping of columns also applies to JSON lines and tables.

    Returns:
        The corpus; nothing has been read yet.

    Raises:
        ConfigError: The text is neither a name nor a path (suggests similar names), or the data set has no documents.
        CorpusMissingError: It is not on this machine; the remedy says how to get it.
    """
    path = Path(spec)
    if choices is not None and choices.columns and path.is_file() and note_events(path):
        return CsvCorpus(path, skip_bad=skip_bad, columns=choices.columns)
    found = _open_named(spec, skip_bad, labeller) or _open_known_format(path, skip_bad)
    if found is not None:
        return found
    # In a folder of notes only, each file is a note, and its name stands for the patient.
    if not is_pattern(spec) and path.is_dir() and holds_only_notes(path):
        return TextFolderCorpus(path, skip_bad=skip_bad)
    return open_own(spec, skip_bad=skip_bad, choices=choices)


def open_study_corpus(spec: str, *, skip_bad: bool = False) -> Corpus | None:
    """Open a corpus by name, or a file or folder of a study collection's format; None for any other text."""
    return _open_named(spec, skip_bad, None) or _open_known_format(Path(spec), skip_bad)


def _open_named(spec: str, skip_bad: bool, labeller: NoteLabeller | None) -> Corpus | None:
    """Open a corpus by its name; None for any other text."""
    if spec == WIKISECTION:
        both = (locate("enwiki"), locate("simplewiki"))
        return DescribedCorpus(WIKIPEDIA, *both, name=WIKISECTION, skip_bad=skip_bad)
    if spec in NOTE_QUERIES:
        sources = [open_corpus(source, skip_bad=skip_bad) for source in SOURCES]
        return _make_note_queries(*sources, candidates=NOTE_QUERIES[spec], name=spec, labeller=labeller)
    for prefix, candidates in NOTE_PREFIXES.items():
        if spec.startswith(prefix):
            place = spec.removeprefix(prefix)
            if place not in catalogue() and Path(place).is_dir() and _open_known_format(Path(place), skip_bad) is None:
                # A folder of notes may hold other files beside them.
                notes: Corpus = TextFolderCorpus(Path(place), skip_bad=skip_bad)
            else:
                notes = open_corpus(place, skip_bad=skip_bad)
            return _make_note_queries(notes, candidates=candidates, name=f"{prefix}{notes.name}", labeller=labeller)
    if spec.startswith(PATIENTS):
        return TextFolderCorpus(Path(spec.removeprefix(PATIENTS)), skip_bad=skip_bad, patient_folders=True)
    if spec not in catalogue():
        return None
    path = locate(spec)
    reader = catalogue()[spec].reader
    if not reader:
        readable = ", ".join(name for name, found in catalogue().items() if found.reader)
        raise ConfigError("a data set of documents", f"{spec}, which has no reader", f"take one of {readable}")
    return READERS[reader](path, name=spec, skip_bad=skip_bad)


def _open_known_format(path: Path, skip_bad: bool) -> Corpus | None:
    """Open a file or folder of a study collection's format; None for any other path."""
    try:
        if path.is_dir():
            return _open_known_folder(path, skip_bad)
        if not path.is_file():
            return None
        if note_events(path):
            return MimicCorpus(path, skip_bad=skip_bad)
        if is_task_b(path):
            return BioasqCorpus(path, skip_bad=skip_bad)
        return WikiSectionCorpus(path, skip_bad=skip_bad) if is_wikisection(path) else None
    except (OSError, ValueError):
        return None


def _open_known_folder(path: Path, skip_bad: bool) -> Corpus | None:
    """Open a folder of a study collection's files; None for any other folder."""
    name = path.resolve().name
    json_files = sorted(path.glob("*.json*"))
    if (path / DOCUMENTS).is_file():
        return MedQuadCorpus(path, skip_bad)
    if any(path.glob("[0-9]*_*_QA*/")):
        return MedQuadXmlCorpus(path, skip_bad=skip_bad)
    if note_events(path):
        return MimicCorpus(path, skip_bad=skip_bad)
    if task_b := [file for file in json_files if is_task_b(file)]:
        return BioasqCorpus(*task_b, name=name, skip_bad=skip_bad)
    if is_nfcorpus(path):
        return NfCorpus(path, name=name, skip_bad=skip_bad)
    if split_files(path):
        return HealthQaCorpus(path, name=name, skip_bad=skip_bad)
    if wikisection := [file for file in json_files if is_wikisection(file)]:
        return WikiSectionCorpus(*wikisection, name=name, skip_bad=skip_bad)
    if any((path / f"corpus.jsonl{packed}").is_file() for packed in ("", ".gz")):
        return BeirCorpus(path, skip_bad=skip_bad)
    return None


def makes_queries(spec: str) -> bool:
    """Check whether a corpus' queries are made from labels that are found in its notes.

    Args:
        spec: As `open_corpus` takes it.
    """
    return spec in NOTE_QUERIES or spec.startswith(tuple(NOTE_PREFIXES))


def collections_of(spec: str) -> frozenset[str]:
    """Return the collections that a corpus consists of. Two corpora with a common collection share documents.

    Args:
        spec: As `open_corpus` takes it; a path need not exist on this machine.

    Returns:
        Catalogue names; for a path, the corpus' own name (that of the file or folder).
    """
    if spec == WIKISECTION:
        return frozenset({"enwiki", "simplewiki"})
    if spec in NOTE_QUERIES:
        return frozenset(OVERLAPPING)
    for prefix in (*NOTE_PREFIXES, PATIENTS):
        if spec.startswith(prefix):
            return collections_of(spec.removeprefix(prefix))
    if spec in catalogue():
        # Selections of one encyclopedia's articles: they overlap, whatever their names.
        return frozenset({spec, "enwiki"}) if catalogue()[spec].reader == "wikisection" else frozenset({spec})
    path = Path(spec)
    if path.name.endswith((".json", ".json.gz")):
        return frozenset({collection_of(path)})
    if path.is_dir():
        try:
            return frozenset({open_corpus(spec).name})
        except AuscultError:
            # A folder without a corpus on this machine may have had one on the machine that recorded its name.
            return frozenset({path.resolve().name})
    if path.name.lower().endswith(SUFFIXES):
        return frozenset({CsvCorpus(path).name})
    return frozenset({path.name.removesuffix(".gz").removesuffix(".jsonl")})


def learnable(spec: str) -> bool:
    """Check whether models may learn from a corpus, and not only be measured on it (`Entry.measured_only`).

    Args:
        spec: As `open_corpus` takes it.
    """
    return not any(catalogue()[name].measured_only for name in collections_of(spec) if name in catalogue())


def divided_alike(first: str, second: str) -> bool:
    """Check whether splits of the same name contain the same documents in two corpora that share documents.

    The benchmark on clinical notes ignores its sources' own splits and divides their notes again.

    Args:
        first: As `open_corpus` takes it.
        second: The same.
    """
    return _find_division(first) == _find_division(second)


def _find_division(spec: str) -> str:
    """Return the collections that a corpus divides together; empty for a corpus with its own splits."""
    if spec in NOTE_QUERIES:
        return NOTES
    prefix = next((prefix for prefix in NOTE_PREFIXES if spec.startswith(prefix)), None)
    return "" if prefix is None else divided_notes(spec.removeprefix(prefix))


def divided_notes(spec: str) -> str:
    """Return the name of a corpus that divides notes into splits; it is valid in every working directory.

    Args:
        spec: Notes, as `open_corpus` takes them; the name of the benchmark on clinical notes is returned unchanged.
    """
    if spec in NOTE_QUERIES:
        return spec
    kind = PATIENTS if spec.startswith(PATIENTS) else ""
    path = Path(spec.removeprefix(kind))
    # As everywhere, catalogue names take precedence over paths.
    place = str(path.absolute()) if spec not in catalogue() and path.exists() else str(path)
    return f"{RANDOM}{kind}{place}"


def _make_note_queries(
    *sources: Corpus, candidates: Candidates, name: str, labeller: NoteLabeller | None
) -> NoteQueriesCorpus:
    # Queries from other labels are another benchmark, so that it gets another name in records.
    full_name = f"{name} ({labeller.name})" if labeller is not None and labeller.name else name
    return NoteQueriesCorpus(*sources, labeller=labeller, candidates=candidates, name=full_name)
