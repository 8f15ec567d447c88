"""From a name or a path to a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from auscult.catalogue import catalogue, locate
from auscult.errors import AuscultError, ConfigError, CorpusMissingError
from auscult.interfaces import Corpus
from auscult.readers.walking import is_pattern
from auscult.sources.files import Choices
from auscult.sources.opening import open_corpus as open_own
from auscult.sources.rows import SUFFIXES, CsvCorpus
from auscult_lab.corpora.beir import BeirCorpus
from auscult_lab.corpora.bioasq import BioasqCorpus, is_task_b
from auscult_lab.corpora.clinical_notes import ClinicalNotesCorpus
from auscult_lab.corpora.consumer_questions import ConsumerQuestionsCorpus
from auscult_lab.corpora.covidqa import ARTICLES, QUESTIONS, CovidQaCorpus
from auscult_lab.corpora.headed import NhsCorpus, OpenStaxCorpus, WikipediaCorpus
from auscult_lab.corpora.healthqa import HealthQaCorpus, split_files
from auscult_lab.corpora.medquad import DOCUMENTS, MedQuadCorpus
from auscult_lab.corpora.medquad_rebuild import MedQuadXmlCorpus
from auscult_lab.corpora.mimic import MimicCorpus, note_events
from auscult_lab.corpora.names import NOTE_PREFIXES, NOTE_QUERIES, NOTES, PATIENTS, RANDOM, WIKISECTION
from auscult_lab.corpora.nfcorpus import NfCorpus, is_nfcorpus
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.note_queries import OVERLAPPING, SOURCES, Candidates, NoteQueriesCorpus
from auscult_lab.corpora.pubmedqa import PmcTrialsCorpus, PubMedQaCorpus
from auscult_lab.corpora.text_folder import TextFolderCorpus, other_files, text_files
from auscult_lab.corpora.wikisection import WikiSectionCorpus, collection_of, is_wikisection

_Opener = Callable[[Path, str, bool], Corpus]

# The readers that catalogue entries name.
READERS: Mapping[str, _Opener] = MappingProxyType(
    {
        "medquad": lambda path, name, skip_bad: MedQuadCorpus(path, skip_bad),
        "wikipedia": lambda path, name, skip_bad: WikipediaCorpus(path, name=name, skip_bad=skip_bad),
        "nhs": lambda path, name, skip_bad: NhsCorpus(path, name=name, skip_bad=skip_bad),
        "openstax": lambda path, name, skip_bad: OpenStaxCorpus(path, name=name, skip_bad=skip_bad),
        "pmc_trials": lambda path, name, skip_bad: PmcTrialsCorpus(path, name=name, skip_bad=skip_bad),
        "clinical_notes": lambda path, name, skip_bad: ClinicalNotesCorpus(path, name=name, skip_bad=skip_bad),
        "mimic": lambda path, name, skip_bad: MimicCorpus(path, name=name, skip_bad=skip_bad),
        "beir": lambda path, name, skip_bad: BeirCorpus(path, name=name, skip_bad=skip_bad),
        "healthqa": lambda path, name, skip_bad: HealthQaCorpus(path, name=name, skip_bad=skip_bad),
        "nfcorpus": lambda path, name, skip_bad: _open_nfcorpus(path, name, skip_bad),
        "wikisection": lambda path, name, skip_bad: WikiSectionCorpus(
            *_wikisection_files(path), name=name, skip_bad=skip_bad
        ),
        "bioasq": lambda path, name, skip_bad: BioasqCorpus(path, name=name, skip_bad=skip_bad),
        "consumer_questions": lambda path, name, skip_bad: ConsumerQuestionsCorpus(path, name=name, skip_bad=skip_bad),
        "covidqa": lambda path, name, skip_bad: CovidQaCorpus(
            path / ARTICLES, path / QUESTIONS, name=name, skip_bad=skip_bad
        ),
        "pubmedqa": lambda path, name, skip_bad: PubMedQaCorpus(path, name=name, skip_bad=skip_bad),
    }
)


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
            make the benchmark of "clinical-notes" of them. Other paths are read as `auscult.sources.opening` does.
        skip_bad: Leave bad records out and count them in the corpus' `bad`, instead of raising.
        labeller: Reads the labels off notes that queries are made of (`makes_queries`); by default its own defaults.
        choices: How files are read; the mapping of columns holds for JSON lines and tables too.

    Returns:
        The corpus; nothing has been read yet.

    Raises:
        ConfigError: Neither a name nor a path (names the nearest), or a data set without documents.
        CorpusMissingError: It is not on this machine; the remedy says where to get it and where to put it.
    """
    path = Path(spec)
    if choices is not None and choices.columns and path.is_file() and note_events(path):
        return CsvCorpus(path, skip_bad=skip_bad, columns=choices.columns)
    found = _named(spec, skip_bad, labeller) or _of_known_format(path, skip_bad)
    if found is not None:
        return found
    # Of a folder of notes alone, each file is a note of the patient that it is called after.
    if not is_pattern(spec) and path.is_dir() and text_files(path) and not other_files(path):
        return TextFolderCorpus(path, skip_bad=skip_bad)
    return open_own(spec, skip_bad=skip_bad, choices=choices)


