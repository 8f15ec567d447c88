"""Read an experiment's corpora into passages for training and for validation.

Where a corpus has questions (`training.asked`), a passage's labels are the questions that it answers, so that batches
know which of their passages are no negatives.

Clinical notes have other labels (grundmann2021, section 3.1). A note's title names no entity ("Consult - 2"). Its
entities are those that passages mention, its aspects their headings. Labels and splits are those of the benchmark on
clinical notes (`corpora.note_labels`, `corpora.note_splits`), so that all notes of a patient are in one split.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.files.records import left_out
from auscult_lab.corpora.note_labels import NoteLabeller, open_labeller
from auscult_lab.corpora.note_queries import NoteQueriesCorpus
from auscult_lab.corpora.note_splits import samples_of, split_of
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.encoders.base import PassageText, passage_text, query_text
from auscult_lab.encoders.data import (
    Labelled,
    LabelledPassage,
    PassagePool,
    PoolQuestion,
    label_passages,
    labelled_pool,
)
from auscult_lab.encoders.experiment import CaprExperiment
from auscult_lab.training.asked import AskedPart, PassageKey, read_asked
from auscult_lab.training.data import gather
from auscult_lab.training.experiment import CorpusChoice, DataExperiment, ValidationChoice
from auscult_lab.training.labels import EntityLabel


@dataclass(frozen=True, slots=True)
class SplitNotes:
    """Notes for training and for validation; those of the split "test" are in neither."""

    training: list[Document]
    validation: list[Document]


def read_notes(choices: Sequence[CorpusChoice], *, validation: int, say: Callable[[str], None]) -> SplitNotes:
    """Read notes and split them by patient and sample.

    Args:
        choices: Corpora of notes, or splits of them. A corpus' own splits are kept; all other notes are split here.
        validation: Largest number of notes to hold out. Further notes of the split are left out. Where the split has
            less than a tenth of all notes (at least two), as in small collections, samples of the training notes are
            added in the order of a hash.
        say: Called with the number of notes.

    Raises:
        ConfigError: There are none, or so few that none are left to train on.
    """
    notes: list[Document] = []
    fixed: dict[str, str] = {}
    for name in dict.fromkeys(choice.name for choice in choices):
        own = [choice for choice in choices if choice.name == name]
        corpus = open_corpus(name, skip_bad=any(choice.skip_bad for choice in own))
        corpus_notes = [note for choice in own for note in corpus.documents(choice.split) if note.sentences]
        for line in left_out(corpus):
            say(f"{name}: left out {line}")
        say(f"{name}: {len(corpus_notes):,} notes")
        notes += corpus_notes
        if isinstance(corpus, NoteQueriesCorpus):
            fixed |= corpus.splits
    if not notes:
        where = ", ".join(choice.name for choice in choices)
        raise ConfigError("clinical notes", f"none in {where}", "check the path, and that the files hold text")
    # Note id -> its sample. A sample is the notes of one patient, and notes that repeat each other. A note without a
    # patient counts as a patient of its own.
    texts = {note.doc_id: "\n".join(note.slice(passage) for passage in note.passages) for note in notes}
    patients = {note.doc_id: note.metadata.get("patient") or f"note:{note.doc_id}" for note in notes}
    samples = samples_of(texts, patients)
    splits = {note: split_of(sample) for note, sample in samples.items()} | fixed
    order = {note: (hashlib.sha256(sample.encode()).hexdigest(), note) for note, sample in samples.items()}
    notes.sort(key=lambda note: order[note.doc_id])
    training = [note for note in notes if splits[note.doc_id] == "train"]
    held_out = [note for note in notes if splits[note.doc_id] == "validation"][:validation]
    least = min(validation, max(2, len(notes) // 10))
    while len(held_out) < least and training:
        sample = samples[training[0].doc_id]
        held_out += [note for note in training if samples[note.doc_id] == sample]
        training = [note for note in training if samples[note.doc_id] != sample]
    if not training:
        raise ConfigError("notes of several patients", f"{len(notes)} notes of too few", "give more notes")
    return SplitNotes(training, held_out)


def label_notes(notes: Sequence[Document], labeller: NoteLabeller, *, surroundings: int = 0) -> PassagePool:
    """Return passages of notes with their labels."""

    def labels() -> Iterator[Labelled]:
        for note in notes:
            parts = zip(note.passages, labeller.entities(note), labeller.aspects(note), strict=True)
            for passage, found, aspects in parts:
                entities = tuple(EntityLabel(each.key, each.name) for each in found if each.mentioned)
                yield note, passage, entities, tuple(aspects)

    return labelled_pool(labels(), surroundings=surroundings)


def asked_pools(
    experiment: DataExperiment, say: Callable[[str], None], *, surroundings: int = 0
) -> tuple[PassagePool, PassagePool]:
    """Return training questions and held-out questions, each part with its own passages.

    Raises:
        ConfigError: A corpus is named without a split, or too few documents answer a query to hold some out.
        CorpusMissingError: A corpus is not on this machine.
    """
    found = read_asked(experiment, say)
    return make_pool(found.training, surroundings=surroundings), make_pool(found.held_out, surroundings=surroundings)


def make_pool(part: AskedPart, *, surroundings: int = 0) -> PassagePool:
    """Return a pool of questions and the passages of documents.

    Passages without words are left out, and so are questions without words or without an answer among the passages.
    """
    texts: dict[PassageKey, PassageText] = {
        (corpus, passage.passage_id): passage_text(document, passage, surroundings=surroundings)
        for (corpus, _), document in part.documents.items()
        for passage in document.passages
        if passage.sentences
    }
    rows = {key: row for row, key in enumerate(texts)}
    answered: list[list[EntityLabel]] = [[] for _ in texts]
    questions = []
    for number, question, answers in part.answered(rows):
        text = query_text(question.query)
        if text.strip():
            label = EntityLabel(f"question:{number}", text)
            questions.append(PoolQuestion(label, answers))
            for row in answers:
                answered[row].append(label)
    passages = (
        LabelledPassage(text, tuple(labels), ("",)) for text, labels in zip(texts.values(), answered, strict=True)
    )
    return PassagePool(tuple(passages), questions=tuple(questions))


@dataclass(frozen=True, slots=True)
class Gathered:
    """Passages to train on, and held-out ones of other entities or patients."""

    training: PassagePool
    held_out: PassagePool


def gather_passages(experiment: CaprExperiment, say: Callable[[str], None], *, surroundings: int = 0) -> Gathered:
    """Read, split and label all corpora of an experiment.

    Held-out passages with the text of a training passage (some collections quote each other) are left out.

    Raises:
        CorpusMissingError: A corpus is not on this machine.
        ConfigError: Too few documents to hold some out, no headings, or too few usable passages.
    """
    noted = set(experiment.clinical_notes)
    parts = []
    if experiment.queries == "corpus":
        asked, aside = asked_pools(experiment, say, surroundings=surroundings)
        gathered = Gathered(asked, _unseen(aside, asked))
        _check(experiment, gathered.training, gathered.held_out)
        return gathered
    if noted:
        parts.append(_notes(experiment, noted, say, surroundings))
    if {choice.name for choice in experiment.corpora} - noted:
        parts.append(_titled(experiment, noted, say, surroundings))
    training = sum((part.training for part in parts), PassagePool(()))
    held_out = sum((part.held_out for part in parts), PassagePool(()))
    held_out = _unseen(held_out, training)
    _check(experiment, training, held_out)
    return Gathered(training, held_out)


def _unseen(held_out: PassagePool, training: PassagePool) -> PassagePool:
    """Drop held-out passages with the text of a training passage. Their questions stay, with their other answers."""
    seen = {item.passage.text for item in training.passages}
    kept = tuple(each for each in held_out.passages if each.passage.text not in seen)
    return replace(held_out, passages=kept, questions=())


def _titled(experiment: CaprExperiment, noted: set[str], say: Callable[[str], None], surroundings: int) -> Gathered:
    """Read the corpora whose titles name entities."""
    names = [name for name in experiment.validation.corpora if name not in noted]
    choice = experiment.validation
    corpora = [corpus for corpus in experiment.corpora if corpus.name not in noted]
    validation = ValidationChoice(
        corpora=names or [corpus.name for corpus in corpora][:1],
        documents=choice.documents,
    )
    data = gather(experiment.model_copy(update={"corpora": corpora, "validation": validation}), say)
    pools = [
        label_passages(documents, experiment.labels, surroundings=surroundings)
        for documents in (data.documents, data.held_out)
    ]
    # Where only notes validate, these held-out documents are not used.
    return Gathered(pools[0], pools[1] if names else PassagePool(()))


def _notes(experiment: CaprExperiment, noted: set[str], say: Callable[[str], None], surroundings: int) -> Gathered:
    """Read the corpora of clinical notes."""
    choices = [choice for choice in experiment.corpora if choice.name in noted]
    number = experiment.validation.documents if noted & set(experiment.validation.corpora) else 0
    # First, so that a wrong name fails before minutes of reading.
    how = (
        "pass --read knowledge=FILE (in an experiment file, knowledge) with a taxonomy, such as the Disease Ontology's "
        "doid.obo"
    )
    labeller = open_labeller(
        experiment.recognizers, knowledge=experiment.knowledge, tables=experiment.note_aspects, how=how
    )
    split = read_notes(choices, validation=number, say=say)
    say("finding entities and headings")
    training = label_notes(split.training, labeller, surroundings=surroundings)
    if not training.passages and not training.without_entity:
        remedy = "check that they are whole notes with their line breaks; headings look like 'ALLERGIES:' or 'Plan:'"
        got = f"{len(split.training):,} notes in which none was found"
        raise ConfigError("notes with headings", got, remedy)
    say(
        f"{len(training.passages):,} passages of {len(split.training):,} notes; skipped {training.without_aspect:,} "
        f"without a heading and {training.without_entity:,} without an entity"
    )
    return Gathered(training, label_notes(split.validation, labeller, surroundings=surroundings))


def _check(experiment: CaprExperiment, training: PassagePool, held_out: PassagePool) -> None:
    if experiment.queries == "corpus":
        if not training.questions or not any(each.entities for each in held_out.passages):
            found = f"{len(training.questions):,} to train on"
            raise ConfigError("questions with answers to train on and to hold out", found, "give more judgements")
        return
    wanted = f"{experiment.least_passages:,} passages or more that have a heading and name an entity"
    if len(training.passages) < experiment.least_passages:
        skipped = f"{training.without_aspect:,} have no heading, {training.without_entity:,} name none"
        remedy = "give more documents, or allow fewer passages (least_passages; --set least_passages=N)"
        raise ConfigError(wanted, f"{len(training.passages):,} ({skipped})", remedy)
    if len(held_out.passages) < 2:
        raise ConfigError("held-out passages to validate with", f"{len(held_out.passages)}", "hold out more documents")


def describe(gathered: Gathered) -> dict[str, Any]:
    """Return counts and a digest of training and held-out passages."""
    digest = hashlib.sha256()
    for item in (*gathered.training.passages, *gathered.held_out.passages):
        digest.update(json.dumps(asdict(item), sort_keys=True).encode())
    return {
        "passages": len(gathered.training.passages),
        "held_out_passages": len(gathered.held_out.passages),
        **({"questions": len(gathered.training.questions)} if gathered.training.questions else {}),
        "skipped_without_aspect": gathered.training.without_aspect,
        "skipped_without_entity": gathered.training.without_entity,
        "sha256": digest.hexdigest(),
    }
