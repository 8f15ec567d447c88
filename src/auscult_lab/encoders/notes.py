"""Passages of clinical notes with the labels that the notes carry (grundmann2021, section 3.1).

A note's title names no entity ("Consult - 2"): entities are what its passages mention, aspects their headings. Labels
and splits are those of the benchmark on clinical notes (`corpora.note_labels`, `corpora.note_splits`), so that of one
patient's notes none is trained on and another asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.files.records import left_out
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.note_queries import NoteQueriesCorpus
from auscult_lab.corpora.note_splits import samples_of, split_of
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.encoders.data import Labelled, PassagePool, labelled_pool
from auscult_lab.training.experiment import CorpusChoice
from auscult_lab.training.labels import EntityLabel

_TRAIN, _VALIDATION = "train", "validation"


@dataclass(frozen=True, slots=True)
class SplitNotes:
    """Notes by what they are for; those of the split "test" are in neither."""

    training: list[Document]
    validation: list[Document]


def read_notes(choices: Sequence[CorpusChoice], *, validation: int, say: Callable[[str], None]) -> SplitNotes:
    """Read notes and split them by patient and sample.

    Args:
        choices: Corpora of notes; a split of one is taken as it is, and split again where it is not the corpus' own.
        validation: At most so many notes are held out; what a split has more is left out. Where a tenth of all (two at
            least) would be more than the split gives, which few notes can do, further samples follow in the order of
            a hash.
        say: Told how many notes there are.

    Raises:
        ConfigError: There are none, or so few that none are left to train on.
    """
    notes: list[Document] = []
    given: dict[str, str] = {}
    for name in dict.fromkeys(choice.name for choice in choices):
        own = [choice for choice in choices if choice.name == name]
        corpus = open_corpus(name, skip_bad=any(choice.skip_bad for choice in own))
        found = [note for choice in own for note in corpus.documents(choice.split) if note.sentences]
        for line in left_out(corpus):
            say(f"{name}: left out {line}")
        say(f"{name}: {len(found):,} notes")
        notes += found
        if isinstance(corpus, NoteQueriesCorpus):
            given |= corpus.splits
    if not notes:
        where = ", ".join(choice.name for choice in choices)
        raise ConfigError("clinical notes", f"none in {where}", "check the path, and that the files hold text")
    samples = _samples(notes)
    splits = {note: split_of(sample) for note, sample in samples.items()} | given
    split = SplitNotes(*([note for note in notes if splits[note.doc_id] == name] for name in (_TRAIN, _VALIDATION)))
    split = _enough(split, samples, min(validation, max(2, len(notes) // 10)), validation)
    if not split.training:
        raise ConfigError("notes of several patients", f"{len(notes)} notes of too few", "give more notes")
    return split


def _samples(notes: Sequence[Document]) -> dict[str, str]:
    """Note id -> its sample: notes of one patient, and notes that repeat each other."""
    texts = {note.doc_id: "\n".join(note.slice(passage) for passage in note.passages) for note in notes}
    return samples_of(texts, {note.doc_id: patient_of(note) for note in notes})


def _enough(split: SplitNotes, samples: Mapping[str, str], least: int, most: int) -> SplitNotes:
    """Hold out between so many notes, by whole samples where notes have to be moved."""

    def order(note: Document) -> tuple[str, str]:
        return hashlib.sha256(samples[note.doc_id].encode()).hexdigest(), note.doc_id

    validation = sorted(split.validation, key=order)[:most]
    training = sorted(split.training, key=order)
    while len(validation) < least and training:
        sample = samples[training[0].doc_id]
        validation += [note for note in training if samples[note.doc_id] == sample]
        training = [note for note in training if samples[note.doc_id] != sample]
    return SplitNotes(training, validation)


def patient_of(note: Document) -> str:
    """Whose note it is; the note itself where its source does not say."""
    return note.metadata.get("patient") or f"note:{note.doc_id}"


def label_notes(notes: Sequence[Document], labeller: NoteLabeller, *, surroundings: int = 0) -> PassagePool:
    """Passages of notes with their labels.

    Args:
        notes: To label.
        labeller: Reads entities and aspects off a note.
        surroundings: See `labelled_pool`.
    """
    rows = (row for note in notes for row in _labels_of(note, labeller))
    return labelled_pool(rows, surroundings=surroundings)


def _labels_of(note: Document, labeller: NoteLabeller) -> Iterator[Labelled]:
    for passage, found, aspects in zip(note.passages, labeller.entities(note), labeller.aspects(note), strict=True):
        entities = tuple(EntityLabel(each.key, each.name) for each in found if each.mentioned)
        yield note, passage, entities, tuple(aspects)


def check_headings(pool: PassagePool, notes: int) -> None:
    """Refuse notes of which none has a heading.

    Raises:
        ConfigError: No passage has an aspect.
    """
    if not pool.passages and not pool.without_entity:
        remedy = "check that they are whole notes with their line breaks; headings look like 'ALLERGIES:' or 'Plan:'"
        raise ConfigError("notes with headings", f"{notes:,} notes in which none was found", remedy)