def open_study_corpus(spec: str, *, skip_bad: bool = False) -> Corpus | None:
    """Open a corpus by name, or a file or folder of a study collection's format; None for any other text."""
    return _named(spec, skip_bad, None) or _of_known_format(Path(spec), skip_bad)


def _named(spec: str, skip_bad: bool, labeller: NoteLabeller | None) -> Corpus | None:
    """Open a corpus by its name; None where a text is no name."""
    if spec == WIKISECTION:
        both = (locate("enwiki"), locate("simplewiki"))
        return WikipediaCorpus(*both, name=WIKISECTION, skip_bad=skip_bad)
    if spec in NOTE_QUERIES:
        sources = [open_corpus(source, skip_bad=skip_bad) for source in SOURCES]
        return _note_queries(*sources, candidates=NOTE_QUERIES[spec], name=spec, labeller=labeller)
    for prefix, candidates in NOTE_PREFIXES.items():
        if spec.startswith(prefix):
            notes = _open_notes(spec.removeprefix(prefix), skip_bad)
            return _note_queries(notes, candidates=candidates, name=f"{prefix}{notes.name}", labeller=labeller)
    if spec.startswith(PATIENTS):
        return TextFolderCorpus(Path(spec.removeprefix(PATIENTS)), skip_bad=skip_bad, patient_folders=True)
    if spec not in catalogue():
        return None
    path = locate(spec)
    reader = catalogue()[spec].reader
    if not reader:
        readable = ", ".join(name for name, found in catalogue().items() if found.reader)
        raise ConfigError("a data set of documents", f"{spec}, which has no reader", f"take one of {readable}")
    return READERS[reader](path, spec, skip_bad)


def _of_known_format(path: Path, skip_bad: bool) -> Corpus | None:
    """Open a file or folder of a study collection's format; None for any other path."""
    try:
        if path.is_dir():
            return _known_folder(path, skip_bad)
        return _known_file(path, skip_bad) if path.is_file() else None
    except (OSError, ValueError):
        return None


def makes_queries(spec: str) -> bool:
    """Whether queries of a corpus are made of labels that are read off its notes.

    Args:
        spec: As `open_corpus` takes it.
    """
    return spec in NOTE_QUERIES or spec.startswith(tuple(NOTE_PREFIXES))


