"""Recipes for training models on a user's data: the least amount of data, and the experiment file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError
from auscult.files.writing import write_text
from auscult.telemetry import naming_extra
from auscult_lab.training.schedule import native_precision
from auscult_lab.workbench.experiments import Trainable
from auscult_lab.workbench.folder import Description, WorkFolder

_VALIDATION_SHARE = 0.15
OWN_WORD_VECTORS = 10_000
"""Passages from which on word vectors are trained on them; with fewer, rankers begin with the shipped model's."""
_MANY_QUESTIONS = 2_000
_MOST_VALIDATION, _LEAST_VALIDATION = 150.0, 4
_ADVICE = "# To try something else, copy this file, change the copy and its name, and give the same command again."
# One encoder reads both without marks, as sentence-transformers models were trained.
_SHARED = {"shared": True, "mark": False, "pooling": "mean", "cosine": True, "temperature": 20}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model that is trained on the data.

    Attributes:
        name: Name of the model in plans, and of its experiment.
        reason: Reason to try it.
        questions: Least number of training questions.
        epochs: Largest number of epochs.
        needs: Options that it needs: "backbone", "graph".
        architecture: Architecture of a transformer; empty for a ranker of words.
        fields: Fields of its experiment besides the common ones.
        few: Fields that replace these for few questions, in rankers of words.
    """

    name: str
    reason: str
    questions: int
    epochs: int
    needs: tuple[str, ...] = ()
    architecture: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    few: Mapping[str, Any] = field(default_factory=dict)


RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "drmm",
        "A few hundred weights: how often each word is matched how well, and which words count.",
        50,
        12,
        fields={"training": {"learning_rate": 0.01}},
    ),
    Recipe("drmm-tks", "Few weights besides word vectors: the strongest matches of each word.", 100, 12),
    Recipe(
        "knrm",
        "Few weights besides word vectors: soft matches counted by kernels.",
        100,
        12,
        # The kernels' sums are small numbers, and need large weights.
        few={"training": {"learning_rate": 0.01}},
    ),
    Recipe(
        "bi",
        "The given encoder trained on your questions; ranks any number of passages.",
        100,
        3,
        ("backbone",),
        "bi",
        {"settings": _SHARED},
    ),
    Recipe("match-pyramid", "Convolutions over the matrix of matches; catches phrases.", 200, 12),
    Recipe("pacrr", "Matches of several words at once, in their order.", 500, 12),
    Recipe(
        "cross",
        "The given encoder reads question and passage together; slow, and often the best.",
        200,
        2,
        ("backbone",),
        "cross",
        {"negatives": {"in_batch": 1, "bm25": 3}},
    ),
    Recipe(
        "ck",
        "The given encoder's layers and the vectors of the given graph, matched by a ranker (wang2021).",
        200,
        4,
        ("backbone", "graph"),
        "ck",
        {
            "settings": {"head": "drmm-tks", "max_query_tokens": 32, "max_passage_tokens": 128},
            # Also a random one: a model trained on BM25's only does not learn that passages without the words are
            # wrong.
            "negatives": {"in_batch": 1, "bm25": 1},
            "training": {"loss": "hinge", "head_learning_rate": 0.001},
        },
    ),
    Recipe("conv-knrm", "Kernels over phrases of words; wants many questions.", 2_000, 12),
    Recipe("har", "Recurrent with attention over words and sentences (zhu2019); wants many questions.", 3_000, 8),
)
"""In the order in which they are chosen while there is time."""


def write_experiment(recipe: Recipe, work: WorkFolder, description: Description, *, backbone: str, graph: str) -> None:
    """Write a model's experiment file.

    Args:
        recipe: Recipe of the model.
        work: Folder of the workbench.
        description: Description of the data.
        backbone: Folder or hub name, for a recipe that needs one.
        graph: Folder of vectors, for a recipe that needs one.

    Raises:
        ConfigError: The file has an experiment of another name.
        DataError: The file cannot be written.
    """
    path = experiment_file(recipe, work)
    fields = _common_fields(recipe, str(work.data(description.name)), description)
    if recipe.architecture:
        fields |= _transformer_fields(recipe, backbone, graph)
    else:
        fields |= _ranker_fields(recipe, description)
    head = f"# {recipe.reason}\n{_ADVICE}\n"
    # JSON is also YAML.
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
    write_text(path, head + "".join(lines))


def experiment_file(recipe: Recipe, work: WorkFolder) -> Path:
    """Return the path of a model's experiment file.

    Raises:
        ConfigError: The file has an experiment of another name.
    """
    path = work.experiments / f"{recipe.name}.yaml"
    if path.is_file():
        remedy = "rename the file to the name of its experiment"
        raise ConfigError(f"the experiment '{recipe.name}' in {path}", "one of another name", remedy)
    return path


def open_given(named: Iterable[Mapping[str, str]]) -> None:
    """Open each encoder and graph once, so that errors appear before anything is trained or written.

    Args:
        named: "backbone" (folder or hub name) and "graph" (folder of vectors) from options and experiments; empty or
            missing for none.

    Raises:
        ConfigError: An environment variable in their names is not set.
        ModelError: One of them is missing, or cannot be opened.
        MissingExtraError: The packages that open them are not installed.
    """
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.graphs.knowledge_vectors import load
        from auscult_lab.modules.backbone import open_backbone
        from auscult_lab.training.experiment import expanded
    places = {(need, _absolute(said)) for each in named for need, said in each.items() if said}
    for need, place in sorted(places):
        meant = expanded(place, need, "set it, or name a folder")
        if need == "graph":
            load(Path(meant))
        else:
            open_backbone(meant)


def check_given(recipe: Recipe, experiment: Trainable, *, backbone: str, graph: str) -> None:
    """Check that an existing experiment, which users may have edited, has the given encoder and graph.

    Args:
        recipe: Recipe of the model.
        experiment: The experiment in the folder.
        backbone: Folder or hub name, for a recipe that needs one.
        graph: Folder of vectors, for a recipe that needs one.

    Raises:
        ConfigError: It has others.
    """
    given = {"backbone": _absolute(backbone), "graph": _absolute(graph)}
    for need in recipe.needs:
        if experiment.given.get(need) != given[need]:
            expected = f"--{need} {experiment.given.get(need)}, which {experiment.path} names"
            remedy = f"give that, or delete the file to train '{recipe.name}' anew with the other"
            raise ConfigError(expected, given[need], remedy)


def _common_fields(recipe: Recipe, data: str, description: Description) -> dict[str, Any]:
    counts = description.counts
    parts = [name for name, key in (("train", "training"), ("dev", "development")) if counts[f"{key} questions"]]
    asked = min(_VALIDATION_SHARE * (counts["training questions"] + counts["development questions"]), _MOST_VALIDATION)
    # Questions are held out with all passages that answer them.
    answering = int(asked * counts["relevant passages"] / counts["questions"])
    return {
        "name": recipe.name,
        "model": "capr" if recipe.architecture else recipe.name,
        "track": "adapted",
        "queries": "corpus",
        "corpora": [{"name": data, "split": part} for part in parts],
        "validation": {"corpora": [data], "documents": max(answering, _LEAST_VALIDATION)},
        "knowledge": None,
        "evaluate": [data],
    }


def _ranker_fields(recipe: Recipe, description: Description) -> dict[str, Any]:
    own = {"dim": 64, "epochs": 5, "min_count": 2, "glossary": False}
    # Vectors from a few thousand passages make all words similar, so that matches mean little.
    few_passages = description.counts["passages"] < OWN_WORD_VECTORS
    # With hundreds of questions, the papers' batches would give a few dozen steps per epoch, too few to learn.
    few = description.counts["training questions"] < _MANY_QUESTIONS
    steps = {"batch_queries": 4, "learning_rate": 0.003} if few else {"batch_queries": 16}
    fields = {**recipe.fields, **(recipe.few if few else {})}
    return {
        **fields,
        "word_vectors": {"model": "cdv", "min_count": 2} if few_passages else own,
        "negatives": {"random": 3, "same_entity": 0, "bm25": 3},
        "training": {
            "epochs": recipe.epochs,
            **steps,
            "patience": 4,
            "accelerator": "cpu",
            **fields.get("training", {}),
        },
    }


def _transformer_fields(recipe: Recipe, backbone: str, graph: str) -> dict[str, Any]:
    training = {"epochs": recipe.epochs, "batch_pairs": 16, "max_passage_tokens": 128, "precision": native_precision()}
    fields: dict[str, Any] = {
        "architecture": recipe.architecture,
        "backbone": _absolute(backbone),
        **recipe.fields,
        "training": {**training, **recipe.fields.get("training", {})},
    }
    if "graph" in recipe.needs:
        fields["settings"] = {**fields["settings"], "knowledge": _absolute(graph)}
    return fields


def _absolute(said: str) -> str:
    """Return the absolute path of a folder; hub names are unchanged."""
    path = Path(said)
    return str(path.resolve()) if path.exists() else said
