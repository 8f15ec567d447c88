"""Which models are worth trying on data of a size, with the reason and the time that each will take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auscult.errors import ConfigError
from auscult.evaluation.contenders import LEXICAL
from auscult.evaluation.task import Protocol
from auscult.workbench.costs import RATES, WORD_VECTORS, foreseen
from auscult.workbench.folder import Description
from auscult.workbench.recipes import RECIPES, Recipe

MOST_PASSAGES = 5_000
"""With more, models rank what BM25 ranks highest."""
_PAIRS_A_MINUTE = 10_000
CANDIDATES = 100
"""Passages that are ranked for a question where not all are."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A model that could be tried.

    Attributes:
        name: As `--models` takes it; of a trained one also the name of its experiment.
        model: What opens it, where nothing is trained: a term-based model's name, "default", or a folder.
        reason: Why, or why not, in a sentence.
        seconds: That it will take, roughly.
        chosen: Whether it is tried.
    """

    name: str
    model: str
    reason: str
    seconds: float
    chosen: bool = True

    @property
    def trained(self) -> bool:
        """Whether it is trained on the data."""
        return not self.model


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says of the plan.

    Attributes:
        models: Exactly these; all that fit when empty.
        backbone: Folder or hub name of a pre-trained encoder.
        graph: Folder of trained knowledge-graph vectors.
        minutes: For everything.
    """

    models: tuple[str, ...] = ()
    backbone: str = ""
    graph: str = ""
    minutes: float = 15.0


def ranked_how(description: Description, minutes: float) -> Protocol:
    """The protocol: all passages where there is time for it."""
    passages, asked = description.counts["passages"], description.counts["test questions"]
    few = passages <= MOST_PASSAGES and passages * asked <= _PAIRS_A_MINUTE * minutes
    return "end-to-end" if few else "rerank"


def propose(description: Description, wishes: Wishes) -> list[Proposal]:
    """Propose models, and choose those that there is time for, in the order of what they promise for their cost.

    Args:
        description: Of the data.
        wishes: What the user says.

    Raises:
        ConfigError: A wish names no model, or one that needs something that is not given.
    """
    proposals = [*_ready(description, wishes), *_learning(description, wishes)]
    if wishes.models:
        _check_wishes(wishes, proposals)
        return [replace(each, chosen=each.name in wishes.models) for each in proposals]
    left = 60.0 * wishes.minutes - foreseen(
        WORD_VECTORS, words=description.words, passages=description.counts["passages"]
    )
    chosen = []
    for each in proposals:
        fits = each.chosen and (each.name in LEXICAL or each.seconds <= left)
        left -= each.seconds if fits else 0.0
        reason = each.reason
        if each.chosen and not fits:
            reason += f" Left out: it would take longer than the {wishes.minutes:g} minutes allow (--minutes)."
        chosen.append(replace(each, chosen=fits, reason=reason))
    return chosen


def _ready(description: Description, wishes: Wishes) -> Iterator[Proposal]:
    """Models that learn nothing here."""
    reasons = {
        "bm25": "Needs no training, and is hard to beat on exact words.",
        "tfidf": "The oldest yardstick.",
        "ql": "Query likelihood: another way to weigh words, at no cost.",
    }
    for name in LEXICAL:
        yield Proposal(name, name, reasons[name], _seconds(name, description))
    yield Proposal(
        "default",
        "default",
        "The shipped model, which learned health topics and their aspects from encyclopedias; used as it is.",
        _seconds("default", description),
    )
    if wishes.backbone and (Path(wishes.backbone) / "modules.json").is_file():
        reason = "The given encoder as it is: shows what training adds."
        yield Proposal("backbone", str(Path(wishes.backbone).resolve()), reason, _seconds("backbone", description))


def _learning(description: Description, wishes: Wishes) -> Iterator[Proposal]:
    available = description.counts["training questions"]
    for recipe in RECIPES:
        given = {"backbone": wishes.backbone, "graph": wishes.graph}
        if not all(given[need] for need in recipe.needs):
            continue
        reason = f"{recipe.reason} {available:,} training questions; sensible from {recipe.questions:,}."
        seconds = _seconds(recipe.name, description, recipe)
        yield Proposal(recipe.name, "", reason, seconds, chosen=available >= recipe.questions)


def _seconds(name: str, description: Description, recipe: Recipe | None = None) -> float:
    counts = description.counts
    ranked = counts["passages"] if description.protocol == "end-to-end" else min(CANDIDATES, counts["passages"])
    learning = counts["training questions"] + counts["development questions"]
    return foreseen(
        RATES[name],
        words=description.words,
        learned=learning * recipe.epochs if recipe is not None else 0,
        passages=counts["passages"],
        ranked=counts["test questions"] * ranked,
    )


def _check_wishes(wishes: Wishes, proposals: Sequence[Proposal]) -> None:
    possible = [each.name for each in proposals]
    needs = {recipe.name: recipe.needs for recipe in RECIPES} | {"backbone": ("backbone",)}
    for name in wishes.models:
        if name in possible:
            continue
        if name in needs:
            options = " and ".join(f"--{need}" for need in needs[name])
            raise ConfigError(f"{options} for the model '{name}'", "none, or a folder that cannot be used", "give it")
        raise ConfigError("models for --models", f"'{name}'", f"choose among {', '.join([*possible, *needs])}")


__all__ = ["CANDIDATES", "MOST_PASSAGES", "Proposal", "Wishes", "propose", "ranked_how"]
