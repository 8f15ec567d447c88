"""Fit the evidence weights of a trained general encoder on questions made from its training data."""

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
from auscult_lab.fitting.fitting import FITTED_ON, QUESTIONS, Judged, Keep, fit_collections

if TYPE_CHECKING:
    from auscult.documents import Document
    from auscult_lab.training.experiment import DataExperiment
    from auscult_lab.training.folder import Outcome

GENERAL: Final = "general"
"""The kind of models whose evidence is weighed."""
PEOPLES_QUESTIONS: Final = 600
"""Asked of each collection of people's questions."""
PEOPLES_DOCUMENTS: Final = 6_000
"""Documents of such a collection, where those that hold answers are fewer."""
FEWEST: Final = 40
"""Held-out documents with a title from which on an adapted model has weights of its own."""


def weigh_evidence(experiment: DataExperiment, outcome: Outcome, folder: Path, say: Callable[[str], None]) -> None:
    """Fit the evidence weights of a model, unless it is of another kind or has them.

    For an adapted model they are fitted on held-out documents, because vectors find training documents too easily.
    With too few of these, the weights of the original model stay.

    Args:
        experiment: Experiment of the model.
        outcome: Outcome of its training.
        folder: Folder of its training; indexes are kept there.
        say: Called with messages about progress.
    """
    from auscult_lab.general.adapting import divided
    from auscult_lab.general.experiment import AdaptedExperiment
    from auscult_lab.general.saving import set_fusion

    if not outcome.model.is_dir() or outcome.record["kind"] != GENERAL or read_settings(outcome.model)["fusion"]:
        return
    if isinstance(experiment, AdaptedExperiment):
        collections = {"held out": [each for each in divided(experiment, lambda _: None).held_out if each.title]}
        if (found := len(collections["held out"])) < FEWEST:
            start = experiment.begins_with()[0]
            say(f"the weights stay: fitting takes {FEWEST} held-out documents with a title, not {found}")
            set_fusion(outcome.model, read_settings(model_folder(start))["fusion"], {"of": start, **stamp()})
            return
    else:
        collections = learned_from(experiment, say)
    say("fitting the weights of the evidence")
    fit_model(outcome.model, collections, experiment, folder / "indexes", people=asked_by_people(experiment, say))


def learned_from(
    experiment: DataExperiment, say: Callable[[str], None], number: int = FITTED_ON
) -> dict[str, list[Document]]:
    """Return, by corpus, some of a model's training documents for the fitting."""
    from auscult_lab.training.data import read

    chance = random.Random(experiment.seed)
    whole = {choice.name: read(choice, say)[1] for choice in experiment.corpora}
    return {name: chance.sample(each, min(number, len(each))) for name, each in whole.items()}


def asked_by_people(experiment: DataExperiment, say: Callable[[str], None]) -> dict[str, Judged]:
    """Return, by corpus, the judged questions that an experiment names."""
    from auscult_lab.general.experiment import GeneralExperiment
    from auscult_lab.training.data import read

    by_corpus = {}
    for choice in experiment.asked if isinstance(experiment, GeneralExperiment) else ():
        corpus, documents = read(choice.model_copy(update={"split": None}), say)
        split = choice.split or "train"
        judged = Judged(documents, corpus.queries(split), corpus.judgements(split))
        by_corpus[choice.name] = _some(judged, random.Random(experiment.seed))
    return by_corpus


def _some(judged: Judged, chance: random.Random) -> Judged:
    """Return some of the questions, with the documents of their answers and random others."""
    queries = chance.sample(judged.queries, min(PEOPLES_QUESTIONS, len(judged.queries)))
    query_ids = {query.query_id for query in queries}
    judgements = [judgement for judgement in judged.judgements if judgement.query_id in query_ids]
    answers = {judgement.passage_id for judgement in judgements}
    documents = [*judged.documents]
    holding = [any(passage.passage_id in answers for passage in document.passages) for document in documents]
    others = [row for row, holds in enumerate(holding) if not holds]
    taken = {*chance.sample(others, min(len(others), max(0, PEOPLES_DOCUMENTS - sum(holding))))}
    documents = [document for row, document in enumerate(documents) if holding[row] or row in taken]
    return Judged(documents, queries, judgements)


def fit_model(
    model: Path,
    collections: Mapping[str, Sequence[Document]],
    experiment: DataExperiment,
    folder: Path,
    *,
    people: Mapping[str, Judged] = MappingProxyType({}),
    keep: Keep | None = None,
    questions: int = QUESTIONS,
) -> None:
    """Fit the weights of a model's evidence on collections, and put them into its folder.

    Args:
        model: Its folder.
        collections: See `fit_collections`.
        experiment: Experiment of the model.
        folder: Folder for indexes.
        people: By corpus, people's questions.
        questions: Number of questions to make per collection.
        keep: Which weights for the order of hits to leave unchanged; None for none.
    """
    from auscult_lab.general.saving import set_fusion

    known = open_knowledge_base(experiment.knowledge) if experiment.knowledge else None
    encoder = load_model(str(model))
    order = Fusion.of(encoder) if keep else None
    fusion = fit_collections(
        collections,
        encoder,
        folder,
        knowledge_base=known,
        questions=questions,
        seed=experiment.seed,
        people=people,
        order=order,
        keep=keep or "order",
    )
    fitted_on: dict[str, object] = {
        "corpora": [choice.model_dump() for choice in experiment.corpora],
        "documents_of_each": {name: len(each) for name, each in collections.items()},
        "questions_of_each": questions,
        "asked_by_people": {name: len(each.queries) for name, each in people.items()},
        "seed": experiment.seed,
        **({} if keep == "order" else {"words_fitted_on": sorted(people)}),
        **stamp(),
    }
    if keep:
        newly = "certainty" if keep == "order" else "words_and_certainty"
        fitted_on = {**read_settings(model)["training"]["fusion"], newly: fitted_on}
    set_fusion(model, fusion.to_json(), fitted_on)