def collections_of(spec: str) -> frozenset[str]:
    """The collections that a corpus is made of: two corpora with one in common share documents.

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
        # Selections of one encyclopedia's articles: they overlap, whatever they are called.
        return frozenset({spec, "enwiki"}) if catalogue()[spec].reader == "wikisection" else frozenset({spec})
    path = Path(spec)
    if path.name.endswith((".json", ".json.gz")):
        return frozenset({collection_of(path)})
    if path.is_dir():
        try:
            return frozenset({open_corpus(spec).name})
        except AuscultError:
            # A folder that holds no corpus here may have held one where the name was written down.
            return frozenset({path.resolve().name})
    if path.name.lower().endswith(SUFFIXES):
        return frozenset({CsvCorpus(path).name})
    return frozenset({path.name.removesuffix(".gz").removesuffix(".jsonl")})


def learnable(spec: str) -> bool:
    """Whether models may learn from a corpus, and not only be measured with it (`Entry.measured_only`).

    Args:
        spec: As `open_corpus` takes it.
    """
    return not any(catalogue()[name].measured_only for name in collections_of(spec) if name in catalogue())


def divided_alike(first: str, second: str) -> bool:
    """Whether one name of a split means the same documents in two corpora that share documents.

    The benchmark on clinical notes divides anew what its sources have in splits of their own.

    Args:
        first: As `open_corpus` takes it.
        second: The same.
    """
    return _division(first) == _division(second)


def _division(spec: str) -> str:
    """What is divided together, of a corpus that divides anew; empty for one with splits of its own."""
    if spec in NOTE_QUERIES:
        return NOTES
    prefix = next((prefix for prefix in NOTE_PREFIXES if spec.startswith(prefix)), None)
    return "" if prefix is None else divided_notes(spec.removeprefix(prefix))


def divided_notes(spec: str) -> str:
    """Notes as a corpus that divides them anew, under a name that holds in every working directory.

    Args:
        spec: Notes, as `open_corpus` takes them; the benchmark on clinical notes has such a name already.
    """
    if spec in NOTE_QUERIES:
        return spec
    kind = PATIENTS if spec.startswith(PATIENTS) else ""
    path = Path(spec.removeprefix(kind))
    # As everywhere, a name of the catalogue comes before a path.
    place = str(path.absolute()) if spec not in catalogue() and path.exists() else str(path)
    return f"{RANDOM}{kind}{place}"


def _open_notes(spec: str, skip_bad: bool) -> Corpus:
    """Notes, of which a folder may hold other files beside them."""
    path = Path(spec)
    if spec not in catalogue() and path.is_dir() and _known_folder(path, skip_bad) is None:
        return TextFolderCorpus(path, skip_bad=skip_bad)
    return open_corpus(spec, skip_bad=skip_bad)


def _known_file(path: Path, skip_bad: bool) -> Corpus | None:
    """Open a file of a study collection's format; None for one of none."""
    if note_events(path):
        return MimicCorpus(path, skip_bad=skip_bad)
    if is_task_b(path):
        return BioasqCorpus(path, skip_bad=skip_bad)
    return WikiSectionCorpus(path, skip_bad=skip_bad) if is_wikisection(path) else None


def _known_folder(path: Path, skip_bad: bool) -> Corpus | None:
    """The corpus whose files a folder holds; None for one of none."""
    if (path / DOCUMENTS).is_file():
        return MedQuadCorpus(path, skip_bad)
    if any(path.glob("[0-9]*_*_QA*/")):
        return MedQuadXmlCorpus(path, skip_bad=skip_bad)
    if note_events(path):
        return MimicCorpus(path, skip_bad=skip_bad)
    task_b = [file for file in sorted(path.glob("*.json*")) if is_task_b(file)]
    if task_b:
        return BioasqCorpus(*task_b, name=path.resolve().name, skip_bad=skip_bad)
    if is_nfcorpus(path):
        return NfCorpus(path, name=path.resolve().name, skip_bad=skip_bad)
    if split_files(path):
        return HealthQaCorpus(path, name=path.resolve().name, skip_bad=skip_bad)
    if any(is_wikisection(file) for file in path.glob("*.json*")):
        return WikiSectionCorpus(*_wikisection_files(path), name=path.resolve().name, skip_bad=skip_bad)
    if any((path / f"corpus.jsonl{packed}").is_file() for packed in ("", ".gz")):
        return BeirCorpus(path, skip_bad=skip_bad)
    return None


def _note_queries(
    *sources: Corpus, candidates: Candidates, name: str, labeller: NoteLabeller | None
) -> NoteQueriesCorpus:
    # Queries of other labels are another benchmark, and records keep apart what has different names.
    told = f"{name} ({labeller.name})" if labeller is not None and labeller.name else name
    return NoteQueriesCorpus(*sources, labeller=labeller, candidates=candidates, name=told)


def _open_nfcorpus(path: Path, name: str, skip_bad: bool) -> Corpus:
    """Its authors' edition, or else BEIR's."""
    if is_nfcorpus(path):
        return NfCorpus(path, name=name, skip_bad=skip_bad)
    return BeirCorpus(path, name=name, skip_bad=skip_bad)


def _wikisection_files(folder: Path) -> list[Path]:
    found = [file for file in sorted(folder.glob("*.json*")) if is_wikisection(file)]
    if not found:
        raise CorpusMissingError(
            f"JSON files of WikiSection's format in {folder}",
            "none (a Git LFS pointer is none)",
            "put the unpacked .json files there",
        )
    return found
