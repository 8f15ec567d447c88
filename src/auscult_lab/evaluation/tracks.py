"""Track of a model on a corpus, and the kind of text that a model was trained on.

A track is a relation between a model and a corpus: a model trained on Wikipedia is zero-shot on MedQuAD and adapted on
WikiSection. It follows from the corpora of the model's training record, including those of its encoder and of its word
vectors, and from the hashes of these texts, which identify a copy under another name. The track that the experiment
states counts only where the record names no corpora.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from auscult.errors import ConfigError, ModelError
from auscult_lab.corpora.note_queries import OVERLAPPING
from auscult_lab.corpora.opening import collections_of, divided_alike, open_corpus
from auscult_lab.training.learned_texts import has_learned_from, read_learned

LearnedTrack = Literal["zero-shot", "adapted"]
TRACKS: Mapping[str, LearnedTrack] = {"zero-shot": "zero-shot", "adapted": "adapted"}
"""The tracks of models that learn, by name."""
Trained = Literal["notes", "pages", "both"]
"""Kinds of text that models learn from: clinical notes, health pages (anything else), or both."""

_NOTE_COLLECTIONS = frozenset({*OVERLAPPING, "mimic-iii"})


class _Choice(BaseModel):
    name: str
    split: str | None = None


class _Words(BaseModel):
    texts: list[_Choice] = []


class _Sentences(BaseModel):
    vectors: _Words | None = None


class _Experiment(BaseModel):
    word_vectors: _Words = _Words()
    sentences: _Sentences = _Sentences()


class _Training(BaseModel):
    track: str = ""
    corpora: list[_Choice] = []
    backbone_corpora: list[_Choice] = []
    experiment: _Experiment = _Experiment()

    @property
    def read(self) -> list[_Choice]:
        """All corpora that the model, its initial encoder or its word vectors learned from."""
        own = self.experiment.sentences.vectors
        texts = [*self.experiment.word_vectors.texts, *(own.texts if own else [])]
        return [*self.corpora, *self.backbone_corpora, *texts]


def track_on(
    model: str,
    training: Mapping[str, object],
    corpus: str,
    split: str,
    *,
    user_track: str | None = None,
    folder: Path | None = None,
) -> LearnedTrack:
    """Return a model's track on a corpus.

    Args:
        model: Its name, for messages.
        training: Its training record.
        corpus: The corpus of the evaluation, as `open_corpus` takes it.
        split: Split of the queries.
        user_track: The track that the user states; needed where the record names neither corpora nor a track.
        folder: Folder of the model, with hashes of texts to compare with the corpus' documents; None for no comparison.

    Returns:
        "adapted" where the model learned from documents of the same collection, or from the same texts; else
        "zero-shot".

    Raises:
        ConfigError: The model was trained on the split's documents, its track is unknown, or the user states another.
        ModelError: The record is malformed.
    """
    try:
        record = _Training.model_validate(dict(training))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ModelError("a training record", f"'{model}' with {where}: {first['msg']}", "train it again") from error
    known = _follows(model, record.read, corpus, split) if record.corpora else TRACKS.get(record.track)
    if known != "adapted" and folder is not None and len(learned := read_learned(folder)):
        # The evaluation itself reports bad documents.
        known = "adapted" if has_learned_from(learned, open_corpus(corpus, skip_bad=True).documents()) else known
    if known is not None and user_track is not None and user_track != known:
        raise ConfigError(
            f"track '{known}' for '{model}' on '{corpus}'", f"--track {user_track}", "leave the option out"
        )
    track = known or TRACKS.get(user_track or "")
    if track is None:
        raise ConfigError(
            "a model that tells what it was trained on",
            f"'{model}', which does not",
            f"say so with --track {' or --track '.join(TRACKS)}",
        )
    return track


def fitted_on_questions_of(training: Mapping[str, Any], corpus: str) -> bool:
    """Check whether the weights or the certainty of a model's evidence were fitted on training questions of a corpus.

    Args:
        training: The model's training record.
        corpus: As `open_corpus` takes it.
    """
    fitted = training.get("fusion") or {}
    # "asked" names the questions that order and certainty were fitted on together.
    asked = {
        *{**fitted.get("words_and_certainty", {}), **fitted}.get("words_fitted_on", ()),
        *fitted.get("certainty", {}).get("asked", ()),
    }
    # BioASQ's batches are separate collections with questions of one kind.
    kinds = {name.partition("-")[0] for name in asked}
    return any(name.partition("-")[0] in kinds for name in collections_of(corpus))


def trained_on(training: Mapping[str, Any]) -> Trained | None:
    """Return the kind of text of a training record; None where the record names no corpora."""
    choices = [*training.get("corpora", []), *training.get("backbone_corpora", [])]
    names = [str(choice["name"]) for choice in choices]
    said = set((training.get("experiment") or {}).get("clinical_notes", []))
    kinds = {name in said or bool(collections_of(name) & _NOTE_COLLECTIONS) for name in names}
    if not kinds:
        return None
    return "both" if len(kinds) > 1 else "notes" if True in kinds else "pages"


def _follows(model: str, read: Sequence[_Choice], corpus: str, split: str) -> LearnedTrack:
    collections = collections_of(corpus)
    shared = [choice for choice in read if collections_of(choice.name) & collections]
    for choice in shared:
        # MedQuAD's "train-disjoint" and "train-strict" are parts of its "train".
        same = choice.split is None or choice.split.partition("-")[0] == split.partition("-")[0]
        # Other splits prove nothing: the model may have read any document of the corpus.
        if same or not divided_alike(choice.name, corpus):
            which = f"split '{choice.split}'" if choice.split else "all splits"
            raise ConfigError(
                f"a model that has not read the {split} documents of '{corpus}'",
                f"'{model}', which was trained on its {split} documents ({choice.name}, {which})",
                f"train it without them, or evaluate another corpus than '{corpus}'",
            )
    return "adapted" if shared else "zero-shot"
