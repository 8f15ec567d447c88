"""The weights of a trained general encoder's evidence, fitted on questions made of what it was trained on."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from auscult.concepts.opening import open_knowledge_base
from auscult.encoders import load_model, model_folder
from auscult.encoders.folder import read_settings
from auscult.provenance import stamp
from auscult.search.fusion import Fusion
from auscult_lab.fitting.fitting import FITTED_ON, QUESTIONS, Judged, fit_collections

if TYPE_CHECKING:
    from auscult.documents import Document
    from auscult_lab.training.experiment import DataExperiment
    from auscult_lab.training.folder import Outcome

GENERAL: Final = "general"
"""The kind of models whose evidence is weighed."""
FEWEST: Final = 40
"""Held-out documents with a title from which on an adapted model has weights of its own."""


def weigh_evidence(experiment: DataExperiment, outcome: Outcome, folder: Path, say: Callable[[str], None]) -> None:
    """Give a model the weights of its evidence, unless it is of another kind or has them.

    An adapted model's are fitted on documents that its towers have not learned from, as vectors find the others too
    easily. Where these are too few, the weights stay those of the model that it began with.

    Args:
        experiment: What it was trained on.
        outcome: Of its training.
        folder: Of its training; indexes are kept there.
        say: Told of it.
    """
    from auscult.encoders.general.persistence import set_fusion
    from auscult_lab.general.adapting import divided
    from auscult_lab.general.experiment import AdaptedExperiment

    if not outcome.model.is_dir() or outcome.record["kind"] != GENERAL or read_settings(outcome.model)["fusion"]:
        return
    if isinstance(experiment, AdaptedExperiment):
        collections = {"held out": [each for each in divided(experiment, say)[1] if each.title]}
        if (found := len(collections["held out"])) < FEWEST:
            start = experiment.begins_with()[0]
            say(f"the weights stay: fitting takes {FEWEST} held-out documents with a title, not {found}")
            set_fusion(outcome.model, read_settings(model_folder(start))["fusion"], {"of": start, **stamp()})
            return
    else:
        collections = learned_from(experiment, say)
    say("fitting the weights of the evidence")
    fit_model(outcome.model, collections, experiment, folder / "indexes", people=asked_by_people(experiment, say))


def learned_from(experiment: DataExperiment, say: Callable[[str], None]) -> dict[str, list[Document]]:
    """By corpus, some of the documents that a model learned from, which its evidence is weighed on."""
    from auscult_lab.training.data import read

    chance = random.Random(experiment.seed)
    whole = {choice.name: read(choice, say)[1] for choice in experiment.corpora}
    return {name: chance.sample(each, min(FITTED_ON, len(each))) for name, each in whole.items()}


def asked_by_people(experiment: DataExperiment, say: Callable[[str], None]) -> dict[str, Judged]:
    """By corpus, the judged questions that an experiment names for the probability."""
    from auscult_lab.general.experiment import GeneralExperiment
    from auscult_lab.training.data import read

    found = {}
    for choice in experiment.asked if isinstance(experiment, GeneralExperiment) else ():
        corpus, documents = read(choice.model_copy(update={"split": None}), say)
        split = choice.split or "train"
        found[choice.name] = Judged(documents, corpus.queries(split), corpus.judgements(split))
    return found


def fit_model(
    model: Path,
    collections: Mapping[str, Sequence[Document]],
    experiment: DataExperiment,
    folder: Path,
    *,
    people: Mapping[str, Judged] = MappingProxyType({}),
    keep_order: bool = False,
) -> None:
    """Fit the weights of a model's evidence on collections, and put them into its folder.

    Args:
        model: Its folder.
        collections: As `fit_collections` takes them.
        experiment: That it was trained by.
        folder: Where indexes are kept.
        people: By corpus, questions that people asked, for the probability.
        keep_order: Fit the probability alone, and leave the weights that order hits.
    """
    from auscult.encoders.general.persistence import set_fusion

    known = open_knowledge_base(experiment.knowledge) if experiment.knowledge else None
    encoder = load_model(str(model))
    order = Fusion.of(encoder) if keep_order else None
    fusion = fit_collections(
        collections, encoder, folder, knowledge_base=known, seed=experiment.seed, people=people, order=order
    )
    fitted_on: dict[str, object] = {
        "corpora": [choice.model_dump() for choice in experiment.corpora],
        "documents_of_each": FITTED_ON,
        "questions_of_each": QUESTIONS,
        "asked_by_people": {name: len(each.queries) for name, each in people.items()},
        "seed": experiment.seed,
        **stamp(),
    }
    if keep_order:
        fitted_on = {**read_settings(model)["training"]["fusion"], "certainty": fitted_on}
    set_fusion(model, fusion.to_json(), fitted_on)
