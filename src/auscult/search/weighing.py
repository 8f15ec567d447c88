"""The weights of a trained general encoder's evidence, fitted on questions made of what it was trained on."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from auscult.corpora.knowledge import open_knowledge_base
from auscult.errors import DataError, QueryError
from auscult.models import load_model, model_folder
from auscult.models.folder import read_settings
from auscult.provenance import stamp
from auscult.search.fitting import FITTED_ON, QUESTIONS, fit_collections

if TYPE_CHECKING:
    from auscult.training.experiment import DataExperiment
    from auscult.training.folder import Outcome

GENERAL: Final = "general"
"""The kind of models whose evidence is weighed."""


def weigh_evidence(experiment: DataExperiment, outcome: Outcome, folder: Path, say: Callable[[str], None]) -> None:
    """Give a model the weights of its evidence, unless it is of another kind or has them.

    Documents without titles or headings make no questions: the weights then stay those of the model it began with.

    Args:
        experiment: What it was trained on.
        outcome: Of its training.
        folder: Of its training; indexes are kept there.
        say: Told of it.
    """
    from auscult.models.general.persistence import set_fusion
    from auscult.training.data import read

    if not outcome.model.is_dir() or outcome.record["kind"] != GENERAL or read_settings(outcome.model)["fusion"]:
        return
    say("fitting the weights of the evidence")
    chance = random.Random(experiment.seed)
    collections = {}
    for choice in experiment.corpora:
        documents = read(choice, say)[1]
        collections[choice.name] = chance.sample(documents, min(FITTED_ON, len(documents)))
    known = open_knowledge_base(experiment.knowledge) if experiment.knowledge else None
    encoder = load_model(str(outcome.model))
    try:
        fusion = fit_collections(collections, encoder, folder / "indexes", knowledge_base=known, seed=experiment.seed)
    except (DataError, QueryError) as error:
        begun_with = experiment.begins_with()[0]
        say(f"the weights stay those of {begun_with} ({error})")
        set_fusion(outcome.model, read_settings(model_folder(begun_with))["fusion"], {"of": begun_with, **stamp()})
        return
    fitted_on = {
        "corpora": [choice.model_dump() for choice in experiment.corpora],
        "documents_of_each": FITTED_ON,
        "questions_of_each": QUESTIONS,
    }
    set_fusion(outcome.model, fusion.to_json(), {**fitted_on, "seed": experiment.seed, **stamp()})
